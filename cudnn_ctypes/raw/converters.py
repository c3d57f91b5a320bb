"""From Python arguments to C parameters: one converter per kind of parameter.

ctypes calls ``from_param`` of each entry of ``argtypes``. Handles and single out parameters use
ctypes' own, which run in C; the converters here check what ctypes would let through: members of
another enum, integers that do not fit, host memory where device memory is wanted.
"""

from __future__ import annotations

import ctypes
import numbers
import operator
from collections.abc import Callable, Sequence
from typing import Any

from .ctypes_support import CudnnEnum, OpaquePointer, storage_type
from .memory import memory_pointer
from .vocabulary import ParameterType

__all__ = ["Converter", "converter"]


class Converter:
    """An entry of ``argtypes``: anything with ``from_param``."""

    __slots__ = ("from_param",)

    def __init__(self, from_param: Callable[[Any], Any]) -> None:
        self.from_param = from_param


def converter(name: str, parameter: ParameterType) -> Any:
    """The ``argtypes`` entry for the parameter `name`."""
    base = parameter.base
    match parameter.kind:
        case "value" if issubclass(base, CudnnEnum):
            return _enum(base)
        case "value" if base in _INTEGER_RANGES:
            return _integer(base)
        case "value" if base in (ctypes.c_float, ctypes.c_double):
            return _real(base)
        case "value" if getattr(base, "__name__", "") in _FOREIGN_HANDLES:
            return _foreign_handle(base, _FOREIGN_HANDLES[base.__name__])
        case "value" if issubclass(base, _CFUNCTION):
            return _callback(base)
        case "value":
            return base
        case "device":
            return _device(name)
        case "host":
            return _host(base)
        case "scalar":
            return _scalar()
        case "array" if parameter.direction == "in":
            return _sequence(base)
        case "array":
            return _out_array(base)
        case _:
            return _pointer(base)


_INTEGER_RANGES = {
    ctype: (
        (-(1 << (8 * ctypes.sizeof(ctype) - 1)), (1 << (8 * ctypes.sizeof(ctype) - 1)) - 1)
        if ctype(-1).value == -1
        else (0, (1 << (8 * ctypes.sizeof(ctype))) - 1)
    )
    for ctype in (
        ctypes.c_int8,
        ctypes.c_uint8,
        ctypes.c_int32,
        ctypes.c_uint32,
        ctypes.c_int64,
        ctypes.c_uint64,
        ctypes.c_int,
        ctypes.c_uint,
        ctypes.c_long,
        ctypes.c_ulong,
        ctypes.c_longlong,
        ctypes.c_ulonglong,
        ctypes.c_size_t,
    )
}


def _enum(cls: type[CudnnEnum]) -> Converter:
    def from_param(value: Any) -> Any:
        if type(value) is cls:
            return value
        if type(value) is int:
            return cls(value)
        if isinstance(value, storage_type(cls)):
            return value.value
        raise TypeError(f"expected a {cls.__name__}, got {_described(value)}")

    return Converter(from_param)


def _as_int(value: Any, ctype: Any) -> int:
    low, high = _INTEGER_RANGES[ctype]
    if isinstance(value, (ctype, *_INTEGER_RANGES)):
        value = value.value  # type: ignore[attr-defined]
    if isinstance(value, CudnnEnum) or not hasattr(value, "__index__"):
        raise TypeError(f"expected an int, got {_described(value)}")
    value = operator.index(value)
    if not low <= value <= high:
        raise ValueError(f"{value} does not fit in C's {_c_name(ctype)} ({low} to {high})")
    return int(value)


def _integer(ctype: Any) -> Converter:
    low, high = _INTEGER_RANGES[ctype]
    if ctype is ctypes.c_int:
        # ctypes itself takes a Python int as a C int.
        def from_param(value: Any) -> Any:
            if type(value) is int and low <= value <= high:
                return value
            return _as_int(value, ctype)
    else:

        def from_param(value: Any) -> Any:
            if type(value) is int and low <= value <= high:
                return ctype(value)
            return ctype(_as_int(value, ctype))

    return Converter(from_param)


def _real(ctype: Any) -> Converter:
    def from_param(value: Any) -> Any:
        if isinstance(value, (ctypes.c_float, ctypes.c_double)):
            value = value.value
        if isinstance(value, numbers.Real) or hasattr(value, "__float__"):
            return ctype(float(value))
        raise TypeError(f"expected a number, got {_described(value)}")

    return Converter(from_param)


# Handles of CUDA: the type's name, and how other libraries' objects give theirs.
_FOREIGN_HANDLES: dict[str, tuple[str, ...]] = {
    "cudaStream_t": ("__cuda_stream__", "cuda_stream", "ptr"),
    "cudaGraph_t": (),
}


def _foreign_handle(base: Any, attributes: tuple[str, ...]) -> Converter:
    def from_param(value: Any) -> Any:
        if value is None or isinstance(value, base):
            return base.from_param(value)
        for attribute in attributes:
            found = getattr(value, attribute, None)
            if attribute == "__cuda_stream__" and found is not None:
                found = (found() if callable(found) else found)[1]
            if found is not None:
                value = found
                break
        if isinstance(value, ctypes.c_void_p):
            value = value.value or 0
        if hasattr(value, "__index__") or hasattr(value, "__int__"):
            handle = base()
            handle.value = int(value)
            return handle
        return base.from_param(value)

    return Converter(from_param)


