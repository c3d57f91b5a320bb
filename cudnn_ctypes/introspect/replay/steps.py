"""A recorded program, in no language yet: its steps in order, and what their arguments are."""

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
        The session's for it.
    type : type
        Of C.
    """

    name: str
    type: type


@dataclass(frozen=True)
class Stream:
    """A CUDA stream of the program; its address there tells it from others."""

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
    """A variable that the call writes and nobody reads; `created` names what is created there."""

    base: Any
    name: str
    spelling: str | None = None
    created: str = ""


@dataclass(frozen=True)
class Room:
    """An array that the call writes and nobody reads; `is_attribute` where C takes ``void *``."""

    base: Any
    name: str
    count: int
    is_attribute: bool = False


@dataclass(frozen=True)
class Array:
    """An array that the call reads; `is_attribute` where C takes ``void *``."""

    base: Any
    items: tuple[Value, ...]
    is_attribute: bool = False


@dataclass(frozen=True)
class Text:
    """Text of C; the data that hold it where it is long."""

    text: bytes
    data: str = ""


@dataclass(frozen=True)
class Memory:
    """A place in an allocation."""

    allocation: Allocation
    offset: int


@dataclass(frozen=True)
class Scalar:
    """A number of which C takes the address; its data type is "float32" or "float64", ..."""

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
    """A call that cannot be written down, and why."""

    function: str
    reason: str


@dataclass(frozen=True)
class Allocate:
    """Memory is used for the first time."""

    allocation: Allocation


@dataclass(frozen=True)
class Free:
    """Memory was freed."""

    allocation: Allocation


@dataclass(frozen=True)
class Upload:
    """The program, or a kernel of its own, wrote there since the last call.

    Attributes
    ----------
    data : str
        The name of the bytes that are there; "" where all are `byte`.
    """

    allocation: Allocation
    data: str
    byte: int = 0


@dataclass(frozen=True)
class Assign:
    """A number on the host, which an execution is going to read; its bytes."""

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
        Whether it never came to C: this package refused it.
    stream : Stream, optional
        On which its work is done, if there is some.
    """

    function: Function
    arguments: Mapping[str, Value]
    status: str = ""
    refused: bool = False
    stream: Stream | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Compare:
    """An output as it was recorded, last.

    Attributes
    ----------
    data_type : str
        "float32", "bfloat16", "int32", ...; "bytes" for all that is compared byte by byte.
    data : str
        The name of the recorded bytes.
    """

    allocation: Allocation
    offset: int
    data_type: str
    data: str


Step: TypeAlias = "Place | LeftOut | Allocate | Free | Upload | Assign | Call | Compare"
