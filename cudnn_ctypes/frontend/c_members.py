"""Members of the front end's enums to C's enumerators, and back."""

from __future__ import annotations

import functools
from typing import Any, TypeVar

from .. import raw
from ..dtypes import as_data_type
from ..raw.ctypes_support import CudnnEnum
from . import enums
from .errors import not_supported

N = TypeVar("N", bound=enums.Named)
_HAS_BYTES = 92500  # the first version with BYTE_BOOLEAN

# How C's names begin where a member's name follows at once.
_PREFIX: dict[type[enums.Named], tuple[type[CudnnEnum], str]] = {
    enums.data_type: (raw.cudnnDataType_t, "CUDNN_DATA_"),
    enums.knob_type: (raw.cudnnBackendKnobType_t, "CUDNN_KNOB_TYPE_"),
    enums.numerical_note: (raw.cudnnBackendNumericalNote_t, "CUDNN_NUMERICAL_NOTE_"),
    enums.behavior_note: (raw.cudnnBackendBehaviorNote_t, "CUDNN_BEHAVIOR_NOTE_"),
    enums.norm_forward_phase: (raw.cudnnBackendNormFwdPhase_t, "CUDNN_NORM_FWD_"),
    enums.reduction_mode: (raw.cudnnReduceTensorOp_t, "CUDNN_REDUCE_TENSOR_"),
    enums.convolution_mode: (raw.cudnnConvolutionMode_t, "CUDNN_"),
    enums.tensor_reordering: (raw.cudnnBackendTensorReordering_t, "CUDNN_TENSOR_REORDERING_"),
    enums.moe_grouped_matmul_mode: (
        raw.cudnnMoeGroupedMatmulMode_t,
        "CUDNN_MOE_GROUPED_MATMUL_MODE_",
    ),
    enums.reshape_mode: (raw.cudnnBackendReshapeMode_t, "CUDNN_RESHAPE_"),
    enums.cuda_graph_retention: (raw.cudnnCudaGraphRetention_t, "CUDNN_CUDA_GRAPH_RETENTION_"),
    enums.gnn_agg_op: (raw.cudnnGnnAggOp_t, "CUDNN_GNN_AGG_"),
    enums.gnn_activation_op: (raw.cudnnGnnActivationOp_t, "CUDNN_GNN_ACT_"),
}


def c_member(value: enums.Named) -> Any:
    """The C enumerator of a member; None for NOT_SET.

    Raises cudnnGraphNotSupportedError if cuDNN has none: it is of kernels that NVIDIA's front end
    brings itself.
    """
    if value.name == "NOT_SET":
        return None
    cls, prefix = _PREFIX[type(value)]
    found = _by_name(cls).get(f"{prefix}{value.name}".upper())
    if found is None:
        raise not_supported(str(value), "no engine of cuDNN's: NVIDIA's own kernels are not here")
    return found


def note_of(cls: type[N], member: CudnnEnum) -> N | CudnnEnum:
    """The front end's member for C's; C's own where the front end has none."""
    prefix = _PREFIX[cls][1]
    by_name = {each.name.upper(): each for each in cls}
    return by_name.get(member.name.upper().removeprefix(prefix), member)


def member_of(value: Any) -> Any:
    """The front end's member where `value` is an enumerator of C's that has one; else `value`."""
    if isinstance(value, CudnnEnum):
        for cls, (c_enum, _) in _PREFIX.items():
            if isinstance(value, c_enum):
                return note_of(cls, value)
    return value


@functools.cache
def _by_name(cls: type[CudnnEnum]) -> dict[str, Any]:
    return {name.upper(): member for name, member in cls.__members__.items()}


def c_data_type(value: Any) -> raw.cudnnDataType_t | None:
    """The C enumerator of what ``as_data_type`` takes, or a data_type; None for NOT_SET and None.

    Raises TypeError if it is no data type.
    """
    if value is None:
        return None
    if isinstance(value, enums.data_type):
        member: raw.cudnnDataType_t | None = c_member(value)
        return member
    if isinstance(value, enums.Named):
        raise TypeError(f"expected a data_type, got {value!r}")
    # PyTorch's bool is one byte, which older versions have no type for: NVIDIA's front end says
    # BOOLEAN, which is packed, and so does the warning of an execution.
    if str(value) == "torch.bool" and raw.cudnnGetVersion() < _HAS_BYTES:
        return raw.cudnnDataType_t.CUDNN_DATA_BOOLEAN
    return as_data_type(value)
