"""Resampling: pooling, and interpolation between pixels, forward and backward.

Output i of a dimension looks at the window that begins at  i * stride - pre_padding. Pooling takes
the maximum or mean of the window. Interpolation, for strides below 1, looks at the place in its
middle,  i * stride - pre_padding + (window - 1) / 2  in pixels, and takes the pixel before, or both
neighbours, weighed by their distance; beyond the edge the last pixel goes on. With a window of 2, a
stride and a padding of 1/2 these are the pixels and the places halfway between them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...raw.enums import cudnnPaddingMode_t, cudnnResampleMode_t

__all__ = ["Resampling"]

Array = NDArray[Any]
Mode = cudnnResampleMode_t
Padding = cudnnPaddingMode_t
Number = int | Fraction


@dataclass(frozen=True)
class Resampling:
    """A resampling of images (n, c, *spatial); one number for each spatial dimension.

    The mean counts the padding, unless the mode excludes it. Backward, each pixel's gradient goes
    back to where the pixel came from.
    """

    mode: Mode
    window: Sequence[Number]
    stride: Sequence[Number]
    pre_padding: Sequence[Number]
    padding_mode: Padding = Padding.CUDNN_ZERO_PAD

    def forward(self, x: Array, y_shape: Sequence[int]) -> tuple[Array, Array]:
        """y, and for "maxpool" where in the window each maximum is, counted by rows."""
        y = np.zeros(y_shape)
        index = np.zeros(y_shape, np.int64)
        for place in np.ndindex(*y_shape[2:]):
            here = _at(place)
            if self.mode == Mode.CUDNN_RESAMPLE_MAXPOOL:
                numbers, places = self._taps(place, x.shape[2:])
                seen = x[_at(places)]
                best = seen.argmax(-1)
                y[here] = np.take_along_axis(seen, best[..., None], -1)[..., 0]
                index[here] = numbers[best]
                if self._sees_zeros(len(numbers)):
                    y[here] = np.maximum(y[here], 0)
            else:
                for weight, pixel in self._weights(place, x.shape[2:]):
                    y[here] += weight * x[_at(pixel)]
        return y, index

    def backward(
        self,
        dy: Array,
        x_shape: Sequence[int],
        *,
        index: Array | None = None,
        x: Array | None = None,
    ) -> Array:
        """dx, of `x_shape`; for "maxpool" from the forward `index` or from `x`."""
        dx = np.zeros(x_shape)
        if self.mode == Mode.CUDNN_RESAMPLE_MAXPOOL and index is None:
            if x is None:
                raise ValueError("the gradient of maxpool needs the index, or x and y")
            index = self.forward(x, dy.shape)[1]
        batch, channel = np.ogrid[: x_shape[0], : x_shape[1]]
        for place in np.ndindex(*dy.shape[2:]):
            here = _at(place)
            if index is not None:
                pixel = self._pixel(place, index[here].astype(int))
                np.add.at(dx, (batch, channel, *pixel), dy[here])
            else:
                for weight, fixed in self._weights(place, tuple(x_shape[2:])):
                    dx[_at(fixed)] += weight * dy[here]
        return dx

    def _starts(self, place: Sequence[int]) -> list[Number]:
        return [
            i * step - before
            for i, step, before in zip(place, self.stride, self.pre_padding, strict=True)
        ]

    def _taps(self, place: Sequence[int], sizes: Sequence[int]) -> tuple[Array, tuple[Array, ...]]:
        """The numbers of the window's places that lie on the image, and their pixels."""
        shape = [int(size) for size in self.window]
        grid = np.indices(shape).reshape(len(shape), -1)
        pixels = grid + np.array([int(start) for start in self._starts(place)])[:, None]
        inside = np.all((pixels >= 0) & (pixels < np.array(sizes)[:, None]), axis=0)
        return np.flatnonzero(inside), tuple(pixels[:, inside])

    def _pixel(self, place: Sequence[int], index: Array) -> tuple[Array, ...]:
        """The pixels of places in the window."""
        shape = tuple(int(size) for size in self.window)
        offsets = np.unravel_index(index, shape)
        starts = self._starts(place)
        return tuple(offset + int(start) for offset, start in zip(offsets, starts, strict=True))

    def _sees_zeros(self, count: int) -> bool:
        """Whether the window reaches over the edge, where zeros take part in the maximum."""
        all_of_it = math.prod(int(size) for size in self.window)
        return self.padding_mode == Padding.CUDNN_ZERO_PAD and count < all_of_it

    def _weights(
        self, place: Sequence[int], sizes: Sequence[int]
    ) -> Iterator[tuple[float, tuple[int, ...]]]:
        """The pixels of which an output is the weighted sum, with their weights."""
        if self.mode in _MEANS:
            numbers, pixels = self._taps(place, sizes)
            counts_all = self.mode == Mode.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING
            count = math.prod(int(size) for size in self.window) if counts_all else len(numbers)
            for pixel in zip(*pixels, strict=True):
                yield 1 / count, tuple(map(int, pixel))
            return
        along = [
            list(self._neighbours(start + Fraction(window - 1) / 2, size))
            for start, window, size in zip(self._starts(place), self.window, sizes, strict=True)
        ]
        for corner in itertools.product(*along):
            weights, corner_pixel = zip(*corner, strict=True)
            yield math.prod(weights), tuple(corner_pixel)

    def _neighbours(self, middle: Number, size: int) -> Iterator[tuple[float, int]]:
        """Pixels around a place of one dimension, with their weights."""
        before = math.floor(middle)
        share = 0.0 if self.mode == Mode.CUDNN_RESAMPLE_NEAREST else float(middle - before)
        for weight, pixel in ((1 - share, before), (share, before + 1)):
            if weight:
                yield weight, min(max(pixel, 0), size - 1)


def _at(place: Sequence[Any]) -> tuple[Any, ...]:
    """The index of a place in all images and channels."""
    return (slice(None), slice(None), *place)


_MEANS = (
    Mode.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING,
    Mode.CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING,
)
