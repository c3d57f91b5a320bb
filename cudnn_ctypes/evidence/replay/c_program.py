"""A recorded program as the text of a C program."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from ... import raw
from ...raw.function import binding
from . import c_support as support
from .allocations import Allocation
from .c_values import CValues, host_value, place, type_name
from .host_numbers import c_host_type
from .naming import Naming, camel, destroyed_by
from .steps import (
    Allocate,
    Assign,
    Call,
    Compare,
    Free,
    LeftOut,
    Place,
    Step,
    Stream,
    Text,
    Upload,
    Variable,
)

__all__ = ["CProgram"]

_COLUMNS = 92
_OTHER_HEADERS = ("cudnn_subquadratic_ops.h", "cudnn_gnn_ops.h")
_STATIC = 4096  # arrays with this many elements are static, not on the stack

_RESERVED = support.RESERVED | {name for name in dir(raw) if name.startswith("cudnn")}


class CProgram:
    """A recorded program as a C program that stands alone.

    Parameters
    ----------
    steps : list of Step

    Attributes
    ----------
    calls : int
        Number of calls of cuDNN's functions, without the clean-up.
    """

    def __init__(self, steps: list[Step]) -> None:
        self.calls: int = 0
        self._steps = steps
        self._lines: list[str] = []
        self._naming = Naming(steps, _RESERVED)
        self._values = CValues(self._naming, self._variable, self._stream)
        self._variables: dict[tuple[str, str, int], str] = {}
        self._declared: set[str] = set()
        self._streams: dict[int, str] = {}
        self._busy: Stream | None = None
        self._cleanup: dict[str, str] = {}  # the destroying call by name, run in reverse order
        for step in steps:
            self._write(step)
        self._lines += ["", *(f"{each};" for each in reversed(self._cleanup.values()))]

    def text(self, facts: Mapping[str, str]) -> str:
        """The whole file; `facts` are the fields of `RecordedOn`, and the recorded "program"."""
        kinds = Counter(map(type, self._steps))
        body = "\n".join(f"    {line}".rstrip() for line in self._lines).lstrip("\n")
        fails = "EXPECT(" in body
        compares = kinds[Compare] > 0
        text = support.HEAD.format(
            **facts,
            headers="".join(f"#include <{each}>\n" for each in self._headers()),
            and_compares=" and compares what they write with what was recorded" * compares,
        )
        parts = {
            support.CUDA: "CHECK_CUDA(" in body or compares,
            support.FINISH: fails or compares,
            support.EXPECT: fails,
            support.READ_FILE: compares or "upload(" in body or "read_file(" in body,
            support.UPLOAD: "upload(" in body,
            support.COMPARE: compares,
        }
        text += "".join(part for part, needed in parts.items() if needed)
        result = "different != 0" if fails or compares else "0"
        return f"{text}\nint main(void)\n{{\n{body}\n    return {result};\n}}\n"

    def _headers(self) -> list[str]:
        """Headers that cudnn.h of some versions does not include."""
        calls = [step for step in self._steps if isinstance(step, Call)]
        return sorted({call.function.header for call in calls} & set(_OTHER_HEADERS))

    # --- steps -----------------------------------------------------------------------------------

    def _write(self, step: Step) -> None:
        add, memory = self._lines.append, self._naming.of_memory
        match step:
            case Place(text):
                self._lines += ["", f"/* {text} */"]
            case LeftOut(function, reason):
                add(f"/* Left out: {function}: {' '.join(reason.split()).replace('*/', '* /')} */")
            case Allocate(allocation) if allocation.host_type:
                kind = c_host_type(allocation.host_type, allocation.nbytes)
                add(f"{kind} {memory(allocation)};")
            case Assign(allocation, value):
                add(f"{memory(allocation)} = {host_value(value, allocation.host_type)};")
            case Free(allocation) if allocation.host_type:
                pass
            case Allocate(allocation):
                self._allocate(allocation)
            case Free(allocation):
                add(f"{self._cleanup.pop(memory(allocation))};")
            case Upload(allocation, "", byte):
                name = memory(allocation)
                add(f"CHECK_CUDA(cudaMemset({name}, {byte}, {allocation.nbytes}));")
            case Upload(allocation, data):
                add(f'upload({memory(allocation)}, "{data}.bin");')
            case Compare(allocation, offset, data_type, data):
                name, kind = memory(allocation), data_type.upper()
                where = place(name, offset)
                add(f'compare("{name}+{offset}", {where}, {kind}, "{data}.bin");')
            case Call():
                self._call(step)

    def _allocate(self, allocation: Allocation) -> None:
        name = self._naming.of_memory(allocation)
        self._lines += [
            f"void *{name};",
            f"CHECK_CUDA(cudaMalloc(&{name}, {allocation.nbytes}));",
        ]
        self._cleanup[name] = f"CHECK_CUDA(cudaFree({name}))"

    def _call(self, call: Call) -> None:
        function = call.function.__name__
        if call.refused:
            self._lines.append(f"/* Left out: {function}: refused by cudnn_ctypes */")
            return
        self.calls += 1
        if call.stream is not None:
            self._order(call.stream)
        self._declare(call)
        arguments = [self._values.text(value) for value in call.arguments.values()]
        texts = [v for v in call.arguments.values() if isinstance(v, Text) and v.data]
        before, after = "CHECK(", ");"
        if call.status:
            before = f"EXPECT({call.status}, "
        elif not binding(function).returns_status:
            before, after = "", ";"
        statement = _wrapped(f"{before}{function}", arguments, after)
        self._lines += _with_text(statement, texts[0].data) if texts else statement
        self._note_lifetimes(call)

    def _declare(self, call: Call) -> None:
        """Declare the variables of the objects that a call creates."""
        for value in call.arguments.values():
            if isinstance(value, Variable) and value.created:
                name = self._naming.of_object(value.created)
                if name not in self._declared:
                    self._declared.add(name)
                    self._lines.append(f"{type_name(value.base)} {name};")

    def _note_lifetimes(self, call: Call) -> None:
        """Destroy a created object at the end unless the program does it."""
        if destroyed := destroyed_by(call):
            self._cleanup.pop(self._naming.of_object(destroyed), None)
        function = call.function.__name__.replace("Create", "Destroy")
        for value in call.arguments.values():
            if isinstance(value, Variable) and value.created and not call.status:
                name = self._naming.of_object(value.created)
                self._cleanup[name] = f"CHECK({function}({name}))"

    # --- variables -------------------------------------------------------------------------------

    def _variable(self, kind: str, name: str, count: int) -> str:
        """A variable that calls write, declared before the first of these calls."""
        key = (kind, name, count)
        if key not in self._variables:
            self._variables[key] = self._naming.identifiers.unique(camel(name))
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

    def _order(self, stream: Stream) -> None:
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
