"""Local response normalization across channels, and divisive normalization, in plain NumPy.

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

In divisive normalization, the second half of local contrast normalization, every element is divided
by a power of the variation in a spatial window around it, within its own channel. With a window of
n elements along each of d spatial dimensions::

    s[i]  =  k + lrn_alpha / n^d * sum of (x[j] - means[i])^2 over the positions j around i
    y[i]  =  x[i] * s[i]^-lrn_beta

The window is that of LRN, clipped at the borders, where lrn_alpha is still divided by all of n^d.
The means are a separate input. With the window's means this is a division by a standard deviation
(for lrn_beta = 1/2); with zeros it is LRN in space. The numerator is x itself, from which the first
half of contrast normalization has subtracted the means. The gradients treat means as independent of
x::

    g[i]       =  -lrn_beta * dy[i] * x[i] * s[i]^(-lrn_beta - 1) * lrn_alpha / n^d
    dx[j]      =  dy[j] * s[j]^-lrn_beta
                  + sum of 2 * g[i] * (x[j] - means[i]) over the i in the window around j
    dmeans[i]  =  -sum of 2 * g[i] * (x[j] - means[i]) over the j in the window around i

g being the gradient of the loss by the sum of squares. The i whose window contains j are those in
the window around j only if n is odd. An even window reaches further ahead than back, and there dx
is not the gradient: cuDNN sums over the same window in both directions, and so does this (measured,
cuDNN 9.14 and 9.19).

Where a window holds NaN or infinity, cuDNN's numbers may be others (9.19). Of divisive
normalization those in half precision are off by several roundings of that type, and NaN where a
square is above its largest number.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import DTypeLike

from .arithmetic import Output, computed, computing, stored
from .tiles import Array

if TYPE_CHECKING:
    from typing_extensions import Unpack


def lrn_cross_channel_forward(
    x: Array,
    *,
    n: int = 5,
    lrn_alpha: float = 1e-4,
    lrn_beta: float = 0.75,
    k: float = 2.0,
    y: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """y = alpha * lrn(x) + beta * y: `cudnnLRNCrossChannelForward`.

    Parameters
    ----------
    x
        (N, C, spatial...).
    n, lrn_alpha, lrn_beta, k
        The values for `cudnnSetLRNDescriptor`; the defaults are AlexNet's.
    y, **output
        What the output held, and `Output`.

    Raises
    ------
    ValueError
        If an argument is out of range, or x has no channels; the message names the argument.
    """
    check_options(n, lrn_beta, k)

    def formula(x: Array) -> Array:
        result: Array = x * _energy(x, n, lrn_alpha, k) ** -lrn_beta
        return result

    return computed("y", y, formula, x, output=output, axes=_pixels(x))


def lrn_cross_channel_backward(
    *,
    x: Array,
    y: Array,
    dy: Array,
    n: int = 5,
    lrn_alpha: float = 1e-4,
    lrn_beta: float = 0.75,
    k: float = 2.0,
    dx: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """dx = alpha * (gradient of the loss by x) + beta * dx: `cudnnLRNCrossChannelBackward`.

    Parameters
    ----------
    x
        (N, C, spatial...).
    y
        The result of the forward pass, of x's shape, like dy. Its values are not read.
    dy
        The gradient of the loss by y.
    dx, **output
        What the output held, and `Output`.

    The other parameters, and the errors, are those of `lrn_cross_channel_forward`.

    cuDNN keeps running sums along the channels on a GPU: a result is off by roundings of the terms
    of all channels, not of its neighbours' alone.
    """
    check_options(n, lrn_beta, k)
    for name, array in (("y", y), ("dy", dy)):
        if array.shape != x.shape:
            raise ValueError(f"{name} must have shape {x.shape}, got {array.shape}")
    factor = 2 * lrn_alpha * lrn_beta / n

    def formula(x: Array, dy: Array) -> Array:
        energy = _energy(x, n, lrn_alpha, k)
        direct = dy * energy**-lrn_beta
        share = direct * x / energy
        through = np.zeros_like(x)
        for here, there in neighbours(x.shape, (1,), n):
            through[there] += share[here]
        result: Array = direct - factor * x * through
        return result

    return computed("dx", dx, formula, x, dy, output=output, axes=_pixels(x))


def check_options(n: int, lrn_beta: float, k: float) -> None:
    """Refuse values that `cudnnSetLRNDescriptor` refuses."""
    if not 1 <= n <= 16:
        raise ValueError(f"n must be from 1 to 16, got {n}")
    if lrn_beta < 0.01:
        raise ValueError(f"lrn_beta must be at least 0.01, got {lrn_beta}")
    if k < 1e-5:
        raise ValueError(f"k must be at least 1e-5, got {k}")


def _pixels(x: Array) -> list[int]:
    """All axes but the channels'."""
    if x.ndim < 2:
        raise ValueError(f"x must be (N, C, spatial...), got shape {x.shape}")
    return [0, *range(2, x.ndim)]


def _energy(x: Array, n: int, lrn_alpha: float, k: float) -> Array:
    """s of the formulas, in x's shape."""
    squares = np.zeros_like(x)
    for here, there in neighbours(x.shape, (1,), n):
        squares[here] += x[there] ** 2
    energy: Array = k + lrn_alpha / n * squares
    return energy


