"""Python objects behind handles that cuDNN 9 lacks, by made-up addresses."""

from __future__ import annotations

import ctypes
from typing import Any

from .... import raw
from .old_function import Refused

__all__ = ["create", "destroy", "held"]

_objects: dict[int, tuple[Any, Any]] = {}  # by address: the block at the address, the object


def create(variable: Any, held: Any) -> None:
    """Make `variable`, a handle, refer to an object."""
    block = (ctypes.c_char * 16)()
    address = ctypes.addressof(block)
    _objects[address] = block, held
    variable.value = address


def held(handle: Any, name: str) -> Any:
    """The object of a handle; refused if it was destroyed or never created."""
    address = None if handle is None else handle.value
    if address not in _objects:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL, destroyed or never created")
    return _objects[address][1]


def destroy(handle: Any, name: str) -> None:
    """Drop the object of a handle."""
    held(handle, name)
    del _objects[handle.value]
    handle.value = None
