"""Activations on the reference device.

Statuses are those of cuDNN 9.14 and 9.19: forward, BAD_PARAM for shapes and types that differ;
backward, NOT_SUPPORTED for these and for strides that differ. The gradient reads either x or y; the
other one may be NULL. The identity is for `cudnnConvolutionBiasActivationForward` only.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw import descriptors
from ..activation import Activation, activation_backward, activation_forward
from .agreement import (
    FLOATING,
    compute_dtype,
    require_equal,
    require_in_place,
    require_layout,
    require_rank,
    require_type,
)
from .call import Call
from .registry import bad_param, implements

_MODES: dict[Any, Activation] = {
    raw.CUDNN_ACTIVATION_SIGMOID: "sigmoid",
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_TANH: "tanh",
    raw.CUDNN_ACTIVATION_CLIPPED_RELU: "clipped_relu",
    raw.CUDNN_ACTIVATION_ELU: "elu",
    raw.CUDNN_ACTIVATION_SWISH: "swish",
}
_OF_X = ("relu", "clipped_relu", "swish")  # their gradients read x; other gradients read y


@implements("cudnnActivationForward")
def forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    mode, coefficient, propagate_nan = _function(call)
    require_equal(x, y)
    require_in_place(x, y)
    require_rank("an activation", x, y)
    require_layout("an activation", x, y)
    require_type(x, (*FLOATING, raw.CUDNN_DATA_INT8), "activation")
    factors = call.factors()
    memory = y.prior(factors["beta"])
    result = activation_forward(
        x.load(),
        mode,
        coefficient,
        propagate_nan=propagate_nan,
        y=memory,
        out=memory,
        compute_dtype=compute_dtype(x),
        **factors,
    )
    y.store(result)


@implements("cudnnActivationBackward")
def backward(call: Call) -> None:
    mode, coefficient, _ = _function(call)
    source, dy, dx = call.operands("x" if mode in _OF_X else "y", "dy", "dx")
    require_rank("the gradient of an activation", source, dy, dx)
    for other in (dy, dx):
        if len(other.shape) != len(source.shape):
            require_equal(source, other, fields=("shape",))
    require_in_place(dy, dx)
    require_equal(
        source,
        dy,
        dx,
        fields=("data_type", "shape", "strides"),
        status=raw.CUDNN_STATUS_NOT_SUPPORTED,
    )
    require_layout("the gradient of an activation", source)
    require_type(source, FLOATING, "activation gradient")
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
        compute_dtype=compute_dtype(source),
        **factors,
    )
    dx.store(result)


def _function(call: Call) -> tuple[Activation, float, bool]:
    """The function, its coefficient, and whether it keeps NaN."""
    record = call.record("activationDesc", descriptors.Activation)
    if record.mode == raw.CUDNN_ACTIVATION_IDENTITY:
        raise bad_param(
            "CUDNN_ACTIVATION_IDENTITY is for cudnnConvolutionBiasActivationForward only"
        )
    mode = _MODES[record.mode]
    coefficient = record.swish_beta if mode == "swish" else record.coef
    return mode, coefficient, record.nan_propagation == raw.CUDNN_PROPAGATE_NAN
