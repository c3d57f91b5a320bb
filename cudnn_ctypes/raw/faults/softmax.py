"""Softmax of layouts that cuDNN computes wrong: where, in which versions, and what helps.

The guard of layer 1 warns by it, and layer 2 lays operands out anew.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..enums import CUDNN_DATA_DOUBLE, CUDNN_SOFTMAX_MODE_INSTANCE
from . import Range, measured, row

if TYPE_CHECKING:
    from .calls import Call

__all__ = ["SOFTMAX", "same_layout", "wrong_softmax"]

_RANKS = (4, 5)  # cuDNN refuses other tensors unless they are packed
_OPERANDS = {
    "cudnnSoftmaxForward": ("xDesc", "yDesc"),
    "cudnnSoftmaxBackward": ("yDesc", "dyDesc", "dxDesc"),
}


def wrong_softmax(mode: Any, *operands: Any) -> bool:
    """Whether cuDNN computes a softmax wrong, by the shapes and strides of all operands."""
    first, *others = operands
    if len(first.shape) not in _RANKS:
        return False
    if not all(same_layout(first, each) for each in others):
        return True
    return _has_gaps(first) if mode == CUDNN_SOFTMAX_MODE_INSTANCE else _is_channels_last(first)


def same_layout(one: Any, other: Any) -> bool:
    """Whether strides are equal; those of dimensions of size 1 do not count."""
    pairs = zip(one.shape, one.strides, other.strides, strict=True)
    return all(n == 1 or a == b for n, a, b in pairs)


def _has_gaps(tensor: Any) -> bool:
    """Whether packed images have gaps between them, which the mode "instance" does not see."""
    shape, strides = tensor.shape, tensor.strides
    axes = range(1, len(shape))
    packed = all(shape[i] == 1 or strides[i] == math.prod(shape[i + 1 :]) for i in axes)
    return packed and shape[0] > 1 and strides[0] != math.prod(shape[1:])


def _is_channels_last(tensor: Any) -> bool:
    """Whether it is a 5-dimensional float64 tensor whose channels are inside of its rows."""
    shape, strides = tensor.shape, tensor.strides
    return bool(
        tensor.data_type == CUDNN_DATA_DOUBLE
        and len(shape) == 5
        and shape[1] > 1
        and shape[4] > 1
        and strides[1] < strides[4]
    )


def _where(call: Call) -> str:
    operands = {name: call.record(name) for name in _OPERANDS[call.function]}
    if None in operands.values() or not wrong_softmax(call.arguments["mode"], *operands.values()):
        return ""
    told = (f"{name} {x.shape} with strides {x.strides}" for name, x in operands.items())
    return f"{call.function} of {', '.join(told)}"


SOFTMAX = row(
    "softmax between layouts",
    " ".join(_OPERANDS),
    "wrong numbers",
    "cuDNN computes wrong numbers for these strides",
    _where,
    Range(91400),
    measured(
        "9.14, 9.19",
        "Both modes, ranks 4 and 5, three data types. x NCHW with y NHWC over images, and with y "
        "with gaps over channels, always; the same layout for all operands is right, but for "
        "images with gaps over images and float64 of rank 5 with channels last over channels.",
        "1 of 6 random calls",
    ),
    remedy="give all operands equal strides and packed images, by cudnnTransformTensor, or call "
    "softmax_forward or softmax_backward, which do so",
)
