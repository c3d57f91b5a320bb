"""Reductions on the reference device.

Statuses and sizes are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes and types that do not fit
each other, and for indices or a workspace that are too small; NOT_SUPPORTED for types without a
kernel. Operators without indices leave them alone. Indices have 32 bits, whatever the descriptor
says.
"""

from __future__ import annotations

import math
from typing import Any

from ... import raw
from ...dtypes import data_type_name, numpy_dtype
from ...raw.descriptors import ReduceTensor, Tensor
from ..layout import packed_strides
from ..reduce import INDEXED, reduce_indices, reduce_tensor
from .dispatch import Refused, implements
from .held import read, word
from .memory import Operand, at, require, scalars, scribble

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
def indices_size(
    handle: Any, reduceTensorDesc: Any, aDesc: Any, cDesc: Any, sizeInBytes: Any
) -> None:
    require(sizeInBytes=sizeInBytes)
    described, _, c = _read(reduceTensorDesc, aDesc, None, cDesc, None)
    sizeInBytes.contents.value = _indices_bytes(described, c)


@implements("cudnnGetReductionWorkspaceSize")
def workspace_size(
    handle: Any, reduceTensorDesc: Any, aDesc: Any, cDesc: Any, sizeInBytes: Any
) -> None:
    """One number of the computation's type, and one index, for each element of A."""
    require(sizeInBytes=sizeInBytes)
    described, a, c = _read(reduceTensorDesc, aDesc, None, cDesc, None)
    sizeInBytes.contents.value = _workspace_bytes(described, a, c)


@implements("cudnnReduceTensor")
def reduce(
    handle: Any,
    reduceTensorDesc: Any,
    indices: int | None,
    indicesSizeInBytes: int,
    workspace: int | None,
    workspaceSizeInBytes: int,
    alpha: int | None,
    aDesc: Any,
    A: int | None,
    beta: int | None,
    cDesc: Any,
    C: int | None,
) -> None:
    require(A=A, C=C)
    described, a, c = _read(reduceTensorDesc, aDesc, A, cDesc, C)
    _require_reduction(a, c)
    _require_types(described, a, c)
    factors = scalars(c.described.data_type, alpha=alpha, beta=beta)
    for name, needed, given in (
        ("indices", _indices_bytes(described, c), indicesSizeInBytes),
        ("workspace", _workspace_bytes(described, a, c), workspaceSizeInBytes),
    ):
        if given < needed:
            raise Refused(
                raw.CUDNN_STATUS_BAD_PARAM, f"{name} must have {needed} bytes, got {given}"
            )
    scribble(workspace, _workspace_bytes(described, a, c), "workspace")
    values, shape = a.load(), c.described.shape
    operator = word(described.op, "CUDNN_REDUCE_TENSOR_")
    propagate_nan = described.nan_propagation == raw.CUDNN_PROPAGATE_NAN
    result = reduce_tensor(
        values,
        shape,
        operator,
        propagate_nan=propagate_nan,
        c=c.prior(factors["beta"]),
        compute_dtype=numpy_dtype(described.compute_type),
        out_dtype=c.dtype,
        **factors,
    )
    if described.indices and operator in INDEXED:
        memory = at(indices, raw.CUDNN_DATA_INT32, shape, packed_strides(shape), "indices", "write")
        memory[...] = reduce_indices(values, shape, operator, propagate_nan=propagate_nan)
    c.store(result)


def _read(
    descriptor: Any, a_desc: Any, a: int | None, c_desc: Any, c: int | None
) -> tuple[ReduceTensor, Operand, Operand]:
    """The descriptors' contents, checked against each other."""
    described = read(ReduceTensor, descriptor, "reduceTensorDesc")
    source = Operand("A", read(Tensor, a_desc, "aDesc"), a)
    target = Operand("C", read(Tensor, c_desc, "cDesc"), c)
    whole, reduced = source.described.shape, target.described.shape
    fits = len(whole) == len(reduced) and all(
        size in (1, full) for size, full in zip(reduced, whole, strict=True)
    )
    if not fits:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"C must have the shape of A, {whole}, with ones where A is to be reduced, got "
            f"{reduced}",
        )
    return described, source, target


def _require_reduction(a: Operand, c: Operand) -> None:
    shape = a.described.shape
    if len(shape) < 3 or shape == c.described.shape:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"A must have 3 dimensions or more, and C less elements; both have shapes {shape} and "
            f"{c.described.shape}",
        )


def _require_types(described: ReduceTensor, a: Operand, c: Operand) -> None:
    types = (a.described.data_type, c.described.data_type)
    if (described.compute_type, *types) not in _TYPES:
        given, result = map(data_type_name, types)
        wrong = types[0] != types[1] and _MIXED.issuperset(types) and _F not in types
        wrong = wrong or set(types) == {_F, _D}
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM if wrong else raw.CUDNN_STATUS_NOT_SUPPORTED,
            f"cuDNN has no reduction of {given} to {result} computed in "
            f"{data_type_name(described.compute_type)}",
        )


def _indices_bytes(described: ReduceTensor, c: Operand) -> int:
    return _INDEX_BYTES * math.prod(c.described.shape) if described.indices else 0


def _workspace_bytes(described: ReduceTensor, a: Operand, c: Operand) -> int:
    elements = math.prod(a.described.shape)
    nbytes = (8 if described.compute_type == _D else 4) * elements
    if described.indices:
        left = elements
        if math.prod(c.described.shape) == 1:
            left = -(-elements // _ELEMENTS_PER_INDEX)
        nbytes += _INDEX_BYTES * left
    return nbytes
