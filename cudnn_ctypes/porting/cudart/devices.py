"""Devices, streams and events. On the reference device work is complete when its call returns."""

from __future__ import annotations

from typing import Annotated, Any

from ...runtime import cuda
from .function import (
    Event,
    Int,
    OutEvent,
    OutFloat,
    OutInt,
    OutSize,
    OutStream,
    Stream,
    forwarded,
    out,
    place,
    runtime_function,
)
from .sides import gpu_call
from .types import PROPERTY_MEMBERS, cudaDeviceProp, cudaStreamDefault

__all__ = [
    "cudaDeviceGetAttribute",
    "cudaDeviceGetStreamPriorityRange",
    "cudaDeviceReset",
    "cudaDeviceSynchronize",
    "cudaDriverGetVersion",
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaGetDevice",
    "cudaGetDeviceCount",
    "cudaGetDeviceProperties",
    "cudaMemGetInfo",
    "cudaProfilerStart",
    "cudaProfilerStop",
    "cudaRuntimeGetVersion",
    "cudaSetDevice",
    "cudaSetDeviceFlags",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
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


# -- streams and events -----------------------------------------------------------------------


@forwarded
def cudaStreamCreate(pStream: OutStream) -> None:
    """Create a stream: ``cudaStreamCreate(byref(stream))``."""


@forwarded
def cudaStreamCreateWithFlags(pStream: OutStream, flags: Int = cudaStreamDefault) -> None:
    """Create a stream, with flags: ``cudaStreamNonBlocking``."""


@forwarded
def cudaStreamCreateWithPriority(pStream: OutStream, flags: Int, priority: Int) -> None:
    """Create a stream with flags and a priority, of which smaller numbers are higher."""


@forwarded
def cudaStreamDestroy(stream: Stream) -> None:
    """Destroy a stream once its work is done."""


@forwarded
def cudaStreamSynchronize(stream: Stream) -> None:
    """Wait until the work on a stream is done."""


@forwarded
def cudaStreamQuery(stream: Stream) -> None:
    """Test whether the work on a stream is done; the status is ``cudaErrorNotReady`` if not."""


@forwarded
def cudaStreamWaitEvent(stream: Stream, event: Event, flags: Int = 0) -> None:
    """Make a stream wait for an event."""


@forwarded
def cudaEventCreate(event: OutEvent) -> None:
    """Create an event: ``cudaEventCreate(byref(event))``."""


@forwarded
def cudaEventCreateWithFlags(event: OutEvent, flags: Int) -> None:
    """Create an event, with flags: ``cudaEventDisableTiming``."""


@forwarded
def cudaEventRecord(event: Event, stream: Stream = None) -> None:
    """Record an event at the end of a stream's work; on the reference device, the host's time."""


@forwarded
def cudaEventSynchronize(event: Event) -> None:
    """Wait until the work before an event is done."""


@forwarded
def cudaEventQuery(event: Event) -> None:
    """Test whether the work before an event is done; the status is ``cudaErrorNotReady`` if not."""


@forwarded
def cudaEventElapsedTime(ms: OutFloat, start: Event, end: Event) -> None:
    """Fill a ``c_float`` with the milliseconds between two events.

    On the reference device this is the host's time between the two calls of ``cudaEventRecord``,
    spent by NumPy. It says nothing about a GPU.
    """


@forwarded
def cudaEventDestroy(event: Event) -> None:
    """Destroy an event."""
