"""A recorded program in C: its source, values, and the functions that it brings along."""

from __future__ import annotations

import ctypes
import math
import re
import struct
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from ... import raw
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.function import binding
from ...raw.parameter import c_type
from . import recorded
from .recording import RELATIVE, RELATIVE_BFLOAT16


class CValues:
    """Converts recorded values to C source.

    - `variable`: returns a declared variable for a C type, a name and a number of elements (0 for
      no array).
    - `stream`: returns the variable of the stream at an address.
    """

    def __init__(
        self,
        naming: recorded.Naming,
        variable: Callable[[str, str, int], str],
        stream: Callable[[int], str],
    ) -> None:
        self._naming, self._variable, self._stream = naming, variable, stream

    def text(self, value: recorded.Value) -> str:
        """An argument as C source."""
        match value:
            case recorded.Null():
                return "NULL"
            case recorded.Object(name):
                return self._naming.of_object(name)
            case recorded.Told(size, least):
                told = self.text(size)
                return f"({told} > {least} ? {told} : {least})" if least else told
            case recorded.Stream(address):
                return self._stream(address)
            case recorded.Number(base, number):
                return _number(base, number)
            case recorded.Fraction(numerator, denominator):
                return f"{{{numerator}, {denominator}}}"
            case recorded.Memory(allocation) if allocation.host_type:
                return f"&{self._naming.of_memory(allocation)}"
            case recorded.Memory(allocation, offset):
                return place(self._naming.of_memory(allocation), offset)
            case recorded.Scalar():
                return _scalar(value)
            case recorded.Text(text, ""):
                return _literal(text)
            case recorded.Text():
                return "text"  # a variable, read from its file before the call
            case recorded.Array(base, items):
                inside = ", ".join(map(self.text, items)) or "0"
                return f"({type_name(base)}[]){{{inside}}}"
            case recorded.Room(count=0):
                return "NULL"
            case recorded.Room(base, name, count):
                alone = count == 1
                variable = self._variable(type_name(base), name, 0 if alone else count)
                return f"&{variable}" if alone else variable
            case recorded.Variable(created=""):
                return f"&{self._variable(type_name(value.base, value.spelling), value.name, 0)}"
            case recorded.Variable(created=created):
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
    number = recorded.host_number(value, data_type)
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


def _scalar(scalar: recorded.Scalar) -> str:
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


_TEMPLATES = Path(__file__).with_name("templates")


def filled(template: str, /, **facts: str) -> dict[str, str]:
    """The parts of a template, each below a line such as "//// cuda"; the first is called "".

    - `template`: the name of its file without ".in".
    - `facts`: what stands for ``@name@``; beside it, the differences that comparisons allow.
    """
    known = {"relative": RELATIVE, "relative_bfloat16": RELATIVE_BFLOAT16, **facts}
    text = (_TEMPLATES / f"{template}.in").read_text("utf-8")
    text = re.sub(r"@(\w+)@", lambda match: str(known[match[1]]), text)
    first, *others = re.split(r"(?m)^[#/]{4} (\w+)\n", text)
    return {"": first, **dict(zip(others[::2], others[1::2], strict=True))}


_WORDS = """
auto bool break case char complex const continue default do double else enum extern false float for
goto if inline int long register restrict return short signed sizeof static struct switch true
typedef union unsigned void volatile while NULL NAN INFINITY
main check check_cuda expect different read_file upload compare element type data stream text length
BYTES FLOAT16 BFLOAT16 FLOAT32 FLOAT64 CHECK CHECK_CUDA EXPECT DATA
exp log sin cos tan pow sqrt y0 y1 yn j0 j1 jn gamma index time div abs free read write
"""

RESERVED = frozenset(_WORDS.split())
"""Words that no variable may have as its name."""


_COLUMNS = 92
_OTHER_HEADERS = ("cudnn_subquadratic_ops.h", "cudnn_gnn_ops.h")
_STATIC = 4096  # arrays with this many elements are static, not on the stack

_RESERVED = RESERVED | {name for name in dir(raw) if name.startswith("cudnn")}


