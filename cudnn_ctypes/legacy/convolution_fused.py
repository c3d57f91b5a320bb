"""Convolution, sum, bias and activation in one kernel."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from .activation import ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .convolution_directions import ConvolutionForward
from .filter import FilterDescriptor
from .launch import launch, launched
from .operands import Made, Operands, check_memory, expect
from .tensor import TensorDescriptor

__all__ = ["convolution_bias_activation_forward"]


@launched
def convolution_bias_activation_forward(
    handle: Handle,
    x: Any,
    w: Any,
    conv: ConvolutionDescriptor,
    bias: Any,
    activation: ActivationDescriptor | str,
    y: Made | None = None,
    *,
    z: Any = None,
    alpha1: float = 1,
    alpha2: float | None = None,
    algorithm: Any = None,
    workspace: Any = None,
    data_type: Any = None,
    x_desc: TensorDescriptor | None = None,
    w_desc: FilterDescriptor | None = None,
    z_desc: TensorDescriptor | None = None,
    bias_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
) -> Made:
    """y = activation(alpha1 * conv(x, w) + alpha2 * z + bias), in one kernel.

    Follows ``cudnnConvolutionBiasActivationForward``, which knows "relu" and "identity" only.
    NVIDIA documents "identity" for the algorithm "implicit_precomp_gemm": that is its default here.

    Parameters
    ----------
    bias : tensor
        (K,) or (1, K, 1...); float32 for int8 convolutions.
    activation : ActivationDescriptor or str
    z : tensor, optional
        A tensor like y, that is added; it may be y itself. Left out: nothing.
    alpha1, alpha2 : float
        Factors; alpha2 is 1 by default if z is given.

    The other parameters, and the errors, are those of `convolution_forward`.
    """
    with Operands(
        handle, x=(x, x_desc), w=(w, w_desc), y=(y, y_desc), z=(z, z_desc), bias=(bias, bias_desc)
    ) as operands:
        x_memory, x_desc = operands.tensor("x")
        w_memory, w_desc = operands.filter("w")
        expect("conv", conv, ConvolutionDescriptor)
        if y is None:
            shape = operands.shape_like("x", conv.output_shape(x_desc, w_desc))
            y = operands.make("y", shape, data_type or x_desc.data_type)
        y_memory, y_desc = operands.tensor("y")
        bias_memory, bias_desc = operands.channels("bias", y_desc.shape)
        if z is None:
            if alpha2:
                raise ValueError(f"z: needed with alpha2={alpha2}")
            z_desc, alpha2 = y_desc, 0
        else:
            z_memory, z_desc = operands.tensor("z")
            alpha2 = 1 if alpha2 is None else alpha2
        if isinstance(activation, str):
            activation = operands.enter_context(ActivationDescriptor(activation))
        expect("activation", activation, ActivationDescriptor)
        if algorithm is None and activation.mode == raw.CUDNN_ACTIVATION_IDENTITY:
            algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
        forward = ConvolutionForward(x_desc, w_desc, conv, y_desc)
        y_type = y_desc.data_type
        memory = {
            name: check_memory(name, value, desc, handle, written=name == "y")
            for name, value, desc in (
                ("x", x_memory, x_desc),
                ("w", w_memory, w_desc),
                ("bias", bias_memory, bias_desc),
                ("y", y_memory, y_desc),
            )
        }
        # C wants an address also where z is not read.
        memory["z"] = memory["y"] if z is None else check_memory("z", z_memory, z_desc, handle)
        with forward.prepared(handle, algorithm, workspace) as (chosen_conv, chosen, space, size):
            launch(
                raw.cudnnConvolutionBiasActivationForward,
                handle,
                host_scalar(alpha1, y_type),
                x_desc,
                memory["x"],
                w_desc,
                memory["w"],
                chosen_conv,
                chosen,
                space,
                size,
                host_scalar(alpha2, y_type),
                z_desc,
                memory["z"],
                bias_desc,
                memory["bias"],
                activation,
                y_desc,
                memory["y"],
            )
    return y
