"""Converters of Python arguments to C parameters, one per kind of parameter.

ctypes calls ``from_param`` of each entry of ``argtypes``. Handles and single out parameters use
ctypes' own, which run in C. The converters here refuse values that ctypes would accept: members of
another enum, integers that do not fit, host memory where device memory is wanted.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .arrays import in_array, out_array
from .ctypes_support import CudnnEnum, OpaquePointer, storage_type
from .memory import memory_pointer, on_gpu
from .values import (
    INTEGER_RANGES,
    Converter,
    c_name,
    described,
    enum_converter,
    integer_converter,
    parameter_of,
    real_converter,
)
from .vocabulary import ParameterType


def converter(name: str, parameter: ParameterType) -> Any:
    """The ``argtypes`` entry for the parameter `name`."""
    base = parameter.base
    match parameter.kind:
        case "value" if issubclass(base, CudnnEnum):
            return enum_converter(base)
        case "value" if base in INTEGER_RANGES:
            return integer_converter(base)
        case "value" if base in (ctypes.c_float, ctypes.c_double):
            return real_converter(base)
        case "value" if getattr(base, "__name__", "") in _FOREIGN_HANDLES:
            return _foreign_handle(base, _FOREIGN_HANDLES[base.__name__])
        case "value" if issubclass(base, _CFUNCTION):
            return _callback(base)
        case "value" if issubclass(base, OpaquePointer):
            return _handle(base)
        case "value":
            return base
        case "device":
            return _device(name)
        case "host":
            return _host(base)
        case "scalar":
            return _scalar()
        case "labelled":
            return _labelled(name)
        case "array" if parameter.direction == "in":
            return in_array(base)
        case "array":
            return out_array(base)
        case _:
            return _pointer(base)


# Handles of CUDA: the type's name, and the attributes of other libraries' objects that hold one.
_FOREIGN_HANDLES: dict[str, tuple[str, ...]] = {
    "cudaStream_t": ("__cuda_stream__", "cuda_stream", "ptr"),
    "cudaGraph_t": (),
}


def _handle(base: Any) -> Converter:
    convert = base.from_param

    def from_param(value: Any) -> Any:
        # The usual case; ctypes' own check takes 70 ns longer.
        return value if value.__class__ is base else convert(parameter_of(value))

    return Converter(from_param)


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
                f"for as long as cuDNN may call it; got {described(value)}"
            )
        return base.from_param(value)

    return Converter(from_param)


def _device(name: str) -> Converter:
    from_address = ctypes.c_void_p.from_param

    def from_param(value: Any) -> Any:
        return from_address(memory_pointer(value, name))

    return Converter(from_param)


def _host(base: Any) -> Converter:
    from_address = ctypes.c_void_p.from_param

    def from_param(value: Any) -> Any:
        if value is None or type(value) is ctypes.c_void_p:
            return from_address(value)
        if isinstance(value, (int, str)):  # ctypes would take it for an address, or its characters
            raise refusal(value)
        pointer = getattr(value, "ctypes", None)  # numpy.ndarray
        if isinstance(value, _CDATA):
            return _address_of(value)
        try:
            if pointer is not None:
                return from_address(parameter_of(pointer))
            if hasattr(value, "_as_parameter_"):
                if on_gpu(value):
                    raise refusal(value)
                return from_param(parameter_of(value))
            return from_address(value)  # byref(...), a pointer, an array
        except TypeError:
            raise refusal(value) from None

    def refusal(value: Any) -> TypeError:
        wanted = f" of {c_name(base)}" if base else ""
        return TypeError(
            f"expected host memory{wanted} (a ctypes object, byref(...), a NumPy array or a "
            f"c_void_p), got {described(value)}"
        )

    return Converter(from_param)


def _labelled(name: str) -> Converter:
    host = _host(None).from_param

    def from_param(value: Any) -> Any:
        pointer = getattr(value, "_as_parameter_", value)
        if isinstance(pointer, OpaquePointer):  # as C converts a descriptor to void *
            return ctypes.c_void_p(pointer.value)
        if isinstance(pointer, (ctypes.c_void_p, _CDATA)) or hasattr(value, "ctypes"):
            return host(pointer)
        try:
            return host(value)
        except TypeError:
            return ctypes.c_void_p(memory_pointer(value, name))

    return Converter(from_param)


def _scalar() -> Converter:
    host = _host(None).from_param

    def from_param(value: Any) -> Any:
        # The guard has converted most numbers to one of these.
        if value.__class__ is ctypes.c_float or value.__class__ is ctypes.c_double:
            return ctypes.byref(value)
        return host(value)

    return Converter(from_param)


def _pointer(base: Any) -> Any:
    element = storage_type(base)
    pointer = ctypes.POINTER(element)

    def from_param(value: Any) -> Any:
        if element is not base:
            if type(value) is ctypes.c_int:  # plain storage for an enum value
                return ctypes.cast(ctypes.byref(value), pointer)
            target = getattr(value, "_obj", None)  # byref(c_int())
            if type(target) is ctypes.c_int:
                return ctypes.cast(value, pointer)
        return pointer.from_param(parameter_of(value))

    return Converter(from_param)


_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects


def _address_of(value: Any) -> Any:
    if isinstance(value, ctypes.c_void_p):  # an object of a subclass is an address too
        return ctypes.c_void_p(value.value)
    if isinstance(value, (ctypes.Array, ctypes._Pointer)) and not isinstance(value, OpaquePointer):
        return ctypes.cast(value, ctypes.c_void_p)
    return ctypes.byref(value)
