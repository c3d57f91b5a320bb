"""Devices: their number, the current one, their properties; versions."""

from __future__ import annotations

from ctypes import c_int, c_size_t
from typing import Any

from ...arguments import integer
from ...runtime import cuda
from .function import place, runtime_function, store
from .sides import gpu_call
from .types import PROPERTY_MEMBERS, cudaDeviceProp

__all__ = [
    "cudaDeviceGetAttribute",
    "cudaDeviceGetStreamPriorityRange",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaMemGetInfo",
    "cudaProfilerStart",
    "cudaProfilerStop",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "cudaSetDeviceFlags",
]

# Members that CUDA 13 dropped, and the attributes that still have their values.
_ATTRIBUTES = {"clockRate": "cudaDevAttrClockRate", "memoryClockRate": "cudaDevAttrMemoryClockRate"}


@runtime_function
def cudaGetDeviceCount(count: Any) -> None:
    """Fill a ``c_int`` with the number of GPUs; 1 on the reference device."""
    place(count, c_int, "cudaGetDeviceCount: count")
    store(count, gpu_call("cudaGetDeviceCount"), c_int, "count")


@runtime_function
def cudaGetDevice(device: Any) -> None:
    """Fill a ``c_int`` with the number of the current device."""
    place(device, c_int, "cudaGetDevice: device")
    store(device, gpu_call("cudaGetDevice"), c_int, "device")


@runtime_function
def cudaSetDevice(device: int) -> None:
    """Make a device the calling thread's current one."""
    gpu_call("cudaSetDevice", integer("cudaSetDevice: device", device))


@runtime_function
def cudaGetDeviceProperties(prop: Any, device: int) -> None:
    """Fill a `cudaDeviceProp`; the reference device has the properties of the GPU it stands for."""
    function = "cudaGetDeviceProperties"
    filled = cudaDeviceProp.from_address(place(prop, cudaDeviceProp, f"{function}: prop"))
    values = _values(integer(f"{function}: device", device))
    for name in PROPERTY_MEMBERS:
        value = values.get(name, 0)
        if isinstance(value, (list, tuple)):
            getattr(filled, name)[:] = value
        else:
            setattr(filled, name, value.encode() if isinstance(value, str) else value)


@runtime_function
def cudaDeviceGetAttribute(value: Any, attr: int, device: int) -> None:
    """Fill a ``c_int`` with an attribute of a device, by the number of its ``cudaDeviceAttr``.

    The reference device has those of the GPU that it stands for, as far as they are members of
    `cudaDeviceProp`.
    """
    place(value, c_int, "cudaDeviceGetAttribute: value")
    number = integer("cudaDeviceGetAttribute: attr", attr)
    ordinal = integer("cudaDeviceGetAttribute: device", device)
    store(value, int(gpu_call("cudaDeviceGetAttribute", number, ordinal)), c_int, "value")


@runtime_function
def cudaDeviceGetStreamPriorityRange(leastPriority: Any, greatestPriority: Any) -> None:
    """Fill two ``c_int`` with the priorities that streams may have; 0 on the reference device."""
    for name, variable in (("least", leastPriority), ("greatest", greatestPriority)):
        place(variable, c_int, f"cudaDeviceGetStreamPriorityRange: {name}Priority")
    least, greatest = gpu_call("cudaDeviceGetStreamPriorityRange")
    store(leastPriority, int(least), c_int, "leastPriority")
    store(greatestPriority, int(greatest), c_int, "greatestPriority")


@runtime_function
def cudaSetDeviceFlags(flags: int) -> None:
    """Set how the host waits for the current device; no effect on the reference device."""
    gpu_call("cudaSetDeviceFlags", integer("cudaSetDeviceFlags: flags", flags))


@runtime_function
def cudaProfilerStart() -> None:
    """Have a profiler that watches the process record; no effect on the reference device."""
    gpu_call("cudaProfilerStart")


@runtime_function
def cudaProfilerStop() -> None:
    """Have a profiler that watches the process record no more."""
    gpu_call("cudaProfilerStop")


def _values(ordinal: int) -> dict[str, Any]:
    found = gpu_call("cudaGetDeviceProperties", ordinal)
    values = {name: getattr(found, name) for name in PROPERTY_MEMBERS if hasattr(found, name)}
    for name, attribute in _ATTRIBUTES.items():
        if name not in values:
            which = getattr(cuda.runtime().cudaDeviceAttr, attribute)
            values[name] = gpu_call("cudaDeviceGetAttribute", which, ordinal)
    return values


@runtime_function
def cudaDeviceSynchronize() -> None:
    """Wait until all work on the current device is done."""
    gpu_call("cudaDeviceSynchronize")


@runtime_function
def cudaDeviceReset() -> None:
    """Destroy all memory, streams and events of the process on the current device.

    On a GPU this includes the resources of this package and of other libraries.
    """
    gpu_call("cudaDeviceReset")


@runtime_function
def cudaMemGetInfo(free: Any, total: Any) -> None:
    """Fill two ``c_size_t`` with the free and the total bytes of memory.

    The reference device reports the host's memory.
    """
    for name, variable in (("free", free), ("total", total)):
        place(variable, c_size_t, f"cudaMemGetInfo: {name}")
    sizes = gpu_call("cudaMemGetInfo")
    store(free, int(sizes[0]), c_size_t, "free")
    store(total, int(sizes[1]), c_size_t, "total")


@runtime_function
def cudaRuntimeGetVersion(runtimeVersion: Any) -> None:
    """Fill a ``c_int`` with the version of the CUDA runtime: 12090 is 12.9.

    On the reference device it is the runtime with which libcudnn was built.
    """
    place(runtimeVersion, c_int, "cudaRuntimeGetVersion: runtimeVersion")
    store(runtimeVersion, int(gpu_call("cudaRuntimeGetVersion")), c_int, "runtimeVersion")


@runtime_function
def cudaDriverGetVersion(driverVersion: Any) -> None:
    """Fill a ``c_int`` with the CUDA version of the driver, 0 if there is none.

    On the reference device it is the driver's version in the properties of the GPU it stands for.
    """
    place(driverVersion, c_int, "cudaDriverGetVersion: driverVersion")
    store(driverVersion, int(gpu_call("cudaDriverGetVersion")), c_int, "driverVersion")
