"""Arguments as Python expressions that mean the same in another process."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from typing import Any

from ...raw import cudnnBackendAttributeType_t as Type
from ...raw import cudnnBackendDescriptor_t, cudnnHandle_t, live
from ...raw.attributes import ENUMS, element_type
from ...raw.ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer
from ...raw.function import Parameter
from ...raw.scalars import as_host_scalar
from ...reference.device.backend_records import elements
from ..backend_calls import address_on_host, element_count
from ..moment import Moment

__all__ = ["Expressions", "NotReproducible"]


class NotReproducible(Exception):
    """A call that cannot be written down; the message says why."""


_FOREIGN = ("cudaStream_t", "cudaGraph_t")
_NAMES = {ctypes.c_size_t: "c_size_t", ctypes.c_int64: "c_int64"}


class Expressions:
    """The arguments of one call, before it is made.

    Parameters
    ----------
    moment : Moment
    objects : set of str
        Names of the handles and descriptors that live in the other process.
    memory : callable
        From an address, what was passed and the parameter's name to an expression.
    text : callable
        From bytes to an expression.
    """

    def __init__(
        self,
        moment: Moment,
        objects: set[str],
        memory: Callable[[int, Any, str], str],
        text: Callable[[bytes], str],
    ) -> None:
        self._moment, self._objects, self._memory, self._text = moment, objects, memory, text
        self.by_name = {p.name: self._of(p) for p in moment.function.parameters}

    def _of(self, parameter: Parameter) -> str:
        if parameter.name not in self._moment.given:
            raise NotReproducible(f"{parameter.name} is missing")
        value, base = self._moment.given[parameter.name], parameter.type.base
        if value is None:
            return "None"
        match parameter.type.kind:
            case "value" if issubclass(base, OpaquePointer):
                return self._object(base, live.address(value), parameter.name)
            case "value" if base in _NUMBERS or issubclass(base, CudnnEnum):
                return _number(base, value)
            case "pointer" if parameter.direction == "out":
                return f"{_type(base)}()"
            case "array" if parameter.direction != "in":
                return f"({_type(base)} * {len(getattr(value, '_obj', value))})()"
            case "array":
                return self._sequence(base, value)
            case "device":
                from ...raw.memory import memory_pointer

                address = memory_pointer(value, parameter.name)
                return self._memory(address, value, parameter.name) if address else "None"
            case "scalar":
                return _scalar(value)
            case "host" if "elementCount" in self._moment.given:
                return self._attribute(value)
        raise NotReproducible(f"{parameter.name} is {parameter.c_declaration}")

    def _object(self, base: Any, address: int | None, name: str) -> str:
        if address is None or base.__name__ in _FOREIGN:
            return "None"
        known = self._moment.names.objects.name(base, address)
        if known not in self._objects:
            raise NotReproducible(f"{name} was made before the trace began")
        return str(known)

    def _sequence(self, base: Any, value: Any) -> str:
        if hasattr(value, "tolist"):
            value = value.tolist()
        try:
            items = list(value)
        except TypeError:
            raise NotReproducible("an array is given by its address") from None
        if issubclass(base, OpaquePointer):
            return f"[{', '.join(self._object(base, live.address(i), 'it') for i in items)}]"
        return f"[{', '.join(_number(base, item) for item in items)}]"

    def _attribute(self, value: Any) -> str:
        """The elements of a backend attribute."""
        given = self._moment.given
        type_ = given["attributeType"]
        type_ = Type(int(getattr(type_, "value", type_)))
        getting = "requestedElementCount" in given
        count = given["requestedElementCount" if getting else "elementCount"]
        count = int(getattr(count, "value", count))
        if getting and type_ != Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
            return f"({_type(element_type(type_))} * {count})()"
        address = address_on_host(value)
        if not getting:
            count = element_count(given)
        if type_ == Type.CUDNN_TYPE_CHAR:
            assert address is not None
            return self._text(ctypes.string_at(address, count))
        found = elements(type_, count, address)
        element = element_type(type_)
        if type_ == Type.CUDNN_TYPE_FRACTION:
            inside = ", ".join(
                f"raw.cudnnFraction_t({each.numerator}, {each.denominator})" for each in found
            )
            return f"(raw.cudnnFraction_t * {count})({inside})"
        inside = ", ".join(self._element(type_, each) for each in found)
        return f"({_type(element)} * {count})({inside})"

    def _element(self, type_: Type, value: Any) -> str:
        if type_ in ENUMS:
            return _number(ENUMS[type_], value)
        if type_ == Type.CUDNN_TYPE_VOID_PTR:
            return f"({self._memory(value, None, 'memory')}).ptr" if value else "None"
        if type_ in (Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, Type.CUDNN_TYPE_HANDLE):
            kinds = {Type.CUDNN_TYPE_HANDLE: cudnnHandle_t}
            name = self._moment.names.objects.name(
                kinds.get(type_, cudnnBackendDescriptor_t), value
            )
            if value is not None and name not in self._objects:
                raise NotReproducible("a descriptor in it was made before the trace began")
            return "None" if value is None else f"{name}.value"
        return _real(value)


_NUMBERS: tuple[Any, ...] = (
    *(ctypes.c_int, ctypes.c_uint, ctypes.c_int64, ctypes.c_size_t, ctypes.c_ulonglong),
    *(ctypes.c_float, ctypes.c_double),
)


def _type(base: Any) -> str:
    if issubclass(base, (CudnnEnum, CudnnStructure, OpaquePointer)):
        return f"raw.{base.__name__}"
    return f"ctypes.{_NAMES.get(base, base.__name__)}"


def _number(base: Any, value: Any) -> str:
    held = value if isinstance(value, CudnnEnum) else getattr(value, "value", value)
    if issubclass(base, CudnnEnum):
        member = base(int(held))
        return f"raw.{member.name}" if member.known else str(int(member))
    return _real(int(held) if isinstance(held, CudnnEnum) else held)


def _real(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return repr(value if isinstance(value, bool) else int(value))
    return repr(value) if value - value == 0 else f'float("{value}")'


def _scalar(value: Any) -> str:
    target = getattr(value, "_obj", value)
    if isinstance(target, (ctypes.c_float, ctypes.c_double)):
        return _real(target.value)
    if hasattr(target, "item") and getattr(target, "size", 1) == 1:
        return _real(float(target.item()))
    if isinstance(target, (int, float)) and as_host_scalar(target, "float64") is not None:
        return _real(float(target))
    raise NotReproducible("a scalar is given by its address")
