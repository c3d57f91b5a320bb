"""Tensor transforms on the reference device: descriptors, and padding and folding.

`cudnnSetTensorTransformDescriptor` and `cudnnInitTransformDest` take no handle, yet without a
driver they fail: libcudnn (9.28) loads its engines for them, which need one. So what a transform
descriptor holds is kept here, by its address. Statuses of these two are those of cuDNN 9.28.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from ... import raw
from ...dtypes import vector_length
from ...raw import descriptors
from ...raw.descriptors import Filter, Tensor
from ..arithmetic import blend
from ..layout import packed_strides
from ..transform import TensorTransform, transform_tensor, transformed_shape
from .agreement import FLOATING, accumulation_dtype, require_type
from .dispatch import Refused, follows, implements, native
from .held import read
from .memory import Operand, require, scalars

_TYPES = (*FLOATING, raw.CUDNN_DATA_INT8)
_PLAIN_TYPES = (*_TYPES, raw.CUDNN_DATA_INT8x4)
_MOST_DIMENSIONS = 8
_MOST_DESTINATION_DIMENSIONS = 5


@dataclass
class _Held:
    """What a descriptor holds; a new one transforms nothing."""

    layout: int = 0
    direction: int = 0
    before: list[int] = field(default_factory=lambda: [0] * _MOST_DIMENSIONS)
    after: list[int] = field(default_factory=lambda: [0] * _MOST_DIMENSIONS)
    fold: list[int] = field(default_factory=lambda: [0] * (_MOST_DIMENSIONS - 2))


_held: dict[int, _Held] = {}  # by the descriptor's address


# -- the descriptor ----------------------------------------------------------------------------


@follows("cudnnCreateTensorTransformDescriptor")
def created(transformDesc: Any) -> None:
    # An earlier descriptor may have had this address.
    address = getattr(transformDesc, "value", None) or transformDesc.contents.value
    _held.pop(address, None)


@implements("cudnnDestroyTensorTransformDescriptor")
def destroy(transformDesc: Any) -> Any:
    _held.pop(transformDesc.value, None)
    return native("cudnnDestroyTensorTransformDescriptor")(transformDesc)


@implements("cudnnSetTensorTransformDescriptor")
def set_descriptor(
    transformDesc: Any,
    nbDims: int,
    destFormat: raw.cudnnTensorFormat_t,
    padBeforeA: Any,
    padAfterA: Any,
    foldA: Any,
    direction: raw.cudnnFoldingDirection_t,
) -> None:
    """Arrays that are NULL, and dimensions from nbDims on, keep what was set before."""
    require(transformDesc=transformDesc)
    if nbDims < 2:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"nbDims = {nbDims} is less than 2")
    if nbDims > _MOST_DIMENSIONS or destFormat > raw.CUDNN_TENSOR_NCHW_VECT_C:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED, f"nbDims = {nbDims}, destFormat = {destFormat}"
        )
    held = _held.setdefault(transformDesc.value, _Held())
    held.layout, held.direction = destFormat, int(direction != raw.CUDNN_TRANSFORM_FOLD)
    for array, given, count in (
        (held.before, padBeforeA, nbDims),
        (held.after, padAfterA, nbDims),
        (held.fold, foldA, nbDims - 2),
    ):
        if given:
            array[:count] = given[:count]


@implements("cudnnGetTensorTransformDescriptor")
def get_descriptor(
    transformDesc: Any,
    nbDimsRequested: int,
    destFormat: Any,
    padBeforeA: Any,
    padAfterA: Any,
    foldA: Any,
    direction: Any,
) -> Any:
    require(transformDesc=transformDesc)
    held = _held.get(transformDesc.value)
    if held is None:  # set on a GPU, or never
        return native("cudnnGetTensorTransformDescriptor")(
            transformDesc, nbDimsRequested, destFormat, padBeforeA, padAfterA, foldA, direction
        )
    if not 2 < nbDimsRequested <= _MOST_DIMENSIONS:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM, f"nbDimsRequested = {nbDimsRequested} is not from 3 to 8"
        )
    for target, value in ((destFormat, held.layout), (direction, held.direction)):
        if target:
            target.contents.value = value
    for target, values, count in (
        (padBeforeA, held.before, nbDimsRequested),
        (padAfterA, held.after, nbDimsRequested),
        (foldA, held.fold, nbDimsRequested - 2),
    ):
        if target:
            for index in range(count):
                target[index] = values[index]
    return None


@implements("cudnnInitTransformDest")
def init_destination(transformDesc: Any, srcDesc: Any, destDesc: Any, destSizeInBytes: Any) -> None:
    """The destination is dense, in the descriptor's layout; of at most 5 dimensions."""
    require(destDesc=destDesc)
    source = read(Tensor, srcDesc, "srcDesc")
    described = read(descriptors.TensorTransform, transformDesc, "transformDesc")
    layout = described.format
    ndim = len(source.shape)
    if layout == raw.CUDNN_TENSOR_NCHW_VECT_C or ndim > _MOST_DESTINATION_DIMENSIONS:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"a destination of {ndim} dimensions in {layout.name}",
        )
    try:
        shape = transformed_shape(source.shape, _plain(described, ndim))
    except ValueError as error:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, str(error)) from None
    if vector_length(source.data_type) > 1 and layout == raw.CUDNN_TENSOR_NCHW:
        layout = raw.CUDNN_TENSOR_NCHW_VECT_C  # vectors stay vectors
    _set_dense(destDesc, layout, source.data_type, shape)
    if destSizeInBytes:
        raw.cudnnGetTensorSizeInBytes.unchecked(destDesc, destSizeInBytes)


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
        strides = packed_strides(shape, "NHWC" if layout == raw.CUDNN_TENSOR_NHWC else "NCHW")
        status = raw.cudnnSetTensorNdDescriptor.unchecked(
            descriptor, data_type, len(shape), shape, strides
        )
    if status != raw.CUDNN_STATUS_SUCCESS:
        raise Refused(status, f"destDesc cannot be set to {shape} {data_type.name}")


