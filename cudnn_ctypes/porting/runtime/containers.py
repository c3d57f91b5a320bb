"""What programs use of C++'s library: ``std::vector``, a few algorithms, streams."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from .memory import Pointer, allocate, bytes_at
from .structs import copied
from .text import string

__all__ = [
    "Input",
    "Output",
    "Vector",
    "accumulate",
    "boolalpha",
    "cerr",
    "cout",
    "defaultfloat",
    "fill",
    "fixed",
    "iota",
    "left",
    "max_element",
    "min_element",
    "noboolalpha",
    "right",
    "scientific",
    "setfill",
    "setprecision",
    "setw",
    "sort",
]


class Vector:
    """``std::vector``: memory that grows. Elements are those of `allocate`."""

    def __init__(self, element: Any, count: Any = 0, value: Any = None) -> None:
        self._element = element
        values = None if isinstance(count, int) else list(count)
        self._size = count if values is None else len(values)
        self._memory = allocate(element, self._size)
        if values is not None:
            for index, one in enumerate(values):
                self._memory[index] = one
        elif value is not None:
            for index in range(self._size):
                self._memory[index] = copied(value)

    def _index(self, index: int) -> int:
        if not 0 <= index < self._size:
            raise IndexError(f"element {index} of a vector of {self._size}")
        return index

    def __getitem__(self, index: int) -> Any:
        return self._memory[self._index(index)]

    def __setitem__(self, index: int, value: Any) -> None:
        self._memory[self._index(index)] = value

    def __iter__(self) -> Iterator[Any]:
        return (self._memory[index] for index in range(self._size))

    def __len__(self) -> int:
        return self._size

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Vector) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def size(self) -> int:
        return self._size

    def empty(self) -> bool:
        return not self._size

    def data(self) -> Pointer:
        return Pointer(self._memory)

    begin = data

    def end(self) -> Pointer:
        return Pointer(self._memory, self._size)

    def front(self) -> Any:
        return self[0]

    def back(self) -> Any:
        return self[self._size - 1]

    def reserve(self, count: int) -> None:
        if count > len(self._memory):
            memory = allocate(self._element, count)
            for index in range(self._size):
                memory[index] = self._memory[index]
            self._memory = memory

    def push_back(self, value: Any) -> None:
        if self._size == len(self._memory):
            self.reserve(max(4, 2 * self._size))
        self._memory[self._size] = copied(value)
        self._size += 1

    emplace_back = push_back

    def pop_back(self) -> None:
        self._size = self._index(self._size - 1)

    def clear(self) -> None:
        self._size = 0

    def resize(self, count: int, value: Any = None) -> None:
        old = self._size
        self.reserve(count)
        self._size = count
        if count > old:
            fresh = allocate(self._element, count - old)
            for index in range(old, count):
                self._memory[index] = fresh[index - old] if value is None else copied(value)

    def assign(self, count: Any, value: Any = None) -> None:
        self.replace(Vector(self._element, count, value))

    def duplicate(self) -> Vector:
        """A copy, as C++'s assignment makes it."""
        found = Vector(self._element)
        found._memory = allocate(self._element, self._size)
        for index in range(self._size):
            found._memory[index] = copied(self._memory[index])
        found._size = self._size
        return found

    def replace(self, other: Any) -> None:
        """Take the elements of another vector."""
        other = other.duplicate()
        self._memory, self._size = other._memory, other._size


def fill(first: Pointer, last: Pointer, value: Any) -> None:
    """``std::fill``."""
    for index in range(last.index - first.index):
        first[index] = value


def iota(first: Pointer, last: Pointer, value: Any) -> None:
    """``std::iota``."""
    for index in range(last.index - first.index):
        first[index] = value + index


def accumulate(first: Pointer, last: Pointer, value: Any) -> Any:
    """``std::accumulate``."""
    for index in range(last.index - first.index):
        value = value + first[index]
    return value


def _extreme(first: Pointer, last: Pointer, sign: int) -> Pointer:
    best = 0
    for index in range(1, last.index - first.index):
        ahead = first[index] > first[best] if sign > 0 else first[index] < first[best]
        best = index if ahead else best
    return first + best


def max_element(first: Pointer, last: Pointer) -> Pointer:
    """``std::max_element``: the first of the largest."""
    return _extreme(first, last, 1)


def min_element(first: Pointer, last: Pointer) -> Pointer:
    """``std::min_element``: the first of the smallest."""
    return _extreme(first, last, -1)


def sort(first: Pointer, last: Pointer) -> None:
    """``std::sort``."""
    ordered = sorted(first[index] for index in range(last.index - first.index))
    for index, value in enumerate(ordered):
        first[index] = value


class _Manipulator:
    def __init__(self, name: str, value: Any) -> None:
        self.name: str = name
        self.value: Any = value


