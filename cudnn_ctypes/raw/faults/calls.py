"""Known faults of C functions, by what their descriptors say; the guards of layer 1 warn."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

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
from . import Fault, Finding, Range, findings, measured, row
from .softmax import SOFTMAX


class _Target(NamedTuple):
    version: int
    capability: int
    beside_another: bool = False


_SEEN, _NEWER = Range(91400), Range(91900)
_HALVES = {CUDNN_DATA_HALF, CUDNN_DATA_BFLOAT16}
_LIKE_BIASES = {CUDNN_DATA_FLOAT, CUDNN_DATA_INT32, CUDNN_DATA_INT8x4, CUDNN_DATA_UINT8x4}
_MAXIMA = (CUDNN_POOLING_MAX, CUDNN_POOLING_MAX_DETERMINISTIC)

Where = Callable[[Call], str]


# -- where calls have the faults ---------------------------------------------------------------


def _where(has: Callable[[Call], bool]) -> Where:
    """The calls of which `has` is true, named by their function."""
    return lambda call: call.function if has(call) else ""


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


def _is_packed(tensor: Any) -> bool:
    return has_strides(tensor, packed(tensor.shape))


def _is_last(tensor: Any) -> bool:
    """Whether it lies in NHWC."""
    order = (0, *range(2, len(tensor.shape)), 1)
    return has_strides(tensor, packed(tensor.shape, order))


def _folds(transform: Any) -> bool:
    return max(transform.fold, default=1) > 1


def _fills(transform: Any) -> bool:
    """Whether zeros are written around a result, or to fill its blocks."""
    if _folds(transform):
        return bool(transform.direction == CUDNN_TRANSFORM_FOLD)
    return any((*transform.pad_before, *transform.pad_after))


@_where
def _lacks_bias(call: Call) -> bool:
    biases = [call.arguments.get(name, 1) for name in ("bnBiasData", "normBiasData")]
    return None in biases and call.record("activationDesc") is not None


@_where
def _lacks_other_tensor(call: Call) -> bool:
    x, y, dy = (call.record(name) for name in ("xDesc", "yDesc", "dyDesc"))
    return dy is not None and len(dy.shape) == 3 and None in (x, y)


@_where
def _finds_states_by_size(call: Call) -> bool:
    rnn, x = call.record("rnnDesc"), call.record("xDesc")
    states = [call.record(name) for name in ("hDesc", "cDesc") if name in call.arguments]
    if rnn is None or x is None or x.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
        return False
    even = set(x.lengths) == {x.max_length}
    if even and x.layout == CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED:
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
    dense = x.shape == y.shape and not has_gaps(x) and not has_gaps(y) and x.strides != y.strides
    plain = (packed(x.shape), packed(x.shape, (0, 2, 3, 1))) if len(x.shape) == 4 else ()
    return dense and not all(tuple(each.strides) in plain for each in (x, y))


@_where
def _turns_out_of_double(call: Call) -> bool:
    x, y = _transformed(call)
    if None in (x, y) or not x.data_type == CUDNN_DATA_DOUBLE != y.data_type:
        return False
    transform = call.record("transDesc") if "transDesc" in call.arguments else None
    fills = transform is not None and _fills(transform)
    return call.arguments.get("beta", 1) != 0 and (fills or _turns(x, y))


@_where
def _turns_into_double(call: Call) -> bool:
    x, y = _transformed(call)
    if None in (x, y) or not y.data_type == CUDNN_DATA_DOUBLE != x.data_type:
        return False
    single = len(x.shape) == 5 and x.shape[0] == 1
    last = single and tuple(x.strides) == packed(x.shape, (0, 2, 3, 4, 1))
    return not has_gaps(y) and (last or _turns(x, y))


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
    vector = math.gcd(elements, 2 if dy.data_type == CUDNN_DATA_DOUBLE else 4)
    return bool(dy.strides[0] % vector != 0)


def unfolds_partial_blocks(transform: Any, x: Any, y: Any, *, filters: bool = False) -> bool:
    """Whether a transform unfolds channels in NHWC that fill no block."""
    partial = x.shape[1] % math.prod(transform.fold or (1,)) != 0
    if transform.direction == CUDNN_TRANSFORM_FOLD or not (partial and _is_last(x)):
        return False
    return (filters and x.shape[1] > 1) or _is_packed(y) or not _is_last(y)


def folds_other_layouts(transform: Any, *tensors: Any) -> bool:
    """Whether a transform folds tensors that are neither NCHW nor NHWC."""
    plain = [_is_packed(each) or _is_last(each) or has_gaps(each) for each in tensors]
    return _folds(transform) and not all(plain)


_TRANSFORM = "transDesc srcDesc destDesc"


def _unfolds(call: Call) -> str:
    filters = call.function == "cudnnTransformFilter"
    return _all(_TRANSFORM, functools.partial(unfolds_partial_blocks, filters=filters))(call)


@_where
def _keeps_bias(call: Call) -> bool:
    w = call.record("filterDesc")
    kept = call.arguments["reorderType"] != CUDNN_DEFAULT_REORDER
    return kept and w is not None and w.data_type not in _LIKE_BIASES


def _attends_plain_values(attention: Any) -> bool:
    plain = not attention.projections[2] and attention.projections[3]
    return bool(plain) and attention.heads > 1


# -- the rows ----------------------------------------------------------------------------------

CALL_FAULTS: tuple[Fault, ...] = (
    SOFTMAX,
    row(
        "largest of infinities below zero",
        "cudnnPoolingForward",
        "wrong numbers",
        "cuDNN gives the lowest finite number, not -inf",
        _any("poolingDesc", lambda pooling: pooling.mode in _MAXIMA),
        Range(91400, repaired=92800),
        measured("9.14, 9.19", "-3.4e38 in float32, -65504 in float16; 9.28 gives -inf."),
        data="a window holds only -inf, or lies outside of the image",
        remedy="put -inf for the lowest finite number in y",
    ),
    row(
        "activation gradient of three dimensions without a tensor",
        "cudnnActivationBackward",
        "ends the process",
        "cuDNN reads the descriptor that the gradient does not need",
        _lacks_other_tensor,
        Range(91400, repaired=91900),
        measured("9.14", cases="1 of 1 call; 9.19 refuses it"),
        remedy="give both descriptors",
    ),
    row(
        "CTC loss of tensors that are not packed",
        "cudnnCTCLoss cudnnCTCLoss_v8",
        "wrong numbers",
        "cuDNN takes probabilities and gradients as packed, whatever their strides are",
        _any("probsDesc gradientsDesc", lambda tensor: not _is_packed(tensor)),
        _SEEN,
        measured("9.14, 9.19", cases="340 of 346 calls; of packed tensors none"),
        remedy="make both tensors packed by cudnnTransformTensor, or call ctc_loss or ctc_loss_v8",
    ),
    row(
        "CTC loss without a longest label",
        "cudnnCTCLoss_v8",
        "loses the CUDA context",
        "kernels write behind the workspace",
        _any("ctcLossDesc", lambda loss: loss.max_label_length <= 0),
        _SEEN,
        measured("9.14, 9.19", cases="53 calls"),
        remedy="set maxLabelLength by cudnnSetCTCLossDescriptor_v8 or _v9",
    ),
    row(
        "CTC gradients of another type",
        "cudnnCTCLoss cudnnCTCLoss_v8",
        "leaves the memory",
        "cuDNN writes gradients in the type of the probabilities, whatever gradientsDesc says",
        _all("probsDesc gradientsDesc", _types_differ),
        _SEEN,
        measured("9.14, 9.19", cases="7 calls", gpu="H100"),
        remedy="give both descriptors one type",
    ),
    row(
        "recurrent states of another type",
        "cudnnRNNForward cudnnRNNBackwardData_v8 cudnnRNNBackwardWeights_v8",
        "leaves the memory",
        "cuDNN finds the states of unpacked sequences, batch-major or of different lengths, by the "
        "size of their descriptor's type",
        _finds_states_by_size,
        _SEEN,
        measured("9.14, 9.19", cases="12 of 12 calls; of other sequences none of 7", gpu="H100"),
        remedy="give hDesc and cDesc the type of rnnDesc",
    ),
    row(
        "pooling gradient of another type",
        "cudnnPoolingBackward",
        "loses the CUDA context",
        "cuDNN takes gradients for numbers of the type of x, whatever dyDesc and dxDesc say",
        _all("poolingDesc xDesc dyDesc dxDesc", _averages_other_types),
        _SEEN,
        measured("9.14, 9.19", cases="3 calls", gpu="H100"),
        remedy="give all tensors one type",
    ),
    row(
        "sampling of another type",
        "cudnnSpatialTfSamplerForward",
        "loses the CUDA context",
        "cuDNN takes grid and y for numbers of the type of x",
        _all("xDesc yDesc", _types_differ),
        _NEWER,
        measured("9.19", cases="3 calls", gpu="H100"),
        remedy="give both tensors the type of the transformer",
    ),
    row(
        "sampling of more channels than y has",
        "cudnnSpatialTfSamplerForward",
        "leaves the memory",
        "cuDNN writes the channels of x, whatever yDesc says",
        _all("xDesc yDesc", lambda x, y: x.shape[1:2] != y.shape[1:2]),
        _NEWER,
        measured("9.19", cases="1 call", gpu="H100"),
        remedy="give xDesc and yDesc the same channels",
    ),
    row(
        "transform into fewer samples",
        "cudnnTransformTensorEx",
        "leaves the memory",
        "cuDNN writes the samples of srcData, whatever destDesc says",
        _all(_TRANSFORM, _transforms_more_samples),
        _NEWER,
        measured("9.19", cases="1 call", gpu="H100"),
        remedy="set destDesc by cudnnInitTransformDest",
    ),
    row(
        "divisive normalization of large halves",
        "cudnnDivisiveNormalizationForward cudnnDivisiveNormalizationBackward",
        "NaN",
        "cuDNN keeps squares in half precision",
        _any("xDesc", lambda x: x.data_type == CUDNN_DATA_HALF),
        _NEWER,
        measured("9.19", cases="4 calls", gpu="H100"),
        data="x - means is above 255 or below -255",
        remedy="compute in float",
    ),
    row(
        "convolution with a bias that has gaps",
        "cudnnConvolutionBiasActivationForward",
        "wrong numbers",
        "cuDNN takes the bias as packed, whatever its strides are",
        _any("biasDesc", lambda bias: bias.shape[1] > 1 and bias.strides[1] != 1),
        _SEEN,
        measured("9.14, 9.19", cases="102 of 104 calls"),
        remedy="put the bias into packed memory",
    ),
    row(
        "transform out of double",
        "cudnnTransformTensor cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN takes beta for 0 for DOUBLE to another type, between layouts, unless they are NCHW "
        "and NHWC",
        _turns_out_of_double,
        _SEEN,
        measured("9.14, 9.19", cases="18 of 18 calls", gpu="H100"),
        data="beta is not 0",
        remedy="add with cudnnAddTensor",
    ),
    row(
        "transform into double",
        "cudnnTransformTensor cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN reads doubles as float factors, or floats as doubles, for another type to DOUBLE, "
        "between layouts, unless they are NCHW and NHWC of 4 dimensions",
        _turns_into_double,
        _SEEN,
        measured("9.14, 9.19", cases="9 of 13 calls"),
        remedy="transform to DOUBLE first, in the same layout",
    ),
    row(
        "gradient of a bias between vectors",
        "cudnnConvolutionBackwardBias",
        "loses the CUDA context",
        "cuDNN reads dense samples in vectors of up to 4 elements, whatever lies between samples",
        _any("dyDesc", splits_vectors),
        _SEEN,
        measured("9.14, 9.19", cases="9 of 9 calls, none of 14 others", gpu="H100"),
        remedy="give dyDesc's samples a stride that is a multiple of 4, or call "
        "convolution_backward_bias",
    ),
    row(
        "unfolding of channels that fill no block",
        "cudnnTransformTensorEx cudnnTransformFilter",
        "wrong numbers",
        "cuDNN reads the next pixel's channels for those that are not there",
        _unfolds,
        _SEEN,
        measured(
            "9.14, 9.19",
            "NHWC to NCHW; other layouts and whole blocks: none of 336.",
            "46 of 80 calls",
            gpu="H100",
        ),
        remedy="put the source into NCHW, or call transform_tensor_ex",
    ),
    row(
        "LRN of three dimensions that are not packed",
        "cudnnLRNCrossChannelForward cudnnLRNCrossChannelBackward",
        "wrong numbers",
        "cuDNN takes the tensors as packed, whatever their strides are; windows of 5 floats fail",
        _any("xDesc yDesc dyDesc dxDesc", lambda x: len(x.shape) == 3 and not _is_packed(x)),
        _SEEN,
        measured("9.14, 9.19", cases="53 of 87 calls"),
        remedy="give the tensors a fourth dimension of size 1",
    ),
    row(
        "padding of a destination with gaps",
        "cudnnTransformTensorEx",
        "leaves the memory",
        "cuDNN writes zeros into the gaps between the elements of destData",
        _all("transDesc destDesc", lambda how, y: _fills(how) and has_gaps(y)),
        _SEEN,
        measured("9.14, 9.19", cases="48 of 50 calls; without padding or folding none of 82"),
        remedy="transform into packed memory",
    ),
    row(
        "folding of other layouts",
        "cudnnTransformTensorEx",
        "wrong numbers",
        "cuDNN folds and unfolds tensors wrong that are neither NCHW nor NHWC",
        _all(_TRANSFORM, folds_other_layouts),
        _SEEN,
        measured("9.14, 9.19", cases="8 of 25 calls"),
        remedy="lay the tensors out in NCHW",
    ),
    row(
        "bias that is not reordered",
        "cudnnReorderFilterAndBias",
        "wrong numbers",
        "cuDNN copies as many bytes of the bias as the filters' type has: of INT8 a quarter, of "
        "INT8x32 eight times what there is",
        _keeps_bias,
        _SEEN,
        measured("9.14, 9.19", cases="11 of 11 calls"),
        data="reorderBias is 1 and the reorder type CUDNN_NO_REORDER",
        remedy="copy the bias by cudaMemcpy",
    ),
    row(
        "attention of unprojected values",
        "cudnnMultiHeadAttnForward cudnnMultiHeadAttnBackwardData "
        "cudnnMultiHeadAttnBackwardWeights",
        "leaves the memory",
        "cuDNN reads behind the values of several heads, NaN there gives NaN",
        _any("attnDesc", _attends_plain_values),
        _SEEN,
        measured("9.14, 9.19", cases="57 of 326 calls, with one head none of 151"),
        remedy="give the values a projection",
    ),
    row(
        "memory off its boundary",
        "cudnnBatchNormalizationForwardTraining cudnnBatchNormalizationForwardTrainingEx "
        "cudnnBatchNormalizationBackward cudnnBatchNormalizationBackwardEx "
        "cudnnNormalizationForwardTraining cudnnNormalizationBackward "
        "cudnnConvolutionForward cudnnConvolutionBiasActivationForward "
        "cudnnConvolutionBackwardBias cudnnTransformTensor cudnnTransformTensorEx",
        "loses the CUDA context",
        "a kernel reads several elements at once, from a misaligned address",
        lambda call: call.function,
        _NEWER,
        measured("9.19", "Vectors of integers, and 16-bit images in NCHW most.", "157 calls"),
        data="an operand does not begin at a multiple of 16 bytes",
        remedy="align memory to 16 bytes",
    ),
    row(
        "fused gradient without a bias",
        "cudnnBatchNormalizationBackwardEx cudnnNormalizationBackward",
        "loses the CUDA context",
        "kernels read the bias, from which they compute again what the activation passed",
        _lacks_bias,
        _NEWER,
        measured("9.19", cases="2 calls"),
        data="an activation followed, and bnBiasData or normBiasData is NULL",
        remedy="give the bias",
    ),
    row(
        "call without what it needs",
        "cudnnFusedOpsExecute",
        "ends the process",
        "cuDNN uses NULL on the GPU",
        lambda call: call.function,
        _NEWER,
        measured("9.19"),
        data="a pointer of the pack is NULL that is used",
        remedy="give it",
    ),
)
"""The rows."""


def faults_of_call(call: Call, version: int, capability: int = 0) -> list[Finding]:
    """The known faults that concern a call, with this cuDNN on a GPU of this capability.

    0 is some GPU.
    """
    rows = [each for each in CALL_FAULTS if call.function in each.calls]
    return findings(rows, call, _Target(version, capability))
