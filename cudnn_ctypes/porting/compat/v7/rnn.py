"""Recurrent networks of cuDNN 5 to 7: settings, sizes, weights and passes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from ctypes import c_size_t, c_void_p
from functools import partial
from typing import Any

from .... import raw
from ....raw.descriptors import RNN, Filter, Tensor, record
from ....raw.records import place
from .declarations import parameters_of
from .old_function import Arguments, Refused, create_object, destroy_object, held_object, implements

_PADDED = raw.CUDNN_RNN_PADDED_IO_ENABLED


def described(descriptor: Any) -> RNN:
    """The record of an RNN descriptor; refused if it was never set."""
    rnn = record(descriptor)
    if rnn is None:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "rnnDesc is NULL, or was created but never set")
    assert isinstance(rnn, RNN)
    return rnn


def change(descriptor: Any, **changes: Any) -> None:
    """Set some values of a descriptor, by `cudnnSetRNNDescriptor_v8`'s parameter names."""
    rnn = described(descriptor)
    fields: dict[str, Any] = {
        "algo": rnn.algorithm,
        "cellMode": rnn.cell,
        "biasMode": rnn.bias,
        "dirMode": raw.CUDNN_BIDIRECTIONAL if rnn.bidirectional else raw.CUDNN_UNIDIRECTIONAL,
        "inputMode": rnn.input_mode,
        "dataType": rnn.data_type,
        "mathPrec": rnn.compute_data_type,
        "mathType": rnn.math_type,
        "inputSize": rnn.input_size,
        "hiddenSize": rnn.hidden_size,
        "projSize": rnn.projection_size or rnn.hidden_size,
        "numLayers": rnn.layers,
        "dropoutDesc": dropout_of(rnn),
        "auxFlags": _PADDED if rnn.padded_io else 0,
    }
    raw.cudnnSetRNNDescriptor_v8(descriptor, **{**fields, **changes})
    if rnn.clip is not None:  # setting a descriptor removes the clip
        clip = raw.CUDNN_RNN_CLIP_MINMAX, rnn.clip_nan_propagation, *rnn.clip
        raw.cudnnRNNSetClip_v8(descriptor, *clip)


def dropout_of(rnn: RNN) -> Any:
    """The dropout descriptor of a network, as a handle."""
    dropout = raw.cudnnDropoutDescriptor_t()
    dropout.value = rnn.dropout
    return dropout


def settle(handle: Any, descriptor: Any, data_type: Any, input_size: int, batch: int = 0) -> None:
    """Set the now known values of a descriptor; compile the kernels of the dynamic algorithm.

    - `batch`: number of sequences; 0 if the call needs no kernels.
    """
    rnn = described(descriptor)
    if (rnn.data_type, rnn.input_size) != (data_type, input_size):
        change(descriptor, dataType=data_type, inputSize=input_size)
    if batch and rnn.algorithm == raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        _compile(handle, descriptor, batch)


_compiled: dict[int, tuple[Any, int]] = {}  # by address: the record's place then, and the batch


def _compile(handle: Any, descriptor: Any, batch: int) -> None:
    """Call `cudnnBuildRNNDynamic`, once after the descriptor was set, and for each new batch."""
    address = getattr(descriptor, "_as_parameter_", descriptor).value
    if _compiled.get(address) != (place(descriptor), batch):
        raw.cudnnBuildRNNDynamic(handle, descriptor, batch)
        _compiled[address] = place(descriptor), batch


# -- setting it all ----------------------------------------------------------------------------


def _configure(a: Arguments, *, cell: Any, algorithm: Any, math_precision: Any) -> None:
    a.call(
        raw.cudnnSetRNNDescriptor_v8,
        algo=algorithm,
        cellMode=cell,
        biasMode=raw.CUDNN_RNN_DOUBLE_BIAS,
        dirMode=a.direction,
        dataType=math_precision,
        mathPrec=math_precision,
        mathType=raw.CUDNN_DEFAULT_MATH,
        inputSize=a.hiddenSize,
        projSize=a.hiddenSize,
        auxFlags=raw.CUDNN_RNN_PADDED_IO_DISABLED,
    )


