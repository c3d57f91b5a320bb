"""Convolutions and their gradients in plain NumPy.

Arrays have logical shapes, with any memory layout: x is (N, C, spatial...), w is
(K, C / groups, filter...), y is (N, K, output...). In one spatial dimension, without groups,

    y[n, k, i]  = sum over c, r of  w[k, c, r] * x_padded[n, c, i * stride + r * dilation]

in mode 'cross_correlation', and with w[k, c, R - 1 - r] in mode 'convolution'. With the patches of
x as the columns of a matrix (see `im2col`) this is one matrix product for each group, and the two
gradients are products with the other factor transposed:

    y = w @ columns(x)          dw = dy @ columns(x)^T          dx = columns^T(w^T @ dy)

The columns are computed for some images, or some rows of a large image, at a time: all columns are
R times as large as x.

Every result is stored as  alpha * result + beta * (the output's previous contents).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import DTypeLike

from .activation import Activation, activate
from .arithmetic import accumulator, blend, round_to, scale, scaling_dtype
from .blas import products_of
from .geometry import Geometry, Taps, add_patches, parts, patches, tap_pixels
from .tiles import Array, tiled

if TYPE_CHECKING:
    from typing_extensions import Unpack


def convolution_forward(
    x: Array,
    w: Array,
    *,
    alpha: float = 1.0,
    beta: float = 0.0,
    y: Array | None = None,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
    **taps: Unpack[Taps],
) -> Array:
    """y = alpha * conv(x, w) + beta * y: `cudnnConvolutionForward`.

    Parameters
    ----------
    x
        (N, C, spatial sizes...).
    w
        (K, C / groups, filter sizes...).
    **taps
        How the filters move: `Taps`.
    y
        The output's previous contents; read only if beta is not 0, and never written.
    compute_dtype
        float32, float64 or int32, in which products are summed. Default: int32 if x and w are
        integers, else float64.
    out_dtype
        Default: the dtype of y if given, else of x.

    Returns
    -------
    ndarray
        (N, K, output sizes...), a new array.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    geometry = Geometry.of(x.shape, w.shape, **taps)
    dtype = accumulator(compute_dtype, x, w)
    with products_of(_multiply_adds(geometry)):
        result = _forward(x.astype(dtype, copy=False), w.astype(dtype, copy=False), geometry)
    stored = _stored(out_dtype, y, x)
    return blend(result, y, alpha=alpha, beta=beta, out_dtype=stored, name="y")


def convolution_backward_data(
    *,
    w: Array,
    dy: Array,
    dx_shape: Sequence[int],
    alpha: float = 1.0,
    beta: float = 0.0,
    dx: Array | None = None,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
    **taps: Unpack[Taps],
) -> Array:
    """dx = alpha * (gradient of the loss by x) + beta * dx: `cudnnConvolutionBackwardData`.

    Every output's gradient flows back along the taps that made it::

        dx_padded[n, c, i * stride + r * dilation] += sum over k of  w[k, c, r] * dy[n, k, i]

    Parameters
    ----------
    w
        (K, C / groups, filter sizes...).
    dy
        (N, K, output sizes...): the gradient of the loss by y.
    dx_shape
        (N, C, spatial sizes...). It cannot be derived: with a stride, several images give the same
        output size.
    dx
        The output's previous contents; read only if beta is not 0, and never written.

    The other parameters, the result's dtype and the errors are those of `convolution_forward`.
    """
    geometry = Geometry.of(dx_shape, w.shape, **taps)
    _check_dy(dy, geometry)
    dtype = accumulator(compute_dtype, w, dy)
    depthwise = geometry.groups == dx_shape[1] == w.shape[0]
    gradient = _depthwise_backward_data if depthwise else _backward_data
    with products_of(_multiply_adds(geometry)):
        result = gradient(w.astype(dtype, copy=False), dy.astype(dtype, copy=False), geometry)
    stored = _stored(out_dtype, dx, dy)
    return blend(result, dx, alpha=alpha, beta=beta, out_dtype=stored, name="dx")


