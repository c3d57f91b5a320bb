"""Reductions on the reference device.

Statuses and sizes are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes and types that do not fit
together, and for indices or a workspace that are too small; NOT_SUPPORTED for types without a
kernel. Operators without indices do not write them. Indices have 32 bits for every descriptor.
"""

from __future__ import annotations

import math

from ... import raw
from ...dtypes import data_type_name, numpy_dtype
from ...raw.descriptors import ReduceTensor
from ..reduce import INDEXED, reduce_indices, reduce_tensor
from .agreement import word
from .call import Call
from .memory import Operand
from .registry import Refused, bad_param, implements

_F, _D, _H, _I = (
    raw.CUDNN_DATA_FLOAT,
    raw.CUDNN_DATA_DOUBLE,
    raw.CUDNN_DATA_HALF,
    raw.CUDNN_DATA_INT8,
)
_TYPES = frozenset(
    {(_D, _D, _D), *((_F, a, c) for a, c in [(_F, _F), (_F, _H), (_F, _I)])}
    | {(_F, _H, _F), (_F, _H, _H), (_F, _I, _F), (_F, _I, _I)}
)
"""Types of the computation, of A and of C that cuDNN 9.14 and 9.19 reduce: never bfloat16."""
_MIXED = frozenset({_F, _D, _H, _I})
"""Types of A and C that cuDNN finds wrong, rather than not supported, where they do not fit."""
_INDEX_BYTES = 4
_ELEMENTS_PER_INDEX = 512  # that one thread block of a reduction to a single element leaves


@implements("cudnnGetReductionIndicesSize")
def indices_size(call: Call) -> None:
    call.require("sizeInBytes")
    described, _, c = _read(call, "aDesc", "cDesc")
    call.put(sizeInBytes=_indices_bytes(described, c))


@implements("cudnnGetReductionWorkspaceSize")
def workspace_size(call: Call) -> None:
    """One number of the computation's type, and one index, for each element of A."""
    call.require("sizeInBytes")
    call.put(sizeInBytes=_workspace_bytes(*_read(call, "aDesc", "cDesc")))


@implements("cudnnReduceTensor")
def reduce(call: Call) -> None:
    described, a, c = _read(call, "A", "C")
    if len(a.shape) < 3:
        raise bad_param(f"A must have 3 dimensions or more, has shape {a.shape}")
    if not _MIXED.issuperset((a.data_type, c.data_type)):
        _require_types(described, a, c)
    fits = len(a.shape) == len(c.shape) and all(
        size in (1, full) for size, full in zip(c.shape, a.shape, strict=True)
    )
    if not fits or a.shape == c.shape:
        raise bad_param(
            f"C must have the shape of A, {a.shape}, with ones where A is to be reduced, got "
            f"{c.shape}"
        )
    _require_types(described, a, c)
    factors = call.factors()
    call.buffer("indices", _indices_bytes(described, c))
    call.use_workspace("workspace", _workspace_bytes(described, a, c))
    values, shape = a.load(), c.shape
    operator = word(described.op, "CUDNN_REDUCE_TENSOR_")
    propagate_nan = described.nan_propagation == raw.CUDNN_PROPAGATE_NAN
    result = reduce_tensor(
        values,
        shape,
        operator,
        propagate_nan=propagate_nan,
        c=c.prior(factors["beta"]),
        compute_dtype=numpy_dtype(described.compute_data_type),
        out_dtype=c.dtype,
        **factors,
    )
    if described.indices and operator in INDEXED:
        memory = call.array("indices", raw.CUDNN_DATA_INT32, *shape)
        memory[...] = reduce_indices(values, shape, operator, propagate_nan=propagate_nan)
    c.store(result)


def _read(call: Call, *names: str) -> tuple[ReduceTensor, Operand, Operand]:
    """The reduction, A and C."""
    a, c = call.operands(*names)
    return call.record("reduceTensorDesc", ReduceTensor), a, c


def _require_types(described: ReduceTensor, a: Operand, c: Operand) -> None:
    types = (a.data_type, c.data_type)
    if (described.compute_data_type, *types) not in _TYPES:
        given, result = map(data_type_name, types)
        wrong = types[0] != types[1] and _MIXED.issuperset(types) and _F not in types
        wrong = wrong or set(types) == {_F, _D}
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM if wrong else raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"cuDNN has no reduction of {given} to {result} computed in "
            f"{data_type_name(described.compute_data_type)}",
        )


def _indices_bytes(described: ReduceTensor, c: Operand) -> int:
    return _INDEX_BYTES * math.prod(c.shape) if described.indices else 0


def _workspace_bytes(described: ReduceTensor, a: Operand, c: Operand) -> int:
    elements = math.prod(a.shape)
    nbytes = (8 if described.compute_data_type == _D else 4) * elements
    if described.indices:
        left = elements
        if math.prod(c.shape) == 1:
            left = -(-elements // _ELEMENTS_PER_INDEX)
        nbytes += _INDEX_BYTES * left
    return nbytes
