"""Memory that is owned: taken from cuda.core's pools, or from the host for the reference device."""

from __future__ import annotations

import atexit
import weakref
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.host_blocks import ALIGNMENT, Block, free_memory
from cudnn_ctypes.resource import Uncopied

from . import cuda
from .device import device_id
from .stream import LEGACY_DEFAULT, as_core_stream, as_stream_pointer

__all__ = ["ALIGNMENT", "Allocation", "Allocator", "OutOfDeviceMemoryError"]


class OutOfDeviceMemoryError(MemoryError):
    """The device (or, for the reference device, the host) has not enough free memory."""


class Allocator:
    """Where memory for the work of a stream comes from: looked up once, for many allocations.

    Parameters
    ----------
    device : int or cuda.core.Device, optional
        Default: the calling thread's current device.
    stream : stream, optional
        Kept: it must not be destroyed before the memory is freed on it.
    memory_resource : cuda.core.MemoryResource, optional
        Default: the device's pool.

    Attributes
    ----------
    device_id : int
        Ordinal of the device.
    on_host : bool
        Whether it belongs to the reference device.
    stream : int
        Address of the stream.
    """

    __slots__ = ("_core_stream", "_resource", "_stream", "device_id", "on_host", "stream")

    def __init__(
        self, device: Any = None, stream: Any = None, *, memory_resource: Any = None
    ) -> None:
        self.on_host = mode.reference_device_active
        self.stream = as_stream_pointer(stream)
        self.device_id = device_id(device)
        self._stream, self._core_stream, self._resource = stream, None, memory_resource
        if memory_resource is not None and not hasattr(memory_resource, "allocate"):
            raise TypeError(
                f"memory_resource: expected a cuda.core.MemoryResource, got {memory_resource!r}"
            )
        if self.on_host:
            if memory_resource is not None:
                raise ValueError("memory_resource: the reference device's memory is host memory")
            return
        pool = _pools.get(self.device_id)
        if pool is None:
            with cuda.current_context(self.device_id) as current:
                pool = current, current.memory_resource, as_core_stream(None, current)
                _pools[self.device_id] = pool
        target, resource, default = pool
        self._resource = resource if memory_resource is None else memory_resource
        on_default = self.stream in (0, LEGACY_DEFAULT)
        self._core_stream = default if on_default else as_core_stream(stream, target)

    def allocate(self, nbytes: int) -> Allocation:
        """A new block of memory.

        Raises
        ------
        OutOfDeviceMemoryError
            If there is not enough memory.
        """
        return self.allocate_each((nbytes,))[0]

    def allocate_each(self, sizes: Iterable[int]) -> list[Allocation]:
        """A new block for each size; the errors are those of `allocate`."""
        made: list[Allocation] = []
        on_host, stream = self.on_host, self._core_stream
        is_current = not on_host and cuda.is_current(self.device_id)
        for nbytes in sizes:
            memory, address = None, 0
            if on_host and nbytes:
                memory = _host_memory(nbytes)
                address = memory.address
            elif nbytes:
                try:
                    memory = self._resource.allocate(nbytes, stream=stream) if is_current else None
                except Exception:  # said below
                    memory = None
                if memory is None:
                    memory = self._device_memory(nbytes)
                address = int(memory.handle)
            made.append(Allocation(self, nbytes, memory, address))
        return made

    def _device_memory(self, nbytes: int) -> Any:
        """Memory from another device than the current one, or the reason why there is none."""
        ordinal, resource = self.device_id, self._resource
        with cuda.current_context(ordinal) as device:
            try:
                return resource.allocate(nbytes, stream=self._core_stream)
            except Exception as error:  # cuda.core's own class, which it does not export
                if "OUT_OF_MEMORY" not in str(error):
                    raise
                # The pool took all that was free before it gave up, and keeps it from others.
                if hasattr(resource, "handle"):  # not on a device without pools
                    cuda.call("cuMemPoolTrimTo", resource.handle, 0)
                free, total = cuda.call("cuMemGetInfo")
                raise OutOfDeviceMemoryError(
                    f"asked for {_readable(nbytes)} on device {ordinal} ({device.name}); "
                    f"{_readable(free)} of {_readable(total)} are free"
                ) from error


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
    device_id, on_host, stream
        Those of the `Allocator`.
    """

    __slots__ = (
        "__weakref__",
        "_block",
        "_exports",
        "device_id",
        "nbytes",
        "on_host",
        "ptr",
        "stream",
    )

    def __init__(self, allocator: Allocator, nbytes: int, memory: Any, address: int) -> None:
        self.nbytes = nbytes
        self.ptr = address
        self.device_id = allocator.device_id
        self.on_host = allocator.on_host
        self.stream = allocator.stream
        self._exports: weakref.WeakSet[Any] | None = None
        self._block = _Block(self, allocator, memory)

    @classmethod
    def of(
        cls, nbytes: int, *, device: Any = None, stream: Any = None, memory_resource: Any = None
    ) -> Allocation:
        """A new block; the parameters are those of `Allocator`."""
        nbytes = _checked_size(nbytes)
        return Allocator(device, stream, memory_resource=memory_resource).allocate(nbytes)

    @property
    def allocation(self) -> Allocation:
        """Itself: what keeps the memory alive."""
        return self

    @property
    def exports(self) -> weakref.WeakSet[Any]:
        """What other libraries hold of it (see ``dlpack.Exported``)."""
        if self._exports is None:
            self._exports = weakref.WeakSet()
        return self._exports

    def release(self, stream: Any = None) -> None:
        """Free the memory now, in the order of `stream` or else of the one it was allocated on.

        As long as another library holds it, it is only freed when that lets go.
        """
        if stream is not None:
            as_stream_pointer(stream)
            self._block.free_on = stream
        if not self._exports:
            self._block.free()


class _Block(weakref.ref[Allocation]):
    """The memory of an allocation, which it outlives: it is freed when that is gone, or at exit."""

    __slots__ = ("_allocator", "_memory", "free_on")
    _allocator: Allocator
    _memory: Any
    free_on: Any

    def __new__(cls, owner: Allocation, allocator: Allocator, memory: Any) -> _Block:
        block = super().__new__(cls, owner, cls.free)
        block._allocator, block._memory, block.free_on = allocator, memory, None
        if memory is not None:
            _blocks[id(block)] = block
        return block

    def __init__(self, owner: Allocation, allocator: Allocator, memory: Any) -> None:
        pass

    def free(self) -> None:
        """Free the memory; a second call does nothing."""
        memory, self._memory = self._memory, None
        if memory is None:
            return
        _blocks.pop(id(self), None)
        if self._allocator.on_host:
            memory.free()
            return
        ordinal = self._allocator.device_id
        # This may run in a thread without a context, where cuMemFreeAsync would fail.
        if self.free_on is None and cuda.is_current(ordinal):
            memory.close()
            return
        with cuda.current_context(ordinal) as device:
            if self.free_on is None:
                memory.close()  # on the stream of the allocation
            else:
                memory.close(as_core_stream(self.free_on, device))


_blocks: dict[int, _Block] = {}
"""All memory that is not freed; the last to be allocated comes last."""


@atexit.register
def _free_all() -> None:
    while _blocks:
        with suppress(Exception):  # the driver may be gone
            _blocks.popitem()[1].free()


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


def _readable(nbytes: int) -> str:
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min((nbytes.bit_length() - 1) // 10, 6)
    unit = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power - 1]
    return f"{nbytes / 1024**power:.1f} {unit} ({nbytes} bytes)"
