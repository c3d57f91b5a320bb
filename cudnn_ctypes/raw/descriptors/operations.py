"""Records of element-wise operations, reductions, normalizations, losses, transforms, dropout."""

from __future__ import annotations

from ctypes import c_int, c_uint
from dataclasses import dataclass
from typing import Any

from .. import enums, types
from ..constants import CUDNN_DIM_MAX
from ..records import note, reader, record
from ..values import as_int
from .reading import check_set, read

Ints = tuple[int, ...]


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
