"""Where C calls have known faults: by the layouts and options that their descriptors say."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ..enums import (
    CUDNN_DATA_DOUBLE,
    CUDNN_NO_REORDER,
    CUDNN_POOLING_MAX,
    CUDNN_POOLING_MAX_DETERMINISTIC,
    CUDNN_TRANSFORM_FOLD,
)
from ..strides import has_strides, packed, same_layout

if TYPE_CHECKING:
    from .calls import Call

__all__ = [
    "attends_plain_values",
    "bias_has_gaps",
    "folds_other_layouts",
    "keeps_bias",
    "normalizes_unpacked",
    "packs_losses",
    "pads_gaps",
    "pools_maxima",
    "turns_into_double",
    "without_longest_label",
]

_MAXIMA = (CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC)


def pools_maxima(call: Call) -> str:
    pooling = call.record("poolingDesc")
    found = pooling is not None and pooling.mode in _MAXIMA
    return f"{call.function} of {pooling.mode.name}" if found else ""


def packs_losses(call: Call) -> str:
    tensors = [call.record(name) for name in ("probsDesc", "gradientsDesc")]
    return _said(call, any(each is not None and not _is_packed(each) for each in tensors))


def without_longest_label(call: Call) -> str:
    loss = call.record("ctcLossDesc")
    return _said(call, loss is not None and loss.max_label_length <= 0)


def bias_has_gaps(call: Call) -> str:
    bias = call.record("biasDesc")
    return _said(call, bias is not None and bias.shape[1] > 1 and bias.strides[1] != 1)


def turns_into_double(call: Call) -> str:
    x, y = call.record("xDesc"), call.record("yDesc")
    if x is None or y is None or x.shape != y.shape:
        return ""
    double = x.data_type != CUDNN_DATA_DOUBLE and y.data_type == CUDNN_DATA_DOUBLE
    return _said(call, double and same_layout(x, y) and not _has_gaps(x))


def normalizes_unpacked(call: Call) -> str:
    named = [name for name in ("xDesc", "yDesc", "dyDesc", "dxDesc") if name in call.arguments]
    tensors = [call.record(name) for name in named]
    return _said(
        call, any(each and len(each.shape) == 3 and not _is_packed(each) for each in tensors)
    )


def pads_gaps(call: Call) -> str:
    target, fills = call.record("destDesc"), _fills(call)
    return _said(call, fills and target is not None and _has_gaps(target))


def folds_other_layouts(call: Call) -> str:
    transform = call.record("transDesc")
    tensors = [call.record(name) for name in ("srcDesc", "destDesc")]
    if transform is None or None in tensors or max(transform.fold, default=1) <= 1:
        return ""
    plain = [_is_packed(each) or _is_last(each) or _has_gaps(each) for each in tensors]
    return _said(call, not all(plain))


def keeps_bias(call: Call) -> str:
    return _said(call, call.arguments["reorderType"] == CUDNN_NO_REORDER)


def attends_plain_values(call: Call) -> str:
    attention = call.record("attnDesc")
    if attention is None:
        return ""
    plain = not attention.projections[2] and attention.projections[3]
    return _said(call, bool(plain) and attention.heads > 1)


def _said(call: Call, found: bool) -> str:
    return call.function if found else ""


def _fills(call: Call) -> bool:
    """Whether zeros are written around a result, or to fill its blocks."""
    transform = call.record("transDesc")
    if transform is None:
        return False
    folds = max(transform.fold, default=1) > 1
    if folds:
        return bool(transform.direction == CUDNN_TRANSFORM_FOLD)
    return any((*transform.pad_before, *transform.pad_after))


def _is_packed(tensor: Any) -> bool:
    return has_strides(tensor, packed(tensor.shape))


def _is_last(tensor: Any) -> bool:
    """Whether it lies in NHWC."""
    order = (0, *range(2, len(tensor.shape)), 1)
    return has_strides(tensor, packed(tensor.shape, order))


def _has_gaps(tensor: Any) -> bool:
    """Whether there is memory between its elements."""
    ends = [(size - 1) * step for size, step in zip(tensor.shape, tensor.strides, strict=True)]
    return bool(sum(ends) + 1 > math.prod(tensor.shape))
