"""The memory of a recorded program: its allocations, and their contents in a replay.

A replay has one buffer per allocation. Data that a call reads and that no earlier call wrote is
saved, and copied to the buffer before the call. Outputs of calls are not saved as inputs.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ...raw import host_blocks, mode
from ...runtime import copy, cuda
from ...runtime.borrowed import Borrowed
from ..regions import Region

__all__ = ["Allocation", "Bytes", "NotReproducible", "read"]

Bytes = NDArray[np.uint8]


class NotReproducible(Exception):
    """A call cannot be recorded; the message has the reason."""


@dataclass(eq=False)
class Allocation:
    """One allocation.

    Attributes
    ----------
    name : str
        The session's name for the allocation.
    address : int
        Address of the first byte.
    nbytes : int
        Size in bytes; the part that calls use if the size is unknown.
    role : str
        The parameter's name in the first call that used it.
    held : array of bytes, optional
        The contents of the replay's buffer; None while incomplete.
    host_type : str
        The data type of a number in host memory, "" for device memory.
    outputs : dict
        The last outputs of calls in the allocation, by offset: size in bytes and data type.
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
        """The word for the allocation's name: its role if backend calls passed a plain address."""
        return self.role if self.role and self.name.startswith("memory") else self.name

    @classmethod
    def of(cls, region: Region) -> Allocation:
        """An allocation for a region, with the region's size if known."""
        return cls(region.name, region.address, region.nbytes or 0)

    def grow(self, nbytes: int) -> None:
        """Enlarge the allocation: a call uses more of it than was known."""
        if nbytes > self.nbytes:
            self.nbytes, self.held = nbytes, None

    def take(self, stream: int | None) -> None:
        """Take over the present contents: a call wrote them, as it will in the replay."""
        self.held = None
        with suppress(Exception):  # a trace never stops a program
            self.held = read(self, stream)


def read(allocation: Allocation, stream: int | None) -> Bytes:
    """The contents of an allocation after all work on the GPU.

    Raises
    ------
    NotReproducible
        If work is being captured in a CUDA graph: it is not done yet.
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
    """Set bytes that the reference device knows as unwritten to 0, so that runs agree."""
    block = host_blocks.find(allocation.address)
    if block is None:
        return found
    start = allocation.address - block.address
    stop = start + allocation.nbytes
    if not block.is_written(start, stop):
        found[block.record()[start:stop] == 0] = 0
    return found
