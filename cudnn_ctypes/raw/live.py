"""What lives: the C objects that were created through ``raw``, by their addresses.

Every variable that holds the address of one is known here, so destroying it through one makes all
of them NULL: a use or a second destroy through another is then refused, as if it had been the same
variable. Nothing is known of objects that other libraries created; they pass.
"""

from __future__ import annotations

import ctypes
import sys
import weakref
from typing import Any

__all__ = [
    "address",
    "created",
    "destroyed",
    "is_destroyed",
    "is_gone",
    "kind",
    "named",
    "never_again",
    "out_variable",
    "unusable",
]

_variables: dict[int, list[weakref.ref[Any]]] = {}  # of what lives
_gone: dict[int, None] = {}  # addresses where nothing lives any more, the oldest first
_REMEMBERED = 4096

unusable: dict[str, dict[int, str]] = {}
"""By C type and address: why a descriptor is not to be used yet."""


never_again: set[int] = set()
"""Addresses of destroyed objects that nothing else will ever have: of made-up handles."""


def address(handle: Any) -> int | None:
    """The address in a handle, a descriptor or their owner; None if there is none."""
    if not isinstance(handle, _POINTER):
        handle = getattr(handle, "_as_parameter_", None)
        if not isinstance(handle, _POINTER):
            return None
    return int.from_bytes(bytes(handle), sys.byteorder) or None  # ctypes' fastest way


_POINTER: Any = ctypes._Pointer


def out_variable(argument: Any) -> Any:
    """The variable that an out parameter fills: given itself, by reference, or in an array."""
    target = getattr(argument, "_obj", argument)  # byref(...)
    if isinstance(target, ctypes.Array):
        return target[0]
    points_to_variable = isinstance(target, _POINTER) and issubclass(target._type_, _POINTER)
    return target.contents if points_to_variable else target


def created(argument: Any) -> int | None:
    """Note what a C function created, by its out parameter; returns the address."""
    variable = out_variable(argument)
    value = address(variable)
    if value is not None:
        vars(variable).pop("_destroyed", None)
        _variables[value] = [weakref.ref(variable)]
        _gone.pop(value, None)
    return value


def named(variable: Any, value: int | None) -> None:
    """Note that `variable` holds the address `value`, too."""
    vars(variable).clear()  # what was known of it
    if value in never_again:
        ctypes.c_void_p.from_buffer(variable).value = None
        vars(variable)["_destroyed"] = True
    elif value is not None:
        _gone.pop(value, None)  # who writes it there says that something lives there again
        known = _variables.get(value)
        if known is not None:
            known.append(weakref.ref(variable))


def kind(value: int | None) -> type | None:
    """The type of the variable that was filled when what lives at `value` was created.

    None if nothing is known to live there, or the variable is gone.
    """
    known = _variables.get(value) if value is not None else None
    variable = known[0]() if known else None
    return None if variable is None else type(variable)


def is_destroyed(handle: Any) -> bool:
    """Whether what `handle` held was destroyed, through it or another variable."""
    pointer = getattr(handle, "_as_parameter_", handle)
    if not isinstance(pointer, _POINTER):
        return False
    return "_destroyed" in vars(pointer) or address(pointer) in _gone


def is_gone(value: int) -> bool:
    """Whether what lived at an address was destroyed, and nothing is known to live there since."""
    return value in _gone


def destroyed(handle: Any, value: int | None) -> None:
    """Note that what lived at `value`, which `handle` held, was destroyed."""
    pointer = getattr(handle, "_as_parameter_", handle)
    variables = [] if value is None else [each() for each in _variables.pop(value, ())]
    for variable in [*variables, pointer]:
        # A variable may have been filled anew since, by C for instance.
        if isinstance(variable, _POINTER) and address(variable) in (value, None):
            ctypes.c_void_p.from_buffer(variable).value = None
            vars(variable).clear()  # what was known of it
            vars(variable)["_destroyed"] = True
    if value is not None:
        for reasons in unusable.values():
            reasons.pop(value, None)
        _gone[value] = None
        while len(_gone) > _REMEMBERED:
            _gone.pop(next(iter(_gone)), None)
