"""The steps of a recorded program: calls, variables and memory, and their names."""

from __future__ import annotations

import ctypes
import re
import struct
from collections.abc import Iterable, Iterator, Mapping, Set
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendDescriptor_t, host_blocks, mode
from ...raw.function import Function
from ...runtime import copy
from ...runtime.foreign import Borrowed
from ..backend_calls import role
from ..memory import Region

_FORMATS = {
    "float64": ("d", "double"),
    "float32": ("f", "float"),
    "float16": ("e", "uint16_t"),
    "bfloat16": ("", "uint16_t"),
    "int64": ("q", "int64_t"),
    "int32": ("i", "int32_t"),
    "int8": ("b", "int8_t"),
    "uint8": ("B", "uint8_t"),
    "bool": ("?", "bool"),
}


def host_number(value: bytes, data_type: str) -> float | int | None:
    """The number in the bytes; None for a data type that Python lacks."""
    if data_type == "bfloat16":  # the upper half of a float
        return float(struct.unpack("<f", bytes(2) + value)[0])
    letter, _ = _FORMATS.get(data_type, ("", ""))
    if not letter:
        return None
    number: float | int = struct.unpack(f"<{letter}", value)[0]
    return number


def c_host_type(data_type: str, nbytes: int) -> str:
    """The C type of a data type; an unsigned integer of its size if C has none."""
    return _FORMATS[data_type][1] if data_type in _FORMATS else f"uint{8 * nbytes}_t"


Bytes = NDArray[np.uint8]


class NotReproducible(Exception):
    """A call cannot be recorded; the message has the reason."""


@dataclass(eq=False)
class Allocation:
    """One allocation.

    - `name`: the session's name for the allocation.
    - `address`: address of the first byte.
    - `nbytes`: size in bytes; the part that calls use if the size is unknown.
    - `role`: the parameter's name in the first call that used it.
    - `held`: the contents of the replay's buffer; None while incomplete.
    - `host_type`: the data type of a number in host memory, "" for device memory.
    - `told`: variables with sizes that calls told: it is as large as the largest. Devices differ.
    - `step`: the place of the step that allocates it.
    - `outputs`: the last outputs of calls in the allocation, by offset: size in bytes and data
      type.
    """

    name: str
    address: int
    nbytes: int
    role: str = ""
    held: Bytes | None = None
    host_type: str = ""
    told: tuple[Object, ...] = ()
    step: int = 0
    outputs: dict[int, tuple[int, str]] = field(default_factory=dict)

    @property
    def word(self) -> str:
        """The word for the allocation's name: its role if backend calls passed a plain address."""
        return self.role if self.role and self.name.startswith("memory") else self.name

    @classmethod
    def of(cls, region: Region) -> Allocation:
        """An allocation for a region, with the region's size if known."""
        return cls(region.name, region.address, region.nbytes or 0)

    def grow(self, nbytes: int) -> None:
        """Enlarge the allocation: a call uses more of it than was known."""
        if nbytes > self.nbytes:
            self.nbytes, self.held = nbytes, None

    def take(self, stream: int | None) -> None:
        """Take over the present contents: a call wrote them, as it will in the replay."""
        self.held = None
        with suppress(Exception):  # a trace never stops a program
            self.held = read(self, stream)


def read(allocation: Allocation, stream: int | None) -> Bytes:
    """The contents of an allocation after all work on the GPU.

    Raises NotReproducible if work is being captured in a CUDA graph: it is not done yet.
    """
    if mode.runtime.is_capturing(stream or 0):
        raise NotReproducible("it is captured in a CUDA graph")
    mode.runtime.synchronize(None, None)  # the memory may have been written on another stream
    memory = Borrowed(
        allocation.address,
        allocation.nbytes,
        device_id=mode.runtime.current_ordinal(),
        runtime=mode.runtime,
        stream=stream,
        keeper=None,
    )
    found = copy.read(memory, 0, allocation.nbytes, stream=stream)
    return _zeroed(allocation, found)


