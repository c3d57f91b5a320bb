"""A convolution as a matrix product: image patches to columns, and columns back to an image."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from .geometry import Geometry, Mode
from .tiles import Array

ELEMENTS = 1 << 18  # of the patches that are made at once


def im2col(
    x: Array,
    w_shape: Sequence[int],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    mode: Mode = "cross_correlation",
) -> Array:
    """The patches of `x` under every filter position, in the layout of `cudnnIm2Col`.

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
        One int for each spatial dimension; default: 0, 1 and 1.

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


def patches(x: Array, geometry: Geometry) -> Array:
    """The array of `im2col` as a read-only view of the padded `x`, for any number of groups."""
    n = geometry.spatial
    padded = np.pad(x, [(0, 0), (0, 0), *((p, p) for p in geometry.padding)])
    axes: Any = tuple(range(2, 2 + n))  # NumPy 1.26 declares one axis only
    windows: Array = sliding_window_view(padded, geometry.window, axis=axes)
    positions = [slice(None, None, s) for s in geometry.stride]
    taps = [slice(None, None, d) for d in geometry.dilation]
    places: tuple[slice, ...] = (slice(None), slice(None), *positions, *taps)
    windows = windows[places]  # (N, C, Y..., R...)
    if geometry.mode == "convolution":
        windows = np.flip(windows, axis=tuple(range(2 + n, 2 + 2 * n)))
    return windows.transpose(1, *range(2 + n, 2 + 2 * n), 0, *range(2, 2 + n))


def parts(geometry: Geometry) -> Iterator[tuple[slice, slice]]:
    """Cut the output into images and rows whose patches fit in the processor's cache."""
    batch, _, rows, *sizes = geometry.y_shape
    of_row = geometry.x_shape[1] * math.prod(geometry.w_shape[2:]) * math.prod(sizes)
    images = max(1, ELEMENTS // (of_row * rows))
    step = min(rows, max(1, ELEMENTS // of_row))
    for image in range(0, batch, images):
        for row in range(0, rows, step):
            yield slice(image, image + images), slice(row, row + step)


def add_patches(image: Array, columns: Array, geometry: Geometry) -> None:
    """The adjoint of `patches`: add every column entry to the pixel that it came from.

    Parameters
    ----------
    image
        (N, C, padded sizes...): that part of it which the columns see, from the first pixel on.
    columns
        (C, R..., N, Y...).
    """
    y_sizes = columns.shape[-geometry.spatial :]
    for tap in np.ndindex(*geometry.w_shape[2:]):
        place: tuple[slice | int, ...] = (slice(None), *tap)
        column: Array = columns[place]
        image[tap_pixels(geometry, tap, y_sizes)] += column.swapaxes(0, 1)


def tap_pixels(
    geometry: Geometry, tap: tuple[int, ...], y_sizes: Sequence[int]
) -> tuple[slice, ...]:
    """The pixels of a padded image (N, C, padded sizes...) under one place of the filter."""
    if geometry.mode == "convolution":
        tap = tuple(r - 1 - t for r, t in zip(geometry.w_shape[2:], tap, strict=True))
    pixels = (
        slice(t * d, t * d + s * (y - 1) + 1, s)
        for t, d, s, y in zip(tap, geometry.dilation, geometry.stride, y_sizes, strict=True)
    )
    return (slice(None), slice(None), *pixels)
