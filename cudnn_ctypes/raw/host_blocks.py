"""The blocks of host memory that stand in for device memory while the reference device is active.

Whoever allocates one notes it here, so that a call which would write beyond its end is refused
instead of overwriting what lies behind it.
"""

from __future__ import annotations

__all__ = ["add", "remove", "room"]

_blocks: dict[int, int] = {}  # address -> size in bytes


def add(address: int, nbytes: int) -> None:
    """Note a block of `nbytes` bytes."""
    _blocks[address] = nbytes


def remove(address: int) -> None:
    """Forget a block that is being freed."""
    _blocks.pop(address, None)


def room(address: int) -> int | None:
    """How many bytes are left from `address` to the end of its block; None if it is in none."""
    # A copy: a finalizer may remove a block at any time.
    for start, nbytes in list(_blocks.items()):
        if start <= address < start + nbytes:
            return start + nbytes - address
    return None
