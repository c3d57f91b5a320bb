"""Memory that is owned: taken from cuda.core's pools, or from the host for the reference device."""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import Any

from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.host_blocks import ALIGNMENT, Block, free_memory
from cudnn_ctypes.resource import Uncopied

from . import cuda
from .device import device_id
from .stream import LEGACY_DEFAULT, as_core_stream, as_stream_pointer

__all__ = ["ALIGNMENT", "Allocation", "OutOfDeviceMemoryError"]


class OutOfDeviceMemoryError(MemoryError):
    """The device (or, for the reference device, the host) has not enough free memory."""


class Allocation(Uncopied):
    """A block of memory with one owner after another: it is freed with the last reference.

    Freeing is put on the stream in whose order the memory was allocated, so work that was put on
    that stream before still finds it. `release` frees at once and lets errors out.

    Attributes
    ----------
    ptr : int
        Address, 0 for an empty block; a multiple of `ALIGNMENT`.
    nbytes : int
        Size.
    device_id : int
        Ordinal of the device.
    on_host : bool
        Whether it belongs to the reference device.
    stream : int
        Address of the stream it was allocated on.
    exports : weakref.WeakSet
        What other libraries hold of it (see ``dlpack.Exported``).
    """

    def __init__(
        self, nbytes: int, *, device: Any = None, stream: Any = None, memory_resource: Any = None
    ) -> None:
        self.nbytes = _checked_size(nbytes)
        self.on_host = mode.reference_device_active
        self.stream = as_stream_pointer(stream)
        self.device_id = device_id(device)
        self.exports: weakref.WeakSet[Any] = weakref.WeakSet()
        memory: Any = None
        self.ptr = 0
        if memory_resource is not None and self.on_host:
            raise ValueError("memory_resource: the reference device's memory is host memory")
        if nbytes and self.on_host:
            memory = _host_memory(self.nbytes)
            self.ptr = memory.address
        elif nbytes:
            memory = _device_memory(self.nbytes, self.device_id, stream, memory_resource)
            self.ptr = int(memory.handle)
        # In a list, so that release() can name another stream. The finalizer also keeps the stream
        # object: its stream must not be destroyed before the memory is freed on it.
        self._free_on: list[Any] = [None]
        self._finalizer = weakref.finalize(
            self, _free, memory, self.device_id, self._free_on, stream
        )

    @property
    def allocation(self) -> Allocation:
        """Itself: what keeps the memory alive."""
        return self

    def release(self, stream: Any = None) -> None:
        """Free the memory now, in the order of `stream` or else of the one it was allocated on.

        As long as another library holds it, it is only freed when that lets go.
        """
        if stream is not None:
            as_stream_pointer(stream)
            self._free_on[0] = stream
        if not self.exports:
            self._finalizer()


def _checked_size(nbytes: Any) -> int:
    if isinstance(nbytes, bool) or not hasattr(nbytes, "__index__"):
        raise TypeError(f"nbytes: expected an int, got {nbytes!r} ({type(nbytes).__name__})")
    if nbytes < 0:
        raise ValueError(f"nbytes: expected 0 or more, got {nbytes}")
    return int(nbytes)


def _host_memory(nbytes: int) -> Block:
    try:
        return Block(nbytes)
    except (MemoryError, OSError, OverflowError, ValueError) as error:  # the last: beyond any array
        free = free_memory()
        raise OutOfDeviceMemoryError(
            f"asked for {_readable(nbytes)} on the reference device; {_readable(free)} of host "
            f"memory are free"
        ) from error


_pools: dict[int, tuple[Any, Any, Any]] = {}
"""By ordinal: the device, its memory resource, and its legacy default stream. To ask cuda.core for
them takes three times as long as an allocation."""


def _device_memory(nbytes: int, ordinal: int, stream: Any, memory_resource: Any) -> Any:
    if memory_resource is None and ordinal in _pools and cuda.is_current(ordinal):
        device, resource, default = _pools[ordinal]
        on_default = as_stream_pointer(stream) in (0, LEGACY_DEFAULT)
        with suppress(Exception):  # said below
            return resource.allocate(
                nbytes, stream=default if on_default else as_core_stream(stream, device)
            )
    with cuda.current_context(ordinal) as device:
        resource = device.memory_resource if memory_resource is None else memory_resource
        if memory_resource is None:
            _pools[ordinal] = device, resource, as_core_stream(None, device)
        try:
            return resource.allocate(nbytes, stream=as_core_stream(stream, device))
        except Exception as error:  # cuda.core's own class, which it does not export
            if "OUT_OF_MEMORY" not in str(error):
                raise
            # The pool took all that was free before it gave up, and keeps it from everybody else.
            if hasattr(resource, "handle"):  # not on a device without pools
                cuda.call("cuMemPoolTrimTo", resource.handle, 0)
            free, total = cuda.call("cuMemGetInfo")
            raise OutOfDeviceMemoryError(
                f"asked for {_readable(nbytes)} on device {ordinal} ({device.name}); "
                f"{_readable(free)} of {_readable(total)} are free"
            ) from error


def _free(memory: Any, ordinal: int, free_on: list[Any], _stream: Any) -> None:
    if isinstance(memory, Block):
        memory.free()
    if memory is None or isinstance(memory, Block):
        return
    # A finalizer may run in a thread without a context, where cuMemFreeAsync would fail.
    if free_on[0] is None and cuda.is_current(ordinal):
        memory.close()
        return
    with cuda.current_context(ordinal) as device:
        if free_on[0] is None:
            memory.close()  # on the stream of the allocation
        else:
            memory.close(as_core_stream(free_on[0], device))


def _readable(nbytes: int) -> str:
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min((nbytes.bit_length() - 1) // 10, 6)
    unit = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power - 1]
    return f"{nbytes / 1024**power:.1f} {unit} ({nbytes} bytes)"
