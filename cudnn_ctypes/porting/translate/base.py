"""State of a translation: values, output, the program's names, and libraries that it calls."""

from __future__ import annotations

import ast
import builtins
import contextlib
import ctypes
import enum
import functools
import importlib
import keyword
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import Any

from ...raw import FUNCTIONS
from ...raw.ctypes_support import OpaquePointer
from ...raw.values import INTEGER_RANGES
from .. import runtime
from .. import source as parse
from ..program import BOOL, INT, PRIMITIVES, TEXT, VOID, CType, array_of, pointer_to
from ..source import Node, Untranslatable
from .preprocess import Macro, brackets, pieces

# Beside what the rules refuse, the shape of a tree may be one that they do not expect.
REASONS: tuple[type[Exception], ...] = (Untranslatable, AttributeError, IndexError, KeyError)
REASONS += (RecursionError, StopIteration, SyntaxError, TypeError, ValueError)


def told(reason: Exception) -> str:
    """The reason that users read."""
    if isinstance(reason, RecursionError):
        return "a form that is nested too deeply"
    known = isinstance(reason, Untranslatable)
    return str(reason) if known else f"a form that is not known ({type(reason).__name__}: {reason})"


# How tightly Python's operators bind: by sign, and by what ``ast`` calls them.
_LEVELS = {":=": 0, "if": 1, "or": 2, "and": 3, "not": 4, "|": 6, "^": 7, "&": 8, "~": 12, ".": 14}
_LEVELS |= dict.fromkeys(("==", "!=", "<", ">", "<=", ">="), 5)
_LEVELS |= {"<<": 9, ">>": 9, "+": 10, "-": 10, "*": 11, "/": 11, "//": 11, "%": 11}
_SIGNS = {"NamedExpr": ":=", "IfExp": "if", "Or": "or", "And": "and", "Not": "not", "Compare": "=="}
_SIGNS |= {"BitOr": "|", "BitXor": "^", "BitAnd": "&", "LShift": "<<", "RShift": ">>", "Add": "+"}
_SIGNS |= {"Sub": "-", "Mult": "*", "Div": "*", "Mod": "*", "FloorDiv": "*"}
_SIGNS |= {"USub": "~", "UAdd": "~", "Invert": "~"}


@functools.lru_cache(maxsize=4096)
def _level(text: str) -> int:
    """How tightly the outermost operator of a Python expression binds."""
    node: Any = ast.parse(text, mode="eval").body
    sign = type(getattr(node, "op", node)).__name__
    return _LEVELS[_SIGNS.get(sign, ".") if not node.col_offset else "."]


@dataclass(frozen=True)
class Value:
    """An expression in Python, with what C and the translator know of it.

    `bounds` are the numbers between which an integer lies (None: those of its type). A C float is
    `weak` while it is a plain number, which in Python takes the type of what it is combined with.
    `target` is what Python can assign to, if C can; `simple` says that this is a local name;
    `object` is the ctypes object that holds the variable, if there is one.
    """

    text: str
    type: CType
    bounds: tuple[int, int] | None = None
    weak: bool = False
    target: str = ""
    object: str = ""
    simple: bool = False

    @property
    def range(self) -> tuple[int, int]:
        """The least and the greatest number that it can be."""
        return self.bounds or self.type.range

    @property
    def nonnegative(self) -> bool:
        return self.type.is_integer and self.range[0] >= 0

    @property
    def constant(self) -> int | float | None:
        """Its value where the translator knows it."""
        if self.type.kind == "float":
            return float(self.text) if re.fullmatch(r"-?\d[\d.]*(e[-+]?\d+)?", self.text) else None
        low, high = self.range
        return low if low == high and self.type.is_integer else None

    @property
    def is_zero(self) -> bool:
        """Whether C takes it for a null pointer."""
        return self.text == "None" or self.constant == 0

    @property
    def is_condition(self) -> bool:
        """Whether it is True or False in Python."""
        return self.type.kind == "bool" or _level(self.text) in (_LEVELS["not"], _LEVELS["=="])

    def at(self, operator: str) -> str:
        """Its text where an operator (".": a call, index or member) surrounds it."""
        return self.text if _level(self.text) >= _LEVELS[operator] else f"({self.text})"

    def after(self, operator: str) -> str:
        """Its text as the right operand of an operator."""
        return self.text if _level(self.text) > _LEVELS[operator] else f"({self.text})"

    def typed(self, new: CType) -> Value:
        return replace(self, type=new)

    def read(self) -> Value:
        """What it is worth, without being a place."""
        return replace(self, target="", object="", simple=False)


def infix(left: Value, operator: str, right: Value) -> str:
    """The text of two values with an operator between them."""
    first = left.after(operator) if _LEVELS[operator] == _LEVELS["=="] else left.at(operator)
    return f"{first} {operator} {right.after(operator)}"


