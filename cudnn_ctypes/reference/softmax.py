"""The softmax in plain NumPy: `cudnnSoftmaxForward` and `cudnnSoftmaxBackward`.

The sums and the maximum run over the channels of each pixel in mode 'channel', over all channels
and pixels of each image in mode 'instance':

=========  ================================  ==========================================
algorithm  forward                           backward, with y the result of forward
=========  ================================  ==========================================
fast       y = exp(x) / sum(exp(x))          dx = y * (dy - sum(y * dy))
accurate   y = exp(x - m) / sum(exp(x - m))  dx = y * (dy - sum(y * dy))
log        y = x - m - log(sum(exp(x - m)))  dx = dy - exp(y) * sum(dy)
=========  ================================  ==========================================

with m = max(x). 'fast' and 'accurate' are the same function; 'fast' overflows for large x.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import DTypeLike

from .arithmetic import blend, check_shape, round_to
from .tiles import Array, other_axes, tiled

Algorithm = Literal["fast", "accurate", "log"]
SoftmaxMode = Literal["instance", "channel"]


def softmax_forward(
    x: Array,
    *,
    algorithm: Algorithm = "accurate",
    mode: SoftmaxMode = "channel",
    alpha: float = 1.0,
    beta: float = 0.0,
    y: Array | None = None,
    keep_powers: bool = True,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """y = alpha * softmax(x) + beta * y: `cudnnSoftmaxForward`.

    Parameters
    ----------
    x
        (N, C, spatial sizes...).
    y
        The output's previous contents; read only if beta is not 0, and never written.
    keep_powers
        Whether integers are exponentials in y first, where beta is 0, as in most kernels of cuDNN.
    compute_dtype
        float32 or float64.
    out_dtype
        Default: the dtype of x.

    Returns
    -------
    ndarray
        A new array of the shape of x.

    Raises
    ------
    ValueError
        For an unknown algorithm or mode, or a `y` of another shape.
    """
    axes = _axes(x, algorithm, mode)
    stored = np.dtype(out_dtype or x.dtype)

    def formula(x: Array, y: Array | None) -> Array:
        values = x.astype(compute_dtype, copy=False)
        if algorithm != "fast":
            values = values - values.max(axis=axes, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):
            powers = np.exp(values)
            total = powers.sum(axis=axes, keepdims=True)
            if x.dtype.kind in "iu" and keep_powers and not beta:  # cuDNN 9.14, 9.19
                powers = round_to(powers, x.dtype).astype(compute_dtype)
            result = values - np.log(total) if algorithm == "log" else powers / total
        return blend(result, y, alpha=alpha, beta=beta, out_dtype=stored, name="y")

    check_shape("y", y, x.shape)
    return tiled(formula, x, y, axes=other_axes(x, axes))


def softmax_backward(
    *,
    y: Array,
    dy: Array,
    algorithm: Algorithm = "accurate",
    mode: SoftmaxMode = "channel",
    alpha: float = 1.0,
    beta: float = 0.0,
    dx: Array | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """dx = alpha * (gradient of the loss by x) + beta * dx: `cudnnSoftmaxBackward`.

    Parameters
    ----------
    y, dy
        (N, C, spatial sizes...); y is the softmax, or its logarithm for algorithm 'log', from a
        forward pass with alpha 1 and beta 0.
    dx
        The output's previous contents; read only if beta is not 0, and never written.
    compute_dtype, out_dtype
        See `softmax_forward`; the default of out_dtype is the dtype of y.

    Returns
    -------
    ndarray
        A new array of the shape of y.

    Raises
    ------
    ValueError
        For an unknown algorithm or mode, or shapes that differ.
    """
    axes = _axes(y, algorithm, mode)
    if dy.shape != y.shape:
        raise ValueError(f"dy must have the shape of y, {y.shape}, got {dy.shape}")
    stored = np.dtype(out_dtype or y.dtype)

    def formula(y: Array, dy: Array, dx: Array | None) -> Array:
        y, dy = (each.astype(compute_dtype, copy=False) for each in (y, dy))
        if algorithm == "log":
            result = dy - np.exp(y) * dy.sum(axis=axes, keepdims=True)
        else:
            result = y * (dy - (y * dy).sum(axis=axes, keepdims=True))
        return blend(result, dx, alpha=alpha, beta=beta, out_dtype=stored, name="dx")

    check_shape("dx", dx, y.shape)
    return tiled(formula, y, dy, dx, axes=other_axes(y, axes))


def _axes(x: Array, algorithm: str, mode: str) -> tuple[int, ...]:
    if algorithm not in get_args(Algorithm):
        raise ValueError(f"algorithm must be 'fast', 'accurate' or 'log', got {algorithm!r}")
    if mode not in get_args(SoftmaxMode):
        raise ValueError(f"mode must be 'instance' or 'channel', got {mode!r}")
    if x.ndim < 2:
        raise ValueError(f"the tensors must be (N, C, spatial sizes...), got shape {x.shape}")
    return (1,) if mode == "channel" else tuple(range(1, x.ndim))
