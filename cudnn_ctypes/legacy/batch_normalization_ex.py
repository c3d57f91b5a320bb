"""The extended forms of batch normalization in training: with ReLU, and with something added.

The normalization alone they compute like the plain forms, for some tensors faster. ReLU, with or
without a tensor z that is added before, takes float32, float16 or bfloat16 data in layout NHWC and
the mode "spatial_persistent"; with z the number of channels must be a multiple of 4. Backward it
takes the saved statistics, which the plain forms can do without (cuDNN 9.14 and 9.19).
"""

from __future__ import annotations

import functools
from ctypes import c_size_t
from typing import Any

from .. import raw
from ..dtypes import host_scalar
from ..handle import Handle
from .activation import ActivationDescriptor
from .batch_normalization import derive_bn_tensor_descriptor
from .enumerators import enumerator
from .launch import launch, launched
from .normalization_operands import (
    NormalizationForward,
    NormalizationGradients,
    NormalizationOperands,
    NormalizationSizes,
)
from .tensor import TensorDescriptor

__all__ = [
    "batch_normalization_backward_ex",
    "batch_normalization_ex_sizes",
    "batch_normalization_forward_training_ex",
]


def batch_normalization_ex_sizes(
    handle: Handle,
    x_desc: TensorDescriptor,
    *,
    mode: Any = "spatial_persistent",
    activation: ActivationDescriptor | str | None = None,
    adds: bool = False,
) -> NormalizationSizes:
    """Bytes of workspace and reserve space.

    Follows ``cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize``,
    ``cudnnGetBatchNormalizationBackwardExWorkspaceSize`` and
    ``cudnnGetBatchNormalizationTrainingExReserveSpaceSize``.

    Parameters
    ----------
    x_desc : TensorDescriptor
        Of x, and of all that is like x.
    mode : cudnnBatchNormMode_t or str
    activation : ActivationDescriptor or str, optional
        What follows the normalization.
    adds : bool
        Whether a tensor is added before the activation.
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    with NormalizationOperands(handle, x=(None, x_desc)) as operands:
        derive = functools.partial(derive_bn_tensor_descriptor, mode=mode)
        params = operands.derived(derive, None, "param_desc")
        activation_desc, ops = operands.follow_up(raw.cudnnBatchNormOps_t, activation, adds)
        z_desc = x_desc if adds else None
        forward, backward, reserve = c_size_t(), c_size_t(), c_size_t()
        raw.cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
            handle, mode, ops, x_desc, z_desc, x_desc, params, activation_desc, forward
        )
        raw.cudnnGetBatchNormalizationBackwardExWorkspaceSize(
            handle,
            mode,
            ops,
            x_desc,
            x_desc,
            x_desc,
            z_desc,
            x_desc,
            params,
            activation_desc,
            backward,
        )
        raw.cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
            handle, mode, ops, activation_desc, x_desc, reserve
        )
    return NormalizationSizes(forward.value, backward.value, reserve.value)


@launched
def batch_normalization_forward_training_ex(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    y: Any = None,
    *,
    mode: Any = "spatial_persistent",
    activation: ActivationDescriptor | str | None = None,
    z: Any = None,
    average_factor: float = 1.0,
    running_mean: Any = None,
    running_variance: Any = None,
    epsilon: float = 1e-5,
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
    param_desc: TensorDescriptor | None = None,
) -> NormalizationForward:
    """y = activation(normalized x + z); follows ``cudnnBatchNormalizationForwardTrainingEx``.

    Parameters
    ----------
    activation : ActivationDescriptor or str, optional
        "relu", or a descriptor of it. Left out: the normalization alone.
    z : tensor, optional
        Added before the activation; of x's shape and type.
    workspace, reserve_space : DeviceBuffer or tensor, optional
        Left out: the workspace is allocated for the call, the reserve space made where cuDNN wants
        one (9.14 and 9.19: with z). The backward pass needs what the reserve space holds.

    Returns
    -------
    NormalizationForward

    Raises
    ------
    NotSupportedError
        If cuDNN does not fuse these tensors, this mode and this activation.

    The other parameters and errors are those of `batch_normalization_forward_training`.
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    with NormalizationOperands(handle, x=(x, x_desc), y=(y, y_desc), z=(z, z_desc)) as operands:
        derive = functools.partial(derive_bn_tensor_descriptor, mode=mode)
        params = operands.derived(derive, param_desc, "param_desc")
        adds = z is not None
        activation_desc, ops = operands.follow_up(raw.cudnnBatchNormOps_t, activation, adds)
        y = operands.result("y", y, beta)
        if save and saved_mean is None and saved_inv_variance is None:
            saved_mean = operands.new_parameter(params, scale, "saved_mean")
            saved_inv_variance = operands.new_parameter(params, scale, "saved_inv_variance")
        running = ("running_mean", running_mean), ("running_variance", running_variance)
        saved = ("saved_mean", saved_mean), ("saved_inv_variance", saved_inv_variance)
        x_pair, y_pair = operands.data("x"), operands.data("y", written=True)
        z_pair = operands.data("z") if adds else (None, None)
        size = c_size_t()
        raw.cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
            handle, mode, ops, activation_desc, x_pair[0], size
        )
        if reserve_space is None:
            reserve_space = operands.new_reserve_space(size.value)
        reserve = operands.reserve_space(reserve_space, size.value)
        raw.cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize(
            handle, mode, ops, x_pair[0], z_pair[0], y_pair[0], params, activation_desc, size
        )
        launch(
            raw.cudnnBatchNormalizationForwardTrainingEx,
            handle,
            mode,
            ops,
            host_scalar(alpha, x_pair[0].data_type),
            host_scalar(beta, x_pair[0].data_type),
            *x_pair,
            *z_pair,
            *y_pair,
            params,
            operands.parameter("scale", scale, params),
            operands.parameter("bias", bias, params),
            average_factor,
            *operands.pair(*running, params, written=True),
            epsilon,
            *operands.pair(*saved, params, written=True),
            activation_desc,
            *operands.workspace(workspace, size.value),
            *reserve,
        )
    return NormalizationForward(y, saved_mean, saved_inv_variance, reserve_space)


