"""The handles of launches that were given none: kept for each GPU, each used by one thread at once.

They live until the process ends. The reference device's are not kept: while one lives, calls are
followed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from ...device import cuda
from ...handle import Handle
from ...raw import mode

__all__ = ["default_handle"]

_free: dict[int, list[tuple[Handle, int]]] = {}
"""By GPU: the handles that no thread uses now, with the address of the stream of each."""


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
    free = _free.setdefault(ordinal, [])
    try:
        handle, its_stream = free.pop()  # one call, so no two threads get the same handle
    except IndexError:
        with cuda.current_context(ordinal):  # the caller's current device stays what it is
            handle, its_stream = Handle(), 0
    try:
        if stream != its_stream:
            handle.stream = its_stream = stream
        yield handle
    finally:
        free.append((handle, its_stream))
