"""C's host memory in Python: arrays, pointers into them, and variables whose address is taken.

Whoever owns memory is a NumPy array (float, double), a ctypes array (integers, handles) or a list
(structs, pointers). All of them, and `Pointer`, can be indexed; device memory is a ``c_void_p``.
"""

from __future__ import annotations

import ctypes
import functools
from typing import Any

import numpy as np

__all__ = [
    "Cell",
    "Pointer",
    "address_of",
    "addresses",
    "allocate",
    "array",
    "chars",
    "difference",
    "is_null",
    "offset",
    "precedes",
    "same",
]

FLOATS = {ctypes.c_float: np.float32, ctypes.c_double: np.float64, np.float16: np.float16}
_CDATA: Any = ctypes.Structure.__base__


class Single:
    """A ctypes variable seen as an array of one element."""

    def __init__(self, variable: Any) -> None:
        self.variable = variable

    def __len__(self) -> int:
        return 1

    def __getitem__(self, index: int) -> Any:
        value = self.variable.value
        return np.float32(value) if isinstance(self.variable, ctypes.c_float) else value

    def __setitem__(self, index: int, value: Any) -> None:
        self.variable.value = value


class Cell:
    """A variable of a pointer type whose address is taken; ``cell[0]`` is C's ``*p``."""

    def __init__(self, value: Any = None) -> None:
        self.value: Any = value

    def __getitem__(self, index: int) -> Any:
        _within(index, 1)
        return self.value

    def __setitem__(self, index: int, value: Any) -> None:
        _within(index, 1)
        self.value = value


class Pointer:
    """A pointer into host memory: an array and the index of an element.

    Parameters
    ----------
    memory : NumPy array, ctypes array or variable, list, str or Pointer
    offset : int
        In elements.

    Examples
    --------
    >>> from cudnn_ctypes.porting.runtime import Pointer, array
    >>> from ctypes import c_int
    >>> p = Pointer(array(c_int, 4, values=[1, 2, 3, 4]), 1)
    >>> p[0], (p + 1)[0]
    (2, 3)
    """

    __slots__ = ("index", "memory")

    memory: Any
    index: int

    def __init__(self, memory: Any, offset: int = 0) -> None:
        if isinstance(memory, Pointer):
            memory, offset = memory.memory, memory.index + offset
        elif isinstance(memory, str):
            memory = chars(memory)
        elif isinstance(memory, _CDATA) and not isinstance(memory, ctypes.Array):
            memory = Single(memory)
        self.memory = flat(memory)
        self.index = offset

    def __getitem__(self, index: int) -> Any:
        return self.memory[_within(self.index + index, len(self.memory))]

    def __setitem__(self, index: int, value: Any) -> None:
        self.memory[_within(self.index + index, len(self.memory))] = value

    def __add__(self, count: int) -> Pointer:
        return Pointer(self.memory, self.index + count)

    def __sub__(self, count: int) -> Pointer:
        return Pointer(self.memory, self.index - count)

    @property
    def value(self) -> Any:
        """The object pointed to, under ctypes' name for it."""
        return self[0]

    @value.setter
    def value(self, value: Any) -> None:
        self[0] = value

    def __repr__(self) -> str:
        return f"Pointer({type(self.memory).__name__} of {len(self.memory)}, {self.index})"

    @property
    def __array_interface__(self) -> dict[str, Any]:
        """From here to the end of the memory, as NumPy takes it without a copy."""
        element = element_of(self.memory)
        count = max(len(self.memory) - self.index, 0)
        kind = np.dtype(element if element is not ctypes.c_byte else np.int8).str
        return {"version": 3, "shape": (count,), "typestr": kind, "data": (address_of(self), False)}

    @property
    def _as_parameter_(self) -> Any:
        """The argument for C functions."""
        if isinstance(self.memory, Single):
            return ctypes.pointer(self.memory.variable)
        element = element_of(self.memory)
        return ctypes.cast(address_of(self), ctypes.POINTER(element))


def _within(index: int, length: int) -> int:
    if not 0 <= index < length:
        raise IndexError(f"element {index} of host memory with {length} elements")
    return index


def flat(memory: Any) -> Any:
    """Memory with one index."""
    if isinstance(memory, np.ndarray):
        return memory if memory.ndim == 1 else memory.reshape(-1)
    if isinstance(memory, ctypes.Array):
        element: Any = type(memory)._type_
        if not issubclass(element, ctypes.Array):
            return memory
        element = element_of(memory)
        count = ctypes.sizeof(memory) // ctypes.sizeof(element)
        return (element * count).from_buffer(memory)
    return memory


