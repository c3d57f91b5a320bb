"""What a C program declares: types, functions, and which variables have their address taken."""

from __future__ import annotations

from dataclasses import dataclass, field

from .preprocess import Macro
from .syntax import Node
from .types import CType

__all__ = ["Function", "Parameter", "Program", "Record", "Variable"]


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
    bounds: tuple[int, int] | None = None
    filled: bool = False


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

    Attributes
    ----------
    addressed, addressed_fields : set of str
        Variables and members whose address is taken.
    filled : set of str
        Those of them that functions of the libraries write to.
    indexed : set of str
        Structs and handles to which some pointer is indexed or moved.
    changed : set of str
        Variables and members that functions may change.
    """

    language: str = "c"
    macros: dict[str, Macro] = field(default_factory=dict)
    redefined: set[str] = field(default_factory=set)
    types: dict[str, CType] = field(default_factory=dict)
    records: dict[str, Record] = field(default_factory=dict)
    functions: dict[str, Function] = field(default_factory=dict)
    constants: dict[str, str] = field(default_factory=dict)
    addressed: set[str] = field(default_factory=set)
    addressed_fields: set[str] = field(default_factory=set)
    filled: set[str] = field(default_factory=set)
    indexed: set[str] = field(default_factory=set)
    changed: set[str] = field(default_factory=set)
    using_std: bool = False
    overloads_math: bool = False
