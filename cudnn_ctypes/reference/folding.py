"""Strided backward data by folding: the stride moves into the channels, and unit stride remains.

A convolution with stride s moves over the image in steps of s pixels. Let each block of s pixels be
one pixel with s times the channels (space to depth), in the image and in the filter alike: what
remains is a convolution with stride 1. `cudnnGetFoldedConvBackwardDataDescriptors` describes the
tensors and the transforms of that way to dx; `cudnnTransformFilter` and `cudnnTransformTensorEx`
carry the transforms out. NVIDIA documents neither the shapes nor the order of the folded channels:
both were read off cuDNN 9.19 (strides 1 to 4, several paddings, NCHW and NHWC, float32 and
float16). cuDNN folds exactly two spatial dimensions; the formulas hold for any number.

Only cross-correlation with dilation 1 and one group can be folded. For other convolutions cuDNN
9.19 returns SUCCESS too, with descriptors that do not compute dx.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike

from .convolution import convolution_backward_data
from .geometry import Geometry
from .tiles import Array
from .transform import TensorTransform, transform_tensor

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


def convolution_backward_data_folded(
    *,
    w: Array,
    dy: Array,
    dx_shape: Sequence[int],
    padding: Sequence[int] | None = None,
    stride: Sequence[int] | None = None,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """`convolution_backward_data` through the folded tensors.

    Parameters are those of `convolution_backward_data`; the result is the same up to rounding.
    """
    folded = folded_backward_data(w.shape, dx_shape, padding=padding, stride=stride)
    dx = convolution_backward_data(
        w=transform_tensor(w, folded.fold_w),
        dy=transform_tensor(dy, folded.pad_dy),
        dx_shape=folded.dx_shape,
        padding=folded.padding,
        compute_dtype=compute_dtype,
        out_dtype=out_dtype,
    )
    return transform_tensor(dx, folded.unfold_dx)
