"""Operands of functions of whole tensors: transform, add, op, set, scale, reduce.

What the kernels take, and the statuses, are cuDNN 9.14's and 9.19's, which agree in all of these
(measured on an H200).
"""

from __future__ import annotations

from collections.abc import Iterator

from .. import enums
from ..descriptors import OpTensor, ReduceTensor
from .language import (
    BAD_PARAM,
    FLOATING,
    NOT_SUPPORTED,
    Broken,
    Operand,
    Rules,
    broadcast,
    cudnn_only,
    equal,
    no_kernel,
    ranked,
    rules,
    typed,
)

_F, _D, _H, _B, _I = (
    enums.CUDNN_DATA_FLOAT,
    enums.CUDNN_DATA_DOUBLE,
    enums.CUDNN_DATA_HALF,
    enums.CUDNN_DATA_BFLOAT16,
    enums.CUDNN_DATA_INT8,
)
_PLAIN = (*FLOATING, _I)
_OTHER_HALF = {_H: _B, _B: _H}


@rules("cudnnTransformTensor")
def transform(x: Operand, y: Operand) -> Rules:
    yield from equal("shape", x, y)
    if {x.data_type, y.data_type} & {enums.CUDNN_DATA_INT8x32, enums.CUDNN_DATA_UINT8x4}:
        yield from cudnn_only(equal("data_type", x, y))
    for each in (x, y):
        yield from typed("cudnnTransformTensor", each, (*_PLAIN, enums.CUDNN_DATA_INT8x4))
    if _OTHER_HALF.get(x.data_type) == y.data_type:
        yield no_kernel(y, "cuDNN has no cudnnTransformTensor between HALF and BFLOAT16")


@rules("cudnnAddTensor")
def add(A: Operand, C: Operand) -> Rules:
    yield from cudnn_only(equal("data_type", C, A))
    yield from broadcast(A, C)
    yield from _images("cudnnAddTensor", C)
    yield from typed("cudnnAddTensor", C, _PLAIN)


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
computed in DOUBLE, cuDNN 9.14 and 9.19 read doubles from A and B; that is refused.
"""


@rules("cudnnOpTensor")
def op(opTensorDesc: OpTensor, A: Operand, B: Operand, C: Operand) -> Rules:
    """A has the shape of C, B may be broadcast. sqrt and not want a B too, and do not read it."""
    yield from equal("shape", A, C)
    yield from cudnn_only(equal("data_type", A, B))
    yield from broadcast(B, C)
    if B.address is not None and B.address == C.address and B.strides == C.strides:
        yield Broken(C.name, f"it must not lie in the memory of {B.name}", by_meaning=False)
    yield from _images("cudnnOpTensor", C)
    types = (opTensorDesc.compute_data_type, A.data_type, C.data_type)
    if types not in _OP_TENSOR_TYPES:
        yield no_kernel(
            C,
            f"cuDNN has no cudnnOpTensor from {A.data_type.name} to {C.data_type.name} computed "
            f"in {opTensorDesc.compute_data_type.name}",
        )._replace(status=BAD_PARAM if _op_is_wrong(*types) else NOT_SUPPORTED)


def _op_is_wrong(
    compute: enums.cudnnDataType_t, data_type: enums.cudnnDataType_t, result: enums.cudnnDataType_t
) -> bool:
    """Whether cuDNN calls types without a kernel a bad parameter."""
    if result == _D:
        return data_type in (_F, _H)
    if compute == _F:
        return result in (_F, _H, _B, _I) and _OTHER_HALF.get(data_type) != result
    return data_type == _D and result in (_F, _H, _B, _I)


@rules("cudnnSetTensor")
def set_(y: Operand) -> Rules:
    yield from ranked("cudnnSetTensor", y, 4, 5)
    yield from typed("cudnnSetTensor", y, _PLAIN)


@rules("cudnnScaleTensor")
def scale(y: Operand) -> Rules:
    if len(y.shape) != 3:
        yield from _images("cudnnScaleTensor", y)
    yield from ranked("cudnnScaleTensor", y, 4, 5)
    yield from typed("cudnnScaleTensor", y, _PLAIN)


def _images(function: str, operand: Operand) -> Iterator[Broken]:
    """4 or 5 dimensions; BAD_PARAM for fewer."""
    for each in ranked(function, operand, 4, 5):
        yield each._replace(status=BAD_PARAM if len(operand.shape) < 4 else NOT_SUPPORTED)


_REDUCTIONS = frozenset(
    {(_D, _D, _D), *((_F, a, c) for a, c in [(_F, _F), (_F, _H), (_F, _I)])}
    | {(_F, _H, _F), (_F, _H, _H), (_F, _I, _F), (_F, _I, _I)}
)
"""Types of the computation, of A and of C: never bfloat16."""
_MIXED = frozenset({_F, _D, _H, _I})
"""Types of A and C that cuDNN finds wrong, rather than not supported, where they do not fit."""


@rules("cudnnReduceTensor")
def reduce(reduceTensorDesc: ReduceTensor, A: Operand, C: Operand) -> Rules:
    yield from cudnn_only(ranked("a reduction", A, 3))
    if not _MIXED.issuperset((A.data_type, C.data_type)):
        yield from _reduced(reduceTensorDesc, A, C)
    yield from broadcast(C, A, f"{A.name} is reduced")
    if A.shape == C.shape:
        yield Broken(C.name, f"it has the shape of {A.name}: nothing is reduced", by_meaning=False)
    yield from _reduced(reduceTensorDesc, A, C)


def _reduced(reduction: ReduceTensor, a: Operand, c: Operand) -> Iterator[Broken]:
    types = (a.data_type, c.data_type)
    if (reduction.compute_data_type, *types) not in _REDUCTIONS:
        wrong = types[0] != types[1] and _MIXED.issuperset(types) and _F not in types
        wrong = wrong or set(types) == {_F, _D}
        yield no_kernel(
            c,
            f"cuDNN has no reduction of {a.data_type.name} to {c.data_type.name} computed in "
            f"{reduction.compute_data_type.name}",
        )._replace(status=BAD_PARAM if wrong else NOT_SUPPORTED)