def truth(text: str, language: str = "") -> Value:
    """A comparison or condition: an int in C, a bool in C++."""
    return Value(text, INT if language == "c" else BOOL, (0, 1))


def integer(text: str, kind: CType, low: int, high: int) -> Value:
    """An integer result between two numbers: modulo its width, if it is unsigned and too large."""
    least, most = kind.range
    if not kind.signed and (low < least or high > most):
        return Value(f"uint{kind.bits}({text})", kind)
    return Value(text, kind, (max(low, least), min(high, most)))


_WIDTH = 100
_OPENING = re.compile(r'(?:"(?:\\.|[^"\\])*"|[^"([{])*[([{]')


@dataclass
class Output:
    """Lines with their depth and their line in C (0: none)."""

    lines: list[tuple[int, str, int]] = field(default_factory=list)
    depth: int = 0
    shown: Callable[[int], str] = str

    def add(self, text: str, line: int = 0, *, deeper: int = 0) -> None:
        self.lines.append((self.depth + deeper, text, line))

    def blank(self) -> None:
        """An empty line, unless a block begins here or there is one."""
        if self.lines and self.lines[-1][1] and not self.lines[-1][1].endswith(":"):
            self.add("")

    def spaced(self) -> None:
        """Two empty lines, above the comments that belong to what follows."""
        at = len(self.lines)
        while at and self.lines[at - 1][1].startswith("#") and not self.lines[at - 1][0]:
            at -= 1
        while at and not self.lines[at - 1][1]:
            at -= 1
            del self.lines[at]
        self.lines[at:at] = [(0, "", 0), (0, "", 0)]

    def text(self) -> str:
        """All lines; the number of the line in C stands at the end of the first line of each."""
        written = []
        for depth, text, line in self.lines:
            parts = _wrapped(text, _WIDTH - 4 * depth - 8 * (line > 0))
            parts = [("    " * depth + part).rstrip() for part in parts]
            parts[0] += f"  # {self.shown(line)}" if line else ""
            written += parts
        return "\n".join(written) + "\n"


def _wrapped(text: str, width: int) -> list[str]:
    """A statement in lines of `width`, broken at the commas of the widest brackets."""
    found = None if len(text) <= width or text[0] == "#" else _widest_brackets(text)
    if found is None:
        return [text]
    start, end, commas = found
    parts = pieces(text, [start, *commas, end])
    comma = "," if commas else ""  # a comma would make a tuple of what stands in brackets
    whole = ", ".join(parts)
    if len(whole) + 4 <= width and text[start] == "(" and commas:
        body = [whole]
    elif all(re.fullmatch(r"[-\w.()\[\]]{1,24}", piece) for piece in parts):
        body = [""]
        for piece in parts:
            if len(body[-1]) + len(piece) + 6 > width:
                body.append("")
            body[-1] += f"{' ' if body[-1] else ''}{piece}{comma}"
    else:
        body = [part for piece in parts if piece for part in _wrapped(piece + comma, width - 4)]
    return [text[: start + 1], *(f"    {one}" for one in body), text[end:]]


def _widest_brackets(text: str) -> tuple[int, int, list[int]] | None:
    """Where the widest outer brackets are, and the commas directly in them."""
    pairs: list[tuple[int, int, list[int]]] = []
    end = -1
    while match := _OPENING.match(text, end + 1):
        start = match.end() - 1
        end, commas = brackets(text, start)
        pairs.append((start, end, commas))
    return max(pairs, key=lambda pair: pair[1] - pair[0]) if pairs else None


MODULES = {
    "raw": "from cudnn_ctypes import raw",
    "cudart": "from cudnn_ctypes import cudart",
    "cublas": "from cudnn_ctypes import cublas",
    "v7": "from cudnn_ctypes.compat import v7",
}
"""Modules that programs import, with the statement, in the order in which names are looked up."""

_PREFIXES = {
    "raw": ("cudnn", "CUDNN", "cudaStream_t", "libraryPropertyType"),
    "cudart": ("cuda",),
    "cublas": ("cublas", "CUBLAS"),
    "v7": ("cudnn", "CUDNN"),
}
ALLOCATORS = {
    "cudaMalloc": "cudart.DevicePointer",
    "cudaMallocAsync": "cudart.DevicePointer",
    "cudaMallocManaged": "SharedPointer",
    "cudaMallocHost": "SharedPointer",
    "cudaHostAlloc": "SharedPointer",
}
"""Functions that make a pointer, and its class: device memory, or memory that the host may use."""

_BY_CTYPES = {
    PRIMITIVES[name].element: PRIMITIVES[name]
    for name in ("int", "unsigned int", "float", "double", "size_t", "int64_t", "uint8_t")
}


