"""Wrong arguments in every call of every family: errors that name the argument, no crash.

Programs of layer 2 make the right calls. Before each new function's call goes on, it is made again
and again with one argument exchanged for a wrong one, or several.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import mmap
import re
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import host_blocks, log, mode
from cudnn_ctypes.raw.descriptors import record
from cudnn_ctypes.raw.parameter import Parameter
from cudnn_ctypes.reference.device import dispatch
from cudnn_ctypes.reference.device.call import Call
from tests.reference.raw_program import Descriptors

from .operation_table import FAMILIES, Family, convolutions, layers, rows

BAD_PARAM = {raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER}
UNSET = {*BAD_PARAM, raw.CUDNN_STATUS_NOT_INITIALIZED}
SETTERS = re.compile(r"(Set|Get|Init|Destroy).*(Descriptor|Dest)")
REFUSED = {*raw.cudnnStatus_t} - {raw.CUDNN_STATUS_SUCCESS}
SHAPED = raw.cudnnTensorDescriptor_t, raw.cudnnFilterDescriptor_t
FLOAT, DOUBLE = raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_DOUBLE
UNKNOWN = {raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED}

Again = Callable[[Any], tuple[int, str]]
"""Makes the call with another argument: the status, and what is said."""
Check = Callable[[str, Parameter, Any, Again], None]
Rows = Callable[[str, dict[str, Any], Callable[[dict[str, Any]], tuple[int, str]]], None]

by_family = pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)


def run(handle: cudnn.Handle, family: Family, monkeypatch: Any, check: Check) -> set[str]:
    """One step, with `check(function, parameter, value, again)` before each function's first call.

    Returns the names of the functions.
    """

    def check_all(name: str, given: dict[str, Any], again: Any) -> None:
        values = Call(raw.FUNCTIONS[f"cudnn{name}"], tuple(given.values()))
        for parameter in raw.FUNCTIONS[f"cudnn{name}"].parameters:
            one = partial(lambda at, changed: again({at: changed}), parameter.name)
            check(name, parameter, values[parameter.name], one)

    return run_rows(handle, family, monkeypatch, check_all)


def run_rows(handle: cudnn.Handle, family: Family, monkeypatch: Any, check: Rows) -> set[str]:
    """As `run`, with `check(function, arguments, again)`; `again` takes what is exchanged."""
    carry_out, seen = dispatch._carry_out, set()

    def watched(implementation: Any, function: Any, args: tuple[Any, ...]) -> int:
        if (name := function.__name__) not in seen:
            seen.add(name)
            names = [parameter.name for parameter in function.parameters]
            given = dict(zip(names, args, strict=True))

            def again(changes: dict[str, Any]) -> tuple[int, str]:
                log.forget()
                changed = tuple({**given, **changes}.values())
                return carry_out(implementation, function, changed), " ".join(log.take()[0])

            check(name.removeprefix("cudnn"), given, again)
        return carry_out(implementation, function, args)

    monkeypatch.setattr(dispatch, "_carry_out", watched)
    try:
        with rows(family, handle) as cases:
            for case in cases.values():
                case()
            if other := OTHERS.get(family):
                other(handle)
    except cudnn.SymbolNotFoundError as error:
        pytest.skip(str(error))
    return seen


def fold(handle: cudnn.Handle) -> None:
    with (
        cudnn.TensorDescriptor((2, 3, 8, 8)) as dx,
        cudnn.FilterDescriptor((4, 3, 3, 3)) as w,
        cudnn.ConvolutionDescriptor(1, 2) as conv,
        cudnn.TensorDescriptor((2, 4, 4, 4)) as dy,
    ):
        cudnn.folded_backward_data(handle, cudnn.ConvolutionBackwardData(w, dy, conv, dx)).close()


def restore(handle: cudnn.Handle) -> None:
    with cudnn.DeviceBuffer(cudnn.dropout_states_size(handle)) as states:
        states.fill(0)
        cudnn.DropoutDescriptor(handle, 0.5, states=states, restore=True).close()


def convolve_channels_last(_: cudnn.Handle) -> None:
    x = cudnn.DeviceTensor.zeros((2, 3, 16), "float32", strides=(48, 1, 3))
    w = cudnn.DeviceTensor.zeros((3, 4), "float32", strides=(1, 3))
    cudnn.causal_convolution_forward(x, w)


OTHERS: dict[Family, Callable[[cudnn.Handle], None]] = {
    convolutions.convolutions: fold,
    convolutions.causal_convolutions: convolve_channels_last,
    layers.dropout: restore,
}
"""Calls of functions that no row calls."""


# --- NULL, descriptors that were never set, sizes, enumerators --------------------------------

FOLDED = (
    "foldedFilterDesc paddedDiffDesc foldedConvDesc foldedGradDesc "
    "filterFoldTransDesc diffPadTransDesc gradFoldTransDesc gradUnfoldTransDesc"
)
"""Descriptors that a function sets."""
# Parameters that a function does not need, or reads nothing of, by the change.
NEEDLESS = {
    "NULL": {
        "ActivationBackward, LRNCrossChannelBackward": "yDesc y",
        "DivisiveNormalizationForward": "means",
        "DivisiveNormalizationBackward": "means dMeans",
        "GetBatchNormalizationTrainingExReserveSpaceSize": "activationDesc",
        "GetBatchNormalizationForwardTrainingExWorkspaceSize": "zDesc activationDesc",
        "BatchNormalizationForwardTrainingEx": "zDesc zData activationDesc workspace reserveSpace",
        "BatchNormalizationForwardTrainingEx, NormalizationForwardTraining, "
        "BatchNormalizationForwardTraining": "resultRunningMean resultRunningVariance",
        "BatchNormalizationBackward": "savedMean savedInvVariance",
        "GetBatchNormalizationBackwardExWorkspaceSize": "dzDesc activationDesc",
        "BatchNormalizationBackwardEx": "yDesc yData dzDesc dzData bnBiasData savedMean "
        "savedInvVariance activationDesc workSpace reserveSpace",
        "NormalizationForwardInference": "zDesc z activationDesc",
        "NormalizationBackward": "yDesc yData normBiasData",
        **{
            f"GetConvolution{direction}Algorithm_v7": "returnedAlgoCount"
            for direction in ("Forward", "BackwardData", "BackwardFilter")
        },
        "GetRNNWeightParams": "weightSpace",
        "GetRNNTempSpaceSizes": "workSpaceSize reserveSpaceSize",
        "RNNForward": "devSeqLengths hx hy cx cy",
        "RNNBackwardData_v8": "devSeqLengths hx dhy dhx cx dcy dcx",
        "RNNBackwardWeights_v8": "devSeqLengths hx",
        "GetMultiHeadAttnBuffers": "reserveSpaceSizeInBytes",
        "MultiHeadAttnForward": "residuals",
        "GetCTCLossWorkspaceSize, GetCTCLossWorkspaceSize_v8": "gradientsDesc",
        "CTCLoss, CTCLoss_v8": "gradients",
        "GnnAggSimpleForward": "edgeFeatures concatFeatures",
        "GnnAggSimpleBackward": "outPositions gradEdgeFeatures gradConcatFeatures",
        "GnnMhaGatForward, GnnMhaGatV2Forward": "edgeFeatures dropoutMask",
        "GnnMhaGatBackward, GnnMhaGatV2Backward": "edgeFeatures dropoutMask gradAttention "
        "gradEdgeFeatures",
        "GnnMhaGatV2Backward": "gradWeights",
    },
    "unset": {
        "ActivationBackward": "yDesc",
        "LRNCrossChannelForward, LRNCrossChannelBackward, DivisiveNormalizationForward, "
        "DivisiveNormalizationBackward": "normDesc",
        "BatchNormalizationBackwardEx, NormalizationBackward": "yDesc",
        "DropoutBackward, RestoreDropoutDescriptor": "dropoutDesc",
        "GetRNNWeightParams": "mDesc bDesc",
        "GetMultiHeadAttnWeights": "wDesc",
        "GetFoldedConvBackwardDataDescriptors": FOLDED,
        "GetCTCLossWorkspaceSize, GetCTCLossWorkspaceSize_v8, CTCLoss": "ctcLossDesc",
    },
    "unknown": {
        "LRNCrossChannelForward, LRNCrossChannelBackward": "lrnMode",
        "DivisiveNormalizationForward, DivisiveNormalizationBackward": "mode",
        "ReorderFilterAndBias": "reorderType",
        "GetRNNTempSpaceSizes, RNNForward": "fwdMode",
    },
    "short": {"GetRNNWeightParams": "weightSpaceSize"},
    "another type": {
        "ActivationBackward": "yDesc",
        "GetBatchNormalizationTrainingExReserveSpaceSize": "xDesc",
        "GetCTCLossWorkspaceSize, GetCTCLossWorkspaceSize_v8": "gradientsDesc",
        "GetConvolutionForwardAlgorithm_v7": "srcDesc filterDesc destDesc",  # rows are refused
        "GetConvolutionBackwardDataAlgorithm_v7": "filterDesc diffDesc gradDesc",
        "GetConvolutionBackwardFilterAlgorithm_v7": "srcDesc diffDesc gradDesc",
        "GetFoldedConvBackwardDataDescriptors": f"filterDesc diffDesc gradDesc {FOLDED}",
        "GetRNNWeightParams": "mDesc bDesc",
        "GetReductionIndicesSize, GetReductionWorkspaceSize": "aDesc cDesc",
        "Im2Col": "wDesc",
        "RNNForward, RNNBackwardData_v8": "hDesc cDesc",
        "RNNBackwardWeights_v8": "hDesc",
    },
    "another shape": {
        "ActivationBackward": "yDesc",
        "GetBatchNormalizationTrainingExReserveSpaceSize": "xDesc",
        "GetFoldedConvBackwardDataDescriptors": f"filterDesc {FOLDED}",
        "GetRNNWeightParams": "mDesc bDesc",
        "GetReductionIndicesSize, GetReductionWorkspaceSize": "aDesc cDesc",
    },
}
# Sizes depend on x alone, and whether z is there.
SIZES = re.compile(
    r"(NULL|unset) Get(Batch)?Normalization(ForwardTraining|Backward)(Ex)?WorkspaceSize "
    r"(yDesc|zDesc|dyDesc|dzDesc|dxDesc|bnScaleBiasMeanVarDesc|dBnScaleBiasDesc|normScaleBiasDesc|"
    r"dNormScaleBiasDesc|normMeanVarDesc)"
)
EXPECTED = re.compile("Desc|: expected|: cuDNN has no| is too small| is less than")
# An unset descriptor holds defaults, which are refused with other words.
OTHER_WORDS = {
    "CTCLoss_v8 ctcLossDesc": "labelLengths must be from 0 to maxLabelLength = 0",
    "TransformFilter transDesc": "destData: expected shape",
    "TransformTensorEx transDesc": "destData: expected shape",
    "NormalizationBackward workSpace": "workSpace is NULL",
}


def needless(about: str, function: str, parameter: str) -> bool:
    listed = (
        parameter in names.split()
        for functions, names in NEEDLESS[about].items()
        if function in functions.split(", ")
    )
    return any(listed) or SIZES.fullmatch(f"{about} {function} {parameter}") is not None


MADE = Descriptors()
"""Descriptors that are as wrong in every test."""


def described(kind: Any, data_type: Any, shape: tuple[int, ...]) -> Any:
    """A descriptor of a packed tensor, or of filters."""
    make = MADE.tensor if kind is raw.cudnnTensorDescriptor_t else MADE.filter
    return make(shape, data_type)


def changes(parameter: Parameter, value: Any) -> Iterator[tuple[str, Any, set[Any]]]:
    """What is wrong, the argument, and the statuses that say so."""
    name, kind, base = parameter.name, parameter.type.kind, parameter.type.base
    if name.lower().endswith("desc"):
        yield "NULL", base(), BAD_PARAM
        # An activation that was never set holds whatever malloc left.
        if value and base is not raw.cudnnActivationDescriptor_t:
            yield "unset", MADE.new(base), UNSET
        held = record(value) if value and base in SHAPED else None
        if held is not None:
            other = FLOAT if held.data_type == DOUBLE else DOUBLE
            yield "another type", described(base, other, held.shape), REFUSED
            larger = (*held.shape[:-1], held.shape[-1] + 1)
            yield "another shape", described(base, held.data_type, larger), REFUSED
    elif kind != "value":
        yield "NULL", None, BAD_PARAM
    elif name.endswith(("SizeInBytes", "SpaceSize")) and value:
        yield "short", value - 1, BAD_PARAM
    elif isinstance(base, type) and issubclass(base, enum.Enum):
        yield "unknown", 99, UNKNOWN


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.errors.FaultWarning")
@by_family
def test_wrong_arguments(reference_handle: cudnn.Handle, family: Family, monkeypatch: Any) -> None:
    wrong: list[str] = []

    def check(function: str, parameter: Parameter, value: Any, again: Again) -> None:
        if parameter.name in ("handle", "stream") or SETTERS.fullmatch(function):
            return
        for about, changed, statuses in changes(parameter, value):
            status, said = again(changed)
            name = parameter.name
            if needless(about, function, name):
                told = status == 0
            elif words := OTHER_WORDS.get(f"{function} {name}"):
                told = status != 0 and (words in said or status in statuses)
            else:
                shown = name if not name.endswith("Data") else f"{name}|{name[:-4]}Desc"
                shown = EXPECTED if statuses is REFUSED else f"{shown}|99"
                told = status in statuses and bool(re.search(shown, said))
            if not told:
                wrong.append(f"{about} {function} {name}: {status} {said}")

    run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)


# --- addresses ------------------------------------------------------------------------------------

# Arguments that a call neither reads nor writes, although it is given them.
UNUSED = {
    "ActivationBackward: y",  # for functions whose gradient needs x only
    "NormalizationBackward: yData",  # where an activation follows
    "NormalizationBackward: normBiasData",
    "BatchNormalizationBackwardEx: yData",
    "BatchNormalizationBackwardEx: bnBiasData",
    "GetRNNWeightParams: weightSpace",  # these two compute addresses
    "GetMultiHeadAttnWeights: weights",
    "RestoreDropoutDescriptor: states",  # which dropout reads and writes later
}
READ = {"NormalizationBackward: reserveSpace"}  # which C declares to be written as well
# Arguments that cuDNN may read, and the reference device does not.
UNREAD = {
    "PoolingBackward: y",
    "LRNCrossChannelBackward: y",
    "RNNBackwardData_v8: y",
    "RNNBackwardWeights_v8: y",
}


def works_on(function: str, parameter: Parameter, address: Any) -> bool:
    """Whether the call reads or writes memory there."""
    on_device = parameter.type.kind in ("device", "labelled")
    return on_device and bool(address) and f"{function}: {parameter.name}" not in UNUSED


def block(address: int) -> host_blocks.Block:
    found = host_blocks.find(address)
    assert found is not None
    return found


@contextlib.contextmanager
def read_only_memory() -> Iterator[int]:
    memory = mmap.mmap(-1, 1 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    address = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None).mprotect
    protect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), mmap.PROT_READ)
    yield address
    protect(ctypes.c_void_p(address), ctypes.c_size_t(1 << 20), mmap.PROT_READ | mmap.PROT_WRITE)


@pytest.mark.thinned(5)
@by_family
def test_wrong_addresses(reference_handle: cudnn.Handle, family: Any, monkeypatch: Any) -> None:
    with cudnn.DeviceBuffer(1 << 20) as closed:
        freed = closed.ptr
    wrong: list[str] = []
    with read_only_memory() as read_only, cudnn.DeviceBuffer(2) as small:
        small.fill(0)
        faults: dict[str, tuple[str, Callable[[host_blocks.Block], int]]] = {
            "past the end": ("begins 0 bytes beyond the end", lambda b: b.address + b.nbytes),
            "before the start": ("begins 16 bytes before the start", lambda b: b.address - 16),
            "freed": (r"was freed: bytes 0 to \d+", lambda _: freed),
            "too small": (r"is too small: \d+ bytes are missing", lambda _: small.ptr),
            "read-only": ("is written, but .* are read-only memory", lambda _: read_only),
            "unmapped": ("not memory of this process", lambda _: 1 << 46),
        }

        def check(function: str, parameter: Parameter, address: Any, again: Again) -> None:
            if not works_on(function, parameter, address):
                return
            for fault, (message, changed) in faults.items():
                reads = parameter.direction == "in" or f"{function}: {parameter.name}" in READ
                if fault == "read-only" and reads:
                    continue
                status, said = again(changed(block(address)))
                if status == 0 or not re.search(f"{parameter.name}.*{message}", said):
                    wrong.append(f"{function}: {parameter.name} {fault}: {said}")

        run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)


@pytest.mark.thinned(5)
@by_family
def test_memory_that_was_never_written(reference_handle, family, monkeypatch):
    wrong: list[str] = []

    def check(function: str, parameter: Parameter, address: Any, again: Again) -> None:
        if not works_on(function, parameter, address) or parameter.direction != "in":
            return
        if f"{function}: {parameter.name}" in UNREAD:
            return
        with cudnn.DeviceBuffer(1 << 20) as empty:
            monkeypatch.setattr(mode, "strict", True)
            status, said = again(empty.ptr)
            monkeypatch.setattr(mode, "strict", False)
            if status == 0 or not re.search(f"{parameter.name}: .* were never written", said):
                wrong.append(f"{function}: {parameter.name} strict: {said}")
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                again(empty.ptr)
            texts = [str(w.message) for w in caught if w.category is cudnn.DeviceMemoryWarning]
            if not any(text.startswith(f"{parameter.name}: ") for text in texts):
                wrong.append(f"{function}: {parameter.name} by default: {texts}")

    run(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)


# --- what single functions refuse -----------------------------------------------------------------

BAD, NOT = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
FAILED, SUCCESS = raw.CUDNN_STATUS_EXECUTION_FAILED, raw.CUDNN_STATUS_SUCCESS
HALF, INT8, INT32 = raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT32


def tensor(*shape: int, kind: Any = FLOAT, **layout: Any) -> Callable[[Any], Any]:
    return lambda _: MADE.tensor(shape, kind, **layout)


def filters(*shape: int, kind: Any = FLOAT) -> Callable[[Any], Any]:
    return lambda _: MADE.filter(shape, kind)


def convolution(*padding: int, **options: Any) -> Callable[[Any], Any]:
    return lambda _: MADE.convolution(padding, **options)


def passed(given: Any) -> Any:
    """What C gets of an argument, which wraps it where the call is a function's first."""
    while hasattr(given, "_as_parameter_"):
        given = given._as_parameter_
    return given


