"""Small stand-ins of cuBLAS by its C names, on both devices.

On a GPU the functions are those of the libcublas that comes with cuDNN; on the reference device
NumPy computes them, in memory that is watched. Matrices are column-major, as in cuBLAS.

As in `cudnn_ctypes.raw`: names and order of parameters are C's, ``cublasX(...)`` raises
`cudnn_ctypes.CudaError` on every status but success and returns the status, and
``cublasX.unchecked(...)`` returns the status as C does. alpha and beta are numbers, ``byref`` of a
variable of the elements' type, or, with ``CUBLAS_POINTER_MODE_DEVICE``, device memory. C's other
names ``cublasX_v2`` mean the same.

Examples
--------
C = A B for row-major matrices on the device, which cuBLAS sees as their transposes:

>>> cublasSgemm(                                                    # doctest: +SKIP
...     handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, 1.0, B, n, A, k, 0.0, C, n
... )
"""

from __future__ import annotations

from typing import Any

from cudnn_ctypes.device.cuda import CudaError

from .handles import (
    cublasCreate,
    cublasDestroy,
    cublasGetPointerMode,
    cublasGetStream,
    cublasGetVersion,
    cublasSetMathMode,
    cublasSetPointerMode,
    cublasSetStream,
)
from .matrices import (
    cublasDgeam,
    cublasDgemm,
    cublasDgemmStridedBatched,
    cublasDgemv,
    cublasDger,
    cublasGemmEx,
    cublasHgemm,
    cublasHgemmStridedBatched,
    cublasSgeam,
    cublasSgemm,
    cublasSgemmStridedBatched,
    cublasSgemv,
    cublasSger,
)
from .transfers import (
    cublasGetMatrix,
    cublasGetVector,
    cublasSetMatrix,
    cublasSetVector,
)
from .types import *  # noqa: F403
from .types import __all__ as _types
from .vectors import (
    cublasDasum,
    cublasDaxpy,
    cublasDcopy,
    cublasDdot,
    cublasDnrm2,
    cublasDscal,
    cublasDswap,
    cublasIdamax,
    cublasIsamax,
    cublasSasum,
    cublasSaxpy,
    cublasScopy,
    cublasSdot,
    cublasSnrm2,
    cublasSscal,
    cublasSswap,
)

__all__ = [
    "CudaError",
    "cublasCreate",
    "cublasDasum",
    "cublasDaxpy",
    "cublasDcopy",
    "cublasDdot",
    "cublasDestroy",
    "cublasDgeam",
    "cublasDgemm",
    "cublasDgemmStridedBatched",
    "cublasDgemv",
    "cublasDger",
    "cublasDnrm2",
    "cublasDscal",
    "cublasDswap",
    "cublasGemmEx",
    "cublasGetMatrix",
    "cublasGetPointerMode",
    "cublasGetStream",
    "cublasGetVector",
    "cublasGetVersion",
    "cublasHgemm",
    "cublasHgemmStridedBatched",
    "cublasIdamax",
    "cublasIsamax",
    "cublasSasum",
    "cublasSaxpy",
    "cublasScopy",
    "cublasSdot",
    "cublasSetMathMode",
    "cublasSetMatrix",
    "cublasSetPointerMode",
    "cublasSetStream",
    "cublasSetVector",
    "cublasSgeam",
    "cublasSgemm",
    "cublasSgemmStridedBatched",
    "cublasSgemv",
    "cublasSger",
    "cublasSnrm2",
    "cublasSscal",
    "cublasSswap",
]
__all__ += _types


def __getattr__(name: str) -> Any:
    if name.startswith("cublas") and name.removesuffix("_v2") in __all__:
        return globals()[name.removesuffix("_v2")]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