_V5 = """(cudnnRNNDescriptor_t rnnDesc, int hiddenSize, int numLayers,
    cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode,
    cudnnDirectionMode_t direction, cudnnRNNMode_t mode, cudnnDataType_t mathPrec)"""
_V6 = """(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc, const int hiddenSize,
    const int numLayers, cudnnDropoutDescriptor_t dropoutDesc, cudnnRNNInputMode_t inputMode,
    cudnnDirectionMode_t direction, cudnnRNNMode_t cellMode, cudnnRNNAlgo_t algo,
    cudnnDataType_t mathPrec)"""


@implements(f"cudnnSetRNNDescriptor{_V5}", f"cudnnSetRNNDescriptor_v5{_V5}")
def set_v5(a: Arguments) -> None:
    standard = raw.CUDNN_RNN_ALGO_STANDARD
    _configure(a, cell=a.mode, algorithm=standard, math_precision=a.mathPrec)


@implements(f"cudnnSetRNNDescriptor{_V6}", f"cudnnSetRNNDescriptor_v6{_V6}")
def set_v6(a: Arguments) -> None:
    _configure(a, cell=a.cellMode, algorithm=a.algo, math_precision=a.mathPrec)


_GET = """(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, int *hiddenSize,
    int *numLayers, cudnnDropoutDescriptor_t *dropoutDesc, cudnnRNNInputMode_t *inputMode,
    cudnnDirectionMode_t *direction, cudnnRNNMode_t *cellMode, cudnnRNNAlgo_t *algo,
    cudnnDataType_t *mathPrec)"""


@implements(f"cudnnGetRNNDescriptor{_GET}", f"cudnnGetRNNDescriptor_v6{_GET}")
def get_v6(a: Arguments) -> None:
    rnn = described(a.rnnDesc)
    a.put(
        hiddenSize=rnn.hidden_size,
        numLayers=rnn.layers,
        dropoutDesc=rnn.dropout,
        inputMode=rnn.input_mode,
        direction=raw.CUDNN_BIDIRECTIONAL if rnn.bidirectional else raw.CUDNN_UNIDIRECTIONAL,
        cellMode=rnn.cell,
        algo=rnn.algorithm,
        mathPrec=rnn.compute_data_type,
    )


# -- one setting each --------------------------------------------------------------------------


def _setting(name: str, declared: str, field: str, read: Callable[[RNN], Any]) -> None:
    """The two functions of a setting: `field` is cuDNN 9's parameter, `read` its place."""
    kind, parameter = declared.split()

    @implements(f"cudnnSetRNN{name}(cudnnRNNDescriptor_t rnnDesc, {declared})")
    def put(a: Arguments) -> None:
        change(a.rnnDesc, **{field: getattr(a, parameter)})

    @implements(f"cudnnGetRNN{name}(const cudnnRNNDescriptor_t rnnDesc, {kind} *{parameter})")
    def get(a: Arguments) -> None:
        a.put(**{parameter: read(described(a.rnnDesc))})


_setting("MatrixMathType", "cudnnMathType_t mType", "mathType", lambda rnn: rnn.math_type)
_setting("BiasMode", "cudnnRNNBiasMode_t biasMode", "biasMode", lambda rnn: rnn.bias)
_setting("PaddingMode", "unsigned paddingMode", "auxFlags", lambda r: _PADDED if r.padded_io else 0)


@implements(
    """
    cudnnSetRNNProjectionLayers(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    const int recProjSize, const int outProjSize)
    """
)
def set_projection(a: Arguments) -> None:
    if a.outProjSize:
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, "outProjSize: cuDNN never supported it")
    change(a.rnnDesc, projSize=a.recProjSize or described(a.rnnDesc).hidden_size)


@implements(
    """
    cudnnGetRNNProjectionLayers(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    int *recProjSize, int *outProjSize)
    """
)
def get_projection(a: Arguments) -> None:
    rnn = described(a.rnnDesc)
    a.put(recProjSize=rnn.projection_size or rnn.hidden_size, outProjSize=0)