def setprecision(digits: int) -> _Manipulator:
    """``std::setprecision``."""
    return _Manipulator("digits", digits)


def setw(width: int) -> _Manipulator:
    """``std::setw``."""
    return _Manipulator("width", width)


def setfill(character: Any) -> _Manipulator:
    """``std::setfill``."""
    return _Manipulator("fill", character if isinstance(character, str) else chr(character))


fixed: _Manipulator = _Manipulator("form", "f")
scientific: _Manipulator = _Manipulator("form", "e")
defaultfloat: _Manipulator = _Manipulator("form", "g")
left: _Manipulator = _Manipulator("left", True)
right: _Manipulator = _Manipulator("left", False)
boolalpha: _Manipulator = _Manipulator("words", True)
noboolalpha: _Manipulator = _Manipulator("words", False)

MANIPULATORS = ("fixed", "scientific", "defaultfloat", "left", "right", "boolalpha", "noboolalpha")
"""Names in ``std`` that change how a stream writes what follows."""


class Output:
    """An output stream of C++; calling it writes what ``<<`` would."""

    def __init__(self, file: Any = None, name: str = "") -> None:
        self._given, self._name = file, name
        self.form: str = "g"
        self.digits: int = 6
        self.width: int = 0
        self.fill: str = " "
        self.left: bool = False
        self.words: bool = False

    @property
    def _file(self) -> Any:
        return getattr(sys, self._name) if self._name else self._given

    def __call__(self, *values: Any) -> Output:
        for value in values:
            if isinstance(value, _Manipulator):
                setattr(self, value.name, value.value)
                continue
            text = self._text(value)
            padding = self.fill * (self.width - len(text))
            self._file.write(text + padding if self.left else padding + text)
            self.width = 0
        return self

    def _text(self, value: Any) -> str:
        if isinstance(value, (float, np.floating)):
            return f"%.{self.digits}{self.form}" % float(value)
        if isinstance(value, bool) and self.words:
            return "true" if value else "false"
        if isinstance(value, (bool, int)):
            return str(int(value))
        return string(value)

    def text(self) -> str:
        """The text of a string stream."""
        return str(self._file.getvalue())

    def is_open(self) -> bool:
        return self._file is not None

    def __bool__(self) -> bool:
        return self.is_open()

    def write(self, source: Any, count: int) -> None:
        """``write``: bytes of host memory."""
        self._file.buffer.write(bytes(bytes_at(source)[:count]))

    def close(self) -> None:
        self._file.close()

    @classmethod
    def to_file(cls, name: Any, *mode: Any) -> Output:
        """``std::ofstream``."""
        try:
            return cls(open(string(name), "w"))
        except OSError:
            return cls(None)

    @classmethod
    def to_text(cls) -> Output:
        """``std::ostringstream``."""
        return cls(io.StringIO())


cout: Output = Output(name="stdout")
cerr: Output = Output(name="stderr")


class Input:
    """``std::ifstream`` and ``std::istringstream``: bytes, words and lines."""

    def __init__(self, data: bytes | None) -> None:
        self._data, self._position, self._good = data or b"", 0, data is not None
        self._open = data is not None
        self._ended = False

    @classmethod
    def from_file(cls, name: Any, *mode: Any) -> Input:
        """``std::ifstream``."""
        try:
            with open(string(name), "rb") as file:
                return cls(file.read())
        except OSError:
            return cls(None)

    def is_open(self) -> bool:
        return self._open

    def good(self) -> bool:
        return self._good and not self._ended

    def eof(self) -> bool:
        return self._ended

    def fail(self) -> bool:
        return not self._good

    def __bool__(self) -> bool:
        return self._good

    def close(self) -> None:
        self._open = False

    def read(self, target: Any, count: int) -> Input:
        """``read``: bytes into host memory."""
        data = self._data[self._position : self._position + count]
        self._position += len(data)
        if len(data) < count:
            self._ended, self._good = True, False
        if hasattr(target, "unpack_bytes"):
            target.unpack_bytes(data)
        else:
            bytes_at(target)[: len(data)] = data
        return self

    def word(self, read: Any) -> Any:
        """``>>``: the next word as `read` understands it, or None."""
        rest = self._data[self._position :]
        stripped = rest.lstrip()
        self._position += len(rest) - len(stripped)
        if not stripped:
            self._ended, self._good = True, False
            return None
        word = stripped.split(None, 1)[0]
        self._position += len(word)
        self._ended = self._position >= len(self._data)
        return read(word.decode("latin-1"))

    def line(self) -> str | None:
        """``std::getline``: the next line, or None at the end."""
        if self._position >= len(self._data):
            self._ended, self._good = True, False
            return None
        line, _, _ = self._data[self._position :].partition(b"\n")
        self._position += len(line) + 1
        return line.decode("latin-1")
