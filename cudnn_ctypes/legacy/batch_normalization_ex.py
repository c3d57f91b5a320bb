"""The extended forms of batch normalization in training: with ReLU, and with something added.

The normalization alone they compute like the plain forms, for some tensors faster. ReLU, with or
without a tensor z that is added before, takes float32, float16 or bfloat16 data in layout NHWC and
the mode "spatial_persistent"; with z the number of channels must be a multiple of 4. Backward it
takes the saved statistics, which the plain forms can do without (cuDNN 9.14 and 9.19).
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..arguments import flag
from ..handle import Handle
from .activation import ActivationDescriptor
from .enumerators import enumerator
from .launch import launched
from .normalization_operands import (
    NormalizationGradients,
    NormalizationOperands,
    NormalizationResult,
    NormalizationSizes,
    SizeFunctions,
)
from .tensor import TensorDescriptor

__all__ = [
    "batch_normalization_backward_ex",
    "batch_normalization_ex_sizes",
    "batch_normalization_forward_training_ex",
]

_SIZES = SizeFunctions(
    raw.cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize,
    raw.cudnnGetBatchNormalizationBackwardExWorkspaceSize,
    raw.cudnnGetBatchNormalizationTrainingExReserveSpaceSize,
)


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
        "per_activation", "spatial" or "spatial_persistent".
    activation : ActivationDescriptor or str, optional
        What follows the normalization.
    adds : bool
        Whether a tensor is added before the activation.

    Raises
    ------
    TypeError
        If `handle` or `x_desc` is of another type.
    ValueError
        For an unknown mode or activation, or `adds` without an activation.
    BadParamError
        If `x_desc` was never set, or has other than 4 or 5 dimensions.
    NotSupportedError
        If cuDNN does not fuse this activation in this mode, type and layout.

    Examples
    --------
    >>> with Handle() as handle, TensorDescriptor((2, 4, 8, 8), "float16", layout="NHWC") as x_desc:
    ...     sizes = batch_normalization_ex_sizes(handle, x_desc)
    >>> sizes.reserve_space  # without an activation
    0
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    with NormalizationOperands(handle, mode, sizes=_SIZES, x=(None, x_desc)) as operands:
        operands.describe_parameters()
        operands.follow(activation, flag("adds", adds))
        return operands.sizes(adds)


@launched
def batch_normalization_forward_training_ex(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    y: Any = None,
    *,
    average_factor: float,
    mode: Any = "spatial_persistent",
    activation: ActivationDescriptor | str | None = None,
    z: Any = None,
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
) -> NormalizationResult:
    """y = activation(normalized x + z); follows ``cudnnBatchNormalizationForwardTrainingEx``.

    Parameters
    ----------
    activation : ActivationDescriptor or str, optional
        "relu", or a descriptor of it. Default: the normalization alone.
    z : tensor, optional
        Added before the activation; of x's shape and type.
    workspace, reserve_space : DeviceBuffer or tensor, optional
        Default: the workspace is allocated for the call, the reserve space where cuDNN wants
        one (9.14 and 9.19: with z). The backward pass needs what the reserve space holds.

    Returns
    -------
    NormalizationResult

    Raises
    ------
    NotSupportedError
        If cuDNN does not fuse these tensors, this mode and this activation.

    The other parameters and errors are those of `batch_normalization_forward_training`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> bias = DeviceTensor.zeros((1, 1, 1, 1), "float32")
    >>> with Handle() as handle:
    ...     result = batch_normalization_forward_training_ex(
    ...         handle, x, scale, bias, average_factor=1, mode="spatial"
    ...     )
    >>> result.y.numpy().ravel().round(2)
    array([-1.34, -0.45,  0.45,  1.34], dtype=float32)
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    images: dict[str, Any] = {"x": (x, x_desc), "y": (y, y_desc), "z": (z, z_desc)}
    with NormalizationOperands(handle, mode, sizes=_SIZES, **images) as operands:
        operands.describe_parameters(param_desc=param_desc)
        operands.follow(activation, adds=z is not None)
        return operands.train(
            raw.cudnnBatchNormalizationForwardTrainingEx,
            y,
            {"scale": scale, "bias": bias},
            (running_mean, running_variance),
            (saved_mean, saved_inv_variance),
            save=save,
            workspace=workspace,
            reserve_space=reserve_space,
            average_factor=average_factor,
            epsilon=epsilon,
            alpha=alpha,
            beta=beta,
        )


@launched
def batch_normalization_backward_ex(
    handle: Handle,
    *,
    x: Any,
    y: Any,
    dy: Any,
    scale: Any,
    bias: Any,
    dx: Any = None,
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
        As in the forward pass; cuDNN wants it where an activation followed.
    activation : ActivationDescriptor or str, optional
        As in the forward pass.
    dz : tensor, optional
        Where the gradient of z goes; like x. Default: allocated, if with_dz says so.
    with_dz : bool
        Whether a tensor z was added in the forward pass.
    workspace : DeviceBuffer or tensor, optional
        Default: allocated for the call.
    saved_mean, saved_inv_variance : tensor
        What the forward pass returned; optional without an activation.
    reserve_space : DeviceBuffer or tensor
        What the forward pass returned.

    Returns
    -------
    NormalizationGradients

    The other parameters and errors are those of `batch_normalization_backward`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> dy = DeviceTensor.full(x.shape, 1, "float32")
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> with Handle() as handle:
    ...     gradients = batch_normalization_backward_ex(
    ...         handle, x=x, y=x, dy=dy, scale=scale, bias=scale, mode="spatial"
    ...     )
    >>> gradients.dbias.numpy().item()
    4.0
    """
    mode = enumerator(raw.cudnnBatchNormMode_t, mode, "mode")
    adds = flag("with_dz", with_dz) or dz is not None
    images: dict[str, Any] = {"x": (x, x_desc), "y": (y, y_desc), "dy": (dy, dy_desc)}
    images |= {"dx": (dx, dx_desc), "dz": (dz, dz_desc)}
    with NormalizationOperands(handle, mode, sizes=_SIZES, **images) as operands:
        operands.describe_parameters(param_desc=param_desc)
        operands.follow(activation, adds)
        return operands.differentiate(
            raw.cudnnBatchNormalizationBackwardEx,
            {"scale": scale, "bias": bias},
            (saved_mean, saved_inv_variance),
            NormalizationGradients(dx, dscale, dbias, dz),
            adds=adds,
            workspace=workspace,
            reserve_space=reserve_space,
            epsilon=epsilon,
            alpha=alpha,
            beta=beta,
            alpha_param=alpha_param,
            beta_param=beta_param,
        )