@lru_cache(maxsize=4096)
def foreign(name: str) -> tuple[str, Any] | None:
    """The module (``raw``, ``cudart``, ``cublas``, ``v7``) that has a C name, and what it is."""
    for module, prefixes in _PREFIXES.items():
        if name.startswith(prefixes):
            with warnings.catch_warnings(), contextlib.suppress(AttributeError, ImportError):
                warnings.simplefilter("ignore")  # old names warn where they are used
                package = MODULES[module].split()[1]
                return module, getattr(importlib.import_module(f"{package}.{module}"), name)
    return None


def is_library_call(name: str) -> bool:
    """Whether a C name is that of a function of these libraries, which return statuses."""
    found = foreign(name)
    return bool(found and callable(found[1]) and not isinstance(found[1], type))


def raw_parameters(name: str) -> Any:
    """The declared parameters of a function of cuDNN, or None."""
    function: Any = FUNCTIONS.get(name) or (foreign(name) or ("", None))[1]
    return getattr(function, "parameters", None)


def foreign_type(name: str) -> CType | None:
    """The type that a name of the libraries stands for."""
    module, kind = foreign(name) or ("", None)
    if not isinstance(kind, type):
        return None
    element = f"{module}.{name}"
    if issubclass(kind, enum.Enum):
        return CType("enum", name, 32, element=element)
    if issubclass(kind, ctypes.Structure):
        return CType("struct", name, element=element)
    if issubclass(kind, (OpaquePointer, ctypes._Pointer, ctypes.c_void_p)) or module != "raw":
        return CType("opaque", name, element=element)
    return of_ctypes(kind)


def foreign_members(name: str) -> dict[str, CType]:
    kind: Any = (foreign(name) or ("", None))[1]
    found = {}
    for member, memory in getattr(kind, "_fields_", ()):
        if member[0] == "_":  # an enum that the class reads as one
            memory = type(getattr(kind(), member[1:]))
        found[member.removeprefix("_")] = of_ctypes(memory)
    return found


def of_ctypes(kind: Any) -> CType:
    """The C type of a type of ctypes."""
    name = getattr(kind, "__name__", "")
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return foreign_type(name) or CType("enum", name, 32)
    if isinstance(kind, type) and issubclass(kind, ctypes.Array):
        element: Any = kind._type_
        is_text = element is ctypes.c_char
        return TEXT if is_text else array_of(of_ctypes(element), str(kind._length_))
    if name in _BY_CTYPES:
        return _BY_CTYPES[name]
    if kind in INTEGER_RANGES:
        low, high = INTEGER_RANGES[kind]
        return CType("integer", name, (high - low).bit_length(), low < 0, element=name)
    return TEXT if kind is ctypes.c_char_p else pointer_to(VOID)


@dataclass
class Variable:
    """A variable of the program: its name in Python, and how it is held.

    `cell` says that a ctypes object (or a `Cell`) holds it, since its address is taken; `filled`
    that it is a `DevicePointer` that functions of the libraries write to; `refers` that it is a
    reference to another object.
    """

    name: str
    type: CType
    cell: bool = False
    is_global: bool = False
    bounds: tuple[int, int] | None = None
    filled: bool = False
    refers: bool = False


@dataclass
class Parameter:
    """A parameter of a function."""

    name: str
    type: CType


@dataclass
class Function:
    """A function; `problem` says why none can call it."""

    name: str
    parameters: list[Parameter]
    result: CType
    node: Node
    python: str = ""
    problem: str = ""
    is_check: bool = False

    @property
    def has_body(self) -> bool:
        return bool(self.node["body"])


@dataclass
class Record:
    """A struct; `problem` says why it is not translated."""

    name: str
    node: Node
    fields: dict[str, CType] = field(default_factory=dict)
    problem: str = ""


@dataclass
class Program:
    """Everything that is known before the first statement is written.

    `addressed` and `addressed_fields` are the variables and members whose address is taken, of
    which functions of the libraries write to those in `filled`; `indexed` are the structs and
    handles to which some pointer is indexed or moved; `changed` is what functions may change.
    """

    language: str = "c"
    macros: dict[str, Macro] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    types: dict[str, CType] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    addressed: set[str] = field(default_factory=set)
    addressed_fields: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    indexed: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    using_std: bool = False
    overloads_math: bool = False


_STEPS = 300_000  # for one definition of the program; ten times as many for all

# Names that generated programs use themselves.
_TAKEN = (
    frozenset(keyword.kwlist)
    | {name for name in dir(builtins) if name[0].islower()}
    | {"raw", "cudart", "cublas", "v7", "math", "np", "byref", "self"}
    | runtime.NAMES
)


