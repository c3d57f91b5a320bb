"""A session that listens to calls, and decodes their arguments while they are made."""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any, Protocol

from ..errors import CudnnError
from ..raw import host_blocks, live, log, records
from ..raw.argument_text import plain, record_values
from ..raw.ctypes_support import CudnnEnum, CudnnStructure, OpaquePointer, room
from ..raw.function import Function, observe
from ..raw.memory import memory_pointer
from ..raw.parameter import Parameter
from ..raw.process import new_reentrant_lock
from ..raw.typed_memory import Typed, typed
from ..runtime.watching import unwatch, watch
from .backend_calls import Execution, Graphs, elements_of
from .memory import Objects, Places, Region, not_finite
from .records import Argument, CallRecord

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

    - `arguments`: the program's arguments by the parameters' C names, in C's order.
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
        holds = record_values(values)
        return named if holds is None else {**named, "holds": holds}

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


@dataclass
class Moment:
    """A call that is about to be made, or has just been made.

    - `arguments`: the program's arguments, by the parameters' C names.
    - `names`: the names of objects and memory.
    - `graphs`: the values that were set in backend descriptors.
    - `file`, `line`: the place of the call in the user's program; "" and 0 at exit.
    - `execution`: the operands of ``cudnnBackendExecute``; None for other functions, and if
      unknown.
    - `refused`: True if this package refused the call before C.
    """

    function: Function
    arguments: Mapping[str, Any]
    names: Names
    graphs: Graphs
    file: str = ""
    line: int = 0
    execution: Execution | None = None
    refused: bool = False


_EXECUTE = "cudnnBackendExecute"


class Listener(Protocol):
    """An object that is told about calls."""

    looks_at_numbers: bool

    def wants(self, function: str) -> bool:
        """Whether the listener wants calls of a C function."""

    def allocated(self, region: Region) -> None:
        """Called before the first call that uses an allocation."""

    def freed(self, region: Region) -> None:
        """Called after an allocation that calls used was freed."""

    def prepare(self, moment: Moment) -> None:
        """Called before a C call."""

    def hear(self, call: CallRecord, moment: Moment) -> None:
        """Called after a C call."""


Overhear = Callable[[Function, Mapping[str, Any]], None]


class _Thread(threading.local):
    inside = False
    overhear: Overhear | None = None


_thread = _Thread()
_lock = new_reentrant_lock()
_listeners: tuple[Listener, ...] = ()
_session: _Session | None = None


def listen(listener: Listener) -> None:
    """Report all calls to `listener` from now on, in all threads.

    Raises RuntimeError if it is listening already.
    """
    global _listeners, _session
    with _lock:
        if any(each is listener for each in _listeners):
            raise RuntimeError("this trace is open already")
        _listeners = (*_listeners, listener)
        if _session is None:
            _session = _Session()
            watch(_session.places)
            observe(_session.call)


def stop(listener: Listener) -> None:
    """Stop reporting calls to `listener`; a second call does nothing."""
    global _listeners, _session
    with _lock:
        _listeners = tuple(each for each in _listeners if each is not listener)
        if not _listeners and _session is not None:
            unwatch(_session.places)
            _session = None
            observe(None)


@contextmanager
def overhearing(overhear: Overhear) -> Iterator[None]:
    """Report the calls that a listener itself makes inside ``with`` to `overhear`."""
    _thread.overhear = overhear
    try:
        yield
    finally:
        _thread.overhear = None


