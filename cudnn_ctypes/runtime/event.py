"""Points in a stream's work, and the time between two of them."""

from __future__ import annotations

import time
from typing import Any

from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.raw import mode
from cudnn_ctypes.resource import Closing, Uncopied

from . import cuda
from .stream import as_core_stream, as_stream_pointer

__all__ = ["Event", "elapsed_ms"]


class Event(Closing, Uncopied):
    """A point in a stream, which the device notes the time of when it gets there.

    Creating an event records it on `stream` (``cuEventCreate``, ``cuEventRecord``). On the
    reference device it notes the host's clock.

    Parameters
    ----------
    stream : stream, optional
        As for `as_stream_pointer`.

    Examples
    --------
    >>> start = Event(stream)                 # doctest: +SKIP
    >>> convolution.forward(x, w, y)          # doctest: +SKIP
    >>> elapsed_ms(start, Event(stream))      # doctest: +SKIP
    0.041
    """

    def __init__(self, stream: Any = None) -> None:
        self._closed = False
        self._event: Any = None
        self._host_time = 0.0
        self._on_host = mode.reference_device_active
        if not self._on_host:
            with cuda.current_context() as device:
                self._event = as_core_stream(stream, device).record(options=_timing_options())
        else:
            as_stream_pointer(stream)
            self._host_time = time.perf_counter()

    def record(self, stream: Any = None) -> None:
        """Move the event to the end of what is on `stream` now."""
        self._check_open()
        if self._on_host:
            as_stream_pointer(stream)
            self._host_time = time.perf_counter()
        else:
            with cuda.current_context() as device:
                as_core_stream(stream, device).record(self._event)

    def synchronize(self) -> None:
        """Wait on the host until the work before the event is done."""
        self._check_open()
        if not self._on_host:
            self._event.sync()

    @property
    def done(self) -> bool:
        """Whether the work before the event is done."""
        self._check_open()
        return self._on_host or bool(self._event.is_done)

    def close(self) -> None:
        """Give the CUDA event back; a second call does nothing."""
        self._closed = True
        if self._event is not None:
            self._event.close()
            self._event = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._closed

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("this Event is closed")


def _timing_options() -> Any:
    options = cuda.core().EventOptions
    # Named enable_timing before cuda.core 1.0.
    name = "timing_enabled" if hasattr(options, "timing_enabled") else "enable_timing"
    return options(**{name: True})


def elapsed_ms(start: Event, end: Event) -> float:
    """Milliseconds on the device from `start` to `end`; waits for `end` (``cuEventElapsedTime``).

    Raises
    ------
    ClosedError
        If one of them is closed.
    ValueError
        If one was recorded on the GPU and the other on the reference device.
    """
    for name, event in (("start", start), ("end", end)):
        if not isinstance(event, Event):
            raise TypeError(f"{name}: expected an Event, got {event!r}")
        event._check_open()
    if start._on_host != end._on_host:
        raise ValueError("start and end were recorded on different devices")
    if end._on_host:
        return 1e3 * (end._host_time - start._host_time)
    start.synchronize()
    end.synchronize()
    return float(end._event - start._event)
