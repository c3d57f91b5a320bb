"""Where C calls have known faults: by the layouts and options that their descriptors say."""

from __future__ import annotations

import math
from typing import Any

from ..enums import (
    CUDNN_DATA_BFLOAT16,
    CUDNN_DATA_DOUBLE,
    CUDNN_DATA_FLOAT,
    CUDNN_DATA_HALF,
    CUDNN_DATA_INT32,
    CUDNN_DEFAULT_REORDER,
    CUDNN_POOLING_MAX,
    CUDNN_POOLING_MAX_DETERMINISTIC,
    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
    CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED,
    CUDNN_TRANSFORM_FOLD,
    CUDNN_DATA_INT8x4,
    CUDNN_DATA_UINT8x4,
)
from ..records import Call
from ..strides import has_gaps, has_strides, packed

_HALVES = {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}
_LIKE_BIASES = {CUDNN_DATA_FLOAT, CUDNN_DATA_INT32, CUDNN_DATA_INT8x4, CUDNN_DATA_UINT8x4}
_MAXIMA = (CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC)


def pools_maxima(call: Call) -> str:
    pooling = call.record("poolingDesc")
    found = pooling is not None and pooling.mode in _MAXIMA
    return f"{call.function} of {pooling.mode.name}" if found else ""


def lacks_bias(call: Call) -> str:
    biases = [call.arguments.get(name, 1) for name in ("bnBiasData", "normBiasData")]
    return _said(call, None in biases and call.record("activationDesc") is not None)


def lacks_other_tensor(call: Call) -> str:
    x, y, dy = (call.record(name) for name in ("xDesc", "yDesc", "dyDesc"))
    return _said(call, dy is not None and len(dy.shape) == 3 and None in (x, y))


def packs_losses(call: Call) -> str:
    tensors = [call.record(name) for name in ("probsDesc", "gradientsDesc")]
    return _said(call, any(each is not None and not _is_packed(each) for each in tensors))


def without_longest_label(call: Call) -> str:
    loss = call.record("ctcLossDesc")
    return _said(call, loss is not None and loss.max_label_length <= 0)


def gradients_of_another_type(call: Call) -> str:
    probs, gradients = call.record("probsDesc"), call.record("gradientsDesc")
    both = probs is not None and gradients is not None
    return _said(call, both and probs.data_type != gradients.data_type)


def states_of_another_size(call: Call) -> str:
    rnn, x = call.record("rnnDesc"), call.record("xDesc")
    states = [call.record(name) for name in ("hDesc", "cDesc") if name in call.arguments]
    if rnn is None or x is None or x.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        return ""
    even = set(x.lengths) == {x.max_length}
    if even and x.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED:
        return ""
    alike = {rnn.data_type} | (_HALVES if rnn.data_type in _HALVES else set())
    return _said(call, any(each and each.data_type not in alike for each in states))


def differs_from_pooled(call: Call) -> str:
    """Gradients of averages; cuDNN itself refuses those of maxima."""
    pooling = call.record("poolingDesc")
    tensors = [call.record(name) for name in ("xDesc", "dyDesc", "dxDesc")]
    if pooling is None or pooling.mode in _MAXIMA or None in tensors:
        return ""
    return _said(call, len({each.data_type for each in tensors}) > 1)


def divides_halves(call: Call) -> str:
    x = call.record("xDesc")
    return _said(call, x is not None and x.data_type == CUDNN_DATA_HALF)


def samples_another_type(call: Call) -> str:
    x, y = call.record("xDesc"), call.record("yDesc")
    return _said(call, None not in (x, y) and x.data_type != y.data_type)


def samples_other_channels(call: Call) -> str:
    x, y = call.record("xDesc"), call.record("yDesc")
    return _said(call, None not in (x, y) and x.shape[1:2] != y.shape[1:2])


def transforms_other_batch(call: Call) -> str:
    names = ("transDesc", "srcDesc", "destDesc")
    transform, source, target = (call.record(name) for name in names)
    if None in (transform, source, target):
        return ""
    batch = source.shape[0] + transform.pad_before[0] + transform.pad_after[0]
    return _said(call, target.shape[0] < batch)


