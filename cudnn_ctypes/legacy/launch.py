"""Launches that were made before: found by one key, then nothing but addresses and the C call.

The first call of an operation with operands of some shapes, strides and types goes the long way:
it imports and checks the operands, makes descriptors, asks heuristics, and launches. What it
launched is recorded as a plan: the C functions and their arguments, with the operands left open.
Each later call with the same key fills in the addresses.

A plan keeps descriptors and numbers, never memory of the user. Plans are kept by their handle and
closed with it.
"""

from __future__ import annotations

import ctypes
import functools
import inspect
import sys
import threading
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar, cast

from ..device import DeviceBuffer, DeviceTensor, cuda
from ..device.allocation import Allocation
from ..device.stream import order
from ..handle import Handle
from ..raw import log, records
from ..raw.bare import bare, watched
from ..raw.ctypes_support import CudnnEnum
from ..raw.function import Function
from ..resource import Resource
from .descriptor import Descriptor

__all__ = ["Memory", "Recording", "launch", "launched", "recording"]

_KEPT = 1024  # plans of one handle; the oldest goes first
_LOWEST_ADDRESS = 1 << 32  # of device memory; smaller ints are numbers

F = TypeVar("F", bound=Callable[..., Any])


class Memory:
    """What C receives for an operand, under the name that the operand has in Python."""

    __slots__ = ("_as_parameter_", "name", "written")

    def __init__(self, name: str, memory: Any, *, written: bool = False) -> None:
        self.name = name
        self._as_parameter_ = memory
        self.written = written

    def __repr__(self) -> str:
        return repr(self._as_parameter_)


class _NoKey(Exception):
    """An argument that may decide how an operation is launched, and that nothing stands for."""


# --- what an operation may learn of an argument, but for the address of its memory ----------------


def _of_number(value: Any) -> Any:
    return type(value), value


def _of_int(value: int) -> Any:
    return "address" if value >= _LOWEST_ADDRESS else (int, value)


def _of_address(value: ctypes.c_void_p) -> Any:
    return "address" if value.value else "NULL"


def _of_sequence(value: Sequence[Any]) -> Any:
    return type(value), tuple(map(_signature, value))


def _of_device_tensor(value: DeviceTensor) -> Any:
    memory = value._open()
    where = -1 if memory.on_host else memory.device_id
    return value._data_type, value._shape, value._strides, where, value._readonly


def _of_buffer(value: DeviceBuffer) -> Any:
    return "buffer", value.nbytes, -1 if value.on_host else value.device_id


def _of_torch(value: Any) -> Any:
    return value.dtype, value.shape, value.stride(), value.device, value.requires_grad


def _of_descriptor(value: Descriptor[Any]) -> Any:
    handle = value._as_parameter_
    place = records.cache.get(bytes(handle))
    held = None if place is None else place.record
    if held is None and (held := records.record(handle)) is None:
        raise _NoKey
    return bytes(handle), id(held)


def _of_descriptors(value: Any) -> Any:
    return type(value), tuple(map(_signature, value.descriptors))


def _of_unknown(value: Any) -> Any:
    raise _NoKey


_SIGNATURES: dict[type, Callable[[Any], Any]] = {
    type(None): lambda value: None,
    str: lambda value: value,
    bool: _of_number,
    float: _of_number,
    int: _of_int,
    tuple: _of_sequence,
    list: _of_sequence,
    ctypes.c_void_p: _of_address,
    DeviceTensor: _of_device_tensor,
    DeviceBuffer: _of_buffer,
}


def _signature(value: Any) -> Any:
    kind = type(value)
    return (_SIGNATURES.get(kind) or _classified(kind))(value)


def _classified(kind: type) -> Callable[[Any], Any]:
    of: Callable[[Any], Any] = _of_unknown
    if _is_torch(kind):
        of = _of_torch
    elif issubclass(kind, Descriptor):
        of = _of_descriptor
    elif issubclass(kind, CudnnEnum) or _is_frozen(kind):
        of = _of_number
    elif hasattr(kind, "descriptors"):
        of = _of_descriptors
    _SIGNATURES[kind] = of
    return of


def _is_torch(kind: type) -> bool:
    """Whether it is PyTorch's tensor itself: a subclass of somebody may be no memory at all."""
    return (kind.__module__, kind.__name__) in (
        ("torch", "Tensor"),
        ("torch.nn.parameter", "Parameter"),
    )


