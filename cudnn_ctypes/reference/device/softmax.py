"""Softmax on the reference device.

Statuses are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes and types that differ, for strides
that differ between y and dy, and for an unknown algorithm or mode.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ...raw.descriptors import Tensor
from ..softmax import Algorithm, SoftmaxMode, softmax_backward, softmax_forward
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

_ALGORITHMS: dict[Any, Algorithm] = {
    raw.CUDNN_SOFTMAX_FAST: "fast",
    raw.CUDNN_SOFTMAX_ACCURATE: "accurate",
    raw.CUDNN_SOFTMAX_LOG: "log",
}
_MODES: dict[Any, SoftmaxMode] = {
    raw.CUDNN_SOFTMAX_MODE_INSTANCE: "instance",
    raw.CUDNN_SOFTMAX_MODE_CHANNEL: "channel",
}


@implements("cudnnSoftmaxForward")
def forward(
    handle: Any,
    algo: raw.cudnnSoftmaxAlgorithm_t,
    mode: raw.cudnnSoftmaxMode_t,
    alpha: int | None,
    xDesc: Any,
    x: int | None,
    beta: int | None,
    yDesc: Any,
    y: int | None,
) -> None:
    require(x=x, y=y)
    options = _options(algo, mode)
    source = Operand("x", read(Tensor, xDesc, "xDesc"), x)
    target = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    require_layout(source, "a softmax")
    require_equal(source, target)
    require_type(source, (*FLOATING, raw.CUDNN_DATA_INT8), "softmax")
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    result = softmax_forward(
        source.load(),
        y=target.prior(factors["beta"]),
        compute_dtype=compute_dtype(source),
        **options,
        **factors,
    )
    target.store(result)


@implements("cudnnSoftmaxBackward")
def backward(
    handle: Any,
    algo: raw.cudnnSoftmaxAlgorithm_t,
    mode: raw.cudnnSoftmaxMode_t,
    alpha: int | None,
    yDesc: Any,
    y: int | None,
    dyDesc: Any,
    dy: int | None,
    beta: int | None,
    dxDesc: Any,
    dx: int | None,
) -> None:
    require(y=y, dy=dy, dx=dx)
    options = _options(algo, mode)
    output = Operand("y", read(Tensor, yDesc, "yDesc"), y)
    gradient = Operand("dy", read(Tensor, dyDesc, "dyDesc"), dy)
    target = Operand("dx", read(Tensor, dxDesc, "dxDesc"), dx)
    require_layout(output, "the gradient of a softmax")
    require_equal(output, gradient, target)
    require_equal(output, gradient, fields=("strides",))
    require_in_place(gradient, target)
    require_type(output, FLOATING, "softmax gradient")
    factors = scalars(target.described.data_type, alpha=alpha, beta=beta)
    result = softmax_backward(
        output.load(),
        gradient.load(),
        dx=target.prior(factors["beta"]),
        compute_dtype=compute_dtype(output),
        **options,
        **factors,
    )
    target.store(result)


def _options(algo: raw.cudnnSoftmaxAlgorithm_t, mode: raw.cudnnSoftmaxMode_t) -> dict[str, Any]:
    for name, value, known in (("algo", algo, _ALGORITHMS), ("mode", mode, _MODES)):
        if value not in known:
            raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is {value}")
    return {"algorithm": _ALGORITHMS[algo], "mode": _MODES[mode]}
