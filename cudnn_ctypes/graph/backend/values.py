"""Values of backend attributes: from Python to C's arrays, and back.

cuDNN trusts the type code that comes with a value, and reads what it points to as that type: a
BOOLEAN given as an int, or a data type as an int64, is read as something else. Here the type
follows from the attribute, and Python values are checked against it.
"""

from __future__ import annotations

import ctypes
import functools
import numbers
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from ... import raw
from ...arguments import c_integer, enumerator, flag
from ...dtypes import data_type_argument
from ...errors import SymbolNotFoundError
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw import cudnnBackendDescriptorType_t as Kind
from ...raw.attributes import ENUMS, Attribute, element_type, kind_name
from ...raw.ctypes_support import CudnnEnum
from ...raw.memory import memory_pointer
from ...raw.origins import SINCE
from ...raw.values import described


def require(enumerator: CudnnEnum, what: str) -> None:
    """Refuse an enumerator that is newer than the loaded library.

    Raises SymbolNotFoundError with the version that has it and the loaded one.
    """
    since = SINCE.get(enumerator.name)
    if since is None:
        return
    if outdated := raw.load().outdated(what, since):
        raise SymbolNotFoundError(outdated)


def require_kind(kind: Kind) -> None:
    require(kind, f"the backend descriptor {kind_name(kind)!r}")


def require_attribute(attribute: Attribute) -> None:
    require(attribute.name, f"the attribute {attribute.full_name!r}")


# These point to host memory; cuDNN's other pointers point to device memory.
_HOST_POINTERS = ("constant_value", "init_values")

# Of these cuDNN reads a std::vector<std::vector<int64_t>>.
_VECTORS = ("override_shapes", "override_strides")


@dataclass(frozen=True)
class Encoded:
    """A value as cuDNN takes it; `kept` lives as long as cuDNN may follow an address in it."""

    type: Type
    array: Any
    kept: tuple[Any, ...] = ()


def encode(attribute: Attribute, value: Any) -> Encoded:
    """`value` as the C array for an attribute that holds anything but descriptors.

    Raises TypeError if it is of another type than the attribute wants, or one value instead of
    several. Raises ValueError if it does not fit, or names no enumerator. Raises
    SymbolNotFoundError if it is an enumerator that the loaded cuDNN lacks.
    """
    if attribute.types == (Type.CUDNN_TYPE_CHAR,):
        text = _text(attribute.full_name, value)
        return Encoded(Type.CUDNN_TYPE_CHAR, ctypes.create_string_buffer(text))
    if attribute.short_name in _VECTORS:
        return _vectors(attribute.full_name, value)
    items = values_of(attribute, value)
    type_ = _type_for(attribute, items)
    convert = _converter(attribute, type_)
    name = attribute.full_name
    elements = [
        convert(f"{name}[{i}]" if attribute.is_array else name, item)
        for i, item in enumerate(items)
    ]
    return Encoded(type_, (element_type(type_) * len(elements))(*elements), tuple(items))


def values_of(attribute: Attribute, value: Any) -> list[Any]:
    """The elements of `value`: a list for an attribute that is an array, else one."""
    is_list = isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes))
    if attribute.is_array:
        if not is_list and not isinstance(value, Iterable):
            raise TypeError(f"{attribute.full_name}: expected a list, got {described(value)}")
        return list(value)
    is_memory = Type.CUDNN_TYPE_VOID_PTR in attribute.types and isinstance(value, np.ndarray)
    if is_list and not is_memory:
        raise TypeError(f"{attribute.full_name}: expected one value, got {described(value)}")
    return [value]


def _type_for(attribute: Attribute, items: list[Any]) -> Type:
    """The type in which the items are given, of those that the attribute takes.

    Numbers may be given in one of several types; a ctypes scalar chooses. The engines read the
    alpha and beta of a convolution in its computation's type, whatever type they were set in: set
    as DOUBLE, or not set at all, they are zero for a convolution that computes in float32.
    """
    types = [t for t in attribute.types if t != Type.CUDNN_TYPE_BACKEND_DESCRIPTOR]
    if any(isinstance(item, Fraction) for item in items) and Type.CUDNN_TYPE_FRACTION in types:
        return Type.CUDNN_TYPE_FRACTION
    for type_ in types:
        if any(type_ not in ENUMS and isinstance(item, element_type(type_)) for item in items):
            return type_
    return types[0]


def _converter(attribute: Attribute, type_: Type) -> Callable[[str, Any], Any]:
    if type_ == Type.CUDNN_TYPE_DATA_TYPE:
        return _data_type
    if type_ in ENUMS:
        return lambda name, value: _enumerator(ENUMS[type_], name, value)
    if type_ == Type.CUDNN_TYPE_VOID_PTR and attribute.short_name in _HOST_POINTERS:
        return _host_address
    return _CONVERTERS[type_]


def _data_type(name: str, value: Any) -> int:
    data_type = data_type_argument(name, value)
    require(data_type, str(data_type))
    return int(data_type)


