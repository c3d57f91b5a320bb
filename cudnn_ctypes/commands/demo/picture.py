"""The picture that the demonstration filters, with edges in all directions and grain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["landscape"]

Array = NDArray[Any]

_SKY_ABOVE, _SKY_BELOW = (0.26, 0.47, 0.80), (0.95, 0.78, 0.60)
_MOUNTAINS = (  # height (relative to the picture's), roughness, colour; the farthest first
    (0.42, (0.060, 5.0, 0.3), (0.52, 0.55, 0.68)),
    (0.50, (0.075, 3.0, 1.7), (0.33, 0.40, 0.48)),
    (0.60, (0.035, 7.0, 0.9), (0.16, 0.30, 0.20)),
)
_SHORE = 0.64
_TREES = (0.06, 0.12, 0.17, 0.80, 0.87, 0.93, 0.97)


def landscape(height: int = 427, width: int = 640) -> Array:
    """A lake before mountains, with a house and trees: (height, width, 3), from 0 to 1."""
    y, x = np.meshgrid(
        np.linspace(0, 1, height, endpoint=False),
        np.linspace(0, width / height, width, endpoint=False),
        indexing="ij",
    )
    picture = _mixed(_SKY_ABOVE, _SKY_BELOW, np.clip(y / 0.55, 0, 1))
    _paint(picture, (x - 1.12) ** 2 + (y - 0.17) ** 2 < 0.06**2, (1.0, 0.93, 0.70))
    for top, (size, waves, phase), colour in _MOUNTAINS:
        ridge = top - size * (
            np.sin(waves * x + phase) + 0.5 * np.abs(np.sin(2.7 * waves * x + 2 * phase))
        )
        _paint(picture, y > ridge, colour)
    _reflect(picture, y, x)
    _house(picture, y, x)
    for place in _TREES:
        _tree(picture, y, x - place * width / height)
    grain = np.random.default_rng(0).normal(0, 0.012, picture.shape)
    return np.asarray((picture + grain).clip(0, 1), np.float32)


def _mixed(one: Sequence[float], other: Sequence[float], share: Array) -> Array:
    start, end = np.array(one), np.array(other)
    mixed: Array = start + share[..., None] * (end - start)
    return mixed


def _paint(picture: Array, where: Array, colour: Sequence[float]) -> None:
    picture[where] = colour


def _reflect(picture: Array, y: Array, x: Array) -> None:
    """Draw the reflection below the shore: upside down, darker, with waves."""
    height = len(picture)
    shore = int(_SHORE * height)
    rows = np.arange(shore, height)
    mirrored = picture[np.clip(2 * shore - rows, 0, shore - 1)]
    waves = 0.06 * np.sin(160 * y[shore:] ** 2 + 9 * np.sin(4 * x[shore:]))
    picture[shore:] = (0.72 * mirrored + waves[..., None]) * (0.92, 0.98, 1.06)


def _house(picture: Array, y: Array, x: Array) -> None:
    left, right, eaves, ground = 0.52, 0.84, 0.56, 0.76
    middle, half = (left + right) / 2, (right - left) / 2
    _paint(picture, (x > left) & (x < right) & (y > eaves) & (y < ground), (0.78, 0.33, 0.24))
    seams = ((y * 90) % 1 < 0.15) | ((x * 45 + 0.5 * (np.floor(y * 90) % 2)) % 1 < 0.08)
    wall = (x > left) & (x < right) & (y > eaves) & (y < ground)
    _paint(picture, wall & seams, (0.88, 0.80, 0.72))
    roof = (np.abs(x - middle) < (half + 0.03) * (y - 0.42) / (eaves - 0.42)) & (y < eaves)
    _paint(picture, roof & (y > 0.42), (0.30, 0.20, 0.22))
    for centre in (left + 0.08, right - 0.08):
        frame = (np.abs(x - centre) < 0.035) & (np.abs(y - 0.635) < 0.035)
        glass = frame & (np.abs(x - centre) % 0.03 > 0.004) & (np.abs(y - 0.635) > 0.004)
        _paint(picture, frame, (0.96, 0.95, 0.90))
        _paint(picture, glass & (np.abs(x - centre) < 0.031), (0.20, 0.29, 0.40))
    _paint(picture, (np.abs(x - middle) < 0.03) & (y > 0.64) & (y < ground), (0.25, 0.14, 0.10))


def _tree(picture: Array, y: Array, x: Array) -> None:
    """Draw a tree: three triangles, one above the other, on a trunk."""
    _paint(picture, (np.abs(x) < 0.008) & (y > 0.70) & (y < 0.78), (0.28, 0.18, 0.10))
    for top, bottom in ((0.62, 0.72), (0.56, 0.67), (0.50, 0.60)):
        inside = (np.abs(x) < 0.65 * (y - top)) & (y < bottom)
        shade = 0.10 * np.sin(230 * (y + x))
        picture[inside] = _mixed((0.07, 0.24, 0.12), (0.20, 0.50, 0.26), shade + 0.3)[inside]
