"""The recording of a program: its calls become steps, with the data that they found."""

from __future__ import annotations

import ctypes
import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import data_type_name, host_scalar_type, numpy_dtype, storage_bytes
from ...raw import (
    cudaStream_t,
    cudnnBackendDescriptor_t,
    cudnnDataType_t,
    cudnnHandle_t,
    cudnnStatus_t,
    live,
    mode,
    records,
)
from ...raw import (
    cudnnBackendAttributeName_t as Name,
)
from ...raw import (
    cudnnBackendAttributeType_t as Type,
)
from ...raw.attributes import ENUMS, element_type, owner_and_short_name
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.function import Function
from ...raw.memory import memory_pointer
from ...raw.parameter import Parameter
from ...raw.scalars import as_host_scalar
from ...raw.strides import extent
from ...raw.typed_memory import typed
from ...reference.device.backend_records import elements
from ...runtime.stream import PER_THREAD_DEFAULT, as_stream_pointer
from ..backend_calls import address_on_host, element_count, memory_word
from ..memory import Described, Region, tensors
from ..records import CallRecord, place_text
from ..session import Moment, overhearing, stop
from . import recorded
from .told_sizes import ToldSizes

REALS = ("float16", "bfloat16", "float32", "float64")
"""Data types whose elements are compared as numbers; other types are compared byte by byte."""


def used(moment: Moment) -> Iterator[tuple[int, Any, str, int]]:
    """The memory of a call: address, argument, parameter's name, and size in bytes if known.

    Workspaces are left out: they keep no data between calls.
    """
    if moment.execution is not None:
        for info, address in moment.execution.tensors:
            reach = _reach((info.dims, info.strides, info.data_type))
            yield address, None, moment.execution.roles.get(info.uid, "memory"), reach
        return
    if moment.function.__name__ == "cudnnBackendExecute":
        for address in moment.graphs.addresses(moment.arguments["variantPack"]):
            yield address, None, "memory", 0
        return
    for parameter in moment.function.parameters:
        value = moment.arguments.get(parameter.name)
        if parameter.type.kind == "device" and not _is_workspace(parameter):
            address = memory_pointer(value, parameter.name)
            if address:
                yield address, value, parameter.name, _nbytes(moment, parameter, value)


def outputs(moment: Moment) -> Iterator[tuple[int, Any, str, int | None, str]]:
    """The results of a call: the four values of `used`, and a data type's name or "bytes".

    The size is None for a result that may reach to the end of its allocation.
    """
    found: set[str] = set()
    if (
        moment.execution is not None
        and "rng" in moment.execution.operations
        and mode.runtime.on_host
    ):
        return  # a GPU draws other numbers
    for name, address, described in tensors(
        moment.function, moment.arguments, moment.execution, outputs=True
    ):
        found.add(name)
        memory = moment.arguments.get(name)
        label = name if memory is not None else "memory"
        yield address, memory, label, _reach(described), _dtype(described[2])
    if moment.execution is not None:
        return
    for parameter in moment.function.parameters:
        is_result = parameter.type.kind == "device" and parameter.direction != "in"
        hidden = _is_workspace(parameter) or "reserve" in parameter.name.lower()
        hidden = hidden or parameter.name == "states"  # of random numbers, which other calls draw
        if is_result and not hidden and parameter.name not in found:
            value = moment.arguments.get(parameter.name)
            place = memory_pointer(value, parameter.name)
            if place:
                size = _nbytes(moment, parameter, value)
                yield place, value, parameter.name, size or None, _dtype(_any_type(moment))


def _is_workspace(parameter: Parameter) -> bool:
    return "workspace" in parameter.name.lower()


def _nbytes(moment: Moment, parameter: Parameter, value: Any) -> int:
    """Size in bytes from the descriptor or size parameter, or the memory; 0 if unknown."""
    for name in parameter.described_by:
        by = moment.arguments.get(name)
        record: Any = records.record(by) if live.address(by) else None
        if getattr(record, "size_in_bytes", 0):
            return int(record.size_in_bytes)
        number = getattr(by, "value", by)
        if isinstance(number, int) and not live.address(by):
            return number
    says = typed(value)
    return 0 if says is None else says.nbytes


def _any_type(moment: Moment) -> cudnnDataType_t | None:
    """The data type of one of the call's descriptors; None without one."""
    for value in moment.arguments.values():
        values = records.record(value) if live.address(value) else None
        data_type = getattr(values, "data_type", None)
        if data_type is not None:
            return cudnnDataType_t(data_type)
    return None


