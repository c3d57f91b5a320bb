"""Reductions, and the statistics of channels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...raw.enums import cudnnReduceTensorOp_t
from ..tiles import Array

Mode = cudnnReduceTensorOp_t

_REDUCTIONS: dict[Mode, Callable[[Array, tuple[int, ...]], Any]] = {
    Mode.CUDNN_REDUCE_TENSOR_ADD: lambda x, axes: x.sum(axes),
    Mode.CUDNN_REDUCE_TENSOR_MUL: lambda x, axes: x.prod(axes),
    Mode.CUDNN_REDUCE_TENSOR_MIN: lambda x, axes: np.fmin.reduce(x, axes),
    Mode.CUDNN_REDUCE_TENSOR_MAX: lambda x, axes: np.fmax.reduce(x, axes),
    Mode.CUDNN_REDUCE_TENSOR_AMAX: lambda x, axes: np.fmax.reduce(np.abs(x), axes),
    Mode.CUDNN_REDUCE_TENSOR_AVG: lambda x, axes: x.mean(axes),
    Mode.CUDNN_REDUCE_TENSOR_NORM1: lambda x, axes: np.abs(x).sum(axes),
    Mode.CUDNN_REDUCE_TENSOR_NORM2: lambda x, axes: np.sqrt((x * x).sum(axes)),
    Mode.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: lambda x, axes: np.where(x == 0, 1, x).prod(axes),
}


def reduce(mode: Mode, x: Array, y_shape: Sequence[int]) -> Array:
    """One number for each block of `x`: its sum, maximum, norm …

    Maxima and minima ignore NaN, like CUDA's fmaxf, unless all elements are NaN.

    Parameters
    ----------
    y_shape
        In each dimension a divisor of the size of `x`: 1 reduces the whole dimension, 2 gives a
        number for each half.

    Returns
    -------
    ndarray
        An array of the shape `y_shape`.
    """
    split = [
        part for size, kept in zip(x.shape, y_shape, strict=True) for part in (kept, size // kept)
    ]
    groups = tuple(range(1, len(split), 2))
    return np.asarray(_REDUCTIONS[mode](x.reshape(split), groups))


def channel_statistics(x: Array) -> tuple[Array, Array]:
    """The sum and the sum of squares of each channel of x (n, c, *spatial): (1, c, 1, …)."""
    axes = (0, *range(2, x.ndim))
    return x.sum(axes, keepdims=True), (x * x).sum(axes, keepdims=True)
