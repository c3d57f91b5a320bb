"""The activations of GNN attention, and their derivatives."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["GnnActivation", "activate", "slope"]

GnnActivation = Literal["linear", "relu", "sigmoid", "tanh", "elu", "scalar", "leaky_relu"]


def activate(z: NDArray[Any], activation: GnnActivation, alpha: float) -> NDArray[Any]:
    """The activation of every element, in the dtype of `z`.

    ==========  ==============================
    activation  formula
    ==========  ==============================
    linear      z
    relu        max(z, 0)
    sigmoid     1 / (1 + exp(-z))
    tanh        tanh(z)
    elu         z if z > 0 else exp(z) - 1
    scalar      alpha * z
    leaky_relu  z if z > 0 else alpha * z
    ==========  ==============================
    """
    factor, zero = z.dtype.type(alpha), z.dtype.type(0)
    result: NDArray[Any]
    match activation:
        case "linear":
            result = z
        case "relu":
            result = np.maximum(z, zero)
        case "sigmoid":
            half = z.dtype.type(0.5)
            result = half + half * np.tanh(half * z)
        case "tanh":
            result = np.tanh(z)
        case "elu":
            result = np.where(z > 0, z, np.expm1(np.minimum(z, zero)))
        case "scalar":
            result = factor * z
        case "leaky_relu":
            result = np.where(z > 0, z, factor * z)
        case _:
            raise ValueError(f"unknown activation {activation!r}")
    return result


def slope(y: NDArray[Any], activation: GnnActivation, alpha: float) -> NDArray[Any]:
    """The activation's derivative where it gave `y`; for leaky_relu alpha must be positive."""
    one, factor = y.dtype.type(1), y.dtype.type(alpha)
    result: NDArray[Any]
    match activation:
        case "linear":
            result = np.ones_like(y)
        case "relu":
            result = (y > 0).astype(y.dtype)
        case "sigmoid":
            result = y * (one - y)
        case "tanh":
            result = one - y * y
        case "elu":
            result = np.where(y > 0, one, y + one)
        case "scalar":
            result = np.full_like(y, factor)
        case "leaky_relu":
            result = np.where(y > 0, one, factor)
        case _:
            raise ValueError(f"unknown activation {activation!r}")
    return result
