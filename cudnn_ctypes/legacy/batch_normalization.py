"""Batch normalization: training, inference and gradients.

In mode "spatial" all of a channel has one mean, variance, scale and bias, in mode "per_activation"
every activation has its own; "spatial_persistent" is the first with a faster algorithm whose range
of values is limited. Parameters are float32, for float64 data float64: (C,) or (1, C, 1...), per
activation (C, H, W) or (1, C, H, W).

Operands and results as for convolutions: ``DeviceTensor``s, tensors of other libraries, or a
``DeviceBuffer`` or an address together with its descriptor.
"""

from __future__ import annotations

import functools
from typing import Any

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from .enumerators import enumerator
from .launch import launch, launched
from .normalization_operands import (
    NormalizationForward,
    NormalizationGradients,
    NormalizationOperands,
)
from .operands import Made, expect
from .tensor import TensorDescriptor

__all__ = [
    "batch_normalization_backward",
    "batch_normalization_forward_inference",
    "batch_normalization_forward_training",
    "derive_bn_tensor_descriptor",
]


def derive_bn_tensor_descriptor(
    x_desc: TensorDescriptor, mode: Any = "spatial"
) -> TensorDescriptor:
    """The descriptor of scale, bias, mean and variance; ``cudnnDeriveBNTensorDescriptor``.

    Parameters
    ----------
    x_desc : TensorDescriptor
    mode : cudnnBatchNormMode_t or str
        "per_activation", "spatial" or "spatial_persistent".

    Examples
    --------
    >>> derive_bn_tensor_descriptor(TensorDescriptor((8, 3, 4, 4), "float16")).shape
    (1, 3, 1, 1)
    """
    expect("x_desc", x_desc, TensorDescriptor)
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    made = TensorDescriptor()
    with made._closed_on_error():
        raw.cudnnDeriveBNTensorDescriptor(made, x_desc, mode)
    return made


@launched
def batch_normalization_forward_inference(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    estimated_mean: Any,
    estimated_variance: Any,
    y: Made | None = None,
    *,
    mode: Any = "spatial",
    epsilon: float = 1e-5,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
    param_desc: TensorDescriptor | None = None,
) -> Made:
    """y = scale * (x - mean) / sqrt(variance + epsilon) + bias, with averages from training.

    Follows ``cudnnBatchNormalizationForwardInference``; the result is multiplied by alpha, and
    beta times what y held is added.

    Parameters
    ----------
    x : tensor
        (N, C, spatial sizes...), with 0 to 3 spatial dimensions.
    scale, bias, estimated_mean, estimated_variance : tensor
    y : tensor, optional
        Of x's shape and type. Left out: made, in the layout of x.
    mode : cudnnBatchNormMode_t or str
        "per_activation", "spatial" or "spatial_persistent".
    epsilon : float
        At least 0.
    x_desc, y_desc, param_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers, but for the parameters,
        whose descriptor is derived from that of x.

    Returns
    -------
    DeviceTensor, or y as it was given

    Raises
    ------
    TypeError
        If an operand is host memory or has no shape.
    ValueError
        If shapes or types do not fit together, or memory is too small; the message names the
        argument.
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    with NormalizationOperands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        derive = functools.partial(derive_bn_tensor_descriptor, mode=mode)
        params = operands.derived(derive, param_desc, "param_desc")
        y = operands.result("y", y, beta)
        data_type = operands.data("x")[0].data_type
        launch(
            raw.cudnnBatchNormalizationForwardInference,
            handle,
            mode,
            host_scalar(alpha, data_type),
            host_scalar(beta, data_type),
            *operands.data("x"),
            *operands.data("y", written=True),
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("bias", bias, params),
            operands.parameter("estimated_mean", estimated_mean, params),
            operands.parameter("estimated_variance", estimated_variance, params),
            epsilon,
        )
    return y


@launched
def batch_normalization_forward_training(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    y: Any = None,
    *,
    mode: Any = "spatial",
    average_factor: float = 1.0,
    running_mean: Any = None,
    running_variance: Any = None,
    epsilon: float = 1e-5,
    save: bool = True,
    saved_mean: Any = None,
    saved_inv_variance: Any = None,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
    param_desc: TensorDescriptor | None = None,
) -> NormalizationForward:
    """y = scale * (x - mean of x) / sqrt(variance of x + epsilon) + bias.

    Follows ``cudnnBatchNormalizationForwardTraining``; the result is multiplied by alpha, and
    beta times what y held is added.

    Parameters
    ----------
    average_factor : float
        Weight of this batch in the running averages: 1 at the first call, 1 / (1 + n) at call
        number n for plain averages, or a constant for exponential ones.
    running_mean, running_variance : tensor, optional
        Updated: running = running * (1 - average_factor) + new * average_factor, with the
        variance over m - 1: NaN where m, the values per parameter, is 1. What they held is read
        even with a factor of 1, so NaN stays NaN (cuDNN 9.14 and 9.19). Left out: no averages.
    save : bool
        False: the backward pass will compute mean and variance again.
    saved_mean, saved_inv_variance : tensor, optional
        Where they are saved. Left out: made, like scale.

    Returns
    -------
    NormalizationForward
        Without a reserve space.

    The other parameters, and the errors, are those of `batch_normalization_forward_inference`.
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    with NormalizationOperands(handle, x=(x, x_desc), y=(y, y_desc)) as operands:
        derive = functools.partial(derive_bn_tensor_descriptor, mode=mode)
        params = operands.derived(derive, param_desc, "param_desc")
        y = operands.result("y", y, beta)
        if save and saved_mean is None and saved_inv_variance is None:
            saved_mean = operands.new_parameter(params, scale, "saved_mean")
            saved_inv_variance = operands.new_parameter(params, scale, "saved_inv_variance")
        running = ("running_mean", running_mean), ("running_variance", running_variance)
        saved = ("saved_mean", saved_mean), ("saved_inv_variance", saved_inv_variance)
        data_type = operands.data("x")[0].data_type
        launch(
            raw.cudnnBatchNormalizationForwardTraining,
            handle,
            mode,
            host_scalar(alpha, data_type),
            host_scalar(beta, data_type),
            *operands.data("x"),
            *operands.data("y", written=True),
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("bias", bias, params),
            average_factor,
            *operands.pair(*running, params, written=True),
            epsilon,
            *operands.pair(*saved, params, written=True),
        )
    return NormalizationForward(y, saved_mean, saved_inv_variance, None)