_CFUNCTION: Any = ctypes.CFUNCTYPE(None).__base__


def _callback(base: Any) -> Converter:
    def from_param(value: Any) -> Any:
        if value is None:
            return base()
        if callable(value) and not isinstance(value, _CFUNCTION):
            raise TypeError(
                f"expected a {base.__name__}: wrap the function in it and keep the result alive "
                f"for as long as cuDNN may call it; got {_described(value)}"
            )
        return base.from_param(value)

    return Converter(from_param)


def _device(name: str) -> Converter:
    from_address = ctypes.c_void_p.from_param

    def from_param(value: Any) -> Any:
        if value is None or type(value) is int:
            return from_address(value)
        return from_address(memory_pointer(value, name))

    return Converter(from_param)


def _host(base: Any) -> Converter:
    from_address = ctypes.c_void_p.from_param

    def from_param(value: Any) -> Any:
        if value is None or isinstance(value, (int, ctypes.c_void_p)):
            return from_address(value)
        pointer = getattr(value, "ctypes", None)  # numpy.ndarray
        if pointer is not None:
            return from_address(pointer)
        if isinstance(value, _CDATA):
            return _address_of(value)
        if hasattr(value, "_as_parameter_"):
            return from_param(value._as_parameter_)
        try:
            return from_address(value)  # byref(...), a pointer, an array
        except TypeError:
            wanted = f" of {_c_name(base)}" if base else ""
            raise TypeError(
                f"expected host memory{wanted} (a ctypes object, byref(...), a NumPy array or an "
                f"address), got {_described(value)}"
            ) from None

    return Converter(from_param)


def _scalar() -> Converter:
    host = _host(None).from_param

    def from_param(value: Any) -> Any:
        if isinstance(value, (float, int)) and not isinstance(value, bool):
            if type(value) is int and value > 0xFFFF:  # an address
                return host(value)
            raise TypeError(
                f"expected a pointer to a number, as in C: c_float({value}), or c_double({value}) "
                f"where the tensors are DOUBLE; got {_described(value)}"
            )
        return host(value)

    return Converter(from_param)


def _sequence(base: Any) -> Converter:
    element = storage_type(base)
    pointer = ctypes.POINTER(element)
    make = _element_maker(base)

    def from_param(value: Any) -> Any:
        if value is None or isinstance(value, (ctypes.Array, pointer)):
            return pointer.from_param(value)
        if isinstance(value, (str, bytes)) or not isinstance(value, Sequence):
            if hasattr(value, "tolist"):  # numpy.ndarray
                value = value.tolist()
            elif not isinstance(value, Sequence):
                return pointer.from_param(value)  # byref(...), or ctypes' own TypeError
        return pointer.from_param((element * len(value))(*[make(item) for item in value]))

    return Converter(from_param)


def _element_maker(base: Any) -> Callable[[Any], Any]:
    if base in _INTEGER_RANGES:
        return lambda item: _as_int(item, base)
    if issubclass(base, CudnnEnum):
        return _enum(base).from_param
    if issubclass(base, OpaquePointer):
        return lambda item: base.from_param(getattr(item, "_as_parameter_", item))
    return lambda item: item


def _out_array(base: Any) -> Any:
    element = storage_type(base)
    pointer = ctypes.POINTER(element)

    def from_param(value: Any) -> Any:
        if isinstance(value, ctypes.Array) and issubclass(value._type_, ctypes.c_int):
            if issubclass(element, ctypes.c_int):  # (c_int * n)() for n enum values
                return ctypes.cast(value, pointer)
        elif hasattr(value, "ctypes") and hasattr(value, "dtype"):  # numpy.ndarray
            flags = value.flags
            if value.dtype.itemsize != ctypes.sizeof(element) or not (
                flags.c_contiguous and flags.writeable
            ):
                raise TypeError(
                    f"expected a contiguous writeable array of {_c_name(base)}, got dtype "
                    f"{value.dtype}, strides {value.strides}"
                )
            return value.ctypes.data_as(pointer)
        elif isinstance(value, (list, tuple)):
            raise TypeError(
                f"this array is written by the call: pass a ctypes array such as "
                f"({_c_name(base)} * {len(value)})(), not a {type(value).__name__}"
            )
        return pointer.from_param(value)

    return Converter(from_param)


def _pointer(base: Any) -> Any:
    element = storage_type(base)
    pointer = ctypes.POINTER(element)
    if element is base:
        return pointer

    def from_param(value: Any) -> Any:
        if type(value) is ctypes.c_int:  # plain storage for an enum value
            return ctypes.cast(ctypes.byref(value), pointer)
        target = getattr(value, "_obj", None)  # byref(c_int())
        if type(target) is ctypes.c_int:
            return ctypes.cast(value, pointer)
        return pointer.from_param(value)

    return Converter(from_param)


_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects


def _address_of(value: Any) -> Any:
    if isinstance(value, (ctypes.Array, ctypes._Pointer)) and not isinstance(value, OpaquePointer):
        return ctypes.cast(value, ctypes.c_void_p)
    return ctypes.byref(value)


def _c_name(base: Any) -> str:
    return str(getattr(base, "__name__", base))


def _described(value: Any) -> str:
    return f"{value!r} ({type(value).__name__})"
