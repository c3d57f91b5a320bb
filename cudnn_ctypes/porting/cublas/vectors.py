"""Operations on vectors, whose elements are `incx` apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arguments import Elements, computing

__all__ = [
    "cublasDasum",
    "cublasDaxpy",
    "cublasDcopy",
    "cublasDdot",
    "cublasDnrm2",
    "cublasDscal",
    "cublasDswap",
    "cublasIdamax",
    "cublasIsamax",
    "cublasSasum",
    "cublasSaxpy",
    "cublasScopy",
    "cublasSdot",
    "cublasSnrm2",
    "cublasSscal",
    "cublasSswap",
]


def _axpy(
    elements: Elements, handle: Any, n: int, alpha: Any, x: Any, incx: int, y: Any, incy: int
) -> None:
    """y = alpha x + y."""
    if n > 0 and alpha.value:
        result = elements.vector(y, n, incy, "y", "update")
        result += alpha.value * elements.vector(x, n, incx, "x")


def _scal(elements: Elements, handle: Any, n: int, alpha: Any, x: Any, incx: int) -> None:
    """x = alpha x."""
    if n > 0 and incx > 0:
        vector = elements.vector(x, n, incx, "x", "update")
        vector *= alpha.value


def _copy(elements: Elements, handle: Any, n: int, x: Any, incx: int, y: Any, incy: int) -> None:
    """y = x."""
    if n > 0:
        vector = elements.vector(x, n, incx, "x")
        elements.vector(y, n, incy, "y", "write")[...] = vector


def _swap(elements: Elements, handle: Any, n: int, x: Any, incx: int, y: Any, incy: int) -> None:
    """Exchange x and y."""
    if n > 0:
        first = elements.vector(x, n, incx, "x", "update")
        second = elements.vector(y, n, incy, "y", "update")
        first[...], second[...] = second.copy(), first.copy()


def _dot(
    elements: Elements, handle: Any, n: int, x: Any, incx: int, y: Any, incy: int, result: Any
) -> None:
    """result = the sum of x[i] y[i]."""
    total = elements.dtype.type(0)
    if n > 0:
        total = elements.vector(x, n, incx, "x") @ elements.vector(y, n, incy, "y")
    result.value = total


def _nrm2(elements: Elements, handle: Any, n: int, x: Any, incx: int, result: Any) -> None:
    """result = the square root of the sum of squares."""
    total = np.float64(0)
    if n > 0 and incx > 0:
        vector = elements.vector(x, n, incx, "x").astype(np.float64)
        largest = np.abs(vector).max()  # scaling by it keeps the squares from overflowing
        finite = largest and np.isfinite(largest)
        total = largest * np.sqrt(((vector / largest) ** 2).sum()) if finite else largest
    result.value = total


def _asum(elements: Elements, handle: Any, n: int, x: Any, incx: int, result: Any) -> None:
    """result = the sum of the absolute values."""
    positive = n > 0 and incx > 0
    result.value = np.abs(elements.vector(x, n, incx, "x")).sum() if positive else 0


def _amax(elements: Elements, handle: Any, n: int, x: Any, incx: int, result: Any) -> None:
    """result = the place, from 1, of the first element with the largest absolute value."""
    positive = n > 0 and incx > 0
    result.value = 1 + np.abs(elements.vector(x, n, incx, "x")).argmax() if positive else 0


cublasSaxpy = computing("cublasSaxpy", _axpy, "float32")
cublasDaxpy = computing("cublasDaxpy", _axpy, "float64")
cublasSscal = computing("cublasSscal", _scal, "float32")
cublasDscal = computing("cublasDscal", _scal, "float64")
cublasScopy = computing("cublasScopy", _copy, "float32")
cublasDcopy = computing("cublasDcopy", _copy, "float64")
cublasSswap = computing("cublasSswap", _swap, "float32")
cublasDswap = computing("cublasDswap", _swap, "float64")
cublasSdot = computing("cublasSdot", _dot, "float32")
cublasDdot = computing("cublasDdot", _dot, "float64")
cublasSnrm2 = computing("cublasSnrm2", _nrm2, "float32")
cublasDnrm2 = computing("cublasDnrm2", _nrm2, "float64")
cublasSasum = computing("cublasSasum", _asum, "float32")
cublasDasum = computing("cublasDasum", _asum, "float64")
cublasIsamax = computing("cublasIsamax", _amax, "float32", "int32")
cublasIdamax = computing("cublasIdamax", _amax, "float64", "int32")