def convolution_backward_filter(
    *,
    x: Array,
    dy: Array,
    dw_shape: Sequence[int],
    alpha: float = 1.0,
    beta: float = 0.0,
    dw: Array | None = None,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
    **taps: Unpack[Taps],
) -> Array:
    """dw = alpha * (gradient of the loss by w) + beta * dw: `cudnnConvolutionBackwardFilter`.

    A tap's gradient gathers over all images and output positions it worked on::

        dw[k, c, r] = sum over n, i of  dy[n, k, i] * x_padded[n, c, i * stride + r * dilation]

    Parameters
    ----------
    x
        (N, C, spatial sizes...).
    dy
        (N, K, output sizes...): the gradient of the loss by y.
    dw_shape
        (K, C / groups, filter sizes...).
    dw
        The output's previous contents; read only if beta is not 0, and never written.

    The other parameters, the result's dtype and the errors are those of `convolution_forward`.
    """
    geometry = Geometry.of(x.shape, dw_shape, **taps)
    _check_dy(dy, geometry)
    dtype = accumulator(compute_dtype, x, dy)
    operands = (x.astype(dtype, copy=False), dy.astype(dtype, copy=False))
    with products_of(_multiply_adds(geometry)):
        result = _backward_filter(*operands, geometry)
    stored = _stored(out_dtype, dw, x)
    return blend(result, dw, alpha=alpha, beta=beta, out_dtype=stored, name="dw")


def convolution_backward_bias(
    *,
    dy: Array,
    alpha: float = 1.0,
    beta: float = 0.0,
    db: Array | None = None,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
) -> Array:
    """db = alpha * (dy summed per channel) + beta * db: `cudnnConvolutionBackwardBias`.

    Parameters
    ----------
    dy
        (N, K, output sizes...).
    db
        (1, K, 1...): the output's previous contents; read only if beta is not 0, and never written.

    Returns
    -------
    ndarray
        (1, K, 1...), the shape that cuDNN's dbDesc must have.
    """
    if dy.ndim < 3:
        raise ValueError(f"dy must be (N, K, output sizes...), got shape {dy.shape}")
    dtype = accumulator(compute_dtype, dy)
    over = (0, *range(2, dy.ndim))
    result = dy.astype(dtype).sum(axis=over, keepdims=True, dtype=dtype)
    stored = _stored(out_dtype, db, dy)
    return blend(result, db, alpha=alpha, beta=beta, out_dtype=stored, name="db")


def _forward(x: Array, w: Array, geometry: Geometry) -> Array:
    """y = w @ columns(x), all of one dtype."""
    filters, whole = _filter_matrix(w, geometry), patches(x, geometry)
    y = np.empty(geometry.y_shape, x.dtype)
    for images, rows in parts(geometry):
        part = y[images, :, rows].swapaxes(0, 1)
        part[...] = (filters @ _column_matrix(whole, geometry, images, rows)).reshape(part.shape)
    return y


def _backward_data(w: Array, dy: Array, geometry: Geometry) -> Array:
    """dx = columns^T(w^T @ dy)."""
    filters = _filter_matrix(w, geometry).swapaxes(1, 2)
    image = np.zeros((*geometry.x_shape[:2], *geometry.padded), dy.dtype)
    for images, rows in parts(geometry):
        part = dy[images, :, rows]
        columns = filters @ _output_matrix(part, geometry)
        shape = (geometry.x_shape[1], *geometry.w_shape[2:], len(part), *part.shape[2:])
        seen = image[images, :, rows.start * geometry.stride[0] :]
        add_patches(seen, columns.reshape(shape), geometry)
    return image[geometry.inside]


def _depthwise_backward_data(w: Array, dy: Array, geometry: Geometry) -> Array:
    """dx where each channel has one filter: w^T @ dy has one product for each column entry."""

    def formula(dy: Array, w: Array) -> Array:
        image = np.zeros((*dy.shape[:2], *geometry.padded), dy.dtype)
        for tap in np.ndindex(*w.shape[2:]):
            place: tuple[int | slice, ...] = (0, slice(None), *tap)
            factors = w[place].reshape(-1, *(1 for _ in tap))
            image[tap_pixels(geometry, tap, dy.shape[2:])] += factors * dy
        return image[geometry.inside]

    return tiled(formula, dy, w.swapaxes(0, 1), axes=(0, 1))


