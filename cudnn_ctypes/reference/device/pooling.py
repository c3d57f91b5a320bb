"""Pooling on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...errors import FaultWarning
from ...raw.descriptors import Pooling
from ...raw.host_blocks import warn
from ...raw.strides import has_strides, packed
from ..pooling import pooling_backward, pooling_forward
from .call import Call, word
from .memory import Operand
from .registry import implements


@implements("cudnnPoolingForward")
def forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    pooling = call.record("poolingDesc", Pooling)
    call.check()
    y.keep_apart(x)
    _warn_of_windows_outside(pooling, x, y)
    factors = call.factors()
    memory = y.prior(factors["beta"])
    result = pooling_forward(
        x.load(),
        pooling.window,
        **_options(pooling),
        y_shape=y.shape,
        y=memory,
        out=memory,
        compute_dtype=x.compute_dtype,
        **factors,
    )
    y.store(result)


@implements("cudnnPoolingBackward")
def backward(call: Call) -> None:
    pooling = call.record("poolingDesc", Pooling)
    averages = pooling.mode not in (
        raw.CUDNN_POOLING_MAX,
        raw.CUDNN_POOLING_MAX_DETERMINISTIC,
    )
    if averages:  # nothing of x and y is needed, and their descriptors may say anything
        dy, dx = call.operands("dy", "dx")
        y, x = dy, dx
    else:
        y, dy, x, dx = call.operands("y", "dy", "x", "dx")
    call.check()
    dx.keep_apart(*((dy,) if averages else (x, dy)))
    options = _options(pooling)
    if options["mode"] == "max" and not (
        len(x.shape) == 4 and all(has_strides(each, packed(each.shape)) for each in (x, y))
    ):
        options["mode"] = "max_deterministic"
    factors = call.factors()
    y.check()
    memory = dx.prior(factors["beta"])
    result = pooling_backward(
        pooling.window,
        dy=dy.load(),
        x=np.broadcast_to(np.zeros((), x.dtype), x.shape) if averages else x.load(),
        **options,
        dx=memory,
        out=memory,
        compute_dtype=x.compute_dtype,
        **factors,
    )
    dx.store(result)


def _warn_of_windows_outside(pooling: Pooling, x: Operand, y: Operand) -> None:
    """Warn of elements of y that no element of x decides."""
    axes = zip(
        x.shape[2:], pooling.window, pooling.padding, pooling.stride, y.shape[2:], strict=True
    )
    for axis, (size, window, padding, stride, number) in enumerate(axes):
        own = (size + 2 * padding - window) // stride + 1
        if padding >= window or (min(own, number) - 1) * stride - padding >= size:
            argument, what = "poolingDesc", f"a padding of {padding} beside a window of {window}"
        elif (number - 1) * stride - padding >= size:
            argument, what = "yDesc", f"{number} elements of y where x has {size}"
        else:
            continue
        warn(
            f"cudnnPoolingForward: {argument}: {what} along spatial dimension {axis} makes windows "
            f"outside the image; a maximum is the lowest number there, an average 0 or NaN",
            FaultWarning,
        )


def _options(pooling: Pooling) -> dict[str, Any]:
    return {
        "mode": word(pooling.mode, "CUDNN_POOLING_"),
        "padding": pooling.padding,
        "stride": pooling.stride,
        "propagate_nan": pooling.nan_propagation == raw.CUDNN_PROPAGATE_NAN,
    }
