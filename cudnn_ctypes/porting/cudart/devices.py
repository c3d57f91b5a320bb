"""Devices: their number, the current one, their properties; versions."""

from __future__ import annotations

from typing import Annotated, Any

from ...runtime import cuda
from .function import Int, OutInt, OutSize, forwarded, out, place, runtime_function
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


@forwarded
def cudaGetDeviceCount(count: OutInt) -> None:
    """Fill a ``c_int`` with the number of GPUs; 1 on the reference device."""


@forwarded
def cudaGetDevice(device: OutInt) -> None:
    """Fill a ``c_int`` with the number of the current device."""


@forwarded
def cudaSetDevice(device: Int) -> None:
    """Make a device the calling thread's current one."""


@runtime_function
def cudaGetDeviceProperties(prop: Annotated[Any, out(cudaDeviceProp)], device: Int) -> None:
    """Fill a `cudaDeviceProp`; the reference device has the properties of the GPU it stands for."""
    filled = cudaDeviceProp.from_address(place(prop, cudaDeviceProp, "prop"))
    found = gpu_call("cudaGetDeviceProperties", device)
    for name in PROPERTY_MEMBERS:
        value = getattr(found, name, 0)
        if name in _ATTRIBUTES and not hasattr(found, name):
            which = getattr(cuda.runtime().cudaDeviceAttr, _ATTRIBUTES[name])
            value = gpu_call("cudaDeviceGetAttribute", which, device)
        if isinstance(value, (list, tuple)):
            getattr(filled, name)[:] = value
        else:
            setattr(filled, name, value.encode() if isinstance(value, str) else value)


@forwarded
def cudaDeviceGetAttribute(value: OutInt, attr: Int, device: Int) -> None:
    """Fill a ``c_int`` with an attribute of a device, by the number of its ``cudaDeviceAttr``.

    The reference device has those of the GPU that it stands for, as far as they are members of
    `cudaDeviceProp`.
    """


@forwarded
def cudaDeviceGetStreamPriorityRange(leastPriority: OutInt, greatestPriority: OutInt) -> None:
    """Fill two ``c_int`` with the priorities that streams may have; 0 on the reference device."""


@forwarded
def cudaSetDeviceFlags(flags: Int) -> None:
    """Set how the host waits for the current device; no effect on the reference device."""


@forwarded
def cudaProfilerStart() -> None:
    """Have a profiler that watches the process record; no effect on the reference device."""


@forwarded
def cudaProfilerStop() -> None:
    """Have a profiler that watches the process record no more."""


@forwarded
def cudaDeviceSynchronize() -> None:
    """Wait until all work on the current device is done."""


@forwarded
def cudaDeviceReset() -> None:
    """Destroy all memory, streams and events of the process on the current device.

    On a GPU this includes the resources of this package and of other libraries.
    """


@forwarded
def cudaMemGetInfo(free: OutSize, total: OutSize) -> None:
    """Fill two ``c_size_t`` with the free and the total bytes of memory.

    The reference device reports the host's memory.
    """


@forwarded
def cudaRuntimeGetVersion(runtimeVersion: OutInt) -> None:
    """Fill a ``c_int`` with the version of the CUDA runtime: 12090 is 12.9.

    On the reference device it is the runtime with which libcudnn was built.
    """


@forwarded
def cudaDriverGetVersion(driverVersion: OutInt) -> None:
    """Fill a ``c_int`` with the CUDA version of the driver, 0 if there is none.

    On the reference device it is the driver's version in the properties of the GPU it stands for.
    """
