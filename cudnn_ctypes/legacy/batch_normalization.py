"""Batch normalization: training, inference and gradients, by both interfaces of cuDNN.

In mode "spatial" all of a channel has one mean, variance, scale and bias, in mode "per_activation"
every activation has its own; "spatial_persistent" is the first with a faster algorithm whose range
of values is limited. Parameters are float32, for float64 data float64: (C,) or (1, C, 1...), per
activation (C, H, W) or (1, C, H, W).

The extended forms of training compute the normalization alone like the plain forms, for some
tensors faster. ReLU, with or without a tensor z that is added before, takes float32, float16 or
bfloat16 data in layout NHWC and the mode "spatial_persistent"; with z the number of channels must
be a multiple of 4. Backward it takes the saved statistics, which the plain forms can do without
(cuDNN 9.14 and 9.19).

The later interface, ``cudnnNormalization…``, computes the same. There the algorithm is an option of
its own, "persist" for the persistent mode; "per_channel" is "spatial"; and one function has both
the plain and the fused forms.
"""

from __future__ import annotations

from typing import Any

from .. import raw
from ..handle import Handle
from .activation import ActivationDescriptor
from .documentation import documented, launched
from .normalization_operands import (
    NormalizationGradients,
    NormalizationResult,
    NormalizationSizes,
    differentiate,
    infer,
    sizes,
    train,
)
from .operands import Made
from .tensor import TensorDescriptor


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
        (1, C, 1, ...), per activation (1, C, spatial sizes...); float32, or float64 if x is.
    y : tensor, optional
        Of x's shape and type. Default: allocated, in the layout of x.
    mode : cudnnBatchNormMode_t or str
        "per_activation", "spatial" or "spatial_persistent".
    epsilon : float
        At least 0.
    x_desc, y_desc, param_desc : TensorDescriptor, optional
        How the memory is to be read; needed for addresses and buffers, but for the parameters,
        whose descriptor is derived from that of x.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> bias = DeviceTensor.zeros((1, 1, 1, 1), "float32")
    >>> mean = DeviceTensor.full((1, 1, 1, 1), 2.5, "float32")
    >>> variance = DeviceTensor.full((1, 1, 1, 1), 1.25, "float32")
    >>> with Handle() as handle:
    ...     y = batch_normalization_forward_inference(
    ...         handle, x, scale, bias, mean, variance, mode="spatial"
    ...     )
    >>> y.numpy().ravel().round(2)
    array([-1.34, -0.45,  0.45,  1.34], dtype=float32)
    """
    result: Made = infer(raw.cudnnBatchNormalizationForwardInference, locals())
    return result


@launched
def batch_normalization_forward_training(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    y: Any = None,
    *,
    average_factor: float,
    mode: Any = "spatial",
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
) -> NormalizationResult:
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
        even with a factor of 1, so NaN stays NaN (cuDNN 9.14 and 9.19). Default: no averages.
    save : bool
        False: the backward pass will compute mean and variance again.
    saved_mean, saved_inv_variance : tensor, optional
        Where they are saved. Default: allocated, like scale.

    Returns
    -------
    NormalizationResult
        Without a reserve space.

    The other parameters, and the errors, are those of `batch_normalization_forward_inference`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> bias = DeviceTensor.zeros((1, 1, 1, 1), "float32")
    >>> with Handle() as handle:
    ...     result = batch_normalization_forward_training(
    ...         handle, x, scale, bias, average_factor=1, mode="spatial"
    ...     )
    >>> result.y.numpy().ravel().round(2), result.saved_mean.numpy().item()
    (array([-1.34, -0.45,  0.45,  1.34], dtype=float32), 2.5)
    """
    return train(raw.cudnnBatchNormalizationForwardTraining, locals())


