"""The blocks of host memory that stand in for device memory while the reference device is active.

A block knows its bounds, the places in the program that allocated and freed it, and which of its
bytes were written. A call that would misuse the block is refused with these facts. A pattern in the
margins between blocks shows whether a program wrote there. A freed block is kept for a while, so
its addresses are not taken for a later block's.

With `mode.guard_pages` an inaccessible page follows each block, and a freed block becomes
inaccessible: a stray access then ends the process at once.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import mmap
import os
import sys
import warnings
import weakref
from collections import deque
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any

from ..errors import DeviceMemoryWarning
from . import mode
from .process import new_lock, new_reentrant_lock

ALIGNMENT = 256  # bytes; cudaMalloc's alignment

# The largest number of kept freed blocks, and of their bytes. With guard pages their memory goes
# back to the system and only the addresses are kept.
_KEPT_BLOCKS = 1024
_KEPT_BYTES = 32 << 20

# With guard pages, the first _POISONED bytes of a new block are NaN in every type.
_POISONED = 1 << 20

_PATTERN = bytes([0xC5]) * ALIGNMENT


class Block:
    """A block of host memory; `free` ends its life, not the last reference to it.

    - `nbytes`: 1 or more.

    - `address`: a multiple of `ALIGNMENT`.
    - `nbytes`: size.
    - `lower`, `upper`: the bounds of the block with its margins.
    - `memory`: a buffer of the bytes from `lower` to `upper`; None once they are returned.
    - `freed_at`: the place in the program that freed it, "" while it lives.

    Raises MemoryError, ValueError, OverflowError or OSError if there is too little memory.
    """

    __slots__ = (
        "_record",
        "_written",
        "address",
        "freed_at",
        "lower",
        "made_at",
        "memory",
        "nbytes",
        "upper",
    )

    def __init__(self, nbytes: int) -> None:
        self.nbytes: int = nbytes
        self.made_at: str = place_text()
        self.freed_at: str = ""
        self._written = (0, 0)  # one range of bytes that were all written
        self._record: Any = None  # per byte 0xFF if it was written; None: the range suffices
        self.memory: Any
        self.lower: int
        self.upper: int
        self.address: int
        if mode.guard_pages:
            self.memory, self.lower = _guarded(nbytes)
            self.upper = self.lower + len(self.memory)
            body = self.upper - mmap.PAGESIZE
            self.address = body - -(-nbytes // ALIGNMENT) * ALIGNMENT
        else:
            import numpy as np

            self.memory = np.empty(nbytes + 3 * ALIGNMENT, np.uint8)
            self.lower = self.memory.ctypes.data
            self.upper = self.lower + len(self.memory)
            self.address = self.lower + ALIGNMENT + -self.lower % ALIGNMENT
        for start, length in self._margins():
            ctypes.memset(start, _PATTERN[0], length)
        _blocks[self.lower] = self
        bisect.insort(_starts, self.lower)

    def __str__(self) -> str:
        freed = f", freed at {self.freed_at}" if self.freed_at else ""
        return f"the {self.nbytes} bytes at {self.address:#x} (allocated at {self.made_at}{freed})"

    @property
    def held(self) -> int:
        """Bytes of memory that the block still occupies once it is freed."""
        return 0 if isinstance(self.memory, mmap.mmap) else self.upper - self.lower

    # -- bounds ----------------------------------------------------------------------------------

    def _margins(self) -> Iterator[tuple[int, int]]:
        """Address and length of the accessible margins before and after the block."""
        guard = mmap.PAGESIZE if isinstance(self.memory, mmap.mmap) else 0
        end = self.address + self.nbytes
        before = min(ALIGNMENT, self.address - self.lower - guard)
        yield self.address - before, before
        yield end, min(ALIGNMENT, self.upper - guard - end)

    def overrun(self) -> str:
        """A sentence about a write outside of the block; "" if there was none."""
        for start, length in self._margins():
            found = ctypes.string_at(start, length)
            if found != _PATTERN[:length]:
                at = next(i for i, byte in enumerate(found) if byte != _PATTERN[0]) + start
                end = self.address + self.nbytes
                distance = (
                    f"{at - end} bytes beyond the end"
                    if at >= end
                    else f"{self.address - at} bytes before the start"
                )
                return f"something was written {distance} of {self}"
        return ""

    def free(self) -> None:
        """Mark the block as freed.

        Raises RuntimeError if the block was freed before.
        """
        if self.freed_at:
            raise RuntimeError(f"freed twice, now at {place_text()}: {self}")
        overrun, self.freed_at = self.overrun(), place_text()
        self._record = None
        if isinstance(self.memory, mmap.mmap):
            self.memory.madvise(mmap.MADV_DONTNEED)
            _protect(self.lower, len(self.memory))
        _keep(self)
        if overrun:
            warn(f"{overrun}; found when it was freed at {self.freed_at}")

    # -- written bytes ---------------------------------------------------------------------------

    def is_written(self, start: int, stop: int) -> bool:
        """Whether the one written range covers these bytes; the record is not read."""
        first, last = self._written
        return first <= start and stop <= last

    def mark(self, start: int, stop: int) -> None:
        """Note that the bytes from `start` to `stop` were written."""
        with _marking:
            first, last = self._written
            if first == last:
                self._written = start, stop
            elif start <= last and first <= stop:
                self._written = min(first, start), max(last, stop)
            else:
                self.record()
                self._written = max((first, last), (start, stop), key=lambda r: r[1] - r[0])
            if self._record is not None:
                self._record[start:stop] = 0xFF

    def record(self) -> Any:
        """A writable array with 0xFF for each byte that was written, else 0."""
        with _marking:
            if self._record is None:
                import numpy as np

                self._record = np.zeros(self.nbytes, np.uint8)
                self._record[slice(*self._written)] = 0xFF
        return self._record


_marking = new_reentrant_lock()


def _guarded(nbytes: int) -> tuple[mmap.mmap, int]:
    """Pages between two inaccessible pages, and the address of the first inaccessible one."""
    page = mmap.PAGESIZE
    length = -(-nbytes // page) * page
    memory = mmap.mmap(-1, length + 2 * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    lower = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    _protect(lower, page)
    _protect(lower + page + length, page)
    ctypes.memset(lower + page, 0xFF, min(length, _POISONED))
    return memory, lower


def _protect(address: int, length: int) -> None:
    """Make pages inaccessible; if the system refuses (too many mappings), they stay accessible."""
    _c_library().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(length), 0)


@functools.cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


# -- all blocks -----------------------------------------------------------------------------------

# Finalizers free blocks, at any time and in any thread. So each change here is atomic in the
# interpreter, or is made under the lock.
_blocks: dict[int, Block] = {}  # living and kept blocks, by `lower`
_starts: list[int] = []  # the sorted `lower` of all blocks in _blocks

_keeping = new_lock()
_freed: deque[Block] = deque()  # freed blocks not yet in _kept
_kept: deque[Block] = deque()
_kept_bytes = 0

forgotten: deque[Block] = deque(maxlen=_KEPT_BLOCKS)
"""The latest freed blocks that are no longer kept; their memory may be in use again."""


def find(address: int) -> Block | None:
    """The block, living or freed, that has an address in it or in its margins; else None."""
    return overlapping(address, address + 1)


def overlapping(start: int, stop: int) -> Block | None:
    """The last block, living or freed, that a range of addresses touches."""
    while True:
        position = bisect.bisect_left(_starts, stop)
        around = _starts[max(position - 1, 0) : position + 1]
        before = [lower for lower in around if lower < stop]
        if len(before) == min(position, 1):  # else another thread has moved the blocks meanwhile
            break
    block = _blocks.get(before[0]) if before else None
    return block if block is not None and start < block.upper else None


def written(address: int, nbytes: int) -> None:
    """Mark memory as written; nothing happens if it is in no block."""
    block = find(address)
    if block is not None:
        block.mark(address - block.address, address - block.address + nbytes)


def copied(destination: int, origin: int, nbytes: int) -> None:
    """Mark copied bytes as written where the source bytes were written."""
    source, target = find(origin), find(destination)
    start = origin - source.address if source else 0
    if source is None or target is None or source.is_written(start, start + nbytes):
        written(destination, nbytes)
        return
    place = destination - target.address
    target.record()[place : place + nbytes] = source.record()[start : start + nbytes]


def _keep(block: Block) -> None:
    """Keep a freed block, and drop the oldest kept blocks beyond the limits."""
    global _kept_bytes
    _freed.append(block)
    if not _keeping.acquire(blocking=False):
        return  # the lock's holder, another thread or a caller of this finalizer, keeps the block
    try:
        while _freed:
            block = _freed.popleft()
            _kept.append(block)
            _kept_bytes += block.held
        while len(_kept) > _KEPT_BLOCKS or _kept_bytes > _KEPT_BYTES:
            block = _kept.popleft()
            _kept_bytes -= block.held
            _starts.remove(block.lower)
            del _blocks[block.lower]
            block.memory = None
            forgotten.append(block)
    finally:
        _keeping.release()


# -- places in the user's program -----------------------------------------------------------------

_PACKAGE = __name__.partition(".")[0]
_NOT_THE_USERS = (
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep,
    *("<cudnn", "<launch of"),  # functions compiled for the C functions, and for launches
    *("<frozen ", contextlib.__file__, functools.__file__, weakref.__file__),
)


def user_frame() -> FrameType | None:
    """The innermost frame outside of this package; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_of_this_package(frame):
        frame = frame.f_back
    return frame


