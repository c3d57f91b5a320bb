"""A recorded program, independent of a language: its steps in order, and their arguments."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from ...raw.function import Function
from .allocations import Allocation

__all__ = [
    "Allocate",
    "Array",
    "Assign",
    "Call",
    "Compare",
    "Fraction",
    "Free",
    "LeftOut",
    "Memory",
    "Null",
    "Number",
    "Object",
    "Place",
    "Room",
    "Scalar",
    "Step",
    "Stream",
    "Text",
    "Upload",
    "Value",
    "Variable",
]

# --- arguments ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Null:
    """NULL."""


@dataclass(frozen=True)
class Object:
    """A handle or descriptor that the program created.

    Attributes
    ----------
    name : str
        The session's name for the object.
    type : type
        Its C type.
    """

    name: str
    type: type


@dataclass(frozen=True)
class Stream:
    """A CUDA stream of the program, identified by its address there."""

    address: int


@dataclass(frozen=True)
class Number:
    """A number or an enumerator; `base` is the ctypes type or the enum."""

    base: Any
    value: Any


@dataclass(frozen=True)
class Fraction:
    """A ``cudnnFraction_t``."""

    numerator: int
    denominator: int


@dataclass(frozen=True)
class Variable:
    """A variable that the call writes; `created` is the name of an object created in it."""

    base: Any
    name: str
    spelling: str | None = None
    created: str = ""


@dataclass(frozen=True)
class Room:
    """An array that the call writes; `is_attribute` if C declares ``void *``."""

    base: Any
    name: str
    count: int
    is_attribute: bool = False


@dataclass(frozen=True)
class Array:
    """An array that the call reads; `is_attribute` if C declares ``void *``."""

    base: Any
    items: tuple[Value, ...]
    is_attribute: bool = False


@dataclass(frozen=True)
class Text:
    """A C string; the name of its data if it is long."""

    text: bytes
    data: str = ""


@dataclass(frozen=True)
class Memory:
    """An address in an allocation."""

    allocation: Allocation
    offset: int


@dataclass(frozen=True)
class Scalar:
    """A number whose address C takes; `data_type` is "float32" or "float64", ..."""

    value: float
    data_type: str


Value: TypeAlias = (
    "Null | Object | Stream | Number | Fraction | Variable | Room | Array | Text | Memory | Scalar"
)

# --- steps ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Place:
    """The next steps come from another line of the program."""

    text: str


@dataclass(frozen=True)
class LeftOut:
    """A call that cannot be recorded, with the reason."""

    function: str
    reason: str


@dataclass(frozen=True)
class Allocate:
    """Allocate memory before its first use."""

    allocation: Allocation


@dataclass(frozen=True)
class Free:
    """Free memory."""

    allocation: Allocation


@dataclass(frozen=True)
class Upload:
    """Copy data that the program or its own kernels wrote to memory since the last call.

    Attributes
    ----------
    data : str
        The name of the bytes; "" if all bytes are `byte`.
    """

    allocation: Allocation
    data: str
    byte: int = 0


@dataclass(frozen=True)
class Assign:
    """Set a number on the host, by its bytes, for the next execution."""

    allocation: Allocation
    value: bytes


@dataclass(frozen=True)
class Call:
    """A call of a C function.

    Attributes
    ----------
    status : str
        The enumerator of the status if it is a failure, else "".
    refused : bool
        True if this package refused the call before C.
    stream : Stream, optional
        The stream of the call's work, if it has any.
    """

    function: Function
    arguments: Mapping[str, Value]
    status: str = ""
    refused: bool = False
    stream: Stream | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Compare:
    """Compare an output with its last recorded data.

    Attributes
    ----------
    data_type : str
        "float32", "bfloat16", ...; "bytes" for data compared byte by byte.
    data : str
        The name of the recorded bytes.
    """

    allocation: Allocation
    offset: int
    data_type: str
    data: str


Step: TypeAlias = "Place | LeftOut | Allocate | Free | Upload | Assign | Call | Compare"