@launched
def batch_normalization_backward(
    handle: Handle,
    *,
    x: Any,
    dy: Any,
    scale: Any,
    dx: Any = None,
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
        Default: allocated, like x and like scale.
    epsilon : float
        As in the forward pass.
    saved_mean, saved_inv_variance : tensor, optional
        What the forward pass returned. Default: computed again.
    alpha_param, beta_param : float
        As alpha and beta, for dscale and dbias.

    Returns
    -------
    NormalizationGradients
        Without dz.

    The other parameters, and the errors, are those of `batch_normalization_forward_inference`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> dy = DeviceTensor.full(x.shape, 1, "float32")
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> with Handle() as handle:
    ...     gradients = batch_normalization_backward(handle, x=x, dy=dy, scale=scale)
    >>> gradients.dbias.numpy().item()
    4.0
    """
    return differentiate(raw.cudnnBatchNormalizationBackward, locals())


@documented
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
    return sizes(
        raw.cudnnGetBatchNormalizationForwardTrainingExWorkspaceSize,
        raw.cudnnGetBatchNormalizationBackwardExWorkspaceSize,
        raw.cudnnGetBatchNormalizationTrainingExReserveSpaceSize,
        given=locals(),
    )


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
    return train(raw.cudnnBatchNormalizationForwardTrainingEx, locals())


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
    saved_mean, saved_inv_variance : tensor
        What the forward pass returned; optional without an activation.
    reserve_space : DeviceBuffer or tensor
        What the forward pass returned.

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
    return differentiate(raw.cudnnBatchNormalizationBackwardEx, locals())


# -- the later interface --------------------------------------------------------------------------


@documented
def normalization_sizes(
    handle: Handle,
    x_desc: TensorDescriptor,
    *,
    mode: Any = "per_channel",
    algorithm: Any = "standard",
    activation: ActivationDescriptor | str | None = None,
    adds: bool = False,
    groups: int = 1,
) -> NormalizationSizes:
    """Bytes of workspace and reserve space.

    Follows ``cudnnGetNormalizationForwardTrainingWorkspaceSize``,
    ``cudnnGetNormalizationBackwardWorkspaceSize`` and
    ``cudnnGetNormalizationTrainingReserveSpaceSize``.

    Parameters
    ----------
    mode, algorithm, groups
        As for `normalization_forward_inference`.

    The other parameters, and the errors, are those of `batch_normalization_ex_sizes`.

    Examples
    --------
    >>> with Handle() as handle, TensorDescriptor((2, 4, 8, 8), "float32") as x_desc:
    ...     sizes = normalization_sizes(handle, x_desc)
    >>> sizes.reserve_space  # without an activation
    0
    """
    return sizes(
        raw.cudnnGetNormalizationForwardTrainingWorkspaceSize,
        raw.cudnnGetNormalizationBackwardWorkspaceSize,
        raw.cudnnGetNormalizationTrainingReserveSpaceSize,
        given=locals(),
    )


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

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 3], "float32").reshape(2, 1, 1, 1))
    >>> one, two = (DeviceTensor.full((1, 1, 1, 1), value, "float32") for value in (1, 2))
    >>> with Handle() as handle:
    ...     y = normalization_forward_inference(
    ...         handle, x, scale=one, bias=two, estimated_mean=one, estimated_variance=one
    ...     )
    >>> y.numpy().ravel().round(3)  # (x - 1) / 1 + 2
    array([2., 4.], dtype=float32)
    """
    result: Made = infer(raw.cudnnNormalizationForwardInference, locals())
    return result


@launched
def normalization_forward_training(
    handle: Handle,
    x: Any,
    scale: Any,
    bias: Any,
    y: Any = None,
    *,
    average_factor: float,
    mode: Any = "per_channel",
    algorithm: Any = "standard",
    activation: ActivationDescriptor | str | None = None,
    z: Any = None,
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
) -> NormalizationResult:
    """y = activation(scale * (x - mean of x) / sqrt(variance of x + epsilon) + bias + z).

    Follows ``cudnnNormalizationForwardTraining``.

    The parameters and errors are those of `batch_normalization_forward_training_ex` and of
    `normalization_forward_inference`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> bias = DeviceTensor.zeros((1, 1, 1, 1), "float32")
    >>> with Handle() as handle:
    ...     result = normalization_forward_training(handle, x, scale, bias, average_factor=1)
    >>> result.y.numpy().ravel().round(2)
    array([-1.34, -0.45,  0.45,  1.34], dtype=float32)
    """
    return train(raw.cudnnNormalizationForwardTraining, locals())


@launched
def normalization_backward(
    handle: Handle,
    *,
    x: Any,
    y: Any,
    dy: Any,
    scale: Any,
    bias: Any,
    dx: Any = None,
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

    The parameters and errors are those of `batch_normalization_backward_ex` and of
    `normalization_forward_inference`.

    Examples
    --------
    >>> x = DeviceTensor.from_numpy(np.array([1, 2, 3, 4], "float32").reshape(4, 1, 1, 1))
    >>> dy = DeviceTensor.full(x.shape, 1, "float32")
    >>> scale = DeviceTensor.full((1, 1, 1, 1), 1, "float32")
    >>> with Handle() as handle:
    ...     gradients = normalization_backward(handle, x=x, y=x, dy=dy, scale=scale, bias=scale)
    >>> gradients.dbias.numpy().item()
    4.0
    """
    return differentiate(raw.cudnnNormalizationBackward, locals())
