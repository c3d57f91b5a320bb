"""Batch normalization fused into the convolutions before and after it.

A convolution applies a scale and a bias per channel to its input, and sums up its output; the
functions of `fused_statistics` make of these sums the next scale and bias. The formulas stand in
``cudnn_ctypes.reference.fused_operations``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import expect, integers
from ..handle import Handle
from .activation import ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .fused_call import FusedCall
from .launch import launched_by_alignment
from .operands import Made

__all__ = [
    "ConvolutionStatisticsResult",
    "scale_bias_activation_backward_filter",
    "scale_bias_activation_convolution",
]


class ConvolutionStatisticsResult(NamedTuple):
    """y (N, K, output...), and the sums of y and y^2, float32 (1, K, 1...); None without them.

    For an example see `scale_bias_activation_convolution`.
    """

    y: Any
    y_sum: Any
    y_sqsum: Any


@launched_by_alignment
def scale_bias_activation_convolution(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    scale: Any = None,
    bias: Any = None,
    y: Any = None,
    *,
    y_sum: Any = None,
    y_sqsum: Any = None,
    activation: ActivationDescriptor | str | None = None,
    statistics: bool = True,
    workspace: Any = None,
) -> ConvolutionStatisticsResult:
    """y = conv(act(x * scale + bias), w), with the sums of y and y^2.

    Follows ``CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS``.

    Parameters
    ----------
    x : tensor
        (N, C, H, W), float16 in NHWC; cuDNN has kernels for nothing else.
    w : tensor
        (K, C / groups, R, S), in the type and layout of x.
    scale, bias : tensor, optional
        (C,) or (1, C, 1, 1). Default: not applied.
    y : tensor, optional
        Default: allocated.
    y_sum, y_sqsum : tensor, optional
        float32 (1, K, 1...). Default: allocated.
    activation : ActivationDescriptor or str, optional
        "relu" or "identity", the default.
    statistics : bool
        Whether to sum up; cuDNN 9.14 and 9.19 have kernels for that up to compute capability 8.9.
    workspace : DeviceBuffer or tensor, optional
        Default: allocated for the call.

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes do not fit together; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the combination.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 8, 4, 4), 1, "float16", layout="NHWC")
    >>> w = DeviceTensor.full((8, 8, 1, 1), 1, "float16", layout="NHWC")
    >>> scale, bias = (DeviceTensor.full((8,), value, "float16") for value in (2, 1))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     result = scale_bias_activation_convolution(
    ...         handle, x, w, conv, scale, bias, activation="relu", statistics=False
    ...     )
    >>> result.y.numpy()[0, 0, 0, 0].item()  # 8 channels of 2 * 1 + 1
    24.0
    """
    if not statistics and (y_sum is not None or y_sqsum is not None):
        raise ValueError("y_sum and y_sqsum: only with statistics=True")
    tensors = {"x": x, "w": w, "scale": scale, "bias": bias}
    tensors |= {"y": y, "y_sum": y_sum, "y_sqsum": y_sqsum}
    operation = raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS
    with FusedCall(handle, operation, **tensors) as call:
        x_desc = call.pack("x", call.describe("x"), "xdesc", "xdata")
        w_desc = call.pack("w", call.describe_filter("w"), "wdesc", "wdata")
        call.constants["conv_desc"] = expect("conv", conv, ConvolutionDescriptor)
        shape = conv.output_shape(x_desc, w_desc)
        y = call.result("y", shape, x_desc.data_type)
        y_desc = call.pack("y", call.describe("y"), "ydesc", "ydata", written=True)
        if y_desc.shape != shape:
            raise ValueError(f"y: expected shape {shape}, got {y_desc.shape}")
        call.input(x_desc.shape, activation)
        if statistics:
            # Unset it is per activation, and cuDNN wants sums for every pixel, which no kernel has.
            call.constants["bn_mode"] = "spatial"
            wanted = (1, shape[1], *(1,) * (len(shape) - 2))
            y_sum = call.result("y_sum", wanted, "float32")
            y_sqsum = call.result("y_sqsum", wanted, "float32")
            call.same("y_sum", wanted, "ystats_desc", "ysum", written=True)
            call.same("y_sqsum", wanted, "ystats_desc", "ysqsum", written=True)
        call.run(workspace)
    return ConvolutionStatisticsResult(y, y_sum, y_sqsum)


@launched_by_alignment
def scale_bias_activation_backward_filter(
    handle: Handle,
    conv: ConvolutionDescriptor,
    *,
    x: Any,
    dy: Any,
    scale: Any = None,
    bias: Any = None,
    dw: Made | None = None,
    dw_shape: tuple[int, ...] | None = None,
    activation: ActivationDescriptor | str | None = None,
    workspace: Any = None,
) -> Made:
    """dw, the gradient of w where y = conv(act(x * scale + bias), w).

    Follows ``CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD``.

    Parameters
    ----------
    x, dy : tensor
        (N, C, H, W) and (N, K, output...); both float16, or both float32.
    dw : tensor, optional
        (K, C / groups, R, S), of the same type. Default: allocated, in the layout of x.
    dw_shape : tuple of int, optional
        Shape of w, needed if dw is not given.

    The other parameters, and the errors, are those of `scale_bias_activation_convolution`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 8, 4, 4), 1, "float16", layout="NHWC")
    >>> scale, bias = (DeviceTensor.full((8,), value, "float16") for value in (2, 1))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     dw = scale_bias_activation_backward_filter(
    ...         handle, conv, x=x, dy=x, scale=scale, bias=bias, dw_shape=(8, 8, 1, 1)
    ...     )
    >>> dw.numpy()[0, 0].item()  # 16 pixels of 2 * 1 + 1
    48.0
    """
    tensors = {"x": x, "dy": dy, "scale": scale, "bias": bias, "dw": dw}
    with FusedCall(handle, raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD, **tensors) as call:
        x_desc = call.pack("x", call.describe("x"), "xdesc", "xdata")
        dy_desc = call.pack("dy", call.describe("dy"), "dydesc", "dydata")
        if dw is None:
            if dw_shape is None:
                raise ValueError("dw: pass dw_shape or dw itself")
            dw = call.make("dw", integers("dw_shape", dw_shape), x_desc.data_type)
        dw_desc = call.pack("dw", call.describe_filter("dw"), "dwdesc", "dwdata", written=True)
        call.constants["conv_desc"] = expect("conv", conv, ConvolutionDescriptor)
        shape = conv.output_shape(x_desc, dw_desc)
        if dy_desc.shape != shape:
            raise ValueError(f"dy: expected shape {shape}, got {dy_desc.shape}")
        call.input(x_desc.shape, activation)
        call.run(workspace)
    return dw
