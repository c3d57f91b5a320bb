"""The part of the CUDA runtime that cuDNN programs use, by its C names, on both devices.

On a GPU the functions call CUDA Python (``cuda.bindings.runtime``). On the reference device memory
is watched host memory: a copy beyond its block, a freed pointer or a wrong direction is refused,
with the place where the memory was allocated.

The conventions are those of `cudnn_ctypes.raw`: parameters have C's names and order, an out
parameter takes a ctypes object or ``byref`` of it, ``cudaX(...)`` raises `CudaError` on every
status but ``cudaSuccess`` and returns the status, and ``cudaX.unchecked(...)`` returns the status
as C does.

Examples
--------
>>> from ctypes import byref, c_float, sizeof
>>> import numpy as np
>>> from cudnn_ctypes.cudart import *
>>> x = DevicePointer(c_float)                                    # float *x;
>>> cudaMalloc(byref(x), 4 * sizeof(c_float))
cudaError_t.cudaSuccess
>>> cudaMemcpy(x, np.arange(4, dtype="float32"), 16, cudaMemcpyHostToDevice)
cudaError_t.cudaSuccess
>>> y = np.empty(2, "float32")
>>> cudaMemcpy(y, x + 2, 8, cudaMemcpyDeviceToHost)               # from the third float on
cudaError_t.cudaSuccess
>>> y
array([2., 3.], dtype=float32)
>>> cudaFree(x)
cudaError_t.cudaSuccess
"""

from __future__ import annotations

from ...lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
