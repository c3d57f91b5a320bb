"""Normalization, cuDNN's later interface to batch normalization: training and inference.

It computes what `batch_normalization` does; the algorithm is an option of its own here, and one
function has both the plain and the fused forms. In mode "per_channel" all of a channel has one
mean, variance, scale and bias, in mode "per_activation" every activation has its own. What can be
fused is what `batch_normalization_ex` says, with the algorithm "persist" for the persistent mode.
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
