"""Streams of any library as addresses, points in their work, and the time between two of these."""

from __future__ import annotations

import ctypes
from typing import Any

from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.raw import mode
from cudnn_ctypes.resource import Closing, Uncopied

from .interface import Runtime

LEGACY_DEFAULT = 1  # cudaStreamLegacy; 0 means the same
PER_THREAD_DEFAULT = 2  # cudaStreamPerThread


def as_stream_pointer(stream: Any) -> int:
    """The ``cudaStream_t`` of `stream` as an int.

    Parameters
    ----------
    stream : object
        None (the legacy default stream, 0), an address, a ctypes pointer, or a stream object: one
        with ``__cuda_stream__`` (cuda.core and others), PyTorch's (``.cuda_stream``), CuPy's
        (``.ptr``).

    Raises
    ------
    TypeError
        If `stream` is none of these.
    """
    if stream is None:
        return 0
    if isinstance(stream, int) and not isinstance(stream, bool):
        return _checked(stream)
    protocol = getattr(stream, "__cuda_stream__", None)
    if protocol is not None:
        # A method by now; early implementations had an attribute.
        version, address = protocol() if callable(protocol) else protocol
        if version != 0:
            raise TypeError(f"stream: version {version} of __cuda_stream__ is not supported")
        return _checked(int(address))
    for attribute in ("cuda_stream", "ptr"):
        address = getattr(stream, attribute, None)
        if isinstance(address, int):
            return _checked(address)
    if isinstance(stream, (ctypes.c_void_p, ctypes._Pointer)):
        return ctypes.cast(stream, ctypes.c_void_p).value or 0
    raise TypeError(
        f"stream: expected None, an address, or a stream of cuda.core, PyTorch, CuPy or anything "
        f"with __cuda_stream__, got {stream!r} ({type(stream).__name__})"
    )


def _checked(address: int) -> int:
    if not 0 <= address < 1 << 64:
        raise ValueError(f"stream: {address} is no 64-bit address")
    return address


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
        as_stream_pointer(stream)
        self._runtime: Runtime = mode.runtime
        self._event: Any = self._runtime.record(stream)

    def record(self, stream: Any = None) -> None:
        """Move the event to the end of what is on `stream` now."""
        self._check_open()
        as_stream_pointer(stream)
        self._event = self._runtime.record(stream, self._event)

    def synchronize(self) -> None:
        """Wait on the host until the work before the event is done."""
        self._check_open()
        self._event.sync()

    @property
    def done(self) -> bool:
        """Whether the work before the event is done."""
        self._check_open()
        return bool(self._event.is_done)

    def close(self) -> None:
        """Give the CUDA event back; a second call does nothing."""
        if self._event is not None:
            self._event.close()
            self._event = None

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._event is None

    def _check_open(self) -> None:
        if self.closed:
            raise ClosedError("this Event is closed")


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
    if start._runtime is not end._runtime:
        raise ValueError("start and end were recorded on different devices")
    return start._runtime.elapsed_ms(start._event, end._event)
