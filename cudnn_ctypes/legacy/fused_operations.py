"""Batch normalization fused into the convolutions before and after it.

A convolution applies a scale and a bias per channel to its input, and sums up its output; the
functions of `fused_statistics` make of these sums the next scale and bias. The formulas stand in
``cudnn_ctypes.reference.fused_operations``. Each call makes a plan; to execute one many times, use
`FusedOpsPlan`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..handle import Handle
from .activation import ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .fused_call import FusedCall
from .operands import Made, Operands, expect

__all__ = [
    "ConvolutionStatistics",
    "scale_bias_activation_backward_filter",
    "scale_bias_activation_convolution",
]


class ConvolutionStatistics(NamedTuple):
    """y (N, K, output...), and the sums of y and y^2, float32 (1, K, 1...); None without them."""

    y: Any
    y_sum: Any
    y_sqsum: Any


def scale_bias_activation_convolution(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    scale: Any = None,
    bias: Any = None,
    y: Any = None,
    *,
    activation: ActivationDescriptor | str | None = None,
    statistics: bool = True,
    workspace: Any = None,
) -> ConvolutionStatistics:
    """y = conv(act(x * scale + bias), w), with the sums of y and y^2.

    Follows ``CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS``.

    Parameters
    ----------
    x : tensor
        (N, C, H, W), float16 in NHWC; cuDNN has kernels for nothing else.
    w : tensor
        (K, C / groups, R, S), in the type and layout of x.
    scale, bias : tensor, optional
        (C,) or (1, C, 1, 1). Left out: not applied.
    y : tensor, optional
        Left out: made.
    activation : ActivationDescriptor or str, optional
        "relu" or "identity", the default.
    statistics : bool
        Whether to sum up; cuDNN 9.14 and 9.19 have kernels for that up to compute capability 8.9.
    workspace : DeviceBuffer or tensor, optional
        Left out: allocated for the call.

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes do not fit together; the message names the argument.
    NotSupportedError
        If cuDNN has no kernel for the combination.
    """
    with Operands(
        handle,
        x=(x, None),
        w=(w, None),
        scale=(scale, None),
        bias=(bias, None),
        y=(y, None),
        y_sum=(None, None),
        y_sqsum=(None, None),
    ) as operands:
        call = FusedCall(operands, handle, raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS)
        x_desc = call.add("x", operands.tensor("x"), "xdesc", "xdata")
        w_desc = call.add("w", operands.filter("w"), "wdesc", "wdata")
        expect("conv", conv, ConvolutionDescriptor)
        shape = conv.output_shape(x_desc, w_desc)
        if y is None:
            y = operands.make("y", shape, x_desc.data_type)
        y_desc = call.add("y", operands.tensor("y"), "ydesc", "ydata", written=True)
        if y_desc.shape != shape:
            raise ValueError(f"y: expected shape {shape}, got {y_desc.shape}")
        call.constants["conv_desc"] = conv
        call.input(x_desc.shape, scale, bias, activation)
        sums: list[Any] = [None, None]
        if statistics:
            # Unset it is per activation, and cuDNN wants sums for every pixel, which no kernel has.
            call.constants["bn_mode"] = "spatial"
            wanted = (1, shape[1], *(1,) * (len(shape) - 2))
            for i, name in enumerate(("y_sum", "y_sqsum")):
                sums[i] = operands.make(name, wanted, "float32")
                label = name.replace("_", "")
                call.add(name, operands.tensor(name), "ystats_desc", label, written=True)
        call.run(workspace)
    return ConvolutionStatistics(y, *sums)


def scale_bias_activation_backward_filter(
    handle: Handle,
    x: Any,
    dy: Any,
    conv: ConvolutionDescriptor,
    scale: Any = None,
    bias: Any = None,
    dw: Made | None = None,
    *,
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
        (K, C / groups, R, S), of the same type. Left out: made, in the layout of x.
    dw_shape : tuple of int, optional
        Shape of w, needed if dw is not given.

    The other parameters, and the errors, are those of `scale_bias_activation_convolution`.
    """
    with Operands(
        handle,
        x=(x, None),
        dy=(dy, None),
        scale=(scale, None),
        bias=(bias, None),
        dw=(dw, None),
    ) as operands:
        call = FusedCall(operands, handle, raw.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD)
        x_desc = call.add("x", operands.tensor("x"), "xdesc", "xdata")
        dy_desc = call.add("dy", operands.tensor("dy"), "dydesc", "dydata")
        if dw is None:
            if dw_shape is None:
                raise ValueError("dw: pass dw_shape or dw itself")
            dw = operands.make("dw", tuple(dw_shape), x_desc.data_type)
        dw_desc = call.add("dw", operands.filter("dw"), "dwdesc", "dwdata", written=True)
        shape = expect("conv", conv, ConvolutionDescriptor).output_shape(x_desc, dw_desc)
        if dy_desc.shape != shape:
            raise ValueError(f"dy: expected shape {shape}, got {dy_desc.shape}")
        call.constants["conv_desc"] = conv
        call.input(x_desc.shape, scale, bias, activation)
        call.run(workspace)
    return dw