def _is_frozen(kind: type) -> bool:
    """Whether its instances are plain data: an ``AlgorithmRow``, say."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return bool(parameters and parameters.frozen and not hasattr(kind, "descriptors"))


# --- addresses ------------------------------------------------------------------------------------


def _pointer_of_memory(memory: Any) -> ctypes.c_void_p:
    """Raises ClosedError, or ValueError for memory of the other device."""
    pointer: ctypes.c_void_p = memory._as_parameter_
    return pointer


def _pointer_of_torch(tensor: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(tensor.data_ptr())


def _pointer_of_number(address: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(getattr(address, "value", address))


def _pointer_getter(value: Any) -> Callable[[Any], ctypes.c_void_p]:
    if isinstance(value, (int, ctypes.c_void_p)):
        return _pointer_of_number
    return _pointer_of_torch if _is_torch(type(value)) else _pointer_of_memory


def _pointer(value: Any) -> ctypes.c_void_p:
    return _pointer_getter(value)(value)


def _follow_torch(device: int, stream: int) -> None:
    """Have `stream` wait for what is on PyTorch's current stream, if that is another one."""
    current = sys.modules["torch"]._C._cuda_getCurrentRawStream(device)
    if current != stream:
        with cuda.current_context(device):
            order(before=current, after=stream)


# --- recording ------------------------------------------------------------------------------------


class Recording:
    """What the first call of a key launches, makes and returns."""

    def __init__(self, handle: Handle, given: dict[str, Any]) -> None:
        self.handle = handle
        self.given = given
        self.stack = ExitStack()
        """Closes what was made for the call; with the plan, if there will be one."""
        self.made: list[DeviceTensor] = []
        """Uninitialised tensors that were made for results."""
        self.scratch: list[DeviceBuffer] = []
        """Workspaces that were made for the call."""
        self.calls: list[tuple[Function, tuple[Any, ...]]] = []


class _Current(threading.local):
    recording: Recording | None = None


_current = _Current()


def recording() -> Recording | None:
    """The recording of this thread, if it makes the first call of some key."""
    return _current.recording


def launch(function: Callable[..., Any], *arguments: Any) -> None:
    """Call a C function that does the work of an operation; operands are given as `Memory`."""
    function(*arguments)
    if _current.recording is not None:
        _current.recording.calls.append((cast(Function, function), arguments))


