"""What lives behind handles that cuDNN 9 does not know: Python objects by made-up addresses."""

from __future__ import annotations

import ctypes
from typing import Any

from ... import raw
from .old_function import Refused

__all__ = ["create", "destroy", "held"]

_objects: dict[int, tuple[Any, Any]] = {}  # by address: the block that has it, the object


def create(variable: Any, held: Any) -> None:
    """Make `variable`, a handle, refer to an object."""
    block = (ctypes.c_char * 16)()
    address = ctypes.addressof(block)
    _objects[address] = block, held
    variable.value = address


def held(handle: Any, name: str) -> Any:
    """What a handle refers to; refused if it was destroyed or never created."""
    address = None if handle is None else handle.value
    if address not in _objects:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"{name} is NULL, destroyed or never created")
    return _objects[address][1]


def destroy(handle: Any, name: str) -> None:
    """Forget what a handle refers to."""
    held(handle, name)
    del _objects[handle.value]
    handle.value = None