def bias_has_gaps(call: Call) -> str:
    bias = call.record("biasDesc")
    return _said(call, bias is not None and bias.shape[1] > 1 and bias.strides[1] != 1)


def turns_out_of_double(call: Call) -> str:
    x, y = _transformed(call)
    if x is None or y is None or x.data_type != CUDNN_DATA_DOUBLE or y.data_type == x.data_type:
        return ""
    adds = call.arguments.get("beta", 1) != 0
    fills = "transDesc" in call.arguments and _fills(call)
    return _said(call, adds and (fills or _turns(x, y)))


def turns_into_double(call: Call) -> str:
    x, y = _transformed(call)
    if x is None or y is None or y.data_type != CUDNN_DATA_DOUBLE or x.data_type == y.data_type:
        return ""
    single = len(x.shape) == 5 and x.shape[0] == 1
    last = single and tuple(x.strides) == packed(x.shape, (0, 2, 3, 4, 1))
    return _said(call, not has_gaps(y) and (last or _turns(x, y)))


def _transformed(call: Call) -> tuple[Any, Any]:
    """The tensors of a transform."""
    names = ("xDesc", "yDesc") if "xDesc" in call.arguments else ("srcDesc", "destDesc")
    source, target = map(call.record, names)
    return source, target


def _turns(x: Any, y: Any) -> bool:
    """Whether a tensor without gaps goes into another layout, but not from NCHW to NHWC or back."""
    dense = x.shape == y.shape and not has_gaps(x) and not has_gaps(y) and x.strides != y.strides
    plain = (packed(x.shape), packed(x.shape, (0, 2, 3, 1))) if len(x.shape) == 4 else ()
    return dense and not all(tuple(each.strides) in plain for each in (x, y))


def strides_bias_gradient(call: Call) -> str:
    dy = call.record("dyDesc")
    if dy is None or dy.shape[0] == 1 or len(dy.shape) < 3:
        return ""
    inner = [(step, n) for n, step in zip(dy.shape[1:], dy.strides[1:], strict=True) if n > 1]
    elements = 1
    for step, n in sorted(inner):
        if step != elements:
            return ""  # no vectors are read
        elements *= n
    most = 2 if dy.data_type == CUDNN_DATA_DOUBLE else 4
    vector = math.gcd(elements, most)
    return _said(call, dy.strides[0] % vector != 0)


def unfolds_partial_blocks(call: Call) -> str:
    transform = call.record("transDesc")
    x, y = (call.record(name) for name in ("srcDesc", "destDesc"))
    if None in (transform, x, y) or transform.direction == CUDNN_TRANSFORM_FOLD:
        return ""
    partial = x.shape[1] % math.prod(transform.fold or (1,)) != 0
    filters = call.function == "cudnnTransformFilter" and x.shape[1] > 1
    first = _is_packed(y) or not _is_last(y)
    return _said(call, partial and _is_last(x) and (filters or first))


def normalizes_unpacked(call: Call) -> str:
    named = [name for name in ("xDesc", "yDesc", "dyDesc", "dxDesc") if name in call.arguments]
    tensors = [call.record(name) for name in named]
    return _said(
        call, any(each and len(each.shape) == 3 and not _is_packed(each) for each in tensors)
    )


def pads_gaps(call: Call) -> str:
    target, fills = call.record("destDesc"), _fills(call)
    return _said(call, fills and target is not None and has_gaps(target))


def folds_other_layouts(call: Call) -> str:
    transform = call.record("transDesc")
    tensors = [call.record(name) for name in ("srcDesc", "destDesc")]
    if transform is None or None in tensors or max(transform.fold, default=1) <= 1:
        return ""
    plain = [_is_packed(each) or _is_last(each) or has_gaps(each) for each in tensors]
    return _said(call, not all(plain))


def keeps_bias(call: Call) -> str:
    w = call.record("filterDesc")
    kept = call.arguments["reorderType"] != CUDNN_DEFAULT_REORDER
    return _said(call, kept and w is not None and w.data_type not in _LIKE_BIASES)


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
