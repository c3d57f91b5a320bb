"""The types and constants of the CUDA runtime's functions."""

from __future__ import annotations

import ctypes

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

MEANINGS = {
    cudaError_t.cudaSuccess: "no error",
    cudaError_t.cudaErrorInvalidValue: "invalid argument",
    cudaError_t.cudaErrorMemoryAllocation: "out of memory",
    cudaError_t.cudaErrorInitializationError: "initialization error",
    cudaError_t.cudaErrorInvalidConfiguration: "invalid configuration argument",
    cudaError_t.cudaErrorInvalidPitchValue: "invalid pitch argument",
    cudaError_t.cudaErrorInvalidDevicePointer: "invalid device pointer",
    cudaError_t.cudaErrorInvalidMemcpyDirection: "invalid copy direction for memcpy",
    cudaError_t.cudaErrorInsufficientDriver: "CUDA driver version is insufficient for CUDA "
    "runtime version",
    cudaError_t.cudaErrorInvalidDeviceFunction: "invalid device function",
    cudaError_t.cudaErrorNoDevice: "no CUDA-capable device is detected",
    cudaError_t.cudaErrorInvalidDevice: "invalid device ordinal",
    cudaError_t.cudaErrorNoKernelImageForDevice: "no kernel image is available for execution on "
    "the device",
    cudaError_t.cudaErrorInvalidResourceHandle: "invalid resource handle",
    cudaError_t.cudaErrorNotReady: "device not ready",
    cudaError_t.cudaErrorIllegalAddress: "an illegal memory access was encountered",
    cudaError_t.cudaErrorLaunchOutOfResources: "too many resources requested for launch",
    cudaError_t.cudaErrorLaunchTimeout: "the launch timed out and was terminated",
    cudaError_t.cudaErrorMisalignedAddress: "misaligned address",
    cudaError_t.cudaErrorLaunchFailure: "unspecified launch failure",
    cudaError_t.cudaErrorNotSupported: "operation not supported",
    cudaError_t.cudaErrorUnknown: "unknown error",
}
"""What each status means, in a few words."""

_OTHER_NAMES = {
    "name": "deviceName",
    "sharedMemPerBlock": "maxSharedMemoryPerBlock",
    "maxThreadsDim": "maxBlockSize",
    "clockRate": "smClockRateKHz",
    "memoryClockRate": "memClockRateKHz",
    "maxThreadsPerMultiProcessor": "maxThreadsPerSM",
    "regsPerMultiprocessor": "maxRegistersPerSM",
    "maxBlocksPerMultiProcessor": "maxCtasPerSM",
    "sharedMemPerBlockOptin": "maxSharedMemoryPerBlockOptin",
    "reservedSharedMemPerBlock": "reservedSharedMemoryPerBlock",
    "pciDeviceID": "pciDeviceId",
    "tccDriver": "isTccDriver",
    "cooperativeLaunch": "supportCoopLaunch",
}

PROPERTY_MEMBERS = {
    member: _OTHER_NAMES.get(member, member) for member, _ in cudaDeviceProp._fields_
}
"""The names of cuDNN's device properties, by members of `cudaDeviceProp`."""

ATTRIBUTE_MEMBERS = {
    1: "maxThreadsPerBlock",
    2: "maxThreadsDim 0",
    3: "maxThreadsDim 1",
    4: "maxThreadsDim 2",
    5: "maxGridSize 0",
    6: "maxGridSize 1",
    7: "maxGridSize 2",
    8: "sharedMemPerBlock",
    10: "warpSize",
    12: "regsPerBlock",
    13: "clockRate",
    16: "multiProcessorCount",
    36: "memoryClockRate",
    37: "memoryBusWidth",
    38: "l2CacheSize",
    39: "maxThreadsPerMultiProcessor",
    75: "major",
    76: "minor",
    82: "regsPerMultiprocessor",
    97: "sharedMemPerBlockOptin",
}
"""Members of `cudaDeviceProp`, with an index, by numbers of ``cudaDeviceAttr``."""
