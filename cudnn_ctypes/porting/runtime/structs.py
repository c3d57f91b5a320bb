"""C's structs: values that are copied when they are assigned, with a layout in bytes."""

from __future__ import annotations

import copy
import ctypes
import enum
from typing import Any, ClassVar

import numpy as np

from .memory import Cell, array

__all__ = ["Struct", "assign", "cell", "copied", "dim3", "sizeof"]


class cell:
    """The type of a field whose address is taken: it is held as a ctypes object."""

    def __init__(self, element: Any) -> None:
        self.element = element


class Struct:
    """A struct of C; subclasses name their fields.

    `fields` gives each field's type: one of ctypes, ``object`` for a pointer or string, a class,
    a tuple of element and lengths for an array, or a function without parameters.

    Examples
    --------
    >>> from ctypes import c_int
    >>> from cudnn_ctypes.porting.runtime import Struct
    >>> class Shape(Struct):
    ...     fields = {"n": c_int, "c": c_int}
    >>> Shape(2, 3).c
    3
    """

    fields: ClassVar[dict[str, Any]] = {}
    lines: ClassVar[str] = ""

    def __init__(self, *values: Any, **named: Any) -> None:
        for name, kind in self.fields.items():
            setattr(self, name, _initial(kind))
        for name, value in [*zip(self.fields, values, strict=False), *named.items()]:
            kind = self.fields[name]
            if isinstance(kind, cell):
                getattr(self, name).value = value
            elif isinstance(kind, tuple) and isinstance(value, (list, tuple, str)):
                setattr(self, name, array(*kind, values=value))
            else:
                setattr(self, name, value)

    @classmethod
    def layout(cls) -> type[ctypes.Structure]:
        """The same fields as a ctypes structure, which places them as C does."""
        fields = [(name, _stored(kind)) for name, kind in cls.fields.items()]
        return type(cls.__name__, (ctypes.Structure,), {"_fields_": fields})

    def packed_bytes(self) -> bytearray:
        """The struct as it lies in C's memory."""
        memory = self.layout()()
        for name, kind in self.fields.items():
            value = getattr(self, name)
            if isinstance(kind, tuple):
                ctypes.memmove(
                    getattr(memory, name),
                    value.ctypes.data if isinstance(value, np.ndarray) else value,
                    ctypes.sizeof(getattr(memory, name)),
                )
            elif kind is not object:
                setattr(memory, name, value.value if isinstance(kind, cell) else value)
        return bytearray(memory)

    def unpack_bytes(self, data: bytes) -> None:
        """Take the fields from C's memory."""
        layout = self.layout()
        whole = bytes(data) + bytes(self.packed_bytes())[len(data) :]
        memory = layout.from_buffer_copy(whole)
        for name, kind in self.fields.items():
            value = getattr(memory, name)
            if isinstance(kind, tuple):
                target = getattr(self, name)
                address = target.ctypes.data if isinstance(target, np.ndarray) else target
                ctypes.memmove(address, value, ctypes.sizeof(value))
            elif isinstance(kind, cell):
                getattr(self, name).value = value
            elif kind is object:
                setattr(self, name, None)
            else:
                setattr(self, name, np.float32(value) if kind is ctypes.c_float else value)

    def __repr__(self) -> str:
        fields = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.fields)
        return f"{type(self).__name__}({fields})"


class dim3:
    """CUDA's sizes of a grid or block."""

    def __init__(self, x: int = 1, y: int = 1, z: int = 1) -> None:
        self.x: int = x
        self.y: int = y
        self.z: int = z

    def __iter__(self) -> Any:
        return iter((self.x, self.y, self.z))


_SIMPLE: Any = ctypes.c_int.__base__


def _initial(kind: Any) -> Any:
    if isinstance(kind, cell):
        return Cell() if kind.element is object else kind.element()
    if kind is object:
        return None
    if kind is ctypes.c_float:
        return np.float32(0)
    if isinstance(kind, tuple):
        return array(*kind)
    value = kind()
    return value.value if type(value).__base__ is _SIMPLE else value


def _stored(kind: Any) -> Any:
    if isinstance(kind, cell):
        return _stored(kind.element)
    if isinstance(kind, tuple):
        found = _stored(kind[0])
        for length in reversed(kind[1:]):
            found = found * length
        return found
    if kind is object:
        return ctypes.c_void_p
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return ctypes.c_int
    if isinstance(kind, type) and issubclass(kind, Struct):
        raise TypeError(f"the bytes of {kind.__name__} within another struct are not known")
    return kind


def sizeof(kind: Any) -> int:
    """C's ``sizeof`` of a type or of what a variable holds."""
    if isinstance(kind, type) and issubclass(kind, Struct):
        return ctypes.sizeof(kind.layout())
    if kind is np.float16:
        return 2
    if isinstance(kind, np.ndarray):
        return int(kind.nbytes)
    if isinstance(kind, Struct):
        return ctypes.sizeof(kind.layout())
    if isinstance(kind, list):  # of structs or pointers
        return sum(sizeof(one) if isinstance(one, (Struct, list)) else 8 for one in kind)
    return ctypes.sizeof(kind)


def copied(value: Any) -> Any:
    """The value that C's assignment stores: structs, handles and containers are copied."""
    if isinstance(value, Struct):
        found = copy.copy(value)
        for name in value.fields:
            field = getattr(value, name)
            is_array = isinstance(value.fields[name], tuple)
            setattr(found, name, _array_copied(field) if is_array else copied(field))
        return found
    if isinstance(value, Cell):
        return Cell(value.value)
    if isinstance(value, ctypes._Pointer) or type(value).__base__ is _SIMPLE:
        return _array_copied(value)
    duplicate = getattr(value, "duplicate", None)
    return duplicate() if duplicate else value


def _array_copied(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return value.copy()
    if isinstance(value, list):
        return [_array_copied(one) if isinstance(one, list) else copied(one) for one in value]
    found = type(value)()
    ctypes.memmove(ctypes.byref(found), ctypes.byref(value), ctypes.sizeof(value))
    return found


def assign(target: Any, source: Any) -> None:
    """C's ``target = source`` for structs and handles: pointers into `target` stay valid."""
    if isinstance(target, Struct):
        for name in target.fields:
            old, new = getattr(target, name), getattr(source, name)
            if isinstance(old, (Struct, list, np.ndarray, ctypes.Array)):
                assign(old, new)
            else:
                setattr(target, name, copied(new))
    elif isinstance(target, np.ndarray):
        target[...] = source
    elif isinstance(target, list):
        for index, new in enumerate(source):
            if isinstance(target[index], (Struct, list)):
                assign(target[index], new)
            else:
                target[index] = copied(new)
    elif hasattr(target, "duplicate"):
        target.replace(source)
    else:
        ctypes.memmove(ctypes.byref(target), ctypes.byref(source), ctypes.sizeof(target))
