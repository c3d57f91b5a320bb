"""Padding, cropping and folding of logical tensors: `cudnnTransformTensorEx`.

Folding by (a, b) makes one pixel of every block of a x b pixels, with a * b times the channels
(space to depth); unfolding is the inverse. NVIDIA does not document the channels' order: it was
read off cuDNN 9.14 and 9.19, the shapes off 9.28.

Folding makes of a strided gradient of images one with stride 1, whose stride is in the channels:
blocks of s pixels become pixels with s times the channels, in the image and in the filter alike.
`cudnnGetFoldedConvBackwardDataDescriptors` describes the tensors and the transforms of that way to
dx; `cudnnTransformFilter` and `cudnnTransformTensorEx` carry the transforms out. The order of the
folded channels was read off cuDNN 9.19 (strides 1 to 4, several paddings, NCHW and NHWC, float32
and float16). cuDNN folds exactly two spatial dimensions; the formulas hold for any number.

Only cross-correlation with dilation 1 and one group can be folded. For other convolutions cuDNN
9.19 returns SUCCESS too, with descriptors that do not compute dx.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .geometry import Geometry
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


CHANNEL_ALIGNMENT = 8  # cuDNN pads the folded channels and the filters towards multiples of it


@dataclass(frozen=True)
class FoldedBackwardData:
    """The result of `cudnnGetFoldedConvBackwardDataDescriptors`; stride and dilation are 1."""

    w_shape: tuple[int, ...]
    dy_shape: tuple[int, ...]
    dx_shape: tuple[int, ...]
    padding: tuple[int, ...]
    fold_w: TensorTransform
    pad_dy: TensorTransform
    fold_dx: TensorTransform
    unfold_dx: TensorTransform


def folded_backward_data(
    w_shape: Sequence[int],
    x_shape: Sequence[int],
    *,
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
) -> FoldedBackwardData:
    """The shapes, padding and transforms that compute a strided dx with unit stride.

    For every spatial dimension, with filter size R, stride s and padding p:

    - the filter gets `before` = -p mod s zeros in front, so that the padding p + before is a whole
      number of blocks, and zeros behind up to whole blocks;
    - dx keeps the blocks that hold a pixel which some output reads;
    - dy gets zeros behind, up to the output size of the folded convolution.

    Parameters
    ----------
    w_shape
        (K, C, filter sizes...).
    x_shape
        (N, C, spatial sizes...).
    padding, stride
        One int for each spatial dimension; default: 0 and 1.
    """
    g = Geometry.of(x_shape, w_shape, padding=padding, stride=stride)
    sizes = list(zip(g.x_shape[2:], g.w_shape[2:], g.y_shape[2:], g.padding, g.stride, strict=True))
    before = tuple(-p % s for _, _, _, p, s in sizes)
    w_blocks = tuple(-(-(r + b) // s) for (_, r, _, _, s), b in zip(sizes, before, strict=True))
    after = tuple(
        blocks * s - r - b
        for (_, r, _, _, s), b, blocks in zip(sizes, before, w_blocks, strict=True)
    )
    new_padding = tuple((p + b) // s for (_, _, _, p, s), b in zip(sizes, before, strict=True))
    read = (max(1, min(x, (y - 1) * s + r - p)) for x, r, y, p, s in sizes)
    x_blocks = tuple(-(-pixels // s) for pixels, s in zip(read, g.stride, strict=True))
    y_sizes = tuple(
        x + 2 * p - r + 1 for x, p, r in zip(x_blocks, new_padding, w_blocks, strict=True)
    )

    (batch, channels), filters = g.x_shape[:2], g.w_shape[0]
    block = int(np.prod(g.stride))
    # Rounded down: cuDNN leaves 9 folded channels as they are, for they need 7 and a block has 9.
    more_channels = (-channels * block % CHANNEL_ALIGNMENT) // block
    more_filters = -filters % CHANNEL_ALIGNMENT
    folded_channels = (channels + more_channels) * block
    none = (0,) * g.spatial
    excess = tuple(x - blocks * s for (x, _, _, _, s), blocks in zip(sizes, x_blocks, strict=True))
    return FoldedBackwardData(
        w_shape=(filters + more_filters, folded_channels, *w_blocks),
        dy_shape=(batch, filters + more_filters, *y_sizes),
        dx_shape=(batch, folded_channels, *x_blocks),
        padding=new_padding,
        fold_w=TensorTransform((0, 0, *before), (more_filters, more_channels, *after), g.stride),
        pad_dy=TensorTransform(
            (0, 0, *none),
            (0, more_filters, *(n - y for n, (_, _, y, _, _) in zip(y_sizes, sizes, strict=True))),
            none,
        ),
        fold_dx=TensorTransform(
            (0, 0, *none), (0, more_channels, *(min(0, -e) for e in excess)), g.stride
        ),
        unfold_dx=TensorTransform(
            (0, 0, *none), (0, -more_channels, *excess), g.stride, direction="unfold"
        ),
    )