@launched
def batch_normalization_backward_ex(
    handle: Handle,
    x: Any,
    y: Any,
    dy: Any,
    scale: Any,
    bias: Any,
    dx: Any = None,
    *,
    mode: Any = "spatial_persistent",
    activation: ActivationDescriptor | str | None = None,
    dz: Any = None,
    with_dz: bool = False,
    epsilon: float = 1e-5,
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
    param_desc: TensorDescriptor | None = None,
) -> NormalizationGradients:
    """The gradients of x, scale, bias and z; follows ``cudnnBatchNormalizationBackwardEx``.

    Parameters
    ----------
    y : tensor
        What the forward pass returned.
    bias : tensor
        That of the forward pass; cuDNN wants it where an activation followed.
    activation : ActivationDescriptor or str, optional
        That of the forward pass.
    dz : tensor, optional
        Where the gradient of z goes; like x. Left out: made, if with_dz says so.
    with_dz : bool
        Whether a tensor z was added in the forward pass.
    workspace : DeviceBuffer or tensor, optional
        Left out: allocated for the call.
    saved_mean, saved_inv_variance : tensor
        What the forward pass returned; optional without an activation.
    reserve_space : DeviceBuffer or tensor
        What the forward pass returned.

    Returns
    -------
    NormalizationGradients

    The other parameters and errors are those of `batch_normalization_backward`.
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    adds = with_dz or dz is not None
    with NormalizationOperands(
        handle,
        x=(x, x_desc),
        y=(y, y_desc),
        dy=(dy, dy_desc),
        dx=(dx, dx_desc),
        dz=(dz, dz_desc),
    ) as operands:
        derive = functools.partial(derive_bn_tensor_descriptor, mode=mode)
        params = operands.derived(derive, param_desc, "param_desc")
        activation_desc, ops = operands.follow_up(raw.cudnnBatchNormOps_t, activation, adds)
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
        described = (x_pair[0], y_pair[0], dy_pair[0], dz_pair[0], dx_pair[0])
        data_type = x_pair[0].data_type
        size = c_size_t()
        raw.cudnnGetBatchNormalizationTrainingExReserveSpaceSize(
            handle, mode, ops, activation_desc, x_pair[0], size
        )
        reserve = operands.reserve_space(reserve_space, size.value)
        raw.cudnnGetBatchNormalizationBackwardExWorkspaceSize(
            handle, mode, ops, *described, params, activation_desc, size
        )
        launch(
            raw.cudnnBatchNormalizationBackwardEx,
            handle,
            mode,
            ops,
            host_scalar(alpha, data_type),
            host_scalar(beta, data_type),
            host_scalar(alpha_param, data_type),
            host_scalar(beta_param, data_type),
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
            *operands.pair(*saved, params, written=False),
            activation_desc,
            *operands.workspace(workspace, size.value),
            *reserve,
        )
    return NormalizationGradients(dx, dscale, dbias, dz)