for _verb, _const in (("Set", ""), ("Get", "const ")):
    _clip = raw.FUNCTIONS[f"cudnnRNN{_verb}Clip_v8"]
    _first_two = f"cudnnHandle_t handle, {_const}cudnnRNNDescriptor_t rnnDesc"
    _declared = parameters_of(_clip.__name__, rnnDesc=_first_two)
    implements(f"cudnnRNN{_verb}Clip({_declared})")(partial(Arguments.call, function=_clip))


@implements(
    """
    cudnnSetRNNAlgorithmDescriptor(cudnnHandle_t handle, cudnnRNNDescriptor_t rnnDesc,
    cudnnAlgorithmDescriptor_t algoDesc)
    """
)
def set_algorithm(a: Arguments) -> None:
    number = held_object(a.algoDesc, "algoDesc").algo.RNNAlgo
    change(a.rnnDesc, algo=raw.cudnnRNNAlgo_t(number))


# -- sequences ---------------------------------------------------------------------------------


def tensor(descriptor: Any, name: str) -> Tensor:
    """The record of a tensor descriptor; refused if it is not (batch, size, 1)."""
    held = record(descriptor)
    if held is None or len(held.shape) < 2:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} must be (batch, size, 1), got {held!r}")
    assert isinstance(held, Tensor)
    return held


@contextmanager
def sequences(descriptors: list[Any] | None, steps: int, name: str) -> Iterator[Any]:
    """A descriptor of sequences, created from one tensor descriptor per time step.

    The batch of a step may be smaller than the previous step's, never larger: shorter sequences
    come last. The steps follow each other in memory, as in the packed layout.
    """
    if descriptors is None or steps < 1 or len(descriptors) < steps:
        count = 0 if descriptors is None else len(descriptors)
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"{name}: {count} descriptors for {steps} time steps"
        )
    tensors = [tensor(each, f"{name}[{step}]") for step, each in enumerate(descriptors[:steps])]
    batches = [each.shape[0] for each in tensors]
    if batches != sorted(batches, reverse=True):
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"{name}: the batch must never grow, got {batches}"
        )
    if len({(each.shape[1], each.data_type) for each in tensors}) > 1:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name}: time steps differ in size or data type")
    lengths = [sum(batch > index for batch in batches) for index in range(batches[0])]
    data = raw.cudnnRNNDataDescriptor_t()
    raw.cudnnCreateRNNDataDescriptor(data)
    try:
        raw.cudnnSetRNNDataDescriptor(
            data,
            tensors[0].data_type,
            raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED,
            steps,
            batches[0],
            tensors[0].shape[1],
            lengths,
            None,
        )
        yield data
    finally:
        raw.cudnnDestroyRNNDataDescriptor(data)


# -- sizes -------------------------------------------------------------------------------------

_TEMPORARY = """(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int seqLength,
    const cudnnTensorDescriptor_t xDesc[], size_t *sizeInBytes)"""


def _temporary_sizes(a: Arguments) -> tuple[int, int, int]:
    """Bytes of the workspaces for inference and for training, and of the reserve space."""
    a.require("sizeInBytes")
    sizes: list[int] = []
    with sequences(a.xDesc, a.seqLength, "xDesc") as data:
        first = tensor(a.xDesc[0], "xDesc[0]")
        settle(a.handle, a.rnnDesc, first.data_type, first.shape[1], first.shape[0])
        for mode in (raw.CUDNN_FWD_MODE_INFERENCE, raw.CUDNN_FWD_MODE_TRAINING):
            work, reserve = c_size_t(), c_size_t()
            raw.cudnnGetRNNTempSpaceSizes(a.handle, a.rnnDesc, mode, data, work, reserve)
            sizes += [work.value, reserve.value]
    return sizes[0], sizes[2], sizes[3]


@implements(f"cudnnGetRNNWorkspaceSize{_TEMPORARY}")
def workspace_size(a: Arguments) -> None:
    inference, training, _ = _temporary_sizes(a)
    a.put(sizeInBytes=max(inference, training))  # one workspace was for both


