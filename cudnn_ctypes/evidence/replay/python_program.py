"""A recorded program as a Python program: raw calls one by one, with the data beside it."""

from __future__ import annotations

import builtins
import keyword
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ...raw.ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer
from .recording import RELATIVE, RELATIVE_BFLOAT16, TOLERANCE
from .steps import (
    Allocate,
    Array,
    Assign,
    Bytes,
    Call,
    Compare,
    Fraction,
    Free,
    LeftOut,
    Memory,
    Naming,
    Null,
    Number,
    Object,
    Place,
    Room,
    Scalar,
    Step,
    Stream,
    Text,
    Upload,
    Value,
    Variable,
    host_number,
)

__all__ = ["write_python"]

_COLUMNS = 92

_HEAD = '''\
"""The cuDNN calls of {program}, recorded by cudnn_ctypes.

Run it: it makes the same calls, with the data in {data}, and compares
what they write with what was recorded.
"""

import ctypes
import sys
from pathlib import Path

import numpy as np

from cudnn_ctypes import DeviceBuffer, raw

data = np.load(Path(__file__).with_name("{data}"))
'''

_CHECK = f'''\
different = 0


def check(name, memory, data_type, key):
    """Compare the elements of an output with the recorded ones."""
    global different
    expected = data[key]
    found = memory.copy_to_host()[: expected.nbytes]
    if np.array_equal(found, expected):
        print(f"{{name}}: equal")
        return
    if data_type != "bytes":
        found, expected = numbers(found, data_type), numbers(expected, data_type)
        relative = {RELATIVE_BFLOAT16} if data_type == "bfloat16" else {RELATIVE}
        scale = float(np.abs(expected[np.isfinite(expected)]).max(initial=1))
        if np.allclose(found, expected, relative, {TOLERANCE} * scale, equal_nan=True):
            print(f"{{name}}: largest difference {{np.nanmax(np.abs(found - expected)):.2g}}")
            return
    different += 1
    print(f"{{name}}: DIFFERENT")


def numbers(values, data_type):
    """Bytes as the numbers that they are."""
    if data_type == "bfloat16":  # the upper halves of float32
        return (values.view("uint16").astype("uint32") << 16).view("float32")
    return values.view(data_type)


'''

_OWN_WORDS = {"ctypes", "sys", "Path", "np", "DeviceBuffer", "raw", "data", "check", "different"}
_RESERVED = {*_OWN_WORDS, "numbers", *keyword.kwlist, *dir(builtins)}


def write_python(
    steps: list[Step], data: Mapping[str, Bytes], path: str | os.PathLike[str], program: str
) -> None:
    """Write a program, and its data beside it.

    Parameters
    ----------
    steps, data
        The steps and data of a `Recording`.
    path
        The program's file; the data's file has the same name with ".npz".
    program : str
        The name of the recorded program.

    Raises
    ------
    OSError
        If the files cannot be written.
    """
    path = Path(path)
    file = path.with_suffix(".npz")
    compares = any(isinstance(step, Compare) for step in steps)
    text = _HEAD.format(program=program, data=file.name) + (_CHECK if compares else "\n")
    text += "\n".join(_Writer(steps).lines) + "\n"
    if compares:
        text += "\nsys.exit(1 if different else 0)\n"
    path.write_text(text)
    arrays: dict[str, Any] = dict(data)
    np.savez_compressed(file, **arrays)


