"""Element-wise tensor functions on the reference device: add, op, set, scale, plain transform.

Statuses are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes and types that do not fit each
other and for less than 4 dimensions, NOT_SUPPORTED for types without a kernel and for more than 5.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...dtypes import data_type_name, numpy_dtype
from ...raw.descriptors import OpTensor, Tensor
from ..arithmetic import blend, round_to
from ..tensor_operations import add_tensor, op_tensor, scale_tensor
from .agreement import FLOATING, require_dimensions, require_equal, require_type
from .dispatch import Refused, implements
from .held import read, word
from .memory import Operand, require, scalars

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
def transform(
    handle: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    """Shapes are equal. The factors are doubles if x or y holds doubles."""
    require(x=x, y=y)
    source = Operand("x", read(Tensor, xDesc, "xDesc"), x)
    target = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    require_equal(source, target, fields=("shape",))
    vectors = raw.CUDNN_DATA_INT8x32
    if vectors in (source.described.data_type, target.described.data_type):
        require_equal(source, target, fields=("data_type",))
    for operand in (source, target):
        require_type(operand, _TRANSFORM_TYPES, "cudnnTransformTensor")
    if _OTHER_HALF.get(source.described.data_type) == target.described.data_type:
        raise Refused(
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            "cuDNN has no cudnnTransformTensor between HALF and BFLOAT16",
        )
    doubles = _D in (source.described.data_type, target.described.data_type)
    factors = scalars(_D if doubles else _F, alpha=alpha, beta=beta)
    values = source.load().astype(np.float64 if doubles else np.float32)
    prior = target.prior(factors["beta"])
    target.store(blend(values, prior, out_dtype=target.dtype, name="y", **factors))


@implements("cudnnAddTensor")
def add(
    handle: Any,
    alpha: int | None,
    aDesc: Any,
    A: int | None,
    beta: int | None,
    cDesc: Any,
    C: int | None,
) -> None:
    require(A=A, C=C)
    a = Operand("A", read(Tensor, aDesc, "aDesc"), A)
    c = Operand("C", read(Tensor, cDesc, "cDesc"), C)
    require_equal(a, c, fields=("data_type",))
    _require_broadcast(a, c)
    _require_dimensions(c, "cudnnAddTensor")
    _require_kernel(c, "cudnnAddTensor")
    factors = scalars(c.described.data_type, alpha=alpha, beta=beta)
    c.store(add_tensor(a.load(), c.prior(factors["beta"]), **factors))


@implements("cudnnOpTensor")
def op(
    handle: Any,
    opTensorDesc: Any,
    alpha1: int | None,
    aDesc: Any,
    A: int | None,
    alpha2: int | None,
    bDesc: Any,
    B: int | None,
    beta: int | None,
    cDesc: Any,
    C: int | None,
) -> None:
    """A has the shape of C, B may be broadcast. sqrt and not want a B too, and do not read it."""
    require(A=A, B=B, C=C)
    described = read(OpTensor, opTensorDesc, "opTensorDesc")
    a = Operand("A", read(Tensor, aDesc, "aDesc"), A)
    c = Operand("C", read(Tensor, cDesc, "cDesc"), C)
    b = Operand("B", read(Tensor, bDesc, "bDesc"), B)
    require_equal(a, c, fields=("shape",))
    require_equal(a, b, fields=("data_type",))
    _require_broadcast(b, c)
    if b.address == c.address and b.described.strides == c.described.strides:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, "C must not lie in the memory of B")
    _require_dimensions(c, "cudnnOpTensor")
    types = (described.compute_type, a.described.data_type, c.described.data_type)
    if types not in _OP_TENSOR_TYPES:
        compute, given, result = map(data_type_name, types)
        raise Refused(
            _status_of_types(*types),
            f"cuDNN has no cudnnOpTensor from {given} to {result} computed in {compute}",
        )
    operation = word(described.op, "CUDNN_OP_TENSOR_")
    binary = operation not in ("sqrt", "not")
    addresses = {"alpha1": alpha1, **({"alpha2": alpha2} if binary else {})}
    factors = scalars(described.compute_type, beta=beta, **addresses)
    c.store(
        op_tensor(
            operation,
            a.load(),
            b.load() if binary else None,
            c=c.prior(factors["beta"]),
            propagate_nan=described.nan_propagation == raw.CUDNN_PROPAGATE_NAN,
            compute_dtype=numpy_dtype(described.compute_type),
            out_dtype=c.dtype,
            **factors,
        )
    )


@implements("cudnnSetTensor")
def set_(handle: Any, yDesc: Any, y: int | None, valuePtr: int | None) -> None:
    """The value is a float, for double data a double; it is rounded to the type of y."""
    require(y=y, valuePtr=valuePtr)
    target = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    require_dimensions(target, 4, 5, "cudnnSetTensor")
    _require_kernel(target, "cudnnSetTensor")
    value = scalars(target.described.data_type, valuePtr=valuePtr)["valuePtr"]
    target.store(np.broadcast_to(round_to(np.array(value), target.dtype), target.described.shape))


@implements("cudnnScaleTensor")
def scale(handle: Any, yDesc: Any, y: int | None, alpha: int | None) -> None:
    require(y=y)
    target = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    if len(target.described.shape) != 3:
        _require_dimensions(target, "cudnnScaleTensor")
    require_dimensions(target, 4, 5, "cudnnScaleTensor")
    _require_kernel(target, "cudnnScaleTensor")
    factors = scalars(target.described.data_type, alpha=alpha)
    target.store(scale_tensor(target.load(), **factors))


def _require_kernel(operand: Operand, function: str) -> None:
    """cuDNN 9.14 and 9.19 have kernels for plain int8 among the integers only."""
    require_type(operand, (*FLOATING, raw.CUDNN_DATA_INT8), function)


def _require_dimensions(operand: Operand, function: str) -> None:
    if len(operand.described.shape) < 4:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{function} is for 4 or 5 dimensions, {operand.name} has the shape "
            f"{operand.described.shape}",
        )
    require_dimensions(operand, 4, 5, function)


def _status_of_types(
    compute: raw.cudnnDataType_t, given: raw.cudnnDataType_t, result: raw.cudnnDataType_t
) -> raw.cudnnStatus_t:
    """With which status cuDNN refuses types that it cannot combine."""
    if result == _D:
        wrong = given in (_F, _H)
    elif compute == _F:
        wrong = result in (_F, _H, _B, _I) and _OTHER_HALF.get(given) != result
    else:
        wrong = given == _D and result in (_F, _H, _B, _I)
    return raw.CUDNN_STATUS_BAD_PARAM if wrong else raw.CUDNN_STATUS_NOT_SUPPORTED


def _require_broadcast(operand: Operand, whole: Operand) -> None:
    given, wanted = operand.described.shape, whole.described.shape
    if len(given) != len(wanted) or any(
        size not in (1, full) for size, full in zip(given, wanted, strict=True)
    ):
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{operand.name} must have the shape of {whole.name}, {wanted}, or ones in it, got "
            f"{given}",
        )
