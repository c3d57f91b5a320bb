"""The pointwise activations of `cudnnActivationMode_t`, and their gradients."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np

from .arithmetic import Output, computed, kept
from .tiles import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack

Activation = Literal["identity", "relu", "sigmoid", "tanh", "clipped_relu", "elu", "swish"]


def activate(
    x: Array, activation: Activation, coef: float = 0.0, *, propagate_nan: bool = True
) -> Array:
    """The activation of every element of `x`, in the dtype of `x`.

    ============  ==================================  =======================
    activation    formula                             coef
    ============  ==================================  =======================
    identity      x
    relu          max(x, 0)
    sigmoid       1 / (1 + exp(-x))
    tanh          tanh(x)
    clipped_relu  min(max(x, 0), coef)                the ceiling
    elu           x if x > 0 else                     the scale of the
                  coef * (exp(x) - 1)                 negative side
    swish         x * sigmoid(coef * x)               the slope (cuDNN: beta)
    ============  ==================================  =======================

    Parameters
    ----------
    x
        Any shape, float32 or float64.
    coef
        The coef of `cudnnSetActivationDescriptor`; for swish, the beta of
        `cudnnSetActivationDescriptorSwishBeta`.
    propagate_nan
        Whether relu and clipped_relu of NaN are NaN or 0. The other activations always keep NaN.

    Raises
    ------
    ValueError
        For an activation that is not in the table.
    """
    factor = x.dtype.type(coef)
    zero = x.dtype.type(0)
    result: Array
    match activation:
        case "identity":
            result = x
        case "relu":
            result = _larger(x, zero, propagate_nan)
        case "sigmoid":
            result = sigmoid(x)
        case "tanh":
            result = np.tanh(x)
        case "clipped_relu":
            result = np.minimum(_larger(x, zero, propagate_nan), factor)
        case "elu":
            result = np.where(x > 0, x, factor * np.expm1(np.minimum(x, zero)))
        case "swish":
            with np.errstate(invalid="ignore"):  # infinity times 0
                result = x * sigmoid(factor * x)
        case _:
            raise _unknown(activation)
    return result


def derivative(y: Array, x: Array, activation: Activation, coef: float = 0.0) -> Array:
    """The derivative of the activation at `x`, where it has the value `y`; in the dtype of `x`.

    ============  ==================================================
    activation    formula
    ============  ==================================================
    identity      1
    relu          1 if x > 0 else 0
    sigmoid       y * (1 - y)
    tanh          1 - y * y
    clipped_relu  1 if 0 < x <= coef else 0
    elu           1 if y >= 0 else y + coef
    swish         s + coef * x * s * (1 - s)
                  with s = sigmoid(coef * x)
    ============  ==================================================

    Parameters
    ----------
    y, x
        Arrays of equal shape, float32 or float64. Each formula reads one of them, as in cuDNN.
    coef
        See `activate`.
    """
    factor = x.dtype.type(coef)
    one = x.dtype.type(1)
    result: Array
    match activation:
        case "identity":
            result = np.ones_like(x)
        case "relu":
            result = (x > 0).astype(x.dtype)
        case "sigmoid":
            result = y * (one - y)
        case "tanh":
            result = one - y * y
        case "clipped_relu":
            result = ((x > 0) & (x <= factor)).astype(x.dtype)
        case "elu":
            result = np.where(y >= 0, one, y + factor)
        case "swish":
            slope = sigmoid(factor * x)
            with np.errstate(invalid="ignore"):  # infinity times 0
                result = slope + factor * x * slope * (one - slope)
        case _:
            raise _unknown(activation)
    return result


def activation_forward(
    x: Array,
    activation: Activation,
    coef: float = 0.0,
    *,
    propagate_nan: bool = True,
    y: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """y = alpha * act(x) + beta * y: `cudnnActivationForward`.

    Parameters
    ----------
    x
        Any shape.
    activation, coef, propagate_nan
        See `activate`. cuDNN itself refuses 'identity' here.
    y, **output
        What the output held, and `Output`.

    Returns
    -------
    ndarray
        An array of the shape of x.
    """

    def formula(x: Array) -> Array:
        return activate(x, activation, coef, propagate_nan=propagate_nan)

    return computed("y", y, formula, x, output=output)


def activation_backward(
    activation: Activation,
    coef: float = 0.0,
    *,
    y: Array,
    dy: Array,
    x: Array,
    dx: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """dx = alpha * act'(x) * dy + beta * dx: `cudnnActivationBackward`.

    Where relu and clipped_relu are flat the gradient is 0, even for a NaN in dy.

    Parameters
    ----------
    activation, coef
        See `activate`; `derivative` has the derivatives.
    y, dy, x
        Arrays of equal shape; y is act(x), from a forward pass with alpha 1 and beta 0.
    dx, **output
        What the output held, and `Output`.

    Returns
    -------
    ndarray
        An array of the shape of x.

    Raises
    ------
    ValueError
        If the shapes differ.
    """
    for name, operand in (("y", y), ("dy", dy)):
        if operand.shape != x.shape:
            raise ValueError(f"{name} must have the shape of x, {x.shape}, got {operand.shape}")

    def formula(x: Array, y: Array, dy: Array) -> Array:
        slope = derivative(y, x, activation, coef)
        return kept(dy, slope > 0) if activation in ("relu", "clipped_relu") else dy * slope

    return computed("dx", dx, formula, x, y, dy, output=output)


def _larger(x: Array, floor: Any, propagate_nan: bool) -> Array:
    result: Array = np.maximum(x, floor) if propagate_nan else np.fmax(x, floor)
    return result


def _unknown(activation: object) -> ValueError:
    names = ", ".join(get_args(Activation))
    return ValueError(f"activation must be one of {names}, got {activation!r}")


def sigmoid(x: Array) -> Array:
    """1 / (1 + exp(-x))."""
    # 1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2, which does not overflow.
    half = x.dtype.type(0.5)
    result: Array = half + half * np.tanh(half * x)
    return result
