"""Local response normalization across channels, in plain NumPy.

Every element is divided by a power of the energy in a window of n channels around its own::

    s[c]  =  k + lrn_alpha / n * sum of x[j]^2 over the channels j in the window around c
    y[c]  =  x[c] * s[c]^-lrn_beta

at every image and position. The window reaches (n - 1) // 2 channels back and n // 2 ahead, clipped
at the first and the last one; lrn_alpha is divided by n there too. The gradient has a direct part
and one through every s that x[c] took part in::

    dx[c]  =  dy[c] * s[c]^-lrn_beta
              - 2 * lrn_alpha * lrn_beta / n * x[c] * sum of dy[j] * y[j] / s[j]
                over the channels j whose window contains c

cuDNN computes y again from x and does not read its argument y (measured, cuDNN 9.14 and 9.19).

Where a window holds NaN or infinity, cuDNN's numbers may be others (9.19).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arithmetic import blend, check_shape
from .neighbourhood import neighbours
from .tiles import tiled


def lrn_cross_channel_forward(
    x: NDArray[Any],
    *,
    n: int = 5,
    lrn_alpha: float = 1e-4,
    lrn_beta: float = 0.75,
    k: float = 2.0,
    alpha: float = 1.0,
    beta: float = 0.0,
    y: NDArray[Any] | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """y = alpha * lrn(x) + beta * y: `cudnnLRNCrossChannelForward`.

    Parameters
    ----------
    x
        (N, C, spatial...).
    n, lrn_alpha, lrn_beta, k
        The values for `cudnnSetLRNDescriptor`; the defaults are AlexNet's.
    y
        The output's previous contents; read only if beta is not 0, and never written.
    compute_dtype
        float32 or float64.
    out_dtype
        Default: the dtype of x.

    Raises
    ------
    ValueError
        If an argument is out of range, or x has no channels; the message names the argument.
    """
    check_options(n, lrn_beta, k)
    stored = np.dtype(out_dtype or x.dtype)

    def formula(x: NDArray[Any], y: NDArray[Any] | None) -> NDArray[Any]:
        values = x.astype(compute_dtype)
        result = values * _energy(values, n, lrn_alpha, k) ** -lrn_beta
        return blend(result, y, alpha=alpha, beta=beta, out_dtype=stored, name="y")

    check_shape("y", y, x.shape)
    return tiled(formula, x, y, axes=_pixels(x))


def lrn_cross_channel_backward(
    *,
    x: NDArray[Any],
    y: NDArray[Any],
    dy: NDArray[Any],
    n: int = 5,
    lrn_alpha: float = 1e-4,
    lrn_beta: float = 0.75,
    k: float = 2.0,
    alpha: float = 1.0,
    beta: float = 0.0,
    dx: NDArray[Any] | None = None,
    compute_dtype: DTypeLike = np.float64,
    out_dtype: DTypeLike | None = None,
) -> NDArray[Any]:
    """dx = alpha * (gradient of the loss by x) + beta * dx: `cudnnLRNCrossChannelBackward`.

    Parameters
    ----------
    x
        (N, C, spatial...).
    y
        The result of the forward pass, of x's shape, like dy. Its values are not read.
    dy
        The gradient of the loss by y.
    dx
        The output's previous contents; read only if beta is not 0, and never written.

    The other parameters, the result's dtype and the errors are those of
    `lrn_cross_channel_forward`.
    """
    check_options(n, lrn_beta, k)
    for name, array in (("y", y), ("dy", dy)):
        if array.shape != x.shape:
            raise ValueError(f"{name} must have shape {x.shape}, got {array.shape}")
    stored = np.dtype(out_dtype or x.dtype)
    factor = 2 * lrn_alpha * lrn_beta / n

    def formula(x: NDArray[Any], dy: NDArray[Any], dx: NDArray[Any] | None) -> NDArray[Any]:
        values = x.astype(compute_dtype)
        energy = _energy(values, n, lrn_alpha, k)
        direct = dy.astype(compute_dtype) * energy**-lrn_beta
        share = direct * values / energy
        through = np.zeros_like(values)
        for here, there in neighbours(x.shape, (1,), n):
            through[there] += share[here]
        result = direct - factor * values * through
        return blend(result, dx, alpha=alpha, beta=beta, out_dtype=stored, name="dx")

    check_shape("dx", dx, x.shape)
    return tiled(formula, x, dy, dx, axes=_pixels(x))


def check_options(n: int, lrn_beta: float, k: float) -> None:
    """Refuse values that `cudnnSetLRNDescriptor` refuses."""
    if not 1 <= n <= 16:
        raise ValueError(f"n must be from 1 to 16, got {n}")
    if lrn_beta < 0.01:
        raise ValueError(f"lrn_beta must be at least 0.01, got {lrn_beta}")
    if k < 1e-5:
        raise ValueError(f"k must be at least 1e-5, got {k}")


def _pixels(x: NDArray[Any]) -> list[int]:
    """All axes but the channels'."""
    if x.ndim < 2:
        raise ValueError(f"x must be (N, C, spatial...), got shape {x.shape}")
    return [0, *range(2, x.ndim)]


def _energy(x: NDArray[Any], n: int, lrn_alpha: float, k: float) -> NDArray[Any]:
    """s of the formulas, in x's shape."""
    squares = np.zeros_like(x)
    for here, there in neighbours(x.shape, (1,), n):
        squares[here] += x[there] ** 2
    energy: NDArray[Any] = k + lrn_alpha / n * squares
    return energy
