"""Parts of C++'s library: ``std::vector`` and standard output."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np

from .memory import Pointer, allocate, copied
from .text import string


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

    def duplicate(self) -> Vector:
        """A copy, as C++'s assignment makes it."""
        found = Vector(self._element)
        found._memory = allocate(self._element, self._size)
        for index in range(self._size):
            found._memory[index] = copied(self._memory[index])
        found._size = self._size
        return found

    def replace(self, other: Any) -> None:
        """Take the elements of another vector, which is not used any more."""
        self._memory, self._size = other._memory, other._size


def between(first: Any, last: Any) -> list[Any]:
    """The elements from a pointer up to another into the same memory."""
    start = Pointer(first)
    return [copied(start[index]) for index in range(Pointer(last).index - start.index)]


def _shown(value: Any) -> str:
    if isinstance(value, (float, np.floating)):
        return f"{float(value):.6g}"
    return str(int(value)) if isinstance(value, int) else string(value)


def cout(*values: Any) -> None:
    """Print what ``std::cout << …`` prints."""
    sys.stdout.write("".join(map(_shown, values)))


def cerr(*values: Any) -> None:
    """Print what ``std::cerr << …`` prints."""
    sys.stderr.write("".join(map(_shown, values)))
