"""Converters of enums and numbers, and the text that describes a refused argument."""

from __future__ import annotations

import ctypes
import numbers
import operator
from collections.abc import Callable
from typing import Any

from .ctypes_support import CudnnEnum, storage_type
from .torch_forms import is_tensor

_LONGEST = 200  # characters of a value in a message


class Converter:
    """An entry of ``argtypes``: an object with ``from_param``."""

    __slots__ = ("from_param",)

    def __init__(self, from_param: Callable[[Any], Any]) -> None:
        self.from_param: Callable[[Any], Any] = from_param


INTEGER_RANGES = {
    ctype: (
        (-(1 << (8 * ctypes.sizeof(ctype) - 1)), (1 << (8 * ctypes.sizeof(ctype) - 1)) - 1)
        if ctype(-1).value == -1
        else (0, (1 << (8 * ctypes.sizeof(ctype))) - 1)
    )
    for ctype in (
        ctypes.c_int8,
        ctypes.c_uint8,
        ctypes.c_int32,
        ctypes.c_uint32,
        ctypes.c_int64,
        ctypes.c_uint64,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_long,
        ctypes.c_ulong,
        ctypes.c_longlong,
        ctypes.c_ulonglong,
        ctypes.c_size_t,
    )
}


def enum_converter(cls: type[CudnnEnum]) -> Converter:
    def from_param(value: Any) -> Any:
        if type(value) is cls:
            return value
        if type(value) is int:
            return cls(value)
        if isinstance(value, storage_type(cls)):
            return value.value
        raise TypeError(f"expected a {cls.__name__}, got {described(value)}")

    return Converter(from_param)


def as_int(value: Any, ctype: Any) -> int:
    low, high = INTEGER_RANGES[ctype]
    if isinstance(value, (ctype, *INTEGER_RANGES)):
        value = value.value  # type: ignore[attr-defined]
    is_member = isinstance(value, CudnnEnum) and not value.is_count
    if is_member or not hasattr(value, "__index__"):
        raise TypeError(f"expected an int, got {described(value)}")
    value = operator.index(value)
    if not low <= value <= high:
        raise ValueError(f"{value} does not fit in C's {c_name(ctype)} ({low} to {high})")
    return int(value)


def integer_converter(ctype: Any) -> Converter:
    low, high = INTEGER_RANGES[ctype]
    if ctype is ctypes.c_int:
        # ctypes itself takes a Python int as a C int.
        def from_param(value: Any) -> Any:
            if type(value) is int and low <= value <= high:
                return value
            return as_int(value, ctype)
    else:

        def from_param(value: Any) -> Any:
            if type(value) is int and low <= value <= high:
                return ctype(value)
            return ctype(as_int(value, ctype))

    return Converter(from_param)


def real_converter(ctype: Any) -> Converter:
    def from_param(value: Any) -> Any:
        if isinstance(value, (ctypes.c_float, ctypes.c_double)):
            value = value.value
        if isinstance(value, numbers.Real) or hasattr(value, "__float__"):
            return ctype(float(value))
        raise TypeError(f"expected a number, got {described(value)}")

    return Converter(from_param)


def c_name(base: Any) -> str:
    return str(getattr(base, "__name__", base))


_MOST_PARAMETERS = 4  # one owns another one, at most


def parameter_of(value: Any) -> Any:
    """The argument that C receives for an object: its ``_as_parameter_``, or the object itself.

    Raises TypeError if that has one, and so on, as a mock's has. ctypes would follow them until the
    stack ends.
    """
    parameter = value
    for _ in range(_MOST_PARAMETERS):
        found = getattr(parameter, "_as_parameter_", None)
        if found is None:
            return parameter
        parameter = found
    raise TypeError(f"got {described(value)}, whose _as_parameter_ has one, and so on")


def described(value: Any) -> str:
    """The value in one line of bounded length, and its type; no elements of PyTorch's tensors."""
    if is_tensor(value):  # PyTorch would copy them, and read where no memory is
        return f"a tensor of {value.dtype} on {value.device} ({type(value).__name__})"
    text = " ".join(repr(value).split())
    if len(text) > _LONGEST:
        text = f"{text[:_LONGEST]}…"
    return f"{text} ({type(value).__name__})"
