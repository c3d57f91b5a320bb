"""Activations on the reference device.

The gradient reads either x or y; the other one may be NULL.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw import descriptors
from ...raw.operand_rules.images import OF_X
from ..activation import Activation, activation_backward, activation_forward
from .call import Call
from .registry import implements

_MODES: dict[Any, Activation] = {
    raw.CUDNN_ACTIVATION_SIGMOID: "sigmoid",
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_TANH: "tanh",
    raw.CUDNN_ACTIVATION_CLIPPED_RELU: "clipped_relu",
    raw.CUDNN_ACTIVATION_ELU: "elu",
    raw.CUDNN_ACTIVATION_SWISH: "swish",
}


@implements("cudnnActivationForward")
def forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    mode, coefficient, propagate_nan = _function(call)
    factors = call.factors()
    memory = y.prior(factors["beta"])
    result = activation_forward(
        x.load(),
        mode,
        coefficient,
        propagate_nan=propagate_nan,
        y=memory,
        out=memory,
        compute_dtype=x.compute_dtype,
        **factors,
    )
    y.store(result)


@implements("cudnnActivationBackward")
def backward(call: Call) -> None:
    read = "x" if call.record("activationDesc", descriptors.Activation).mode in OF_X else "y"
    source, dy, dx = call.operands(read, "dy", "dx")
    mode, coefficient, _ = _function(call)
    values, factors = source.load(), call.factors()
    memory = dx.prior(factors["beta"])
    result = activation_backward(
        mode,
        coefficient,
        y=values,
        dy=dy.load(),
        x=values,
        dx=memory,
        out=memory,
        compute_dtype=source.compute_dtype,
        **factors,
    )
    dx.store(result)


def _function(call: Call) -> tuple[Activation, float, bool]:
    """The function, its coefficient, and whether it keeps NaN; of operands that fit together."""
    record = call.record("activationDesc", descriptors.Activation)
    call.check()
    mode = _MODES[record.mode]
    coefficient = record.swish_beta if mode == "swish" else record.coef
    return mode, coefficient, record.nan_propagation == raw.CUDNN_PROPAGATE_NAN
