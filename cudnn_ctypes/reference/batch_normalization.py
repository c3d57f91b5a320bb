"""Batch normalization in plain NumPy.

x is (N, C, spatial...). Every channel, or every element of an image, has a mean and a variance
over the batch, and a scale and a bias that are learned::

    mode              averaged over        shape of mean, variance, scale, bias     m
    'per_activation'  N                    (1, C, spatial...)                       N
    'spatial'         N, spatial...        (1, C, 1...)                             N * sizes

    mean      =  sum(x) / m
    variance  =  sum((x - mean)^2) / m
    x_hat     =  (x - mean) / sqrt(variance + epsilon)
    y         =  scale * x_hat + bias

The fused forms add another tensor and apply ReLU: y = max(scale * x_hat + bias + z, 0). Mean and
variance depend on x, and so does its gradient through them::

    dbias   =  sum(dy)
    dscale  =  sum(dy * x_hat)
    dx      =  scale / sqrt(variance + epsilon) * (dy - (dbias + x_hat * dscale) / m)

where dy is zero wherever ReLU gave zero, and then is dz as well. `cudnnBatchNormalization...` and
`cudnnNormalization...` both compute this; the second call 'spatial' per channel. Tensors are
stored as  alpha * result + beta * (the output's previous contents).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .arithmetic import Output, check_shape, computing, kept, round_to, stored
from .tiles import Array, other_axes, tiled

if TYPE_CHECKING:
    from typing_extensions import Unpack

Mode = Literal["per_activation", "spatial"]


@dataclass(frozen=True)
class BatchNormalizationResult:
    """The result of the forward pass in training.

    Attributes
    ----------
    y
        (N, C, spatial...), in the output's dtype.
    saved_mean, saved_inv_variance
        The batch's mean and 1 / sqrt(variance + epsilon), for the backward pass; in the dtype of
        the scale, like the running statistics.
    running_mean, running_variance
        The updated averages; None without running averages as arguments.
    mask
        True where ReLU passed its argument, for the backward pass; None without ReLU.
    """

    y: Array
    saved_mean: Array
    saved_inv_variance: Array
    running_mean: Array | None
    running_variance: Array | None
    mask: NDArray[np.bool_] | None


@dataclass(frozen=True)
class BatchNormalizationGradients:
    """The gradients: dx and dz have dy's shape, dscale and dbias have scale's shape."""

    dx: Array
    dscale: Array
    dbias: Array
    dz: Array


def batch_normalization_parameter_shape(x_shape: tuple[int, ...], mode: Mode) -> tuple[int, ...]:
    """The shape of scale, bias, mean and variance: `cudnnDeriveBNTensorDescriptor`.

    Examples
    --------
    >>> batch_normalization_parameter_shape((32, 3, 8, 8), "spatial")
    (1, 3, 1, 1)
    >>> batch_normalization_parameter_shape((32, 3, 8, 8), "per_activation")
    (1, 3, 8, 8)
    """
    if mode not in get_args(Mode):
        raise ValueError(f"mode must be 'per_activation' or 'spatial', got {mode!r}")
    if len(x_shape) < 2:
        raise ValueError(f"x must be (N, C, spatial...), got shape {x_shape}")
    if mode == "per_activation":
        return (1, *x_shape[1:])
    return (1, x_shape[1], *(1,) * (len(x_shape) - 2))


def batch_normalization_forward_training(
    x: Array,
    scale: Array,
    bias: Array,
    *,
    average_factor: float,
    mode: Mode = "spatial",
    epsilon: float = 1e-5,
    running_mean: Array | None = None,
    running_variance: Array | None = None,
    z: Array | None = None,
    relu: bool = False,
    y: Array | None = None,
    **output: Unpack[Output],
) -> BatchNormalizationResult:
    """Normalize with the batch's own statistics, and average these over the calls.

    `cudnnBatchNormalizationForwardTraining`, `cudnnBatchNormalizationForwardTrainingEx`,
    `cudnnNormalizationForwardTraining`. The averages that inference will use are exponential ones::

        running  =  running * (1 - average_factor) + new * average_factor

    of the mean and of the sample variance, which divides by m - 1 rather than m: with m = 1 it is
    NaN. A factor of 1 / (1 + n) in call n = 0, 1, ... gives plain averages. The previous averages
    are read even with a factor of 1: NaN stays NaN (all measured, cuDNN 9.14 and 9.19).

    Parameters
    ----------
    x
        (N, C, spatial...).
    scale, bias
        Arrays of the shape from `batch_normalization_parameter_shape`.
    running_mean, running_variance
        Arrays of the same shape, both or neither; never written.
    z
        An array of x's shape, added before ReLU.
    y, **output
        What the output held, and `Output`.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    axes = _checked(x, mode, scale=scale, bias=bias)
    if (running_mean is None) != (running_variance is None):
        raise ValueError("running_mean and running_variance must be given both or neither")
    if running_mean is not None and running_variance is not None:
        _checked(x, mode, running_mean=running_mean, running_variance=running_variance)
    check_shape("z", z, x.shape)
    check_shape("y", y, x.shape)
    dtype, kind = computing(output), x.dtype
    count = x.size // scale.size
    unbiased = count / (count - 1) if count > 1 else np.nan

    def formula(
        x: Array,
        scale: Array,
        bias: Array,
        running_mean: Array | None,
        running_variance: Array | None,
        z: Array | None,
        y: Array | None,
    ) -> tuple[Array | None, ...]:
        values = x.astype(dtype, copy=False)
        mean, variance = _statistics(values, axes)
        inv_deviation = 1 / np.sqrt(variance + epsilon)
        total = _affine(values, mean, scale.astype(dtype) * inv_deviation, bias, z)
        return (
            stored("y", _relu(total, relu), y, kind, output),
            mean.astype(scale.dtype),
            inv_deviation.astype(scale.dtype),
            _average(running_mean, mean, average_factor),
            _average(running_variance, variance * unbiased, average_factor),
            total > 0 if relu else None,
        )

    operands = (x, scale, bias, running_mean, running_variance, z, y)
    results: tuple[Any, ...] = tiled(
        formula, *operands, axes=other_axes(x, axes), out=output.get("out")
    )
    return BatchNormalizationResult(*results)


