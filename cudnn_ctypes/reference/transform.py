"""Padding, cropping and folding of logical tensors: `cudnnTransformTensorEx`.

Folding by (a, b) makes one pixel of every block of a x b pixels, with a * b times the channels
(space to depth); unfolding is the inverse. NVIDIA does not document the channels' order: it was
read off cuDNN 9.14 and 9.19, the shapes off 9.28.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .tiles import Array


@dataclass(frozen=True)
class TensorTransform:
    """A tensor transform descriptor: pad, and fold blocks of pixels into channels or back.

    `pad_before` and `pad_after` have one entry for every dimension (negative entries crop), `fold`
    one for every spatial dimension (0 and 1 leave it as it is).
    """

    pad_before: tuple[int, ...]
    pad_after: tuple[int, ...]
    fold: tuple[int, ...]
    direction: Literal["fold", "unfold"] = "fold"


def transformed_shape(shape: Sequence[int], transform: TensorTransform) -> tuple[int, ...]:
    """The shape that `cudnnInitTransformDest` gives the destination of a tensor of `shape`.

    Folding by f pads a dimension first, and rounds up to whole blocks; the padded channels are
    multiplied by the size of a block. Unfolding multiplies a dimension by f first, and divides the
    channels by the size of a block, rounded up; then it pads or crops.

    Raises
    ------
    ValueError
        If the transform has another number of dimensions, or crops a dimension to nothing.
    """
    fold, block = _checked(len(shape), transform)
    unfold = transform.direction == "unfold"
    sizes = list(shape)
    if unfold:
        sizes = [sizes[0], -(-sizes[1] // block)]
        sizes += [size * f for size, f in zip(shape[2:], fold, strict=True)]
    padded = []
    for size, before, after in zip(sizes, transform.pad_before, transform.pad_after, strict=True):
        if min(size + before, size + after, size + before + after) < 1:
            raise ValueError(f"transform leaves nothing of a dimension of {shape}: {transform}")
        padded.append(size + before + after)
    if unfold:
        return tuple(padded)
    blocks = (-(-size // f) for size, f in zip(padded[2:], fold, strict=True))
    return (padded[0], padded[1] * block, *blocks)


def transform_tensor(x: Array, transform: TensorTransform) -> Array:
    """Pad and fold, or unfold and crop: `cudnnTransformTensorEx`, `cudnnTransformFilter`.

    Folding by (a, b) sends pixel (i a + u, j b + v) of channel c to pixel (i, j) of channel
    (u b + v) C + c + (channels added before), after zeros up to whole blocks. Each channel added
    behind becomes a block of channels. Cropped channels leave zeros.

    Unfolding sends pixel (i, j) of channel (u b + v) Cy + c to pixel (i a + u, j b + v) of channel
    c + (channels added before), with Cy the channels of the result, added and cropped ones counted.
    So it undoes a folding only if it adds as many channels as the folding cropped, and the reverse.

    Without folding and with an unchanged shape, padding that crops as much as it adds has no
    effect.

    Parameters
    ----------
    x
        (N, C, spatial sizes...) or (K, C, filter sizes...), any dtype.

    Raises
    ------
    ValueError
        If the transform has another number of dimensions, or crops a dimension to nothing.
    """
    shape = transformed_shape(x.shape, transform)
    fold, block = _checked(x.ndim, transform)
    before, after = list(transform.pad_before), list(transform.pad_after)
    if block == 1 and shape == x.shape:
        return x.copy()
    if transform.direction == "unfold":
        return _pad(_unfold(_of_each_pixel(x, shape[1], block), fold), before, after)
    first, last = max(0, -before[1]), x.shape[1] + min(0, after[1])
    x = _pad(x[:, first:last], *_at(1, x.ndim, first, x.shape[1] - last))
    (shift, before[1]), after[1] = (before[1], 0), 0
    up_to_blocks = [0, 0] + [
        -(size + b + a) % f
        for size, b, a, f in zip(x.shape[2:], before[2:], after[2:], fold, strict=True)
    ]
    cropped = _pad(x, before, after)
    folded = _fold(_pad(cropped, [0] * x.ndim, up_to_blocks), fold)
    return _pad(folded, *_at(1, x.ndim, shift, shape[1] - shift - folded.shape[1]))


def _checked(ndim: int, transform: TensorTransform) -> tuple[tuple[int, ...], int]:
    """The folds, 0 counting as 1, and the number of pixels in a block."""
    if not len(transform.pad_before) == len(transform.pad_after) == ndim:
        raise ValueError(f"transform must pad the {ndim} dimensions of x, got {transform}")
    if len(transform.fold) != ndim - 2:
        raise ValueError(f"transform must fold the {ndim - 2} spatial dimensions: {transform}")
    fold = tuple(max(1, f) for f in transform.fold)
    return fold, math.prod(fold)


def _of_each_pixel(x: Array, step: int, block: int) -> Array:
    """The channels of a block's pixels, `step` apart; zeros for missing channels."""
    channels = -(-x.shape[1] // block)
    taken = (step * np.arange(block)[:, None] + np.arange(channels)).ravel()
    missing = max(0, int(taken[-1]) + 1 - x.shape[1])
    return _pad(x, *_at(1, x.ndim, 0, missing))[:, taken]


def _at(axis: int, ndim: int, *amounts: int) -> list[list[int]]:
    """Each amount at `axis`, among zeros."""
    return [[amount * (i == axis) for i in range(ndim)] for amount in amounts]


def _fold(x: Array, fold: tuple[int, ...]) -> Array:
    """Space to depth: (N, C, S...) -> (N, prod(fold) * C, S / fold...)."""
    n, (batch, channels, *sizes) = len(fold), x.shape
    blocks = [size // f for size, f in zip(sizes, fold, strict=True)]
    pairs = [part for pair in zip(blocks, fold, strict=True) for part in pair]
    split = x.reshape(batch, channels, *pairs)  # (N, C, blocks 0, fold 0, blocks 1, fold 1, ...)
    order = (0, *range(3, 3 + 2 * n, 2), 1, *range(2, 2 + 2 * n, 2))
    return split.transpose(order).reshape(batch, -1, *blocks)


def _unfold(x: Array, fold: tuple[int, ...]) -> Array:
    """Depth to space: (N, prod(fold) * C, B...) -> (N, C, B * fold...)."""
    n, (batch, _, *blocks) = len(fold), x.shape
    split = x.reshape(batch, *fold, -1, *blocks)  # (N, fold..., C, blocks...)
    pairs = [axis for d in range(n) for axis in (2 + n + d, 1 + d)]
    sizes = [size * f for size, f in zip(blocks, fold, strict=True)]
    return split.transpose(0, 1 + n, *pairs).reshape(batch, -1, *sizes)


def _pad(x: Array, before: Sequence[int], after: Sequence[int]) -> Array:
    """Zeros around `x`; a negative amount crops."""
    keep = tuple(
        slice(max(0, -b), size + min(0, a))
        for size, b, a in zip(x.shape, before, after, strict=True)
    )
    widths = [(max(0, b), max(0, a)) for b, a in zip(before, after, strict=True)]
    return np.pad(x[keep], widths)
