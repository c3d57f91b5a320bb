"""The fused convolution: scale, add another tensor and a bias, apply an activation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .activation import Activation, activate
from .arithmetic import accumulator, round_to, scale, scaling_dtype
from .convolution import convolution_forward
from .geometry import Mode


def convolution_bias_activation_forward(
    x: NDArray[Any],
    w: NDArray[Any],
    z: NDArray[Any] | None,
    bias: NDArray[Any],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    groups: int = 1,
    mode: Mode = "cross_correlation",
    alpha1: float = 1.0,
    alpha2: float = 0.0,
    activation: Activation = "relu",
    coef: float = 0.0,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """y = act(alpha1 * conv(x, w) + alpha2 * z + bias): `cudnnConvolutionBiasActivationForward`.

    The sum stays in the scaling dtype (float64 for float64, else float32) and is rounded once, at
    the end. cuDNN itself accepts only 'relu' and 'identity' here (measured, 9.19).

    Parameters
    ----------
    x, w, padding, stride, dilation, groups, mode, compute_dtype
        See `convolution_forward`.
    z
        (N, K, output sizes...); read only if alpha2 is not 0, and may then be None.
    bias
        (K,) or (1, K, 1...).
    activation, coef
        See `activate`.
    out_dtype
        Default: the dtype of x.

    Returns
    -------
    ndarray
        (N, K, output sizes...), a new array.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    compute = accumulator(compute_dtype, x, w)
    dtype = scaling_dtype(compute)
    total = convolution_forward(
        x,
        w,
        padding=padding,
        stride=stride,
        dilation=dilation,
        groups=groups,
        mode=mode,
        alpha=alpha1,
        compute_dtype=compute,
        out_dtype=dtype,
    )
    if z is not None and z.shape != total.shape:
        raise ValueError(f"z must have shape {total.shape}, got {z.shape}")
    if alpha2 != 0:
        if z is None:
            raise ValueError(f"z must be given when alpha2 is not 0 (alpha2 is {alpha2})")
        total += scale(z.astype(dtype), alpha2)
    total += _per_channel(bias, total.shape).astype(dtype)
    return round_to(activate(total, activation, coef), np.dtype(out_dtype or x.dtype))


def _per_channel(bias: NDArray[Any], y_shape: tuple[int, ...]) -> NDArray[Any]:
    broadcast = (1, y_shape[1], *(1,) * (len(y_shape) - 2))
    if bias.shape not in ((y_shape[1],), broadcast):
        raise ValueError(f"bias must have shape ({y_shape[1]},) or {broadcast}, got {bias.shape}")
    return bias.reshape(broadcast)
