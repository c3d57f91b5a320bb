"""The allocation that an address lies in: this package's, PyTorch's, or as the driver knows it."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ..device import cuda
from ..raw import host_blocks, mode
from ..raw.typed_memory import is_torch
from .call_records import Argument, CallRecord

__all__ = ["OWN", "Region", "about_memory", "find"]

OWN, TORCH = "cudnn_ctypes", "PyTorch"


@dataclass(eq=False)
class Region:
    """One allocation.

    Attributes
    ----------
    key : object
        Tells it from others as long as it lives.
    address : int
        Of its first byte.
    nbytes : int, optional
        Its size; None if nobody knows it.
    owner : str
        "cudnn_ctypes" or "PyTorch"; "" for others.
    name : str
        By which a session calls it.
    place : (str, int)
        File and line where it was allocated, and once it is freed where that was done; "" and 0
        if that was not seen.
    is_gone : callable, optional
        Asks whether it was freed, where nobody tells.
    """

    key: Any
    address: int
    nbytes: int | None
    owner: str = ""
    name: str = ""
    place: tuple[str, int] = ("", 0)
    is_gone: Callable[[], bool] | None = None

    def contains(self, address: int) -> bool:
        """Whether an address lies in it."""
        return self.address <= address < self.address + (self.nbytes or 1)


def about_memory(what: str, region: Region) -> CallRecord:
    """The record of its allocation or its end, as if a C function of that name had been called."""
    place: dict[str, Any] = {"allocation": region.name, "offset": 0}
    if region.nbytes is not None:
        place["nbytes"] = region.nbytes
    arguments = [Argument("memory", place)]
    if region.owner:
        arguments.append(Argument("by", region.owner))
    file, line = region.place
    return CallRecord(0, what, tuple(arguments), "", file=file, line=line)


def find(address: int, given: Any, known: Iterable[Region]) -> Region:
    """The allocation that an address lies in, not yet named.

    Parameters
    ----------
    address : int
    given : object
        What the program passed; None if only the address is known.
    known : iterable of Region
        Allocations that live; the one among them that it is.
    """
    if is_torch(type(given)):
        return _storage(given)
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
    """The storage of a tensor of PyTorch, which serves one tensor after another at one address."""
    storage = tensor.untyped_storage()
    base, nbytes = storage.data_ptr(), storage.nbytes()
    region = Region((TORCH, base, nbytes), base, nbytes, TORCH)
    with suppress(ImportError, AttributeError):  # a version that cannot tell
        reductions = importlib.import_module("torch.multiprocessing.reductions")
        reference = reductions.StorageWeakRef(storage)
        region.key = (TORCH, reference.cdata)  # no other one's while the reference lives
        region.is_gone = reference.expired
    return region


def _block_of_torch(address: int) -> Region | None:
    """The part of PyTorch's memory, which the driver knows as large segments."""
    torch = sys.modules.get("torch")
    with suppress(Exception):  # a version that tells less
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
