"""The arguments of a recorded call as C source."""

from __future__ import annotations

import ctypes
import math
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ...raw.ctypes_support import CudnnEnum
from ...raw.parameter import c_type
from .host_numbers import host_number
from .naming import Naming
from .steps import (
    Array,
    Fraction,
    Memory,
    Null,
    Number,
    Object,
    Room,
    Scalar,
    Stream,
    Text,
    Value,
    Variable,
)

__all__ = ["CValues", "host_value", "place", "type_name"]


class CValues:
    """Converts recorded values to C source.

    Parameters
    ----------
    naming : Naming
    variable : callable
        Returns a declared variable for a C type, a name and a number of elements (0 for no array).
    stream : callable
        Returns the variable of the stream at an address.
    """

    def __init__(
        self,
        naming: Naming,
        variable: Callable[[str, str, int], str],
        stream: Callable[[int], str],
    ) -> None:
        self._naming, self._variable, self._stream = naming, variable, stream

    def text(self, value: Value) -> str:
        """An argument as C source."""
        match value:
            case Null():
                return "NULL"
            case Object(name):
                return self._naming.of_object(name)
            case Stream(address):
                return self._stream(address)
            case Number(base, number):
                return _number(base, number)
            case Fraction(numerator, denominator):
                return f"{{{numerator}, {denominator}}}"
            case Memory(allocation) if allocation.host_type:
                return f"&{self._naming.of_memory(allocation)}"
            case Memory(allocation, offset):
                return place(self._naming.of_memory(allocation), offset)
            case Scalar():
                return _scalar(value)
            case Text(text, ""):
                return _literal(text)
            case Text():
                return "text"  # a variable, read from its file before the call
            case Array(base, items):
                inside = ", ".join(map(self.text, items)) or "0"
                return f"({type_name(base)}[]){{{inside}}}"
            case Room(count=0):
                return "NULL"
            case Room(base, name, count):
                alone = count == 1
                variable = self._variable(type_name(base), name, 0 if alone else count)
                return f"&{variable}" if alone else variable
            case Variable(created=""):
                return f"&{self._variable(type_name(value.base, value.spelling), value.name, 0)}"
            case Variable(created=created):
                return f"&{self._naming.of_object(created)}"
        raise TypeError(value)


def place(name: str, offset: int) -> str:
    """The expression of an address in a buffer."""
    return f"(char *){name} + {offset}" if offset else name


def type_name(base: Any, spelling: str | None = None) -> str:
    """The C name of a type."""
    return spelling or ("bool" if base is ctypes.c_bool else c_type(base))


def host_value(value: bytes, data_type: str) -> str:
    """The initial value of a variable of type `c_host_type` with the bytes `value`."""
    number = host_number(value, data_type)
    if isinstance(number, float) and data_type in ("float32", "float64"):
        return _double(number) if data_type == "float64" else _single(number)
    if isinstance(number, int):
        return ("true" if number else "false") if data_type == "bool" else _whole(number)
    bits = f"0x{int.from_bytes(value, 'little'):0{2 * len(value)}x}"
    return bits if number is None else f"{bits} /* {number:g} */"


def _number(base: Any, value: Any) -> str:
    if issubclass(base, CudnnEnum):
        return str(value.name) if value.known else f"({base.__name__}){int(value)}"
    if base is ctypes.c_bool:
        return "true" if value else "false"
    if base is ctypes.c_float:
        return _single(float(value))
    if base is ctypes.c_double:
        return _double(float(value))
    return _whole(int(value))


def _whole(value: int) -> str:
    if value == -(1 << 63):
        return "INT64_MIN"
    if value >= 1 << 63:
        return f"{value}ULL"
    return f"{value}LL" if not -(1 << 31) < value < 1 << 31 else str(value)


def _special(value: float) -> str:
    if math.isnan(value):
        return "NAN"
    return "" if math.isfinite(value) else "INFINITY" if value > 0 else "-INFINITY"


def _double(value: float) -> str:
    return _special(value) or repr(value)


def _single(value: float) -> str:
    """The shortest literal of a float."""
    if not math.isfinite(value):
        return _special(value)
    text = str(np.float32(value))
    return f"{text if '.' in text or 'e' in text else f'{text}.0'}f"


def _scalar(scalar: Scalar) -> str:
    """The expression of a number's address."""
    if scalar.data_type == "float64":
        return f"&(double){{{_double(scalar.value)}}}"
    if scalar.data_type == "float32":
        return f"&(float){{{_single(scalar.value)}}}"
    if scalar.data_type == "float16":
        packed = struct.pack("<e", scalar.value)
    else:  # bfloat16: the upper half of a float
        packed = struct.pack("<f", scalar.value)[2:]
    return f"&(uint16_t){{{host_value(packed, scalar.data_type)}}}"


def _literal(text: bytes) -> str:
    """A string literal; other characters than plain ASCII as octal escapes of three digits."""
    plain = {ord('"'): '\\"', ord("\\"): "\\\\", ord("\n"): "\\n", ord("?"): "\\?"}
    escaped = [
        plain.get(each) or (chr(each) if 32 <= each < 127 else f"\\{each:03o}") for each in text
    ]
    return '"' + "".join(escaped) + '"'