@implements(f"cudnnGetRNNTrainingReserveSize{_TEMPORARY}")
def reserve_size(a: Arguments) -> None:
    a.put(sizeInBytes=_temporary_sizes(a)[2])


@implements(
    """
    cudnnGetRNNParamsSize(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc,
    const cudnnTensorDescriptor_t xDesc, size_t *sizeInBytes, cudnnDataType_t dataType)
    """
)
def parameters_size(a: Arguments) -> None:
    a.require("sizeInBytes")
    settle(a.handle, a.rnnDesc, a.dataType, tensor(a.xDesc, "xDesc").shape[1])
    size = c_size_t()
    raw.cudnnGetRNNWeightSpaceSize(a.handle, a.rnnDesc, size)
    a.put(sizeInBytes=size.value)


# -- places of weights -------------------------------------------------------------------------

_WHERE = """(cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, const int pseudoLayer,
    const cudnnTensorDescriptor_t xDesc, const cudnnFilterDescriptor_t wDesc, const void *w,
    const int linLayerID, cudnnFilterDescriptor_t {0}Desc, void **{0})"""


def weight_bytes(descriptor: Any, name: str) -> int:
    """Bytes of the weights that a filter descriptor describes."""
    filters = record(descriptor)
    if filters is None:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL, or was created but never set")
    assert isinstance(filters, Filter)
    from ....dtypes import element_bits

    count = 1
    for size in filters.shape:
        count *= size
    return count * element_bits(filters.data_type) // 8


@implements(f"cudnnGetRNNLinLayerMatrixParams{_WHERE.format('linLayerMat')}")
def matrix_parameters(a: Arguments) -> None:
    _where(a, a.linLayerMatDesc, "linLayerMat", "matrix")


@implements(f"cudnnGetRNNLinLayerBiasParams{_WHERE.format('linLayerBias')}")
def bias_parameters(a: Arguments) -> None:
    _where(a, a.linLayerBiasDesc, "linLayerBias", "bias")


def _where(a: Arguments, descriptor: Any, name: str, kind: str) -> None:
    """Write a weight's shape (1, rows, columns) and address; NULL for an absent weight."""
    a.require(name)
    x = tensor(a.xDesc, "xDesc")
    settle(a.handle, a.rnnDesc, x.data_type, x.shape[1])
    found = {"matrix": raw.cudnnTensorDescriptor_t(), "bias": raw.cudnnTensorDescriptor_t()}
    address = {"matrix": c_void_p(), "bias": c_void_p()}
    for each in found.values():
        raw.cudnnCreateTensorDescriptor(each)
    try:
        raw.cudnnGetRNNWeightParams(
            a.handle,
            a.rnnDesc,
            a.pseudoLayer,
            weight_bytes(a.wDesc, "wDesc"),
            a.w,
            a.linLayerID,
            found["matrix"],
            address["matrix"],
            found["bias"],
            address["bias"],
        )
        if address[kind].value:
            shape = tensor(found[kind], kind).shape
            nchw = raw.CUDNN_TENSOR_NCHW
            raw.cudnnSetFilterNdDescriptor(descriptor, x.data_type, nchw, len(shape), shape)
        a.put(**{name: address[kind].value})
    finally:
        for each in found.values():
            raw.cudnnDestroyTensorDescriptor(each)


# -- plans -------------------------------------------------------------------------------------


@implements(
    """
    cudnnCreatePersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, const int minibatch,
    const cudnnDataType_t dataType, cudnnPersistentRNNPlan_t *plan)
    """
)
def create_plan(a: Arguments) -> None:
    """Create a plan; the first call that knows the sizes compiles the kernels for its batch."""
    a.require("plan")
    if described(a.rnnDesc).algorithm != raw.CUDNN_RNN_ALGO_PERSIST_DYNAMIC:
        reason = "rnnDesc: a plan is for CUDNN_RNN_ALGO_PERSIST_DYNAMIC"
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)
    if a.minibatch < 1:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"minibatch = {a.minibatch} is less than 1")
    create_object(a.plan, (a.minibatch, a.dataType))


