"""Pooling on the reference device.

Statuses are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes, types or strides that do not fit
each other, NOT_SUPPORTED for other than 2 or 3 spatial dimensions. The sizes of y are free.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw.descriptors import Pooling, Tensor
from ..pooling import pooling_backward, pooling_forward
from .agreement import FLOATING, compute_dtype, require_dimensions, require_equal, require_type
from .dispatch import Refused, implements
from .held import read, word
from .memory import Operand, require, scalars

_FORWARD_TYPES = (
    *FLOATING,
    raw.CUDNN_DATA_INT8,
    raw.CUDNN_DATA_INT8x4,
    raw.CUDNN_DATA_INT8x32,
)


@implements("cudnnPoolingForward")
def forward(
    handle: Any,
    poolingDesc: Any,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    require(x=x, y=y)
    described = read(Pooling, poolingDesc, "poolingDesc")
    source = Operand("x", read(Tensor, xDesc, "xDesc"), x)
    target = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    _check(described, source, target)
    require_type(source, _FORWARD_TYPES, "pooling")
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    result = pooling_forward(
        source.load(),
        described.window,
        **_options(described),
        y_shape=target.described.shape,
        y=target.prior(factors["beta"]),
        compute_dtype=compute_dtype(source),
        **factors,
    )
    target.store(result)


@implements("cudnnPoolingBackward")
def backward(
    handle: Any,
    poolingDesc: Any,
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
    described = read(Pooling, poolingDesc, "poolingDesc")
    output = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    gradient = Operand("dy", read(Tensor, dyDesc, "dyDesc"), dy)
    source = Operand("x", read(Tensor, xDesc, "xDesc"), x)
    target = Operand("dx", read(Tensor, dxDesc, "dxDesc"), dx)
    require_equal(output, gradient, fields=("data_type", "shape", "strides"))
    require_equal(source, target, fields=("data_type", "shape", "strides"))
    _check(described, source, gradient)
    require_type(source, FLOATING, "pooling gradient")
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    output.check()
    result = pooling_backward(
        gradient.load(),
        source.load(),
        described.window,
        **_options(described),
        dx=target.prior(factors["beta"]),
        compute_dtype=compute_dtype(source),
        **factors,
    )
    target.store(result)


def _check(described: Pooling, x: Operand, y: Operand) -> None:
    require_equal(x, y, fields=("data_type",))
    shape, spatial = x.described.shape, len(described.window)
    if len(shape) != spatial + 2:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"poolingDesc holds {spatial} spatial dimensions, {x.name} has the shape {shape}",
        )
    require_dimensions(x, 4, 5, "pooling")
    if len(y.described.shape) != len(shape) or y.described.shape[:2] != shape[:2]:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"{y.name} must have the N and C of {x.name}, got {y.described.shape} and {shape}",
        )


def _options(described: Pooling) -> dict[str, Any]:
    return {
        "mode": word(described.mode, "CUDNN_POOLING_"),
        "padding": described.padding,
        "stride": described.stride,
        "propagate_nan": described.nan_propagation == raw.CUDNN_PROPAGATE_NAN,
    }