def _reach(described: Described) -> int:
    """Bytes from the first element to the last."""
    dims, strides, data_type = described
    count = extent(dims, strides)
    try:
        return count * numpy_dtype(data_type).itemsize
    except TypeError:
        return count


def _dtype(data_type: cudnnDataType_t | None) -> str:
    """The data type's name for real numbers, which are compared with a tolerance; else "bytes"."""
    name = data_type_name(data_type) if data_type is not None and data_type.known else "bytes"
    return name if name in REALS else "bytes"


_Calls = list[tuple[Function, Mapping[str, Any]]]


@contextmanager
def creation(kind: type[OpaquePointer], address: int) -> Iterator[tuple[int, _Calls]]:
    """The address of an equal object, and the calls that created it; it lives inside ``with``.

    Raises NotReproducible if no equal object can be created.
    """
    if kind is raw.cudnnHandle_t:
        yield 0, [(raw.cudnnCreate, {"handle": raw.cudnnHandle_t()})]
        return
    calls: _Calls = []
    try:
        with overhearing(lambda function, arguments: calls.append((function, arguments))):
            copy = _owner(kind, address).__copy__()
    except Exception as reason:
        raise recorded.NotReproducible(f"made before the trace began, {reason}") from None
    made = live.address(copy)
    assert made is not None
    wanted = ("cudnnCreate", "cudnnSet")
    with copy:
        yield made, [each for each in calls if each[0].__name__.startswith(wanted)]


def _owner(kind: type[OpaquePointer], address: int) -> Any:
    """A descriptor of layer 2 for a raw descriptor with another owner."""
    import cudnn_ctypes

    cls = getattr(cudnn_ctypes, kind.__name__.removeprefix("cudnn").removesuffix("_t"), None)
    if cls is None:
        raise TypeError("and cuDNN does not tell what it holds")
    handle: Any = kind()
    handle.value = address
    owner = object.__new__(cls)
    owner._as_parameter_ = handle
    return owner


_NUMBERS: tuple[Any, ...] = (
    *(ctypes.c_int, ctypes.c_uint, ctypes.c_int64, ctypes.c_size_t, ctypes.c_ulonglong),
    *(ctypes.c_float, ctypes.c_double),
)


class Values:
    """The arguments of one call as reproducible values, taken before the call.

    - `known`: returns the value for an object's C type, its address and the parameter's name.
    - `memory`: returns the place for an address, the program's argument and the parameter's name;
      None for a call that uses no memory.
    - `text`: returns the value for a text's bytes.
    """

    def __init__(
        self,
        moment: Moment,
        known: Callable[[type, int, str], recorded.Value],
        memory: Callable[[int, Any, str], recorded.Memory] | None = None,
        text: Callable[[bytes], recorded.Text] = recorded.Text,
    ) -> None:
        self._moment, self._known, self._memory, self._text = moment, known, memory, text
        self.by_name: dict[str, recorded.Value] = {
            p.name: self._of(p) for p in moment.function.parameters
        }

    def _of(self, parameter: Parameter) -> recorded.Value:
        name = parameter.name
        if name not in self._moment.arguments:
            raise recorded.NotReproducible(f"{name} is missing")
        value, base = self._moment.arguments[name], parameter.type.base
        if value is None:
            return recorded.Null()
        match parameter.type.kind:
            case "value" if base is cudaStream_t:
                return _stream(value)
            case "value" if issubclass(base, OpaquePointer) and base.__name__.startswith("cudnn"):
                return self._object(base, live.address(value), name)
            case "value" if base in _NUMBERS or issubclass(base, CudnnEnum):
                return _number(base, value)
            case "pointer" if parameter.direction == "out":
                return recorded.Variable(base, name, parameter.type.spelling)
            case "array" if parameter.direction != "in":
                return recorded.Room(base, name, _room(value))
            case "array":
                return self._array(base, value)
            case "device":
                address = memory_pointer(value, name)
                return self._place(address, value, name)
            case "scalar":
                return self._scalar(parameter, value)
            case "host" if "elementCount" in self._moment.arguments:
                return self._attribute(value)
        raise recorded.NotReproducible(f"{name} is {parameter.c_declaration}")

    def _object(self, base: Any, address: int | None, name: str) -> recorded.Value:
        if address is None:
            return recorded.Null()
        return self._known(base, address, name)

    def _place(self, address: int | None, memory: Any, name: str) -> recorded.Value:
        if not address:
            return recorded.Null()
        if self._memory is None:
            raise recorded.NotReproducible(f"{name} is memory of its own")
        return self._memory(address, memory, name)

    def _array(self, base: Any, value: Any) -> recorded.Value:
        if hasattr(value, "tolist"):
            value = value.tolist()
        try:
            items = list(value)
        except TypeError:
            raise recorded.NotReproducible("an array is given by its address") from None
        if issubclass(base, OpaquePointer):
            found = [self._object(base, live.address(each), "it") for each in items]
            return recorded.Array(base, tuple(found))
        return recorded.Array(base, tuple(_number(base, item) for item in items))

    def _scalar(self, parameter: Parameter, value: Any) -> recorded.Value:
        """A number that C reads as double or float, depending on the descriptors."""
        number = _plain(value)
        if number is None:
            raise recorded.NotReproducible("a scalar is given by its address")
        arguments = self._moment.arguments
        decides = records.scalar_type(
            [_describer(arguments.get(n)) for n in parameter.described_by]
        )
        if decides is None:
            return recorded.Scalar(number, "float32")
        if parameter.type.pads:  # it has the data type of the sequences
            return recorded.Scalar(number, _PADDING.get(decides, "float32"))
        is_double = host_scalar_type(decides) is ctypes.c_double
        return recorded.Scalar(number, "float64" if is_double else "float32")

    def _attribute(self, value: Any) -> recorded.Value:
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
                return recorded.Room(base, _attribute_name(arguments), count, is_attribute=True)
        else:
            count = element_count(arguments)
        address = address_on_host(value)
        if type_ == Type.CUDNN_TYPE_CHAR:
            assert address is not None
            return self._text(ctypes.string_at(address, count))
        found = elements(type_, count, address)
        items = tuple(self._element(type_, base, each) for each in found)
        return recorded.Array(base, items, is_attribute=True)

    def _element(self, type_: Type, base: Any, value: Any) -> recorded.Value:
        if value is None:
            return recorded.Null()
        if type_ == Type.CUDNN_TYPE_VOID_PTR:
            return self._place(value, None, memory_word(self._moment.arguments))
        if type_ == Type.CUDNN_TYPE_FRACTION:
            return recorded.Fraction(value.numerator, value.denominator)
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


