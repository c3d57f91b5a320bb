"""Normalization: y = (x - mean) * inv_variance * scale + bias, and its gradients.

The modes differ in the axes over which mean and variance are computed:

=============  ===================================================================
batch          all axes but the channels
instance       the spatial axes
layer, rms     the axes along which the scale varies; without a scale, all but the batch
ada_layer      the axes of layer; the scale also has a batch dimension
=============  ===================================================================

RMS normalization leaves out the mean: inv_variance = 1 / sqrt(mean(x**2) + epsilon). The gradient
is that of Ioffe and Szegedy (2015), with the sums over these axes.

Batch normalization has parts that are fused with convolutions: `finalize` computes, from a
convolution's sums, the scale and bias that the next convolution applies; `backward_weights` is the
counterpart in the backward pass.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ...raw.enums import cudnnBackendNormMode_t
from ..tiles import Array

Mode = cudnnBackendNormMode_t


@dataclass(frozen=True)
class Statistics:
    """Mean and 1 / sqrt(variance + epsilon), with ones where they were taken, and x - mean.

    `unbiased` is the variance with n - 1 in the denominator, which running statistics keep.
    """

    mean: Array
    inv_variance: Array
    unbiased: Array
    centred: Array


@dataclass(frozen=True)
class Gradients:
    """The gradients of `normalize`; dscale and dbias have the shape of the scale."""

    dx: Array
    dscale: Array
    dbias: Array


def axes_of(
    mode: Mode, x_shape: tuple[int, ...], scale_shape: tuple[int, ...] | None
) -> tuple[int, ...]:
    """The axes over which mean and variance are computed.

    Raises
    ------
    ValueError
        For group normalization, for which the graph API has no number of groups.
    """
    rank = len(x_shape)
    if mode == Mode.CUDNN_BATCH_NORM:
        return (0, *range(2, rank))
    if mode == Mode.CUDNN_INSTANCE_NORM:
        return tuple(range(2, rank))
    if mode == Mode.CUDNN_GROUP_NORM:
        raise ValueError("group normalization: no attribute says how many groups there are")
    first = 1 if mode == Mode.CUDNN_ADA_LAYER_NORM else 0
    if scale_shape is None:
        return tuple(range(1, rank))
    varies = tuple(axis for axis in range(first, rank) if scale_shape[axis] != 1)
    return varies or tuple(range(1, rank))


def statistics(mode: Mode, x: Array, axes: tuple[int, ...], epsilon: float) -> Statistics:
    """The statistics of `x` over `axes`, in float64."""
    count = math.prod(x.shape[axis] for axis in axes)
    mean, centred = np.zeros((1,) * x.ndim), x.astype(np.float64)
    if mode != Mode.CUDNN_RMS_NORM:
        mean = np.add.reduce(centred, axes, keepdims=True) / count
        centred -= mean
    every = "abcdefgh"[: x.ndim]
    kept = "".join(letter for axis, letter in enumerate(every) if axis not in axes)
    squares = np.einsum(f"{every},{every}->{kept}", centred, centred)
    variance = np.expand_dims(squares, axes) / count
    with np.errstate(all="ignore"):
        inv_variance = 1 / np.sqrt(variance + epsilon)
        unbiased = variance * np.float64(count) / (count - 1)
    return Statistics(mean, inv_variance, unbiased, centred)


def normalize(
    centred: Array, inv_variance: Array, scale: Array | None, bias: Array | None
) -> Array:
    """centred * inv_variance * scale + bias, with centred = x - mean, whose memory it takes."""
    y = np.multiply(centred, inv_variance, out=centred)
    if scale is not None:
        y *= scale
    if bias is not None:
        y += bias
    return y


def normalize_backward(
    mode: Mode,
    dy: Array,
    x: Array,
    mean: Array,
    inv_variance: Array,
    scale: Array | None,
    axes: tuple[int, ...],
) -> Gradients:
    """The gradients of `normalize`, through mean and variance too."""
    normal = (x - mean) * inv_variance
    if scale is None:
        scale = np.ones((1,) * x.ndim)
    shared = tuple(axis for axis, size in enumerate(scale.shape) if size != x.shape[axis])
    dnormal = dy * scale
    dx = dnormal - normal * (dnormal * normal).mean(axes, keepdims=True)
    if mode != Mode.CUDNN_RMS_NORM:
        dx = dx - dnormal.mean(axes, keepdims=True)
    return Gradients(
        dx * inv_variance, (dy * normal).sum(shared, keepdims=True), dy.sum(shared, keepdims=True)
    )


@dataclass(frozen=True)
class Finalized:
    """Scale and bias of the normalization, y = x * eq_scale + eq_bias, and statistics; all (1, c,
    1, …).

    `unbiased` is the variance with n - 1 in the denominator, which running statistics keep.
    """

    eq_scale: Array
    eq_bias: Array
    mean: Array
    inv_variance: Array
    unbiased: Array


def finalize(
    total: Array, squares: Array, scale: Array, bias: Array, count: int, epsilon: float
) -> Finalized:
    """The scale, bias and statistics from the sum and sum of squares of `count` elements."""
    mean = total / count
    variance = np.maximum(squares / count - mean**2, 0)
    inv = 1 / np.sqrt(variance + epsilon)
    unbiased = variance * (count / max(count - 1, 1))
    return Finalized(scale * inv, bias - mean * scale * inv, mean, inv, unbiased)


def running(previous: Array, current: Array, momentum: float) -> Array:
    """The running statistic after one more batch."""
    return (1 - momentum) * previous + momentum * current


@dataclass(frozen=True)
class BackwardWeights:
    """dx = dy * eq_dy_scale + x * eq_x_scale + eq_bias, and the gradients of scale and bias."""

    dscale: Array
    dbias: Array
    eq_dy_scale: Array
    eq_x_scale: Array
    eq_bias: Array


def backward_weights(
    dy: Array, x: Array, mean: Array, inv_std: Array, scale: Array
) -> BackwardWeights:
    """The gradients of batch normalization of x (n, c, *spatial), dx as three coefficients."""
    axes = (0, *range(2, x.ndim))
    count = x.size // x.shape[1]
    dbias = dy.sum(axes, keepdims=True)
    dscale = (dy * (x - mean) * inv_std).sum(axes, keepdims=True)
    eq_dy_scale = scale * inv_std
    eq_x_scale = -scale * inv_std**2 * dscale / count
    eq_bias = -scale * inv_std * dbias / count - mean * eq_x_scale
    return BackwardWeights(dscale, dbias, eq_dy_scale, eq_x_scale, eq_bias)
