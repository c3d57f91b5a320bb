"""The windows of a pooling: the part of the image that each output element reads."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .geometry import per_dimension
from .tiles import Array

Index = tuple[Any, ...]


@dataclass(frozen=True)
class Windows:
    """The positions of a pooling's windows on the image."""

    x_shape: tuple[int, ...]
    y_shape: tuple[int, ...]
    window: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]

    @classmethod
    def of(
        cls,
        x_shape: Sequence[int],
        window: Sequence[int],
        padding: Sequence[int] | None,
        stride: Sequence[int] | None,
        y_shape: Sequence[int] | None,
        *,
        name: str = "y_shape",
    ) -> Windows:
        """Check the arguments; ValueError names the first one that is wrong."""
        x_shape = tuple(x_shape)
        spatial = len(x_shape) - 2
        if spatial < 1:
            raise ValueError(f"x must be (N, C, spatial sizes...), got shape {x_shape}")
        window = per_dimension("window", window, spatial, default=1, least=1)
        # cuDNN takes negative padding, which crops the image.
        padding = per_dimension("padding", padding, spatial, default=0, least=-(1 << 31))
        stride = per_dimension("stride", stride, spatial, default=1, least=1)
        if y_shape is None:
            sizes = zip(x_shape[2:], window, padding, stride, strict=True)
            outputs = tuple((x + 2 * p - w) // s + 1 for x, w, p, s in sizes)
            if min(outputs) < 1:
                raise ValueError(
                    f"window {window} is larger than an image of {x_shape[2:]} with padding "
                    f"{padding}: the output would be empty"
                )
            y_shape = (*x_shape[:2], *outputs)
        y_shape = tuple(y_shape)
        if len(y_shape) != len(x_shape) or y_shape[:2] != x_shape[:2]:
            raise ValueError(
                f"{name} must have the N and C and the number of dimensions of x, {x_shape}, "
                f"got {y_shape}"
            )
        return cls(x_shape, y_shape, window, padding, stride)

    @functools.lru_cache(maxsize=32)  # noqa: B019 - of a few numbers
    def taps(self) -> tuple[tuple[int, Index, Index], ...]:
        """For each place in the window, in row-major order, the elements that outputs read there.

        Entries are the place's number, the outputs that read an element of the image there, and
        these elements. The last two are indices of y and x.
        """
        found = []
        for number, place in enumerate(np.ndindex(*self.window)):
            outputs, elements = [], []
            for dimension, offset in enumerate(place):
                reach = self._reach(dimension, offset)
                if reach is None:
                    break
                outputs.append(reach[0])
                elements.append(reach[1])
            else:
                whole = (slice(None), slice(None))
                found.append((number, (*whole, *outputs), (*whole, *elements)))
        return tuple(found)

    def maximum(self, x: Array, propagate_nan: bool, least: float) -> Array:
        """The largest element of each window and `least`; NaN counts only if it propagates."""
        larger = np.maximum if propagate_nan else np.fmax
        result = np.full((*x.shape[:2], *self.y_shape[2:]), least, x.dtype)
        for _, outputs, elements in self.taps():
            larger(result[outputs], x[elements], out=result[outputs])
        return result

    def total(self, x: Array) -> Array:
        """The sum of each window's elements."""
        result = np.zeros((*x.shape[:2], *self.y_shape[2:]), x.dtype)
        for _, outputs, elements in self.taps():
            result[outputs] += x[elements]
        return result

    def counts(self) -> Array:
        """How many elements of x each window has, (1, 1, output sizes...)."""
        return self.total(np.ones((1, 1, *self.x_shape[2:]), np.int64))

    def first_maximum(self, x: Array, propagate_nan: bool) -> tuple[Array, Array]:
        """The largest element of each window, and the number of the place that has it first.

        Both of the shape of y. NaN is larger than any number if it propagates, else it does not
        count; a window without an element that counts has -inf at place -1.
        """
        taps = [(n, outputs, x[elements].copy()) for n, outputs, elements in self.taps()]
        larger = np.maximum if propagate_nan else np.fmax
        largest = np.full((*x.shape[:2], *self.y_shape[2:]), -np.inf, x.dtype)
        for _, outputs, seen in taps:
            larger(largest[outputs], seen, out=largest[outputs])
        some_nan = bool(np.isnan(largest).any())
        number = np.zeros(largest.shape, np.min_scalar_type(-math.prod(self.window) - 1))
        sought = np.ones(largest.shape, bool)
        for n, outputs, seen in taps:
            first = seen == largest[outputs]
            if some_nan:
                first |= np.isnan(seen) & np.isnan(largest[outputs])
            first &= sought[outputs]
            sought[outputs] ^= first
            number[outputs] += first * number.dtype.type(n + 1)
        return largest, number - number.dtype.type(1)

    def add_at(self, x: Array, number: Array, gradient: Array) -> None:
        """Add to one element of x per window, at the place of this number; -1 adds nothing."""
        places = np.indices(self.window).reshape(len(self.window), -1)
        position = np.arange(math.prod(x.shape[:2])).reshape(*x.shape[:2], *(1 for _ in places))
        within = 0
        for dimension, size in enumerate(x.shape[2:]):
            along = [1] * x.ndim
            along[2 + dimension] = -1
            steps = np.arange(gradient.shape[2 + dimension]) * self.stride[dimension]
            position = position * size + (steps - self.padding[dimension]).reshape(along)
            within = within * size + places[dimension]
        position = position + np.append(within, 0).take(number)
        if number.min(initial=0) < 0:
            position, gradient = position[number >= 0], gradient[number >= 0]
        np.add.at(x.reshape(-1), position.ravel(), gradient.ravel())

    @property
    def growth(self) -> float:
        """How many elements all windows have for each element of x."""
        return math.prod(self.window) * math.prod(self.y_shape) / math.prod(self.x_shape)

    def _reach(self, dimension: int, offset: int) -> tuple[slice, slice] | None:
        """The outputs i, and elements i * stride + offset - padding, that exist; None if none."""
        size, outputs = self.x_shape[2 + dimension], self.y_shape[2 + dimension]
        stride, shift = self.stride[dimension], offset - self.padding[dimension]
        first = max(0, -(shift // stride))
        last = min(outputs - 1, (size - 1 - shift) // stride)
        if first > last:
            return None
        start = first * stride + shift
        return slice(first, last + 1), slice(start, last * stride + shift + 1, stride)
