"""Small stand-ins of cuBLAS by its C names, on both devices.

On a GPU the functions call the libcublas that comes with cuDNN. On the reference device NumPy
computes them, in watched memory. Matrices are column-major, as in cuBLAS.

The conventions are those of `cudnn_ctypes.raw`: parameters have C's names and order,
``cublasX(...)`` raises `cudnn_ctypes.CudaError` on every status but success and returns the status,
and ``cublasX.unchecked(...)`` returns the status as C does. alpha and beta are numbers, ``byref``
of a variable of the elements' type, or, with ``CUBLAS_POINTER_MODE_DEVICE``, device memory. C's
names ``cublasX_v2`` are aliases.

Provisional: names and arguments may change in any release.

Examples
--------
C = A B for row-major matrices on the device, which cuBLAS reads as their transposes:

>>> cublasSgemm(                                                    # doctest: +SKIP
...     handle, CUBLAS_OP_N, CUBLAS_OP_N, n, m, k, 1.0, B, n, A, k, 0.0, C, n
... )
"""

from __future__ import annotations

from typing import Any

from ...lazy import attach

_attribute, __dir__, __all__ = attach(__name__)


def __getattr__(name: str) -> Any:
    plain = name.removesuffix("_v2")
    return _attribute(plain if plain.startswith("cublas") and plain in __all__ else name)
