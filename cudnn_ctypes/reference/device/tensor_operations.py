"""Element-wise tensor functions on the reference device: add, op, set, scale, plain transform."""

from __future__ import annotations

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw.descriptors import OpTensor
from ..arithmetic import blend, round_to
from ..tensor_operations import add_tensor, op_tensor, scale_tensor
from .call import Call, word
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
    a, c = call.operands("A", "C")
    call.check()
    factors = call.factors()
    memory = c.prior(factors["beta"])
    c.store(add_tensor(a.load(), memory, out=memory, **factors))


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
