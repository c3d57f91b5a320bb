"""Operations on vectors and column-major matrices, and copies of them to and from the device."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...runtime.cuda import CudaError
from ..cudart.function import Int
from ..cudart.memory import cudaMemcpy2D
from ..cudart.types import cudaMemcpyKind
from .arguments import DTYPES, Elements, Invalid, Scalar, computing, taking
from .handles import (
    CublasFunction,
    cublas_function,
    cublasComputeType_t,
    cublasOperation_t,
    cublasStatus_t,
    fail,
)


@taking("handle n alpha x incx y incy")
def _axpy(elements: Elements, a: Any) -> None:
    """y = alpha x + y."""
    if a.n > 0 and a.alpha.value:
        result = elements.vector(a.y, a.n, a.incy, "y", "update")
        result += a.alpha.value * elements.vector(a.x, a.n, a.incx, "x")


@taking("handle n alpha x incx")
def _scal(elements: Elements, a: Any) -> None:
    """x = alpha x."""
    if a.n > 0 and a.incx > 0:
        vector = elements.vector(a.x, a.n, a.incx, "x", "update")
        vector *= a.alpha.value


@taking("handle n x incx y incy")
def _copy(elements: Elements, a: Any) -> None:
    """y = x."""
    if a.n > 0:
        vector = elements.vector(a.x, a.n, a.incx, "x")
        elements.vector(a.y, a.n, a.incy, "y", "write")[...] = vector


@taking("handle n x incx y incy")
def _swap(elements: Elements, a: Any) -> None:
    """Exchange x and y."""
    if a.n > 0:
        first = elements.vector(a.x, a.n, a.incx, "x", "update")
        second = elements.vector(a.y, a.n, a.incy, "y", "update")
        first[...], second[...] = second.copy(), first.copy()


@taking("handle n x incx y incy result")
def _dot(elements: Elements, a: Any) -> None:
    """result = the sum of x[i] y[i]."""
    total = elements.dtype.type(0)
    if a.n > 0:
        total = elements.vector(a.x, a.n, a.incx, "x") @ elements.vector(a.y, a.n, a.incy, "y")
    a.result.value = total


@taking("handle n x incx result")
def _nrm2(elements: Elements, a: Any) -> None:
    """result = the square root of the sum of squares."""
    total = np.float64(0)
    if a.n > 0 and a.incx > 0:
        vector = elements.vector(a.x, a.n, a.incx, "x").astype(np.float64)
        largest = np.abs(vector).max()  # scaling by it keeps the squares from overflowing
        finite = largest and np.isfinite(largest)
        total = largest * np.sqrt(((vector / largest) ** 2).sum()) if finite else largest
    a.result.value = total


@taking("handle n x incx result")
def _asum(elements: Elements, a: Any) -> None:
    """result = the sum of the absolute values."""
    positive = a.n > 0 and a.incx > 0
    a.result.value = np.abs(elements.vector(a.x, a.n, a.incx, "x")).sum() if positive else 0


@taking("handle n x incx result")
def _amax(elements: Elements, a: Any) -> None:
    """result = the place, from 1, of the first element with the largest absolute value."""
    positive = a.n > 0 and a.incx > 0
    a.result.value = 1 + np.abs(elements.vector(a.x, a.n, a.incx, "x")).argmax() if positive else 0


Matrix = NDArray[Any]


@taking("handle trans m n alpha A lda x incx beta y incy")
def _gemv(elements: Elements, a: Any) -> None:
    """y = alpha op(A) x + beta y; A has m rows and n columns."""
    _sizes(m=a.m, n=a.n)
    if not a.m or not a.n:
        return
    rows, columns = _shape(a.trans, "trans", (a.m, a.n))
    result = elements.vector(a.y, rows, a.incy, "y", _use(a.beta))
    matrix = elements.matrix(a.A, a.m, a.n, a.lda, "A")
    vector = elements.vector(a.x, columns, a.incx, "x")
    _scale_and_add(result, a.alpha, a.beta, _op(matrix, a.trans), vector)


@taking("handle m n alpha x incx y incy A lda")
def _ger(elements: Elements, a: Any) -> None:
    """A = alpha x y^T + A; A has m rows and n columns."""
    _sizes(m=a.m, n=a.n)
    if a.m and a.n:
        matrix = elements.matrix(a.A, a.m, a.n, a.lda, "A", "update")
        column = elements.vector(a.x, a.m, a.incx, "x")
        matrix += a.alpha.value * np.outer(column, elements.vector(a.y, a.n, a.incy, "y"))


@taking("handle transa transb m n k alpha A lda B ldb beta C ldc")
def _gemm(elements: Elements, a: Any) -> None:
    """C = alpha op(A) op(B) + beta C; op(A) has m rows and k columns, C has m rows and n columns.

    Columns of A, B and C begin lda, ldb and ldc elements apart. For a row-major product X Y pass Y
    as A and X as B.
    """
    _sizes(m=a.m, n=a.n, k=a.k)
    _product((elements,) * 3, a, (a.A, a.B, a.C))


@taking(
    "handle transa transb m n k alpha A lda strideA B ldb strideB beta C ldc strideC batchCount"
)
def _gemm_strided_batched(elements: Elements, a: Any) -> None:
    """gemm for `batchCount` matrices, which begin strideA, strideB and strideC elements apart."""
    _sizes(m=a.m, n=a.n, k=a.k, batchCount=a.batchCount)
    kinds, size = (elements,) * 3, elements.dtype.itemsize
    for index in range(a.batchCount):
        steps = zip((a.A, a.B, a.C), (a.strideA, a.strideB, a.strideC), strict=True)
        places = [address + index * step * size for address, step in steps]
        _product(kinds, a, places)


@taking(
    "handle transa transb m n k alpha A Atype lda B Btype ldb beta C Ctype ldc computeType algo"
)
def _gemm_ex(elements: Elements, a: Any) -> None:
    """gemm for matrices of different types; alpha and beta have the compute type."""
    _sizes(m=a.m, n=a.n, k=a.k)
    kinds = [Elements(np.dtype(DTYPES[each])) for each in (a.Atype, a.Btype, a.Ctype)]
    _product(kinds, a, (a.A, a.B, a.C))


@taking("handle transa transb m n k alpha A Atype lda B Btype ldb beta C Ctype ldc")
def _sgemm_ex(elements: Elements, a: Any) -> None:
    """gemm for matrices of different types; alpha and beta are floats."""
    _gemm_ex(elements, a)


@taking("handle transa transb m n alpha A lda beta B ldb C ldc")
def _geam(elements: Elements, a: Any) -> None:
    """C = alpha op(A) + beta op(B), all with m rows and n columns."""
    _sizes(m=a.m, n=a.n)
    if not a.m or not a.n:
        return
    total = np.zeros((a.m, a.n), elements.dtype)
    for factor, trans, address, ld, name in (
        (a.alpha.value, a.transa, a.A, a.lda, "A"),
        (a.beta.value, a.transb, a.B, a.ldb, "B"),
    ):
        rows, columns = _shape(trans, f"trans{name.lower()}", (a.m, a.n))
        if factor:
            total += factor * _op(elements.matrix(address, rows, columns, ld, name), trans)
    elements.matrix(a.C, a.m, a.n, a.ldc, "C", "write")[...] = total


def _product(kinds: Any, a: Any, places: Any) -> None:
    """C = alpha op(A) op(B) + beta C, with the matrices at `places`."""
    if not a.m or not a.n:
        return
    result = kinds[2].matrix(places[2], a.m, a.n, a.ldc, "C", _use(a.beta))
    shape = _shape(a.transa, "transa", (a.m, a.k))
    if a.k == 0 or a.alpha.value == 0:  # A and B are not read, so NaN in them has no effect
        result[...] = 0 if a.beta.value == 0 else a.beta.value * result
        return
    left = kinds[0].matrix(places[0], *shape, a.lda, "A")
    right = kinds[1].matrix(places[1], *_shape(a.transb, "transb", (a.k, a.n)), a.ldb, "B")
    _scale_and_add(result, a.alpha, a.beta, _op(left, a.transa), _op(right, a.transb))


def _scale_and_add(result: Matrix, alpha: Scalar, beta: Scalar, a: Matrix, b: Matrix) -> None:
    """result = alpha a b + beta result, in float32, or in float64 for a float64 result."""
    from ...reference.blas import products_of

    wide: Any = np.float64 if result.dtype == np.float64 else np.float32
    with products_of(result.size * a.shape[-1]):
        product = wide(alpha.value) * (a.astype(wide) @ b.astype(wide))
    if beta.value:  # with beta 0, NaN in result has no effect
        product += wide(beta.value) * result.astype(wide)
    result[...] = product


def _use(beta: Scalar) -> str:
    return "update" if beta.value else "write"


def _sizes(**sizes: int) -> None:
    for name, size in sizes.items():
        if size < 0:
            raise Invalid(f"{name} is {size}")


def _shape(operation: Any, name: str, of_result: tuple[int, int]) -> tuple[int, int]:
    """Rows and columns of a matrix whose shape after the operation is `of_result`."""
    if not operation.known:
        raise Invalid(f"{name} is {int(operation)}")
    rows, columns = of_result
    return of_result if operation == cublasOperation_t.CUBLAS_OP_N else (columns, rows)


def _op(matrix: Matrix, operation: Any) -> Matrix:
    return matrix if operation == cublasOperation_t.CUBLAS_OP_N else matrix.T


def _computed_in(arguments: dict[str, Any]) -> str:
    """The type of alpha and beta of ``cublasGemmEx``."""
    return {
        cublasComputeType_t.CUBLAS_COMPUTE_16F: "float16",
        cublasComputeType_t.CUBLAS_COMPUTE_64F: "float64",
    }.get(arguments["computeType"], "float32")


_TYPES = {"H": "float16", "S": "float32", "D": "float64"}

_functions: dict[str, CublasFunction[...]] = {
    f"cublas{letter}{name}": computing(f"cublas{letter}{name}", body, _TYPES[letter])
    for name, letters, body in (
        ("axpy", "SD", _axpy),
        ("scal", "SD", _scal),
        ("copy", "SD", _copy),
        ("swap", "SD", _swap),
        ("dot", "SD", _dot),
        ("nrm2", "SD", _nrm2),
        ("asum", "SD", _asum),
        ("gemv", "SD", _gemv),
        ("ger", "SD", _ger),
        ("geam", "SD", _geam),
        ("gemm", "HSD", _gemm),
        ("gemmStridedBatched", "HSD", _gemm_strided_batched),
    )
    for letter in letters
}
_functions |= {
    "cublasIsamax": computing("cublasIsamax", _amax, "float32", "int32"),
    "cublasIdamax": computing("cublasIdamax", _amax, "float64", "int32"),
    "cublasSgemmEx": computing("cublasSgemmEx", _sgemm_ex, "float32"),
    "cublasGemmEx": computing("cublasGemmEx", _gemm_ex, _computed_in),
}
globals().update(_functions)

__all__ = [
    "cublasGetMatrix",
    "cublasGetVector",
    "cublasSetMatrix",
    "cublasSetVector",
    *_functions,
]


@cublas_function
def cublasSetVector(n: Int, elemSize: Int, x: Any, incx: Int, devicePtr: Any, incy: Int) -> None:
    """Copy `n` elements from the host, `incx` apart, to the device, `incy` apart."""
    _copy_matrix("cublasSetVector", (1, n), elemSize, (x, incx), (devicePtr, incy), to_device=True)


@cublas_function
def cublasGetVector(n: Int, elemSize: Int, x: Any, incx: Int, y: Any, incy: Int) -> None:
    """Copy `n` elements from the device, `incx` apart, to the host, `incy` apart."""
    _copy_matrix("cublasGetVector", (1, n), elemSize, (x, incx), (y, incy), to_device=False)


@cublas_function
def cublasSetMatrix(
    rows: Int, cols: Int, elemSize: Int, A: Any, lda: Int, B: Any, ldb: Int
) -> None:
    """Copy a matrix from the host to the device; columns begin `lda` and `ldb` elements apart."""
    _copy_matrix("cublasSetMatrix", (rows, cols), elemSize, (A, lda), (B, ldb), to_device=True)


@cublas_function
def cublasGetMatrix(
    rows: Int, cols: Int, elemSize: Int, A: Any, lda: Int, B: Any, ldb: Int
) -> None:
    """Copy a matrix from the device to the host; columns begin `lda` and `ldb` elements apart."""
    _copy_matrix("cublasGetMatrix", (rows, cols), elemSize, (A, lda), (B, ldb), to_device=False)


def _copy_matrix(
    function: str,
    shape: tuple[int, int],
    size: int,
    source: tuple[Any, int],
    target: tuple[Any, int],
    *,
    to_device: bool,
) -> None:
    """Copy the columns of a matrix; each is a contiguous row of bytes."""
    if min(*shape) < 0 or size < 1 or min(source[1], target[1]) < max(shape[0], 1):
        reason = "sizes and distances are positive, and columns do not overlap"
        fail(function, cublasStatus_t.CUBLAS_STATUS_INVALID_VALUE, reason)
    up, down = cudaMemcpyKind.cudaMemcpyHostToDevice, cudaMemcpyKind.cudaMemcpyDeviceToHost
    try:
        cudaMemcpy2D(
            target[0],
            target[1] * size,
            source[0],
            source[1] * size,
            shape[0] * size,
            shape[1],
            up if to_device else down,
        )
    except CudaError as error:
        fail(function, cublasStatus_t.CUBLAS_STATUS_MAPPING_ERROR, str(error))
