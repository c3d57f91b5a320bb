"""A parsed program: its types, declarations and calls, and findings about it."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..raw import functions
from ..raw.function import Function
from .source import Node, Source, own_headers

KINDS = {
    "missing": "headers not found",
    "gone": "gone or changed",
    "fault": "faults",
    "note": "notes",
    "cuda": "of CUDA",
    "kernel": "kernels",
    "unknown": "misspelt",
    "unread": "unread",
    "other": "for other releases",
    "own": "of its own",
    "kept": "as they were",
}
"""The kinds of findings, in the order of a report."""


@dataclass(frozen=True)
class Finding:
    """A remark on one place of a program.

    - `kind`: one of `KINDS`.
    - `line`, `column`: from 1.
    - `name`: the name that the remark is about, or "".
    - `text`: the remark.
    - `code`: Python code to write, a line each.
    """

    kind: str
    line: int
    column: int
    name: str
    text: str = ""
    code: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**vars(self), "code": list(self.code)}


@dataclass(frozen=True)
class CType:
    """A type of C.

    `kind` is "integer", "bool", "float", "void", "pointer", "array", "struct", "enum", "opaque",
    "vector", "string", "exception", "stream", "function" or "unknown"; `name` is C's, without
    qualifiers. `to` is what it points to, consists of or returns, `length` the Python text of an
    array's length, `element` the Python name of memory of this type: ``c_float``,
    ``raw.cudnnHandle_t``, a class.
    """

    kind: str
    name: str = ""
    bits: int = 0
    signed: bool = True
    to: CType | None = None
    length: str = ""
    element: str = ""
    reference: bool = False
    const: bool = False
    parameters: tuple[CType, ...] = ()

    @property
    def is_integer(self) -> bool:
        """Whether C's rules for integers hold."""
        return self.kind in ("integer", "bool", "enum")

    @property
    def is_number(self) -> bool:
        return self.is_integer or self.kind == "float"

    @property
    def is_pointer(self) -> bool:
        """Whether it is a pointer, or an array, which C makes one of."""
        return self.kind in ("pointer", "array")

    @property
    def is_text(self) -> bool:
        """Whether it is ``char *``."""
        return self.is_pointer and self.pointed.name == "char"

    @property
    def is_object(self) -> bool:
        """Whether a Python variable of it refers to one object, as a reference of C++ does."""
        return self.kind in ("struct", "opaque", "vector", "stream")

    @property
    def is_cell(self) -> bool:
        """Whether a reference to it is an object of ctypes or a `Cell`."""
        return self.reference and not self.is_object and not self.const

    @property
    def pointed(self) -> CType:
        """What it points to or consists of."""
        return self.to or UNKNOWN

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that an integer can be."""
        if self.kind in ("bool", "enum"):
            return 0, 1 if self.kind == "bool" else (1 << 31) - 1
        half = 1 << self.bits - 1 if self.bits else 0
        return (-half, half - 1) if self.signed else (0, 2 * half - 1)

    @property
    def plain(self) -> CType:
        """Without being a reference."""
        return replace(self, reference=False, const=False)

    @property
    def dimensions(self) -> tuple[list[str], CType]:
        """The lengths of an array of arrays, and its elements."""
        lengths, kind = [], self
        while kind.kind == "array":
            lengths.append(kind.length)
            kind = kind.pointed
        return lengths, kind

    def __str__(self) -> str:
        if self.is_pointer:
            return f"{self.pointed} *"
        return f"std::vector<{self.to}>" if self.kind == "vector" else self.name or self.kind


def pointer_to(to: CType) -> CType:
    return CType("pointer", to=to)


def array_of(to: CType, *lengths: str) -> CType:
    """The type of an array whose lengths are Python expressions."""
    for length in reversed(lengths):
        to = CType("array", to=to, length=length)
    return to


VOID = CType("void", "void", element="None")
UNKNOWN = CType("unknown", "unknown")
BOOL = CType("bool", "bool", 8, False, element="c_bool")
CHAR = CType("integer", "char", 8, element="c_byte")
INT = CType("integer", "int", 32, element="c_int")
LONG = CType("integer", "long", 64, element="c_long")
SIZE = CType("integer", "size_t", 64, False, element="c_size_t")
FLOAT = CType("float", "float", 32, element="c_float")
DOUBLE = CType("float", "double", 64, element="c_double")
STRING = CType("string", "std::string", element="str")
FILE = CType("stream", "FILE", element="object")
TEXT = pointer_to(CHAR)

_SYNONYMS = {"_Bool": "bool", "signed": "int", "unsigned": "unsigned int"}
_SYNONYMS |= {f"u{name}": f"unsigned {name}" for name in ("char", "short", "int", "long")}
_SYNONYMS |= dict.fromkeys(("ssize_t", "ptrdiff_t", "time_t", "clock_t", "intptr_t"), "long")
_SYNONYMS |= {"uintptr_t": "unsigned long", "string": "std::string"}


def _primitives() -> dict[str, CType]:
    simple = (VOID, BOOL, CHAR, INT, LONG, SIZE, FLOAT, DOUBLE, STRING, FILE)
    found = {one.name: one for one in simple}
    widths = {"char": 8, "short": 16, "int": 32, "long": 64, "long long": 64}
    for name, bits in widths.items():
        element = {"char": "byte", "long long": "longlong"}.get(name, name)
        found.setdefault(name, CType("integer", name, bits, element=f"c_{element}"))
        found[f"signed {name}"] = CType("integer", f"signed {name}", bits, element=f"c_{element}")
        unsigned = f"unsigned {name}"
        found[unsigned] = CType("integer", unsigned, bits, False, element=f"c_u{element}")
    for bits in (8, 16, 32, 64):
        for sign in ("", "u"):
            name = f"{sign}int{bits}"
            found[f"{name}_t"] = CType("integer", f"{name}_t", bits, not sign, element=f"c_{name}")
    return found | {name: found[meaning] for name, meaning in _SYNONYMS.items()}


PRIMITIVES = _primitives()
"""Types that need no declaration in the program."""


def primitive(name: str) -> CType | None:
    """The type that needs no declaration, its words in any order: ``long unsigned int``."""
    words = sorted(name.split(), key=lambda word: (word != "unsigned", word == "int"))
    ordered = " ".join(words)
    spellings = (name, ordered, ordered.removesuffix(" int"))
    return next((PRIMITIVES[one] for one in spellings if one in PRIMITIVES), None)


def promoted(one: CType) -> CType:
    """What C makes of a number before it computes."""
    return INT if one.kind == "enum" or (one.is_integer and one.bits < 32) else one.plain


def common(left: CType, right: CType) -> CType:
    """The type in which C computes with two numbers: the usual arithmetic conversions."""
    left, right = promoted(left), promoted(right)
    if "float" in (left.kind, right.kind):
        bits = max(one.bits for one in (left, right) if one.kind == "float")
        return DOUBLE if bits == 64 else FLOAT
    if left.bits == right.bits:
        return right if left.signed else left
    return max(left, right, key=lambda one: one.bits)


@dataclass(frozen=True)
class Variable:
    """A declared name.

    - `type`: as it is written, without ``const``, ``struct``, ``*`` and ``[]``: "float".
    - `pointers`: how many ``*``.
    - `value`: what it begins with; empty if with nothing.
    """

    name: str
    type: str
    pointers: int
    is_array: bool
    value: Node
    line: int

    @property
    def is_plain(self) -> bool:
        """True unless the variable is a pointer or an array."""
        return not self.pointers and not self.is_array


class Declarations:
    """The variables of a program, by the function that they are in.

    - `headers`: of the program itself.
    """

    def __init__(self, source: Source, headers: Sequence[Source] = ()) -> None:
        self.source = source
        self.headers: list[Declarations] = [Declarations(header) for header in headers]
        self._by_function: dict[int, dict[str, Variable]] = {0: {}}
        for node in source.root.find("declaration", "parameter_declaration", "field_declaration"):
            known = self._by_function.setdefault(node.home.id, {})
            for variable in self._declared(node):
                known[variable.name] = variable

    @functools.cached_property
    def names(self) -> set[str]:
        """The names of all variables, those of the headers included."""
        own = {name for known in self._by_function.values() for name in known}
        return own.union(*(header.names for header in self.headers))

    def find(self, expression: Node) -> Variable | None:
        """The variable that an expression names: ``x``, ``&x``, ``x[2]``, ``layer->x``."""
        name = self.name_in(expression)
        own = self._by_function.get(expression.home.id, {})
        return own.get(name) or self._by_function[0].get(name) or self._anywhere.get(name)

    def name_in(self, expression: Node) -> str:
        """The name of a variable or, of a member, its last name; "" if there is none."""
        if expression.kind in ("identifier", "field_identifier"):
            return expression.text
        for field in ("field", "argument", "value"):
            inner = expression[field]
            if inner and expression.kind in _NAMING:
                return self.name_in(inner)
        if expression.kind == "parenthesized_expression" and expression.children:
            return self.name_in(expression.children[0])
        return ""

    @functools.cached_property
    def _anywhere(self) -> dict[str, Variable]:
        """For members of structs that are declared in a header or elsewhere."""
        found: dict[str, Variable] = {}
        for header in reversed(self.headers):
            found |= header._anywhere
        own: set[str] = set()
        for known in self._by_function.values():
            found |= {name: each for name, each in known.items() if name not in own}
            own |= known.keys()
        return found

    def _declared(self, node: Node) -> Iterator[Variable]:
        kind = re.sub(r"\b(?:const|struct|enum|volatile)\b", "", node["type"].text)
        for declarator in node.each("declarator"):
            yield from _variable(declarator, " ".join(kind.split()), node.line)


def _variable(node: Node, kind: str, line: int) -> Iterator[Variable]:
    """The variable of a declarator; nothing for a function's prototype."""
    pointers, is_array, value = 0, False, Node(None)
    while node.kind not in ("identifier", "field_identifier"):
        if node.kind == "init_declarator":
            value = node["value"]
        pointers += node.kind == "pointer_declarator"
        is_array |= node.kind == "array_declarator"
        inner = node["declarator"]
        inner = inner or next((one for one in node.named if "declarator" in one.kind), inner)
        if node.kind == "function_declarator":
            return
        if not inner:  # a reference: its name has no field
            inner = next((one for one in node.named if one.kind == "identifier"), inner)
        if not inner:
            return
        node = inner
    yield Variable(node.text, kind, pointers, is_array, value, line)


