"""Known faults of C functions, by what their descriptors say; the guards of layer 1 warn."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from .. import enums
from ..records import Call
from ..strides import has_gaps, is_packed, packed
from . import Finding, findings
from .rows import rows
from .softmax import has_other_layouts


class _Target(NamedTuple):
    version: int
    capability: int = 0
    beside_another: bool = False
    small: bool = False


_HALVES = {enums.CUDNN_DATA_HALF, enums.CUDNN_DATA_BFLOAT16}
_LIKE_BIASES = {
    enums.CUDNN_DATA_FLOAT,
    enums.CUDNN_DATA_INT32,
    enums.CUDNN_DATA_INT8x4,
    enums.CUDNN_DATA_UINT8x4,
}
_FIRST = enums.CUDNN_CONVOLUTION_BWD_DATA_ALGO_1
_MAXIMA = (enums.CUDNN_POOLING_MAX, enums.CUDNN_POOLING_MAX_DETERMINISTIC)

Where = Callable[[Call], str]


# -- where calls have the faults ---------------------------------------------------------------


def _where(has: Callable[[Call], bool]) -> Where:
    """The calls of which `has` is true, named by their function."""
    return lambda call: call.function if has(call) else ""


_anywhere = _where(lambda call: True)


def _all(names: str, has: Callable[..., bool]) -> Where:
    """The calls that have all these descriptors, of whose records `has` is true."""

    def found(call: Call) -> bool:
        records = [call.record(name) for name in names.split()]
        return None not in records and has(*records)

    return _where(found)


def _any(names: str, has: Callable[[Any], bool]) -> Where:
    """The calls that have one of these descriptors, of whose record `has` is true."""

    def found(call: Call) -> bool:
        records = [call.record(name) for name in names.split() if name in call.arguments]
        return any(each is not None and has(each) for each in records)

    return _where(found)


def _types_differ(*tensors: Any) -> bool:
    return len({each.data_type for each in tensors}) > 1


def _folds(transform: Any) -> bool:
    return max(transform.fold, default=1) > 1


def _fills(transform: Any) -> bool:
    """Whether zeros are written around a result, or to fill its blocks."""
    if _folds(transform):
        return bool(transform.direction == enums.CUDNN_TRANSFORM_FOLD)
    return any((*transform.pad_before, *transform.pad_after))


@_where
def _lacks_other_tensor(call: Call) -> bool:
    x, y, dy = (call.record(name) for name in ("xDesc", "yDesc", "dyDesc"))
    return dy is not None and len(dy.shape) == 3 and None in (x, y)


@_where
def _finds_states_by_size(call: Call) -> bool:
    rnn, x = call.record("rnnDesc"), call.record("xDesc")
    states = [call.record(name) for name in ("hDesc", "cDesc") if name in call.arguments]
    if rnn is None or x is None or x.layout == enums.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        return False
    even = set(x.lengths) == {x.max_length}
    if even and x.layout == enums.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED:
        return False
    alike = {rnn.data_type} | (_HALVES if rnn.data_type in _HALVES else set())
    return any(each and each.data_type not in alike for each in states)


def _averages_other_types(pooling: Any, *tensors: Any) -> bool:
    """Gradients of averages; cuDNN itself refuses those of maxima."""
    return pooling.mode not in _MAXIMA and _types_differ(*tensors)


def _transforms_more_samples(transform: Any, source: Any, target: Any) -> bool:
    return bool(
        target.shape[0] < source.shape[0] + transform.pad_before[0] + transform.pad_after[0]
    )


def _transformed(call: Call) -> tuple[Any, Any]:
    """The tensors of a transform."""
    names = ("xDesc", "yDesc") if "xDesc" in call.arguments else ("srcDesc", "destDesc")
    source, target = map(call.record, names)
    return source, target


def _turns(x: Any, y: Any) -> bool:
    """Whether a tensor without gaps goes into another layout, but not from NCHW to NHWC or back."""
    dense = (
        x.shape == y.shape
        and not has_gaps(x.shape, x.strides)
        and not has_gaps(y.shape, y.strides)
        and x.strides != y.strides
    )
    plain = (packed(x.shape), packed(x.shape, (0, 2, 3, 1))) if len(x.shape) == 4 else ()
    return dense and not all(tuple(each.strides) in plain for each in (x, y))


@_where
def _turns_out_of_double(call: Call) -> bool:
    x, y = _transformed(call)
    if None in (x, y) or not x.data_type == enums.CUDNN_DATA_DOUBLE != y.data_type:
        return False
    transform = call.record("transDesc") if "transDesc" in call.arguments else None
    fills = transform is not None and _fills(transform)
    return call.arguments.get("beta", 1) != 0 and (fills or _turns(x, y))


@_where
def _turns_into_double(call: Call) -> bool:
    x, y = _transformed(call)
    if None in (x, y) or not y.data_type == enums.CUDNN_DATA_DOUBLE != x.data_type:
        return False
    transform = call.record("transDesc") if "transDesc" in call.arguments else None
    line = len(x.shape) == 3 and x.shape[1] == 1 and x.strides == y.strides
    if line and transform is not None and transform.format == enums.CUDNN_TENSOR_NHWC:
        return True
    single = len(x.shape) == 5 and x.shape[0] == 1
    last = single and tuple(x.strides) == packed(x.shape, (0, 2, 3, 4, 1))
    return not has_gaps(y.shape, y.strides) and (last or _turns(x, y))


def splits_vectors(dy: Any) -> bool:
    """Whether samples of a bias's dy begin within vectors by which cuDNN reads them."""
    if dy.shape[0] == 1 or len(dy.shape) < 3:
        return False
    inner = [(step, n) for n, step in zip(dy.shape[1:], dy.strides[1:], strict=True) if n > 1]
    elements = 1
    for step, n in sorted(inner):
        if step != elements:
            return False  # no vectors are read
        elements *= n
    vector = math.gcd(elements, 2 if dy.data_type == enums.CUDNN_DATA_DOUBLE else 4)
    return bool(dy.strides[0] % vector != 0)