def at(offset: int) -> Callable[[Any], Any]:
    """Memory that begins some bytes further on."""
    return lambda given: passed(given).value + offset


def with_fields(**fields: Any) -> Callable[[Any], Any]:
    """A copy of a struct with some fields exchanged."""

    def copied(given: Any) -> Any:
        struct = passed(given)
        struct = getattr(struct, "contents", struct)
        other = type(struct).from_buffer_copy(struct)
        for name, value in fields.items():
            if callable(value):  # memory, which the struct keeps
                other.kept = value(given)
                value = other.kept.ptr
            setattr(other, name, value)
        return other

    return copied


def ints(*values: int) -> Callable[[Any], Any]:
    return lambda _: (ctypes.c_int * len(values))(*values)


def on_device(*values: int) -> Callable[[Any], Any]:
    return lambda _: cudnn.DeviceTensor.from_numpy(np.array(values, np.int32))


def labels_of_256(_: Any) -> Any:
    loss = MADE.new(raw.cudnnCTCLossDescriptor_t)
    modes = raw.CUDNN_LOSS_NORMALIZATION_SOFTMAX, raw.CUDNN_CTC_SKIP_OOB_GRADIENTS
    raw.cudnnSetCTCLossDescriptor_v9(loss, FLOAT, *modes, 256)
    return loss


