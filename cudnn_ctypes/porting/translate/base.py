"""What all parts of the translator share: the program, the scopes, and what is written."""

from __future__ import annotations

import builtins
import keyword
import re
from collections.abc import Callable
from typing import Any

from .. import runtime
from .output import Output
from .program import Function, Program, Record, Variable, text_of
from .types import UNKNOWN, CType
from .value import Untranslatable, Value

__all__ = ["Base"]

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

    expression: Callable[[Any], Value]
    """Translate an expression."""
    call: Callable[[Any], Value]
    """Translate a call."""
    wrapped: Callable[[Value], Value]
    """An unsigned result modulo its width; others as they are."""
    type_of: Callable[..., CType]
    """The type that a declaration or cast names."""
    converted: Callable[[Any, CType], Value]
    """Translate an expression and convert it to a type."""
    constructed: Callable[[Any, CType, list[Any]], Value]
    """A new object of a class or container, made from arguments."""
    user_call: Callable[..., Value]
    """A call of a function of the program."""
    fragment: Callable[[str], Any]
    """The tree of statements that do not stand in the program."""
    emit: Callable[[str, int], None]
    """Write a line with what its expressions do before and after."""
    block: Callable[[list[Any]], None]
    """Write statements in a scope of their own, one step further in."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.out = Output()
        self.scopes: list[dict[str, Variable]] = [{}]
        self.function: Function | None = None
        self.record: Record | None = None
        self.addressed: set[str] = set()
        self.global_writes: set[str] = set()
        self.never_negative: set[str] = set()
        self.before: list[str] = []
        self.after: list[str] = []
        self.conditional = 0
        self.kernel_names: list[str] = []
        self.notes: list[tuple[int, str]] = []
        self.expanding: list[str] = []
        self.at_line = 0  # where a macro is used whose statements are written
        self.jumps: list[tuple[str, list[str]]] = []  # what `break` leaves, what `continue` does
        self.scopes_of_macros: set[str] = set()

    def line(self, node: Any) -> int:
        """The line of C that a node begins in."""
        return self.at_line or int(node.start_point[0]) + 1

    def type_only(self, node: Any) -> CType:
        """The type of an expression that is not computed."""
        return self.peek(node).type

    def peek(self, node: Any) -> Value:
        """What is known of an expression that is not computed here."""
        before, after, conditional = list(self.before), list(self.after), self.conditional
        self.conditional = 0
        try:
            return self.expression(node)
        finally:
            self.before, self.after, self.conditional = before, after, conditional

    # Names.

    def safe(self, name: str) -> str:
        """A Python name for a C name."""
        return f"{name}_" if name in _TAKEN else name

    def declare(self, name: str, ctype: CType, *, cell: bool = False) -> Variable:
        """A new variable in the innermost scope; its Python name differs from living ones."""
        python = self.safe(name)
        is_global = len(self.scopes) == 1
        if not is_global:
            living = {one.name for scope in self.scopes for one in scope.values()}
            here = self.scopes[-1].get(name)
            number = 2
            while python in living and not (here and here.name == python):
                python = f"{self.safe(name)}_{number}"
                number += 1
        nonnegative = name in self.never_negative and ctype.is_integer and ctype.bits >= 32
        variable = Variable(python, ctype, cell, is_global, nonnegative)
        self.scopes[-1][name] = variable
        return variable

    def lookup(self, name: str) -> Variable | None:
        """The variable that a name means here."""
        for scope in reversed(self.scopes):
            if name in scope:
                return scope[name]
        return None

    def is_destroyed(self, kind: CType) -> bool:
        """Whether objects of a class have a destructor, or members that have one."""
        record = self.program.records.get(kind.name) if kind.kind == "struct" else None
        if record is None:
            return False
        return bool(record.destructor) or any(map(self.is_destroyed, record.fields.values()))

    def fail(self, node: Any, reason: str) -> Untranslatable:
        """An exception that names the construct."""
        text = re.sub(r"\s+", " ", text_of(node))
        shown = text if len(text) <= 60 else text[:57] + "..."
        return Untranslatable(f"{reason}: {shown}")

    def device_element(self, ctype: CType) -> str:
        """What `DevicePointer` takes for memory of a type: nothing for ``void``."""
        if ctype.kind in ("void", "unknown"):
            return ""
        return "c_uint16" if ctype.name == "half" else self.element(ctype)

    def element(self, ctype: CType) -> str:
        """The Python name of memory that holds one value of a type."""
        if ctype.kind == "pointer":
            return "object"
        if ctype.kind == "array":
            raise Untranslatable(f"memory of arrays: {ctype}")
        if ctype.kind == "vector":
            if self.is_destroyed(ctype.pointed):
                raise Untranslatable("a vector of objects with destructors")
            return f"lambda: Vector({self.element(ctype.pointed)})"
        if ctype.kind == "enum" and not ctype.element:
            return "c_int"
        if ctype is UNKNOWN or not ctype.element:
            raise Untranslatable(f"a type that is not known: {ctype}")
        return ctype.element