def _by_name(
    function: Function, args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> dict[str, Any]:
    names = [parameter.name for parameter in function.parameters]
    return {**dict(zip(names, args, strict=False)), **kwargs}


class _Session:
    """The time from the start of the first open trace to the end of the last; they share names."""

    def __init__(self) -> None:
        self._names = Names()
        self.places = self._names.places
        self._graphs = Graphs()

    def call(self, function: Function, /, *args: Any, **kwargs: Any) -> Any:
        """Make a call, and report it to the listeners.

        Calls within a call are not reported: by the reference device, guards or this module.
        """
        if _thread.inside:
            result = function.unobserved(*args, **kwargs)
            if _thread.overhear is not None:
                _thread.overhear(function, _by_name(function, args, kwargs))
            return result
        _thread.inside = True
        try:
            return self._told(function, args, kwargs)
        finally:
            _thread.inside = False

    def _told(self, function: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        arguments = _by_name(function, args, kwargs)
        self._tell_of_freed_memory()
        decoder = Decoder(function, arguments, self._names)
        addresses: dict[str, int | None] = {}
        with suppress(Exception):  # a trace never stops a program
            addresses = {each: live.address(value) for each, value in arguments.items()}
        place = host_blocks.place()
        moment = Moment(function, arguments, self._names, self._graphs, *place)
        if function.__name__ == _EXECUTE:
            with suppress(Exception):
                moment.execution = self._graphs.execution(arguments)
        for listener in _listeners:
            if listener.wants(function.__name__):
                listener.prepare(moment)
        with suppress(Exception):  # the call itself raises the error
            function.bind()
        start = time.perf_counter()
        try:
            result = function.unobserved(*args, **kwargs)
        except BaseException as error:
            seconds = time.perf_counter() - start
            moment.refused = getattr(error, "source", log.GUARD) == log.GUARD
            self._tell(decoder, _of_error(error), seconds, moment)
            raise
        seconds = time.perf_counter() - start
        outcome = _of_result(result)
        if outcome[1]:
            reasons = log.logged.get(threading.get_ident())
            moment.refused = getattr(reasons, "source", "") == log.GUARD
        else:
            with suppress(Exception):
                self._follow(function, arguments, addresses)
        self._tell(decoder, outcome, seconds, moment)
        return result

    def _tell_of_freed_memory(self) -> None:
        with _lock, suppress(Exception):  # a trace never stops a program
            for region in self.places.settle():
                for listener in _listeners:
                    listener.freed(region)

    def _follow(
        self, function: Function, arguments: Mapping[str, Any], addresses: Mapping[str, int | None]
    ) -> None:
        name = function.__name__
        if name.startswith("cudnnBackend"):
            self._graphs.follow(name, arguments)
        if "Destroy" in name:
            for parameter in function.parameters:
                address = addresses.get(parameter.name)
                self._names.objects.forget(parameter.type.base, address)
                if name.startswith("cudnnBackend"):
                    self._graphs.forget(address)

    def _tell(
        self,
        decoder: Decoder,
        outcome: tuple[str, bool, str],
        seconds: float,
        moment: Moment,
    ) -> None:
        function, execution = decoder.function, moment.execution
        with _lock:
            for region in self.places.fresh():
                for listener in _listeners:
                    listener.allocated(region)
        listeners = [each for each in _listeners if each.wants(function.__name__)]
        status, failed, reason = outcome
        arguments = decoder.arguments(not failed)
        if not listeners:
            return
        if execution is not None:
            arguments = tuple(self._with_operands(each, execution) for each in arguments)
        bad: dict[str, str] = {}
        if not failed and any(each.looks_at_numbers for each in listeners):
            with suppress(Exception):
                bad = not_finite(function, decoder.values, execution, outputs=True)
                if bad:
                    read = not_finite(function, decoder.values, execution, outputs=False)
                    bad |= {f"{name}, which it read": text for name, text in read.items()}
        with _lock:
            call = CallRecord(
                0,
                function.__name__,
                arguments,
                status,
                failed,
                reason,
                seconds,
                moment.file,
                moment.line,
                threading.current_thread().name,
                bad,
            )
            for listener in listeners:
                listener.hear(call, moment)

    def _with_operands(self, argument: Argument, execution: Execution) -> Argument:
        """The argument with the plan's operations or the variant pack's operands added."""
        if not isinstance(argument.value, dict):
            return argument
        if argument.name == "executionPlan":
            holds: dict[str, Any] = {"operations": execution.operations}
        elif argument.name == "variantPack":
            holds = {str(info.uid): self._operand(info, at) for info, at in execution.tensors}
        else:
            return argument
        return Argument(argument.name, {**argument.value, "holds": holds})

    def _operand(self, info: Any, address: int) -> dict[str, Any]:
        name, offset = self._names.places.place(address, None, "memory")
        return {
            "allocation": name,
            "offset": offset,
            "data_type": plain(info.data_type),
            "shape": list(info.dims),
            "strides": list(info.strides),
        }


def _of_result(result: Any) -> tuple[str, bool, str]:
    """The status as text, whether it is a failure, and the reason."""
    if type(result).__name__ != "cudnnStatus_t":
        name = result.name if isinstance(result, CudnnEnum) else repr(result)
        return ("" if result is None else name), False, ""
    reasons = log.logged.get(threading.get_ident(), ()) if result else ()
    return result.name.removeprefix("CUDNN_STATUS_"), bool(result), _reason(reasons)


def _of_error(error: BaseException) -> tuple[str, bool, str]:
    if isinstance(error, CudnnError):
        status = str(error.status).removeprefix("CUDNN_STATUS_")
        return status, True, _reason(error.messages or [error.detail])
    return type(error).__name__, True, str(error)


def _reason(messages: Iterable[str]) -> str:
    """The innermost reason; single words such as "status", which cuDNN also logs, are skipped."""
    return next((message for message in messages if " " in message or "(" in message), "")
