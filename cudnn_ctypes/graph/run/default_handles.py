"""The handles of launches that were given none: kept for each GPU, each used by one thread at once.

They live until the process ends. The reference device's are not kept: while one lives, calls are
followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...handle import Handle
from ...raw import mode
from ...runtime import cuda

__all__ = ["Lent", "default_handle", "give_back", "taken"]

Lent = tuple[Handle, int]
"""A handle, and the address of its stream."""

_free: dict[int, list[Lent]] = {}
"""Handles that no thread uses now, by GPU."""


@contextmanager
def default_handle(ordinal: int, stream: int = 0) -> Iterator[Handle]:
    """``with default_handle(0) as handle``: a handle for the calling thread alone, on a stream.

    Parameters
    ----------
    ordinal : int
        The GPU; of no effect on the reference device.
    stream : int
        The stream's address; 0 is the legacy default stream.
    """
    if mode.reference_device_active:
        with Handle() as handle:
            yield handle
        return
    lent = taken(ordinal, stream)
    try:
        yield lent[0]
    finally:
        give_back(ordinal, lent)


def taken(ordinal: int, stream: int) -> Lent:
    """A handle of a GPU, not of the reference device, to be given back; `default_handle` does."""
    try:
        lent = _free[ordinal].pop()  # one call, so no two threads get the same handle
    except (KeyError, IndexError):
        with cuda.current_context(ordinal):  # the caller's current device stays what it is
            lent = Handle(), 0
    if stream == lent[1]:
        return lent
    try:
        lent[0].stream = stream
        lent = lent[0], stream
    except BaseException:
        give_back(ordinal, lent)
        raise
    return lent


def give_back(ordinal: int, lent: Lent) -> None:
    """Have others use what `taken` returned."""
    _free.setdefault(ordinal, []).append(lent)