class _Writer:
    """The lines of a program."""

    def __init__(self, steps: list[Step]) -> None:
        self._naming = Naming(steps, _RESERVED)
        self.lines: list[str] = []
        for step in steps:
            self._write(step)

    def _write(self, step: Step) -> None:
        add, memory = self.lines.append, self._naming.of_memory
        match step:
            case Place(text):
                self.lines += ["", f"# {text}"]
            case LeftOut(function, reason):
                add(f"# left out: {function}: {' '.join(reason.split())}")
            case Allocate(allocation) if allocation.host_type:
                add(f"{memory(allocation)} = ctypes.create_string_buffer(16)")
            case Assign(allocation, value):
                add(f"{memory(allocation)}[: {len(value)}] = {value!r}  # {_shown(step)}")
            case Free(allocation) if allocation.host_type:
                pass
            case Allocate(allocation):
                add(f"{memory(allocation)} = DeviceBuffer({allocation.nbytes})")
            case Free(allocation):
                add(f"{memory(allocation)}.close()")
            case Upload(allocation, "", byte):
                add(f"{memory(allocation)}.fill({byte})")
            case Upload(allocation, data):
                add(f'{memory(allocation)}.copy_from_host(data["{data}"])')
            case Compare(allocation, offset, data_type, data):
                name, place = memory(allocation), self._place(allocation, offset)
                add(f'check("{name}+{offset}", {place}, "{data_type}", "{data}")')
            case Call():
                self._call(step)

    def _call(self, call: Call) -> None:
        for value in call.arguments.values():
            if isinstance(value, Variable) and value.created:
                name = self._naming.of_object(value.created)
                self.lines.append(f"{name} = raw.{value.base.__name__}()")
        function = call.function.__name__
        if call.status:
            self.lines.append(f"# {call.status.removeprefix('CUDNN_STATUS_')}")
            function += ".unchecked"
        self.lines.append(_wrapped(function, [self._value(v) for v in call.arguments.values()]))

    def _place(self, allocation: Any, offset: int) -> str:
        return self._naming.of_memory(allocation) + (f" + {offset}" if offset else "")

    def _value(self, value: Value) -> str:
        match value:
            case Null() | Stream():  # all work is on the default stream
                return "None"
            case Object(name):
                return self._naming.of_object(name)
            case Number(base, number):
                return _number(base, number)
            case Variable(base, created=""):
                return f"{_type(base)}()"
            case Variable(created=created):
                return self._naming.of_object(created)
            case Room(base, count=count, is_attribute=is_attribute):
                return f"({_type(base, is_attribute)} * {count})()"
            case Memory(allocation, offset):
                return self._place(allocation, offset)
            case Scalar(number):
                return _real(number)
            case Text(text, ""):
                return repr(text)
            case Text(data=data):
                return f'data["{data}"].tobytes()'
            case Array(base, items, is_attribute=False):
                return f"[{', '.join(map(self._value, items))}]"
            case Array(base, items):
                inside = ", ".join(map(self._element, items))
                return f"({_type(base, True)} * {len(items)})({inside})"
        raise TypeError(value)

    def _element(self, value: Value) -> str:
        """One element of an attribute, as Python source."""
        match value:
            case Memory(allocation) if allocation.host_type:
                return f"ctypes.addressof({self._value(value)})"
            case Memory():
                return f"({self._value(value)}).ptr"
            case Object():
                return f"{self._value(value)}.value"
            case Fraction(numerator, denominator):
                return f"raw.cudnnFraction_t({numerator}, {denominator})"
        return self._value(value)


def _shown(step: Assign) -> str:
    """A host number as text, for a comment."""
    number = host_number(step.value, step.allocation.host_type)
    return step.allocation.host_type if number is None else _real(number)


def _type(base: Any, in_attribute: bool = False) -> str:
    if in_attribute and issubclass(base, (CudnnEnum, OpaquePointer)):
        return "ctypes.c_int" if issubclass(base, CudnnEnum) else "ctypes.c_void_p"
    if issubclass(base, (CudnnEnum, CudnnStructure, OpaquePointer)):
        return f"raw.{base.__name__}"
    return f"ctypes.{_NAMES.get(base.__name__, base.__name__)}"


_NAMES = {"c_ulong": "c_size_t", "c_long": "c_int64"}


def _number(base: Any, value: Any) -> str:
    if issubclass(base, CudnnEnum):
        return f"raw.{value.name}" if value.known else str(int(value))
    return _real(value)


def _real(value: Any) -> str:
    if isinstance(value, float) and value - value != 0:
        return f'float("{value}")'
    return repr(value)


def _wrapped(function: str, arguments: list[str]) -> str:
    """A call, broken into lines of limited length."""
    whole = f"raw.{function}({', '.join(arguments)})"
    if len(whole) <= _COLUMNS:
        return whole
    rows = [""]
    for argument in arguments:
        if rows[-1] and len(rows[-1]) + len(argument) > _COLUMNS:
            rows.append("")
        rows[-1] += f"{argument}, "
    rows[-1] = rows[-1].removesuffix(", ")
    return "\n    ".join([f"raw.{function}(", *(row.rstrip() for row in rows)]) + "\n)"