@implements(
    "cudnnSetPersistentRNNPlan(cudnnRNNDescriptor_t rnnDesc, cudnnPersistentRNNPlan_t plan)"
)
def set_plan(a: Arguments) -> None:
    described(a.rnnDesc)
    held_object(a.plan, "plan")


@implements("cudnnDestroyPersistentRNNPlan(cudnnPersistentRNNPlan_t plan)")
def destroy_plan(a: Arguments) -> None:
    destroy_object(a.plan, "plan")


_STEPS = "const int seqLength, "
_OF_STEPS, _OF_SEQUENCES = "const cudnnTensorDescriptor_t {}[]", "const cudnnRNNDataDescriptor_t {}"
_TENSOR = "const cudnnTensorDescriptor_t {}"
_SPACES = "void *workSpace, size_t workSpaceSizeInBytes"
_RESERVE = "void *reserveSpace, size_t reserveSpaceSizeInBytes"
_BEGIN = "cudnnHandle_t handle, const cudnnRNNDescriptor_t rnnDesc, "


def _forward(name: str, ex: bool, training: bool) -> str:
    data = _OF_SEQUENCES if ex else _OF_STEPS
    reserved = (
        """, const cudnnRNNDataDescriptor_t kDesc, const void *keys,
        const cudnnRNNDataDescriptor_t cDesc, void *cAttn, const cudnnRNNDataDescriptor_t iDesc,
        void *iAttn, const cudnnRNNDataDescriptor_t qDesc, void *queries"""
        if ex
        else ""
    )
    return f"""{name}({_BEGIN}{"" if ex else _STEPS}{data.format("xDesc")}, const void *x,
        {_TENSOR.format("hxDesc")}, const void *hx, {_TENSOR.format("cxDesc")}, const void *cx,
        const cudnnFilterDescriptor_t wDesc, const void *w, {data.format("yDesc")}, void *y,
        {_TENSOR.format("hyDesc")}, void *hy, {_TENSOR.format("cyDesc")}, void *cy{reserved},
        {_SPACES}{", " + _RESERVE if training else ""})"""


def _backward_data(name: str, ex: bool) -> str:
    data = _OF_SEQUENCES if ex else _OF_STEPS
    attention = ", const cudnnRNNDataDescriptor_t dcDesc, const void *dcAttn" if ex else ""
    keys = ", const cudnnRNNDataDescriptor_t dkDesc, void *dkeys" if ex else ""
    return f"""{name}({_BEGIN}{"" if ex else _STEPS}{data.format("yDesc")}, const void *y,
        {data.format("dyDesc")}, const void *dy{attention}, {_TENSOR.format("dhyDesc")},
        const void *dhy, {_TENSOR.format("dcyDesc")}, const void *dcy,
        const cudnnFilterDescriptor_t wDesc, const void *w, {_TENSOR.format("hxDesc")},
        const void *hx, {_TENSOR.format("cxDesc")}, const void *cx, {data.format("dxDesc")},
        void *dx, {_TENSOR.format("dhxDesc")}, void *dhx, {_TENSOR.format("dcxDesc")},
        void *dcx{keys}, {_SPACES}, {_RESERVE})"""


def _backward_weights(name: str, ex: bool) -> str:
    data, const = (_OF_SEQUENCES, "") if ex else (_OF_STEPS, "const ")
    return f"""{name}({_BEGIN}{"" if ex else _STEPS}{data.format("xDesc")}, const void *x,
        {_TENSOR.format("hxDesc")}, const void *hx, {data.format("yDesc")}, const void *y,
        {const}{_SPACES}, const cudnnFilterDescriptor_t dwDesc, void *dw, {const}{_RESERVE})"""


