"""Convolutions as plain loops over single elements: the slow oracle of the tests."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np


class Config(NamedTuple):
    """One convolution: everything but the numbers in its tensors."""

    x_shape: tuple[int, ...]
    w_shape: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int

    @property
    def options(self) -> dict:
        """The keyword arguments of the reference functions."""
        return {
            "padding": self.padding,
            "stride": self.stride,
            "dilation": self.dilation,
            "groups": self.groups,
        }

    @property
    def y_shape(self) -> tuple[int, ...]:
        """Counted, not computed: how often the window can be moved before it leaves the image."""
        sizes = []
        for x, r, p, s, d in zip(
            self.x_shape[2:],
            self.w_shape[2:],
            self.padding,
            self.stride,
            self.dilation,
            strict=True,
        ):
            sizes.append(len([i for i in range(0, x + 2 * p, s) if i + (r - 1) * d < x + 2 * p]))
        return (self.x_shape[0], self.w_shape[0], *sizes)


def random_config(rng: np.random.Generator, spatial: int, largest: int = 3) -> Config:
    """A small convolution with a non-empty output; options differ between the dimensions."""
    while True:
        groups = int(rng.integers(1, 4))
        filters, channels = (groups * int(n) for n in rng.integers(1, largest + 1, 2))
        config = Config(
            (int(rng.integers(1, 4)), channels, *rng.integers(1, 9, spatial).tolist()),
            (filters, channels // groups, *rng.integers(1, 5, spatial).tolist()),
            tuple(rng.integers(0, 4, spatial).tolist()),
            tuple(rng.integers(1, 4, spatial).tolist()),
            tuple(rng.integers(1, 4, spatial).tolist()),
            groups,
        )
        if min(config.y_shape) > 0 and math.prod(config.w_shape + config.x_shape[2:]) < 20_000:
            return config


def integers(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Small whole numbers as float64: sums are exact, so results can be compared with ==."""
    return rng.integers(-8, 9, shape).astype(np.float64)


def terms(config: Config, mode: str) -> Iterator[tuple[tuple, tuple, tuple]]:
    """The index triples (of x, of w, of y) of every product in the convolution."""
    (batch, _, *image), (filters, channels, *taps) = config.x_shape, config.w_shape
    for n, k in np.ndindex(batch, filters):
        group = k // (filters // config.groups)
        for position in np.ndindex(*config.y_shape[2:]):
            for c in range(channels):
                for tap in np.ndindex(*taps):
                    place = tap
                    if mode == "convolution":
                        place = [r - 1 - t for r, t in zip(taps, tap, strict=True)]
                    pixel = [
                        i * s + t * d - p
                        for i, t, s, d, p in zip(
                            position,
                            place,
                            config.stride,
                            config.dilation,
                            config.padding,
                            strict=True,
                        )
                    ]
                    if all(0 <= i < size for i, size in zip(pixel, image, strict=True)):
                        yield (n, group * channels + c, *pixel), (k, c, *tap), (n, k, *position)


def forward(x: np.ndarray, w: np.ndarray, config: Config, mode: str) -> np.ndarray:
    y = np.zeros(config.y_shape)
    for of_x, of_w, of_y in terms(config, mode):
        y[of_y] += x[of_x] * w[of_w]
    return y
