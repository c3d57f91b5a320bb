"""Streams and events. On the reference device work is complete when its call returns."""

from __future__ import annotations

import itertools
import time
from ctypes import c_float
from dataclasses import dataclass
from typing import Any

from ...raw import mode
from ...raw.types import cudaStream_t
from ...runtime.stream import PER_THREAD_DEFAULT, as_stream_pointer
from .function import fail, gpu_call, place, runtime_function, store
from .types import cudaError_t, cudaEvent_t, cudaEventDisableTiming, cudaStreamDefault

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
    "cudaStreamDestroy",
    "cudaStreamQuery",
    "cudaStreamSynchronize",
    "cudaStreamWaitEvent",
]

# Addresses of the reference device's streams and events; no memory has them.
_addresses = itertools.count(0x7FFF_0000_0000_0010, 16)
_streams: set[int] = set()


@dataclass(slots=True)
class _Event:
    """An event of the reference device."""

    timed: bool
    recorded: float | None = None  # seconds of the host's clock


_events: dict[int, _Event] = {}


def stream_address(function: str, stream: Any, name: str = "stream") -> int:
    """The address of a stream: None, an address, or any library's stream.

    Raises
    ------
    CudaError
        On the reference device, for an address of no stream.
    """
    address = as_stream_pointer(stream)
    made_here = isinstance(stream, (cudaStream_t, int)) and address > PER_THREAD_DEFAULT
    if mode.reference_device_active and made_here and address not in _streams:
        reason = f"{name}: {address:#x} is no stream, or one that was destroyed"
        fail(function, cudaError_t.cudaErrorInvalidResourceHandle, reason)
    return address


@runtime_function
def cudaStreamCreate(pStream: Any) -> None:
    """Create a stream: ``cudaStreamCreate(byref(stream))``."""
    _create_stream("cudaStreamCreate", pStream)


@runtime_function
def cudaStreamCreateWithFlags(pStream: Any, flags: int = cudaStreamDefault) -> None:
    """Create a stream, with flags: ``cudaStreamNonBlocking``."""
    _create_stream("cudaStreamCreateWithFlags", pStream, int(flags))


def _create_stream(function: str, variable: Any, *flags: int) -> None:
    place(variable, cudaStream_t, f"{function}: pStream")
    if mode.reference_device_active:
        address = next(_addresses)
        _streams.add(address)
    else:
        address = int(gpu_call(function, *flags))
    store(variable, address, cudaStream_t, "pStream")


@runtime_function
def cudaStreamDestroy(stream: Any) -> None:
    """Destroy a stream once its work is done."""
    address = stream_address("cudaStreamDestroy", stream)
    if not mode.reference_device_active:
        gpu_call("cudaStreamDestroy", address)
    elif address not in _streams:
        reason = "stream: it was not created by cudaStreamCreate"
        fail("cudaStreamDestroy", cudaError_t.cudaErrorInvalidResourceHandle, reason)
    else:
        _streams.remove(address)


@runtime_function
def cudaStreamSynchronize(stream: Any) -> None:
    """Wait until the work on a stream is done."""
    _on_stream("cudaStreamSynchronize", stream)


@runtime_function
def cudaStreamQuery(stream: Any) -> None:
    """Test whether the work on a stream is done; the status is ``cudaErrorNotReady`` if not."""
    _on_stream("cudaStreamQuery", stream)


def _on_stream(function: str, stream: Any) -> None:
    address = stream_address(function, stream)
    if not mode.reference_device_active:
        gpu_call(function, address)


@runtime_function
def cudaStreamWaitEvent(stream: Any, event: Any, flags: int = 0) -> None:
    """Make a stream wait for an event."""
    address = stream_address("cudaStreamWaitEvent", stream)
    point = _event("cudaStreamWaitEvent", event)
    if not mode.reference_device_active:
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
    if mode.reference_device_active:
        address = next(_addresses)
        _events[address] = _Event(timed=not any(flag & cudaEventDisableTiming for flag in flags))
    else:
        address = int(gpu_call(function, *flags))
    store(variable, address, cudaEvent_t, "event")


def _event(function: str, event: Any, name: str = "event") -> int:
    if not isinstance(event, cudaEvent_t):
        raise TypeError(f"{function}: {name}: expected a cudaEvent_t, got {event!r}")
    address = event.value or 0
    if mode.reference_device_active and address not in _events:
        reason = f"{name}: {event!r} is no event, or one that was destroyed"
        fail(function, cudaError_t.cudaErrorInvalidResourceHandle, reason)
    return address


@runtime_function
def cudaEventRecord(event: Any, stream: Any = None) -> None:
    """Record an event at the end of a stream's work; on the reference device, the host's time."""
    address, on = _event("cudaEventRecord", event), stream_address("cudaEventRecord", stream)
    if mode.reference_device_active:
        _events[address].recorded = time.perf_counter()
    else:
        gpu_call("cudaEventRecord", address, on)


@runtime_function
def cudaEventSynchronize(event: Any) -> None:
    """Wait until the work before an event is done."""
    address = _event("cudaEventSynchronize", event)
    if not mode.reference_device_active:
        gpu_call("cudaEventSynchronize", address)


@runtime_function
def cudaEventQuery(event: Any) -> None:
    """Test whether the work before an event is done; the status is ``cudaErrorNotReady`` if not."""
    address = _event("cudaEventQuery", event)
    if not mode.reference_device_active:
        gpu_call("cudaEventQuery", address)


@runtime_function
def cudaEventElapsedTime(ms: Any, start: Any, end: Any) -> None:
    """Fill a ``c_float`` with the milliseconds between two events.

    On the reference device this is the host's time between the two calls of ``cudaEventRecord``,
    spent by NumPy. It says nothing about a GPU.
    """
    function = "cudaEventElapsedTime"
    place(ms, c_float, f"{function}: ms")
    first, last = _event(function, start, "start"), _event(function, end, "end")
    if not mode.reference_device_active:
        store(ms, float(gpu_call(function, first, last)), c_float, "ms")
        return
    seconds = _recorded(function, "end", last) - _recorded(function, "start", first)
    store(ms, 1e3 * seconds, c_float, "ms")


def _recorded(function: str, name: str, address: int) -> float:
    """The time at which an event of the reference device was recorded."""
    point = _events[address]
    if point.recorded is None or not point.timed:
        why = "was not recorded" if point.timed else "was created with cudaEventDisableTiming"
        code = cudaError_t.cudaErrorInvalidResourceHandle
        fail(function, code, f"{name}: the event {why}")
    return point.recorded


@runtime_function
def cudaEventDestroy(event: Any) -> None:
    """Destroy an event."""
    address = _event("cudaEventDestroy", event)
    if mode.reference_device_active:
        del _events[address]
    else:
        gpu_call("cudaEventDestroy", address)


def destroy_all() -> None:
    """Destroy all streams and events of the reference device."""
    _streams.clear()
    _events.clear()
