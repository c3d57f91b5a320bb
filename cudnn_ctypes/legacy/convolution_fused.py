"""Convolution, sum, bias and activation in one kernel."""

from __future__ import annotations

from typing import Any

from .. import raw
from ..arguments import expect
from ..handle import Handle
from .activation import FUSED, ActivationDescriptor
from .convolution import ConvolutionDescriptor
from .convolution_directions import ConvolutionForward, is_find
from .filter import FilterDescriptor
from .launch import launched
from .operands import Made, Operands
from .scalars import real
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
        A name stands for one that does not propagate NaN, as NVIDIA documents for this function.
    z : tensor, optional
        A tensor like y, that is added; it may be y itself. Default: nothing.
    alpha1, alpha2 : float
        Factors; alpha2 is 1 by default if z is given.

    The other parameters, and the errors, are those of `convolution_forward`.

    Examples
    --------
    >>> x = DeviceTensor.full((1, 2, 4, 4), 1, "float32")
    >>> w = DeviceTensor.full((3, 2, 1, 1), 1, "float32")
    >>> bias = DeviceTensor.from_numpy(np.array([1, -1, -3], "float32").reshape(1, 3, 1, 1))
    >>> with Handle() as handle, ConvolutionDescriptor() as conv:
    ...     y = convolution_bias_activation_forward(handle, x, w, conv, bias, "relu")
    >>> y.numpy()[0, :, 0, 0]
    array([3., 1., 0.], dtype=float32)
    """
    with Operands(
        handle, x=(x, x_desc), w=(w, w_desc), y=(y, y_desc), z=(z, z_desc), bias=(bias, bias_desc)
    ) as operands:
        x_desc, w_desc = operands.describe("x"), operands.describe_filter("w")
        expect("conv", conv, ConvolutionDescriptor)
        if y is None:
            shape = operands.shape_like("x", conv.output_shape(x_desc, w_desc))
            y = operands.make("y", shape, data_type, default=x_desc.data_type)
        y_desc = operands.describe("y")
        operands.describe_channels("bias", y_desc.shape)
        if z is None and alpha2 is not None and real("alpha2", alpha2) != 0:
            raise ValueError(f"z: needed with alpha2={alpha2}")
        if alpha2 is None:
            alpha2 = 0 if z is None else 1
        activation = operands.descriptor("activation", activation, ActivationDescriptor, **FUSED)
        free = algorithm is None or is_find(algorithm)
        if free and activation.mode == raw.CUDNN_ACTIVATION_IDENTITY:
            algorithm = raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM
        # C wants an address also where z is not read.
        added = "y" if z is None else "z"
        ConvolutionForward(x_desc, w_desc, conv, y_desc)._launch(
            handle,
            operands,
            algorithm,
            workspace,
            reads=alpha2 != 0,
            function=raw.cudnnConvolutionBiasActivationForward,
            alpha1=alpha1,
            alpha2=alpha2,
            z=added,
            zDesc=added,
            activationDesc=activation,
        )
    return y
