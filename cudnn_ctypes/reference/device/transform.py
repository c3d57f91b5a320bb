"""Tensor transforms on the reference device: descriptors, and padding and folding.

`cudnnSetTensorTransformDescriptor` and `cudnnInitTransformDest` take no handle, yet without a
driver they fail: libcudnn (9.28) loads its engines for them, which need a driver. So the values of
a transform descriptor are kept here, by its address. Statuses of these two are cuDNN 9.28's.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ... import raw
from ...dtypes import vector_length
from ...raw import descriptors
from ...raw.descriptors import Tensor
from ...raw.operand_rules.language import FLOATING, apart, shaped, typed
from ...raw.strides import is_packed, layout_order, packed
from ..arithmetic import blend
from ..transform import TensorTransform, transform_tensor, transformed_shape
from .call import Call
from .memory import Operand
from .registry import Refused, bad_param, implements, not_supported

_TYPES = (*FLOATING, raw.CUDNN_DATA_INT8)
_PLAIN_TYPES = (*_TYPES, raw.CUDNN_DATA_INT8x4)
_HALVES = {raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16}
_MOST_DIMENSIONS = 8
_MOST_DESTINATION_DIMENSIONS = 5


@dataclass
class _Held:
    """The values of a transform descriptor; a new descriptor transforms nothing."""

    layout: int = 0
    direction: int = 0
    before: list[int] = field(default_factory=lambda: [0] * _MOST_DIMENSIONS)
    after: list[int] = field(default_factory=lambda: [0] * _MOST_DIMENSIONS)
    fold: list[int] = field(default_factory=lambda: [0] * (_MOST_DIMENSIONS - 2))

    def arrays(self, count: int) -> tuple[tuple[str, list[int], int], ...]:
        """C's names of the arrays, the arrays, and their lengths for `count` dimensions."""
        return (
            ("padBeforeA", self.before, count),
            ("padAfterA", self.after, count),
            ("foldA", self.fold, count - 2),
        )


_held: dict[int, _Held] = {}  # by the descriptor's address


# -- the descriptor ----------------------------------------------------------------------------


@implements("cudnnCreateTensorTransformDescriptor")
def created(call: Call) -> None:
    # An earlier descriptor may have had this address.
    _held.pop(call["transformDesc"].contents.value, None)


@implements("cudnnDestroyTensorTransformDescriptor")
def destroy(call: Call) -> int:
    _held.pop(call["transformDesc"].value, None)
    return call.native()


@implements("cudnnSetTensorTransformDescriptor")
def set_descriptor(call: Call) -> None:
    """Set the values; NULL arrays, and dimensions from nbDims on, keep their previous values."""
    call.require("transformDesc")
    count, layout = call["nbDims"], call["destFormat"]
    if count < 2:
        raise bad_param(f"nbDims = {count} is less than 2")
    if count > _MOST_DIMENSIONS or layout > raw.CUDNN_TENSOR_NCHW_VECT_C:
        raise not_supported(f"nbDims = {count}, destFormat = {layout}")
    transform = _held.setdefault(call["transformDesc"].value, _Held())
    transform.layout, transform.direction = (
        layout,
        int(call["direction"] != raw.CUDNN_TRANSFORM_FOLD),
    )
    for name, array, length in transform.arrays(count):
        if call[name]:
            array[:length] = call[name][:length]


@implements("cudnnGetTensorTransformDescriptor")
def get_descriptor(call: Call) -> int | None:
    call.require("transformDesc")
    held, count = _held.get(call["transformDesc"].value), call["nbDimsRequested"]
    if held is None:  # set on a GPU, or never
        return call.native()
    if not 2 < count <= _MOST_DIMENSIONS:
        raise bad_param(f"nbDimsRequested = {count} is not from 3 to 8")
    call.offer(destFormat=held.layout, direction=held.direction)
    for name, array, length in held.arrays(count):
        if call[name]:
            for index in range(length):
                call[name][index] = array[index]
    return None


@implements("cudnnInitTransformDest")
def init_destination(call: Call) -> None:
    """The destination is dense, in the descriptor's layout; of at most 5 dimensions."""
    call.require("destDesc")
    source = call.record("srcDesc", Tensor)
    described = call.record("transformDesc", descriptors.TensorTransform)
    layout, ndim = described.format, len(source.shape)
    if layout == raw.CUDNN_TENSOR_NCHW_VECT_C or ndim > _MOST_DESTINATION_DIMENSIONS:
        raise not_supported(f"a destination of {ndim} dimensions in {layout.name}")
    shape = _transformed(source.shape, _plain(described, ndim))
    if vector_length(source.data_type) > 1 and layout == raw.CUDNN_TENSOR_NCHW:
        layout = raw.CUDNN_TENSOR_NCHW_VECT_C  # vectors stay vectors
    _set_dense(call["destDesc"], layout, source.data_type, shape)
    if call["destSizeInBytes"]:
        raw.cudnnGetTensorSizeInBytes.unchecked(call["destDesc"], call["destSizeInBytes"])


