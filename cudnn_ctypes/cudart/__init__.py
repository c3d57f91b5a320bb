"""The CUDA runtime by its C names, as far as programs around cuDNN use it, on both devices.

On a GPU the functions are those of CUDA Python (``cuda.bindings.runtime``). On the reference device
memory is host memory that is watched: a copy that leaves its block, a pointer that was freed, or a
direction that does not fit is refused with the place where the memory was allocated.

As in `cudnn_ctypes.raw`: names and order of parameters are C's, an out parameter takes a ctypes
object or ``byref`` of it, ``cudaX(...)`` raises `CudaError` on every status but ``cudaSuccess`` and
returns the status, and ``cudaX.unchecked(...)`` returns the status as C does.

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

from ..lazy import attach

__getattr__, __dir__, __all__ = attach(__name__)
