"""Whether host memory of whoever can be read and written, as the system says."""

from __future__ import annotations

import ctypes
import errno
import functools
import mmap
from pathlib import Path
from typing import Any

__all__ = ["accessible"]

# MADV_POPULATE_READ and MADV_POPULATE_WRITE touch pages as a program does, but give an error where
# it would get a signal. Linux has them since 5.14.
_TOUCH_READING, _TOUCH_WRITING = 22, 23


def accessible(address: int, nbytes: int, *, writes: bool = False) -> bool:
    """Whether every byte of a range can be read, and written if it `writes`."""
    end = address + nbytes
    if not 0 < address <= end < 1 << 63:
        return False
    start = address - address % mmap.PAGESIZE
    advice = _TOUCH_WRITING if writes else _TOUCH_READING
    advise = _advise()
    if advise is not None:
        if advise(start, end - start, advice) == 0:
            return True
        if ctypes.get_errno() in (errno.ENOMEM, errno.EFAULT):
            return False
    return _listed(address, end, "rw" if writes else "r")


def _listed(address: int, end: int, permissions: str) -> bool:
    """Whether the list of the process's mappings has the range; True without such a list."""
    try:
        lines = Path("/proc/self/maps").read_text().splitlines()
    except OSError:
        return True
    for line in lines:
        limits, allowed, *_ = line.split(maxsplit=2)
        first, last = (int(limit, 16) for limit in limits.split("-"))
        if first <= address < last:
            if not allowed.startswith(permissions):
                return False
            if end <= last:
                return True
            address = last
    return False


@functools.cache
def _advise() -> Any:
    """``madvise``; None where it ignores the advice, as in QEMU's emulation of a process."""
    function = ctypes.CDLL(None, use_errno=True).madvise
    function.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
    return None if function(None, mmap.PAGESIZE, _TOUCH_READING) == 0 else function