def _set_dense(
    descriptor: Any,
    layout: raw.cudnnTensorFormat_t,
    data_type: raw.cudnnDataType_t,
    shape: tuple[int, ...],
) -> None:
    if layout == raw.CUDNN_TENSOR_NCHW_VECT_C:
        status = raw.cudnnSetTensorNdDescriptorEx.unchecked(
            descriptor, layout, data_type, len(shape), shape
        )
    else:
        order = layout_order("nhwc" if layout == raw.CUDNN_TENSOR_NHWC else "nchw", len(shape))
        status = raw.cudnnSetTensorNdDescriptor.unchecked(
            descriptor, data_type, len(shape), shape, packed(shape, order)
        )
    if status != raw.CUDNN_STATUS_SUCCESS:
        raise Refused(status, f"destDesc cannot be set to {shape} {data_type.name}")


# -- the operations ----------------------------------------------------------------------------


@implements("cudnnTransformTensorEx", "cudnnTransformFilter")
def transform(call: Call) -> None:
    """dest = alpha * transform(src) + beta * dest, of `transformed_shape`."""
    source, target = call.operands("srcData", "destData")
    shape = source.shape
    described = call.record("transDesc", descriptors.TensorTransform)
    transform = _plain(described, len(shape))
    if vector_length(source.data_type) == 1:
        call.refuse(apart(source))
    folded = max(transform.fold, default=1) > 1
    unfolds = folded and transform.direction == "unfold"
    factors = call.factors()
    # Out of DOUBLE cuDNN takes beta for 0.
    turns = raw.CUDNN_DATA_DOUBLE == source.data_type != target.data_type
    adds = factors["beta"] != 0 and not turns
    pads = not unfolds and max(transform.pad_before + transform.pad_after) > 0
    shifts = not any(map(sum, zip(transform.pad_before, transform.pad_after, strict=True)))
    if adds and pads and not shifts and not vector_length(source.data_type) > 1:
        raise not_supported("a transform that pads needs a beta of 0")
    for operand in (source, target):
        if vector_length(operand.data_type) > 1 and not (unfolds and any(transform.pad_after)):
            call.refuse(typed("transform", operand, _TYPES if folded else _PLAIN_TYPES))
    if {source.data_type, target.data_type} == _HALVES:
        raise not_supported("cuDNN does not transform HALF to BFLOAT16 or back")
    dense = is_packed(source) or is_packed(source, "nhwc")
    if folded and len(shape) != 4 and not dense:
        raise not_supported(f"folding needs a dense srcDesc, strides are {source.strides}")
    wanted = _transformed(shape, transform)
    call.refuse(shaped(target, wanted, f"that of {source.name} transformed"))
    plain = not folded and wanted == shape
    for operand in (source, target):
        call.refuse(typed("transform", operand, _PLAIN_TYPES if plain else _TYPES))
    if adds and _fills(transform, shape):
        raise not_supported("a transform that pads, or crops and folds, needs a beta of 0")
    if _turns(source, target, transform, described.format):
        raise not_supported(f"cuDNN does not turn a {described.format.name} into other layouts so")
    target.keep_apart(source)
    target.store(
        blend(
            transform_tensor(source.load(), transform).astype(source.accumulation_dtype),
            target.prior(factors["beta"]),
            out_dtype=target.dtype,
            name="destData",
            **factors,
        )
    )


def _turns(
    source: Operand, target: Operand, transform: TensorTransform, format: raw.cudnnTensorFormat_t
) -> bool:
    """Whether the target has the other layout than `format`, and cuDNN refuses that (9.19)."""
    first = format == raw.CUDNN_TENSOR_NCHW
    wanted, other = ("nchw", "nhwc") if first else ("nhwc", "nchw")
    if is_packed(target, wanted) or not is_packed(target, other):
        return False
    plain, ndim = is_packed(source), len(source.shape)
    batch, channels, *sizes = map(any, zip(transform.pad_before, transform.pad_after, strict=True))
    folded, of_format = max(transform.fold, default=1) > 1, first == plain
    if folded and transform.direction == "unfold":
        held = ndim == 4 and not (batch or channels or first or plain)
        return held and is_packed(source, "nhwc")
    if not (batch or channels) and plain and (folded or any(sizes)):
        return ndim == 4
    if folded or not of_format or not is_packed(source, wanted):
        return False
    return (batch or any(sizes) or (channels and not first)) and (ndim == 4 or not any(sizes))


def _transformed(shape: tuple[int, ...], transform: TensorTransform) -> tuple[int, ...]:
    try:
        return transformed_shape(shape, transform)
    except ValueError as error:
        raise bad_param(str(error)) from None


def _fills(transform: TensorTransform, shape: tuple[int, ...]) -> bool:
    """Whether cuDNN adds nothing to what was there: it pads, fills blocks, or crops and folds."""
    folded = max(transform.fold, default=1) > 1
    if (folded and transform.direction == "unfold") or (
        not folded and transformed_shape(shape, transform) == shape
    ):
        return False
    padding = zip(shape, transform.pad_before, transform.pad_after, strict=True)
    sizes = [size + before + after for size, before, after in padding][2:]
    fills_blocks = any(n % max(1, f) for n, f in zip(sizes, transform.fold, strict=True))
    pads = transform.pad_before + transform.pad_after
    return fills_blocks or max(pads) > 0 or (folded and min(pads) < 0)


def _plain(described: descriptors.TensorTransform, ndim: int) -> TensorTransform:
    """A descriptor for tensors of `ndim` dimensions, as the formulas take it."""
    unfold = described.direction == raw.CUDNN_TRANSFORM_UNFOLD
    return TensorTransform(
        described.pad_before[:ndim],
        described.pad_after[:ndim],
        described.fold[: ndim - 2],
        "unfold" if unfold else "fold",
    )
