"""Copies between host and device by address, and filling.

Copies to and from the host return when they are finished, so the host memory may be reused or read.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.arguments import integer

from .interface import Runtime
from .stream import as_stream_pointer


class Memory(Protocol):
    """An owner or borrower of a block of memory, as copying sees it."""

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
    def runtime(self) -> Runtime:
        """The runtime that reads and writes it."""


def write(target: Memory, offset: int, data: NDArray[np.uint8], *, stream: Any = None) -> None:
    """Copy `data`, contiguous bytes, to `target` from byte `offset` on (``cuMemcpyHtoDAsync``)."""
    _check_range(target, offset, data.nbytes)
    pointer = as_stream_pointer(stream)
    if data.nbytes == 0:
        return
    target.runtime.write(
        target.device_id, target.ptr + offset, data.ctypes.data, data.nbytes, pointer
    )


def read(source: Memory, offset: int, nbytes: int, *, stream: Any = None) -> NDArray[np.uint8]:
    """Copy `nbytes` bytes of `source` from byte `offset` on to the host (``cuMemcpyDtoHAsync``)."""
    _check_range(source, offset, nbytes)
    pointer = as_stream_pointer(stream)
    data = np.empty(nbytes, np.uint8)
    if nbytes:
        address = source.ptr + offset
        source.runtime.read(source.device_id, data.ctypes.data, address, nbytes, pointer)
    return data


def between(
    target: Memory, target_offset: int, source: Memory, source_offset: int, nbytes: int, stream: Any
) -> None:
    """Copy within device memory, in the order of `stream` (``cuMemcpyAsync``).

    The two may be on different GPUs, and parts of the same memory.
    """
    _check_range(target, target_offset, nbytes)
    _check_range(source, source_offset, nbytes)
    if target.runtime is not source.runtime:
        raise ValueError("one of them is memory of a GPU, the other of the reference device")
    pointer = as_stream_pointer(stream)
    if nbytes:
        destination, origin = target.ptr + target_offset, source.ptr + source_offset
        target.runtime.copy(target.device_id, destination, origin, nbytes, pointer)


def fill(
    target: Memory,
    pattern: bytes,
    offset: int = 0,
    nbytes: int | None = None,
    *,
    stream: Any = None,
) -> None:
    """Repeat `pattern`, 1, 2 or 4 bytes, in the order of `stream` (``cuMemsetD8Async``, ...).

    It fills `nbytes` bytes, a multiple of the pattern's, from `offset` on; by default all.
    """
    nbytes = target.nbytes - offset if nbytes is None else nbytes
    _check_range(target, offset, nbytes)
    pointer = as_stream_pointer(stream)
    if nbytes:
        target.runtime.fill(target.device_id, target.ptr + offset, pattern, nbytes, pointer)


def host_bytes(data: Any) -> NDArray[np.uint8]:
    """The bytes of a NumPy array (in C order) or of any object with the buffer protocol.

    Raises TypeError if `data` is neither.
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
    if integer("offset", offset) < 0 or nbytes < 0 or offset + nbytes > memory.nbytes:
        raise ValueError(
            f"bytes {offset} to {offset + nbytes} are not within the {memory.nbytes} bytes of "
            f"device memory"
        )
