"""Copies of matrices and vectors between host and device, which need no handle."""

from __future__ import annotations

from typing import Any

from ...runtime.cuda import CudaError
from ..cudart.copies import cudaMemcpy2D
from ..cudart.types import cudaMemcpyKind
from .function import cublas_function, fail
from .types import cublasStatus_t

__all__ = ["cublasGetMatrix", "cublasGetVector", "cublasSetMatrix", "cublasSetVector"]


@cublas_function
def cublasSetVector(n: int, elemSize: int, x: Any, incx: int, devicePtr: Any, incy: int) -> None:
    """Copy `n` elements from the host, `incx` apart, to the device, `incy` apart."""
    _copy("cublasSetVector", (1, n), elemSize, (x, incx), (devicePtr, incy), to_device=True)


@cublas_function
def cublasGetVector(n: int, elemSize: int, x: Any, incx: int, y: Any, incy: int) -> None:
    """Copy `n` elements from the device, `incx` apart, to the host, `incy` apart."""
    _copy("cublasGetVector", (1, n), elemSize, (x, incx), (y, incy), to_device=False)


@cublas_function
def cublasSetMatrix(
    rows: int, cols: int, elemSize: int, A: Any, lda: int, B: Any, ldb: int
) -> None:
    """Copy a matrix from the host to the device; columns begin `lda` and `ldb` elements apart."""
    _copy("cublasSetMatrix", (rows, cols), elemSize, (A, lda), (B, ldb), to_device=True)


@cublas_function
def cublasGetMatrix(
    rows: int, cols: int, elemSize: int, A: Any, lda: int, B: Any, ldb: int
) -> None:
    """Copy a matrix from the device to the host; columns begin `lda` and `ldb` elements apart."""
    _copy("cublasGetMatrix", (rows, cols), elemSize, (A, lda), (B, ldb), to_device=False)


def _copy(
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
