"""Batch normalization fused with the convolutions around it.

A network alternates convolution, batch normalization, activation. Normalizing takes two passes over
y: one for its statistics, one to apply them. Both can move into convolutions: the convolution
before sums up y and y^2 while it stores y; a small step makes of these sums, for each channel, a
scale and a bias that do what the normalization would ("equivalent scale and bias"); and the
convolution after applies them, and the activation, while it loads its input::

    a      =  act(x * scale + bias)        per channel, from the layer before
    y      =  conv(a, w)
    y_sum  =  sum of y,   y_sqsum  =  sum of y^2       per channel, over batch and pixels

    mean      =  y_sum / m                             m: how many values each sum has
    variance  =  y_sqsum / m - mean^2
    scale     =  gamma / sqrt(variance + epsilon)      for the layer after
    bias      =  beta - mean * scale
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike

from .activation import Activation, activate
from .arithmetic import round_to
from .convolution import convolution_backward_filter, convolution_forward
from .tiles import Array


class ConvolutionStatisticsResult(NamedTuple):
    """y (N, K, output...), and the sums of y and of y^2, both (1, K, 1...)."""

    y: Array
    y_sum: Array
    y_sqsum: Array


class FinalizedStatisticsResult(NamedTuple):
    """Scale and bias for the next layer, statistics for backward, and averages; all (1, K, 1...).

    `running_mean` and `running_variance` are None without running averages as arguments.
    """

    scale: Array
    bias: Array
    saved_mean: Array
    saved_inv_variance: Array
    running_mean: Array | None
    running_variance: Array | None


class ScaleBiasResult(NamedTuple):
    """Scale and bias for the next layer, both (1, K, 1...)."""

    scale: Array
    bias: Array


def affine_activation(
    x: Array,
    scale: Array | None = None,
    bias: Array | None = None,
    activation: Activation = "identity",
    *,
    compute_dtype: DTypeLike = np.float64,
) -> Array:
    """act(x * scale + bias) in the dtype of x; `scale` and `bias` (1, C, 1...) or None.

    x * scale + bias is rounded to the dtype of x before the activation.
    """
    values = x.astype(compute_dtype)
    if scale is not None:
        values = values * scale.astype(compute_dtype)
    if bias is not None:
        values = values + bias.astype(compute_dtype)
    rounded = round_to(values, x.dtype).astype(compute_dtype)
    return round_to(activate(rounded, activation), x.dtype)


def scale_bias_activation_convolution(
    x: Array,
    w: Array,
    scale: Array | None = None,
    bias: Array | None = None,
    activation: Activation = "identity",
    *,
    options: Mapping[str, Any] | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> ConvolutionStatisticsResult:
    """`CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS`.

    Parameters
    ----------
    x, w
        See `convolution_forward`.
    scale, bias
        (1, C, 1...); default: not applied.
    options
        Padding, stride and other options of `convolution_forward`.
    out_dtype
        The dtype of y; default: the dtype of x. The sums are of the stored y, in the dtype of the
        computation.
    """
    a = affine_activation(x, scale, bias, activation, compute_dtype=compute_dtype)
    y = convolution_forward(
        a, w, **(options or {}), compute_dtype=compute_dtype, out_dtype=out_dtype or x.dtype
    )
    axes = (0, *range(2, y.ndim))
    stored = y.astype(compute_dtype)
    return ConvolutionStatisticsResult(
        y, stored.sum(axes, keepdims=True), (stored * stored).sum(axes, keepdims=True)
    )


def scale_bias_activation_backward_filter(
    *,
    x: Array,
    dy: Array,
    dw_shape: tuple[int, ...],
    scale: Array | None = None,
    bias: Array | None = None,
    activation: Activation = "identity",
    options: Mapping[str, Any] | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """dw: `CUDNN_FUSED_SCALE_BIAS_ACTIVATION_WGRAD`.

    The gradient of w where y = conv(act(x * scale + bias), w). The parameters are those of
    `scale_bias_activation_convolution`.
    """
    a = affine_activation(x, scale, bias, activation, compute_dtype=compute_dtype)
    return convolution_backward_filter(
        x=a,
        dy=dy,
        dw_shape=dw_shape,
        **(options or {}),
        compute_dtype=compute_dtype,
        out_dtype=out_dtype or x.dtype,
    )


def finalize_statistics_training(
    y_sum: Array,
    y_sqsum: Array,
    count: int,
    bn_scale: Array,
    bn_bias: Array,
    running_mean: Array | None = None,
    running_variance: Array | None = None,
    *,
    average_factor: float,
    epsilon: float = 1e-5,
    compute_dtype: DTypeLike = np.float64,
) -> FinalizedStatisticsResult:
    """`CUDNN_FUSED_BN_FINALIZE_STATISTICS_TRAINING`, in the given dtype.

    The averages are those of `batch_normalization_forward_training`: of the mean, and of the
    sample variance, which divides by count - 1.

    Parameters
    ----------
    y_sum, y_sqsum
        The sums from `scale_bias_activation_convolution`.
    count
        The number of values in each sum.
    bn_scale, bn_bias
        (1, K, 1...), the learned parameters.
    """
    total, squares = y_sum.astype(compute_dtype), y_sqsum.astype(compute_dtype)
    mean = total / count
    variance = np.maximum(squares / count - mean * mean, 0)
    inv_deviation = 1 / np.sqrt(variance + epsilon)
    scale = bn_scale.astype(compute_dtype) * inv_deviation
    means, variances = None, None
    if running_mean is not None:
        means = (1 - average_factor) * running_mean.astype(compute_dtype) + average_factor * mean
    if running_variance is not None:
        sample = variance * count / max(count - 1, 1)
        before = running_variance.astype(compute_dtype)
        variances = (1 - average_factor) * before + average_factor * sample
    bias = bn_bias.astype(compute_dtype) - mean * scale
    return FinalizedStatisticsResult(scale, bias, mean, inv_deviation, means, variances)


def finalize_statistics_inference(
    bn_scale: Array,
    bn_bias: Array,
    running_mean: Array,
    running_variance: Array,
    *,
    epsilon: float = 1e-5,
    compute_dtype: DTypeLike = np.float64,
) -> ScaleBiasResult:
    """Scale and bias: `CUDNN_FUSED_BN_FINALIZE_STATISTICS_INFERENCE`, in the given dtype."""
    variance = running_variance.astype(compute_dtype)
    scale = bn_scale.astype(compute_dtype) / np.sqrt(variance + epsilon)
    mean = running_mean.astype(compute_dtype)
    return ScaleBiasResult(scale, bn_bias.astype(compute_dtype) - mean * scale)
