"""The addresses of memory that was found to fit before, by one function for each class.

A launch has a few microseconds; what it asks of a tensor is asked here, as fast as Python can. What
these functions do not know they leave to the guards and converters, and give None.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ..errors import ClosedError
from . import mode
from .memory import memory_pointer
from .records import Fitting
from .torch_forms import alike
from .typed_memory import by_class, is_own, is_torch

__all__ = ["fitting_pointer", "pointer_with_room"]

_pointer = ctypes.c_void_p.from_param


def _torch_fitting(tensor: Any, fitting: Fitting) -> Any:
    key = tensor.dtype, tensor.shape, tensor.stride()
    if key not in fitting or not _is_reachable(tensor):
        return None
    if fitting.last_key != key:  # else a flag that does not matter differs
        fitting.kind = None  # for other threads
        fitting.alike, fitting.on_host = alike([tensor]), mode.reference_device_active
        fitting.last_key, fitting.kind = key, tensor.__class__
    return _pointer(tensor.data_ptr())


def _is_reachable(tensor: Any) -> bool:
    return bool(tensor.is_cpu if mode.reference_device_active else tensor.is_cuda)


def _own_fitting(memory: Any, fitting: Fitting) -> Any:
    keyed = memory._keyed or _keyed(memory)
    if keyed[0] in fitting and memory._on_host is mode.reference_device_active:
        return keyed[1]
    return None


def _keyed(memory: Any) -> Any:
    """What memory of this package says of itself; nothing that fits if it cannot be reached."""
    try:
        return memory.keyed()
    except (ClosedError, ValueError):  # the converter says so
        return _UNREACHABLE


_UNREACHABLE = (0, None)


def _any_fitting(memory: Any, fitting: Fitting) -> Any:
    try:
        if by_class.of(memory).identity(memory) in fitting:
            return _pointer(memory_pointer(memory) or 0)
    except (TypeError, ValueError):  # the converter says so
        pass
    return None


def _torch_with_room(tensor: Any, size: Any) -> Any:
    if size.__class__ is int and tensor.nbytes >= size and _is_reachable(tensor):
        return _pointer(tensor.data_ptr())
    return None


def _own_with_room(memory: Any, size: Any) -> Any:
    if (
        size.__class__ is int
        and memory._nbytes >= size
        and memory._on_host is mode.reference_device_active
    ):
        return (memory._keyed or _keyed(memory))[1]
    return None


def _nothing(memory: Any, size: Any) -> None:
    return None


_Function = Callable[[Any, Any], Any]
_MOST_CLASSES = 256


class _ByClass(dict[type, _Function]):
    """Functions by class, chosen when the first object of a class comes."""

    def __init__(self, torch: _Function, own: _Function, other: _Function) -> None:
        self.torch: _Function = torch
        self.own: _Function = own
        self.other: _Function = other

    def __missing__(self, cls: type) -> _Function:
        if len(self) >= _MOST_CLASSES:
            self.clear()
        own = is_own(cls) and hasattr(cls, "keyed")
        found = self.torch if is_torch(cls) else self.own if own else self.other
        self[cls] = found
        return found


fitting_pointer: _ByClass = _ByClass(_torch_fitting, _own_fitting, _any_fitting)
"""By class: from memory and the keys of what fits a descriptor to the address, or None."""

pointer_with_room: _ByClass = _ByClass(_torch_with_room, _own_with_room, _nothing)
"""By class: from memory and a size in bytes to the address, or None."""
