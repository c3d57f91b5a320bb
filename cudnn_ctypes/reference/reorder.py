"""The order in which `cudnnReorderFilterAndBias` puts an int8 filter for the INT8x32 kernels.

NVIDIA documents that the filter and the bias must be reordered, not how. The order below was read
off cuDNN 9.19 on an H200 (K of 32 to 128, C of 32 to 96, filters of 1x1 to 3x3), and is the one
that OpenXLA, which reorders by itself, uses. With

    k = 8 k2 + 2 k1 + k0   (k1 < 4, k0 < 2)        c = 32 c2 + 4 c1 + c0   (c1 < 8, c0 < 4)

the filter goes to memory as [c2, r, s, k2, k0, c1, k1, c0], slowest index first. The bias, with
k = 32 k3 + 8 k2 + 4 k1 + k0   (k2 < 4, k1 < 2, k0 < 4), goes to [k3, k1, k2, k0].
"""

from __future__ import annotations

import numpy as np

from .tiles import Array

# Axes of the filter split as (k2, k1, k0, c2, r, s, c1, c0), and of the bias as (k3, k2, k1, k0).
_FILTER_ORDER = (3, 4, 5, 0, 2, 6, 1, 7)
_BIAS_ORDER = (0, 2, 1, 3)


def reorder_filter(w: Array) -> Array:
    """The filter's memory after `cudnnReorderFilterAndBias` with CUDNN_DEFAULT_REORDER.

    With CUDNN_NO_REORDER the call only copies. With CUDNN_DEFAULT_REORDER it answers NOT_SUPPORTED
    for every data type but INT8x32.

    Parameters
    ----------
    w
        (K, C / 32, R, S, 32), the memory of a filter in CUDNN_TENSOR_NCHW_VECT_C with
        CUDNN_DATA_INT8x32; K is a multiple of 32.

    Returns
    -------
    ndarray
        The same number of bytes in the same shape, which no longer describes the layout.

    Raises
    ------
    ValueError
        If `w` has another shape.
    """
    return w.reshape(_split_filter(w)).transpose(_FILTER_ORDER).reshape(w.shape)


def restore_filter(reordered: Array) -> Array:
    """The inverse of `reorder_filter`, same shapes."""
    split = _split_filter(reordered)
    stored = [split[axis] for axis in _FILTER_ORDER]
    return reordered.reshape(stored).transpose(np.argsort(_FILTER_ORDER)).reshape(reordered.shape)


def reorder_bias(bias: Array) -> Array:
    """The bias after `cudnnReorderFilterAndBias` with CUDNN_DEFAULT_REORDER.

    Parameters
    ----------
    bias
        (K,) with K a multiple of 32, float32 in cuDNN.
    """
    if bias.ndim != 1 or bias.size % 32:
        raise ValueError(f"bias must have shape (K,), K a multiple of 32, got {bias.shape}")
    return bias.reshape(-1, 4, 2, 4).transpose(_BIAS_ORDER).reshape(-1)


def restore_bias(reordered: Array) -> Array:
    """The inverse of `reorder_bias`."""
    if reordered.ndim != 1 or reordered.size % 32:
        raise ValueError(f"reordered must have shape (K,), K a multiple of 32: {reordered.shape}")
    return reordered.reshape(-1, 2, 4, 4).transpose(np.argsort(_BIAS_ORDER)).reshape(-1)


def _split_filter(w: Array) -> tuple[int, ...]:
    if w.ndim != 5 or w.shape[0] % 32 or w.shape[4] != 32:
        raise ValueError(
            f"w must have shape (K, C / 32, R, S, 32), K a multiple of 32, got {w.shape}"
        )
    filters, channel_vectors, rows, columns, _ = w.shape
    return (filters // 8, 4, 2, channel_vectors, rows, columns, 8, 4)
