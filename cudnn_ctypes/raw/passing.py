"""Fast lookup of addresses of memory that fitted its descriptor before, one function per class.

A launch has a few microseconds, so these functions do the least work that Python allows. For other
memory they return None and leave the work to the guards and converters.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ..errors import ClosedError
from . import mode
from .memory import memory_pointer
from .records import Fitting
from .torch_forms import alike, unreadable
from .typed_memory import by_class, is_own, is_torch

_pointer = ctypes.c_void_p.from_param


def _torch_fitting(tensor: Any, fitting: Fitting) -> Any:
    if not mode.runtime.has(tensor) or unreadable(tensor):
        return None
    key = tensor.dtype, tensor.shape, tensor.stride()
    if key not in fitting:
        return None
    if fitting.last_key != key:  # else a flag that does not matter differs
        fitting.kind = None  # for other threads
        fitting.alike, fitting.runtime = alike([tensor]), mode.runtime
        fitting.last_key, fitting.kind = key, tensor.__class__
    return _pointer(tensor.data_ptr())


def _own_fitting(memory: Any, fitting: Fitting) -> Any:
    keyed = memory._keyed or _keyed(memory)
    if keyed[0] in fitting and memory._runtime is mode.runtime:
        return keyed[1]
    return None


def _keyed(memory: Any) -> Any:
    """The key and address of this package's memory; a key that never fits if it is closed."""
    try:
        return memory.keyed()
    except (ClosedError, ValueError):  # the converter raises a clear error
        return _UNREACHABLE


_UNREACHABLE = (0, None)


def _any_fitting(memory: Any, fitting: Fitting) -> Any:
    try:
        if by_class.of(memory).identity(memory) in fitting:
            return _pointer(memory_pointer(memory) or 0)
    except (TypeError, ValueError):  # the converter raises a clear error
        pass
    return None


def _torch_with_room(tensor: Any, size: Any) -> Any:
    # How the elements are to be read does not matter here.
    try:
        if size.__class__ is int and mode.runtime.has(tensor) and tensor.nbytes >= size:
            address = tensor.data_ptr()
            return _pointer(address) if address else None
    except RuntimeError:  # sparse, say: the converter raises a clear error
        pass
    return None


def _own_with_room(memory: Any, size: Any) -> Any:
    if size.__class__ is int and memory._nbytes >= size and memory._runtime is mode.runtime:
        return (memory._keyed or _keyed(memory))[1]
    return None


def _nothing(memory: Any, size: Any) -> None:
    return None


_Function = Callable[[Any, Any], Any]
_MOST_CLASSES = 256


class _ByClass(dict[type, _Function]):
    """Functions by class, chosen for the first object of each class."""

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
"""By class: a function of memory and the keys fitting a descriptor; its result: address or None."""

pointer_with_room: _ByClass = _ByClass(_torch_with_room, _own_with_room, _nothing)
"""By class: a function of memory and a size in bytes; its result: address or None."""
