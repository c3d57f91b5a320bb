"""The contents of descriptors: one immutable record class per kind, and its only reader.

A record is read from C once. Every call through ``raw`` of a C function that may change a
descriptor drops its record, also when the call fails:

>>> from cudnn_ctypes import raw
>>> descriptor = raw.cudnnTensorDescriptor_t()
>>> raw.cudnnCreateTensorDescriptor(descriptor)
cudnnStatus_t.CUDNN_STATUS_SUCCESS
>>> raw.cudnnSetTensor4dDescriptor(
...     descriptor, raw.CUDNN_TENSOR_NHWC, raw.CUDNN_DATA_HALF, 1, 3, 4, 5)
cudnnStatus_t.CUDNN_STATUS_SUCCESS
>>> record(descriptor).strides
(60, 1, 15, 3)
>>> raw.cudnnDestroyTensorDescriptor(descriptor)
cudnnStatus_t.CUDNN_STATUS_SUCCESS
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Callable, Mapping
from ctypes import byref, c_char, c_int, c_uint
from dataclasses import dataclass, field
from typing import Any

from . import constants, enums, live, log, types
from .bare import bare
from .call_source import answering
from .constants import CUDNN_DIM_MAX
from .function import binding, watched
from .layouts import vector_length
from .memory import memory_pointer
from .origins import POINTEES
from .process import Bounded
from .records import Unreadable, forget, note, reader
from .records import record as record
from .strides import packed
from .values import as_int


def _reading(name: str) -> Callable[..., Any]:
    bound = binding(name)
    scope = {"_watched": watched, "_bare": bare, "_bound": bound, "_failed": _failed}
    carrier = f"(_bound.unchecked if {name!r} in _watched else _bare.{name})"
    return answering(bound, carrier, scope)


def _failed(code: int) -> None:
    if log.logged:  # the messages are no reasons of the next call
        log.forget()
    raise Unreadable


read: Bounded[str, Callable[..., Any]] = Bounded(_reading)
"""``read[name](...)`` is a tuple of what a get function writes, given its other arguments.