def _describer(argument: Any) -> Any:
    """The data type that an argument is, or the record of a descriptor."""
    if isinstance(argument, (int, CudnnEnum)):
        return cudnnDataType_t(int(argument))
    return records.record(argument) if live.address(argument) else None


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


def _stream(value: Any) -> recorded.Value:
    """The value of a stream argument; `Null` for the default streams."""
    address = live.address(value) or as_stream_pointer(value)
    return recorded.Stream(address) if address > PER_THREAD_DEFAULT else recorded.Null()


def _number(base: Any, value: Any) -> recorded.Number:
    plain = value if isinstance(value, CudnnEnum) else getattr(value, "value", value)
    if issubclass(base, CudnnEnum):
        return recorded.Number(base, base(int(plain)))
    if isinstance(plain, bool):
        return recorded.Number(base, plain)
    number = plain.item() if hasattr(plain, "item") else plain
    return recorded.Number(base, float(number) if isinstance(number, float) else int(number))


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


RELATIVE, RELATIVE_BFLOAT16 = 1e-3, 2.0**-7
"""Allowed differences of an element of a replay's output, relative to it. Another order of sums
rounds differently, in bfloat16 by one step of 2^-7 at most."""

_TOLERANCE = 1e-5
_TOLERANCES = {"float32": 3e-3, "float16": 1e-2, "bfloat16": 3e-2}
"""Beside it, relative to the largest element. What the reference device recorded is for a GPU,
which rounds inside attention and networks, and computes in TF32: on an H100 it was 0.0015 off in
float32, 0.011 in bfloat16."""


_JSON = Name.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION
_SHORT_TEXT = 60  # longer texts go to a data file


@dataclass
class _Pending:
    """A call in progress: its arguments, or the reason for lacking them; its memory and stream."""

    values: Values | None
    reason: str = ""
    allocations: tuple[recorded.Allocation, ...] = ()
    stream: int | None = None


