"""Copies between host and device by address, and filling; on the reference device, within the host.

Copies to and from the host return when they are finished, so the host memory may be reused or read.
"""

from __future__ import annotations

import ctypes
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from . import cuda
from .stream import as_stream_pointer

__all__ = ["Memory", "fill", "host_bytes", "read", "write"]


class Memory(Protocol):
    """What owns or borrows a block of memory, as far as copying is concerned."""

    @property
    def ptr(self) -> int:
        """Address."""

    @property
    def nbytes(self) -> int:
        """Size."""

    @property
    def device_id(self) -> int:
        """Ordinal of the device."""

    @property
    def on_host(self) -> bool:
        """Whether it belongs to the reference device."""


def write(target: Memory, offset: int, data: NDArray[np.uint8], *, stream: Any = None) -> None:
    """Copy `data`, contiguous bytes, to `target` from byte `offset` on (``cuMemcpyHtoDAsync``)."""
    _check_range(target, offset, data.nbytes)
    pointer = as_stream_pointer(stream)
    if data.nbytes == 0:
        return
    if target.on_host:
        ctypes.memmove(target.ptr + offset, data.ctypes.data, data.nbytes)
        return
    with cuda.current_context(target.device_id):
        destination = target.ptr + offset
        cuda.call("cuMemcpyHtoDAsync", destination, data.ctypes.data, data.nbytes, pointer)
        cuda.call("cuStreamSynchronize", pointer)


def read(source: Memory, offset: int, nbytes: int, *, stream: Any = None) -> NDArray[np.uint8]:
    """Copy `nbytes` bytes of `source` from byte `offset` on to the host (``cuMemcpyDtoHAsync``)."""
    _check_range(source, offset, nbytes)
    pointer = as_stream_pointer(stream)
    data = np.empty(nbytes, np.uint8)
    if nbytes == 0:
        return data
    if source.on_host:
        ctypes.memmove(data.ctypes.data, source.ptr + offset, nbytes)
        return data
    with cuda.current_context(source.device_id):
        cuda.call("cuMemcpyDtoHAsync", data.ctypes.data, source.ptr + offset, nbytes, pointer)
        cuda.call("cuStreamSynchronize", pointer)
    return data


def fill(target: Memory, byte: int, *, stream: Any = None) -> None:
    """Set every byte of `target` to `byte`, in the order of `stream` (``cuMemsetD8Async``)."""
    if isinstance(byte, bool) or not hasattr(byte, "__index__") or not 0 <= byte <= 255:
        raise ValueError(f"byte: expected an int from 0 to 255, got {byte!r}")
    pointer = as_stream_pointer(stream)
    if target.nbytes == 0:
        return
    if target.on_host:
        ctypes.memset(target.ptr, int(byte), target.nbytes)
        return
    with cuda.current_context(target.device_id):
        cuda.call("cuMemsetD8Async", target.ptr, int(byte), target.nbytes, pointer)


def host_bytes(data: Any) -> NDArray[np.uint8]:
    """The bytes of a NumPy array (in C order) or of any object with the buffer protocol.

    Raises
    ------
    TypeError
        If `data` is neither.
    """
    if isinstance(data, (np.ndarray, np.generic)):
        if data.dtype.hasobject:
            raise TypeError(f"data: an array of dtype {data.dtype} has no bytes to copy")
        return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
    try:
        return np.frombuffer(data, np.uint8)
    except (TypeError, ValueError) as error:
        raise TypeError(
            f"data: expected a NumPy array or contiguous bytes, got a {type(data).__name__}"
        ) from error


def _check_range(memory: Memory, offset: int, nbytes: int) -> None:
    if offset < 0 or nbytes < 0 or offset + nbytes > memory.nbytes:
        raise ValueError(
            f"bytes {offset} to {offset + nbytes} are not within the {memory.nbytes} bytes of "
            f"device memory"
        )