@implements(
    _forward("cudnnRNNForwardInference", ex=False, training=False),
    _forward("cudnnRNNForwardInferenceEx", ex=True, training=False),
    _forward("cudnnRNNForwardTraining", ex=False, training=True),
    _forward("cudnnRNNForwardTrainingEx", ex=True, training=True),
)
def forward(a: Arguments) -> None:
    _refuse_reserved(a, "kDesc", "keys", "cDesc", "cAttn", "iDesc", "iAttn", "qDesc", "queries")
    training = "reserveSpace" in a
    mode = raw.CUDNN_FWD_MODE_TRAINING if training else raw.CUDNN_FWD_MODE_INFERENCE
    with _sequences(a, "xDesc", "yDesc") as (x_desc, y_desc):
        _settle(a, x_desc)
        a.call(
            raw.cudnnRNNForward,
            fwdMode=mode,
            xDesc=x_desc,
            yDesc=y_desc,
            hDesc=_first(a.hxDesc, a.hyDesc),
            cDesc=_first(a.cxDesc, a.cyDesc),
            **_spaces(a, a.wDesc, "wDesc"),
        )


@implements(
    _backward_data("cudnnRNNBackwardData", ex=False),
    _backward_data("cudnnRNNBackwardDataEx", ex=True),
)
def backward_data(a: Arguments) -> None:
    _refuse_reserved(a, "dcDesc", "dcAttn", "dkDesc", "dkeys")
    with _sequences(a, "dxDesc", "yDesc", "dyDesc") as (x_desc, y_desc, _):
        _settle(a, x_desc)
        a.call(
            raw.cudnnRNNBackwardData_v8,
            yDesc=y_desc,
            xDesc=x_desc,
            hDesc=_first(a.hxDesc, a.dhyDesc, a.dhxDesc),
            cDesc=_first(a.cxDesc, a.dcyDesc, a.dcxDesc),
            **_spaces(a, a.wDesc, "wDesc"),
        )


@implements(
    _backward_weights("cudnnRNNBackwardWeights", ex=False),
    _backward_weights("cudnnRNNBackwardWeightsEx", ex=True),
)
def backward_weights(a: Arguments) -> None:
    with _sequences(a, "xDesc", "yDesc") as (x_desc, y_desc):
        _settle(a, x_desc)
        a.call(
            raw.cudnnRNNBackwardWeights_v8,
            addGrad=raw.CUDNN_WGRAD_MODE_ADD,
            xDesc=x_desc,
            hDesc=a.hxDesc,
            yDesc=y_desc,
            **_spaces(a, a.dwDesc, "dwDesc"),
        )


def _spaces(a: Arguments, descriptor: Any, name: str) -> dict[str, Any]:
    """Weights and temporary memory under the names of cuDNN 9."""
    training = "reserveSpace" in a
    weights = {"dweightSpace": a.dw} if name == "dwDesc" else {"weightSpace": a.w}
    return {
        "devSeqLengths": None,
        "weightSpaceSize": weight_bytes(descriptor, name),
        **weights,
        "workSpaceSize": a.workSpaceSizeInBytes,
        "reserveSpaceSize": a.reserveSpaceSizeInBytes if training else 0,
        "reserveSpace": a.reserveSpace if training else None,
    }


@contextmanager
def _sequences(a: Arguments, *names: str) -> Iterator[list[Any]]:
    """The sequences' descriptors: arguments of an ...Ex function, or created for the call."""
    if "seqLength" not in a:
        yield [getattr(a, name) for name in names]
        return
    with ExitStack() as stack:
        steps = a.seqLength
        yield [stack.enter_context(sequences(getattr(a, name), steps, name)) for name in names]


def _settle(a: Arguments, x_desc: Any) -> None:
    x = record(x_desc)
    if x is None:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "xDesc is NULL, or was created but never set")
    settle(a.handle, a.rnnDesc, x.data_type, x.vector_size, x.batch_size)


def _first(*descriptors: Any) -> Any:
    """The first descriptor that is not NULL: all describe states of one shape."""
    return next((each for each in descriptors if each is not None and _set(each)), None)


def _set(descriptor: Any) -> bool:
    return bool(getattr(descriptor, "_as_parameter_", descriptor))


def _refuse_reserved(a: Arguments, *names: str) -> None:
    for name in names:
        if name in a and getattr(a, name) not in (None, 0) and _set(getattr(a, name)):
            reason = f"{name} is reserved: pass NULL"
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, reason)