def element_of(memory: Any) -> Any:
    """The type of an array's elements, for ctypes."""
    if isinstance(memory, np.ndarray):
        return {4: ctypes.c_float, 8: ctypes.c_double}.get(memory.itemsize, ctypes.c_uint16)
    kind = getattr(type(memory), "_type_", ctypes.c_void_p)
    while isinstance(kind, type) and issubclass(kind, ctypes.Array):
        kind = kind._type_
    return kind


@functools.cache
def chars(text: str) -> Any:
    """A string literal as C holds it: one array of ``char`` that ends with 0."""
    data = text.encode()
    found = (ctypes.c_byte * (len(data) + 1))()
    ctypes.memmove(found, data, len(data))
    return found


def allocate(element: Any, count: int) -> Any:
    """Memory for `count` elements, all zero: C's ``malloc``, ``calloc`` and ``new[]``."""
    if count < 0:
        raise ValueError(f"count: {count} elements cannot be allocated")
    if element in FLOATS:
        return np.zeros(count, FLOATS[element])
    if element is object:
        return [None] * count
    if _is_ctypes(element):
        return (element * count)()
    return [element() for _ in range(count)]


def _is_ctypes(element: Any) -> bool:
    return isinstance(element, type) and issubclass(element, _CDATA)


def array(element: Any, *lengths: int, values: Any = None) -> Any:
    """An array of C, with one index for each of `lengths`; `values` are its first elements."""
    if element in FLOATS:
        found: Any = np.zeros(lengths, FLOATS[element])
    elif _is_ctypes(element):
        kind: Any = element
        for length in reversed(lengths):
            kind = kind * length
        found = kind()
    elif len(lengths) == 1:
        found = allocate(element, lengths[0])
    else:
        found = [array(element, *lengths[1:]) for _ in range(lengths[0])]
    if isinstance(values, str):
        values = values.encode()
    for index, value in enumerate(() if values is None else values):
        if isinstance(value, (list, tuple)) and len(lengths) > 1:
            found[index] = array(element, *lengths[1:], values=value)
        else:
            found[index] = value
    return found


def is_null(pointer: Any) -> bool:
    """Whether C's `pointer` is NULL."""
    if isinstance(pointer, (int, ctypes.c_void_p)):
        return not (pointer if isinstance(pointer, int) else pointer.value)
    if isinstance(pointer, ctypes._Pointer):  # a handle
        return not pointer
    return pointer is None


def offset(pointer: Any, count: int, element: Any) -> Any:
    """C's ``pointer + count``, for host and device memory of `element`."""
    if hasattr(pointer, "ctype"):  # one of `cudart`
        return type(pointer)(pointed_type(element), int(pointer)) + count
    if pointer is None or isinstance(pointer, (int, ctypes.c_void_p)):
        start = pointer.value if isinstance(pointer, ctypes.c_void_p) else pointer
        size = np.dtype(element).itemsize if element is np.float16 else ctypes.sizeof(element)
        return ctypes.c_void_p((start or 0) + count * size)
    return Pointer(pointer, count)


def pointed_type(element: Any) -> Any:
    return ctypes.c_uint16 if element is np.float16 else element


def _key(pointer: Any) -> tuple[int, int]:
    if pointer is None or isinstance(pointer, (int, ctypes.c_void_p)):
        return 0, (pointer.value if isinstance(pointer, ctypes.c_void_p) else pointer) or 0
    found = Pointer(pointer) if not isinstance(pointer, Pointer) else pointer
    try:
        return 0, address_of(found)
    except TypeError:
        return id(found.memory), found.index


def same(left: Any, right: Any) -> bool:
    """C's ``left == right`` of two pointers."""
    return left is right or _key(left) == _key(right)


def precedes(left: Any, right: Any) -> bool:
    """C's ``left < right`` of two pointers into the same memory."""
    return _key(left) < _key(right)


def difference(left: Any, right: Any, element: Any) -> int:
    """C's ``left - right`` of two pointers into the same memory, in elements."""
    if not isinstance(left, ctypes.c_void_p):
        first, second = Pointer(left), Pointer(right)
        if first.memory is second.memory:
            return first.index - second.index
    return (_key(left)[1] - _key(right)[1]) // ctypes.sizeof(element)


def address_of(pointer: Any) -> int:
    """The address of host memory as a number."""
    found = pointer if isinstance(pointer, Pointer) else Pointer(pointer)
    memory = found.memory
    if isinstance(memory, Single):
        return ctypes.addressof(memory.variable)
    if isinstance(memory, np.ndarray):
        return int(memory.ctypes.data + found.index * memory.itemsize)
    if isinstance(memory, ctypes.Array):
        return ctypes.addressof(memory) + found.index * ctypes.sizeof(element_of(memory))
    raise TypeError(f"expected numbers in host memory, got {type(memory).__name__}")


def addresses(pointers: Any) -> Any:
    """An array of pointers as C holds it."""
    values = [getattr(one, "value", one) for one in pointers]
    return (ctypes.c_void_p * len(values))(*values)
