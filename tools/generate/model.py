"""What the headers declare, between parsing and emitting.

`parse` fills these classes with what the text of the headers says and nothing else; `facts` turns
the undecided parts (a missing direction, the memory behind a `void *`) into decided ones.
"""

from __future__ import annotations

import enum
from dataclasses import dataclass, field


class Direction(enum.Enum):
    """Who writes what a parameter refers to: the caller, the library, or both."""

    IN = "in"
    OUT = "out"
    INOUT = "inout"


class Passing(enum.Enum):
    """How an argument reaches C; the names are those of the annotation vocabulary."""

    VALUE = "by value"
    POINTER = "Pointer"
    ARRAY = "Array"
    DEVICE_ARRAY = "DeviceArray"
    DEVICE_MEMORY = "DeviceMemory"
    HOST_MEMORY = "HostMemory"
    HOST_SCALAR = "HostScalar"
    LABELLED = "Labelled"


@dataclass(frozen=True)
class CType:
    """A C type as far as these headers need: `const base *...`, or `base name[extent]`."""

    base: str
    pointers: int = 0
    const: bool = False  # what the innermost pointer points to, or a value without pointer
    extent: int | None = None  # of a struct's array field

    def __str__(self) -> str:
        stars = " " + "*" * self.pointers if self.pointers else ""
        extent = f"[{self.extent}]" if self.extent is not None else ""
        return f"{'const ' if self.const else ''}{self.base}{stars}{extent}"


@dataclass(frozen=True)
class Parameter:
    """One parameter of a function.

    `tag` is the direction that the header's comment gives. `direction`, `passing` and `length`
    are None until `facts.decide` has looked at the parameter. `described_by` names the parameters
    that say what is in a piece of memory, where the function has any. `too_long` is the status
    that refuses a longer array, and `words` are further facts, in the annotation vocabulary.
    """

    name: str
    ctype: CType
    is_array: bool = False  # declared as `T name[]`
    tag: Direction | None = None
    direction: Direction | None = None
    passing: Passing | None = None
    length: str | int | None = None
    described_by: tuple[str, ...] = ()
    too_long: str | None = None
    words: tuple[str, ...] = ()


@dataclass(frozen=True)
class Declaration:
    """What functions, types and enumerators have in common."""

    name: str
    header: str
    since: str | None
    deprecated: bool
    replaced_by: str | None  # the C name that does what a deprecated one did


@dataclass(frozen=True)
class Function(Declaration):
    """A function; `facts` are further ones by name, for its declaration."""

    result: CType
    parameters: tuple[Parameter, ...]
    facts: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Enumerator(Declaration):
    value: int
    alias_of: str | None  # the enumerator of the same enum that the header gives as its value
    pointee: str | None = None  # of a label: the descriptor that is passed with it


@dataclass(frozen=True)
class Enum(Declaration):
    enumerators: tuple[Enumerator, ...]


@dataclass(frozen=True)
class Handle(Declaration):
    """An opaque pointer: `typedef struct <struct> *<name>`; `struct` is None for a `void *`."""

    struct: str | None
    must_be_set: bool = False
    may_be_half_set: bool = False


@dataclass(frozen=True)
class Struct(Declaration):
    """A struct and its typedef; without fields when the headers never complete it."""

    fields: tuple[tuple[str, CType], ...]


@dataclass(frozen=True)
class Callback(Declaration):
    """A function pointer type."""

    result: CType
    parameters: tuple[tuple[str, CType], ...]


@dataclass(frozen=True)
class Macro:
    """A macro with a value: its tokens, and the names of its parameters if it takes any."""

    name: str
    header: str
    tokens: tuple[str, ...]
    parameters: tuple[str, ...] | None = None


@dataclass
class Headers:
    """Everything that one set of headers declares, each list in the order of the headers."""

    version: str = ""
    functions: list[Function] = field(default_factory=list)
    enums: list[Enum] = field(default_factory=list)
    handles: list[Handle] = field(default_factory=list)
    structs: list[Struct] = field(default_factory=list)
    callbacks: list[Callback] = field(default_factory=list)
    macros: list[Macro] = field(default_factory=list)

    @property
    def declarations(self) -> list[Declaration]:
        """All but the macros; each enum is followed by its enumerators."""
        enums = [d for enum in self.enums for d in (enum, *enum.enumerators)]
        return [*self.functions, *enums, *self.handles, *self.structs, *self.callbacks]
