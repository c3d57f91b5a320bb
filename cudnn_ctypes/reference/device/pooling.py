"""Pooling on the reference device.

Statuses are those of cuDNN 9.14 and 9.19: BAD_PARAM for shapes, types or strides that do not fit
together, NOT_SUPPORTED for other than 2 or 3 spatial dimensions. The sizes of y are free.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ...errors import FaultWarning
from ...raw.descriptors import Pooling
from ...raw.host_blocks import warn
from ..layout import packed_strides
from ..pooling import pooling_backward, pooling_forward
from .agreement import (
    FLOATING,
    compute_dtype,
    require_dimensions,
    require_equal,
    require_type,
    word,
)
from .call import Call
from .memory import Operand
from .registry import bad_param, implements

_FORWARD_TYPES = (
    *FLOATING,
    raw.CUDNN_DATA_INT8,
    raw.CUDNN_DATA_INT8x4,
    raw.CUDNN_DATA_INT8x32,
)


@implements("cudnnPoolingForward")
def forward(call: Call) -> None:
    x, y = call.operands("x", "y")
    pooling = call.record("poolingDesc", Pooling)
    for each in (x, y):
        require_type(each, _FORWARD_TYPES, "pooling")
    _check(pooling, x, y)
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
        compute_dtype=compute_dtype(x),
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
        for each in (dx, dy):
            require_type(each, FLOATING, "pooling gradient")
    else:
        y, dy, x, dx = call.operands("y", "dy", "x", "dx")
    require_equal(y, dy, fields=("data_type", "shape", "strides"))
    require_equal(x, dx, fields=("data_type", "shape", "strides"))
    _check(pooling, x, dy)
    require_type(x, FLOATING, "pooling gradient")
    dx.keep_apart(*((dy,) if averages else (x, dy)))
    options = _options(pooling)
    if options["mode"] == "max" and not (len(x.shape) == 4 and _is_packed(x) and _is_packed(y)):
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
        compute_dtype=compute_dtype(x),
        **factors,
    )
    dx.store(result)


def _is_packed(tensor: Operand) -> bool:
    wanted = packed_strides(tensor.shape)
    axes = zip(tensor.shape, tensor.strides, wanted, strict=True)
    return all(size == 1 or stride == packed for size, stride, packed in axes)


def _check(pooling: Pooling, x: Operand, y: Operand) -> None:
    require_equal(x, y, fields=("data_type",))
    spatial = len(pooling.window)
    if len(x.shape) != spatial + 2:
        raise bad_param(
            f"poolingDesc holds {spatial} spatial dimensions, {x.name} has the shape {x.shape}"
        )
    require_dimensions(x, 4, 5, "pooling")
    if len(y.shape) != len(x.shape) or y.shape[:2] != x.shape[:2]:
        raise bad_param(f"{y.name} must have the N and C of {x.name}, got {y.shape} and {x.shape}")


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
