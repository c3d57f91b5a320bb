"""The error function of arrays, and the standard normal distribution function.

For float64, near a point p of a grid erf is its Taylor series,

    erf(p + d) = sum over k of  c[k] * d^k        c[k] = erf^(k)(p) / k!

where erf(p) comes from `math.erf`, and the derivatives from Hermite polynomials:
erf^(k + 1)(p) = 2 / sqrt(pi) * (-1)^k * H_k(p) * exp(-p^2). With |d| up to 2^-8 the terms after d^6
are below 2^-58. Beyond 6 erf is 1 to the last bit.

For float32 the tangent at a point of a finer grid suffices: with |d| up to 2^-13 the other terms
are below a unit in the last place.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from ..tiles import Array

_STEPS = 128  # grid points for each unit
_END = 6
_TERMS = 6
_FINE_STEPS = 4096


def erf(x: Array) -> Array:
    """erf of each element: to 2 units in the last place, 4 of float32. NaN stays NaN."""
    y: Array
    if x.dtype == np.float32:
        y = _by_tangent(x, _erf_tangents(), 4)
        return np.copysign(y, x, out=y)
    near = np.clip(x, -_END, _END).astype(np.float64)
    number = np.rint(near * _STEPS)
    d = near - number / _STEPS
    with np.errstate(invalid="ignore"):  # NaN has some number, and d is NaN
        point = number.astype(np.intp) + _END * _STEPS
    coefficients = _coefficients()
    y = coefficients[_TERMS].take(point, mode="clip")
    for k in reversed(range(_TERMS)):
        y *= d
        y += coefficients[k].take(point, mode="clip")
    return np.copysign(y, x, out=y)


def normal(x: Array) -> Array:
    """The standard normal distribution function; of float32 with a relative error below 1e-6."""
    if x.dtype == np.float32:
        return _by_tangent(x, _normal_tangents(), 9)
    y: Array = 0.5 * (1 + erf(x / math.sqrt(2)))
    return y


def _by_tangent(x: Array, tangents: tuple[Array, Array], end: int) -> Array:
    """Values of a function that is constant beyond `end`; from its tangents at a grid's points."""
    values, slopes = tangents
    d = np.clip(x, -end, end)
    number = d * np.float32(_FINE_STEPS)
    np.rint(number, out=number)
    with np.errstate(invalid="ignore"):  # NaN has some number, and d is NaN
        point = number.astype(np.intp)
    point += end * _FINE_STEPS
    number *= np.float32(1 / _FINE_STEPS)
    d -= number
    d *= slopes.take(point, mode="clip")
    d += values.take(point, mode="clip")
    return d


@functools.cache
def _erf_tangents() -> tuple[Array, Array]:
    grid = np.arange(-4 * _FINE_STEPS, 4 * _FINE_STEPS + 1) / _FINE_STEPS
    slopes = 2 / math.sqrt(math.pi) * np.exp(-(grid**2))
    return np.array([math.erf(p) for p in grid], np.float32), slopes.astype(np.float32)


@functools.cache
def _normal_tangents() -> tuple[Array, Array]:
    grid = np.arange(-9 * _FINE_STEPS, 9 * _FINE_STEPS + 1) / _FINE_STEPS
    values = [0.5 * math.erfc(-p / math.sqrt(2)) for p in grid]
    slopes = np.exp(-(grid**2) / 2) / math.sqrt(2 * math.pi)
    values[0] = slopes[0] = 0  # beyond the grid, too: gelu multiplies by x, which may be -1e30
    return np.array(values, np.float32), slopes.astype(np.float32)


@functools.cache
def _coefficients() -> Array:
    """c[k] at each point of the grid: (k, points)."""
    grid = np.arange(-_END * _STEPS, _END * _STEPS + 1) / _STEPS
    slope = 2 / math.sqrt(math.pi) * np.exp(-(grid**2))
    before, hermite = np.zeros_like(grid), np.ones_like(grid)
    rows = [np.array([math.erf(p) for p in grid])]
    for k in range(_TERMS):
        rows.append((-1) ** k * hermite * slope / math.factorial(k + 1))
        before, hermite = hermite, 2 * grid * hermite - 2 * k * before
    return np.stack(rows)
