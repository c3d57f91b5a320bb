"""Streams and events. On the reference device work is complete when its call returns."""

from __future__ import annotations

from .function import Event, Int, OutEvent, OutFloat, OutStream, Stream, forwarded
from .types import cudaStreamDefault

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


# -- events ---------------------------------------------------------------------------------------


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
