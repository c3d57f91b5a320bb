"""Memory that is owned: taken from cuda.core's pools, or from the host for the reference device."""

from __future__ import annotations

import logging
import sys
import weakref
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from ctypes import c_void_p
from typing import Any

from cudnn_ctypes.arguments import integer
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.host_blocks import ALIGNMENT
from cudnn_ctypes.resource import Uncopied

from . import cuda
from .blocks import Block, OutOfDeviceMemoryError, host_memory, readable
from .device import device_id
from .stream import LEGACY_DEFAULT, PER_THREAD_DEFAULT, as_core_stream, as_stream_pointer

__all__ = [
    "ALIGNMENT",
    "LARGEST_KEPT",
    "Allocation",
    "Allocator",
    "OutOfDeviceMemoryError",
    "grains",
]

_logger = logging.getLogger(__name__)

_GRAIN = 512  # bytes: the sizes of blocks that are kept are multiples
LARGEST_KEPT = 1 << 20
"""Bytes of the largest blocks that are kept; with more, work takes longer than the driver."""


def grains(nbytes: int) -> int:
    """The size of a kept block for this number of bytes."""
    return (nbytes + _GRAIN - 1) // _GRAIN


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
    keeps : bool
        Whether small blocks that are given back serve the next work on the stream, without a call
        of the driver. They are freed with the allocator, all together when they are many, and when
        memory runs out. Host memory is never kept, so that its use after it was freed is found.

    Attributes
    ----------
    device_id : int
        Ordinal of the device.
    on_host : bool
        True for memory of the reference device.
    stream : int
        Address of the stream.
    keeps : bool
        Whether blocks are kept, for the next work.
    kept_bytes, most_kept : int
        Given back since the kept ones were last freed, and how many may be.
    """

    most_kept = 32 << 20  # here, for finalizers at exit find no globals

    __slots__ = (
        "__weakref__",
        "_core_stream",
        "_kept",
        "_largest",
        "_resource",
        "_stream",
        "device_id",
        "keeps",
        "kept_bytes",
        "on_host",
        "stream",
    )

    def __init__(
        self,
        device: Any = None,
        stream: Any = None,
        *,
        memory_resource: Any = None,
        keeps: bool = False,
    ) -> None:
        self._kept: defaultdict[int, list[Block]] = defaultdict(list)  # by size in grains
        self.kept_bytes: int = 0
        self.keeps: bool = False
        self.on_host: bool = mode.reference_device_active
        self.stream: int = as_stream_pointer(stream)
        self.device_id: int = device_id(device)
        self._stream, self._core_stream, self._resource = stream, None, memory_resource
        self._largest: int = sys.maxsize  # bytes that the resource is asked for
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
                _, total = cuda.call("cuMemGetInfo")
                pool = current, current.memory_resource, as_core_stream(None, current), total
                _pools[self.device_id] = pool
        target, resource, default, total = pool
        self._resource = resource if memory_resource is None else memory_resource
        if self._resource is resource:  # which takes all free memory before it gives up
            self._largest = total
        on_default = self.stream in (0, LEGACY_DEFAULT)
        self._core_stream = default if on_default else as_core_stream(stream, target)
        # The per-thread default stream is another one in each thread.
        if keeps and self.stream != PER_THREAD_DEFAULT:
            self.keeps = True
            _keeping.add(self)

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
        kept = self.usable()
        return [self._allocated(nbytes, kept) for nbytes in sizes]

    def usable(self) -> defaultdict[int, list[Block]] | None:
        """Blocks that were given back, by size in grains; None if they may not be used now."""
        if not self.keeps:
            return None
        # What a captured graph uses must be its own. The legacy stream is never captured.
        is_legacy = self.stream in (0, LEGACY_DEFAULT)
        return self._kept if is_legacy or not cuda.is_capturing(self.stream) else None

    def _allocated(self, nbytes: int, kept: defaultdict[int, list[Block]] | None) -> Allocation:
        same = None
        if kept is not None and 0 < nbytes <= LARGEST_KEPT:
            same = kept[grains(nbytes)]
            try:
                block = same.pop()
            except IndexError:
                block = self.new_block(grains(nbytes))
        else:
            block = self._new(nbytes)
        allocation = Allocation()
        allocation.nbytes, allocation.pointer = nbytes, block.pointer
        allocation._allocator, allocation._block, allocation._same = self, block, same
        return allocation

    def new_block(self, grains: int) -> Block:
        """A block from the driver, of a size that is kept; the errors are those of `allocate`."""
        return self._new(grains * _GRAIN)

    def _new(self, nbytes: int) -> Block:
        """Memory that was not used before."""
        if not nbytes:
            return Block(self, None, 0, 0)
        if nbytes > LARGEST_KEPT and _logger.isEnabledFor(logging.DEBUG):
            where = "the reference device" if self.on_host else f"device {self.device_id}"
            _logger.debug("%s allocated on %s", readable(nbytes), where)
        if self.on_host:
            memory: Any = host_memory(nbytes)
            return Block(self, memory, memory.address, nbytes)
        memory = None
        if nbytes <= self._largest and cuda.is_current(self.device_id):
            with suppress(Exception):  # said below
                memory = self._resource.allocate(nbytes, stream=self._core_stream)
        if memory is None:
            memory = self._device_memory(nbytes)
        return Block(self, memory, int(memory.handle), nbytes)

    def trim(self) -> None:
        """Free the blocks that were taken back."""
        self.kept_bytes = 0
        for same in list(self._kept.values()):  # the lists stay: others may append to them
            while same:
                try:
                    same.pop().free()
                except IndexError:  # another thread took it
                    break

    def close(self) -> None:
        """Take no block back from now on, and free those that were."""
        self.keeps = False
        self.trim()

    def __del__(self) -> None:
        self.trim()

    def _device_memory(self, nbytes: int) -> Any:
        """Memory from another device than the current one, or the reason why there is none."""
        resource = self._resource
        with cuda.current_context(self.device_id) as device:
            if nbytes > self._largest:
                raise _out_of_memory(nbytes, device)
            with suppress(Exception):  # said below
                return resource.allocate(nbytes, stream=self._core_stream)
            for allocator in list(_keeping):
                allocator.trim()
            try:
                return resource.allocate(nbytes, stream=self._core_stream)
            except Exception as error:  # cuda.core's own class, which it does not export
                if "OUT_OF_MEMORY" not in str(error):
                    raise
                # The pool took all that was free before it gave up, and keeps it from others.
                if hasattr(resource, "handle"):  # not on a device without pools
                    cuda.call("cuMemPoolTrimTo", resource.handle, 0)
                raise _out_of_memory(nbytes, device) from error


def _out_of_memory(nbytes: int, device: Any) -> OutOfDeviceMemoryError:
    """The error for memory of the current device."""
    free, total = cuda.call("cuMemGetInfo")
    return OutOfDeviceMemoryError(
        f"asked for {readable(nbytes)} on device {device.device_id} ({device.name}); "
        f"{readable(free)} of {readable(total)} are free"
    )


class Allocation(Uncopied):
    """A block of memory with one owner after another: it is freed with the last reference.

    Freeing is put on the stream in whose order the memory was allocated, so work that was put on
    that stream before still finds it. `release` frees at once and lets errors out.

    Attributes
    ----------
    pointer : c_void_p
        Address as C takes it, NULL for an empty block. Nobody changes it.
    nbytes : int
        Size.
    """

    __slots__ = (
        "__weakref__",
        "_allocator",
        "_block",
        "_exports",
        "_free_on",
        "_same",
        "nbytes",
        "pointer",
    )

    _allocator: Allocator
    _block: Block | None
    _exports: weakref.WeakSet[Any]
    """Present only after an export; `_free_on` only after `release` with a stream."""
    _free_on: Any
    _same: list[Block] | None
    """Where the allocator keeps the block when it is given back."""
    nbytes: int
    pointer: c_void_p

    @classmethod
    def of(
        cls, nbytes: int, *, device: Any = None, stream: Any = None, memory_resource: Any = None
    ) -> Allocation:
        """A new block; the parameters are those of `Allocator`."""
        nbytes = integer("nbytes", nbytes, least=0)
        return Allocator(device, stream, memory_resource=memory_resource).allocate(nbytes)

    @property
    def allocation(self) -> Allocation:
        """Itself: what keeps the memory alive."""
        return self

    @property
    def ptr(self) -> int:
        """Address, 0 for an empty block; a multiple of `ALIGNMENT`."""
        return self.pointer.value or 0

    @property
    def freed(self) -> bool:
        """Whether the memory was given back."""
        return self._block is None or (self._block.address != 0 and self._block.is_free)

    @property
    def device_id(self) -> int:
        """Ordinal of the device."""
        return self._allocator.device_id

    @property
    def on_host(self) -> bool:
        """True for memory of the reference device."""
        return self._allocator.on_host

    @property
    def stream(self) -> int:
        """Address of the stream that it was allocated on."""
        return self._allocator.stream

    @property
    def exports(self) -> weakref.WeakSet[Any]:
        """Exports of this memory that other libraries hold (see ``dlpack.Exported``)."""
        if not hasattr(self, "_exports"):
            self._exports = weakref.WeakSet()
        return self._exports

    def release(self, stream: Any = None) -> None:
        """Free the memory now, in the order of `stream` or else of the one it was allocated on.

        As long as another library holds it, it is only freed when that lets go.
        """
        if stream is not None:
            as_stream_pointer(stream)
            self._free_on, self._same = stream, None
        if not self.exports:
            self.__del__()

    def __del__(self) -> None:
        block, self._block = self._block, None
        if block is None:
            return
        same, allocator = self._same, self._allocator
        if same is None or not allocator.keeps:
            block.free(getattr(self, "_free_on", None))
            return
        same.append(block)
        allocator.kept_bytes += block.nbytes
        if allocator.kept_bytes > allocator.most_kept:
            allocator.trim()


_keeping: weakref.WeakSet[Allocator] = weakref.WeakSet()
"""The allocators that keep blocks."""


_pools: dict[int, tuple[Any, Any, Any, int]] = {}
"""The device, its memory resource, its legacy default stream and its bytes of memory, by ordinal.

Asking cuda.core for them takes three times as long as an allocation.
"""
