"""Element-wise tensor functions on the reference device: add, op, set, scale, plain transform.

Statuses are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes and types that do not fit together
and for less than 4 dimensions, NOT_SUPPORTED for types without a kernel and for more than 5.
"""

from __future__ import annotations

import numpy as np

from ... import raw
from ...dtypes import data_type_name, numpy_dtype
from ...raw.descriptors import OpTensor
from ..arithmetic import blend, round_to
from ..tensor_operations import add_tensor, op_tensor, scale_tensor
from .agreement import FLOATING, require_dimensions, require_equal, require_type, word
from .call import Call
from .memory import Operand
from .registry import Refused, bad_param, implements, not_supported

_F, _D, _H, _B, _I = (
    raw.CUDNN_DATA_FLOAT,
    raw.CUDNN_DATA_DOUBLE,
    raw.CUDNN_DATA_HALF,
    raw.CUDNN_DATA_BFLOAT16,
    raw.CUDNN_DATA_INT8,
)

_TRANSFORM_TYPES = (*FLOATING, _I, raw.CUDNN_DATA_INT8x4)
_OTHER_HALF = {_H: _B, _B: _H}
_OP_TENSOR_TYPES = frozenset(
    {
        (_F, _F, _F),
        (_F, _I, _F),
        (_F, _H, _F),
        (_F, _B, _F),
        (_D, _D, _D),
        (_F, _F, _H),
        (_F, _H, _H),
        (_F, _I, _I),
        (_F, _F, _I),
        (_F, _F, _B),
        (_F, _B, _B),
    }
)
"""Types of the computation, of A and B, and of C, as cuDNN's documentation lists them.

For the rest the status is one or the other. Where A and B are BFLOAT16 or integers and C is DOUBLE,
computed in DOUBLE, cuDNN 9.14 and 9.19 read doubles from A and B; that is refused here.
"""


@implements("cudnnTransformTensor")
def transform(call: Call) -> None:
    """Shapes are equal. The factors are doubles if x or y holds doubles."""
    x, y = call.operands("x", "y")
    require_equal(x, y, fields=("shape",))
    types = (x.data_type, y.data_type)
    if raw.CUDNN_DATA_INT8x32 in types or raw.CUDNN_DATA_UINT8x4 in types:
        require_equal(x, y, fields=("data_type",))
    for operand in (x, y):
        require_type(operand, _TRANSFORM_TYPES, "cudnnTransformTensor")
    if _OTHER_HALF.get(x.data_type) == y.data_type:
        raise not_supported("cuDNN has no cudnnTransformTensor between HALF and BFLOAT16")
    factors = call.factors()
    values = x.load().astype(np.float64 if _D in types else np.float32)
    y.store(blend(values, y.prior(factors["beta"]), out_dtype=y.dtype, name="y", **factors))


@implements("cudnnAddTensor")
def add(call: Call) -> None:
    a, c = call.operands("A", "C")
    require_equal(a, c, fields=("data_type",))
    _require_broadcast(a, c)
    _require_dimensions(c, "cudnnAddTensor")
    _require_kernel(c, "cudnnAddTensor")
    factors = call.factors()
    memory = c.prior(factors["beta"])
    c.store(add_tensor(a.load(), memory, out=memory, **factors))


@implements("cudnnOpTensor")
def op(call: Call) -> None:
    """A has the shape of C, B may be broadcast. sqrt and not want a B too, and do not read it."""
    a, b, c = call.operands("A", "B", "C")
    described = call.record("opTensorDesc", OpTensor)
    require_equal(a, c, fields=("shape",))
    require_equal(a, b, fields=("data_type",))
    _require_broadcast(b, c)
    if b.address == c.address and b.strides == c.strides:
        raise bad_param("C must not lie in the memory of B")
    _require_dimensions(c, "cudnnOpTensor")
    types = (described.compute_data_type, a.data_type, c.data_type)
    if types not in _OP_TENSOR_TYPES:
        compute, given, result = map(data_type_name, types)
        raise Refused(
            _status_of_types(*types),
            f"cuDNN has no cudnnOpTensor from {given} to {result} computed in {compute}",
        )
    operation = word(described.op, "CUDNN_OP_TENSOR_")
    binary = operation not in ("sqrt", "not")
    factors = call.factors("alpha1", "beta", *(["alpha2"] if binary else []))
    memory = c.prior(factors["beta"])
    c.store(
        op_tensor(
            operation,
            a.load(),
            b.load() if binary else None,
            c=memory,
            out=memory,
            propagate_nan=described.nan_propagation == raw.CUDNN_PROPAGATE_NAN,
            compute_dtype=numpy_dtype(described.compute_data_type),
            out_dtype=c.dtype,
            **factors,
        )
    )


@implements("cudnnSetTensor")
def set_(call: Call) -> None:
    """The value is a float, for double data a double; it is rounded to the type of y."""
    y = call.operand("y")
    call.require("valuePtr")
    require_dimensions(y, 4, 5, "cudnnSetTensor")
    _require_kernel(y, "cudnnSetTensor")
    value = np.array(call.factors()["valuePtr"])
    y.store(np.broadcast_to(round_to(value, y.dtype), y.shape))


@implements("cudnnScaleTensor")
def scale(call: Call) -> None:
    y = call.operand("y")
    if len(y.shape) != 3:
        _require_dimensions(y, "cudnnScaleTensor")
    require_dimensions(y, 4, 5, "cudnnScaleTensor")
    _require_kernel(y, "cudnnScaleTensor")
    y.store(scale_tensor(y.load(), **call.factors()))


def _require_kernel(operand: Operand, function: str) -> None:
    """cuDNN 9.14 and 9.19 have kernels for plain int8 among the integers only."""
    require_type(operand, (*FLOATING, raw.CUDNN_DATA_INT8), function)


def _require_dimensions(operand: Operand, function: str) -> None:
    if len(operand.shape) < 4:
        raise bad_param(
            f"{function} is for 4 or 5 dimensions, {operand.name} has the shape {operand.shape}"
        )
    require_dimensions(operand, 4, 5, function)


def _status_of_types(
    compute: raw.cudnnDataType_t, data_type: raw.cudnnDataType_t, result: raw.cudnnDataType_t
) -> raw.cudnnStatus_t:
    """cuDNN's status for refused types: BAD_PARAM or NOT_SUPPORTED."""
    if result == _D:
        wrong = data_type in (_F, _H)
    elif compute == _F:
        wrong = result in (_F, _H, _B, _I) and _OTHER_HALF.get(data_type) != result
    else:
        wrong = data_type == _D and result in (_F, _H, _B, _I)
    return raw.CUDNN_STATUS_BAD_PARAM if wrong else raw.CUDNN_STATUS_NOT_SUPPORTED


def _require_broadcast(operand: Operand, whole: Operand) -> None:
    shape, wanted = operand.shape, whole.shape
    if len(shape) != len(wanted) or any(
        size not in (1, full) for size, full in zip(shape, wanted, strict=True)
    ):
        raise bad_param(
            f"{operand.name} must have the shape of {whole.name}, {wanted}, or ones in it, got "
            f"{shape}"
        )
