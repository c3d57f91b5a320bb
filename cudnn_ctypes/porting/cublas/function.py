"""The function objects of cuBLAS, which call libcublas or the reference device."""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, NoReturn, ParamSpec

from ...errors import LibraryNotFoundError
from ...raw import library
from ...runtime import cuda
from ...runtime.cuda import CudaError
from ..cudart.checked import CheckedFunction
from .types import cublasStatus_t

__all__ = ["CublasFunction", "cublas_function", "fail", "gpu_call", "symbol"]

_P = ParamSpec("_P")


class CublasFunction(CheckedFunction[_P, cublasStatus_t]):
    """A function of cuBLAS."""

    success = cublasStatus_t.CUBLAS_STATUS_SUCCESS
    no_device = cublasStatus_t.CUBLAS_STATUS_NOT_INITIALIZED


def cublas_function(body: Callable[_P, None]) -> CublasFunction[_P]:
    """Make a C function of a Python function that raises `CudaError`."""
    return CublasFunction(body)


def fail(function: str, code: cublasStatus_t, reason: str = "") -> NoReturn:
    """Raise the error for a status, with the reason if known."""
    raise CudaError(function, code, f"{code.name}: {reason}" if reason else code.name)


def gpu_call(function: str, *arguments: Any) -> None:
    """Call libcublas with ctypes values.

    Raises
    ------
    CudaError
    NoDeviceError
    LibraryNotFoundError
    """
    cuda.driver()
    status = symbol(function)(*arguments)
    if status:
        fail(function, cublasStatus_t(status))


@functools.cache
def symbol(function: str) -> Any:
    """The C function; the newer ``_v2`` function, with a handle, if there are two."""
    found = getattr(_library(), f"{function}_v2", None) or getattr(_library(), function)
    found.restype = ctypes.c_int
    return found


@functools.cache
def _library() -> ctypes.CDLL:
    """The libcublas that belongs to the loaded cuDNN."""
    cudnn = library.load()
    cudnn.load_cuda_libraries()
    soname = f"libcublas.so.{cudnn.cuda_major}"
    try:
        return ctypes.CDLL(soname)  # usually loaded already
    except OSError as error:
        wheel = "nvidia-cublas-cu12" if cudnn.cuda_major == 12 else "nvidia-cublas"
        raise LibraryNotFoundError(f"{error}. Install it: pip install {wheel}") from None
