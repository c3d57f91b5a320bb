"""Records of element-wise operations, reductions, normalizations, losses, transforms, dropout."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_double, c_int, c_uint
from dataclasses import dataclass
from typing import Any

from ..constants import CUDNN_DIM_MAX
from ..enums import (
    CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
    cudnnCTCGradMode_t,
    cudnnDataType_t,
    cudnnFoldingDirection_t,
    cudnnIndicesType_t,
    cudnnLossNormalizationMode_t,
    cudnnNanPropagation_t,
    cudnnOpTensorOp_t,
    cudnnReduceTensorOp_t,
    cudnnSamplerType_t,
    cudnnTensorFormat_t,
)
from ..records import note, reader, record
from ..types import (
    cudnnCTCLossDescriptor_t,
    cudnnDropoutDescriptor_t,
    cudnnLRNDescriptor_t,
    cudnnOpTensorDescriptor_t,
    cudnnReduceTensorDescriptor_t,
    cudnnTensorTransformDescriptor_t,
)
from ..values import as_int
from .reading import ask, call, ints, pointers

Ints = tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpTensor:
    """An op tensor descriptor."""

    op: cudnnOpTensorOp_t
    compute_data_type: cudnnDataType_t
    nan_propagation: cudnnNanPropagation_t


@dataclass(frozen=True, slots=True)
class ReduceTensor:
    """A reduce tensor descriptor; `indices` says whether indices are asked for."""

    op: cudnnReduceTensorOp_t
    compute_data_type: cudnnDataType_t
    nan_propagation: cudnnNanPropagation_t
    indices: bool
    indices_type: cudnnIndicesType_t


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

    compute_data_type: cudnnDataType_t
    normalization: cudnnLossNormalizationMode_t
    gradient_mode: cudnnCTCGradMode_t
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
    direction: cudnnFoldingDirection_t
    format: cudnnTensorFormat_t


@dataclass(frozen=True, slots=True)
class SpatialTransformer:
    """A spatial transformer: `shape` is (N, C, H, W) of the output."""

    shape: Ints
    data_type: cudnnDataType_t
    sampler: cudnnSamplerType_t


@dataclass(frozen=True, slots=True)
class Dropout:
    """A dropout descriptor. `states` is the address of the generator's states, None for NULL."""

    rate: float
    seed: int
    states: int | None


@reader(cudnnOpTensorDescriptor_t)
def _op_tensor(descriptor: Any) -> OpTensor | None:
    op, compute_data_type, nan = c_int(), c_int(), c_int()
    code = call("cudnnGetOpTensorDescriptor", descriptor, *pointers(op, compute_data_type, nan))
    if code or not _set(cudnnOpTensorOp_t(op.value), cudnnDataType_t(compute_data_type.value)):
        return None
    return OpTensor(
        cudnnOpTensorOp_t(op.value),
        cudnnDataType_t(compute_data_type.value),
        cudnnNanPropagation_t(nan.value),
    )


@reader(cudnnReduceTensorDescriptor_t)
def _reduce_tensor(descriptor: Any) -> ReduceTensor | None:
    op, compute_data_type, nan, indices, indices_type = (c_int() for _ in range(5))
    about = pointers(op, compute_data_type, nan, indices, indices_type)
    code = call("cudnnGetReduceTensorDescriptor", descriptor, *about)
    if code or not _set(cudnnReduceTensorOp_t(op.value), cudnnDataType_t(compute_data_type.value)):
        return None
    return ReduceTensor(
        cudnnReduceTensorOp_t(op.value),
        cudnnDataType_t(compute_data_type.value),
        cudnnNanPropagation_t(nan.value),
        indices.value == CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
        cudnnIndicesType_t(indices_type.value),
    )


def _set(*members: Any) -> bool:
    """Whether all are known enum members; a descriptor that was never set holds garbage."""
    return all(member.known for member in members)


@reader(cudnnLRNDescriptor_t)
def _lrn(descriptor: Any) -> LRN | None:
    n, alpha, beta, k = c_uint(), c_double(), c_double(), c_double()
    if call("cudnnGetLRNDescriptor", descriptor, *pointers(n, alpha, beta, k)):
        return None
    return LRN(n.value, alpha.value, beta.value, k.value)


@reader(cudnnCTCLossDescriptor_t)
def _ctc_loss(descriptor: Any) -> CTCLoss | None:
    compute_data_type, normalization, gradient_mode, longest = (c_int() for _ in range(4))
    about = pointers(compute_data_type, normalization, gradient_mode, longest)
    if call("cudnnGetCTCLossDescriptor_v9", descriptor, *about):
        return None
    return CTCLoss(
        cudnnDataType_t(compute_data_type.value),
        cudnnLossNormalizationMode_t(normalization.value),
        cudnnCTCGradMode_t(gradient_mode.value),
        longest.value,
    )


@reader(cudnnTensorTransformDescriptor_t)
def _tensor_transform(descriptor: Any, n: int = CUDNN_DIM_MAX) -> TensorTransform | None:
    layout, direction = cudnnTensorFormat_t(), cudnnFoldingDirection_t()
    before, after, fold = ints(n), ints(n), (ctypes.c_uint * max(n - 2, 1))()
    pads = (byref(layout), before, after, fold)
    if ask("cudnnGetTensorTransformDescriptor", descriptor, n, *pads, byref(direction)):
        return None
    return TensorTransform(
        tuple(before), tuple(after), tuple(fold[: n - 2]), direction.value, layout.value
    )


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
    transformer = SpatialTransformer(sizes, cudnnDataType_t(data_type), cudnnSamplerType_t(sampler))
    note(descriptor, transformer)


@reader(cudnnDropoutDescriptor_t)
def _dropout(descriptor: Any, handle: Any = None) -> Dropout | None:
    """The record, or None without a handle: cuDNN needs one, so it is read when it was set."""
    rate, states, seed = ctypes.c_float(), ctypes.c_void_p(), ctypes.c_ulonglong()
    handle = getattr(handle, "_as_parameter_", handle)
    if handle is None or ask(
        "cudnnGetDropoutDescriptor", descriptor, handle, *pointers(rate, states, seed)
    ):
        return None
    return Dropout(rate.value, seed.value, states.value)


def note_dropout(descriptor: Any, handle: Any, *_: Any) -> None:
    """Read a dropout descriptor's record after a call set it, while a handle is at hand."""
    record(descriptor, handle)
