"""Memory that is owned, from the active runtime."""

from __future__ import annotations

import logging
import weakref
from collections import defaultdict
from collections.abc import Iterable
from contextlib import suppress
from ctypes import c_void_p
from typing import Any

from cudnn_ctypes.arguments import integer
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.process import at_end
from cudnn_ctypes.resource import Uncopied

from .device import device_id
from .interface import Runtime, Source
from .stream import LEGACY_DEFAULT, as_stream_pointer

_logger = logging.getLogger(__name__)

_GRAIN = 512  # bytes: the sizes of blocks that are kept are multiples
LARGEST_KEPT = 1 << 20
"""Bytes of the largest blocks that are kept; with more, work takes longer than the driver."""


class Allocator:
    """Where memory for the work of a stream comes from: looked up once, for many allocations.

    - `device`: default: the calling thread's current device.
    - `stream`: kept: it must not be destroyed before the memory is freed on it.
    - `memory_resource`: default: the device's pool.
    - `keeps`: whether small blocks that are given back serve the next work on the stream, without a
      call of the driver. They are freed with the allocator, all together when they are many, and
      when memory runs out. Host memory is never kept, so that its use after it was freed is found.

    - `device_id`: ordinal of the device.
    - `runtime`: what the memory comes from.
    - `stream`: address of the stream.
    - `keeps`: whether blocks are kept, for the next work.
    - `kept_bytes`, `most_kept`: given back since the kept ones were last freed, and how many may
      be.
    """

    most_kept = 32 << 20  # here, for finalizers at exit find no globals

    __slots__ = (
        "__weakref__",
        "_kept",
        "_source",
        "device_id",
        "keeps",
        "kept_bytes",
        "runtime",
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
        self.runtime: Runtime = mode.runtime
        self.stream: int = as_stream_pointer(stream)
        self.device_id: int = device_id(device)
        if memory_resource is not None and not hasattr(memory_resource, "allocate"):
            raise TypeError(
                f"memory_resource: expected a cuda.core.MemoryResource, got {memory_resource!r}"
            )
        self._source: Source = self.runtime.source(self.device_id, stream, memory_resource)
        if keeps and self._source.keeps:
            self.keeps = True
            _keeping.add(self)

    def allocate(self, nbytes: int) -> Allocation:
        """A new block of memory.

        Raises OutOfDeviceMemoryError if there is not enough memory.
        """
        return self.allocate_each((nbytes,))[0]

    def allocate_each(self, sizes: Iterable[int]) -> list[Allocation]:
        """A new block for each size; the errors are those of `allocate`."""
        kept = self.usable()
        return [self.allocated(nbytes, kept) for nbytes in sizes]

    def usable(self) -> defaultdict[int, list[Block]] | None:
        """Blocks that were given back, by size in grains; None if they may not be used now."""
        if not self.keeps:
            return None
        # What a captured graph uses must be its own. The legacy stream is never captured.
        is_legacy = self.stream in (0, LEGACY_DEFAULT)
        return self._kept if is_legacy or not self.runtime.is_capturing(self.stream) else None

    def allocated(self, nbytes: int, kept: defaultdict[int, list[Block]] | None) -> Allocation:
        """A new block of memory, from the `usable` ones if it is small."""
        same = None
        if kept is not None and 0 < nbytes <= LARGEST_KEPT:
            grains = (nbytes + _GRAIN - 1) // _GRAIN
            same = kept[grains]
            try:
                block = same.pop()
            except IndexError:
                block = self._new(grains * _GRAIN)
        else:
            block = self._new(nbytes)
        allocation = Allocation()
        allocation.nbytes, allocation.pointer = nbytes, block.pointer
        allocation._allocator, allocation._block, allocation._same = self, block, same
        return allocation

    def _new(self, nbytes: int) -> Block:
        """Memory that was not used before."""
        if not nbytes:
            return Block(self._source, None, 0, 0)
        if nbytes > LARGEST_KEPT and _logger.isEnabledFor(logging.DEBUG):
            where = self.runtime.place(self.device_id)
            _logger.debug("%s allocated on %s", readable(nbytes), where)
        return Block(self._source, *self._source.allocate(nbytes), nbytes)

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


class Allocation(Uncopied):
    """A block of memory with one owner after another: it is freed with the last reference.

    Freeing is put on the stream in whose order the memory was allocated, so work that was put on
    that stream before still finds it. `release` frees at once and lets errors out.

    - `pointer`: address as C takes it, NULL for an empty block. Nobody changes it.
    - `nbytes`: size.
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
        block = self._block
        return block is None or (block.memory is None and block.nbytes > 0)

    @property
    def device_id(self) -> int:
        """Ordinal of the device."""
        return self._allocator.device_id

    @property
    def runtime(self) -> Runtime:
        """The runtime that the memory comes from."""
        return self._allocator.runtime

    @property
    def on_host(self) -> bool:
        """True for memory of the reference device."""
        return self.runtime.on_host

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


def trim_all() -> None:
    """Free all blocks that were taken back."""
    for allocator in list(_keeping):
        allocator.trim()


class OutOfDeviceMemoryError(MemoryError):
    """The device (or, for the reference device, the host) has not enough free memory."""


class Block:
    """Memory as its source gave it; freed once, at exit at the latest.

    - `source`: where it is given back.
    - `memory`: what the source gave; None for nothing.

    - `memory`: the same; None once it is freed.
    - `pointer`: the address as C takes it.
    """

    __slots__ = ("_source", "memory", "nbytes", "pointer")

    def __init__(self, source: Source, memory: Any, address: int, nbytes: int) -> None:
        self._source = source
        self.memory: Any = memory
        self.nbytes: int = nbytes
        self.pointer: c_void_p = c_void_p(address)
        if memory is not None:
            _blocks[id(self)] = self

    def free(self, stream: Any = None) -> None:
        """Free the memory in the order of `stream`; a second call does nothing.

        Default: the stream on which it was allocated.
        """
        memory, self.memory = self.memory, None
        if memory is not None:
            _blocks.pop(id(self), None)
            self._source.free(memory, stream)


_blocks: dict[int, Block] = {}
"""All memory that is not freed; the last to be allocated comes last."""


def _free_all() -> None:
    while _blocks:
        with suppress(Exception):  # the driver may be gone
            _blocks.popitem()[1].free()


at_end(_free_all)


def readable(nbytes: int) -> str:
    """A size in bytes as text."""
    if nbytes < 1024:
        return f"{nbytes} bytes"
    power = min((nbytes.bit_length() - 1) // 10, 6)
    unit = ("KiB", "MiB", "GiB", "TiB", "PiB", "EiB")[power - 1]
    return f"{nbytes / 1024**power:.1f} {unit} ({nbytes} bytes)"
