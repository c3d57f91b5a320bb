"""Streams of any library as addresses, and the order between two of them."""

from __future__ import annotations

import ctypes
from typing import Any

from . import cuda

__all__ = ["LEGACY_DEFAULT", "PER_THREAD_DEFAULT", "as_core_stream", "as_stream_pointer", "order"]

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


def as_core_stream(stream: Any, device: Any) -> Any:
    """`stream` as a ``cuda.core.Stream``; `device` is the ``cuda.core.Device`` for the default."""
    core = cuda.core()
    if isinstance(stream, core.Stream):
        return stream
    pointer = as_stream_pointer(stream)
    if pointer in (0, LEGACY_DEFAULT):
        # cuda.core before 1.0 does not export the constant.
        return getattr(core, "LEGACY_DEFAULT_STREAM", device.default_stream)
    return core.Stream.from_handle(pointer)


def order(*, before: int, after: int) -> None:
    """Have stream `after` wait for the work that is on stream `before` now; the host does not wait.

    Both are addresses on the current device. Nothing is done where they are the same stream.
    """
    if (before or LEGACY_DEFAULT) == (after or LEGACY_DEFAULT):
        return
    disable_timing = cuda.driver().CUevent_flags.CU_EVENT_DISABLE_TIMING
    event = cuda.call("cuEventCreate", int(disable_timing))
    try:
        cuda.call("cuEventRecord", event, before)
        cuda.call("cuStreamWaitEvent", after, event, 0)
    finally:
        cuda.call("cuEventDestroy", event)  # takes effect once the event has completed
