"""Decodes the arguments of a program's call into the values of its record.

Inputs are decoded before the call, which may destroy them; outputs are decoded after it. Nothing is
read through an address before the call has succeeded.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Mapping
from typing import Any

from ..raw import live, records
from ..raw.ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer, room
from ..raw.function import Function, Parameter
from ..raw.memory import memory_pointer
from ..raw.typed_memory import Typed, typed
from .backend_calls import elements_of
from .call_records import Argument
from .places import Objects, Places
from .words import plain

__all__ = ["Decoder", "Names"]

_SHOWN = 16  # elements of an array
_STRUCTS = 4

# The other arguments of these functions are the values that the descriptor will have.
_CHANGING = ("cudnnCreate", "cudnnSet", "cudnnDestroy", "cudnnInit", "cudnnDerive", "cudnnBackend")


class Names:
    """The names shared by the calls of one session."""

    def __init__(self) -> None:
        self.objects: Objects = Objects()
        self.places: Places = Places()


class Decoder:
    """Decodes the arguments of one call.

    Parameters
    ----------
    function : Function
    arguments : dict
        The program's arguments by the parameters' C names, in C's order.
    names : Names
    """

    def __init__(self, function: Function, arguments: Mapping[str, Any], names: Names) -> None:
        self.function = function
        self.values = arguments
        self._names = names
        self._parameters = [p for p in function.parameters if p.name in arguments]
        self._before = {p.name: self._guarded(self._read, p) for p in self._parameters}

    def arguments(self, succeeded: bool) -> tuple[Argument, ...]:
        """All arguments, after the call."""
        decoded = []
        for parameter in self._parameters:
            value, out = self._before[parameter.name], False
            if value is _LATER:
                value = self._guarded(self._written if succeeded else self._unread, parameter)
                out = succeeded and parameter.direction != "in" and value is not None
            decoded.append(Argument(parameter.name, value, out))
        return tuple(decoded)

    def _guarded(self, decode: Callable[[Parameter, Any], Any], parameter: Parameter) -> Any:
        """A decoded value, or its type's name if decoding fails: a trace never stops a program."""
        value = self.values[parameter.name]
        try:
            return decode(parameter, value)
        except Exception:
            return f"<{type(value).__name__}>"

    # --- before the call -------------------------------------------------------------------------

    def _read(self, parameter: Parameter, value: Any) -> Any:
        kind, base = parameter.type.kind, parameter.type.base
        if value is None:
            return None
        if kind == "value":
            if isinstance(base, type) and issubclass(base, OpaquePointer):
                return self._object(parameter, value)
            return _value(base, value)
        if kind == "device":
            return self._memory(parameter, value)
        if kind == "scalar":
            return _scalar(value)
        if kind == "pointer" and parameter.direction == "in":
            return self._variable(base, value)
        if kind == "array" and parameter.direction == "in":
            return self._elements(base, value)
        return _LATER

    def _object(self, parameter: Parameter, value: Any) -> Any:
        base, address = parameter.type.base, live.address(value)
        if address is None:
            return None if getattr(value, "value", 0) is None else plain(value)
        named = {"object": self._names.objects.name(base, address)}
        changes = parameter.changes_descriptor and self.function.__name__.startswith(_CHANGING)
        if base.__name__ in _WITHOUT_RECORD or changes:
            return named
        # The handle, which C needs to read a dropout descriptor.
        further = [v for name, v in self.values.items() if name == "handle"]
        is_dropout = base.__name__ == "cudnnDropoutDescriptor_t"
        values = records.record(value, *(further if is_dropout else ()))
        if not dataclasses.is_dataclass(values):
            return named
        fields = [field.name for field in dataclasses.fields(values)]
        holds = {name: plain(getattr(values, name)) for name in fields}
        return {**named, "holds": {**holds, **_strides(values)}}

    def _memory(self, parameter: Parameter, value: Any) -> Any:
        address = memory_pointer(value, parameter.name)
        if address is None:
            return None
        name, offset = self._names.places.place(address, value, parameter.name)
        place: dict[str, Any] = {"allocation": name, "offset": offset}
        says = typed(value)
        nbytes = self._nbytes(parameter, says)
        if nbytes is not None:
            place["nbytes"] = nbytes
        if says is not None and says.data_type != "bytes":
            place |= {
                "data_type": says.data_type,
                "shape": list(says.dims),
                "strides": list(says.strides),
            }
        return place

    def _nbytes(self, parameter: Parameter, says: Typed | None) -> int | None:
        """Size in bytes from the descriptor or size parameter, or the memory; None if unknown."""
        for name in parameter.described_by:
            by = self.values.get(name)
            by = getattr(by, "value", by) if isinstance(by, ctypes._SimpleCData) else by
            if isinstance(by, int):
                return by
            record: Any = records.record(by) if live.address(by) else None
            if getattr(record, "size_in_bytes", 0):
                return int(record.size_in_bytes)
        return None if says is None else says.nbytes

    # --- after the call --------------------------------------------------------------------------

    def _written(self, parameter: Parameter, value: Any) -> Any:
        kind, base = parameter.type.kind, parameter.type.base
        if kind == "pointer":
            return self._variable(base, value)
        if kind == "array":
            return self._elements(base, value)
        if self.function.__name__ in _ATTRIBUTES:
            found = elements_of(self.values, value, self._names)
            if found is not None:
                return found
        return self._unread(parameter, value)

    def _unread(self, parameter: Parameter, value: Any) -> Any:
        """The size of host memory that cannot be read yet, or the name of an object."""
        if live.address(value) and parameter.type.kind == "labelled":
            return {"object": self._names.objects.name(type(value), live.address(value))}
        size = room(value)
        return {"host": size} if size is not None else "<address>"

    def _variable(self, base: Any, value: Any) -> Any:
        target = getattr(value, "_obj", value)
        if issubclass(base, OpaquePointer):
            variable = live.out_variable(value)
            created = self.function.__name__.startswith(("cudnnCreate", "cudnnBackendCreate"))
            name = self._names.objects.name(base, live.address(variable), new=created)
            return None if name is None else {"object": name}
        if isinstance(target, ctypes._Pointer):
            target = target.contents
        if base is ctypes.c_void_p and target.value:  # C returns an address
            name, offset = self._names.places.place(target.value, None, "memory")
            return {"allocation": name, "offset": offset}
        return _value(base, target)

    def _elements(self, base: Any, value: Any) -> Any:
        target = getattr(value, "_obj", value)
        if isinstance(target, ctypes._Pointer):
            return "<address>"
        if not hasattr(target, "__len__"):
            return [_value(base, target)]
        if issubclass(base, OpaquePointer):
            addresses = [(each, live.address(each)) for each in target]
            return [
                {"object": self._names.objects.name(type(each), address)} if address else None
                for each, address in addresses
            ]
        limit = _STRUCTS if issubclass(base, CudnnStructure) else _SHOWN
        elements = [_value(base, each) for each in target[:limit]]
        return elements + ([f"… {len(target)} in all"] if len(target) > limit else [])


