"""The blocks of host memory that stand in for device memory while the reference device is active.

A block knows its bounds, where it was allocated and freed, and which of its bytes were written, so
that a call which would use it wrongly is refused with these facts. Between blocks lies memory that
belongs to nobody, in which a pattern shows whether something wrote there. A freed block is kept
for a while, so that an address in it is not mistaken for that of a later one.

With `mode.guard_pages` a block ends at a page that cannot be touched, and so does a freed one's
whole memory: what goes astray then ends the process at once.
"""

from __future__ import annotations

import bisect
import contextlib
import ctypes
import functools
import mmap
import os
import sys
import threading
import warnings
import weakref
from collections import deque
from collections.abc import Iterator
from types import FrameType
from typing import Any

from ..errors import DeviceMemoryWarning
from . import mode

__all__ = [
    "ALIGNMENT",
    "Block",
    "copied",
    "find",
    "forgotten",
    "free_memory",
    "overlapping",
    "user_frame",
    "warn",
    "written",
]

ALIGNMENT = 256  # bytes; what cudaMalloc promises

# Freed blocks that are kept, and how much of their memory. With guard pages their memory goes back
# to the system and only the addresses are kept.
_KEPT_BLOCKS = 1024
_KEPT_BYTES = 32 << 20

# With guard pages, new memory holds NaN of any type, up to so many bytes of a block.
_POISONED = 1 << 20

_PATTERN = bytes([0xC5]) * ALIGNMENT


class Block:
    """A block of host memory; `free` ends its life, not the last reference to it.

    Parameters
    ----------
    nbytes : int
        1 or more.

    Attributes
    ----------
    address : int
        A multiple of `ALIGNMENT`.
    nbytes : int
        Size.
    lower, upper : int
        The addresses around it that are nobody else's.
    memory : object
        A buffer of the bytes from `lower` to `upper`; None once they are given back.
    freed_at : str
        Where it was freed, "" while it lives.

    Raises
    ------
    MemoryError, ValueError, OverflowError, OSError
        If there is not so much memory.
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
        self.made_at: str = _place()
        self.freed_at: str = ""
        self._written = (0, 0)  # one range of bytes that were all written
        self._record: Any = None  # of each byte 0xFF if it was written; None: the range says all
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
        """Bytes of memory that it keeps from others once it is freed."""
        return 0 if isinstance(self.memory, mmap.mmap) else self.upper - self.lower

    # -- bounds ----------------------------------------------------------------------------------

    def _margins(self) -> Iterator[tuple[int, int]]:
        """Address and length of what can be touched around the block."""
        guard = mmap.PAGESIZE if isinstance(self.memory, mmap.mmap) else 0
        end = self.address + self.nbytes
        before = min(ALIGNMENT, self.address - self.lower - guard)
        yield self.address - before, before
        yield end, min(ALIGNMENT, self.upper - guard - end)

    def overrun(self) -> str:
        """What was written outside of the block by now, in words; "" if nothing was."""
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
        """End its life.

        Raises
        ------
        RuntimeError
            If it was freed before.
        """
        if self.freed_at:
            raise RuntimeError(f"freed twice, now at {_place()}: {self}")
        overrun, self.freed_at = self.overrun(), _place()
        self._record = None
        if isinstance(self.memory, mmap.mmap):
            self.memory.madvise(mmap.MADV_DONTNEED)
            _protect(self.lower, len(self.memory))
        _keep(self)
        if overrun:
            warn(f"{overrun}; found when it was freed at {self.freed_at}")

    # -- what was written ------------------------------------------------------------------------

    def is_written(self, start: int, stop: int) -> bool:
        """Whether a range of its bytes is known to be written without a look at the record."""
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
        """Of each byte 0xFF if it was written, else 0: an array to read and to write."""
        with _marking:
            if self._record is None:
                import numpy as np

                self._record = np.zeros(self.nbytes, np.uint8)
                self._record[slice(*self._written)] = 0xFF
        return self._record


_marking = threading.RLock()


def _guarded(nbytes: int) -> tuple[mmap.mmap, int]:
    """Whole pages between two that cannot be touched, and the address of the first of all."""
    page = mmap.PAGESIZE
    length = -(-nbytes // page) * page
    memory = mmap.mmap(-1, length + 2 * page, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    lower = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    _protect(lower, page)
    _protect(lower + page + length, page)
    ctypes.memset(lower + page, 0xFF, min(length, _POISONED))
    return memory, lower


def _protect(address: int, length: int) -> None:
    """Make whole pages unusable. Where the system refuses, for too many mappings say, they stay."""
    _c_library().mprotect(ctypes.c_void_p(address), ctypes.c_size_t(length), 0)


@functools.cache
def _c_library() -> ctypes.CDLL:
    return ctypes.CDLL(None)


# -- all blocks -----------------------------------------------------------------------------------

# Finalizers free blocks, at any time and in any thread. So each change here is one step of the
# interpreter, or made by whoever holds the lock.
_blocks: dict[int, Block] = {}  # those that live or are kept, by `lower`
_starts: list[int] = []  # their `lower`, in order

_keeping = threading.Lock()
_freed: deque[Block] = deque()  # not yet among those kept
_kept: deque[Block] = deque()
_kept_bytes = 0

forgotten: deque[Block] = deque(maxlen=_KEPT_BLOCKS)
"""Freed blocks whose memory may be somebody else's by now, the last ones."""