@launched
def batch_normalization_backward(
    handle: Handle,
    x: Any,
    dy: Any,
    scale: Any,
    dx: Any = None,
    *,
    mode: Any = "spatial",
    epsilon: float = 1e-5,
    saved_mean: Any = None,
    saved_inv_variance: Any = None,
    dscale: Any = None,
    dbias: Any = None,
    alpha: float = 1,
    beta: float = 0,
    alpha_param: float = 1,
    beta_param: float = 0,
    x_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
    param_desc: TensorDescriptor | None = None,
) -> NormalizationGradients:
    """The gradients of x, scale and bias; follows ``cudnnBatchNormalizationBackward``.

    dx = alpha * (gradient of x) + beta * dx; dscale and dbias likewise, with alpha_param and
    beta_param.

    Parameters
    ----------
    dy : tensor
        Gradient of y, of x's shape and type.
    dx, dscale, dbias : tensor, optional
        Left out: made, like x and like scale.
    epsilon : float
        That of the forward pass.
    saved_mean, saved_inv_variance : tensor, optional
        What the forward pass returned. Left out: computed again.

    Returns
    -------
    NormalizationGradients
        Without dz.

    The other parameters, and the errors, are those of `batch_normalization_forward_inference`.
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    with NormalizationOperands(
        handle, x=(x, x_desc), dy=(dy, dy_desc), dx=(dx, dx_desc)
    ) as operands:
        derive = functools.partial(derive_bn_tensor_descriptor, mode=mode)
        params = operands.derived(derive, param_desc, "param_desc")
        dx = operands.result("dx", dx, beta)
        if dscale is None:
            dscale = operands.new_parameter(params, scale, "dscale", beta_param)
        if dbias is None:
            dbias = operands.new_parameter(params, scale, "dbias", beta_param)
        saved = ("saved_mean", saved_mean), ("saved_inv_variance", saved_inv_variance)
        data_type = operands.data("x")[0].data_type
        launch(
            raw.cudnnBatchNormalizationBackward,
            handle,
            mode,
            host_scalar(alpha, data_type),
            host_scalar(beta, data_type),
            host_scalar(alpha_param, data_type),
            host_scalar(beta_param, data_type),
            *operands.data("x"),
            *operands.data("dy"),
            *operands.data("dx", written=True),
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("dscale", dscale, params, written=True),
            operands.parameter("dbias", dbias, params, written=True),
            epsilon,
            *operands.pair(*saved, params, written=False),
        )
    return NormalizationGradients(dx, dscale, dbias, None)