The reference device may intercept the function. Unreadable is raised if it refuses.
"""


def call(name: str, *arguments: Any) -> int:
    """Call a C function without checking its arguments and unseen by watchers; return its status.

    Messages that cuDNN logs for a refusal are dropped: they are not reasons of the next call.
    """
    code: int = getattr(bare, name)(*arguments)
    if code and log.logged:
        log.forget()
    return code


def check_set(is_set: object) -> None:
    """Raise Unreadable if values are those of a descriptor that was never set."""
    if not is_set:
        raise Unreadable


# -- tensors, filters, convolutions, poolings, activations -------------------------------------

Ints = tuple[int, ...]

_MOST_SPATIAL = CUDNN_DIM_MAX - 2  # cuDNN refuses requests for more


@dataclass(frozen=True, slots=True)
class Tensor:
    """A tensor descriptor.

    - `shape`: (N, C, spatial...). C counts single channels, also for vectorised types.
    - `strides`: in elements; in vectors for vectorised types, whose channel stride is the step from
      one vector of channels to the next.
    - `size_in_bytes`: bytes from the first element to the last.
    """

    data_type: enums.cudnnDataType_t
    shape: Ints
    strides: Ints
    size_in_bytes: int = field(default=0, repr=False)


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter descriptor; `shape` is (K, C / groups, spatial...)."""

    data_type: enums.cudnnDataType_t
    format: enums.cudnnTensorFormat_t
    shape: Ints
    size_in_bytes: int = field(default=0, repr=False)

    @property
    def strides(self) -> Ints:
        """Strides in elements, in vectors for vectorised types; a filter is always packed."""
        filters, channels, *sizes = self.shape
        dims = [filters, channels // vector_length(self.data_type), *sizes]
        order = list(range(len(dims)))
        if self.format == enums.CUDNN_TENSOR_NHWC:
            order = [0, *order[2:], 1]
        return packed(dims, order)


@dataclass(frozen=True, slots=True)
class Convolution:
    """A convolution descriptor; `padding`, `stride` and `dilation` hold one int per dimension."""

    padding: Ints
    stride: Ints
    dilation: Ints
    groups: int
    mode: enums.cudnnConvolutionMode_t
    compute_data_type: enums.cudnnDataType_t
    math_type: enums.cudnnMathType_t
    reorder_type: enums.cudnnReorderType_t


@dataclass(frozen=True, slots=True)
class Pooling:
    """A pooling descriptor; `window`, `padding` and `stride` hold one int per dimension."""

    window: Ints
    padding: Ints
    stride: Ints
    mode: enums.cudnnPoolingMode_t
    nan_propagation: enums.cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class Activation:
    """An activation descriptor; `coef` is the ceiling of clipped ReLU and ELU's alpha."""

    mode: enums.cudnnActivationMode_t
    nan_propagation: enums.cudnnNanPropagation_t
    coef: float
    swish_beta: float


@reader(types.cudnnTensorDescriptor_t)
def _tensor(descriptor: Any) -> Tensor:
    data_type, n, shape, strides = read["cudnnGetTensorNdDescriptor"](descriptor, CUDNN_DIM_MAX)
    check_set(n)
    (size,) = read["cudnnGetTensorSizeInBytes"](descriptor)
    return Tensor(data_type, shape[:n], strides[:n], size)


@reader(types.cudnnFilterDescriptor_t)
def _filter(descriptor: Any) -> Filter:
    data_type, layout, n, shape = read["cudnnGetFilterNdDescriptor"](descriptor, CUDNN_DIM_MAX)
    check_set(n)
    return Filter(data_type, layout, shape[:n], *read["cudnnGetFilterSizeInBytes"](descriptor))


@reader(types.cudnnConvolutionDescriptor_t)
def _convolution(descriptor: Any) -> Convolution:
    n, padding, stride, dilation, *enumerators = read["cudnnGetConvolutionNdDescriptor"](
        descriptor, _MOST_SPATIAL
    )
    check_set(n)
    (groups,) = read["cudnnGetConvolutionGroupCount"](descriptor)
    enumerators += read["cudnnGetConvolutionMathType"](descriptor)
    enumerators += read["cudnnGetConvolutionReorderType"](descriptor)
    return Convolution(padding[:n], stride[:n], dilation[:n], groups, *enumerators)


@reader(types.cudnnPoolingDescriptor_t)
def _pooling(descriptor: Any) -> Pooling:
    mode, nan, n, window, padding, stride = read["cudnnGetPoolingNdDescriptor"](
        descriptor, _MOST_SPATIAL
    )
    check_set(0 < n <= _MOST_SPATIAL)
    return Pooling(window[:n], padding[:n], stride[:n], mode, nan)


@reader(types.cudnnActivationDescriptor_t)
def _activation(descriptor: Any) -> Activation:
    """The values are garbage if it was never set."""
    mode, *others = read["cudnnGetActivationDescriptor"](descriptor)
    check_set(mode.known)
    return Activation(mode, *others, *read["cudnnGetActivationDescriptorSwishBeta"](descriptor))


# -- element-wise operations, reductions, normalizations, losses, transforms, dropout ----------


@dataclass(frozen=True, slots=True)
class OpTensor:
    """An op tensor descriptor."""

    op: enums.cudnnOpTensorOp_t
    compute_data_type: enums.cudnnDataType_t
    nan_propagation: enums.cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class ReduceTensor:
    """A reduce tensor descriptor; `indices` says whether indices are asked for."""

    op: enums.cudnnReduceTensorOp_t
    compute_data_type: enums.cudnnDataType_t
    nan_propagation: enums.cudnnNanPropagation_t
    indices: bool
    indices_type: enums.cudnnIndicesType_t


@dataclass(frozen=True, slots=True)
class LRN:
    """A local response normalization; a new descriptor holds cuDNN's defaults."""

    n: int
    alpha: float
    beta: float
    k: float


@dataclass(frozen=True, slots=True)
class CTCLoss:
    """A CTC loss; a new descriptor holds cuDNN's defaults."""

    compute_data_type: enums.cudnnDataType_t
    normalization: enums.cudnnLossNormalizationMode_t
    gradient_mode: enums.cudnnCTCGradMode_t
    max_label_length: int


@dataclass(frozen=True, slots=True)
class TensorTransform:
    """A tensor transform; a new descriptor transforms nothing.

    cuDNN has no function that returns the number of dimensions, so the guards note the calls that
    set it. `fold` has one entry per spatial dimension.
    """

    pad_before: Ints
    pad_after: Ints
    fold: Ints
    direction: enums.cudnnFoldingDirection_t
    format: enums.cudnnTensorFormat_t


@dataclass(frozen=True, slots=True)
class SpatialTransformer:
    """A spatial transformer: `shape` is (N, C, H, W) of the output."""

    shape: Ints
    data_type: enums.cudnnDataType_t
    sampler: enums.cudnnSamplerType_t


@dataclass(frozen=True, slots=True)
class Dropout:
    """A dropout descriptor. `states` is the address of the generator's states, None for NULL."""

    rate: float
    seed: int
    states: int | None


@reader(types.cudnnOpTensorDescriptor_t)
def _op_tensor(descriptor: Any) -> OpTensor:
    found = OpTensor(*read["cudnnGetOpTensorDescriptor"](descriptor))
    check_set(found.op.known and found.compute_data_type.known)
    return found


@reader(types.cudnnReduceTensorDescriptor_t)
def _reduce_tensor(descriptor: Any) -> ReduceTensor:
    op, compute_data_type, nan, indices, kind = read["cudnnGetReduceTensorDescriptor"](descriptor)
    check_set(op.known and compute_data_type.known)
    asked = indices == enums.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES
    return ReduceTensor(op, compute_data_type, nan, asked, kind)


@reader(types.cudnnLRNDescriptor_t)
def _lrn(descriptor: Any) -> LRN:
    return LRN(*read["cudnnGetLRNDescriptor"](descriptor))


@reader(types.cudnnCTCLossDescriptor_t)
def _ctc_loss(descriptor: Any) -> CTCLoss:
    return CTCLoss(*read["cudnnGetCTCLossDescriptor_v9"](descriptor))


@reader(types.cudnnTensorTransformDescriptor_t)
def _tensor_transform(descriptor: Any, n: int = CUDNN_DIM_MAX) -> TensorTransform:
    get = "cudnnGetTensorTransformDescriptor"
    layout, before, after, fold, direction = read[get](descriptor, n)
    return TensorTransform(before, after, fold, direction, layout)


def note_tensor_transform(descriptor: Any, count: Any, *_: Any) -> None:
    """Store a tensor transform's record, with the number of dimensions that the call set."""
    record(descriptor, as_int(count, c_uint))


def note_folding_transforms(handle: Any, filter_desc: Any, *others: Any) -> None:
    """Store the records of the four transforms that cuDNN sets, with the filters' dimensions."""
    for descriptor in others[-4:]:
        record(descriptor, len(record(filter_desc).shape))


def note_spatial_transformer(
    descriptor: Any, sampler: Any, data_type: Any, count: Any, shape: Any
) -> None:
    """Store the values set in a spatial transformer: C has no function that reads them."""
    sizes = tuple(int(size) for size in shape[: as_int(count, c_int)])
    data_type, sampler = (getattr(each, "value", each) for each in (data_type, sampler))
    transformer = SpatialTransformer(
        sizes, enums.cudnnDataType_t(data_type), enums.cudnnSamplerType_t(sampler)
    )
    note(descriptor, transformer)


@reader(types.cudnnDropoutDescriptor_t)
def _dropout(descriptor: Any, handle: Any = None) -> Dropout:
    """cuDNN needs a handle, so it is read when it was set."""
    check_set(handle is not None)
    handle = getattr(handle, "_as_parameter_", handle)
    rate, states, seed = read["cudnnGetDropoutDescriptor"](descriptor, handle)
    return Dropout(rate, seed, states)


def note_dropout(descriptor: Any, handle: Any, *_: Any) -> None:
    """Read a dropout descriptor's record after a call set it, while a handle is at hand."""
    record(descriptor, handle)


# -- recurrent networks, multi-head attention, their sequences ---------------------------------


@dataclass(frozen=True, slots=True)
class RNN:
    """An RNN descriptor.

    - `projection_size`: None without a projection.
    - `padded_io`: True if sequences may be padded or BATCH_MAJOR.
    - `dropout`: address of the dropout descriptor.
    - `clip`: limits of an LSTM's cell states.
    - `clip_nan_propagation`: the clip's result for NaN: NaN, or the lower limit.
    """

    cell: enums.cudnnRNNMode_t
    input_size: int
    hidden_size: int
    projection_size: int | None
    layers: int
    bidirectional: bool
    bias: enums.cudnnRNNBiasMode_t
    input_mode: enums.cudnnRNNInputMode_t
    data_type: enums.cudnnDataType_t
    compute_data_type: enums.cudnnDataType_t
    math_type: enums.cudnnMathType_t
    algorithm: enums.cudnnRNNAlgo_t
    padded_io: bool
    dropout: int | None
    clip: tuple[float, float] | None
    clip_nan_propagation: enums.cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class RNNData:
    """An RNN data descriptor: sequences of vectors.

    `max_length` is the longest possible length. `padding_fill` is the value stored behind shorter
    sequences; cuDNN reads 0 back if it was set to NULL.
    """

    lengths: tuple[int, ...]
    vector_size: int
    data_type: enums.cudnnDataType_t
    layout: enums.cudnnRNNDataLayout_t
    max_length: int
    padding_fill: float

    @property
    def memory_shape(self) -> tuple[int, ...]:
        """The shape of the memory: (T, B, size), (B, T, size) or (sum of lengths, size)."""
        if self.layout == enums.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_PACKED:
            return sum(self.lengths), self.vector_size
        if self.layout == enums.CUDNN_RNN_DATA_LAYOUT_BATCH_MAJOR_UNPACKED:
            return self.batch_size, self.max_length, self.vector_size
        return self.max_length, self.batch_size, self.vector_size

    @property
    def batch_size(self) -> int:
        """Number of sequences."""
        return len(self.lengths)


@reader(types.cudnnRNNDescriptor_t)
def _rnn(descriptor: Any) -> RNN:
    held = _named(
        "algorithm cell bias direction input_mode data_type compute_data_type math_type input_size "
        "hidden_size projection_size layers dropout flags",
        read["cudnnGetRNNDescriptor_v8"](descriptor),
    )
    clip_mode, nan, *clip = read["cudnnRNNGetClip_v8"](descriptor)
    if held["projection_size"] == held["hidden_size"]:
        held["projection_size"] = None
    return RNN(
        bidirectional=held.pop("direction") == enums.CUDNN_BIDIRECTIONAL,
        padded_io=bool(held.pop("flags") & constants.CUDNN_RNN_PADDED_IO_ENABLED),
        clip=tuple(clip) if clip_mode == enums.CUDNN_RNN_CLIP_MINMAX else None,
        clip_nan_propagation=nan,
        **held,
    )


@reader(types.cudnnRNNDataDescriptor_t)
def _rnn_data(descriptor: Any) -> RNNData:
    get, fill = "cudnnGetRNNDataDescriptor", (c_char * 8)()
    _, _, _, batch, *_ = read[get](descriptor, 0, fill)
    check_set(batch)
    data_type, layout, steps, _, size, lengths = read[get](descriptor, batch, fill)
    return RNNData(lengths, size, data_type, layout, steps, real_number(fill.raw, data_type))


def _named(names: str, values: Any) -> dict[str, Any]:
    return dict(zip(names.split(), values, strict=True))


def real_number(stored: bytes, data_type: enums.cudnnDataType_t) -> float:
    """The first bytes of `stored` as a number of a floating-point data type."""
    if data_type == enums.CUDNN_DATA_BFLOAT16:  # the upper half of a float
        stored, code = b"\0\0" + stored, "<f"
    else:
        code = {enums.CUDNN_DATA_DOUBLE: "<d", enums.CUDNN_DATA_HALF: "<e"}.get(data_type, "<f")
    number: float = struct.unpack_from(code, stored)[0]
    return number


@dataclass(frozen=True, slots=True)
class SequenceData:
    """A sequence data descriptor.

    - `shape`: (T, N, B, V).
    - `axes`: the order in memory, slowest axis first.
    - `lengths`: N * B lengths; the beams of the first batch entry come first.
    - `padding_fill`: the value for padding vectors, 0 if none was set; None for bfloat16, since
      cuDNN 9.28 refuses to return it.
    """

    shape: tuple[int, ...]
    data_type: enums.cudnnDataType_t
    axes: tuple[enums.cudnnSeqDataAxis_t, ...]
    lengths: tuple[int, ...]
    padding_fill: float | None

    @property
    def strides(self) -> tuple[int, ...]:
        """Strides in elements; the sequences are packed."""
        return packed(self.shape, self.axes)


@dataclass(frozen=True, slots=True)
class Attention:
    """An attention descriptor; a dropout is the address of its descriptor, None for NULL."""

    heads: int
    q_size: int
    k_size: int
    v_size: int
    q_projection: int
    k_projection: int
    v_projection: int
    o_projection: int
    qo_max_length: int
    kv_max_length: int
    max_batch: int
    max_beam: int
    scaler: float
    one_to_one: bool
    biases: bool
    data_type: enums.cudnnDataType_t
    compute_data_type: enums.cudnnDataType_t
    math_type: enums.cudnnMathType_t
    attention_dropout: int | None
    output_dropout: int | None

    @property
    def sizes(self) -> tuple[int, int, int]:
        """Lengths of the vectors of q, k and v."""
        return self.q_size, self.k_size, self.v_size

    @property
    def projections(self) -> tuple[int, int, int, int]:
        """Lengths to which q, k, v and out are projected; 0 for no projection."""
        return self.q_projection, self.k_projection, self.v_projection, self.o_projection

    @property
    def projected(self) -> tuple[int, int, int, int]:
        """Lengths of the vectors of q, k, v and out after their projections, if any."""
        v = self.v_projection or self.v_size
        return (
            self.q_projection or self.q_size,
            self.k_projection or self.k_size,
            v,
            self.o_projection or self.heads * v,
        )


@reader(types.cudnnSeqDataDescriptor_t)
def _sequence_data(descriptor: Any) -> SequenceData:
    get, count = "cudnnGetSeqDataDescriptor", constants.CUDNN_SEQDATA_DIM_COUNT
    data_type, *_, room, _ = read[get](descriptor, count, 0, None)
    check_set(room)
    fill = None if data_type == enums.CUDNN_DATA_BFLOAT16 else (c_char * 8)()
    _, _, shape, axes, _, lengths = read[get](descriptor, count, room, fill)
    padding_fill = None if fill is None else real_number(fill.raw, data_type)
    return SequenceData(shape, data_type, axes, lengths, padding_fill)


@reader(types.cudnnAttnDescriptor_t)
def _attention(descriptor: Any) -> Attention:
    held = _named(
        "mode heads scaler data_type compute_data_type math_type attention_dropout output_dropout "
        "q_size k_size v_size q_projection k_projection v_projection o_projection qo_max_length "
        "kv_max_length max_batch max_beam",
        read["cudnnGetAttnDescriptor"](descriptor),
    )
    check_set(held["heads"])
    mode = held.pop("mode")
    return Attention(
        one_to_one=bool(mode & constants.CUDNN_ATTN_QUERYMAP_ONE_TO_ONE),
        biases=bool(mode & constants.CUDNN_ATTN_ENABLE_PROJ_BIASES),
        **held,
    )


# -- packs and plans of fused operations -------------------------------------------------------
# cuDNN has no function that returns the operation of a pack or plan, the contents of a plan, or the
# contents of one operation's variant packs. So the guards note the calls that create, set and make
# them.


@dataclass(frozen=True, slots=True)
class ConstantPack:
    """A constant pack.

    - `held`: by C's labels without ``CUDNN_PARAM_``: records of descriptors, and ints for the mode
      and the placeholders. Labels that are not set are absent.
    """

    operation: enums.cudnnFusedOps_t
    held: Mapping[str, Any]

    @property
    def placeholders(self) -> dict[str, enums.cudnnFusedOpsPointerPlaceHolder_t]:
        """The placeholders of the pointers that will not be NULL, by labels of a variant pack.

        The labels are in lower case, without ``CUDNN_``.
        """
        return {
            f"ptr_{label.removesuffix('_PLACEHOLDER').lower()}": (
                enums.cudnnFusedOpsPointerPlaceHolder_t(value)
            )
            for label, value in self.held.items()
            if label.endswith("_PLACEHOLDER") and value
        }


@dataclass(frozen=True, slots=True)
class VariantPack:
    """A variant pack.

    - `held`: by C's labels without ``CUDNN_``: addresses, None for NULL, and numbers.
    """

    operation: enums.cudnnFusedOps_t
    held: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class FusedPlan:
    """A plan: `constants` is the constant pack it was made from, None for a plan not yet made."""

    operation: enums.cudnnFusedOps_t
    constants: ConstantPack | None


_operations: dict[int, enums.cudnnFusedOps_t] = {}  # by the address of a pack or a plan
_variants: dict[int, dict[str, Any]] = {}
_plans: dict[int, ConstantPack] = {}


def note_fused_operation(created: Any, operation: Any) -> None:
    """Store the operation for which a pack or a plan was created."""
    address = live.address(live.out_variable(created)) or 0
    _operations[address] = enums.cudnnFusedOps_t(getattr(operation, "value", operation))
    _variants[address] = {}


def note_fused_destroyed(destroyed: Any) -> None:
    """Drop the notes about a destroyed pack or plan: another may get its address."""
    address = live.address(destroyed) or 0
    for noted in (_operations, _variants, _plans):
        noted.pop(address, None)


def note_fused_plan(handle: Any, plan: Any, constants: Any, size: Any) -> None:
    """Store the constant pack from which a plan was made."""
    _plans[live.address(plan) or 0] = record(constants)
    forget(plan)


def note_fused_variant(pack: Any, label: Any, value: Any) -> None:
    """Store the value that a call set in a variant pack: an address, or the number pointed to."""
    label = enums.cudnnFusedOpsVariantParamLabel_t(getattr(label, "value", label))
    name = label.name.removeprefix("CUDNN_")
    if name.startswith("PTR_"):
        held: Any = memory_pointer(value, "ptr")
    else:
        kind = ctypes.c_double if "DOUBLE" in name else ctypes.c_int64
        given = binding("cudnnSetFusedOpsVariantParamPackAttribute").argtypes[2].from_param(value)
        address = ctypes.cast(given, ctypes.c_void_p).value
        held = None if address is None else kind.from_address(address).value
    _variants.setdefault(live.address(pack) or 0, {})[name] = held


@reader(types.cudnnFusedOpsVariantParamPack_t)
def _variant_pack(pack: Any) -> VariantPack:
    return VariantPack(_operation(pack), dict(_variants[pack.value]))


@reader(types.cudnnFusedOpsPlan_t)
def _plan(plan: Any) -> FusedPlan:
    return FusedPlan(_operation(plan), _plans.get(plan.value))


@reader(types.cudnnFusedOpsConstParamPack_t)
def _constants(pack: Any) -> ConstantPack:
    operation, held = _operation(pack), {}
    for label in enums.cudnnFusedOpsConstParamLabel_t:
        kind = POINTEES.get(label.name)
        value = _number(pack, label) if kind is None else _descriptor(pack, label, kind)
        if value is not None:
            held[label.name.removeprefix("CUDNN_PARAM_")] = value
    return ConstantPack(operation, held)


def _operation(noted: Any) -> enums.cudnnFusedOps_t:
    check_set(noted.value in _operations)
    return _operations[noted.value]


def _number(pack: Any, label: int) -> int | None:
    value = c_int()
    return value.value if _get(pack, label, byref(value)) else None


def _get(pack: Any, label: int, value: Any) -> bool:
    """Read what belongs to a label; False if it is not set."""
    is_null = c_int()
    name, about = "cudnnGetFusedOpsConstParamPackAttribute", (value, byref(is_null))
    return not (call(name, pack, int(label), *about) or is_null.value)


def _descriptor(pack: Any, label: int, kind: str) -> Any:
    """The record of the pack's descriptor, read from a copy that cuDNN makes of it."""
    copy, stem = getattr(types, kind)(), kind.removeprefix("cudnn").removesuffix("_t")
    if call(f"cudnnCreate{stem}", byref(copy)):
        return None
    try:
        return record(copy) if _get(pack, label, copy) else None
    finally:
        forget(copy)
        call(f"cudnnDestroy{stem}", copy)


# -- handles -----------------------------------------------------------------------------------


@reader(types.cudnnHandle_t)
def _stream(handle: Any) -> int:
    """Address of the stream, 0 for the legacy default stream."""
    (stream,) = read["cudnnGetStream"](handle)
    return stream or 0
