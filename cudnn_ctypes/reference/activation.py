"""The pointwise activations of `cudnnActivationMode_t`."""

from __future__ import annotations

from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

Activation = Literal["identity", "relu", "sigmoid", "tanh", "clipped_relu", "elu", "swish"]


def activate(x: NDArray[Any], activation: Activation, coefficient: float = 0.0) -> NDArray[Any]:
    """The activation of every element of `x`, in the dtype of `x`. NaN stays NaN.

    ============  ==================================  =======================
    activation    formula                             coefficient
    ============  ==================================  =======================
    identity      x
    relu          max(x, 0)
    sigmoid       1 / (1 + exp(-x))
    tanh          tanh(x)
    clipped_relu  min(max(x, 0), coefficient)         the ceiling
    elu           x if x > 0 else                     the scale of the
                  coefficient * (exp(x) - 1)          negative side
    swish         x * sigmoid(coefficient * x)        the slope (cuDNN: beta)
    ============  ==================================  =======================

    Parameters
    ----------
    x
        Any shape, float32 or float64.
    coefficient
        What `cudnnSetActivationDescriptor` calls coef; for swish,
        what `cudnnSetActivationDescriptorSwishBeta` sets.

    Raises
    ------
    ValueError
        For an activation that is not in the table.
    """
    factor = x.dtype.type(coefficient)
    zero = x.dtype.type(0)
    result: NDArray[Any]
    match activation:
        case "identity":
            result = x
        case "relu":
            result = np.maximum(x, zero)
        case "sigmoid":
            result = _sigmoid(x)
        case "tanh":
            result = np.tanh(x)
        case "clipped_relu":
            result = np.minimum(np.maximum(x, zero), factor)
        case "elu":
            result = np.where(x > 0, x, factor * np.expm1(np.minimum(x, zero)))
        case "swish":
            result = x * _sigmoid(factor * x)
        case _:
            names = ", ".join(get_args(Activation))
            raise ValueError(f"activation must be one of {names}, got {activation!r}")
    return result


def _sigmoid(x: NDArray[Any]) -> NDArray[Any]:
    # 1 / (1 + exp(-x)) = (1 + tanh(x / 2)) / 2, which does not overflow.
    half = x.dtype.type(0.5)
    result: NDArray[Any] = half + half * np.tanh(half * x)
    return result
