"""The living C objects that were created through ``raw``, by address.

Every variable that holds the address of an object is known here. Destroying the object through one
variable sets all of them to NULL, so a use or a second destroy through another variable is refused.
Objects that other libraries created are unknown here and pass unchecked.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from typing import Any

_variables: dict[int, list[weakref.ref[Any]]] = {}  # variables of living objects, by address
_gone: dict[int, None] = {}  # addresses of destroyed objects, the oldest first
_REMEMBERED = 4096

unusable: dict[str, dict[int, str]] = {}
"""The reason why a descriptor cannot be used yet, by C type and address."""


never_again: set[int] = set()
"""Addresses of destroyed made-up handles, which no later object can have."""


def address(handle: Any) -> int | None:
    """The address in a handle, a descriptor or their owner; None if there is none."""
    if not isinstance(handle, _POINTER):
        handle = getattr(handle, "_as_parameter_", None)
        if not isinstance(handle, _POINTER):
            return None
    return int.from_bytes(bytes(handle), sys.byteorder) or None  # ctypes' fastest way


_POINTER: Any = ctypes._Pointer


def out_variable(argument: Any) -> Any:
    """The variable that an out parameter fills; callers pass it, a reference or an array of it."""
    target = getattr(argument, "_obj", argument)  # byref(...)
    if isinstance(target, ctypes.Array):
        return target[0]
    points_to_variable = isinstance(target, _POINTER) and issubclass(target._type_, _POINTER)
    return target.contents if points_to_variable else target


def created(argument: Any) -> int | None:
    """Note the object that a C function created in its out parameter; return its address."""
    variable = out_variable(argument)
    value = address(variable)
    if value is not None:
        vars(variable).pop("_destroyed", None)
        _variables[value] = [weakref.ref(variable)]
        _gone.pop(value, None)
    return value


def named(variable: Any, value: int | None) -> None:
    """Note that `variable` holds the address `value`, too."""
    vars(variable).clear()  # notes about the variable's former object
    if value in never_again:
        ctypes.c_void_p.from_buffer(variable).value = None
        vars(variable)["_destroyed"] = True
    elif value is not None:
        _gone.pop(value, None)  # a C function returned the address, so an object lives there again
        known = _variables.get(value)
        if known is not None:
            known.append(weakref.ref(variable))


def kind(value: int | None) -> type | None:
    """The type of the variable that received the living object at `value` when it was created.

    None if no object is known to live there, or the variable no longer exists.
    """
    known = _variables.get(value) if value is not None else None
    variable = known[0]() if known else None
    return None if variable is None else type(variable)


def is_destroyed(handle: Any) -> bool:
    """Whether the object of `handle` was destroyed, through this variable or another."""
    pointer = getattr(handle, "_as_parameter_", handle)
    if not isinstance(pointer, _POINTER):
        return False
    return "_destroyed" in vars(pointer) or address(pointer) in _gone


def is_gone(value: int) -> bool:
    """Whether an object at an address was destroyed and no later object is known there."""
    return value in _gone


def destroyed(handle: Any, value: int | None) -> None:
    """Note that the object at `value`, which `handle` held, was destroyed."""
    pointer = getattr(handle, "_as_parameter_", handle)
    variables = [] if value is None else [each() for each in _variables.pop(value, ())]
    for variable in [*variables, pointer]:
        # The variable may have received another object since, from C for instance.
        if isinstance(variable, _POINTER) and address(variable) in (value, None):
            ctypes.c_void_p.from_buffer(variable).value = None
            vars(variable).clear()  # notes about the destroyed object
            vars(variable)["_destroyed"] = True
    if value is not None:
        for reasons in unusable.values():
            reasons.pop(value, None)
        _gone[value] = None
        while len(_gone) > _REMEMBERED:
            _gone.pop(next(iter(_gone)), None)
