"""Devices: their number, the current one, their properties; versions."""

from __future__ import annotations

import os
from collections.abc import Mapping
from ctypes import c_int, c_size_t
from typing import Any

from ... import raw
from ...absent_gpu import properties as gpus
from ...arguments import integer
from ...raw import host_blocks, mode
from ...runtime import cuda
from . import memory, streams
from .function import fail, gpu_call, place, runtime_function, store
from .types import cudaDeviceProp, cudaError_t

__all__ = [
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaMemGetInfo",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
]

# Members of `cudaDeviceProp` with other names in cuDNN's device properties.
_NAMES_IN_CUDNN = {
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

_MEMBERS = [field[0] for field in cudaDeviceProp._fields_]

# Members that CUDA 13 dropped, and the attributes that still have their values.
_ATTRIBUTES = {"clockRate": "cudaDevAttrClockRate", "memoryClockRate": "cudaDevAttrMemoryClockRate"}


@runtime_function
def cudaGetDeviceCount(count: Any) -> None:
    """Fill a ``c_int`` with the number of GPUs; 1 on the reference device."""
    place(count, c_int, "cudaGetDeviceCount: count")
    number = 1 if mode.reference_device_active else gpu_call("cudaGetDeviceCount")
    store(count, number, c_int, "count")


@runtime_function
def cudaGetDevice(device: Any) -> None:
    """Fill a ``c_int`` with the number of the current device."""
    place(device, c_int, "cudaGetDevice: device")
    number = 0 if mode.reference_device_active else gpu_call("cudaGetDevice")
    store(device, number, c_int, "device")


@runtime_function
def cudaSetDevice(device: int) -> None:
    """Make a device the calling thread's current one."""
    ordinal = _ordinal("cudaSetDevice", device)
    if not mode.reference_device_active:
        gpu_call("cudaSetDevice", ordinal)


@runtime_function
def cudaGetDeviceProperties(prop: Any, device: int) -> None:
    """Fill a `cudaDeviceProp`; the reference device has the properties of the GPU it stands for."""
    function = "cudaGetDeviceProperties"
    filled = cudaDeviceProp.from_address(place(prop, cudaDeviceProp, f"{function}: prop"))
    ordinal = _ordinal(function, device)
    values = _reference_values() if mode.reference_device_active else _gpu_values(ordinal)
    for name in _MEMBERS:
        value = values.get(name, 0)
        if isinstance(value, (list, tuple)):
            getattr(filled, name)[:] = value
        else:
            setattr(filled, name, value.encode() if isinstance(value, str) else value)


def _gpu_values(ordinal: int) -> dict[str, Any]:
    found = gpu_call("cudaGetDeviceProperties", ordinal)
    values = {name: getattr(found, name) for name in _MEMBERS if hasattr(found, name)}
    for name, attribute in _ATTRIBUTES.items():
        if name not in values:
            which = getattr(cuda.runtime().cudaDeviceAttr, attribute)
            values[name] = gpu_call("cudaDeviceGetAttribute", which, ordinal)
    return values


def _reference_values() -> Mapping[str, Any]:
    known = dict(gpus.reference_gpu())
    width = gpus.later_value("memoryBusWidth", known.get("deviceName", ""))
    known.setdefault("memoryBusWidth", width or 0)
    values = {name: known.get(_NAMES_IN_CUDNN.get(name, name), 0) for name in _MEMBERS}
    values["major"], values["minor"] = gpus.compute_capability(known)
    return values


def _ordinal(function: str, device: Any) -> int:
    ordinal = integer(f"{function}: device", device)
    if mode.reference_device_active and ordinal != 0:
        reason = f"device: {ordinal}; the reference device is one device, number 0"
        fail(function, cudaError_t.cudaErrorInvalidDevice, reason)
    return ordinal


@runtime_function
def cudaDeviceSynchronize() -> None:
    """Wait until all work on the current device is done."""
    if not mode.reference_device_active:
        gpu_call("cudaDeviceSynchronize")


@runtime_function
def cudaDeviceReset() -> None:
    """Destroy all memory, streams and events of the process on the current device.

    On a GPU this includes the resources of this package and of other libraries.
    """
    if mode.reference_device_active:
        memory.free_all()
        streams.destroy_all()
    else:
        gpu_call("cudaDeviceReset")


@runtime_function
def cudaMemGetInfo(free: Any, total: Any) -> None:
    """Fill two ``c_size_t`` with the free and the total bytes of memory.

    The reference device reports the host's memory.
    """
    for name, variable in (("free", free), ("total", total)):
        place(variable, c_size_t, f"cudaMemGetInfo: {name}")
    if mode.reference_device_active:
        sizes = host_blocks.free_memory(), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    else:
        sizes = gpu_call("cudaMemGetInfo")
    store(free, int(sizes[0]), c_size_t, "free")
    store(total, int(sizes[1]), c_size_t, "total")


@runtime_function
def cudaRuntimeGetVersion(runtimeVersion: Any) -> None:
    """Fill a ``c_int`` with the version of the CUDA runtime: 12090 is 12.9.

    On the reference device it is the runtime with which libcudnn was built.
    """
    place(runtimeVersion, c_int, "cudaRuntimeGetVersion: runtimeVersion")
    if mode.reference_device_active:
        version = raw.cudnnGetCudartVersion()
    else:
        version = gpu_call("cudaRuntimeGetVersion")
    store(runtimeVersion, int(version), c_int, "runtimeVersion")


@runtime_function
def cudaDriverGetVersion(driverVersion: Any) -> None:
    """Fill a ``c_int`` with the CUDA version of the driver, 0 if there is none.

    On the reference device it is the driver's version in the properties of the GPU it stands for.
    """
    place(driverVersion, c_int, "cudaDriverGetVersion: driverVersion")
    if mode.reference_device_active:
        version = gpus.reference_gpu().get("driverVer", 0)
    else:
        version = gpu_call("cudaDriverGetVersion")
    store(driverVersion, int(version), c_int, "driverVersion")