class _Plan:
    """The C calls of one key, with gaps for the handle and the addresses of memory."""

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, recording.given
        self._device = None if handle.on_reference_device else handle.device.device_id
        # What fills the gaps: the handle, operands, results that are made, workspaces.
        self._operands: list[tuple[str, Callable[[Any], ctypes.c_void_p]]] = []
        self._made = [(each._nbytes, {**vars(each), "_memory": None}) for each in recording.made]
        self._scratch = [each.nbytes for each in recording.scratch]
        sources: dict[Any, int] = {"handle": 0}
        written: set[str] = set()
        memories = [a for _, arguments in recording.calls for a in arguments]
        for memory in memories:
            if not isinstance(memory, Memory):
                continue
            if memory.written:
                written.add(memory.name)
            source = self._source(recording, memory)
            if isinstance(source, str) and source not in sources:
                sources[source] = len(sources)
                self._operands.append((source, _pointer_getter(given[source])))
        for made in (*recording.made, *recording.scratch):
            sources[id(made)] = len(sources)
        self._calls = [
            self._call(recording, sources, function, arguments)
            for function, arguments in recording.calls
        ]
        self._torch = any(_is_torch(type(given[name])) for name, _ in self._operands)
        self._returns = self._returning(recording, written, result)
        # Keys have the identity of records: while these live, no other record has it.
        self._held = [
            records.record(descriptor)
            for value in given.values()
            for descriptor in getattr(value, "descriptors", (value,))
            if isinstance(descriptor, Descriptor)
        ]
        self._stack = recording.stack

    @staticmethod
    def _source(recording: Recording, memory: Memory) -> Any:
        """The name of an operand, or the identity of memory that was made for the call."""
        value = memory._as_parameter_
        if any(value is made for made in (*recording.made, *recording.scratch)):
            return id(value)
        given = recording.given.get(memory.name)
        if given is None or _pointer(given).value != _pointer(value).value:
            raise _NoKey
        return memory.name

    def _call(
        self,
        recording: Recording,
        sources: dict[Any, int],
        function: Function,
        arguments: tuple[Any, ...],
    ) -> tuple[Function, list[Any], Any, list[Any], list[tuple[int, int]]]:
        """A function, its arguments for ``raw`` and for C itself, and the gaps in both."""
        if not isinstance(function, Function):
            raise _NoKey
        # The gaps hold nothing: a plan keeps no memory alive.
        checked: list[Any] = [None] * len(arguments)
        native: list[Any] = [None] * len(arguments)
        gaps: list[tuple[int, int]] = []
        argtypes = function._binding.argtypes
        for position, argument in enumerate(arguments):
            if argument is recording.handle:
                gaps.append((position, sources["handle"]))
            elif isinstance(argument, Memory):
                gaps.append((position, sources[self._source(recording, argument)]))
            elif function.parameters[position].type.kind == "device" and argument is not None:
                raise _NoKey
            else:
                if isinstance(argument, Resource):
                    argument = argument._as_parameter_
                checked[position] = argument
                native[position] = argtypes[position].from_param(argument)
        return function, checked, getattr(bare, function.__name__), native, gaps

    def _returning(
        self, recording: Recording, written: set[str], result: Any
    ) -> Callable[[list[DeviceTensor], dict[str, Any]], Any]:
        """How the result of a call is put together from what is made and what is given."""
        if result is None:
            return lambda made, given: None
        if isinstance(result, tuple):
            parts = [self._returning(recording, written, part) for part in result]
            kind: Any = type(result)
            put = getattr(kind, "_make", kind)
            return lambda made, given: put(part(made, given) for part in parts)
        for position, made in enumerate(recording.made):
            if result is made:
                return lambda made, given: made[position]
        # In place a result is an operand too, and other calls need not be in place.
        for name in sorted(recording.given, key=lambda name: name not in written):
            if result is recording.given[name]:
                return lambda made, given: given[name]
        raise _NoKey

    def run(self, handle: Handle, given: dict[str, Any]) -> Any:
        pointer, stream = handle._as_parameter_, handle.stream_pointer
        values: list[Any] = [pointer]
        for name, pointer_of in self._operands:
            values.append(pointer_of(given[name]))
        if self._torch and self._device is not None:
            _follow_torch(self._device, stream)
        made: list[DeviceTensor] = []
        for nbytes, state in self._made:
            tensor = object.__new__(DeviceTensor)
            memory = Allocation(nbytes, device=self._device, stream=handle.stream)
            vars(tensor).update(state, _memory=memory)
            made.append(tensor)
            values.append(ctypes.c_void_p(memory.ptr))
        scratch: list[Allocation] = []
        for nbytes in self._scratch:
            scratch.append(Allocation(nbytes, device=self._device, stream=handle.stream))
            values.append(ctypes.c_void_p(scratch[-1].ptr or None))
        try:
            for function, checked, symbol, native, gaps in self._calls:
                arguments = (checked if watched else native).copy()
                for position, index in gaps:
                    arguments[position] = values[index]
                if watched:
                    function(*arguments)
                    continue
                if log.logged:
                    log.forget()
                if code := symbol(*arguments):
                    raise function._binding.error(code, tuple(arguments))
        except BaseException:
            for tensor in made:
                tensor.close()
            raise
        finally:
            for block in scratch:
                block.release()
        return self._returns(made, given)

    def __del__(self) -> None:
        if hasattr(self, "_stack"):
            self._stack.close()


# --- operations -----------------------------------------------------------------------------------


def launched(operation: F) -> F:
    """Have a function with a parameter ``handle`` launch what it launched before by its key."""
    names = tuple(inspect.signature(operation).parameters)
    place = names.index("handle")

    @functools.wraps(operation)
    def call(*args: Any, **kwargs: Any) -> Any:
        handle = args[place] if len(args) > place else kwargs.get("handle")
        if type(handle) is not Handle or _current.recording is not None:
            return operation(*args, **kwargs)
        given = dict(zip(names, args, strict=False))
        given.update(kwargs)
        if len(given) != len(args) + len(kwargs):
            return operation(*args, **kwargs)  # which refuses an argument that was given twice
        del given["handle"]
        plans = handle._plans
        try:
            key = (operation, tuple(given), *map(_signature, given.values()))
            plan = plans.get(key)
        except (_NoKey, TypeError):  # TypeError: not hashable
            return operation(*args, **kwargs)
        if plan is not None:
            return plan.run(handle, given)
        result, plan = _recorded(Recording(handle, given), operation, args, kwargs)
        if plan is not None:
            while len(plans) >= _KEPT:
                plans.pop(next(iter(plans)), None)
            plans[key] = plan
        return result

    return cast(F, call)


def _recorded(
    recording: Recording, operation: Callable[..., Any], args: Any, kwargs: Any
) -> tuple[Any, _Plan | None]:
    _current.recording = recording
    try:
        result = operation(*args, **kwargs)
    except BaseException:
        recording.stack.close()
        raise
    finally:
        _current.recording = None
    if recording.calls:
        try:
            return result, _Plan(recording, result)
        except _NoKey:
            pass
    recording.stack.close()
    return result, None
