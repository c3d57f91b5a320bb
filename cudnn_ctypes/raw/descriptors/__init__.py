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

from ..records import record
from . import handle as _handle  # noqa: F401  registers its reader
from .fused import (
    ConstantPack,
    FusedPlan,
    VariantPack,
    note_fused_destroyed,
    note_fused_operation,
    note_fused_plan,
    note_fused_variant,
)
from .images import Activation, Convolution, Filter, Pooling, Tensor
from .operations import (
    LRN,
    CTCLoss,
    Dropout,
    OpTensor,
    ReduceTensor,
    SpatialTransformer,
    TensorTransform,
    note_dropout,
    note_folding_transforms,
    note_spatial_transformer,
    note_tensor_transform,
)
from .recurrent import RNN, Attention, RNNData, SequenceData

__all__ = [
    "LRN",
    "RNN",
    "Activation",
    "Attention",
    "CTCLoss",
    "ConstantPack",
    "Convolution",
    "Dropout",
    "Filter",
    "FusedPlan",
    "OpTensor",
    "Pooling",
    "RNNData",
    "ReduceTensor",
    "SequenceData",
    "SpatialTransformer",
    "Tensor",
    "TensorTransform",
    "VariantPack",
    "note_dropout",
    "note_folding_transforms",
    "note_fused_destroyed",
    "note_fused_operation",
    "note_fused_plan",
    "note_fused_variant",
    "note_spatial_transformer",
    "note_tensor_transform",
    "record",
]