class _Later:
    """Marks a value that is decoded after the call."""


_LATER = _Later()
_WITHOUT_RECORD = ("cudnnHandle_t", "cudnnBackendDescriptor_t", "cudaStream_t", "cudaGraph_t")
_ATTRIBUTES = ("cudnnBackendSetAttribute", "cudnnBackendGetAttribute")


def _value(base: Any, value: Any) -> Any:
    """A C value as plain data: a number, an enumerator's name, or a struct."""
    held = getattr(value, "value", value) if not isinstance(value, CudnnEnum) else value
    if isinstance(base, type) and issubclass(base, CudnnEnum):
        return base(int(held)).name
    if isinstance(value, CudnnStructure):
        fields = [name for name, _ in value._cfields_ if name != "reserved"]
        return {"struct": {name: plain(getattr(value, name)) for name in fields}}
    if isinstance(held, CudnnEnum):  # a ..._COUNT enumerator is shown as a number
        return int(held)
    if isinstance(held, bytes):
        return held.decode("utf-8", "replace")
    return plain(held)


def _scalar(value: Any) -> Any:
    """The host number behind a typed pointer; a plain address is not followed."""
    target = getattr(value, "_obj", value)
    if isinstance(target, ctypes._Pointer):
        return "<address>"
    if isinstance(target, (ctypes.c_float, ctypes.c_double)):
        return target.value
    if hasattr(target, "item") and getattr(target, "size", 1) == 1:
        return target.item()
    return float(target) if isinstance(target, (int, float)) else plain(target)


def _strides(record: Any) -> dict[str, Any]:
    """The strides of a record, also of a filter's, which computes them from its format."""
    return {"strides": list(record.strides)} if hasattr(record, "strides") else {}