# --- divisive normalization -----------------------------------------------------------------------


def divisive_normalization_forward(
    x: Array,
    means: Array | None = None,
    *,
    n: int = 5,
    lrn_alpha: float = 1e-4,
    lrn_beta: float = 0.75,
    k: float = 2.0,
    y: Array | None = None,
    **output: Unpack[Output],
) -> Array:
    """y = alpha * normalized(x) + beta * y: `cudnnDivisiveNormalizationForward`.

    Parameters
    ----------
    x
        (N, C, spatial...).
    means
        The shape of x; default: zeros.
    n, lrn_alpha, lrn_beta, k
        The values for `cudnnSetLRNDescriptor`.
    y, **output
        What the output held, and `Output`.

    Raises
    ------
    ValueError
        If shapes do not fit or an option is out of range; the message names the argument.
    """
    check_options(n, lrn_beta, k)
    values, centers = _operands(x, means, computing(output))
    variation = _variation(values, centers, n, lrn_alpha, k)
    return stored("y", values * variation**-lrn_beta, y, x.dtype, output)


def divisive_normalization_backward(
    *,
    x: Array,
    dy: Array,
    means: Array | None = None,
    n: int = 5,
    lrn_alpha: float = 1e-4,
    lrn_beta: float = 0.75,
    k: float = 2.0,
    dx: Array | None = None,
    dmeans: Array | None = None,
    **output: Unpack[Output],
) -> tuple[Array, Array]:
    """(dx, dmeans), each alpha * gradient + beta * prior: `cudnnDivisiveNormalizationBackward`.

    Parameters
    ----------
    x, dy, means
        Arrays of equal shape (N, C, spatial...); default for means: zeros.
    dx, dmeans, **output
        What the outputs held, and `Output`.

    The other parameters, and the errors, are those of `divisive_normalization_forward`.
    """
    check_options(n, lrn_beta, k)
    values, centers = _operands(x, means, computing(output))
    if dy.shape != x.shape:
        raise ValueError(f"dy must have shape {x.shape}, got {dy.shape}")
    gradient: Array = dy.astype(values.dtype)
    variation = _variation(values, centers, n, lrn_alpha, k)
    weight = lrn_alpha / n ** (x.ndim - 2)
    by_sum = -lrn_beta * gradient * values * variation ** (-lrn_beta - 1) * weight
    by_x, by_means = gradient * variation**-lrn_beta, np.zeros_like(values)
    for here, there in neighbours(x.shape, range(2, x.ndim), n):
        by_x[here] += 2 * by_sum[there] * (values[here] - centers[there])
        by_means[here] -= 2 * by_sum[here] * (values[there] - centers[here])
    return (
        stored("dx", by_x, dx, x.dtype, output),
        stored("dmeans", by_means, dmeans, x.dtype, output),
    )


def _operands(x: Array, means: Array | None, dtype: DTypeLike) -> tuple[Array, Array]:
    if x.ndim < 3:
        raise ValueError(f"x must be (N, C, spatial...), got shape {x.shape}")
    values: Array = x.astype(dtype)
    if means is None:
        return values, np.zeros_like(values)
    if means.shape != x.shape:
        raise ValueError(f"means must have shape {x.shape}, got {means.shape}")
    return values, means.astype(dtype)


def _variation(x: Array, means: Array, n: int, lrn_alpha: float, k: float) -> Array:
    """s of the formulas, in x's shape."""
    squares = np.zeros_like(x)
    for here, there in neighbours(x.shape, range(2, x.ndim), n):
        squares[here] += (x[there] - means[here]) ** 2
    variation: Array = k + lrn_alpha / n ** (x.ndim - 2) * squares
    return variation


# --- windows --------------------------------------------------------------------------------------


Index = tuple[slice, ...]


def reach(window: int) -> tuple[int, int]:
    """How far a window of this width looks back and ahead; an even one looks further ahead.

    Examples
    --------
    >>> reach(5), reach(4)
    ((2, 2), (1, 2))
    """
    back = (window - 1) // 2
    return back, window - 1 - back


def neighbours(
    shape: Sequence[int], axes: Sequence[int], window: int
) -> Iterator[tuple[Index, Index]]:
    """For every offset in a window along `axes`: all elements with a neighbour there, and these
    neighbours.

    For two arrays of this shape,

        for here, there in neighbours(shape, axes, window):
            total[here] += a[here] * b[there]

    sums over the window around every element, without the positions outside of the array.
    """
    back, ahead = reach(window)
    for steps in itertools.product(range(-back, ahead + 1), repeat=len(axes)):
        here, there = [slice(None)] * len(shape), [slice(None)] * len(shape)
        for axis, step in zip(axes, steps, strict=True):
            here[axis] = slice(max(0, -step), max(0, shape[axis] - max(0, step)))
            there[axis] = slice(max(0, step), max(0, shape[axis] - max(0, -step)))
        if all(abs(step) < shape[axis] for axis, step in zip(axes, steps, strict=True)):
            yield tuple(here), tuple(there)