# By function: what is exchanged, the status, and what is said.
REFUSED_CALLS: dict[str, tuple[tuple[dict[str, Any], int, str], ...]] = {
    "GnnAggSimpleForward": (
        ({"nodeFeatDim": 0}, BAD, "nodeFeatDim 0"),
        ({"edgeFeatDim": 2}, BAD, "edgeFeatures is NULL"),
        ({"concatFeatDim": -1}, BAD, "none negative"),
        ({"dataType": DOUBLE}, NOT, "CUDNN_DATA_DOUBLE"),
        ({"graph": with_fields(nDstNodes=-1)}, BAD, "nDstNodes is -1"),
        ({"graph": with_fields(idxType=FLOAT)}, BAD, "idxType must be INT32 or INT64"),
        ({"graph": with_fields(cscOffsets=None)}, BAD, "cscOffsets is NULL"),
        ({"graph": with_fields(nSrcNodes=1)}, FAILED, "indices must be sources from 0 to 0"),
        ({"graph": with_fields(nIndices=1)}, FAILED, "offsets must rise from 0 to 1"),
    ),
    "GnnAggSimpleBackward": (
        (
            {
                "aggOp": raw.CUDNN_GNN_AGG_MAX,
                "outPositions": lambda _: cudnn.DeviceTensor.full((2, 4), 99, "int32"),
            },
            FAILED,
            "outPositions do not come from",
        ),
    ),
    "GnnMhaGatForward": (
        ({"params": with_fields(numHeads=0)}, BAD, "numHeads 0"),
        ({"params": with_fields(numHeads=3)}, BAD, "must be multiples of 3 heads"),
        ({"params": with_fields(activation=9)}, BAD, "activation 9"),
        ({"params": with_fields(activationAlpha=0)}, BAD, "must be positive: 0"),
        ({"dataType": DOUBLE}, NOT, "CUDNN_DATA_DOUBLE"),
    ),
    "GnnMhaGatBackward": (
        ({"gradWspaceFeat": None}, BAD, "both be given, or both be NULL"),
        ({"gradDataType": HALF, "gradWeightType": HALF}, NOT, "data types"),
        ({"dataType": HALF, "gradWeightType": HALF}, NOT, "gradWeightType CUDNN_DATA_HALF with"),
        ({"graph": with_fields(cscRevOffsets=None)}, BAD, "cscRevOffsets is NULL"),
        ({"graph": with_fields(mapRevToCoo=None)}, BAD, "mapRevToCoo is NULL"),
        *(
            ({"graph": with_fields(mapRevToCoo=on_device(*rows))}, status, words)
            for rows, status, words in (
                ((1, 3, 4, 2, 0), SUCCESS, ""),
                ((1, 3, 2, 4, 5), FAILED, "do not belong to cscOffsets"),
                ((1, 1, 2, 4, 0), FAILED, "do not belong to cscOffsets"),
                ((3, 1, 2, 4, 0), FAILED, "do not belong to cscOffsets"),
            )
        ),
    ),
    "MultiHeadAttnForward": (
        ({"currIdx": 4}, BAD, "currIdx is 4, queries have 4 time steps"),
        ({"hiWinIdx": ints(1, 2, 3)}, BAD, "hiWinIdx has 3 elements, 4 are needed"),
    ),
    "CTCLoss": (
        ({"hostLabels": ints(1, 5, 2, 4)}, BAD, "labels[0]: expected symbols"),
        ({"hostInputLengths": ints(7, 5)}, BAD, "nputLengths: expected 2 ints"),
        ({"hostInputLengths": ints(0, 5)}, BAD, "nputLengths: expected 2 ints"),
        ({"hostLabelLengths": ints(-1, 5)}, BAD, "negative"),
        ({"hostLabels": ints(*[1] * 257), "hostLabelLengths": ints(256, 1)}, NOT, "above 255"),
        ({"probsDesc": tensor(6, 2, 5, 1)}, BAD, "probsDesc: expected (time"),
    ),
    "CTCLoss_v8": (
        ({"labels": on_device(1, 5, 2, 4)}, FAILED, "labels[0]: "),
        ({"inputLengths": on_device(7, 5)}, FAILED, "inputLengths"),
        ({"labelLengths": on_device(6, 1)}, FAILED, "must be from 0 to maxLabelLength = 5: [6, 1]"),
        ({"labelLengths": on_device(3, -1)}, FAILED, "must be from 0 to maxLabelLength = 5"),
        ({"ctcLossDesc": labels_of_256}, NOT, "maxLabelLength above 255"),
    ),
    "GetCTCLossWorkspaceSize_v8": (
        ({"probsDesc": tensor(6, 2, 1), "gradientsDesc": None}, BAD, "no symbol but the blank"),
    ),
    "CausalConv1dForward": (
        ({"kernelSize": 1}, BAD, "kernelSize must be from 2 to 256, got 1"),
        ({"kernelSize": 257}, BAD, "kernelSize must be from 2 to 256, got 257"),
        ({"seqLen": 0}, BAD, "seqLen must be at least 1"),
        ({"batch": -1}, BAD, "batch must be at least 1"),
        ({"dataType": INT8}, NOT, "CUDNN_DATA_INT8"),
    ),
    "CausalConv1dNwhForward": (({"kernelSize": 129}, BAD, "from 2 to 128, got 129"),),
    "CausalConv1dBackward": (
        ({"dataType": HALF, "dwDataType": HALF}, NOT, "dwDataType must be CUDNN_DATA_FLOAT"),
    ),
    "B2BCausalConv1dForward": (
        ({"kernelSizeProj": 33}, BAD, "kernelSizeProj"),
        ({"kernelSizeMixer": 257}, BAD, "kernelSizeMixer"),
    ),
    "FFTCausalConv1dForward": (
        ({"weight": at(4)}, BAD, "weight must be aligned"),
        ({"kernelSize": 0}, BAD, "kernelSize must be at least 1, got 0"),
        *(
            ({"seqLen": time, "kernelSize": width, "dataType": kind}, NOT, "")
            for time, width, kind in (
                *((100, 128, FLOAT), (192, 128, FLOAT), (64, 64, FLOAT), (129, 129, FLOAT)),
                *((8192, 8192, DOUBLE), (128, 128, INT8)),
            )
        ),
    ),
    "LongFFTCausalConv1dBackward": (({"seqLen": 2048, "kernelSize": 2048}, NOT, "no long form"),),
    **{
        f"Dropout{way}": (
            ({x: tensor(8, 33, kind=INT32), y: tensor(8, 33, kind=INT32)}, NOT, ""),
            ({x: tensor(8, 33, layout=(1, 1))}, BAD, "elements share addresses"),
        )
        for way, x, y in (("Forward", "xdesc", "ydesc"), ("Backward", "dydesc", "dxdesc"))
    },
    **dict.fromkeys(
        ("SetDropoutDescriptor", "RestoreDropoutDescriptor"),
        (
            *(({"dropout": rate}, BAD, "") for rate in (-0.1, 1.5, float("nan"))),
            ({"stateSizeInBytes": lambda size: size - 1}, BAD, ""),
        ),
    ),
    "BatchNormalizationForwardInference": (
        ({"xDesc": tensor(3, 4, 5, 2, 1, 1), "yDesc": tensor(3, 4, 5, 2, 1, 1)}, BAD, ""),
        ({"xDesc": tensor(3, 4, 5), "yDesc": tensor(3, 4, 5)}, BAD, ""),
        ({"bnScaleBiasMeanVarDesc": tensor(1, 4, 6, 6)}, BAD, ""),
        ({"bnScaleBiasMeanVarDesc": tensor(4, 1, 1, 1)}, BAD, ""),
        ({"epsilon": -1e-9}, BAD, "epsilon"),
        ({"epsilon": float("nan")}, BAD, "epsilon"),
    ),
    "GetFoldedConvBackwardDataDescriptors": (
        ({"transformFormat": raw.CUDNN_TENSOR_NCHW_VECT_C}, NOT, ""),
        ({"diffDesc": tensor(2, 4, 3, 4)}, BAD, ""),
        # cuDNN 9.19 gives descriptors for these too, which do not lead to dx.
        ({"convDesc": convolution(1, 1, stride=(2, 2), mode=raw.CUDNN_CONVOLUTION)}, NOT, ""),
        ({"convDesc": convolution(2, 2, stride=(2, 2), dilation=(2, 2))}, NOT, ""),
        (
            {
                "convDesc": convolution(1, 1, stride=(2, 2), groups=3),
                "filterDesc": filters(6, 1, 3, 3),
                "diffDesc": tensor(2, 6, 4, 4),
            },
            NOT,
            "",
        ),
        (
            {
                "convDesc": convolution(1, 1, 1, stride=(2, 2, 2)),
                "filterDesc": filters(2, 2, 3, 3, 3),
                "diffDesc": tensor(1, 2, 4, 4, 4),
                "gradDesc": tensor(1, 2, 8, 8, 8),
            },
            BAD,
            "2 spatial dimensions",
        ),
    ),
    "Im2Col": (
        ({"xDesc": tensor(2, 4, 6, 6, 6), "wDesc": filters(8, 4, 3, 3, 3)}, NOT, ""),
        ({"xDesc": tensor(2, 4, 6, 6, kind=INT8)}, NOT, ""),
        ({"xDesc": tensor(2, 5, 6, 6)}, BAD, ""),
        ({"wDesc": filters(8, 4, 3, 3, 3)}, BAD, ""),
    ),
}


@by_family
def test_what_single_functions_refuse(reference_handle, family, monkeypatch):
    wrong: list[str] = []

    def check(function: str, given: dict[str, Any], again: Any) -> None:
        for changes, status, words in REFUSED_CALLS.get(function, ()):
            made = {n: v(given[n]) if callable(v) else v for n, v in changes.items()}
            got, said = again(made)
            if got != status or words not in said:
                wrong.append(f"{function} {changes}: {got} {said}")

    run_rows(reference_handle, family, monkeypatch, check)
    assert not wrong, "\n".join(wrong)
