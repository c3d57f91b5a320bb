"""Tensor functions on the reference device: add, op, set, scale, plain transform, reduce.

Sizes for reductions are those of cuDNN 9.14 and 9.19. Operators without indices do not write them;
indices have 32 bits for every descriptor.
"""

from __future__ import annotations

import math

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype, vector_length
from ...raw.descriptors import OpTensor, ReduceTensor
from ..arithmetic import blend, round_to
from ..tensor_operations import (
    INDEXED,
    add_tensor,
    op_tensor,
    reduce_indices,
    reduce_tensor,
    scale_tensor,
)
from .call import Call, word
from .memory import Operand
from .registry import implements


@implements("cudnnTransformTensor")
def transform(call: Call) -> None:
    """The factors are doubles if x or y holds doubles."""
    x, y = call.operands("x", "y")
    call.check()
    factors = call.factors()
    values = x.load().astype(np.result_type(x.compute_dtype, y.compute_dtype))
    y.store(blend(values, y.prior(factors["beta"]), out_dtype=y.dtype, name="y", **factors))


@implements("cudnnAddTensor")
def add(call: Call) -> None:
    call.compute(add_tensor, "A", "C", exact=True)


@implements("cudnnOpTensor")
def op(call: Call) -> None:
    a, b, c = call.operands("A", "B", "C")
    described = call.record("opTensorDesc", OpTensor)
    call.check()
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
    call.check()
    value = np.array(call.factors()["valuePtr"])
    y.store(np.broadcast_to(round_to(value, y.dtype), y.shape))


@implements("cudnnScaleTensor")
def scale(call: Call) -> None:
    y = call.operand("y")
    call.check()
    y.store(scale_tensor(y.load(), **call.factors()))


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
    call.check()
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


def _indices_bytes(described: ReduceTensor, c: Operand) -> int:
    elements = math.prod(c.shape) // vector_length(c.data_type)
    return _INDEX_BYTES * elements if described.indices else 0


def _workspace_bytes(described: ReduceTensor, a: Operand, c: Operand) -> int:
    elements = math.prod(a.shape)
    nbytes = (8 if described.compute_data_type == raw.CUDNN_DATA_DOUBLE else 4) * elements
    if described.indices:
        left = elements
        if math.prod(c.shape) == 1:
            left = -(-elements // _ELEMENTS_PER_INDEX)
        nbytes += _INDEX_BYTES * left
    return nbytes