class CProgram:
    """A recorded program as a C program that stands alone.

    - `calls`: number of calls of cuDNN's functions, without the clean-up.
    """

    def __init__(self, steps: list[recorded.Step]) -> None:
        self.calls: int = 0
        self._steps = steps
        self._lines: list[str] = []
        self._naming = recorded.Naming(steps, _RESERVED)
        self._values = CValues(self._naming, self._variable, self._stream)
        self._variables: dict[tuple[str, str, int], str] = {}
        self._declared: set[str] = set()
        self._streams: dict[int, str] = {}
        self._busy: recorded.Stream | None = None
        self._cleanup: dict[str, str] = {}  # the destroying call by name, run in reverse order
        for step in steps:
            self._write(step)
        self._lines += ["", *(f"{each};" for each in reversed(self._cleanup.values()))]

    def text(self, facts: Mapping[str, str]) -> str:
        """The whole file; `facts` are what its first comment says."""
        kinds = Counter(map(type, self._steps))
        body = "\n".join(f"    {line}".rstrip() for line in self._lines).lstrip("\n")
        fails = "EXPECT(" in body
        compares = kinds[recorded.Compare] > 0
        parts = filled(
            "program.c",
            **facts,
            headers="".join(f"#include <{each}>\n" for each in self._headers()),
            and_compares=" and compares what they write with what was recorded" * compares,
        )
        needed = {
            "": True,
            "cuda": "CHECK_CUDA(" in body or compares,
            "finish": fails or compares,
            "expect": fails,
            "read_file": compares or "upload(" in body or "read_file(" in body,
            "upload": "upload(" in body,
            "compare": compares,
        }
        text = "".join(parts[name] for name, is_needed in needed.items() if is_needed)
        result = "different != 0" if fails or compares else "0"
        return f"{text}\nint main(void)\n{{\n{body}\n    return {result};\n}}\n"

    def _headers(self) -> list[str]:
        """Headers that cudnn.h of some versions does not include."""
        calls = [step for step in self._steps if isinstance(step, recorded.Call)]
        return sorted({call.function.header for call in calls} & set(_OTHER_HEADERS))

    # --- steps -----------------------------------------------------------------------------------

    def _write(self, step: recorded.Step) -> None:
        add, memory = self._lines.append, self._naming.of_memory
        match step:
            case recorded.Place(text):
                self._lines += ["", f"/* {text} */"]
            case recorded.LeftOut(function, reason):
                add(f"/* Left out: {function}: {' '.join(reason.split()).replace('*/', '* /')} */")
            case recorded.Allocate(allocation) if allocation.host_type:
                kind = recorded.c_host_type(allocation.host_type, allocation.nbytes)
                add(f"{kind} {memory(allocation)};")
            case recorded.Assign(allocation, value):
                add(f"{memory(allocation)} = {host_value(value, allocation.host_type)};")
            case recorded.Free(allocation) if allocation.host_type:
                pass
            case recorded.Allocate(allocation):
                self._allocate(allocation)
            case recorded.Free(allocation):
                add(f"{self._cleanup.pop(memory(allocation))};")
            case recorded.Upload(allocation, "", byte):
                name = memory(allocation)
                size = f"{name}Bytes" if allocation.told else allocation.nbytes
                add(f"CHECK_CUDA(cudaMemset({name}, {byte}, {size}));")
            case recorded.Upload(allocation, data):
                add(f'upload({memory(allocation)}, "{data}.bin");')
            case recorded.Compare(allocation, offset, data_type, data, tolerance):
                name, kind = memory(allocation), data_type.upper()
                where = place(name, offset)
                add(f'compare("{name}+{offset}", {where}, {kind}, "{data}.bin", {tolerance});')
            case recorded.Call():
                self._call(step)

    def _allocate(self, allocation: recorded.Allocation) -> None:
        name = self._naming.of_memory(allocation)
        size: int | str = allocation.nbytes
        self._lines.append(f"void *{name};")
        if allocation.told:
            size = f"{name}Bytes"
            self._lines.append(f"size_t {size} = {allocation.nbytes};")
        for each in map(self._values.text, allocation.told):
            self._lines.append(f"if ({each} > {size}) {size} = {each};")
        self._lines.append(f"CHECK_CUDA(cudaMalloc(&{name}, {size}));")
        self._cleanup[name] = f"CHECK_CUDA(cudaFree({name}))"

    def _call(self, call: recorded.Call) -> None:
        function = call.function.__name__
        if call.refused:
            self._lines.append(f"/* Left out: {function}: refused by cudnn_ctypes */")
            return
        self.calls += 1
        if call.stream is not None:
            self._order(call.stream)
        self._declare(call)
        arguments = [self._values.text(value) for value in call.arguments.values()]
        texts = [v for v in call.arguments.values() if isinstance(v, recorded.Text) and v.data]
        before, after = "CHECK(", ");"
        if call.status:
            before = f"EXPECT({call.status}, "
        elif not binding(function).returns_status:
            before, after = "", ";"
        statement = _wrapped(f"{before}{function}", arguments, after)
        self._lines += _with_text(statement, texts[0].data) if texts else statement
        self._note_lifetimes(call)

    def _declare(self, call: recorded.Call) -> None:
        """Declare the variables of the objects that a call creates."""
        for value in call.arguments.values():
            if isinstance(value, recorded.Variable) and value.created:
                name = self._naming.of_object(value.created)
                if name not in self._declared:
                    self._declared.add(name)
                    self._lines.append(f"{type_name(value.base)} {name};")

    def _note_lifetimes(self, call: recorded.Call) -> None:
        """Destroy a created object at the end unless the program does it."""
        if destroyed := recorded.destroyed_by(call):
            self._cleanup.pop(self._naming.of_object(destroyed), None)
        function = call.function.__name__.replace("Create", "Destroy")
        for value in call.arguments.values():
            if not isinstance(value, recorded.Variable) or not issubclass(
                value.base, OpaquePointer
            ):
                continue
            if value.created and not call.status:
                name = self._naming.of_object(value.created)
                self._cleanup[name] = f"CHECK({function}({name}))"

    # --- variables -------------------------------------------------------------------------------

    def _variable(self, kind: str, name: str, count: int) -> str:
        """A variable that calls write, declared before the first of these calls."""
        key = (kind, name, count)
        if key not in self._variables:
            self._variables[key] = self._naming.identifiers.unique(recorded.camel(name))
            array = f"[{count}]" if count else ""
            space = "" if kind.endswith("*") else " "
            static = "static " if count > _STATIC else ""
            self._lines.append(f"{static}{kind}{space}{self._variables[key]}{array};")
        return self._variables[key]

    def _stream(self, address: int) -> str:
        """A stream, created before its first use."""
        if address not in self._streams:
            name = self._streams[address] = self._naming.identifiers.unique(
                f"stream{len(self._streams) + 1}"
            )
            self._lines += [f"cudaStream_t {name};", f"CHECK_CUDA(cudaStreamCreate(&{name}));"]
            self._cleanup[name] = f"CHECK_CUDA(cudaStreamDestroy({name}))"
        return self._streams[address]

    def _order(self, stream: recorded.Stream) -> None:
        """Wait for all work before another stream is used: the program's own waits are unknown."""
        if self._busy is not None and self._busy != stream:
            self._lines.append("CHECK_CUDA(cudaDeviceSynchronize());")
        self._busy = stream


def _with_text(statement: list[str], data: str) -> list[str]:
    """A call with a string that is read from its file."""
    return [
        "{",
        "    size_t length;",
        f'    char *text = read_file("{data}.bin", &length);',
        *(f"    {line}" for line in statement),
        "    free(text);",
        "}",
    ]


def _wrapped(function: str, arguments: list[str], after: str) -> list[str]:
    """A call, broken into lines of limited length."""
    rows = [f"{function}({', '.join(arguments)}){after}"]
    if len(rows[0]) <= _COLUMNS:
        return rows
    rows = [f"{function}("]
    # Long arrays are broken, too; string literals are not.
    pieces = [
        piece for each in arguments for piece in ([each] if '"' in each else each.split(", "))
    ]
    for number, piece in enumerate(pieces):
        end = ", " if number < len(pieces) - 1 else f"){after}"
        if len(rows[-1]) + len(piece) + len(end.rstrip()) > _COLUMNS:
            rows.append("    ")
        rows[-1] += piece + end
    return [row.rstrip() for row in rows]