def unfolds_partial_blocks(transform: Any, x: Any, y: Any, *, filters: bool = False) -> bool:
    """Whether a transform unfolds channels in NHWC that fill no block."""
    partial = x.shape[1] % math.prod(n or 1 for n in transform.fold) != 0
    if transform.direction == enums.CUDNN_TRANSFORM_FOLD or not (partial and is_packed(x, "nhwc")):
        return False
    return (filters and x.shape[1] > 1) or is_packed(y) or not is_packed(y, "nhwc")


def folds_other_layouts(transform: Any, *tensors: Any) -> bool:
    """Whether a transform folds tensors that are neither NCHW nor NHWC."""
    plain = [
        is_packed(each) or is_packed(each, "nhwc") or has_gaps(each.shape, each.strides)
        for each in tensors
    ]
    return _folds(transform) and not all(plain)


_TRANSFORM = "transDesc srcDesc destDesc"


def _unfolds(call: Call) -> str:
    filters = call.function == "cudnnTransformFilter"
    return _all(_TRANSFORM, functools.partial(unfolds_partial_blocks, filters=filters))(call)


def _reads_doubles(operation: Any, a: Any, c: Any) -> bool:
    double = operation.compute_data_type == c.data_type == enums.CUDNN_DATA_DOUBLE
    return double and a.data_type not in (
        enums.CUDNN_DATA_DOUBLE,
        enums.CUDNN_DATA_FLOAT,
        enums.CUDNN_DATA_HALF,
    )


@_where
def _keeps_bias(call: Call) -> bool:
    w = call.record("filterDesc")
    kept = call.arguments["reorderType"] != enums.CUDNN_DEFAULT_REORDER
    return kept and w is not None and w.data_type not in _LIKE_BIASES


def _attends_plain_values(attention: Any) -> bool:
    plain = not attention.projections[2] and attention.projections[3]
    return bool(plain) and attention.heads > 1


def _attends_single_keys(attention: Any, q: Any) -> bool:
    half = attention.data_type == attention.compute_data_type == enums.CUDNN_DATA_HALF
    single = attention.kv_max_length == 1 and not attention.k_projection and attention.heads > 1
    tensor_cores = attention.math_type == enums.CUDNN_TENSOR_OP_MATH
    return half and single and tensor_cores and min(q.lengths) < attention.qo_max_length


