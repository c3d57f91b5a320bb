"""The shapes and options of one convolution, checked once and shared by all its directions.

As a matrix product it takes image patches as columns, and its gradients columns back to an image.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypedDict

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from ..arguments import integer, integers
from .tiles import Array

Mode = Literal["cross_correlation", "convolution"]


class Taps(TypedDict, total=False):
    """How filters move over images: keyword arguments of convolutions.

    Attributes
    ----------
    padding, stride, dilation : sequence of int
        One for each spatial dimension; by default 0, 1 and 1.
    groups : int
        Group g of K / groups filters sees only group g of C / groups channels.
    mode : {"cross_correlation", "convolution"}
        The latter turns the filters around.
    """

    padding: Sequence[int] | None
    stride: Sequence[int] | None
    dilation: Sequence[int] | None
    groups: int
    mode: Mode


@dataclass(frozen=True)
class Geometry:
    """A convolution's options and its tensors' shapes, with the derived sizes.

    The letters are those of the cuDNN papers: N images, C input channels, K filters (output
    channels), and for every spatial dimension the image size, the filter size R and the output
    size Y. Build one with `Geometry.of`, which checks it.
    """

    x_shape: tuple[int, ...]
    w_shape: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    mode: Mode

    @classmethod
    def of(
        cls,
        x_shape: Sequence[int],
        w_shape: Sequence[int],
        *,
        padding: Sequence[int] | None = None,
        stride: Sequence[int] | None = None,
        dilation: Sequence[int] | None = None,
        groups: int = 1,
        mode: Mode = "cross_correlation",
    ) -> Geometry:
        """Check the arguments of a convolution; ValueError names the first one that is wrong."""
        x_shape = _positive("x_shape", x_shape)
        w_shape = _positive("w_shape", w_shape)
        if len(x_shape) < 3:
            raise ValueError(f"x_shape must be (N, C, spatial sizes...), got {x_shape}")
        if len(w_shape) != len(x_shape):
            raise ValueError(
                f"w_shape must have as many dimensions as x_shape {x_shape}, got {w_shape}"
            )
        if mode not in ("cross_correlation", "convolution"):
            raise ValueError(f"mode must be 'cross_correlation' or 'convolution', got {mode!r}")
        _check_channels(x_shape[1], w_shape, groups)
        spatial = len(x_shape) - 2
        geometry = cls(
            x_shape,
            w_shape,
            per_dimension("padding", padding, spatial, default=0, least=0),
            per_dimension("stride", stride, spatial, default=1, least=1),
            per_dimension("dilation", dilation, spatial, default=1, least=1),
            groups,
            mode,
        )
        if min(geometry.y_shape) < 1:
            raise ValueError(
                f"w_shape {w_shape} with dilation {geometry.dilation} is larger than x_shape "
                f"{x_shape} with padding {geometry.padding}: the output would be empty"
            )
        return geometry

    @property
    def spatial(self) -> int:
        """The number of spatial dimensions."""
        return len(self.padding)

    @property
    def window(self) -> tuple[int, ...]:
        """The filter's extent on the image once dilated: (R - 1) * dilation + 1."""
        return tuple((r - 1) * d + 1 for r, d in zip(self.w_shape[2:], self.dilation, strict=True))

    @property
    def padded(self) -> tuple[int, ...]:
        """The image's spatial sizes with the padding on both sides."""
        return tuple(x + 2 * p for x, p in zip(self.x_shape[2:], self.padding, strict=True))

    @property
    def inside(self) -> tuple[slice, ...]:
        """The index of the image (N, C, sizes...) in the padded one."""
        sizes = zip(self.padding, self.x_shape[2:], strict=True)
        return (slice(None), slice(None), *(slice(p, p + size) for p, size in sizes))

    @property
    def y_shape(self) -> tuple[int, ...]:
        """(N, K, Y...) with Y = floor((image + 2 padding - window) / stride) + 1."""
        sizes = zip(self.padded, self.window, self.stride, strict=True)
        return (
            self.x_shape[0],
            self.w_shape[0],
            *((padded - window) // s + 1 for padded, window, s in sizes),
        )


def output_shape(
    x_shape: Sequence[int],
    w_shape: Sequence[int],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    dilation: Sequence[int] | None = None,
    groups: int = 1,
) -> tuple[int, ...]:
    """The shape (N, K, Y...) of y, as `cudnnGetConvolutionNdForwardOutputDim` computes it.

    Parameters
    ----------
    x_shape
        (N, C, spatial sizes...), any number of spatial dimensions.
    w_shape
        (K, C / groups, filter sizes...).
    padding, stride, dilation
        One int for each spatial dimension; default: 0, 1 and 1.
    groups
        Divides both C and K.

    Raises
    ------
    ValueError
        If an argument does not fit the others, or the filter does not fit the padded image.

    Examples
    --------
    >>> output_shape((1, 3, 224, 224), (64, 3, 7, 7), padding=(3, 3), stride=(2, 2))
    (1, 64, 112, 112)
    """
    return Geometry.of(
        x_shape, w_shape, padding=padding, stride=stride, dilation=dilation, groups=groups
    ).y_shape


def _positive(name: str, sizes: Sequence[int]) -> tuple[int, ...]:
    checked = integers(name, sizes)
    if any(size < 1 for size in checked):
        raise ValueError(f"{name} must hold sizes of at least 1, got {checked}")
    return checked


def per_dimension(
    name: str, values: Sequence[int] | None, spatial: int, *, default: int, least: int
) -> tuple[int, ...]:
    """One int of at least `least` for each spatial dimension; ValueError names the argument."""
    if values is None:
        return (default,) * spatial
    checked = integers(name, values)
    if len(checked) != spatial:
        raise ValueError(
            f"{name} must hold one int for each of the {spatial} spatial dimensions, got {checked}"
        )
    if any(value < least for value in checked):
        raise ValueError(f"{name} must hold ints of at least {least}, got {checked}")
    return checked


def _check_channels(channels: int, w_shape: tuple[int, ...], groups: int) -> None:
    integer("groups", groups, least=1)
    if channels % groups or w_shape[0] % groups:
        raise ValueError(
            f"groups must divide the {channels} input channels and the {w_shape[0]} filters, "
            f"got {groups}"
        )
    if w_shape[1] * groups != channels:
        raise ValueError(
            f"w_shape[1] must be {channels} input channels / {groups} groups = "
            f"{channels // groups}, got {w_shape[1]}"
        )


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
