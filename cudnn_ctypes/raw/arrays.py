"""Converters of arrays: sequences and NumPy arrays that C reads, arrays that C fills.

A ctypes array of the right elements goes to C as it is; a sequence of ints is packed into bytes,
whose address C receives.
"""

from __future__ import annotations

import ctypes
import functools
import struct
from collections.abc import Callable, Sequence
from typing import Any

from .ctypes_support import CudnnEnum, OpaquePointer, storage_type
from .values import (
    INTEGER_RANGES,
    Converter,
    as_int,
    c_name,
    described,
    enum_converter,
    parameter_of,
)


@functools.cache
def array_classes(base: Any) -> set[type]:
    """Classes of ctypes arrays of `base` that earlier calls passed; C takes them unchecked."""
    return set()


def _note(classes: set[type], cls: type) -> None:
    if issubclass(cls, ctypes.Array):
        if len(classes) >= _MOST_CLASSES:
            classes.clear()
        classes.add(cls)


_MOST_CLASSES = 256  # there is one for each length


def in_array(base: Any) -> Converter:
    """The converter of an array that C reads, with elements of type `base`."""
    element, classes = storage_type(base), array_classes(base)
    pointer = ctypes.POINTER(element)
    make = _element_maker(base)
    code = element._type_ if base in INTEGER_RANGES else ""

    def from_param(value: Any) -> Any:
        kind = value.__class__
        if kind is list or kind is tuple:
            if code and _INT.issuperset(map(type, value)):
                try:
                    return _packer(len(value), code)(*value)
                except struct.error:
                    pass  # an element does not fit: the loop below names it
        elif getattr(kind, "_type_", None) is element:
            _note(classes, kind)
            return value
        if value is None:
            return pointer.from_param(value)
        if _is_enum_storage(value, element):
            return ctypes.cast(value, pointer)
        if hasattr(value, "tolist"):  # numpy.ndarray
            value = value.tolist()
        if not isinstance(value, Sequence):
            # byref(...), or ctypes' own TypeError
            return pointer.from_param(parameter_of(value))
        if isinstance(value, (ctypes.Array, str, bytes)):
            raise TypeError(f"expected an array of {c_name(base)}, got {described(value)}")
        return (element * len(value))(*[make(item) for item in value])

    return Converter(from_param)


_INT = frozenset({int})


@functools.lru_cache(maxsize=256)
def _packer(count: int, code: str) -> Callable[..., bytes]:
    return struct.Struct(f"{count}{code}").pack


def _element_maker(base: Any) -> Callable[[Any], Any]:
    if base in INTEGER_RANGES:
        return lambda item: as_int(item, base)
    if issubclass(base, CudnnEnum):
        return enum_converter(base).from_param
    if issubclass(base, OpaquePointer):
        return lambda item: base.from_param(getattr(item, "_as_parameter_", item))
    return lambda item: item


def _is_enum_storage(value: Any, element: Any) -> bool:
    """True for ``(c_int * n)()`` where C takes an array of enum values."""
    return (
        isinstance(value, ctypes.Array)
        and value._type_ is ctypes.c_int
        and issubclass(element, ctypes.c_int)
    )


# NumPy's kinds of numbers that may stand for a C type.
_NUMPY_KINDS = {ctypes.c_float: "f", ctypes.c_double: "f", ctypes.c_char: "SV"}


def out_array(base: Any) -> Converter:
    """The converter of an array that C fills, with elements of type `base`."""
    element, classes = storage_type(base), array_classes(base)
    pointer = ctypes.POINTER(element)

    def from_param(value: Any) -> Any:
        if getattr(value.__class__, "_type_", None) is element:
            _note(classes, value.__class__)
            return value
        if _is_enum_storage(value, element):
            return ctypes.cast(value, pointer)
        if hasattr(value, "ctypes") and hasattr(value, "dtype"):  # numpy.ndarray
            flags = value.flags
            if not (
                value.dtype.kind in _NUMPY_KINDS.get(element, "iu")
                and value.dtype.itemsize == ctypes.sizeof(element)
                and flags.c_contiguous
                and flags.writeable
            ):
                raise TypeError(
                    f"expected a contiguous writeable array of {c_name(base)}, got dtype "
                    f"{value.dtype}, strides {value.strides}"
                )
            return value.ctypes.data_as(pointer)
        if isinstance(value, (list, tuple)):
            raise TypeError(
                f"this array is written by the call: pass a ctypes array such as "
                f"({c_name(base)} * {len(value)})(), not a {type(value).__name__}"
            )
        return pointer.from_param(parameter_of(value))

    return Converter(from_param)
