"""C's memory: pointers, arrays, structs, and bytes read as other types."""

from __future__ import annotations

import copy
import ctypes
import enum
import functools
from typing import Any, ClassVar

import numpy as np

from ...raw.ctypes_support import CudnnEnum
from ..cudart import DevicePointer

FLOATS = {ctypes.c_float: np.float32, ctypes.c_double: np.float64}
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
        return {4: ctypes.c_float, 8: ctypes.c_double}[memory.itemsize]
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
    return isinstance(element, type) and issubclass(element, (_CDATA, CudnnEnum))


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
        return type(pointer)(element, int(pointer)) + count
    if pointer is None or isinstance(pointer, (int, ctypes.c_void_p)):
        start = pointer.value if isinstance(pointer, ctypes.c_void_p) else pointer
        return ctypes.c_void_p((start or 0) + count * ctypes.sizeof(element))
    return Pointer(pointer, count)


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


def _memory(pointer: Any) -> tuple[Any, int]:
    """The object that holds host memory, and where in it a pointer points to, in bytes."""
    found = pointer if isinstance(pointer, Pointer) else Pointer(pointer)
    memory = found.memory
    if isinstance(memory, Single):
        return memory.variable, 0
    if isinstance(memory, np.ndarray):
        return memory.view(np.uint8), found.index * memory.itemsize
    if isinstance(memory, ctypes.Array):
        return memory, found.index * ctypes.sizeof(element_of(memory))
    raise TypeError(f"expected numbers in host memory, got {type(memory).__name__}")


def address_of(pointer: Any) -> int:
    """The address of host memory as a number."""
    memory, start = _memory(pointer)
    is_array = isinstance(memory, np.ndarray)
    return int(memory.ctypes.data if is_array else ctypes.addressof(memory)) + start


def addresses(pointers: Any) -> Any:
    """An array of pointers as C holds it."""
    host = Pointer, np.ndarray, ctypes.Array
    values = [address_of(x) if isinstance(x, host) else getattr(x, "value", x) for x in pointers]
    return (ctypes.c_void_p * len(values))(*values)


def bytes_at(pointer: Any) -> memoryview:
    """The bytes from where a host pointer points to the end of its memory."""
    packed = getattr(pointer, "packed_bytes", None)
    if packed is not None:
        return memoryview(packed())
    memory, start = _memory(pointer)
    return memoryview(memory).cast("B")[start:]


def cast(pointer: Any, element: Any) -> Any:
    """C's ``(element *) pointer``: the same memory, read as another type."""
    if hasattr(pointer, "ctype"):
        return type(pointer)(element, int(pointer))
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


def _room(pointer: Any, count: int, function: str) -> memoryview:
    """The first bytes of host memory, as many as a function of C reads or writes."""
    data = bytes_at(pointer)
    if not 0 <= count <= len(data):
        raise IndexError(f"{function}: {count} bytes of host memory with {len(data)}")
    return data[:count]


def _stored(target: Any, data: bytes, function: str) -> Any:
    """`target`, a struct or host memory, with `data` in its first bytes."""
    if hasattr(target, "unpack_bytes"):
        target.unpack_bytes(data)
    else:
        _room(target, len(data), function)[:] = data
    return target


def memcpy(target: Any, source: Any, count: int) -> Any:
    """C's ``memcpy`` and ``memmove`` within host memory."""
    source = chars(source) if isinstance(source, str) else source
    return _stored(target, bytes(_room(source, count, "memcpy")), "memcpy")


def memset(target: Any, value: int, count: int) -> Any:
    """C's ``memset`` of host memory."""
    return _stored(target, bytes([value & 255]) * count, "memset")


def memcmp(left: Any, right: Any, count: int) -> int:
    """C's ``memcmp``: negative, zero or positive."""
    first, second = (bytes(_room(each, count, "memcmp")) for each in (left, right))
    return (first > second) - (first < second)


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
        fields = [(name, _stored_kind(kind)) for name, kind in cls.fields.items()]
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


def _stored_kind(kind: Any) -> Any:
    if isinstance(kind, cell):
        return _stored_kind(kind.element)
    if isinstance(kind, tuple):
        found = _stored_kind(kind[0])
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


class SharedPointer(DevicePointer):
    """A pointer that the host may read and write through; floats are ``numpy.float32``."""

    def __getitem__(self, index: int) -> Any:
        value = super().__getitem__(index)
        return np.float32(value) if self.ctype is ctypes.c_float else value

    def __add__(self, count: int) -> SharedPointer:
        return SharedPointer(self.ctype, int(super().__add__(count)))