def _backward_filter(x: Array, dy: Array, geometry: Geometry) -> Array:
    """dw = dy @ columns(x)^T."""
    whole = patches(x, geometry)
    dw = np.zeros(geometry.w_shape, x.dtype)
    for images, rows in parts(geometry):
        columns = _column_matrix(whole, geometry, images, rows)
        product = _output_matrix(dy[images, :, rows], geometry) @ columns.swapaxes(1, 2)
        dw += product.reshape(dw.shape)
    return dw


def _multiply_adds(geometry: Geometry) -> int:
    return math.prod(geometry.y_shape) * math.prod(geometry.w_shape[1:])


def _column_matrix(columns: Array, geometry: Geometry, images: slice, rows: slice) -> Array:
    """(groups, C / groups * R, N * Y) of some images and rows of the columns (C, R..., N, Y...)."""
    index = (*(slice(None),) * (geometry.spatial + 1), images, rows)
    part = columns[index]
    return part.reshape(geometry.groups, math.prod(geometry.w_shape[1:]), -1)


def _filter_matrix(w: Array, geometry: Geometry) -> Array:
    """(groups, K / groups, C / groups * R)."""
    return w.reshape(geometry.groups, geometry.w_shape[0] // geometry.groups, -1)


def _output_matrix(dy: Array, geometry: Geometry) -> Array:
    """(groups, K / groups, N * Y)."""
    return dy.swapaxes(0, 1).reshape(geometry.groups, dy.shape[1] // geometry.groups, -1)


def _check_dy(dy: Array, geometry: Geometry) -> None:
    if dy.shape != geometry.y_shape:
        raise ValueError(f"dy must have shape {geometry.y_shape}, got {dy.shape}")


def _stored(out_dtype: DTypeLike | None, prior: Array | None, operand: Array) -> np.dtype[Any]:
    if out_dtype is not None:
        return np.dtype(out_dtype)
    return operand.dtype if prior is None else prior.dtype


# --- the fused convolution ------------------------------------------------------------------------


def convolution_bias_activation_forward(
    x: Array,
    w: Array,
    z: Array | None,
    bias: Array,
    *,
    alpha1: float = 1.0,
    alpha2: float = 0.0,
    activation: Activation = "relu",
    coef: float = 0.0,
    compute_dtype: DTypeLike | None = None,
    out_dtype: DTypeLike | None = None,
    **taps: Unpack[Taps],
) -> Array:
    """y = act(alpha1 * conv(x, w) + alpha2 * z + bias): `cudnnConvolutionBiasActivationForward`.

    The sum stays in the scaling dtype (float64 for float64, else float32) and is rounded once, at
    the end. cuDNN itself accepts only 'relu' and 'identity' here (measured, 9.19).

    Parameters
    ----------
    x, w, compute_dtype, **taps
        See `convolution_forward`.
    z
        (N, K, output sizes...); read only if alpha2 is not 0, and may then be None.
    bias
        (K,) or (1, K, 1...).
    activation, coef
        See `activate`.
    out_dtype
        Default: the dtype of x.

    Returns
    -------
    ndarray
        (N, K, output sizes...), a new array.

    Raises
    ------
    ValueError
        If shapes and options do not fit together; the message names the argument.
    """
    compute = accumulator(compute_dtype, x, w)
    dtype = scaling_dtype(compute)
    total = convolution_forward(
        x,
        w,
        alpha=alpha1,
        compute_dtype=compute,
        out_dtype=dtype,
        **taps,
    )
    if z is not None and z.shape != total.shape:
        raise ValueError(f"z must have shape {total.shape}, got {z.shape}")
    if alpha2 != 0:
        if z is None:
            raise ValueError(f"z must be given when alpha2 is not 0 (alpha2 is {alpha2})")
        total += scale(z.astype(dtype), alpha2)
    total += _per_channel(bias, total.shape).astype(dtype)
    return round_to(activate(total, activation, coef), np.dtype(out_dtype or x.dtype))


def _per_channel(bias: Array, y_shape: tuple[int, ...]) -> Array:
    broadcast = (1, y_shape[1], *(1,) * (len(y_shape) - 2))
    if bias.shape not in ((y_shape[1],), broadcast):
        raise ValueError(f"bias must have shape ({y_shape[1]},) or {broadcast}, got {bias.shape}")
    return bias.reshape(broadcast)