def find(address: int) -> Block | None:
    """The block, living or freed, in or around which an address lies; None if nobody's is."""
    return overlapping(address, address + 1)


def overlapping(start: int, stop: int) -> Block | None:
    """The last block, living or freed, that a range of addresses touches."""
    position = bisect.bisect_left(_starts, stop)
    block = _blocks.get(_starts[position - 1]) if position else None
    return block if block is not None and start < block.upper else None


def written(address: int, nbytes: int) -> None:
    """Note that memory was written; nothing happens if it is in no block."""
    block = find(address)
    if block is not None:
        block.mark(address - block.address, address - block.address + nbytes)


def copied(destination: int, origin: int, nbytes: int) -> None:
    """Note that memory was copied, with what is known of it."""
    source, target = find(origin), find(destination)
    start = origin - source.address if source else 0
    if source is None or target is None or source.is_written(start, start + nbytes):
        written(destination, nbytes)
        return
    place = destination - target.address
    target.record()[place : place + nbytes] = source.record()[start : start + nbytes]


def _keep(block: Block) -> None:
    """Keep a freed block, and forget the oldest ones of those that are too many."""
    global _kept_bytes
    _freed.append(block)
    if not _keeping.acquire(blocking=False):
        return  # who has it, in another thread or below this finalizer, does it or leaves it
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
    """The innermost frame that is not this package's; None if there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_of_this_package(frame):
        frame = frame.f_back
    return frame


def _is_of_this_package(frame: FrameType) -> bool:
    """Also of functions that it compiles, such as the constructors of dataclasses."""
    if frame.f_code.co_filename.startswith(_NOT_THE_USERS):
        return True
    module = frame.f_globals.get("__name__")
    return isinstance(module, str) and module.partition(".")[0] == _PACKAGE


def _place() -> str:
    frame = user_frame()
    return "exit" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def warn(text: str, category: type[Warning] = DeviceMemoryWarning) -> None:
    """Warn at the user's line."""
    frame = user_frame()
    if frame is None:
        warnings.warn(text, category, stacklevel=2)
        return
    names = frame.f_globals
    warnings.warn_explicit(
        text,
        category,
        frame.f_code.co_filename,
        frame.f_lineno,
        module=names.get("__name__"),
        registry=names.setdefault("__warningregistry__", {}),
    )


def free_memory() -> int:
    """Bytes of the host's memory that nobody uses."""
    return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
