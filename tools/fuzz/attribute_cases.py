"""The systematic cases of backend calls: descriptors by state, attributes, types, arrays."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from cudnn_ctypes.raw import cudnnBackendAttributeName_t as Name
from cudnn_ctypes.raw import cudnnBackendAttributeType_t as Type
from cudnn_ctypes.raw.attributes import ATTRIBUTES, ENUMS, KINDS, Attribute

from .descriptors import CREATABLE, STATES

__all__ = ["ROOM", "TEXTS", "Case", "attributes_of", "cases"]

ROOM = 64
"""Elements of each array."""

TEXTS = (
    *(b"", b"\0", b"{", b"{}\0", b"[]\0", b"null\0", b'""\0', b'{"a":\0', b"\xff\xfe\0"),
    *(b"[" * 60, b'{"a":' * 12, b'{"deviceVer": -1}\0', b'{"name": 1e999}\0'),
)
"""What is given for JSON."""

_ALL_STATES = (*STATES, "destroyed", "null")
_COUNTS = (-(2**63), -1, 0, 1, 2, 3, ROOM, ROOM + 1, 2**31, 2**62)
_POINTERS = (Type.CUDNN_TYPE_HANDLE, Type.CUDNN_TYPE_VOID_PTR, Type.CUDNN_TYPE_BACKEND_DESCRIPTOR)
_NO_CODES = (-1, 99, 2**31 - 1)
_EXECUTING = (
    "cudnnBackendExecute",
    "cudnnBackendPopulateCudaGraph",
    "cudnnBackendUpdateCudaGraph",
    "cudnnGetExecutionPlanWorkspaceSize",
)


@dataclass(frozen=True)
class Case:
    """One call, or a few, on one descriptor.

    Attributes
    ----------
    call : str
        What is done: a method of `attributes.Calls`, or a function that takes a handle.
    kind, state : str
        Of the descriptor that it is done to.
    attribute, type : int
        Codes of the attribute and of the type of its values.
    count : int
        Number of elements.
    memory : str
        The array: "null", "zeros", "ones" (all bits set), "big" (numbers near the largest), "usual"
        (values that fit), "code N" (an enumerator), "text N" (one of `TEXTS`), or which descriptor
        its entries are: "state kind".
    """

    call: str
    kind: str
    state: str
    attribute: int = 0
    type: int = 0
    count: int = 0
    memory: str = ""

    def __str__(self) -> str:
        text = f"{self.call} {self.kind} ({self.state})"
        if self.call.startswith(("set", "get")):
            text += f", {Name(self.attribute)}, {Type(self.type)} x {self.count}, {self.memory}"
        elif self.attribute:
            text += f", {Name(self.attribute)}"
        elif self.memory:
            text += f", {self.memory}"
        return text


def cases() -> Iterator[Case]:
    yield from _own()
    yield from _values()
    yield from _wrong_types()
    yield from _foreign()
    yield from _entries()
    yield from _whole()
    yield from _executions()


def attributes_of(kind: str) -> list[Attribute]:
    return list(ATTRIBUTES[KINDS[kind]].values())


def _memories(type_: Type) -> list[str]:
    """Arrays of values; addresses that a program made up are its own fault."""
    return ["null", "zeros", "usual", *([] if type_ in _POINTERS else ["ones"])]


def _own() -> Iterator[Case]:
    """Attributes of the descriptor's own kind, of a type that they take."""
    for kind in CREATABLE:
        for state in _ALL_STATES:
            for known in attributes_of(kind):
                for type_ in known.types:
                    for count in _COUNTS:
                        for memory in _memories(type_):
                            for call in ("set", "get", "get_uncounted"):
                                yield Case(call, kind, state, known.name, type_, count, memory)
                            if state == "complete":
                                yield Case(
                                    "set_finalize", kind, state, known.name, type_, count, memory
                                )


def _values() -> Iterator[Case]:
    """Values of every enum and text, and large numbers, in descriptors that are then finalized."""
    for kind in CREATABLE:
        for known in attributes_of(kind):
            type_ = known.types[0]
            memories = [] if type_ in _POINTERS else ["zeros", "ones", "big"]
            if type_ in ENUMS:
                codes = [int(each) for each in ENUMS[type_]]
                memories = [f"code {each}" for each in (*codes, -5, max(codes) + 1, 255, 2**30)]
            elif type_ == Type.CUDNN_TYPE_CHAR:
                memories = [f"text {number}" for number in range(len(TEXTS))]
            for memory in memories:
                for state in ("new", "complete"):
                    for count in (1, 2, 4) if known.is_array else (1,):
                        if memory.startswith("text"):
                            count = min(len(TEXTS[int(memory[5:])]), ROOM) or 1
                        yield Case("set_finalize", kind, state, known.name, type_, count, memory)


def _wrong_types() -> Iterator[Case]:
    """Every type of value with every attribute, and types that do not exist."""
    for kind in CREATABLE:
        for state in ("new", "complete", "final"):
            for known in attributes_of(kind):
                for type_ in (*map(int, Type), -1, 999):
                    if type_ not in known.types:
                        for call in ("set", "get"):
                            for memory in ("zeros", "ones"):
                                for count in (0, 1, ROOM):
                                    yield Case(call, kind, state, known.name, type_, count, memory)


def _foreign() -> Iterator[Case]:
    """Attributes of other kinds, and codes that are none."""
    everything = {int(each.name): each for kind in CREATABLE for each in attributes_of(kind)}
    for kind in CREATABLE:
        own = {int(each.name) for each in attributes_of(kind)}
        for code in (*everything, *_NO_CODES):
            if code not in own:
                type_ = everything[code].types[0] if code in everything else Type.CUDNN_TYPE_INT64
                for call, state in (("set", "new"), ("get", "new"), ("get", "final")):
                    yield Case(call, kind, state, code, type_, 1, "usual")


def _entries() -> Iterator[Case]:
    """Descriptors of every kind and state as values."""
    for kind in CREATABLE:
        for known in attributes_of(kind):
            if Type.CUDNN_TYPE_BACKEND_DESCRIPTOR in known.types:
                for entry in CREATABLE:
                    for state in ("new", "final", "destroyed"):
                        for call, own in (
                            ("set", "new"),
                            ("set_finalize", "complete"),
                            ("get", "final"),
                        ):
                            yield Case(
                                call,
                                kind,
                                own,
                                known.name,
                                Type.CUDNN_TYPE_BACKEND_DESCRIPTOR,
                                1,
                                f"{state} {entry}",
                            )


def _whole() -> Iterator[Case]:
    """Calls on the descriptor as a whole."""
    for kind in CREATABLE:
        for state in _ALL_STATES:
            for call in ("finalize", "finalize_twice", "initialize", "destroy_twice"):
                yield Case(call, kind, state)
        for known in attributes_of(kind):
            for call in ("finalize_with_only", "finalize_without"):
                yield Case(call, kind, "complete", known.name)
            if known.wants and known.settable:
                yield Case("finalize_orphan", kind, "complete", known.name)
    for code in (-1, len(KINDS), 999, 2**31 - 1, -(2**31)):
        yield Case("create", "tensor", "new", code)


def _executions() -> Iterator[Case]:
    for call in _EXECUTING:
        for kind in CREATABLE:
            for state in ("new", "complete", "final", "destroyed"):
                yield Case(call, kind, state, memory="final variant_pack")
                yield Case(call, "execution_plan", "final", memory=f"{state} {kind}")
        yield Case(call, "execution_plan", "null", memory="final variant_pack")
        yield Case(call, "execution_plan", "final", memory="null")
