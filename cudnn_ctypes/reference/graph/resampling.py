"""Resampling: pooling, and interpolation between pixels, forward and backward.

Output i of a dimension reads the window that begins at  i * stride - pre_padding. Pooling takes the
maximum or mean of the window. Interpolation, for strides below 1, reads at the window's middle,
i * stride - pre_padding + (window - 1) / 2  in pixels. It takes the pixel before, or both
neighbours, weighted by their distance; beyond the edge the last pixel is repeated. With a window of
2, a stride and a padding of 1/2 these are the pixels and the places halfway between them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from ...raw.enums import cudnnPaddingMode_t, cudnnResampleMode_t
from ..tiles import Array, tiled
from ..windows import Windows

Mode = cudnnResampleMode_t
Padding = cudnnPaddingMode_t
Number = int | Fraction
Taps = list[tuple[int, int, list[tuple[slice | Array, slice | Array, Array]]]]


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

    def forward(
        self, x: Array, y_shape: Sequence[int], *, dtype: DTypeLike = np.float64
    ) -> tuple[Array, Array]:
        """y, and for "maxpool" where in the window each maximum is, counted by rows.

        Sums are formed in float64, and y is of `dtype` if that is a floating type.
        """
        stored = _floating(dtype)
        if self.mode in _POOLING:
            windows = self._windows(x.shape, tuple(y_shape))

            def pooled(x: Array) -> tuple[Array, Array]:
                y, index = self._pooled(x, windows)
                return y.astype(stored, copy=False), index

            return tiled(pooled, x, axes=(0, 1), growth=windows.growth)
        taps = self._taps(x.shape, y_shape)

        def interpolated(x: Array) -> Array:
            return self._interpolated(x.astype(np.float64), taps).astype(stored)

        y = tiled(interpolated, x, axes=(0, 1), growth=max(1, math.prod(y_shape) / x.size))
        return y, np.broadcast_to(np.int64(0), tuple(y_shape))

    def _interpolated(self, x: Array, taps: Taps) -> Array:
        for axis, size, of_axis in reversed(taps):  # the last one first, where less is strided
            y = np.zeros((*x.shape[:axis], size, *x.shape[axis + 1 :]))
            for outputs, pixels, weights in of_axis:
                y[_along(axis, outputs)] += x[_along(axis, pixels)] * weights
            x = y
        return x

    def _pooled(self, x: Array, windows: Windows) -> tuple[Array, Array]:
        if self.mode != Mode.CUDNN_RESAMPLE_MAXPOOL:
            y = windows.total(x.astype(np.float64, copy=False))
            return y / self._divisors(windows), np.zeros(y.shape, np.int64)
        plain = x.dtype in (np.float32, np.float64)
        y, index = windows.first_maximum(x if plain else x.astype(np.float64), propagate_nan=True)
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
        dtype: DTypeLike = np.float64,
    ) -> Array:
        """dx, of `x_shape`; for "maxpool" from the forward `index` or from `x`.

        Sums are formed in float64, and dx is of `dtype` if that is a floating type.
        """
        stored = _floating(dtype)
        if self.mode in _POOLING:
            windows = self._windows(tuple(x_shape), dy.shape)
            if self.mode == Mode.CUDNN_RESAMPLE_MAXPOOL and index is None and x is None:
                raise ValueError("the gradient of maxpool needs the index, or x and y")

            def formula(dy: Array, index: Array | None, x: Array | None) -> Array:
                gradient = dy.astype(np.float64)
                if self.mode != Mode.CUDNN_RESAMPLE_MAXPOOL:
                    return self._spread(gradient / self._divisors(windows), windows).astype(stored)
                if index is None and x is not None:
                    index = self._pooled(x, windows)[1]
                assert index is not None
                dx = np.zeros((*dy.shape[:2], *x_shape[2:]))
                windows.add_at(dx, index.astype(np.int64, copy=False), gradient)
                return dx.astype(stored)

            growth = math.prod(windows.window)
            return tiled(formula, dy, index, x, axes=(0, 1), growth=growth)
        taps = self._taps(x_shape, dy.shape)

        def adjoint(dy: Array) -> Array:
            dx = dy.astype(np.float64)
            for axis, _, of_axis in taps:
                dy, dx = dx, np.zeros((*dx.shape[:axis], x_shape[axis], *dx.shape[axis + 1 :]))
                for outputs, pixels, weights in of_axis:
                    seen = dy[_along(axis, outputs)] * weights
                    if isinstance(pixels, slice):
                        dx[_along(axis, pixels)] += seen
                    else:  # which come in order, some of them several times
                        first = np.flatnonzero(np.diff(pixels, prepend=-1))
                        dx[_along(axis, pixels[first])] += np.add.reduceat(seen, first, axis=axis)
            return dx.astype(stored)

        return tiled(adjoint, dy, axes=(0, 1))

    def _spread(self, gradient: Array, windows: Windows) -> Array:
        """The gradient of each window's sum."""
        dx = np.zeros((*gradient.shape[:2], *windows.x_shape[2:]))
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
        """For each spatial axis, the pixels and weights whose weighted sum is an output.

        Entries are an axis, its outputs and, for the pixels before and for those after: the outputs
        that read such a pixel, these pixels, and their weights.
        """
        found: Taps = []
        axes = zip(self.window, self.stride, self.pre_padding, strict=True)
        for axis, (window, step, before) in enumerate(axes, start=2):
            size, along = y_shape[axis], (-1, *[1] * (len(x_shape) - 1 - axis))
            first, step = Fraction(window - 1) / 2 - before, Fraction(step)
            unit = math.lcm(first.denominator, step.denominator)
            middles = np.arange(size) * int(step * unit) + int(first * unit)
            floors, shares = middles // unit, middles % unit / unit
            if self.mode == Mode.CUDNN_RESAMPLE_NEAREST:
                shares[:] = 0
            taps = []
            for pixels, weights in ((floors, 1 - shares), (floors + 1, shares)):
                outputs = np.flatnonzero(weights)
                if len(outputs):
                    seen = np.clip(pixels[outputs], 0, x_shape[axis] - 1)
                    taps.append(
                        (_regular(outputs), _regular(seen), weights[outputs].reshape(along))
                    )
            found.append((axis, size, taps))
        return found


def _regular(places: Array) -> slice | Array:
    """Places that are equally far apart as a slice, which is faster."""
    steps = np.unique(np.diff(places))
    if len(steps) > 1 or (len(steps) == 1 and steps[0] < 1):
        return places
    step = int(steps[0]) if len(steps) else 1
    return slice(int(places[0]), int(places[-1]) + 1, step)


def _along(axis: int, places: slice | Array) -> tuple[Any, ...]:
    return (*[slice(None)] * axis, places)


def _floating(dtype: DTypeLike) -> np.dtype[Any]:
    """float32 where results are rounded to it, else float64."""
    return np.dtype(np.float32 if dtype == np.float32 else np.float64)


_POOLING = (
    Mode.CUDNN_RESAMPLE_MAXPOOL,
    Mode.CUDNN_RESAMPLE_AVGPOOL_INCLUDE_PADDING,
    Mode.CUDNN_RESAMPLE_AVGPOOL_EXCLUDE_PADDING,
)
