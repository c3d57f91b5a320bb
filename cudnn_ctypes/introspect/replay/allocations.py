"""The memory of a recorded program: which allocations there are, and what a replay holds in them.

A replay has one buffer for each allocation. Whatever a call is going to find there and the replay
would not have is saved and copied there first; what calls write themselves is not saved.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...device import copy, cuda
from ...device.borrowed import Borrowed
from ...raw import mode
from ..places import Places, extent
from .expressions import NotReproducible

__all__ = ["Allocation", "Allocations"]

Bytes = NDArray[np.uint8]


@dataclass
class Allocation:
    """One allocation.

    Attributes
    ----------
    name : str
    address : int
        Of its first byte.
    nbytes : int
        Its size; of memory that nobody knows the size of, how much calls use.
    held : array of bytes, optional
        What the replay has there by now; None while it has not all of it.
    """

    name: str
    address: int
    nbytes: int
    held: Bytes | None = None

    def grow(self, nbytes: int) -> None:
        """More of it is used than was known before."""
        if nbytes > self.nbytes:
            self.nbytes, self.held = nbytes, None


class Allocations:
    """All allocations of a program, by name."""

    def __init__(self) -> None:
        self.by_name: dict[str, Allocation] = {}

    def at(
        self, address: int, given: Any, name: str, places: Places, nbytes: int = 0
    ) -> tuple[Allocation, int]:
        """The allocation that an address lies in, and the offset there.

        Parameters
        ----------
        nbytes : int
            How much is used from there on, if it is known.
        """
        called, offset = places.place(address, given, name)
        base, size = extent(address, given)
        if called not in self.by_name:
            self.by_name[called] = Allocation(called, base, 0)
        allocation = self.by_name[called]
        allocation.grow(size if size is not None else offset + nbytes)
        return allocation, offset

    def bring(
        self, allocation: Allocation, stream: int | None, save: Callable[[Allocation], None]
    ) -> None:
        """Have the replay hold what the allocation holds; `save` is called if it did not."""
        found = self.read(allocation, stream)
        if allocation.held is None or not np.array_equal(found, allocation.held):
            allocation.held = found
            save(allocation)

    def take(self, allocation: Allocation, stream: int | None) -> None:
        """A call wrote there, as it will in the replay."""
        allocation.held = None
        with suppress(Exception):  # a trace never stops a program
            allocation.held = self.read(allocation, stream)

    @staticmethod
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
        return copy.read(memory, 0, allocation.nbytes, stream=stream)
