"""The windows of a pooling: what each output element sees of the image."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .geometry import per_dimension


@dataclass(frozen=True)
class Windows:
    """Where the windows of one pooling lie on the image."""

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

    def taps(self) -> Iterator[tuple[int, tuple[Any, ...], tuple[Any, ...]]]:
        """For each place in the window, in row-major order: what the outputs see there.

        Its number; the outputs that see an element of the image there; and these elements. The last
        two are indices of y and x.
        """
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
                yield number, (*whole, *outputs), (*whole, *elements)

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
