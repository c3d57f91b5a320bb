"""Parses the arguments in a message of cuDNN's log, indented lines, to nested objects."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ... import raw
from ...raw.ctypes_support import CudnnEnum

__all__ = ["LoggedArgument", "logged_arguments"]

_LINE = re.compile(
    r"^(?P<indent>\s+)(?P<name>[^:]*): "
    r"(?:type=(?P<type>.*?)|location=(?P<location>.*?))"
    r"(?:; (?:val|addr)=(?P<value>.*?))?[;:]?\s*$"
)
_ENUMERATOR = re.compile(r"^\S+ \((-?\w+)\)$")  # name or names, and the number
_LIST = re.compile(r"^\[(.*)\]$")


@dataclass(frozen=True)
class LoggedArgument:
    """An argument of a call in cuDNN's log, or one field of a descriptor.

    ``argument["strideA"]`` is the field of that name; ``str(argument)`` is one line of text.

    Attributes
    ----------
    type : str
        The C type, or the type of the backend descriptor; "" for memory.
    value : int, float, bool, str, cudnn enum, tuple or None
        A number, text, an enumerator, or several numbers; an address for memory and for objects of
        which cuDNN only logs the address. None for NULL, and for arguments with fields.
    location : str
        "host" or "dev" for memory, else "".
    fields : dict of str to LoggedArgument
        The contents of a descriptor, by cuDNN's names; empty for other arguments. A repeated name
        gets a number: "operation", "operation[1]" for the operations of a graph.

    Examples
    --------
    >>> with log_messages("info") as messages:
    ...     TensorDescriptor((1, 3, 4, 4)).close()
    >>> messages[1].arguments["c"].type, messages[1].arguments["c"].value
    ('int', 3)
    """

    type: str
    value: Any = None
    location: str = ""
    fields: Mapping[str, LoggedArgument] = field(default_factory=dict)

    def __getitem__(self, name: str) -> LoggedArgument:
        try:
            return self.fields[name]
        except KeyError:
            known = ", ".join(self.fields) or "no fields"
            raise KeyError(f"{name}: this {self.type or 'memory'} has {known}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.fields)

    def __str__(self) -> str:
        if self.fields:
            inside = ", ".join(f"{name}={each}" for name, each in self.fields.items())
            return f"{self.type}({inside})"
        if self.value is None:
            return "NULL"
        is_address = type(self.value) is int and (self.location or _is_descriptor(self.type))
        return f"{self.value:#x}" if is_address else str(self.value)


def logged_arguments(lines: Iterable[str]) -> dict[str, LoggedArgument]:
    """The arguments in the lines of a message, by name, each with its fields."""
    found: dict[str, LoggedArgument] = {}
    open_: list[tuple[int, dict[str, LoggedArgument]]] = [(-1, found)]
    for line in lines:
        match = _LINE.match(line)
        if match is None:
            continue
        indent, fields = len(match["indent"]), dict[str, LoggedArgument]()
        while open_[-1][0] >= indent:
            open_.pop()
        siblings = open_[-1][1]
        siblings[_unused(match["name"], siblings)] = LoggedArgument(
            match["type"] or "",
            _value(match["type"] or "", match["value"]),
            match["location"] or "",
            fields,
        )
        open_.append((indent, fields))
    return found


def _unused(name: str, siblings: Mapping[str, LoggedArgument]) -> str:
    count, found = 0, name
    while found in siblings:
        count += 1
        found = f"{name}[{count}]"
    return found


def _is_descriptor(kind: str) -> bool:
    return kind.endswith(("_DESCRIPTOR", "Descriptor_t", "*"))


def _value(kind: str, text: str | None) -> Any:
    if text is None or text in ("NULL", "NULL_PTR"):
        return None
    if kind == "bool":
        return text == "true"
    if kind == "string":
        return text.removeprefix('"').removesuffix('"')
    enum = getattr(raw, kind, None) if kind.startswith("cudnn") else None
    if match := _ENUMERATOR.match(text):
        number = int(match[1], 0)
        is_enum = isinstance(enum, type) and issubclass(enum, CudnnEnum)
        return enum(number) if is_enum else number  # type: ignore[misc]
    if match := _LIST.match(text):
        return tuple(_number(each.strip()) for each in match[1].split(",") if each.strip())
    return _number(text)


def _number(text: str) -> Any:
    """A text as a number if possible, else the text."""
    for read in (lambda each: int(each, 0), float):
        try:
            return read(text)
        except ValueError:
            continue
    return text
