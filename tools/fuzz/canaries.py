"""Memory for the arguments of calls: what is written beyond an argument is seen.

Each argument lies at the end of a page behind which nothing may be touched, so one byte more ends
the process; what lies before it, and the part of an array that the call has no business with, holds
a pattern that is looked at after the call.
"""

from __future__ import annotations

import ctypes
import mmap
from typing import Any

__all__ = ["Canaries"]

_PATTERN = 0xA5
_BEFORE = 256  # bytes before an argument that are looked at
_BLOCKS = 40  # arguments of one call
_PAGE = mmap.PAGESIZE
_ROOM = 4 * _PAGE  # bytes of the largest argument


class Canaries:
    """The memory of one call's arguments after another's."""

    def __init__(self) -> None:
        flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS
        self._map = mmap.mmap(-1, _BLOCKS * (_ROOM + _PAGE), flags=flags)
        start = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._ends = [start + i * (_ROOM + _PAGE) + _ROOM for i in range(_BLOCKS)]
        protect = ctypes.CDLL(None, use_errno=True).mprotect
        protect.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
        for end in self._ends:
            if protect(end, _PAGE, 0):
                raise OSError(ctypes.get_errno(), "mprotect")
        self._taken: list[tuple[int, int, int]] = []

    def place(self, ctype: Any, used: int | None = None) -> Any:
        """A `ctype` at the end of a page; only its first `used` bytes are the call's business."""
        size = ctypes.sizeof(ctype)
        if size > _ROOM - _BEFORE:
            raise ValueError(f"{size} bytes are more than {_ROOM - _BEFORE}")
        end = self._ends[len(self._taken)]
        ctypes.memset(end - size - _BEFORE, _PATTERN, size + _BEFORE)
        self._taken.append((end - size, size, size if used is None else min(max(used, 0), size)))
        return ctype.from_address(end - size)

    def overruns(self) -> list[str]:
        """What was written where it must not be, since the last look. Frees all places."""
        found = []
        for start, size, used in self._taken:
            before = ctypes.string_at(start - _BEFORE, _BEFORE)
            behind = ctypes.string_at(start + used, size - used)
            for text, part in ((f"before {size} bytes", before), (f"behind {used} bytes", behind)):
                if part.strip(bytes([_PATTERN])):
                    found.append(text)
        self._taken.clear()
        return found