def _enumerator(cls: type[CudnnEnum], name: str, value: Any) -> int:
    member = enumerator(cls, value, name)
    require(member, str(member))
    return int(member)


def _integer(ctype: Any) -> Callable[[str, Any], int]:
    return functools.partial(c_integer, ctype=ctype)


def _real(name: str, value: Any) -> float:
    if isinstance(value, (ctypes.c_float, ctypes.c_double)):
        return value.value
    if isinstance(value, (bool, np.bool_, CudnnEnum)) or not isinstance(value, numbers.Real):
        raise TypeError(f"{name}: expected a number, got {described(value)}")
    return float(value)


def _fraction(name: str, value: Any) -> raw.cudnnFraction_t:
    if not isinstance(value, numbers.Rational):
        raise TypeError(f"{name}: expected a Fraction or an int, got {described(value)}")
    return raw.cudnnFraction_t(int(value.numerator), int(value.denominator))


def device_address(name: str, value: Any) -> int | None:
    """The address that a variant pack takes for device memory or a ctypes scalar."""
    if isinstance(value, ctypes._SimpleCData) and isinstance(value, _HOST_SCALARS):
        return ctypes.addressof(value)
    return memory_pointer(value, name)


def _host_address(name: str, value: Any) -> int | None:
    if isinstance(value, np.ndarray):
        return int(value.ctypes.data)
    if isinstance(value, _CDATA):
        return ctypes.addressof(value)
    raise TypeError(
        f"{name}: expected host memory (a ctypes object or a NumPy array), got {described(value)}"
    )


class _Vector(ctypes.Structure):
    """A ``std::vector`` as GCC and Clang lay it out: where it begins and ends, and its room."""

    _fields_ = [(name, ctypes.c_void_p) for name in ("begin", "end", "room")]

    @classmethod
    def of(cls, array: Any) -> _Vector:
        begin = ctypes.addressof(array)
        end = begin + ctypes.sizeof(array)
        return cls(begin, end, end)


def _vectors(name: str, value: Any) -> Encoded:
    """Lists of int of any length, as the address of the outer vector."""
    convert = _integer(ctypes.c_int64)
    if not isinstance(value, (list, tuple)) or not all(
        isinstance(row, (list, tuple)) for row in value
    ):
        raise TypeError(f"{name}: expected a list of lists of int, got {described(value)}")
    rows = [
        (ctypes.c_int64 * len(row))(*(convert(f"{name}[{i}][{k}]", n) for k, n in enumerate(row)))
        for i, row in enumerate(value)
    ]
    inner = (_Vector * len(rows))(*map(_Vector.of, rows))
    outer = _Vector.of(inner)
    # cuDNN is told of one element, and reads on to the end of the vector behind it.
    return Encoded(
        Type.CUDNN_TYPE_VOID_PTR, (ctypes.c_void_p * 1).from_buffer(outer), (outer, inner, rows)
    )


_CDATA: Any = ctypes.Structure.__base__
# Types of the value of a tensor that is passed by value.
_HOST_SCALARS = (
    ctypes.c_float,
    ctypes.c_double,
    ctypes.c_int32,
    ctypes.c_int64,
    ctypes.c_uint8,
    ctypes.c_uint16,
)


def _handle(name: str, value: Any) -> int | None:
    handle = getattr(value, "_as_parameter_", value)
    if not isinstance(handle, raw.cudnnHandle_t):
        raise TypeError(f"{name}: expected a Handle, got {described(value)}")
    return handle.value


def _text(name: str, value: Any) -> bytes:
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"{name}: expected text, got {described(value)}")
    return value.encode() if isinstance(value, str) else bytes(value)


_CONVERTERS: dict[Type, Callable[[str, Any], Any]] = {
    Type.CUDNN_TYPE_HANDLE: _handle,
    Type.CUDNN_TYPE_BOOLEAN: flag,
    Type.CUDNN_TYPE_INT64: _integer(ctypes.c_int64),
    Type.CUDNN_TYPE_INT32: _integer(ctypes.c_int32),
    Type.CUDNN_TYPE_FLOAT: _real,
    Type.CUDNN_TYPE_DOUBLE: _real,
    Type.CUDNN_TYPE_VOID_PTR: device_address,
    Type.CUDNN_TYPE_FRACTION: _fraction,
}


def decode(attribute: Attribute, type_: Type, array: Any, count: int) -> Any:
    """The first `count` elements that cuDNN wrote, as Python values: a list or one value."""
    if type_ == Type.CUDNN_TYPE_CHAR:
        return array[:count].rstrip(b"\0").decode("utf-8", "replace")
    values = [_decoded(type_, element) for element in array[:count]]
    if attribute.is_array:
        return values
    return values[0] if values else None


def _decoded(type_: Type, element: Any) -> Any:
    if type_ in ENUMS:
        return ENUMS[type_](element)
    if isinstance(element, raw.cudnnFraction_t):
        return Fraction(element.numerator, element.denominator)
    return element