class Base:
    """State, names and scopes."""

    # What the other parts define.

    expression: Callable[[Node], Value]
    constant: Callable[[Macro], Value]  # what a macro stands for
    converted: Callable[[Node, CType], Value]  # an expression as another type
    initialized: Callable[[Node, CType, list[Node]], Value]  # what ``{...}`` is for a type

    def __init__(self, program: Program) -> None:
        self.program = program
        self.out: Output = Output()
        self.parser_language: str = program.language
        self.notes: list[tuple[int, str]] = []  # line and reason of what is not translated
        self.statements = 0
        # Of the function that is written.
        self.function: Function | None = None
        self.scopes: list[dict[str, Variable]] = [{}]
        self.addressed: set[str] = set()
        self.global_writes: set[str] = set()
        self.statics: list[tuple[int, str, int]] = []  # lines to write before it
        self.labels: set[str] = set()  # that some ``goto`` names
        self.open_labels: list[str] = []  # whose block is being written
        self.jumps: list[tuple[str, list[str]]] = []  # what `break` leaves, what `continue` does
        self.steps: int = 0  # for this definition
        self.all_steps: int = 0
        # Of the line that is written.
        self.before: list[str] = []
        self.after: list[str] = []
        self.conditional: int = 0

    def emit(self, text: str, line: int) -> None:
        """Write a line with what its expressions do before and after."""
        for one in [*self.before, *([text] if text else []), *self.after]:
            self.out.add(one, line)
        self.clear()

    def clear(self) -> None:
        """Forget what expressions do before and after a line."""
        self.before, self.after, self.conditional = [], [], 0

    def peek(self, node: Node) -> Value:
        """What is known of an expression that is not computed here."""
        kept = self.before, self.after, self.conditional
        self.clear()
        try:
            return self.expression(node)
        finally:
            self.before, self.after, self.conditional = kept

    def fragment(self, text: str, line: int = 0) -> Node:
        """The block of statements that do not stand in the program; empty if it cannot be read."""
        code = f"void fragment() {{ {text}; }}".encode()
        root = parse.Source(code, language=self.parser_language).root.tree
        return Node(None) if root.has_error else next(Node(root, line).find("compound_statement"))

    # Names.

    def safe(self, name: str) -> str:
        """A Python name for a C name."""
        return f"{name}_" if name in _TAKEN else name

    def safe_field(self, name: str) -> str:
        return f"{name}_" if name in ("fields", *keyword.kwlist) else name

    def declare(
        self, name: str, ctype: CType, *, cell: bool = False, refers: bool = False
    ) -> Variable:
        """A new variable in the innermost scope; its Python name differs from living ones."""
        python, number = self.safe(name), 2
        is_global = len(self.scopes) == 1
        living = {one.name for scope in self.scopes for one in scope.values()}
        here = self.scopes[-1].get(name)
        while not is_global and python in living and not (here and here.name == python):
            python, number = f"{self.safe(name)}_{number}", number + 1
        variable = Variable(python, ctype, cell, is_global, refers=refers)
        self.scopes[-1][name] = variable
        return variable

    def lookup(self, name: str) -> Variable | None:
        return next((one[name] for one in reversed(self.scopes) if name in one), None)

    # Types.

    def by_reference(self, pointed: CType) -> bool:
        """Whether a pointer to such a type is the object itself in Python.

        It is for structs and handles, unless some pointer to that type is indexed or moved.
        """
        moved = pointed.name in self.program.indexed
        return pointed.kind == "opaque" or (pointed.is_object and not moved)

    def element(self, ctype: CType) -> str:
        """The Python name of memory that holds one value of a type."""
        if ctype.kind == "pointer":
            return "object"
        if ctype.kind == "vector":
            return f"lambda: Vector({self.element(ctype.pointed)})"
        if ctype.kind == "array" or not ctype.element:
            raise Untranslatable(f"memory of this type: {ctype}")
        return ctype.element

    def device_pointer(self, kind: str, to: CType) -> str:
        """A new pointer to device memory of a type."""
        element = "" if to.kind in ("void", "unknown") else self.element(to)
        return f"{kind}({element})"

    # Failures.

    def spend(self, steps: int) -> None:
        """Count steps of the work on one definition: expressions, and text of macros."""
        self.steps += steps
        self.all_steps += steps
        if self.steps > _STEPS or self.all_steps > 10 * _STEPS:
            raise Untranslatable("more work than this translator takes on")

    def refuse(self, condition: object, node: Node, reason: str) -> None:
        """Refuse what meets a condition."""
        if condition:
            raise self.fail(node, reason)

    def fail(self, node: Node, reason: str) -> Untranslatable:
        """An exception that names the construct."""
        text = re.sub(r"\s+", " ", node.text)
        return Untranslatable(f"{reason}: {text if len(text) <= 60 else text[:57] + '...'}")
