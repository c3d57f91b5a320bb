"""Calls of C functions with plain numbers, for old wrappers without types of handles.

Handles, descriptors and memory are addresses (ints or ``c_void_p``), enumerators are ints, and
values that C writes through pointers are returned.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import Any

from ...raw import live
from ...raw.call_source import is_handle
from ...raw.ctypes_support import CudnnEnum, OpaquePointer, storage_type
from ...raw.parameter import Parameter

__all__ = ["DestroyedError", "call", "handle_of", "is_result", "number", "plain"]


class DestroyedError(ValueError):
    """An argument is the address of a destroyed object."""


def is_result(parameter: Parameter) -> bool:
    """Whether the parameter is one value that C writes, which a wrapper returns."""
    return parameter.type.kind == "pointer" and parameter.direction == "out"


def call(function: Any, given: Sequence[Any], *, scalars_are_addresses: bool = False) -> list[Any]:
    """Call `function` with plain numbers; return the variables that it filled.

    Parameters
    ----------
    function
        A function of layer 1, or an old function.
    given : sequence
        Values of all parameters but the results, in C's order.
    scalars_are_addresses : bool
        Whether an int for alpha or beta is the address of the number.

    Raises
    ------
    DestroyedError
        If a handle is the address of a destroyed object.
    """
    values, results, arguments = iter(given), [], []
    count = 0
    for parameter in function.parameters:
        if is_result(parameter):
            results.append(storage_type(parameter.type.base)())
            arguments.append(results[-1])
            continue
        value = next(values)
        if parameter.type.kind in ("value", "device"):  # objects of host memory are passed on
            value = number(value)
        if parameter.name == "seqLength":
            count = value
        arguments.append(_argument(parameter, value, scalars_are_addresses, count))
    function(*arguments)
    return results


def plain(variable: Any) -> Any:
    """The variable's value as int or float; a handle's address; 0 for NULL."""
    value = variable.value
    if isinstance(variable, (OpaquePointer, ctypes.c_void_p)):
        return value or 0
    return int(value) if isinstance(value, CudnnEnum) else value


def handle_of(kind: Any, address: Any) -> Any:
    """The handle with an address; None for NULL.

    Raises
    ------
    DestroyedError
        If the object at the address was destroyed.
    """
    if not address:
        return None
    if live.is_gone(address):
        raise DestroyedError(f"{address:#x} was a {kind.__name__}, which is destroyed")
    handle = kind()
    handle.value = address
    return handle


def number(value: Any) -> Any:
    """The number in a ctypes variable; other values unchanged."""
    return value.value if isinstance(value, ctypes._SimpleCData) else value


def _argument(parameter: Parameter, value: Any, scalars_are_addresses: bool, count: int) -> Any:
    """A plain number converted for the C function's parameter."""
    kind, base = parameter.type.kind, parameter.type.base
    if is_handle(parameter) and base.__name__.startswith("cudnn"):
        return handle_of(base, value) if value is None or isinstance(value, int) else value
    is_number = isinstance(value, int)
    match kind:
        case "value" if is_number and issubclass(base, CudnnEnum):
            return base(int(value))
        case "array" if is_number and issubclass(base, OpaquePointer):
            addresses = (ctypes.c_void_p * count).from_address(value)
            return [handle_of(base, address) for address in addresses]
        case "array" if is_number:
            return ctypes.cast(value, ctypes.POINTER(storage_type(base))) if value else None
        case "scalar" if is_number:
            return ctypes.c_void_p(value) if scalars_are_addresses else float(value)
        case "host" | "labelled" if is_number:
            return ctypes.c_void_p(value)
        case "device" if is_number:
            return value or None
        case _:
            return value