def _is_of_this_package(frame: FrameType) -> bool:
    """True for this package's functions, including compiled ones (constructors of dataclasses)."""
    if frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        return True
    module = frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] == _PACKAGE


_outside_names: dict[str, Any] = {"__name__": "program"}

outside: Callable[[], tuple[str, int]] | None = None
"""Tells the place in a program without frames of Python: the source line of a compiled one."""


def place() -> tuple[str, int]:
    """File and line of the running program; "" and 0 at exit, 0 for a file without lines."""
    frame = user_frame()
    if frame is not None:
        return frame.f_code.co_filename, frame.f_lineno
    return ("", 0) if outside is None else outside()


def place_text() -> str:
    """The place in the program, as "program.py:42"."""
    file, line = place()
    return f"{file}:{line}" if line else file or "exit"


def warn(text: str, category: type[Warning] = DeviceMemoryWarning) -> None:
    """Warn at the user's line."""
    frame = user_frame()
    file, line = place()
    if not file:
        warnings.warn(text, category, stacklevel=2)
        return
    names: dict[str, Any] = _outside_names if frame is None else frame.f_globals
    warnings.warn_explicit(
        text,
        category,
        file,
        line,
        module=names.get("__name__"),
        registry=names.setdefault("__warningregistry__", {}),
    )


def free_memory() -> int:
    """Bytes of unused host memory."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
