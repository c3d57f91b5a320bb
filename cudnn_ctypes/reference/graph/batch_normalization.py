"""Batch normalization in the parts that are fused with convolutions.

`finalize` computes, from a convolution's sums, the scale and bias that the next convolution
applies; `backward_weights` is the counterpart in the backward pass.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..tiles import Array


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
