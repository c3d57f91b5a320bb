"""Memory as it is taken from the driver, or from the host for the reference device."""

from __future__ import annotations

from contextlib import suppress
from ctypes import c_void_p
from typing import Any

from cudnn_ctypes.process import at_end
from cudnn_ctypes.raw import host_blocks

from . import cuda
from .stream import as_core_stream

__all__ = [
    "Block",
    "OutOfDeviceMemoryError",
    "host_memory",
    "readable",
]


class OutOfDeviceMemoryError(MemoryError):
    """The device (or, for the reference device, the host) has not enough free memory."""


class Block:
    """Memory as the driver or the host gave it; freed once, at exit at the latest.

    Parameters
    ----------
    owner : Allocator
        Says on which device it is, and in the order of which stream it is freed.
    memory : object
        What the driver or the host gave; None for nothing.

    Attributes
    ----------
    pointer : c_void_p
        The address as C takes it.
    """

    __slots__ = ("_memory", "_on_host", "_ordinal", "_stream", "address", "nbytes", "pointer")

    def __init__(self, owner: Any, memory: Any, address: int, nbytes: int) -> None:
        self._on_host, self._ordinal = owner.on_host, owner.device_id
        self._stream = owner._stream  # it must outlive the memory, in a collected cycle too
        self._memory = memory
        self.address: int = address
        self.nbytes: int = nbytes
        self.pointer: c_void_p = c_void_p(address)
        if memory is not None:
            _blocks[id(self)] = self

    @property
    def is_free(self) -> bool:
        """Whether the memory was freed."""
        return self._memory is None

    def free(self, stream: Any = None) -> None:
        """Free the memory in the order of `stream`; a second call does nothing.

        Default: the stream on which it was allocated.
        """
        memory, self._memory = self._memory, None
        if memory is None:
            return
        _blocks.pop(id(self), None)
        if self._on_host:
            memory.free()
            return
        # This may run in a thread without a context, where cuMemFreeAsync would fail.
        if stream is None and cuda.is_current(self._ordinal):
            memory.close()
            return
        with cuda.current_context(self._ordinal) as device:
            if stream is None:
                memory.close()
            else:
                memory.close(as_core_stream(stream, device))


_blocks: dict[int, Block] = {}
"""All memory that is not freed; the last to be allocated comes last."""


def _free_all() -> None:
    while _blocks:
        with suppress(Exception):  # the driver may be gone
            _blocks.popitem()[1].free()


at_end(_free_all)


def host_memory(nbytes: int) -> host_blocks.Block:
    """A block of host memory; OutOfDeviceMemoryError if there is not enough."""
    try:
        return host_blocks.Block(nbytes)
    except (MemoryError, OSError, OverflowError, ValueError) as error:  # the last: beyond any array
        free = host_blocks.free_memory()
        raise OutOfDeviceMemoryError(
            f"asked for {readable(nbytes)} on the reference device; {readable(free)} of host "
            f"memory are free"
        ) from error


def readable(nbytes: int) -> str:
    """A size in bytes as text."""
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min((nbytes.bit_length() - 1) // 10, 6)
    unit = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power - 1]
    return f"{nbytes / 1024**power:.1f} {unit} ({nbytes} bytes)"
