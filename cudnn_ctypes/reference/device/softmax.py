"""Softmax on the reference device; BAD_PARAM for an unknown algorithm or mode."""

from __future__ import annotations

from typing import Any

from ... import raw
from ..softmax import Algorithm, SoftmaxMode, softmax_backward, softmax_forward
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
    factors = call.factors()
    result = softmax_forward(
        x.load(),
        y=y.prior(factors["beta"]),
        compute_dtype=x.compute_dtype,
        **options,
        **factors,
    )
    y.store(result)


@implements("cudnnSoftmaxBackward")
def backward(call: Call) -> None:
    y, dy, dx = call.operands("y", "dy", "dx")
    options = _options(call)
    factors = call.factors()
    result = softmax_backward(
        y=y.load(),
        dy=dy.load(),
        dx=dx.prior(factors["beta"]),
        compute_dtype=y.compute_dtype,
        **options,
        **factors,
    )
    dx.store(result)


def _options(call: Call) -> dict[str, Any]:
    for name, known in (("algo", _ALGORITHMS), ("mode", _MODES)):
        if call[name] not in known:
            raise bad_param(f"{name} is {call[name]}")
    call.check()
    return {"algorithm": _ALGORITHMS[call["algo"]], "mode": _MODES[call["mode"]]}
