"""Activations on the reference device.

Statuses follow cuDNN's documentation: forward, BAD_PARAM for shapes and types that differ;
backward, NOT_SUPPORTED for them and for strides that differ between x and dx, or y and dy. The
identity is for `cudnnConvolutionBiasActivationForward` only.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ..activation import Activation, activation_backward, activation_forward
from . import readback
from .agreement import FLOATING, compute_dtype, require_equal, require_in_place, require_type
from .dispatch import Refused, implements
from .memory import Operand, require, scalars

_MODES: dict[Any, Activation] = {
    raw.CUDNN_ACTIVATION_SIGMOID: "sigmoid",
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_TANH: "tanh",
    raw.CUDNN_ACTIVATION_CLIPPED_RELU: "clipped_relu",
    raw.CUDNN_ACTIVATION_ELU: "elu",
    raw.CUDNN_ACTIVATION_SWISH: "swish",
}


@implements("cudnnActivationForward")
def forward(
    handle: Any,
    activationDesc: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    require(x=x, y=y)
    described = readback.activation(activationDesc, "activationDesc")
    source = Operand("x", readback.tensor(xDesc, "xDesc"), x)
    target = Operand("y", readback.tensor(yDesc, "yDesc"), y)
    require_equal(source, target)
    require_in_place(source, target)
    require_type(source, FLOATING, "activation")
    mode, coefficient = _function(described)
    result = activation_forward(
        source.load(),
        mode,
        coefficient,
        propagate_nan=described.nan_propagation == raw.CUDNN_PROPAGATE_NAN,
        y=target.load(),
        compute_dtype=compute_dtype(source),
        **scalars(target.described.data_type, alpha=alpha, beta=beta),
    )
    target.store(result)


@implements("cudnnActivationBackward")
def backward(
    handle: Any,
    activationDesc: Any,
    alpha: int | None,
    yDesc: Any,
    y: int | None,
    dyDesc: Any,
    dy: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    dxDesc: Any,
    dx: int | None,
) -> None:
    require(y=y, dy=dy, x=x, dx=dx)
    described = readback.activation(activationDesc, "activationDesc")
    output = Operand("y", readback.tensor(yDesc, "yDesc"), y)
    gradient = Operand("dy", readback.tensor(dyDesc, "dyDesc"), dy)
    source = Operand("x", readback.tensor(xDesc, "xDesc"), x)
    target = Operand("dx", readback.tensor(dxDesc, "dxDesc"), dx)
    unsupported = raw.CUDNN_STATUS_NOT_SUPPORTED
    require_in_place(gradient, target)
    require_equal(source, output, gradient, target, status=unsupported)
    require_equal(source, target, fields=("strides",), status=unsupported)
    require_equal(output, gradient, fields=("strides",), status=unsupported)
    require_type(source, FLOATING, "activation gradient")
    mode, coefficient = _function(described)
    result = activation_backward(
        output.load(),
        gradient.load(),
        source.load(),
        mode,
        coefficient,
        dx=target.load(),
        compute_dtype=compute_dtype(source),
        **scalars(target.described.data_type, alpha=alpha, beta=beta),
    )
    target.store(result)


def _function(described: readback.Activation) -> tuple[Activation, float]:
    if described.mode == raw.CUDNN_ACTIVATION_IDENTITY:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            "CUDNN_ACTIVATION_IDENTITY is for cudnnConvolutionBiasActivationForward only",
        )
    mode = _MODES[described.mode]
    return mode, described.swish_beta if mode == "swish" else described.coefficient
