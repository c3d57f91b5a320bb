"""The memory of a recorded program: which allocations there are, and what a replay holds in them.

A replay has one buffer for each allocation. Whatever a call is going to find there and the replay
would not have is saved and copied there first; what calls write themselves is not saved.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...device import copy, cuda
from ...device.borrowed import Borrowed
from ...raw import host_blocks, mode
from ..regions import Region

__all__ = ["Allocation", "Bytes", "NotReproducible", "read"]

Bytes = NDArray[np.uint8]


class NotReproducible(Exception):
    """A call that cannot be written down; the message says why."""


@dataclass(eq=False)
class Allocation:
    """One allocation.

    Attributes
    ----------
    name : str
        By which the session calls it.
    address : int
        Of its first byte.
    nbytes : int
        Its size; of memory that nobody knows the size of, how much calls use.
    role : str
        What the first call that used it calls it.
    held : array of bytes, optional
        What the replay has there by now; None while it has not all of it.
    host_type : str
        The data type of one number in host memory, "" for memory of the device.
    outputs : dict
        By offset, what calls wrote there last: bytes and data type.
    """

    name: str
    address: int
    nbytes: int
    role: str = ""
    held: Bytes | None = None
    host_type: str = ""
    outputs: dict[int, tuple[int, str]] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """What to call it: by its role, where backend calls passed a plain address."""
        return self.role if self.role and self.name.startswith("memory") else self.name

    @classmethod
    def of(cls, region: Region) -> Allocation:
        """The one of a region, as large as is known."""
        return cls(region.name, region.address, region.nbytes or 0)

    def grow(self, nbytes: int) -> None:
        """More of it is used than was known before."""
        if nbytes > self.nbytes:
            self.nbytes, self.held = nbytes, None

    def take(self, stream: int | None) -> None:
        """A call wrote there, as it will in the replay."""
        self.held = None
        with suppress(Exception):  # a trace never stops a program
            self.held = read(self, stream)


def read(allocation: Allocation, stream: int | None) -> Bytes:
    """What is there when all work on the GPU is done.

    Raises
    ------
    NotReproducible
        If work is being captured in a CUDA graph: it is done later, or never.
    """
    on_host = mode.reference_device_active
    if not on_host:  # the memory may have been written on another stream
        if cuda.is_capturing(stream or 0):
            raise NotReproducible("it is captured in a CUDA graph")
        cuda.call("cuCtxSynchronize")
    memory = Borrowed(
        allocation.address,
        allocation.nbytes,
        device_id=0 if on_host else cuda.current_ordinal(),
        on_host=on_host,
        stream=stream,
        keeper=None,
    )
    found = copy.read(memory, 0, allocation.nbytes, stream=stream)
    return _zeroed(allocation, found) if on_host else found


def _zeroed(allocation: Allocation, found: Bytes) -> Bytes:
    """What the reference device knows nobody wrote is nobody's number: zero, so that runs agree."""
    block = host_blocks.find(allocation.address)
    if block is None:
        return found
    start = allocation.address - block.address
    stop = start + allocation.nbytes
    if not block.is_written(start, stop):
        found[block.record()[start:stop] == 0] = 0
    return found
