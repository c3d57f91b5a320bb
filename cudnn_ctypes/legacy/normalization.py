"""Normalization, cuDNN's later interface to batch normalization: training and inference.

It computes what `batch_normalization` does; the algorithm is an option of its own here, and one
function has both the plain and the fused forms. In mode "per_channel" all of a channel has one
mean, variance, scale and bias, in mode "per_activation" every activation has its own. What can be
fused is what `batch_normalization_ex` says, with the algorithm "persist" for the persistent mode.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from .activation import ActivationDescriptor
from .launch import launch, launched
from .normalization_operands import NormalizationForward, NormalizationGradients
from .normalization_problem import NormalizationProblem
from .operands import Made
from .tensor import TensorDescriptor

__all__ = [
    "normalization_backward",
    "normalization_forward_inference",
    "normalization_forward_training",
]


@launched
def normalization_forward_inference(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    estimated_mean: Any,
    estimated_variance: Any,
    y: Made | None = None,
    *,
    mode: Any = "per_channel",
    algorithm: Any = "standard",
    activation: ActivationDescriptor | str | None = None,
    z: Any = None,
    epsilon: float = 1e-5,
    groups: int = 1,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
    z_desc: TensorDescriptor | None = None,
    scale_bias_desc: TensorDescriptor | None = None,
    mean_variance_desc: TensorDescriptor | None = None,
) -> Made:
    """y = scale * (x - mean) / sqrt(variance + epsilon) + bias, with averages from training.

    Follows ``cudnnNormalizationForwardInference``.

    Parameters
    ----------
    mode : cudnnNormMode_t or str
        "per_activation" or "per_channel".
    algorithm : cudnnNormAlgo_t or str
        "standard" or "persist".
    activation : ActivationDescriptor or str, optional
        What follows; cuDNN documents none for inference.
    z : tensor, optional
        Added before the activation.
    groups : int
        1; cuDNN has the argument for the future.
    x_desc, y_desc, z_desc, scale_bias_desc, mean_variance_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers, but for the parameters,
        whose descriptors are derived from that of x.

    The other parameters, and the errors, are those of `batch_normalization_forward_inference`.
    """
    with NormalizationProblem(
        handle, mode, algorithm, groups, x=(x, x_desc), y=(y, y_desc), z=(z, z_desc)
    ) as operands:
        operands.follow(activation, z is not None)
        params, statistics = operands.describe_parameters(scale_bias_desc, mean_variance_desc)
        y = operands.result("y", y, beta)
        z_pair = operands.data("z") if z is not None else (None, None)
        launch(
            raw.cudnnNormalizationForwardInference,
            handle,
            *operands.how,
            host_scalar(alpha, operands.data_type),
            host_scalar(beta, operands.data_type),
            *operands.data("x"),
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("bias", bias, params),
            statistics,
            operands.parameter("estimated_mean", estimated_mean, statistics),
            operands.parameter("estimated_variance", estimated_variance, statistics),
            *z_pair,
            operands.activation,
            *operands.data("y", written=True),
            epsilon,
            groups,
        )
    return y


@launched
def normalization_forward_training(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    y: Any = None,
    *,
    mode: Any = "per_channel",
    algorithm: Any = "standard",
    activation: ActivationDescriptor | str | None = None,
    z: Any = None,
    average_factor: float = 1.0,
    running_mean: Any = None,
    running_variance: Any = None,
    epsilon: float = 1e-5,
    groups: int = 1,
    save: bool = True,
    saved_mean: Any = None,
    saved_inv_variance: Any = None,
    workspace: Any = None,
    reserve_space: Any = None,
    alpha: float = 1,
    beta: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
    z_desc: TensorDescriptor | None = None,
    scale_bias_desc: TensorDescriptor | None = None,
    mean_variance_desc: TensorDescriptor | None = None,
) -> NormalizationForward:
    """y = activation(scale * (x - mean of x) / sqrt(variance of x + epsilon) + bias + z).

    Follows ``cudnnNormalizationForwardTraining``.

    Returns
    -------
    NormalizationForward

    The parameters and errors are those of `batch_normalization_forward_training_ex` and of
    `normalization_forward_inference`.
    """
    with NormalizationProblem(
        handle, mode, algorithm, groups, x=(x, x_desc), y=(y, y_desc), z=(z, z_desc)
    ) as operands:
        operands.follow(activation, z is not None)
        params, statistics = operands.describe_parameters(scale_bias_desc, mean_variance_desc)
        y = operands.result("y", y, beta)
        if save and saved_mean is None and saved_inv_variance is None:
            saved_mean = operands.new_parameter(statistics, scale, "saved_mean")
            saved_inv_variance = operands.new_parameter(statistics, scale, "saved_inv_variance")
        running = ("running_mean", running_mean), ("running_variance", running_variance)
        saved = ("saved_mean", saved_mean), ("saved_inv_variance", saved_inv_variance)
        x_pair, y_pair = operands.data("x"), operands.data("y", written=True)
        z_pair = operands.data("z") if z is not None else (None, None)
        needed = operands.reserve_size()
        if reserve_space is None:
            reserve_space = operands.new_reserve_space(needed)
        reserve = operands.reserve_space(reserve_space, needed)
        needed = operands.forward_workspace_size(y_pair[0], z_pair[0])
        launch(
            raw.cudnnNormalizationForwardTraining,
            handle,
            *operands.how,
            host_scalar(alpha, operands.data_type),
            host_scalar(beta, operands.data_type),
            *x_pair,
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("bias", bias, params),
            average_factor,
            statistics,
            *operands.pair(*running, statistics, written=True),
            epsilon,
            *operands.pair(*saved, statistics, written=True),
            operands.activation,
            *z_pair,
            *y_pair,
            *operands.workspace(workspace, needed),
            *reserve,
            groups,
        )
    return NormalizationForward(y, saved_mean, saved_inv_variance, reserve_space)


@launched
def normalization_backward(
    handle: Handle,
    x: Any,
    y: Any,
    dy: Any,
    scale: Any,
    bias: Any,
    dx: Any = None,
    *,
    mode: Any = "per_channel",
    algorithm: Any = "standard",
    activation: ActivationDescriptor | str | None = None,
    dz: Any = None,
    with_dz: bool = False,
    epsilon: float = 1e-5,
    groups: int = 1,
    saved_mean: Any = None,
    saved_inv_variance: Any = None,
    dscale: Any = None,
    dbias: Any = None,
    workspace: Any = None,
    reserve_space: Any = None,
    alpha: float = 1,
    beta: float = 0,
    alpha_param: float = 1,
    beta_param: float = 0,
    x_desc: TensorDescriptor | None = None,
    y_desc: TensorDescriptor | None = None,
    dy_desc: TensorDescriptor | None = None,
    dx_desc: TensorDescriptor | None = None,
    dz_desc: TensorDescriptor | None = None,
    scale_bias_desc: TensorDescriptor | None = None,
    mean_variance_desc: TensorDescriptor | None = None,
) -> NormalizationGradients:
    """The gradients of x, scale, bias and z; follows ``cudnnNormalizationBackward``.

    Returns
    -------
    NormalizationGradients

    The parameters and errors are those of `batch_normalization_backward_ex` and of
    `normalization_forward_inference`.
    """
    adds = with_dz or dz is not None
    given = {"x": (x, x_desc), "y": (y, y_desc), "dy": (dy, dy_desc)}
    given |= {"dx": (dx, dx_desc), "dz": (dz, dz_desc)}
    with NormalizationProblem(handle, mode, algorithm, groups, **given) as operands:
        operands.follow(activation, adds)
        params, statistics = operands.describe_parameters(scale_bias_desc, mean_variance_desc)
        dx = operands.result("dx", dx, beta)
        if adds:
            dz = operands.result("dz", dz)
        if dscale is None:
            dscale = operands.new_parameter(params, scale, "dscale", beta_param)
        if dbias is None:
            dbias = operands.new_parameter(params, scale, "dbias", beta_param)
        saved = ("saved_mean", saved_mean), ("saved_inv_variance", saved_inv_variance)
        x_pair, y_pair, dy_pair = (operands.data(name) for name in ("x", "y", "dy"))
        dx_pair = operands.data("dx", written=True)
        dz_pair = operands.data("dz", written=True) if adds else (None, None)
        reserve = operands.reserve_space(reserve_space, operands.reserve_size())
        needed = operands.backward_workspace_size(y_pair[0], dy_pair[0], dz_pair[0], dx_pair[0])
        launch(
            raw.cudnnNormalizationBackward,
            handle,
            *operands.how,
            host_scalar(alpha, operands.data_type),
            host_scalar(beta, operands.data_type),
            host_scalar(alpha_param, operands.data_type),
            host_scalar(beta_param, operands.data_type),
            *x_pair,
            *y_pair,
            *dy_pair,
            *dz_pair,
            *dx_pair,
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("bias", bias, params),
            operands.parameter("dscale", dscale, params, written=True),
            operands.parameter("dbias", dbias, params, written=True),
            epsilon,
            statistics,
            *operands.pair(*saved, statistics, written=False),
            operands.activation,
            *operands.workspace(workspace, needed),
            *reserve,
            groups,
        )
    return NormalizationGradients(dx, dscale, dbias, dz)
