"""What all parts of the translator share: the program and what it declares, scopes, output."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from .. import runtime
from .. import source as parse
from ..c_types import HALF, CType
from ..syntax import Node
from .output import Output
from .preprocess import Macro
from .values import Untranslatable, Value

__all__ = ["Base", "Function", "Parameter", "Program", "Record", "Variable"]


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
    default: Node


@dataclass
class Function:
    """A function: `kind` is "host", "kernel" or "device"; `problem` says why none can call it."""

    name: str
    parameters: list[Parameter]
    result: CType
    node: Node
    python: str = ""
    kind: str = "host"
    problem: str = ""
    is_check: bool = False

    @property
    def has_body(self) -> bool:
        return bool(self.node["body"])


@dataclass
class Record:
    """A struct or class; its constructor is the method ``__init__``, its destructor ``destroy``."""

    name: str
    node: Node
    fields: dict[str, CType] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)
    defaults: dict[str, Node] = field(default_factory=dict)
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

    def named(self, name: str) -> list[Function]:
        """The functions and methods of that name."""
        functions = [self.functions, *(one.methods for one in self.records.values())]
        return [one[name] for one in functions if name in one]


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
    expand: Callable[[Macro, list[str], Node], Value]  # a macro's expression
    converted: Callable[[Node, CType], Value]  # an expression as another type
    initialized: Callable[[Node, CType, list[Node]], Value]  # what ``{...}`` is for a type

    def __init__(self, program: Program) -> None:
        self.program = program
        self.out: Output = Output()
        self.parser_language: str = program.language
        self.notes: list[tuple[int, str]] = []  # line and reason of what is not translated
        self.statements = 0
        self.kernel_names: list[str] = []
        self.type_parameters: set[str] = set()  # of the template that is read
        # Of the function that is written.
        self.function: Function | None = None
        self.record: Record | None = None
        self.scopes: list[dict[str, Variable]] = [{}]
        self.addressed: set[str] = set()
        self.global_writes: set[str] = set()
        self.statics: list[tuple[int, str, int]] = []  # lines to write before it
        self.labels: set[str] = set()  # that some ``goto`` names
        self.open_labels: list[str] = []  # whose block is being written
        self.jumps: list[tuple[str, list[str]]] = []  # what `break` leaves, what `continue` does
        self.expanding: list[str] = []  # macros
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

    def is_destroyed(self, kind: CType) -> bool:
        """Whether objects of a class have a destructor."""
        record = self.program.records.get(kind.name) if kind.kind == "struct" else None
        return record is not None and "destroy" in record.methods

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
        return f"{kind}({'c_uint16' if to == HALF else element})"

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
