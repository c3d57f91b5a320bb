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

from typing import TYPE_CHECKING, Literal, get_args

import numpy as np

from .arithmetic import Output, computed, round_to
from .tiles import Array, other_axes

if TYPE_CHECKING:
    from typing_extensions import Unpack

Algorithm = Literal["fast", "accurate", "log"]
SoftmaxMode = Literal["instance", "channel"]


def softmax_forward(
    x: Array,
    *,
    algorithm: Algorithm = "accurate",
    mode: SoftmaxMode = "channel",
    y: Array | None = None,
    keep_powers: bool = True,
    **output: Unpack[Output],
) -> Array:
    """y = alpha * softmax(x) + beta * y: `cudnnSoftmaxForward`.

    Parameters
    ----------
    x
        (N, C, spatial sizes...).
    keep_powers
        Whether integers are exponentials in y first, where beta is 0, as in most kernels of cuDNN.
    y, **output
        What the output held, and `Output`.

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
    rounded = x.dtype if x.dtype.kind in "iu" and keep_powers and not output.get("beta") else None

    def formula(values: Array) -> Array:
        result: Array
        if algorithm != "fast":
            values = values - values.max(axis=axes, keepdims=True)
        with np.errstate(over="ignore", invalid="ignore"):
            powers = np.exp(values)
            total = powers.sum(axis=axes, keepdims=True)
            if rounded is not None:  # cuDNN 9.14, 9.19
                powers = round_to(powers, rounded).astype(values.dtype)
            result = values - np.log(total) if algorithm == "log" else powers / total
        return result

    return computed("y", y, formula, x, output=output, axes=other_axes(x, axes))


def softmax_backward(
    *,
    y: Array,
    dy: Array,
    algorithm: Algorithm = "accurate",
    mode: SoftmaxMode = "channel",
    dx: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """dx = alpha * (gradient of the loss by x) + beta * dx: `cudnnSoftmaxBackward`.

    Parameters
    ----------
    y, dy
        (N, C, spatial sizes...); y is the softmax, or its logarithm for algorithm 'log', from a
        forward pass with alpha 1 and beta 0.
    dx, **output
        What the output held, and `Output`.

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

    def formula(y: Array, dy: Array) -> Array:
        result: Array
        if algorithm == "log":
            result = dy - np.exp(y) * dy.sum(axis=axes, keepdims=True)
        else:
            result = y * (dy - (y * dy).sum(axis=axes, keepdims=True))
        return result

    return computed("dx", dx, formula, y, dy, output=output, axes=other_axes(y, axes))


def _axes(x: Array, algorithm: str, mode: str) -> tuple[int, ...]:
    if algorithm not in get_args(Algorithm):
        raise ValueError(f"algorithm must be 'fast', 'accurate' or 'log', got {algorithm!r}")
    if mode not in get_args(SoftmaxMode):
        raise ValueError(f"mode must be 'instance' or 'channel', got {mode!r}")
    if x.ndim < 2:
        raise ValueError(f"the tensors must be (N, C, spatial sizes...), got shape {x.shape}")
    return (1,) if mode == "channel" else tuple(range(1, x.ndim))