def _has_few_channels(w: Any, convolution: Any) -> bool:
    filters, channels, *window = w.shape
    groups, several = convolution.groups, channels > 1 or math.prod(window) < 4
    whole = filters % 4 == 0 or channels * groups % 4 == 0
    few = len(window) == 3 and groups > 1 and max(channels, filters // groups) <= 3
    rounds = w.data_type == enums.CUDNN_DATA_FLOAT and convolution.math_type != enums.CUDNN_FMA_MATH
    return few and rounds and several and not whole


@_where
def _strides_and_dilates(call: Call) -> bool:
    """The gradients of data by algorithm 1, which searches for an algorithm run, too."""
    w, how = call.record("wDesc"), call.record("convDesc")
    first = call.arguments.get("algo", _FIRST) == _FIRST
    if None in (w, how) or not first or len(w.shape) != 5:
        return False
    last = w.format == enums.CUDNN_TENSOR_NHWC and w.data_type == enums.CUDNN_DATA_FLOAT
    converts = how.math_type == enums.CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION
    return bool(last and converts and max(how.stride) > 1 and max(how.dilation) > 1)


@_where
def _lacks_described_scale(call: Call) -> bool:
    plan = call.record("plan")
    held = plan.constants.held if plan is not None and plan.constants is not None else {}
    x, given = held.get("XDESC"), ("BN_EQSCALE_PLACEHOLDER", "BN_EQBIAS_PLACEHOLDER")
    affine = any(map(held.get, given)) and "BN_EQSCALEBIAS_DESC" not in held
    activation = held.get("ACTIVATION_DESC")
    relu = activation is not None and activation.mode == enums.CUDNN_ACTIVATION_RELU
    return bool(affine) and x is not None and not (relu and x.strides[1] == 1)


# -- the rows ----------------------------------------------------------------------------------

_WHERE: dict[str, Where] = {
    "softmax between layouts": has_other_layouts,
    "largest of infinities below zero": _any(
        "poolingDesc", lambda pooling: pooling.mode in _MAXIMA
    ),
    "activation gradient of three dimensions without a tensor": _lacks_other_tensor,
    "CTC loss of tensors that are not packed": _any(
        "probsDesc gradientsDesc", lambda tensor: not is_packed(tensor)
    ),
    "CTC loss without a longest label": _any(
        "ctcLossDesc", lambda loss: loss.max_label_length <= 0
    ),
    "CTC gradients of another type": _all("probsDesc gradientsDesc", _types_differ),
    "recurrent states of another type": _finds_states_by_size,
    "pooling gradient of another type": _all(
        "poolingDesc xDesc dyDesc dxDesc", _averages_other_types
    ),
    "sampling of another type": _all("xDesc yDesc", _types_differ),
    "sampling of more channels than y has": _all(
        "xDesc yDesc", lambda x, y: x.shape[1:2] != y.shape[1:2]
    ),
    "transform into fewer samples": _all(_TRANSFORM, _transforms_more_samples),
    "divisive normalization of large halves": _any(
        "xDesc", lambda x: x.data_type == enums.CUDNN_DATA_HALF
    ),
    "convolution with a bias that has gaps": _any(
        "biasDesc", lambda bias: bias.shape[1] > 1 and bias.strides[1] != 1
    ),
    "transform out of double": _turns_out_of_double,
    "transform into double": _turns_into_double,
    "gradient of a bias between vectors": _any("dyDesc", splits_vectors),
    "unfolding of channels that fill no block": _unfolds,
    "LRN of three dimensions that are not packed": _any(
        "xDesc yDesc dyDesc dxDesc", lambda x: len(x.shape) == 3 and not is_packed(x)
    ),
    "padding of a destination with gaps": _all(
        "transDesc destDesc", lambda how, y: _fills(how) and has_gaps(y.shape, y.strides)
    ),
    "folding of other layouts": _all(_TRANSFORM, folds_other_layouts),
    "bias that is not reordered": _keeps_bias,
    "attention of unprojected values": _any("attnDesc", _attends_plain_values),
    "attention gradient of single keys": _all("attnDesc qDesc", _attends_single_keys),
    "fused convolution of few channels a group": _all("wDesc convDesc", _has_few_channels),
    "operation of integers into double": _all("opTensorDesc aDesc cDesc", _reads_doubles),
    "strided and dilated gradient of images": _strides_and_dilates,
    "scale and bias without a descriptor": _lacks_described_scale,
    "gradient of concatenated features": _anywhere,
    "memory off its boundary": _anywhere,
    "call without what it needs": _anywhere,
}

CALL_FAULTS = rows(Path(__file__).with_name("calls.json"), _WHERE)


def faults_of_call(call: Call, version: int) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on some GPU."""
    concerned = [each for each in CALL_FAULTS if call.function in each.calls]
    return findings(concerned, call, _Target(version))
