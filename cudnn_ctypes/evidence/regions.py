"""The allocation that contains an address: this package's, PyTorch's, or the driver's."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..raw import host_blocks, mode
from ..raw.typed_memory import is_torch
from ..runtime import cuda
from .call_records import Argument, CallRecord

__all__ = ["OWN", "Region", "about_memory", "find"]

OWN, TORCH = "cudnn_ctypes", "PyTorch"


@dataclass(eq=False)
class Region:
    """One allocation.

    Attributes
    ----------
    key : object
        Unique among the allocations that exist.
    address : int
        Address of the first byte.
    nbytes : int, optional
        Size in bytes; None if unknown.
    owner : str
        "cudnn_ctypes", "PyTorch" or, for other owners, "".
    name : str
        The session's name for the allocation.
    place : (str, int)
        File and line that allocated it, or freed it once it is freed; "" and 0 if unknown.
    is_gone : callable, optional
        Returns whether it was freed, for allocations whose freeing is not reported.
    """

    key: Any
    address: int
    nbytes: int | None
    owner: str = ""
    name: str = ""
    place: tuple[str, int] = ("", 0)
    is_gone: Callable[[], bool] | None = None

    def contains(self, address: int) -> bool:
        """Whether the allocation contains an address."""
        return self.address <= address < self.address + (self.nbytes or 1)


def about_memory(what: str, region: Region) -> CallRecord:
    """The record of an allocation or its end, in the form of a call of a C function `what`."""
    place: dict[str, Any] = {"allocation": region.name, "offset": 0}
    if region.nbytes is not None:
        place["nbytes"] = region.nbytes
    arguments = [Argument("memory", place)]
    if region.owner:
        arguments.append(Argument("by", region.owner))
    file, line = region.place
    return CallRecord(0, what, tuple(arguments), "", file=file, line=line)


def find(address: int, memory: Any, known: Iterable[Region]) -> Region:
    """The allocation that contains an address, without a name.

    Parameters
    ----------
    address : int
    memory : object
        The program's argument; None if only the address is known.
    known : iterable of Region
        Existing allocations; one of them is returned if it contains the address.
    """
    if is_torch(type(memory)):
        return _storage(memory)
    for region in known:
        if region.owner == TORCH and region.contains(address):
            return region
    if mode.reference_device_active:
        block = host_blocks.find(address)
        if block is None:
            return Region((address, address), address, None)
        return Region(block, block.address, block.nbytes)
    try:
        base, size = map(int, cuda.call("cuMemGetAddressRange", address))
    except Exception:  # no address of this GPU, or no driver
        return Region((address, address), address, None)
    return _block_of_torch(address) or Region((base, size), base, size)


def _storage(tensor: Any) -> Region:
    """The storage of a PyTorch tensor; PyTorch reuses its address for later storages."""
    storage = tensor.untyped_storage()
    base, nbytes = storage.data_ptr(), storage.nbytes()
    region = Region((TORCH, base, nbytes), base, nbytes, TORCH)
    with suppress(ImportError, AttributeError):  # a version without these functions
        reductions = importlib.import_module("torch.multiprocessing.reductions")
        reference = reductions.StorageWeakRef(storage)
        region.key = (TORCH, reference.cdata)  # unique while the reference lives
        region.is_gone = reference.expired
    return region


def _block_of_torch(address: int) -> Region | None:
    """The block in PyTorch's memory; the driver only knows PyTorch's large segments."""
    torch = sys.modules.get("torch")
    with suppress(Exception):  # a version without these functions
        if torch is None or not torch.cuda.is_initialized():
            return None
        for segment in torch.cuda.memory_snapshot():
            start = int(segment["address"])
            if not start <= address < start + int(segment["total_size"]):
                continue
            for block in segment["blocks"]:
                size = int(block["size"])
                if start <= address < start + size:
                    return Region((TORCH, start, size), start, size, TORCH)
                start += size
    return None