def _zeroed(allocation: Allocation, found: Bytes) -> Bytes:
    """Set bytes that the reference device knows as unwritten to 0, so that runs agree."""
    block = host_blocks.find(allocation.address)
    if block is None:
        return found
    start = allocation.address - block.address
    stop = start + allocation.nbytes
    if not block.is_written(start, stop):
        found[block.record()[start:stop] == 0] = 0
    return found


# --- arguments ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Null:
    """NULL."""


@dataclass(frozen=True)
class Object:
    """A handle or descriptor that the program created, or a size that a call told.

    - `name`: the session's name for the object.
    - `type`: its C type.
    """

    name: str
    type: type

    @property
    def is_size(self) -> bool:
        return self.type is ctypes.c_size_t


@dataclass(frozen=True)
class Told:
    """A size that a call told, or `least` if that is more."""

    size: Object
    least: int = 0


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
    """A variable that the call writes; `created` is the name of an object or size in it."""

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
    "Null | Object | Told | Stream | Number | Fraction | Variable | Room | Array | Text | "
    "Memory | Scalar"
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

    - `data`: the name of the bytes; "" if all bytes are `byte`.
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

    - `status`: the enumerator of the status if it is a failure, else "".
    - `refused`: True if this package refused the call before C.
    - `stream`: the stream of the call's work, if it has any.
    """

    function: Function
    arguments: Mapping[str, Value]
    status: str = ""
    refused: bool = False
    stream: Stream | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Compare:
    """Compare an output with its last recorded data.

    - `data_type`: "float32", "bfloat16", ...; "bytes" for data compared byte by byte.
    - `data`: the name of the recorded bytes.
    - `tolerance`: the allowed difference of an element, of the largest recorded one, but 1 at
      least.
    """

    allocation: Allocation
    offset: int
    data_type: str
    data: str
    tolerance: float


Step: TypeAlias = "Place | LeftOut | Allocate | Free | Upload | Assign | Call | Compare"


_BACKEND_WORDS = {
    "execution_plan": "plan",
    "engineheur": "heuristics",
    "enginecfg": "engineConfig",
    "operationgraph": "operationGraph",
    "deviceprop": "deviceProperties",
}
_DESCRIPTORS = ("tensor", "pointwise", "convolution", "matmul", "reduction", "resample", "rng")
"""Backend descriptors whose names end in "Desc", since the described object has the plain word."""

# Parameters of these functions name a descriptor by its kind, not by its role.
_ABOUT_IT = ("cudnnCreate", "cudnnDestroy", "cudnnDerive", "cudnnBackend", "cudnnInit")


class Identifiers:
    """Unique names, different from the reserved words."""

    def __init__(self, reserved: Set[str] = frozenset()) -> None:
        self._taken = set(reserved)
        self._counts: dict[str, int] = {}
        self._free: dict[tuple[str, type], list[str]] = {}
        self._kinds: dict[str, tuple[str, type]] = {}

    def unique(self, word: str) -> str:
        """The word, with a number if it is in use."""
        count, name = self._counts.get(word, 1), word
        while name in self._taken:
            count += 1
            name = f"{word}{count}" if not word[-1].isdigit() else f"{word}_{count}"
        self._taken.add(name)
        self._counts[word] = count
        return name

    def variable(self, word: str, kind: type) -> str:
        """A variable's name from `word`; a released name of the same type is used again."""
        free = self._free.setdefault((word, kind), [])
        name = free.pop() if free else self.unique(word)
        self._kinds[name] = word, kind
        return name

    def release(self, name: str) -> None:
        """Release a variable's name: its object was destroyed."""
        if name in self._kinds:
            self._free[self._kinds[name]].append(name)


