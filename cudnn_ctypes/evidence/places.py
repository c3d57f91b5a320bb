"""Names for the operands of calls: objects by kind and number, memory by allocation and offset."""

from __future__ import annotations

from collections import deque
from typing import Any

from ..raw import backend, host_blocks
from ..raw.attributes import kind_name
from .regions import OWN, Region, find

__all__ = ["Objects", "Places", "place_in_program"]


class Objects:
    """Handles and descriptors: "handle", "tensor1", "execution_plan2", by their addresses."""

    def __init__(self) -> None:
        self._names: dict[tuple[str, int], str] = {}
        self._counts: dict[str, int] = {}

    def name(self, kind: type, address: int | None, *, new: bool = False) -> str | None:
        """The name of the object at an address; `new` for an object just created."""
        if not address:
            return None
        word = _word(kind, address)
        # A backend descriptor that C filled in an array keeps its first name.
        key = (kind.__name__, address)
        if new or key not in self._names:
            count = self._counts[word] = self._counts.get(word, 0) + 1
            self._names[key] = word if word == "handle" and count == 1 else f"{word}{count}"
        return self._names[key]

    def forget(self, kind: type, address: int | None) -> None:
        """Drop the name of a destroyed object: another may get its address."""
        self._names.pop((kind.__name__, address or 0), None)


def _word(kind: type, address: int) -> str:
    known = backend.known(address) if kind.__name__ == "cudnnBackendDescriptor_t" else None
    if known is not None and known.kind is not None:
        return kind_name(known.kind)
    word = kind.__name__.removeprefix("cudnn").removeprefix("cuda").removesuffix("_t")
    return word.removesuffix("Descriptor").lower() or "descriptor"


class Places:
    """Names for memory: the allocation that contains an address, and the offset in it.

    This package reports its allocations and frees (`watch`); PyTorch's allocator is asked.
    """

    def __init__(self) -> None:
        self._regions: dict[Any, Region] = {}
        self._counts: dict[str, int] = {}
        self._own: dict[int, tuple[int, tuple[str, int]]] = {}  # size and place by address
        self._events: deque[tuple[int, int | None, tuple[str, int]]] = deque()
        self._fresh: list[Region] = []

    def allocated(self, address: int, nbytes: int) -> None:
        """Note memory that this package allocated."""
        self._events.append((address, nbytes, place_in_program()))

    def freed(self, address: int) -> None:
        """Note memory that this package frees."""
        self._events.append((address, None, place_in_program()))

    def settle(self) -> list[Region]:
        """Process the allocations and frees since the last call; return the freed named ones."""
        gone: list[Region] = []
        while self._events:
            address, nbytes, place = self._events.popleft()
            if nbytes is not None:
                self._own[address] = nbytes, place
                continue
            self._own.pop(address, None)
            for region in [each for each in self._regions.values() if each.address == address]:
                region.place = place
                gone.append(self._regions.pop(region.key))
        for region in [*self._regions.values()]:
            if region.is_gone is not None and region.is_gone():
                region.place = ("", 0)
                gone.append(self._regions.pop(region.key))
        return gone

    def fresh(self) -> list[Region]:
        """The allocations that were named since the last call."""
        fresh, self._fresh = self._fresh, []
        return fresh

    def place(self, address: int, memory: Any, name: str) -> tuple[str, int]:
        """The allocation's name and the offset in bytes; for the parameters see `region`."""
        region = self.region(address, memory, name)
        return region.name, address - region.address

    def region(self, address: int, memory: Any, name: str) -> Region:
        """The allocation that contains an address; a new one is named.

        Parameters
        ----------
        address : int
        memory : object
            The program's argument.
        name : str
            The parameter's name, which becomes a new allocation's name.
        """
        region = find(address, memory, self._regions.values())
        if region.key in self._regions:
            return self._regions[region.key]
        if region.address in self._own:
            region.nbytes, region.place = self._own[region.address]
            region.owner = OWN
        count = self._counts[name] = self._counts.get(name, 0) + 1
        region.name = name if count == 1 else f"{name}{count}"
        self._regions[region.key] = region
        self._fresh.append(region)
        return region


def place_in_program() -> tuple[str, int]:
    """File and line of the running program; "" and 0 at exit."""
    frame = host_blocks.user_frame()
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)