# -- the operations ----------------------------------------------------------------------------


@implements("cudnnTransformTensorEx")
def transform_tensor_ex(
    handle: Any,
    transDesc: Any,
    alpha: int | None,
    srcDesc: Any,
    srcData: int | None,
    beta: int | None,
    destDesc: Any,
    destData: int | None,
) -> None:
    source = Operand("srcData", read(Tensor, srcDesc, "srcDesc"), srcData)
    target = Operand("destData", read(Tensor, destDesc, "destDesc"), destData)
    _transform(transDesc, alpha, source, beta, target)


@implements("cudnnTransformFilter")
def transform_filter(
    handle: Any,
    transDesc: Any,
    alpha: int | None,
    srcDesc: Any,
    srcData: int | None,
    beta: int | None,
    destDesc: Any,
    destData: int | None,
) -> None:
    source = Operand("srcData", read(Filter, srcDesc, "srcDesc"), srcData)
    target = Operand("destData", read(Filter, destDesc, "destDesc"), destData)
    _transform(transDesc, alpha, source, beta, target)


def _transform(
    descriptor: Any, alpha: int | None, source: Operand, beta: int | None, target: Operand
) -> None:
    """dest = alpha * transform(src) + beta * dest, of `transformed_shape`."""
    require(srcData=source.address, destData=target.address)
    shape = source.described.shape
    transform = _plain(read(descriptors.TensorTransform, descriptor, "transDesc"), len(shape))
    try:
        wanted = transformed_shape(shape, transform)
    except ValueError as error:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, str(error)) from None
    if target.described.shape != wanted:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"destDesc must have the shape {wanted} for srcDesc {shape}, got "
            f"{target.described.shape}",
        )
    plain = max(transform.fold, default=1) <= 1 and wanted == shape
    for operand in (source, target):
        require_type(operand, _PLAIN_TYPES if plain else _TYPES, "transform")
    types = (source.described.data_type, target.described.data_type)
    scaling = raw.CUDNN_DATA_DOUBLE if raw.CUDNN_DATA_DOUBLE in types else types[1]
    factors = scalars(scaling, alpha=alpha, beta=beta)
    if factors["beta"] and _fills(transform, shape):
        raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, "a transform that pads needs a beta of 0")
    target.store(
        blend(
            transform_tensor(source.load(), transform).astype(accumulation_dtype(source)),
            target.prior(factors["beta"]),
            out_dtype=target.dtype,
            name="destData",
            **factors,
        )
    )


def _fills(transform: TensorTransform, shape: tuple[int, ...]) -> bool:
    """Whether cuDNN writes zeros apart from the rest: around it, or to fill blocks."""
    folded = max(transform.fold, default=1) > 1
    if (folded and transform.direction == "unfold") or (
        not folded and transformed_shape(shape, transform) == shape
    ):
        return False
    padding = zip(shape, transform.pad_before, transform.pad_after, strict=True)
    sizes = [size + before + after for size, before, after in padding][2:]
    fills_blocks = any(n % max(1, f) for n, f in zip(sizes, transform.fold, strict=True))
    return fills_blocks or max(transform.pad_before + transform.pad_after) > 0


def _plain(described: descriptors.TensorTransform, ndim: int) -> TensorTransform:
    """A descriptor for tensors of `ndim` dimensions, as the formulas take it."""
    unfold = described.direction == raw.CUDNN_TRANSFORM_UNFOLD
    return TensorTransform(
        described.pad_before[:ndim],
        described.pad_after[:ndim],
        described.fold[: ndim - 2],
        "unfold" if unfold else "fold",
    )
