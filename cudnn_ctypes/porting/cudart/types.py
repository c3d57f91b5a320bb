"""The types and constants of the CUDA runtime's functions."""

from __future__ import annotations

import ctypes
import json
from pathlib import Path

from ...raw.ctypes_support import CudnnEnum, OpaquePointer

__all__ = [
    "cudaDeviceProp",
    "cudaError_t",
    "cudaEventBlockingSync",
    "cudaEventDefault",
    "cudaEventDisableTiming",
    "cudaEvent_t",
    "cudaHostAllocDefault",
    "cudaHostAllocMapped",
    "cudaHostAllocPortable",
    "cudaHostAllocWriteCombined",
    "cudaMemAttachGlobal",
    "cudaMemAttachHost",
    "cudaMemcpyKind",
    "cudaStreamDefault",
    "cudaStreamNonBlocking",
]


class cudaError_t(CudnnEnum):
    """The status of a function of the CUDA runtime; unknown codes keep their number."""

    cudaSuccess = 0
    cudaErrorInvalidValue = 1
    cudaErrorMemoryAllocation = 2
    cudaErrorInitializationError = 3
    cudaErrorInvalidConfiguration = 9
    cudaErrorInvalidPitchValue = 12
    cudaErrorInvalidDevicePointer = 17
    cudaErrorInvalidMemcpyDirection = 21
    cudaErrorInsufficientDriver = 35
    cudaErrorInvalidDeviceFunction = 98
    cudaErrorNoDevice = 100
    cudaErrorInvalidDevice = 101
    cudaErrorNoKernelImageForDevice = 209
    cudaErrorInvalidResourceHandle = 400
    cudaErrorNotReady = 600
    cudaErrorIllegalAddress = 700
    cudaErrorLaunchOutOfResources = 701
    cudaErrorLaunchTimeout = 702
    cudaErrorMisalignedAddress = 716
    cudaErrorLaunchFailure = 719
    cudaErrorNotSupported = 801
    cudaErrorUnknown = 999


class cudaMemcpyKind(CudnnEnum):
    """The direction of a copy; ``cudaMemcpyDefault`` takes it from the addresses."""

    cudaMemcpyHostToHost = 0
    cudaMemcpyHostToDevice = 1
    cudaMemcpyDeviceToHost = 2
    cudaMemcpyDeviceToDevice = 3
    cudaMemcpyDefault = 4


class _CUevent_st(ctypes.Structure):
    pass


class cudaEvent_t(OpaquePointer):
    """An event; ``cudaEventCreate`` fills it."""

    _type_ = _CUevent_st


class cudaDeviceProp(ctypes.Structure):
    """The properties from ``cudaGetDeviceProperties``: the usual members of C's struct.

    It is never passed to C and has another layout than C's struct. ``name`` is bytes.
    """

    _fields_ = (
        ("name", ctypes.c_char * 256),
        ("totalGlobalMem", ctypes.c_size_t),
        ("sharedMemPerBlock", ctypes.c_size_t),
        ("regsPerBlock", ctypes.c_int),
        ("warpSize", ctypes.c_int),
        ("maxThreadsPerBlock", ctypes.c_int),
        ("maxThreadsDim", ctypes.c_int * 3),
        ("maxGridSize", ctypes.c_int * 3),
        ("clockRate", ctypes.c_int),
        ("major", ctypes.c_int),
        ("minor", ctypes.c_int),
        ("multiProcessorCount", ctypes.c_int),
        ("memoryClockRate", ctypes.c_int),
        ("memoryBusWidth", ctypes.c_int),
        ("l2CacheSize", ctypes.c_int),
        ("maxThreadsPerMultiProcessor", ctypes.c_int),
        ("regsPerMultiprocessor", ctypes.c_int),
        ("maxBlocksPerMultiProcessor", ctypes.c_int),
        ("sharedMemPerBlockOptin", ctypes.c_size_t),
        ("reservedSharedMemPerBlock", ctypes.c_size_t),
        ("pciDeviceID", ctypes.c_int),
        ("tccDriver", ctypes.c_int),
        ("cooperativeLaunch", ctypes.c_int),
    )

    def __repr__(self) -> str:
        return f"<cudaDeviceProp of {self.name.decode()}, {self.major}.{self.minor}>"


for _enum in (cudaError_t, cudaMemcpyKind):
    globals().update(_enum.__members__)  # as in C
    __all__ += [*_enum.__members__]

# Plain numbers, as in C.
cudaStreamDefault = 0
cudaStreamNonBlocking = 1
cudaEventDefault = 0
cudaEventBlockingSync = 1
cudaEventDisableTiming = 2
cudaHostAllocDefault = 0
cudaHostAllocPortable = 1
cudaHostAllocMapped = 2
cudaHostAllocWriteCombined = 4
cudaMemAttachGlobal = 1
cudaMemAttachHost = 2

_told = json.loads(Path(__file__).with_name("types.json").read_text("utf-8"))

MEANINGS: dict[cudaError_t, str] = {
    cudaError_t.__members__[name]: text for name, text in _told["errors"].items()
}
"""The meaning of each status, in a few words."""

PROPERTY_MEMBERS: dict[str, str] = {
    member: _told["properties"].get(member, member) for member, _ in cudaDeviceProp._fields_
}
"""The names of cuDNN's device properties, by members of `cudaDeviceProp`."""

ATTRIBUTE_MEMBERS: dict[int, str] = {
    int(number): member for number, member in _told["attributes"].items()
}
"""Members of `cudaDeviceProp`, with an index, by numbers of ``cudaDeviceAttr``."""