class Naming:
    """The names in one program.

    - `reserved`: words that cannot be names in the program, or have another meaning.
    """

    def __init__(self, steps: list[Step], reserved: Set[str]) -> None:
        self.identifiers: Identifiers = Identifiers(reserved)
        roles = dict(_roles(steps))
        unique = self.identifiers.unique
        self._objects: dict[str, str] = {}
        self._memory: dict[int, str] = {}
        for step in steps:
            if isinstance(step, Allocate):
                self._memory[id(step.allocation)] = unique(camel(step.allocation.word))
            elif isinstance(step, Call):
                self._call(step, roles)

    def _call(self, call: Call, roles: Mapping[str, str]) -> None:
        """Name the objects that a call creates, and release the names of destroyed ones."""
        destroys = destroyed_by(call)
        for value in call.arguments.values():
            if isinstance(value, Variable) and value.created:
                word = _word_of_object(value, roles.get(value.created, ""))
                name = self.identifiers.variable(word, value.base)
                self._objects[value.created] = name
            elif isinstance(value, Object) and value.name == destroys:
                self.identifiers.release(self._objects[value.name])

    def of_object(self, name: str) -> str:
        """The program's name of the object that the session calls `name`."""
        return self._objects[name]

    def of_memory(self, allocation: Allocation) -> str:
        """The name of an allocation."""
        return self._memory[id(allocation)]


def destroyed_by(call: Call) -> str:
    """The session's name of the object that a call destroys; "" if it destroys none."""
    if "Destroy" in call.function.__name__ and not call.status:
        for value in call.arguments.values():
            if isinstance(value, Object):
                return value.name
    return ""


def camel(text: str) -> str:
    """A name in C's style: ``workspaceSize`` for ``workspace_size``."""
    first, *others = text.split("_")
    return first + "".join(each.capitalize() for each in others)


def _word_of_object(value: Variable, role_: str) -> str:
    if value.base is ctypes.c_size_t:
        return value.name
    if value.base is not cudnnBackendDescriptor_t:
        word = role_ or value.base.__name__.removeprefix("cudnn").removesuffix("_t")
        word = word[:1].lower() + word[1:]
        return word.removesuffix("Descriptor") + ("Desc" if word.endswith("Descriptor") else "")
    kind = re.sub(r"\d+$", "", value.created)
    if kind == "tensor":
        return f"{camel(role_ or kind)}Desc"
    if kind.startswith("operation_"):
        return camel(kind.removeprefix("operation_")) + "Operation"
    word = camel(_BACKEND_WORDS.get(kind, kind))
    return f"{word}Desc" if kind in _DESCRIPTORS else word


def _roles(steps: Iterable[Step]) -> Iterator[tuple[str, str]]:
    """Pairs of an object's session name and the name of a parameter to which calls pass it.

    The last pair of an object decides: computing calls go before calls that ask for sizes, earlier
    calls before later ones.
    """
    calls = [step for step in steps if isinstance(step, Call)]
    calls.sort(key=lambda call: call.function.__name__.startswith("cudnnGet"))
    for call in reversed(calls):
        function = call.function.__name__
        if function == "cudnnBackendSetAttribute":
            yield from _attribute_roles(call)
        elif not function.startswith(_ABOUT_IT) and not _is_accessor(function):
            for name, value in call.arguments.items():
                if isinstance(value, Object) and name.endswith(("Desc", "Descriptor", "Plan")):
                    yield value.name, name


def _is_accessor(function: str) -> bool:
    """Whether a function sets or gets the values of one descriptor."""
    return function.startswith(("cudnnSet", "cudnnGet")) and (
        "Descriptor" in function
        or re.search(r"(GroupCount|MathType|ReorderType)$", function) is not None
    )


def _attribute_roles(call: Call) -> Iterator[tuple[str, str]]:
    """Tensors with the name of the operation's attribute in which they are set."""
    attribute, array = call.arguments["attributeName"], call.arguments["arrayOfElements"]
    if not isinstance(attribute, Number) or not isinstance(array, Array):
        return
    name = Name(int(attribute.value))
    if name.name.startswith("CUDNN_ATTR_OPERATION_"):
        for item in array.items:
            if isinstance(item, Object):
                yield item.name, role(name)
