"""The bytes of C's host memory: copied, compared, and read as another type."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from .memory import FLOATS, Pointer, Single, chars, element_of, flat, pointed_type

__all__ = ["bytes_at", "cast", "memcmp", "memcpy", "memset"]


def bytes_at(pointer: Any) -> memoryview:
    """The bytes from where a host pointer points to the end of its memory."""
    packed = getattr(pointer, "packed_bytes", None)
    if packed is not None:
        return memoryview(packed())
    found = pointer if isinstance(pointer, Pointer) else Pointer(pointer)
    memory = found.memory
    if isinstance(memory, Single):
        return memoryview(memory.variable).cast("B")
    if isinstance(memory, np.ndarray):
        data: Any = memory.view(np.uint8)
        return memoryview(data)[found.index * memory.itemsize :]
    if isinstance(memory, ctypes.Array):
        return memoryview(memory).cast("B")[found.index * ctypes.sizeof(element_of(memory)) :]
    raise TypeError(f"expected numbers in host memory, got {type(memory).__name__}")


def cast(pointer: Any, element: Any) -> Any:
    """C's ``(element *) pointer``: the same memory, read as another type."""
    if hasattr(pointer, "ctype"):
        return type(pointer)(pointed_type(element), int(pointer))
    if pointer is None or isinstance(pointer, (int, ctypes.c_void_p, ctypes._Pointer)):
        return pointer
    found = pointer if isinstance(pointer, Pointer) else Pointer(pointer)
    if isinstance(found.memory, list) or element_of(found.memory) is element:
        return flat(pointer)
    data = bytes_at(found)
    if element in FLOATS:
        size = np.dtype(FLOATS[element]).itemsize
        return np.frombuffer(data[: len(data) // size * size], FLOATS[element])
    return (element * (len(data) // ctypes.sizeof(element))).from_buffer(data)


def _checked(pointer: Any, count: int, function: str) -> memoryview:
    data = bytes_at(pointer)
    if not 0 <= count <= len(data):
        raise IndexError(f"{function}: {count} bytes of host memory with {len(data)}")
    return data


def memcpy(target: Any, source: Any, count: int) -> Any:
    """C's ``memcpy`` and ``memmove`` within host memory."""
    if isinstance(source, str):
        source = chars(source)
    data = bytes(_checked(source, count, "memcpy")[:count])
    return _stored(target, data, count, "memcpy")


def memset(target: Any, value: int, count: int) -> Any:
    """C's ``memset`` of host memory."""
    return _stored(target, bytes([value & 255]) * count, count, "memset")


def _stored(target: Any, data: bytes, count: int, function: str) -> Any:
    """`target`, a struct or host memory, with `data` in its first `count` bytes."""
    if hasattr(target, "unpack_bytes"):
        target.unpack_bytes(data)
    else:
        _checked(target, count, function)[:count] = data
    return target


def memcmp(left: Any, right: Any, count: int) -> int:
    """C's ``memcmp``: negative, zero or positive."""
    first = bytes(_checked(left, count, "memcmp")[:count])
    second = bytes(_checked(right, count, "memcmp")[:count])
    return (first > second) - (first < second)
