from ...runtime.cuda import CudaError as CudaError
from ...raw.types import cudaStream_t as cudaStream_t

from .copies import (
    cudaMemcpy as cudaMemcpy,
    cudaMemcpy2D as cudaMemcpy2D,
    cudaMemcpy2DAsync as cudaMemcpy2DAsync,
    cudaMemcpyAsync as cudaMemcpyAsync,
    cudaMemset as cudaMemset,
    cudaMemset2D as cudaMemset2D,
    cudaMemsetAsync as cudaMemsetAsync,
)
from .devices import (
    cudaDeviceReset as cudaDeviceReset,
    cudaDeviceSynchronize as cudaDeviceSynchronize,
    cudaDriverGetVersion as cudaDriverGetVersion,
    cudaGetDevice as cudaGetDevice,
    cudaGetDeviceCount as cudaGetDeviceCount,
    cudaGetDeviceProperties as cudaGetDeviceProperties,
    cudaMemGetInfo as cudaMemGetInfo,
    cudaRuntimeGetVersion as cudaRuntimeGetVersion,
    cudaSetDevice as cudaSetDevice,
)
from .function import (
    cudaGetErrorName as cudaGetErrorName,
    cudaGetErrorString as cudaGetErrorString,
    cudaGetLastError as cudaGetLastError,
    cudaPeekAtLastError as cudaPeekAtLastError,
)
from .memory import (
    cudaFree as cudaFree,
    cudaFreeAsync as cudaFreeAsync,
    cudaFreeHost as cudaFreeHost,
    cudaHostAlloc as cudaHostAlloc,
    cudaMalloc as cudaMalloc,
    cudaMallocAsync as cudaMallocAsync,
    cudaMallocHost as cudaMallocHost,
    cudaMallocManaged as cudaMallocManaged,
    cudaMallocPitch as cudaMallocPitch,
)
from .memory import DevicePointer as DevicePointer
from .streams import (
    cudaEventCreate as cudaEventCreate,
    cudaEventCreateWithFlags as cudaEventCreateWithFlags,
    cudaEventDestroy as cudaEventDestroy,
    cudaEventElapsedTime as cudaEventElapsedTime,
    cudaEventQuery as cudaEventQuery,
    cudaEventRecord as cudaEventRecord,
    cudaEventSynchronize as cudaEventSynchronize,
    cudaStreamCreate as cudaStreamCreate,
    cudaStreamCreateWithFlags as cudaStreamCreateWithFlags,
    cudaStreamDestroy as cudaStreamDestroy,
    cudaStreamQuery as cudaStreamQuery,
    cudaStreamSynchronize as cudaStreamSynchronize,
    cudaStreamWaitEvent as cudaStreamWaitEvent,
)
from .types import *