class Recording:
    """Records the steps of a program.

    - `first`: the number of calls to record; default: all.
    - `before`: called before each call with the steps so far, in case the call ends the process.

    - `data`: the data of the steps, by name.
    - `skipped`: calls that could not be recorded, with the reasons.
    """

    looks_at_numbers = False

    def __init__(
        self, first: int | None = None, before: Callable[[list[recorded.Step]], None] | None = None
    ) -> None:
        self._left, self._before = first, before
        self.steps: list[recorded.Step] = []
        self.data: dict[str, recorded.Bytes] = {}
        self.skipped: list[str] = []
        self._names_of_data: dict[bytes, str] = {}
        self._words = recorded.Identifiers()
        self._objects: set[str] = set()
        self._sizes = ToldSizes()
        self._allocations: dict[str, recorded.Allocation] = {}
        self._place = ""
        self._pending: dict[int, _Pending] = {}

    def wants(self, function: str) -> bool:
        """True: a replay needs all calls."""
        return True

    def _is_needless(self, moment: Moment) -> bool:
        """Whether a call asks for a plan's JSON, whose length differs between devices."""
        if moment.function.__name__ != "cudnnBackendGetAttribute":
            return False
        name: Any = moment.arguments.get("attributeName", 0)
        return int(getattr(name, "value", name)) == _JSON

    # --- memory ----------------------------------------------------------------------------------

    def allocated(self, region: Region) -> None:
        """Do nothing: memory is allocated by a step before its first use."""

    def freed(self, region: Region) -> None:
        """Add steps that compare the outputs in freed memory, and free it."""
        allocation = self._allocations.pop(region.name, None)
        if allocation is not None:
            self.steps += [*self._comparisons(allocation), recorded.Free(allocation)]
            allocation.held = None

    def _comparisons(self, allocation: recorded.Allocation) -> Iterator[recorded.Compare]:
        for offset, (nbytes, data_type) in allocation.outputs.items():
            if allocation.held is not None:  # None if it could not be read
                part = allocation.held[offset : offset + nbytes]
                loose = _TOLERANCES if mode.runtime.on_host else {}
                tolerance = loose.get(data_type, _TOLERANCE)
                saved = self._saved("expected", part)
                yield recorded.Compare(allocation, offset, data_type, saved, tolerance)

    def _saved(self, word: str, data: recorded.Bytes) -> str:
        """Store bytes under a new name and return the name; equal bytes share one."""
        digest = hashlib.sha256(data.tobytes()).digest()
        if digest not in self._names_of_data:
            name = self._words.unique(word)
            self.data[name], self._names_of_data[digest] = data, name
        return self._names_of_data[digest]

    def _allocation(
        self, moment: Moment, address: int, memory: Any, name: str, nbytes: int = 0
    ) -> tuple[recorded.Allocation, int]:
        """The allocation that contains an address, and the offset in it."""
        region = moment.names.places.region(address, memory, name)
        if region.name not in self._allocations:
            self._allocations[region.name] = new = recorded.Allocation.of(region)
            new.step = len(self.steps)
            self.steps.append(recorded.Allocate(new))
        allocation, offset = self._allocations[region.name], address - region.address
        if region.nbytes is None:
            allocation.grow(offset + nbytes)
        return allocation, offset

    # --- before a call ---------------------------------------------------------------------------

    def prepare(self, moment: Moment) -> None:
        """Record the arguments, and the memory's contents before the call."""
        if self._is_needless(moment):
            return
        if (place := place_text(moment.file, moment.line)) != self._place:
            self._place = place
            self.steps.append(recorded.Place(self._place))
        try:
            pending = self._noted(moment)
        except Exception as reason:  # a trace never stops a program
            pending = _Pending(None, str(reason))
        self._pending[id(moment)] = pending  # other threads may call at the same time
        if self._before is not None and pending.values is not None:
            coming = recorded.Call(moment.function, pending.values.by_name)
            with suppress(OSError):  # reported at the end
                self._before([*self.steps, coming])

    def _noted(self, moment: Moment) -> _Pending:
        handle = moment.arguments.get("handle")
        stream = records.record(handle) if live.address(handle) else None
        found: dict[str, recorded.Allocation] = {}
        for address, memory, name, nbytes in used(moment):
            allocation, _ = self._allocation(moment, address, memory, name, nbytes)
            allocation.role = allocation.role or name
            found[allocation.name] = allocation
        values = Values(
            moment,
            lambda kind, address, name: self._known(moment, kind, address, name),
            lambda address, memory, name: recorded.Memory(
                *self._allocation(moment, address, memory, name)
            ),
            self._text,
        )
        self._sizes.take(moment.function, values.by_name)
        for allocation in found.values():
            self._bring(allocation, stream)
        if moment.execution is not None:
            for info, address in moment.execution.values:
                role = moment.execution.roles.get(info.uid, "value")
                self._assign(moment, address, role, info.data_type)
        return _Pending(values, "", tuple(found.values()), stream)

    def _bring(self, allocation: recorded.Allocation, stream: int | None) -> None:
        """Add a step that copies the allocation's present contents, if the replay lacks them."""
        now = recorded.read(allocation, stream)
        if allocation.held is not None and np.array_equal(now, allocation.held):
            return
        allocation.held = now
        byte = int(now[0]) if now.size and (now == now[0]).all() else None
        data = "" if byte is not None else self._saved(allocation.word, now)
        self.steps.append(recorded.Upload(allocation, data, byte or 0))

    def _assign(self, moment: Moment, address: int, role: str, data_type: cudnnDataType_t) -> None:
        """Add a step that sets a number on the host."""
        allocation, _ = self._allocation(moment, address, None, "value")
        kind = data_type_name(data_type)
        if allocation.host_type not in ("", kind):
            raise recorded.NotReproducible(f"a {kind} is where a {allocation.host_type} was")
        allocation.host_type, allocation.role = kind, role
        value = ctypes.string_at(address, storage_bytes(data_type, 1))
        if allocation.held is None or allocation.held.tobytes() != value:
            allocation.held = np.frombuffer(value, np.uint8)
            self.steps.append(recorded.Assign(allocation, value))

    def _known(self, moment: Moment, kind: Any, address: int, parameter: str) -> recorded.Value:
        """A handle or descriptor; steps create it first if it is older than the recording."""
        name = str(moment.names.objects.name(kind, address))
        if name not in self._objects:
            try:
                self._restore(moment, kind, address, name)
            except recorded.NotReproducible as reason:
                raise recorded.NotReproducible(f"{parameter} was {reason}") from None
        return recorded.Object(name, kind)

    def _restore(self, moment: Moment, kind: Any, address: int, name: str) -> None:
        steps: list[recorded.Step] = []
        with creation(kind, address) as (made, calls):

            def known(other: Any, at: int, parameter: str) -> recorded.Value:
                is_own = at == made
                return (
                    recorded.Object(name, kind)
                    if is_own
                    else self._known(moment, other, at, parameter)
                )

            for function, arguments in calls:
                values = Values(
                    replace(moment, function=function, arguments=arguments), known
                ).by_name
                if function.__name__.startswith("cudnnCreate"):
                    (parameter,) = values
                    values[parameter] = recorded.Variable(kind, parameter, created=name)
                steps.append(recorded.Call(function, values))
        self.steps += steps
        self._objects.add(name)

    def _text(self, text: bytes) -> recorded.Text:
        if len(text) <= _SHORT_TEXT:
            return recorded.Text(text)
        return recorded.Text(text, self._saved("text", np.frombuffer(text, np.uint8).copy()))

    # --- after a call ----------------------------------------------------------------------------

    def hear(self, call: CallRecord, moment: Moment) -> None:
        """Record a finished call."""
        pending = self._pending.pop(id(moment), None)
        if pending is None:
            return
        if self._left is not None:
            self._left -= 1
            if self._left == 0:
                stop(self)
        refused = call.failed and not hasattr(cudnnStatus_t, f"CUDNN_STATUS_{call.status}")
        if pending.values is None or refused:
            reason = pending.reason or f"{call.status}: {call.reason}"
            self.skipped.append(f"{call.function}: {reason}")
            self.steps.append(recorded.LeftOut(call.function, reason))
            return
        arguments = dict(pending.values.by_name)
        if not call.failed:
            self._create(call, moment, arguments)
        self.steps.append(
            recorded.Call(
                moment.function,
                arguments,
                f"CUDNN_STATUS_{call.status}" if call.failed else "",
                moment.refused,
                recorded.Stream(pending.stream or 0) if pending.allocations else None,
            )
        )
        if call.failed:
            return
        for allocation in pending.allocations:
            allocation.take(pending.stream)
        for address, memory, name, nbytes, data_type in outputs(moment):
            allocation, offset = self._allocation(moment, address, memory, name)
            whole = allocation.nbytes - offset
            allocation.outputs[offset] = (whole if nbytes is None else nbytes, data_type)

    def _create(
        self, call: CallRecord, moment: Moment, arguments: dict[str, recorded.Value]
    ) -> None:
        """Name the object that a call created, or the size that it told."""
        for parameter, argument in zip(moment.function.parameters, call.arguments, strict=True):
            base, value = parameter.type.base, argument.value
            is_new = parameter.type.kind == "pointer" and "Create" in moment.function.__name__
            if is_new and isinstance(value, dict) and issubclass(base, OpaquePointer):
                name = str(value["object"])
                self._objects.add(name)
                arguments[parameter.name] = recorded.Variable(base, parameter.name, created=name)
        values = {
            parameter.name: argument.value
            for parameter, argument in zip(moment.function.parameters, call.arguments, strict=True)
        }
        self._sizes.note(moment.function, arguments, values, len(self.steps))

    def finished(self) -> list[recorded.Step]:
        """All steps, and comparisons of the outputs in memory that was not freed."""
        living = [*self._allocations.values()]
        return [*self.steps, *(each for one in living for each in self._comparisons(one))]