_NAMING = (
    "pointer_expression",
    "field_expression",
    "subscript_expression",
    "cast_expression",
)


@dataclass(frozen=True)
class Call:
    """One call.

    - `arguments`: by the names of the parameters; empty if there are more or fewer than cuDNN 9
      takes.
    - `home`: the function definition that it is in; empty if it is in none.
    """

    name: str
    node: Node
    function: Function
    arguments: dict[str, Node]
    home: Node


@dataclass(frozen=True)
class Program:
    """A parsed program, its variables and its calls of cuDNN."""

    source: Source
    known: Declarations
    calls: list[Call]

    def named(self, *names: str) -> Iterator[Call]:
        """The calls of these functions whose arguments are understood."""
        return (call for call in self.calls if call.name in names and call.arguments)

    def variable(self, call: Call, parameter: str) -> Variable | None:
        """The variable that is passed, or whose address is."""
        argument = call.arguments.get(parameter)
        return None if argument is None else self.known.find(argument)

    def at(
        self, node: Node, kind: str, name: str, text: str, code: tuple[str, ...] = ()
    ) -> Finding:
        """A finding at a node."""
        return Finding(kind, *node.place, name, text, code)


def program_of(source: Source, folders: Sequence[Path] = ()) -> Program:
    """The variables and the calls of a program."""
    known = Declarations(source, own_headers(source, folders))
    calls = []
    for node in source.root.find("call_expression"):
        name = node["function"].text
        function = getattr(functions, name, None)
        if not isinstance(function, Function):
            continue
        passed = node.arguments
        names = [parameter.name for parameter in function.parameters]
        arguments = dict(zip(names, passed, strict=True)) if len(names) == len(passed) else {}
        calls.append(Call(name, node, function, arguments, node.home))
    return Program(source, known, calls)
