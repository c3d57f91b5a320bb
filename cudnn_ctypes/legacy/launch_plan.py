"""Plans: the C calls of a recorded launch, with gaps for what differs from call to call."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any, NamedTuple

from ..device import DeviceBuffer, DeviceTensor, copy, pytorch
from ..device.allocation import Allocation
from ..handle import Handle
from ..raw import log, records
from ..raw.bare import bare, watched
from ..raw.function import Function
from ..resource import Resource
from .descriptor import Descriptor
from .launch_keys import NoKey, look
from .stream_launcher import StreamLauncher

__all__ = ["Launcher", "Memory", "Plan", "Recording", "make_call"]

Launcher = Handle | StreamLauncher


class Memory:
    """What C receives for an operand, under the name that the operand has in Python."""

    __slots__ = ("_as_parameter_", "name", "written")

    def __init__(self, name: str, memory: Any, *, written: bool = False) -> None:
        self.name = name
        self._as_parameter_ = memory
        self.written = written

    @property
    def device_id(self) -> int | None:
        """Ordinal of the GPU that the memory says it is on."""
        return getattr(self._as_parameter_, "device_id", None)

    def __repr__(self) -> str:
        return repr(self._as_parameter_)


class Recording:
    """What the first call of a key launches, makes and returns.

    Parameters
    ----------
    handle : Handle
    given : dict
        The other arguments by name.
    launches : bool
        False: nothing is launched, only recorded.
    """

    def __init__(self, handle: Launcher, given: dict[str, Any], *, launches: bool = True) -> None:
        self.handle = handle
        self.given = given
        self.stack = ExitStack()
        """Closes what was made for the call; with the plan, if there will be one."""
        self.made: list[DeviceTensor] = []
        """Uninitialised tensors that were made for results."""
        self.scratch: list[DeviceBuffer | DeviceTensor] = []
        """Workspaces that were made for the call."""
        self.zeroed: list[Any] = []
        """Those of `made` and `scratch` that were filled with zeros."""
        self.constants: list[DeviceTensor] = []
        """Copies of numbers of the host, which the key names, in memory that the plan keeps."""
        self.calls: list[tuple[Function, tuple[Any, ...]]] = []
        self.launches = launches


FilledCall = tuple[Function, Callable[..., Any], list[Any]]


def make_call(function: Function, callee: Callable[..., Any], arguments: list[Any]) -> None:
    """Make a call, through ``raw`` or bare."""
    if log.logged:
        log.forget()
    if code := callee(*arguments):
        raise function._binding.error(code, tuple(arguments))


class _Call(NamedTuple):
    """A C call with gaps.

    Attributes
    ----------
    function : Function
        Of ``raw``, which takes the arguments `checked`.
    symbol : ctypes function
        Of C itself, which takes the arguments `native`.
    gaps : list of (int, int)
        Position among the arguments, and index of what fills it.
    """

    function: Function
    checked: list[Any]
    symbol: Callable[..., int]
    native: list[Any]
    gaps: list[tuple[int, int]]


class Plan:
    """The C calls of one key, with gaps for the handle and the addresses of memory."""

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, recording.given
        self._device = None if handle.on_reference_device else handle.device.device_id
        # What fills the gaps: the operands, the handle, results that are made, workspaces.
        self._made = [{**vars(each), "_memory": None} for each in recording.made]
        self._sizes = [each._nbytes for each in recording.made]
        self.scratch_sizes = [each.nbytes for each in recording.scratch]
        self._zeroed = [
            (position, each.nbytes)
            for position, each in enumerate((*recording.made, *recording.scratch))
            if any(each is zeroed for zeroed in recording.zeroed)
        ]
        sources: dict[Any, int] = {name: position for position, name in enumerate(given)}
        sources[handle] = len(sources)
        for made in (*recording.made, *recording.scratch):
            sources[id(made)] = len(sources)
        memories = [
            argument
            for _, arguments in recording.calls
            for argument in arguments
            if isinstance(argument, Memory)
        ]
        written = {memory.name for memory in memories if memory.written}
        self._calls = [
            self._with_gaps(recording, sources, function, arguments)
            for function, arguments in recording.calls
        ]
        self._stream = handle.stream_pointer if recording.constants else None
        self._torch = any(pytorch.is_torch(type(value)) for value in given.values())
        self.returns = self._returning(recording, written, result)
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
        # The operand itself, or what it was imported as.
        if value is recording.given.get(memory.name):
            return memory.name
        pointer = look(recording.given.get(memory.name), recording.handle)[1]
        if pointer is None or pointer.value != _address(value):
            raise NoKey
        return memory.name

    def _with_gaps(
        self,
        recording: Recording,
        sources: dict[Any, int],
        function: Function,
        arguments: tuple[Any, ...],
    ) -> _Call:
        if not isinstance(function, Function):
            raise NoKey
        # The gaps hold nothing: a plan keeps no memory alive.
        checked: list[Any] = [None] * len(arguments)
        native: list[Any] = [None] * len(arguments)
        gaps: list[tuple[int, int]] = []
        argtypes = function._binding.argtypes
        handle = recording.handle
        for position, argument in enumerate(arguments):
            if argument is handle:
                gaps.append((position, sources[handle]))
            elif isinstance(argument, Memory):
                gaps.append((position, sources[self._source(recording, argument)]))
            else:
                constant = any(argument is each for each in recording.constants)
                if function.parameters[position].type.kind == "device" and not (
                    constant or argument is None
                ):
                    raise NoKey
                if constant or isinstance(argument, Resource):
                    argument = argument._as_parameter_
                checked[position] = argument
                native[position] = argtypes[position].from_param(argument)
        return _Call(function, checked, getattr(bare, function.__name__), native, gaps)

    def _returning(
        self, recording: Recording, written: set[str], result: Any
    ) -> Callable[[list[DeviceTensor], list[Any]], Any]:
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
        names = list(recording.given)
        for name in sorted(names, key=lambda name: name not in written):
            if result is recording.given[name]:
                place = names.index(name)
                return lambda made, given: given[place]
        raise NoKey

    def fits(self, launcher: Launcher) -> bool:
        """Whether the launcher's stream is the one in whose order the plan frees its memory."""
        return self._stream is None or self._stream == launcher.stream_pointer

    def fill(
        self, handle: Launcher, pointers: list[Any], scratch: list[Allocation]
    ) -> list[DeviceTensor]:
        """Complete `pointers`, those of the operands; returns the results that are made.

        Parameters
        ----------
        scratch : list of Allocation
            The workspaces, one for each of `scratch_sizes`.
        """
        pointers.append(handle._as_parameter_)
        made: list[DeviceTensor] = []
        if self._made:
            blocks = handle.allocator.allocate_each(self._sizes)
            for state, memory in zip(self._made, blocks, strict=True):
                tensor = object.__new__(DeviceTensor)
                tensor.__dict__ = {**state, "_memory": memory}
                made.append(tensor)
                pointers.append(ctypes.c_void_p(memory.ptr))
        for block in scratch:
            pointers.append(ctypes.c_void_p(block.ptr or None))
        return made

    def zeroed(
        self, made: list[DeviceTensor], scratch: list[Allocation]
    ) -> list[tuple[Allocation, int]]:
        """What is to be filled with zeros before the calls, and how many bytes of it."""
        if not self._zeroed:
            return []
        blocks = [*(tensor._memory for tensor in made), *scratch]
        return [(blocks[position], nbytes) for position, nbytes in self._zeroed]

    def calls(self, pointers: list[Any], *, checked: bool) -> Iterator[FilledCall]:
        """The C calls with their gaps filled, for ``raw`` or for C itself."""
        for call in self._calls:
            arguments = (call.checked if checked else call.native).copy()
            for position, index in call.gaps:
                arguments[position] = pointers[index]
            yield call.function, call.function if checked else call.symbol, arguments

    def follow(self, handle: Launcher) -> None:
        """Have the handle's stream wait for what others have under way with the operands."""
        if self._torch and self._device is not None:
            pytorch.follow(self._device, handle.stream_pointer)

    def run(self, handle: Launcher, pointers: list[Any], given: list[Any]) -> Any:
        """Launch with operands at `pointers`; `given` are all arguments but the handle."""
        scratch = [handle.workspace(size, i) for i, size in enumerate(self.scratch_sizes)]
        made = self.fill(handle, pointers, scratch)
        self.follow(handle)
        try:
            for memory, nbytes in self.zeroed(made, scratch):
                copy.fill(memory, b"\0", 0, nbytes, stream=handle.stream)
            for function, callee, arguments in self.calls(pointers, checked=bool(watched)):
                make_call(function, callee, arguments)
        except BaseException:
            for tensor in made:
                tensor.close()
            raise
        return self.returns(made, given)

    def __del__(self) -> None:
        if hasattr(self, "_stack"):
            self._stack.close()


def _address(memory: Any) -> int | None:
    return memory if isinstance(memory, int) else getattr(memory, "_as_parameter_", memory).value
