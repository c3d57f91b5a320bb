"""A convolution as a matrix product: image patches to columns, and columns back to an image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from .geometry import Geometry, Mode


def im2col(
    x: NDArray[Any],
    w_shape: Sequence[int],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    mode: Mode = "cross-correlation",
) -> NDArray[Any]:
    """The patches of `x` under every filter position, laid out as `cudnnIm2Col` writes them.

    One row for every filter tap (c, r...), one column for every output position (n, y...)::

        columns[c, r..., n, y...] = x_padded[n, c, y * stride + r * dilation, ...]

    so that y = w.reshape(K, -1) @ columns.reshape(C * R, N * Y). In mode 'convolution' the taps are
    reversed, R - 1 - r in place of r, and the same product with the same w holds.

    Parameters
    ----------
    x
        (N, C, spatial sizes...), any dtype.
    w_shape
        (K, C, filter sizes R...); K does not matter.
    padding, stride, dilation
        One int for each spatial dimension; left out: 0, 1 and 1.

    Returns
    -------
    ndarray
        (C, R..., N, Y...), C-contiguous, in the dtype of `x`: colBuffer is its memory.

    Notes
    -----
    The layout was read off cuDNN 9.19: both modes, dilation, NCHW and NHWC inputs (the columns are
    the same for both), float32 and float16. cuDNN itself answers NOT_SUPPORTED for groups, int8,
    and more than two spatial dimensions.
    """
    geometry = Geometry.of(
        x.shape, w_shape, padding=padding, stride=stride, dilation=dilation, mode=mode
    )
    return np.ascontiguousarray(patches(x, geometry))


def patches(x: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """The array of `im2col` as a read-only view of the padded `x`, for any number of groups."""
    n = geometry.spatial
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in geometry.padding)])
    windows = sliding_window_view(padded, geometry.window, axis=tuple(range(2, 2 + n)))
    positions = [slice(None, None, s) for s in geometry.stride]
    taps = [slice(None, None, d) for d in geometry.dilation]
    windows = windows[(slice(None), slice(None), *positions, *taps)]  # (N, C, Y..., R...)
    if geometry.mode == "convolution":
        windows = np.flip(windows, axis=tuple(range(2 + n, 2 + 2 * n)))
    return windows.transpose(1, *range(2 + n, 2 + 2 * n), 0, *range(2, 2 + n))


def col2im(columns: NDArray[Any], geometry: Geometry) -> NDArray[Any]:
    """The adjoint of `patches`: every column entry is added back to the pixel it came from.

    Parameters
    ----------
    columns
        (C, R..., N, Y...).

    Returns
    -------
    ndarray
        (N, C, spatial sizes...) in the dtype of `columns`.
    """
    batch, channels = geometry.x_shape[:2]
    image = np.zeros((batch, channels, *geometry.padded), dtype=columns.dtype)
    filter_sizes = geometry.w_shape[2:]
    for tap in np.ndindex(*filter_sizes):
        place = tap
        if geometry.mode == "convolution":
            place = tuple(r - 1 - t for r, t in zip(filter_sizes, tap, strict=True))
        pixels = tuple(
            slice(t * d, t * d + s * (y - 1) + 1, s)
            for t, d, s, y in zip(
                place, geometry.dilation, geometry.stride, geometry.y_shape[2:], strict=True
            )
        )
        image[(slice(None), slice(None), *pixels)] += columns[(slice(None), *tap)].swapaxes(0, 1)
    inside = (
        slice(p, p + size) for p, size in zip(geometry.padding, geometry.x_shape[2:], strict=True)
    )
    return image[(slice(None), slice(None), *inside)]
