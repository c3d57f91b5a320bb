"""Resampling: pooling, and interpolation between pixels, forward and backward.

Output i of a dimension looks at the window that begins at  i * stride - pre_padding. Pooling takes
the maximum or mean of the window. Interpolation, for strides below 1, looks at the place in its
middle,  i * stride - pre_padding + (window - 1) / 2  in pixels, and takes the pixel before, or both
neighbours, weighed by their distance; beyond the edge the last pixel goes on. With a window of 2, a
stride and a padding of 1/2 these are the pixels and the places halfway between them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...raw.enums import cudnnPaddingMode_t, cudnnResampleMode_t
from ..tiles import tiled
from ..windows import Windows

__all__ = ["Resampling"]

Array = NDArray[Any]
Mode = cudnnResampleMode_t
Padding = cudnnPaddingMode_t
Number = int | Fraction
Taps = list[tuple[int, list[list[tuple[float, int]]]]]  # by axis, output and pixel seen


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
        if self.mode in _POOLING:
            windows = self._windows(x.shape, tuple(y_shape))
            return tiled(lambda x: self._pooled(x, windows), x, axes=(0, 1), growth=windows.growth)
        taps = self._taps(x.shape, y_shape)
        growth = max(1, math.prod(y_shape) / x.size)
        y = tiled(lambda x: self._interpolated(x, taps), x, axes=(0, 1), growth=growth)
        return y, np.zeros(y_shape, np.int64)

    def _interpolated(self, x: Array, taps: Taps) -> Array:
        for axis, of_axis in taps:
            y = np.zeros((*x.shape[:axis], len(of_axis), *x.shape[axis + 1 :]))
            to, source = np.moveaxis(y, axis, 0), np.moveaxis(x, axis, 0)
            for i, seen in enumerate(of_axis):
                for weight, pixel in seen:
                    to[i] += weight * source[pixel]
            x = y
        return x

    def _pooled(self, x: Array, windows: Windows) -> tuple[Array, Array]:
        if self.mode != Mode.CUDNN_RESAMPLE_MAXPOOL:
            y = windows.total(x)
            return y / self._divisors(windows), np.zeros(y.shape, np.int64)
        y, index = windows.first_maximum(x, propagate_nan=True)
        if self.padding_mode == Padding.CUDNN_ZERO_PAD:  # zeros beyond the edge take part
            y = np.where(windows.counts() < math.prod(windows.window), np.maximum(y, 0), y)
        return y, index.astype(np.int64)

    def backward(
        self,
        dy: Array,
        x_shape: Sequence[int],
        *,
        index: Array | None = None,
        x: Array | None = None,
    ) -> Array:
        """dx, of `x_shape`; for "maxpool" from the forward `index` or from `x`."""
        if self.mode in _POOLING:
            windows = self._windows(tuple(x_shape), dy.shape)
            if self.mode != Mode.CUDNN_RESAMPLE_MAXPOOL:
                return self._spread(dy / self._divisors(windows), windows)
            if index is None:
                if x is None:
                    raise ValueError("the gradient of maxpool needs the index, or x and y")
                index = self.forward(x, dy.shape)[1]
            dx = np.zeros(x_shape)
            windows.add_at(dx, index.astype(np.int64), dy)
            return dx
        taps = self._taps(x_shape, dy.shape)

        def formula(dy: Array) -> Array:
            for axis, of_axis in reversed(taps):
                dx = np.zeros((*dy.shape[:axis], x_shape[axis], *dy.shape[axis + 1 :]))
                to, source = np.moveaxis(dx, axis, 0), np.moveaxis(dy, axis, 0)
                for gradient, seen in zip(source, of_axis, strict=True):
                    for weight, pixel in seen:
                        to[pixel] += weight * gradient
                dy = dx
            return dy

        return tiled(formula, dy, axes=(0, 1))

    def _spread(self, gradient: Array, windows: Windows) -> Array:
        """The gradient of each window's sum."""
        dx = np.zeros(windows.x_shape)
        for _, outputs, elements in windows.taps():
            dx[elements] += gradient[outputs]
        return dx

    def _windows(self, x_shape: tuple[int, ...], y_shape: tuple[int, ...]) -> Windows:
        window, stride, before = (
            tuple(int(size) for size in sizes)
            for sizes in (self.window, self.stride, self.pre_padding)
        )
        return Windows(x_shape, y_shape, window, before, stride)

    def _divisors(self, windows: Windows) -> Array | int:
        """The places of each window that its mean counts."""
        counts_all = self.mode == Mode.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING
        return math.prod(windows.window) if counts_all else windows.counts()

    def _taps(self, x_shape: Sequence[int], y_shape: Sequence[int]) -> Taps:
        """For each spatial axis: of which pixels, with which weights, an output is the sum."""
        axes = zip(self.window, self.stride, self.pre_padding, strict=True)
        return [
            (
                axis,
                [
                    list(
                        self._neighbours(
                            i * step - before + Fraction(window - 1) / 2, x_shape[axis]
                        )
                    )
                    for i in range(y_shape[axis])
                ],
            )
            for axis, (window, step, before) in enumerate(axes, start=2)
        ]

    def _neighbours(self, middle: Number, size: int) -> Iterator[tuple[float, int]]:
        """Pixels around a place of one dimension, with their weights."""
        before = math.floor(middle)
        share = 0.0 if self.mode == Mode.CUDNN_RESAMPLE_NEAREST else float(middle - before)
        for weight, pixel in ((1 - share, before), (share, before + 1)):
            if weight:
                yield weight, min(max(pixel, 0), size - 1)


_POOLING = (
    Mode.CUDNN_RESAMPLE_MAXPOOL,
    Mode.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING,
    Mode.CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING,
)
