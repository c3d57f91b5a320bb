"""Converts the arguments of a call to values that another process can reproduce."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ...dtypes import host_scalar_type
from ...raw import cudaStream_t, cudnnBackendDescriptor_t, cudnnHandle_t, live, records
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw.attributes import ENUMS, element_type, owner_and_short_name
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.enums import cudnnDataType_t
from ...raw.function import Parameter
from ...raw.memory import memory_pointer
from ...raw.scalars import as_host_scalar
from ...reference.device.backend_records import elements
from ...runtime.stream import PER_THREAD_DEFAULT, as_stream_pointer
from ..backend_calls import address_on_host, element_count, memory_word
from ..moment import Moment
from .allocations import NotReproducible
from .steps import (
    Array,
    Fraction,
    Memory,
    Null,
    Number,
    Room,
    Scalar,
    Stream,
    Text,
    Value,
    Variable,
)

__all__ = ["Values"]


_NUMBERS: tuple[Any, ...] = (
    *(ctypes.c_int, ctypes.c_uint, ctypes.c_int64, ctypes.c_size_t, ctypes.c_ulonglong),
    *(ctypes.c_float, ctypes.c_double),
)


class Values:
    """The arguments of one call as reproducible values, taken before the call.

    Parameters
    ----------
    moment : Moment
    known : callable
        Returns the value for an object's C type, its address and the parameter's name.
    memory : callable
        Returns the place for an address, the program's argument and the parameter's name; None for
        a call that uses no memory.
    text : callable
        Returns the value for a text's bytes.
    """

    def __init__(
        self,
        moment: Moment,
        known: Callable[[type, int, str], Value],
        memory: Callable[[int, Any, str], Memory] | None = None,
        text: Callable[[bytes], Text] = Text,
    ) -> None:
        self._moment, self._known, self._memory, self._text = moment, known, memory, text
        self.by_name: dict[str, Value] = {p.name: self._of(p) for p in moment.function.parameters}

    def _of(self, parameter: Parameter) -> Value:
        name = parameter.name
        if name not in self._moment.arguments:
            raise NotReproducible(f"{name} is missing")
        value, base = self._moment.arguments[name], parameter.type.base
        if value is None:
            return Null()
        match parameter.type.kind:
            case "value" if base is cudaStream_t:
                return _stream(value)
            case "value" if issubclass(base, OpaquePointer) and base.__name__.startswith("cudnn"):
                return self._object(base, live.address(value), name)
            case "value" if base in _NUMBERS or issubclass(base, CudnnEnum):
                return _number(base, value)
            case "pointer" if parameter.direction == "out":
                return Variable(base, name, parameter.type.spelling)
            case "array" if parameter.direction != "in":
                return Room(base, name, _room(value))
            case "array":
                return self._array(base, value)
            case "device":
                address = memory_pointer(value, name)
                return self._place(address, value, name)
            case "scalar":
                return self._scalar(parameter, value)
            case "host" if "elementCount" in self._moment.arguments:
                return self._attribute(value)
        raise NotReproducible(f"{name} is {parameter.c_declaration}")

    def _object(self, base: Any, address: int | None, name: str) -> Value:
        if address is None:
            return Null()
        return self._known(base, address, name)

    def _place(self, address: int | None, memory: Any, name: str) -> Value:
        if not address:
            return Null()
        if self._memory is None:
            raise NotReproducible(f"{name} is memory of its own")
        return self._memory(address, memory, name)

    def _array(self, base: Any, value: Any) -> Value:
        if hasattr(value, "tolist"):
            value = value.tolist()
        try:
            items = list(value)
        except TypeError:
            raise NotReproducible("an array is given by its address") from None
        if issubclass(base, OpaquePointer):
            found = [self._object(base, live.address(each), "it") for each in items]
            return Array(base, tuple(found))
        return Array(base, tuple(_number(base, item) for item in items))

    def _scalar(self, parameter: Parameter, value: Any) -> Value:
        """A number that C reads as double or float, depending on the descriptors."""
        number = _plain(value)
        if number is None:
            raise NotReproducible("a scalar is given by its address")
        types = []
        for name in parameter.described_by:
            by = self._moment.arguments.get(name)
            is_type = isinstance(by, (int, CudnnEnum))
            of = cudnnDataType_t(int(by)) if is_type else _data_type(by)  # type: ignore[arg-type]
            types += [] if of is None else [of]
        if not types:
            return Scalar(number, "float32")
        decides = records.deciding_type(types)
        if parameter.type.pads:  # it has the data type of the sequences
            return Scalar(number, _PADDING.get(decides, "float32"))
        is_double = host_scalar_type(decides) is ctypes.c_double
        return Scalar(number, "float64" if is_double else "float32")

    def _attribute(self, value: Any) -> Value:
        """The elements of a backend attribute."""
        arguments = self._moment.arguments
        type_ = arguments["attributeType"]
        type_ = Type(int(getattr(type_, "value", type_)))
        base = _element_class(type_)
        getting = "requestedElementCount" in arguments
        if getting:
            count = arguments["requestedElementCount"]
            count = int(getattr(count, "value", count))
            if type_ != Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
                return Room(base, _attribute_name(arguments), count, is_attribute=True)
        else:
            count = element_count(arguments)
        address = address_on_host(value)
        if type_ == Type.CUDNN_TYPE_CHAR:
            assert address is not None
            return self._text(ctypes.string_at(address, count))
        found = elements(type_, count, address)
        items = tuple(self._element(type_, base, each) for each in found)
        return Array(base, items, is_attribute=True)

    def _element(self, type_: Type, base: Any, value: Any) -> Value:
        if value is None:
            return Null()
        if type_ == Type.CUDNN_TYPE_VOID_PTR:
            return self._place(value, None, memory_word(self._moment.arguments))
        if type_ == Type.CUDNN_TYPE_FRACTION:
            return Fraction(value.numerator, value.denominator)
        if type_ in (Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, Type.CUDNN_TYPE_HANDLE):
            return self._object(base, value, "a descriptor in it")
        return _number(base, value)


def _attribute_name(arguments: Any) -> str:
    """An attribute's name without its descriptor type's: "workspace_size"."""
    number = arguments["attributeName"]
    return owner_and_short_name(Name(int(getattr(number, "value", number))))[1]


_PADDING = {
    cudnnDataType_t.CUDNN_DATA_DOUBLE: "float64",
    cudnnDataType_t.CUDNN_DATA_HALF: "float16",
    cudnnDataType_t.CUDNN_DATA_BFLOAT16: "bfloat16",
}


def _data_type(descriptor: Any) -> Any:
    record = records.record(descriptor) if live.address(descriptor) else None
    return records.data_type_of(record)


def _element_class(type_: Type) -> Any:
    """The class of an attribute's elements: an enum, a handle, a struct or a ctypes type."""
    handles: dict[Type, Any] = {
        Type.CUDNN_TYPE_HANDLE: cudnnHandle_t,
        Type.CUDNN_TYPE_BACKEND_DESCRIPTOR: cudnnBackendDescriptor_t,
    }
    return ENUMS.get(type_) or handles.get(type_) or element_type(type_)


def _room(value: Any) -> int:
    target = getattr(value, "_obj", value)
    return len(target) if hasattr(target, "__len__") else 1


def _stream(value: Any) -> Value:
    """The value of a stream argument; `Null` for the default streams."""
    address = live.address(value) or as_stream_pointer(value)
    return Stream(address) if address > PER_THREAD_DEFAULT else Null()


def _number(base: Any, value: Any) -> Number:
    plain = value if isinstance(value, CudnnEnum) else getattr(value, "value", value)
    if issubclass(base, CudnnEnum):
        return Number(base, base(int(plain)))
    if isinstance(plain, bool):
        return Number(base, plain)
    number = plain.item() if hasattr(plain, "item") else plain
    return Number(base, float(number) if isinstance(number, float) else int(number))


def _plain(value: Any) -> float | None:
    """The number in a scalar argument; None if only an address is known."""
    target = getattr(value, "_obj", value)
    if isinstance(target, (ctypes.c_float, ctypes.c_double)):
        return float(target.value)
    if hasattr(target, "item") and getattr(target, "size", 1) == 1:
        return float(target.item())
    if isinstance(target, (int, float)) and as_host_scalar(target, "float64") is not None:
        return float(target)
    return None
