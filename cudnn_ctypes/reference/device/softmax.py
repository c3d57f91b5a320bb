"""Softmax on the reference device.

Statuses are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes and types that differ, for strides
that differ between y and dy, and for an unknown algorithm or mode.
"""

from __future__ import annotations

from typing import Any

from ... import raw
from ..softmax import Algorithm, SoftmaxMode, softmax_backward, softmax_forward
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
def forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    options = _options(call)
    require_rank("a softmax", x, y)
    require_equal(x, y)
    require_layout("a softmax", x, y)
    require_type(x, (*FLOATING, raw.CUDNN_DATA_INT8), "softmax")
    factors = call.factors()
    result = softmax_forward(
        x.load(),
        y=y.prior(factors["beta"]),
        compute_dtype=compute_dtype(x),
        **options,
        **factors,
    )
    y.store(result)


@implements("cudnnSoftmaxBackward")
def backward(call: Call) -> None:
    y, dy, dx = call.operands("y", "dy", "dx")
    options = _options(call)
    require_rank("the gradient of a softmax", y, dy, dx)
    require_equal(y, dy, dx)
    require_equal(y, dy, fields=("strides",))
    require_layout("the gradient of a softmax", y, dx)
    require_in_place(dy, dx)
    require_type(y, FLOATING, "softmax gradient")
    factors = call.factors()
    result = softmax_backward(
        y=y.load(),
        dy=dy.load(),
        dx=dx.prior(factors["beta"]),
        compute_dtype=compute_dtype(y),
        **options,
        **factors,
    )
    dx.store(result)


def _options(call: Call) -> dict[str, Any]:
    for name, known in (("algo", _ALGORITHMS), ("mode", _MODES)):
        if call[name] not in known:
            raise bad_param(f"{name} is {call[name]}")
    return {"algorithm": _ALGORITHMS[call["algo"]], "mode": _MODES[call["mode"]]}
