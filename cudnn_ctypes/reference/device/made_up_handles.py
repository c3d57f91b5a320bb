"""Handles of the reference device: addresses that no other object can have."""

from __future__ import annotations

import ctypes
import mmap
from collections.abc import Mapping
from typing import Any

from ...absent_gpu.properties import reference_gpu
from ...errors import ClosedError

# Made-up handles are addresses in this block: 1 Mi of them. Its pages are never touched, so they
# take no memory.
_block = mmap.mmap(-1, 1 << 24)
_first = ctypes.addressof(ctypes.c_char.from_buffer(_block))
_addresses = iter(range(_first, _first + len(_block), 16))

open_handles: dict[int, Mapping[str, Any]] = {}
"""The open handles, each with the properties of the GPU that it stands for."""


def create() -> int:
    """The address of a new handle, which stands for the currently chosen GPU."""
    address = next(_addresses)
    open_handles[address] = reference_gpu()
    return address


def made_up(handle: Any) -> bool:
    """Whether a handle belongs to the reference device.

    Raises ClosedError if it belonged to the reference device and was destroyed.
    """
    address = getattr(getattr(handle, "_as_parameter_", handle), "value", None)
    if address in open_handles:
        return True
    if isinstance(address, int) and _first <= address < _first + len(_block):
        raise ClosedError("this handle of the reference device was destroyed")
    return False


def gpu_of(handle: int) -> Mapping[str, Any]:
    """The properties of the GPU that a made-up handle stands for.

    Raises ClosedError if the handle was destroyed.
    """
    made_up(ctypes.c_void_p(handle))
    return open_handles[handle]
