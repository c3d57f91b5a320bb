"""Activations on the reference device.

Statuses are those of cuDNN 9.14 and 9.19: forward, BAD_PARAM for shapes and types that differ;
backward, NOT_SUPPORTED for them, and for strides that differ. The gradient reads either x or y,
and does not look at the other, which may be NULL. The identity is for
`cudnnConvolutionBiasActivationForward` only.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw import descriptors
from ...raw.descriptors import Tensor
from ..activation import Activation, activation_backward, activation_forward
from .agreement import (
    FLOATING,
    compute_dtype,
    require_equal,
    require_in_place,
    require_layout,
    require_type,
)
from .dispatch import Refused, implements
from .held import read
from .memory import Operand, require, scalars

_MODES: dict[Any, Activation] = {
    raw.CUDNN_ACTIVATION_SIGMOID: "sigmoid",
    raw.CUDNN_ACTIVATION_RELU: "relu",
    raw.CUDNN_ACTIVATION_TANH: "tanh",
    raw.CUDNN_ACTIVATION_CLIPPED_RELU: "clipped_relu",
    raw.CUDNN_ACTIVATION_ELU: "elu",
    raw.CUDNN_ACTIVATION_SWISH: "swish",
}
_OF_X = ("relu", "clipped_relu", "swish")  # whose gradients read x; those of the others read y


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
    mode, coefficient, propagate_nan = _function(activationDesc)
    source = Operand("x", read(Tensor, xDesc, "xDesc"), x)
    target = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    require_equal(source, target)
    require_in_place(source, target)
    require_layout(source, "an activation")
    require_type(source, (*FLOATING, raw.CUDNN_DATA_INT8), "activation")
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    result = activation_forward(
        source.load(),
        mode,
        coefficient,
        propagate_nan=propagate_nan,
        y=target.prior(factors["beta"]),
        compute_dtype=compute_dtype(source),
        **factors,
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
    mode, coefficient, _ = _function(activationDesc)
    name, desc, address = ("x", xDesc, x) if mode in _OF_X else ("y", yDesc, y)
    require(**{name: address}, dy=dy, dx=dx)
    source = Operand(name, read(Tensor, desc, f"{name}Desc"), address)
    gradient = Operand("dy", read(Tensor, dyDesc, "dyDesc"), dy)
    target = Operand("dx", read(Tensor, dxDesc, "dxDesc"), dx)
    require_layout(source, "the gradient of an activation")
    for other in (gradient, target):
        if len(other.described.shape) != len(source.described.shape):
            require_equal(source, other, fields=("shape",))
    require_in_place(gradient, target)
    require_equal(
        source,
        gradient,
        target,
        fields=("data_type", "shape", "strides"),
        status=raw.CUDNN_STATUS_NOT_SUPPORTED,
    )
    require_type(source, FLOATING, "activation gradient")
    values = source.load()
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    result = activation_backward(
        values,
        gradient.load(),
        values,
        mode,
        coefficient,
        dx=target.prior(factors["beta"]),
        compute_dtype=compute_dtype(source),
        **factors,
    )
    target.store(result)


def _function(descriptor: Any) -> tuple[Activation, float, bool]:
    """The function, its coefficient, and whether it keeps NaN."""
    described = read(descriptors.Activation, descriptor, "activationDesc")
    if described.mode == raw.CUDNN_ACTIVATION_IDENTITY:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            "CUDNN_ACTIVATION_IDENTITY is for cudnnConvolutionBiasActivationForward only",
        )
    mode = _MODES[described.mode]
    coefficient = described.swish_beta if mode == "swish" else described.coef
    return mode, coefficient, described.nan_propagation == raw.CUDNN_PROPAGATE_NAN