def batch_normalization_forward_inference(
    x: Array,
    scale: Array,
    bias: Array,
    estimated_mean: Array,
    estimated_variance: Array,
    *,
    mode: Mode = "spatial",
    epsilon: float = 1e-5,
    z: Array | None = None,
    relu: bool = False,
    y: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """Normalize with the averages from training.

    `cudnnBatchNormalizationForwardInference`, `cudnnNormalizationForwardInference`::

        y = scale * (x - estimated_mean) / sqrt(epsilon + estimated_variance) + bias

    Parameters, the result's dtype and the errors are those of
    `batch_normalization_forward_training`.
    """
    _checked(
        x,
        mode,
        scale=scale,
        bias=bias,
        estimated_mean=estimated_mean,
        estimated_variance=estimated_variance,
    )
    check_shape("z", z, x.shape)
    check_shape("y", y, x.shape)
    dtype, kind = computing(output), x.dtype
    inv_deviation = 1 / np.sqrt(epsilon + estimated_variance.astype(dtype))
    parameters = estimated_mean.astype(dtype), scale.astype(dtype) * inv_deviation, bias

    def formula(
        x: Array, mean: Array, slope: Array, bias: Array, z: Array | None, y: Array | None
    ) -> Array:
        total = _affine(x.astype(dtype, copy=False), mean, slope, bias, z)
        return stored("y", _relu(total, relu), y, kind, output)

    return tiled(formula, x, *parameters, z, y, out=output.get("out"))


def batch_normalization_backward(
    *,
    x: Array,
    dy: Array,
    scale: Array,
    mode: Mode = "spatial",
    epsilon: float = 1e-5,
    saved_mean: Array | None = None,
    saved_inv_variance: Array | None = None,
    mask: NDArray[np.bool_] | None = None,
    alpha_param: float = 1.0,
    beta_param: float = 0.0,
    dx: Array | None = None,
    dscale: Array | None = None,
    dbias: Array | None = None,
    **output: Unpack[Output],
) -> BatchNormalizationGradients:
    """The gradients of the loss by x, scale, bias and z.

    `cudnnBatchNormalizationBackward`, `cudnnBatchNormalizationBackwardEx`,
    `cudnnNormalizationBackward`.

    Parameters
    ----------
    x
        (N, C, spatial...).
    dy
        The shape of x: the gradient of the loss by y.
    scale
        Arrays of the shape from `batch_normalization_parameter_shape`.
    saved_mean, saved_inv_variance
        The results of the forward pass, both or neither; default: computed from x again.
    mask
        The mask from the forward pass, True where ReLU passed its argument; default: no ReLU.
    dx, dscale, dbias, **output
        What the outputs held, and `Output`, of dx. Of dscale and dbias alpha_param and beta_param
        are the factors; dz is always overwritten.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    axes = _checked(x, mode, scale=scale)
    if dy.shape != x.shape:
        raise ValueError(f"dy must have shape {x.shape}, got {dy.shape}")
    if (saved_mean is None) != (saved_inv_variance is None):
        raise ValueError("saved_mean and saved_inv_variance must be given both or neither")
    if saved_mean is not None and saved_inv_variance is not None:
        _checked(x, mode, saved_mean=saved_mean, saved_inv_variance=saved_inv_variance)
    check_shape("mask", mask, x.shape)
    check_shape("dx", dx, x.shape)
    check_shape("dscale", dscale, scale.shape)
    check_shape("dbias", dbias, scale.shape)
    dtype, kind = computing(output), x.dtype
    of_scale: Output = {"alpha": alpha_param, "beta": beta_param, "out_dtype": scale.dtype}
    count = x.size // scale.size

    def formula(
        x: Array,
        dy: Array,
        scale: Array,
        mean: Array | None,
        inv_deviation: Array | None,
        mask: NDArray[np.bool_] | None,
        dx: Array | None,
        dscale: Array | None,
        dbias: Array | None,
    ) -> tuple[Array | None, ...]:
        values, dz = x.astype(dtype, copy=False), dy.astype(dtype, copy=False)
        if mean is None or inv_deviation is None:
            mean, variance = _statistics(values, axes)
            inv_deviation = 1 / np.sqrt(variance + epsilon)
        x_hat = values - mean.astype(dtype)
        x_hat *= inv_deviation.astype(dtype)
        if mask is not None:
            dz = kept(dz, mask)
        dbias_sum = dz.sum(axis=axes, keepdims=True)
        dscale_sum = (dz * x_hat).sum(axis=axes, keepdims=True)
        slope = scale.astype(dtype) * inv_deviation.astype(dtype)
        # slope * (dz - (dbias + x_hat * dscale) / count), in the memory of x_hat
        result = np.multiply(x_hat, dscale_sum / -count, out=x_hat)
        result += dz
        result -= dbias_sum / count
        result *= slope
        return (
            stored("dx", result, dx, kind, output),
            stored("dscale", dscale_sum, dscale, kind, of_scale),
            stored("dbias", dbias_sum, dbias, kind, of_scale),
            None if mask is None else round_to(dz, dz_dtype),
        )

    operands = (x, dy, scale, saved_mean, saved_inv_variance, mask, dx, dscale, dbias)
    out, dz_dtype = output.get("out"), output.get("out_dtype") or kind
    copies = out is not None and np.may_share_memory(out, dy)
    dz = dy.astype(dz_dtype, copy=copies) if mask is None else None  # all of dy got through
    results: tuple[Any, ...] = tiled(formula, *operands, axes=other_axes(x, axes), out=out)
    dx, dscale, dbias, through = results
    return BatchNormalizationGradients(dx, dscale, dbias, through if dz is None else dz)


def _checked(x: Array, mode: Mode, **parameters: Array) -> tuple[int, ...]:
    """The axes to average over, once every parameter has the shape that goes with them."""
    shape = batch_normalization_parameter_shape(x.shape, mode)
    for name, parameter in parameters.items():
        if parameter.shape != shape:
            raise ValueError(f"{name} must have shape {shape}, got {parameter.shape}")
    return (0,) if mode == "per_activation" else (0, *range(2, x.ndim))


def _statistics(x: Array, axes: tuple[int, ...]) -> tuple[Array, Array]:
    mean = x.mean(axis=axes, keepdims=True)
    centred = x - mean
    variance: Array = np.square(centred, out=centred).mean(axis=axes, keepdims=True)
    return mean, variance


def _affine(x: Array, mean: Array, slope: Array, bias: Array, z: Array | None) -> Array:
    """(x - mean) * slope + bias + z."""
    total: Array = x - mean
    total *= slope
    total += bias.astype(x.dtype)
    if z is not None:
        total += z.astype(x.dtype)
    return total


def _relu(total: Array, relu: bool) -> Array:
    result: Array = np.maximum(total, 0) if relu else total
    return result


def _average(old: Array | None, new: Array, factor: float) -> Array | None:
    if old is None:
        return None
    average = old.astype(new.dtype) * (1 - factor) + new * factor
    return round_to(average, old.dtype)
