"""What a C program declares: types, functions, and which variables have their address taken."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from .preprocess import Macro
from .types import CType

__all__ = [
    "Function",
    "Parameter",
    "Program",
    "Record",
    "Variable",
    "children",
    "descendants",
    "stripped",
    "text_of",
]


@dataclass
class Variable:
    """A variable of the program: its name in Python, and how it is held.

    `cell` says that a ctypes object (or a `Cell`) holds it, since its address is taken; `filled`
    that it is a `DevicePointer` that functions of the libraries write to.
    """

    name: str
    type: CType
    cell: bool = False
    is_global: bool = False
    nonnegative: bool = False
    filled: bool = False


@dataclass
class Parameter:
    """A parameter of a function."""

    name: str
    type: CType
    default: Any = None


@dataclass
class Function:
    """A function: `kind` is "host", "kernel" or "device"."""

    name: str
    parameters: list[Parameter]
    result: CType
    node: Any = None
    kind: str = "host"
    python: str = ""
    problem: str = ""
    is_check: bool = False


@dataclass
class Record:
    """A struct or class."""

    name: str
    fields: dict[str, CType] = field(default_factory=dict)
    methods: dict[str, Function] = field(default_factory=dict)
    constructors: list[Function] = field(default_factory=list)
    destructor: Function | None = None
    defaults: dict[str, Any] = field(default_factory=dict)
    problem: str = ""
    node: Any = None


@dataclass
class Program:
    """Everything that is known before the first statement is written."""

    language: str = "c"
    macros: dict[str, Macro] = field(default_factory=dict)
    types: dict[str, CType] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    addressed: set[str] = field(default_factory=set)
    addressed_fields: set[str] = field(default_factory=set)
    indexed: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    using_std: bool = False


def text_of(node: Any) -> str:
    """The C text of a node."""
    return str(node.text.decode()) if node is not None else ""


def children(node: Any) -> list[Any]:
    """The named children of a node but for comments."""
    return [one for one in node.named_children if one.type != "comment"]


def descendants(node: Any, *kinds: str) -> Iterator[Any]:
    """A node and all below it, those of `kinds` if any are given."""
    pending = [node]
    while pending:
        one = pending.pop()
        if not kinds or one.type in kinds:
            yield one
        pending.extend(reversed(one.children))


def stripped(node: Any) -> Any:
    """A node without the parentheses and casts around it."""
    while True:
        if node.type == "parenthesized_expression":
            node = children(node)[0]
        elif node.type == "cast_expression":
            node = node.child_by_field_name("value")
        elif node.type == "call_expression" and _is_named_cast(node):
            node = children(node.child_by_field_name("arguments"))[0]
        else:
            return node


def _is_named_cast(node: Any) -> bool:
    function = node.child_by_field_name("function")
    names = ("reinterpret_cast", "static_cast", "const_cast")
    return (
        function.type == "template_function"
        and text_of(function.child_by_field_name("name")) in names
    )
