"""Streams and events. On the reference device work is complete when its call returns."""

from __future__ import annotations

from ctypes import c_float
from typing import Any

from ...raw.types import cudaStream_t
from ...runtime.stream import PER_THREAD_DEFAULT, as_stream_pointer
from .function import place, runtime_function, store
from .sides import gpu_call, side
from .types import cudaEvent_t, cudaStreamDefault

__all__ = [
    "cudaEventCreate",
    "cudaEventCreateWithFlags",
    "cudaEventDestroy",
    "cudaEventElapsedTime",
    "cudaEventQuery",
    "cudaEventRecord",
    "cudaEventSynchronize",
    "cudaStreamCreate",
    "cudaStreamCreateWithFlags",
    "cudaStreamCreateWithPriority",
    "cudaStreamDestroy",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
]


def stream_address(function: str, stream: Any, name: str = "stream") -> int:
    """The address of a stream: None, an address, or any library's stream.

    Raises
    ------
    CudaError
        On the reference device, for an address of no stream.
    """
    address = as_stream_pointer(stream)
    made_here = isinstance(stream, (cudaStream_t, int)) and address > PER_THREAD_DEFAULT
    if made_here:
        side().check_stream(function, name, address)
    return address


@runtime_function
def cudaStreamCreate(pStream: Any) -> None:
    """Create a stream: ``cudaStreamCreate(byref(stream))``."""
    _create_stream("cudaStreamCreate", pStream)


@runtime_function
def cudaStreamCreateWithFlags(pStream: Any, flags: int = cudaStreamDefault) -> None:
    """Create a stream, with flags: ``cudaStreamNonBlocking``."""
    _create_stream("cudaStreamCreateWithFlags", pStream, int(flags))


@runtime_function
def cudaStreamCreateWithPriority(pStream: Any, flags: int, priority: int) -> None:
    """Create a stream with flags and a priority, of which smaller numbers are higher."""
    _create_stream("cudaStreamCreateWithPriority", pStream, int(flags), int(priority))


def _create_stream(function: str, variable: Any, *flags: int) -> None:
    place(variable, cudaStream_t, f"{function}: pStream")
    store(variable, int(gpu_call(function, *flags)), cudaStream_t, "pStream")


@runtime_function
def cudaStreamDestroy(stream: Any) -> None:
    """Destroy a stream once its work is done."""
    gpu_call("cudaStreamDestroy", stream_address("cudaStreamDestroy", stream))


@runtime_function
def cudaStreamSynchronize(stream: Any) -> None:
    """Wait until the work on a stream is done."""
    _on_stream("cudaStreamSynchronize", stream)


@runtime_function
def cudaStreamQuery(stream: Any) -> None:
    """Test whether the work on a stream is done; the status is ``cudaErrorNotReady`` if not."""
    _on_stream("cudaStreamQuery", stream)


def _on_stream(function: str, stream: Any) -> None:
    gpu_call(function, stream_address(function, stream))


@runtime_function
def cudaStreamWaitEvent(stream: Any, event: Any, flags: int = 0) -> None:
    """Make a stream wait for an event."""
    address = stream_address("cudaStreamWaitEvent", stream)
    point = _event("cudaStreamWaitEvent", event)
    gpu_call("cudaStreamWaitEvent", address, point, int(flags))


# -- events ---------------------------------------------------------------------------------------


@runtime_function
def cudaEventCreate(event: Any) -> None:
    """Create an event: ``cudaEventCreate(byref(event))``."""
    _create_event("cudaEventCreate", event)


@runtime_function
def cudaEventCreateWithFlags(event: Any, flags: int) -> None:
    """Create an event, with flags: ``cudaEventDisableTiming``."""
    _create_event("cudaEventCreateWithFlags", event, int(flags))


def _create_event(function: str, variable: Any, *flags: int) -> None:
    place(variable, cudaEvent_t, f"{function}: event")
    store(variable, int(gpu_call(function, *flags)), cudaEvent_t, "event")


def _event(function: str, event: Any, name: str = "event") -> int:
    if not isinstance(event, cudaEvent_t):
        raise TypeError(f"{function}: {name}: expected a cudaEvent_t, got {event!r}")
    side().check_event(function, name, event)
    return event.value or 0


@runtime_function
def cudaEventRecord(event: Any, stream: Any = None) -> None:
    """Record an event at the end of a stream's work; on the reference device, the host's time."""
    address, on = _event("cudaEventRecord", event), stream_address("cudaEventRecord", stream)
    gpu_call("cudaEventRecord", address, on)


@runtime_function
def cudaEventSynchronize(event: Any) -> None:
    """Wait until the work before an event is done."""
    gpu_call("cudaEventSynchronize", _event("cudaEventSynchronize", event))


@runtime_function
def cudaEventQuery(event: Any) -> None:
    """Test whether the work before an event is done; the status is ``cudaErrorNotReady`` if not."""
    gpu_call("cudaEventQuery", _event("cudaEventQuery", event))


@runtime_function
def cudaEventElapsedTime(ms: Any, start: Any, end: Any) -> None:
    """Fill a ``c_float`` with the milliseconds between two events.

    On the reference device this is the host's time between the two calls of ``cudaEventRecord``,
    spent by NumPy. It says nothing about a GPU.
    """
    function = "cudaEventElapsedTime"
    place(ms, c_float, f"{function}: ms")
    first, last = _event(function, start, "start"), _event(function, end, "end")
    store(ms, float(gpu_call(function, first, last)), c_float, "ms")


@runtime_function
def cudaEventDestroy(event: Any) -> None:
    """Destroy an event."""
    gpu_call("cudaEventDestroy", _event("cudaEventDestroy", event))
