"""What the descriptors of pooling, op tensor and reductions hold; see `readback`."""

from __future__ import annotations

from ctypes import c_int
from dataclasses import dataclass
from typing import Any

from ... import raw
from ..pooling import PoolingMode
from ..reduce import Operator
from ..tensor_operations import Operation
from .dispatch import Refused
from .readback import get

__all__ = ["OpTensor", "Pooling", "Reduction", "op_tensor", "pooling", "reduction"]

_MOST_SPATIAL = 6  # cudnnGetPoolingNdDescriptor refuses to be asked for more

_POOLING_MODES: dict[Any, PoolingMode] = {
    raw.CUDNN_POOLING_MAX: "max",
    raw.CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING: "average_count_include_padding",
    raw.CUDNN_POOLING_AVERAGE_COUNT_EXCLUDE_PADDING: "average_count_exclude_padding",
    raw.CUDNN_POOLING_MAX_DETERMINISTIC: "max_deterministic",
}
_OPERATIONS: dict[Any, Operation] = {
    raw.CUDNN_OP_TENSOR_ADD: "add",
    raw.CUDNN_OP_TENSOR_MUL: "mul",
    raw.CUDNN_OP_TENSOR_MIN: "min",
    raw.CUDNN_OP_TENSOR_MAX: "max",
    raw.CUDNN_OP_TENSOR_SQRT: "sqrt",
    raw.CUDNN_OP_TENSOR_NOT: "not",
}
_OPERATORS: dict[Any, Operator] = {
    raw.CUDNN_REDUCE_TENSOR_ADD: "add",
    raw.CUDNN_REDUCE_TENSOR_MUL: "mul",
    raw.CUDNN_REDUCE_TENSOR_MIN: "min",
    raw.CUDNN_REDUCE_TENSOR_MAX: "max",
    raw.CUDNN_REDUCE_TENSOR_AMAX: "amax",
    raw.CUDNN_REDUCE_TENSOR_AVG: "avg",
    raw.CUDNN_REDUCE_TENSOR_NORM1: "norm1",
    raw.CUDNN_REDUCE_TENSOR_NORM2: "norm2",
    raw.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: "mul_no_zeros",
}


@dataclass(frozen=True, slots=True)
class Pooling:
    """A pooling descriptor; `window`, `padding` and `stride` hold one int per dimension."""

    mode: PoolingMode
    propagate_nan: bool
    window: tuple[int, ...]
    padding: tuple[int, ...]
    stride: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class OpTensor:
    """An op tensor descriptor."""

    operation: Operation
    compute_type: raw.cudnnDataType_t
    propagate_nan: bool


@dataclass(frozen=True, slots=True)
class Reduction:
    """A reduce tensor descriptor; `indices` says whether indices are asked for."""

    operator: Operator
    compute_type: raw.cudnnDataType_t
    propagate_nan: bool
    indices: bool
    indices_type: raw.cudnnIndicesType_t


def pooling(descriptor: Any, name: str) -> Pooling:
    """What a pooling descriptor holds (``cudnnGetPoolingNdDescriptor``)."""
    mode, nan = raw.cudnnPoolingMode_t(), raw.cudnnNanPropagation_t()
    count = c_int()
    window, padding, stride = ((c_int * _MOST_SPATIAL)() for _ in range(3))
    get(
        raw.cudnnGetPoolingNdDescriptor,
        name,
        descriptor,
        _MOST_SPATIAL,
        mode,
        nan,
        count,
        window,
        padding,
        stride,
    )
    n = count.value
    if n == 0:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} was created, but never set")
    return Pooling(
        _POOLING_MODES[mode.value],
        nan.value == raw.CUDNN_PROPAGATE_NAN,
        tuple(window[:n]),
        tuple(padding[:n]),
        tuple(stride[:n]),
    )


def op_tensor(descriptor: Any, name: str) -> OpTensor:
    """What an op tensor descriptor holds (``cudnnGetOpTensorDescriptor``)."""
    operation, compute_type = raw.cudnnOpTensorOp_t(), raw.cudnnDataType_t()
    nan = raw.cudnnNanPropagation_t()
    get(raw.cudnnGetOpTensorDescriptor, name, descriptor, operation, compute_type, nan)
    return OpTensor(
        _known(_OPERATIONS, operation.value, name),
        compute_type.value,
        nan.value == raw.CUDNN_PROPAGATE_NAN,
    )


def reduction(descriptor: Any, name: str) -> Reduction:
    """What a reduce tensor descriptor holds (``cudnnGetReduceTensorDescriptor``)."""
    operator, compute_type = raw.cudnnReduceTensorOp_t(), raw.cudnnDataType_t()
    nan = raw.cudnnNanPropagation_t()
    indices = raw.cudnnReduceTensorIndices_t()
    indices_type = raw.cudnnIndicesType_t()
    get(
        raw.cudnnGetReduceTensorDescriptor,
        name,
        descriptor,
        operator,
        compute_type,
        nan,
        indices,
        indices_type,
    )
    return Reduction(
        _known(_OPERATORS, operator.value, name),
        compute_type.value,
        nan.value == raw.CUDNN_PROPAGATE_NAN,
        indices.value == raw.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES,
        indices_type.value,
    )


def _known(names: dict[Any, Any], code: Any, descriptor: str) -> Any:
    """The name of an enumerator; a descriptor that was never set holds garbage."""
    if code not in names:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{descriptor} was created, but never set")
    return names[code]
