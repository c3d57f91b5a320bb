"""Plans: the C calls of a recorded launch, with gaps for what differs from call to call."""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from ..device import DeviceTensor, copy, pytorch
from ..device.allocation import Allocation, Allocator
from ..device.described import TensorForm
from ..raw import log, mode
from ..raw.bare import bare, watched
from ..raw.compiled_functions import function_of
from ..raw.function import Function
from ..resource import Resource
from .descriptor import Descriptor
from .launch_keys import NoKey, look
from .launch_source import plan_source
from .recording import Launcher, Memory, Place, Recording

__all__ = ["Call", "Plan", "fill", "make_call"]


FilledCall = tuple[Function, Callable[..., Any], list[Any]]


def make_call(function: Function, callee: Callable[..., Any], arguments: list[Any]) -> None:
    """Make a call, through ``raw`` or bare."""
    if log.logged:
        log.forget()
    if code := callee(*arguments):
        raise function._binding.error(code, tuple(arguments))


class Call(NamedTuple):
    """A C call with gaps.

    Attributes
    ----------
    function : Function
        Of ``raw``, which takes the arguments `checked`.
    symbol : ctypes function
        Of C itself, which takes the arguments `native`.
    gaps : dict
        What fills them, by position among the arguments.
    """

    function: Function
    checked: list[Any]
    symbol: Callable[..., int]
    native: list[Any]
    gaps: dict[int, Place]


class Plan:
    """The C calls of one key, with gaps for what differs from call to call.

    Attributes
    ----------
    calls : list of Call
        After a change, `connect` is needed.
    run : callable
        From the launcher, what C is given of the arguments, and the arguments, to the result. It
        raises `NoKey`, before anything is done, where the plan is for another stream or device.
    returns : callable
        From the results that are made and the arguments to what the operation returns.
    """

    run: Callable[..., Any]

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, recording.given
        self.on_host: bool = handle.on_reference_device
        self._device = None if self.on_host else handle.device.device_id
        self._forms = [(each.keyed()[0], each._form()) for each in recording.made]
        self._sizes = [each._nbytes for each in recording.made]
        self.scratch_sizes: list[int] = [each.nbytes for each in recording.scratch]
        self._zeroed = [
            (position, each.nbytes)
            for position, each in enumerate((*recording.made, *recording.scratch))
            if any(each is zeroed for zeroed in recording.zeroed)
        ]
        places = recording.places()
        self.calls: list[Call] = [
            _with_gaps(recording, places, function, arguments)
            for function, arguments in recording.calls
        ]
        self._stream = handle.stream_pointer if recording.constants else None
        self._torch = any(pytorch.is_torch(type(value)) for value in given.values())
        self._kinds: dict[str, Any] = {"new": tuple.__new__}
        self._result = self._returning(recording, recording.written(), result)
        self.returns: Callable[..., Any] = function_of(
            f"def returns(made, given): return {self._result}", "a plan", self._kinds
        )
        self._stack = recording.stack
        self.connect()

    def _returning(self, recording: Recording, written: set[str], result: Any) -> str:
        """The operation's result, as an expression of new tensors and the arguments."""
        if result is None:
            return "None"
        if isinstance(result, tuple):
            parts = [self._returning(recording, written, part) for part in result]
            kind = f"kind{len(self._kinds)}"
            self._kinds[kind] = type(result)
            return f"new({kind}, ({''.join(f'{part}, ' for part in parts)}))"
        for position, made in enumerate(recording.made):
            if result is made:
                return f"made[{position}]"
        # In place a result is an operand too, and other calls need not be in place.
        names = list(recording.given)
        for name in sorted(names, key=lambda name: name not in written):
            if result is recording.given[name]:
                return f"given[{names.index(name)}]"
        raise NoKey

    def connect(self) -> None:
        """Compile `run` with the calls as they are."""
        follows = self._torch and self._device is not None
        source = plan_source(
            moved=self._stream is not None,
            follows=follows,
            makes=bool(self._sizes),
            scratch=len(self.scratch_sizes),
            zeroed=[position for position, _ in self._zeroed],
            calls=[_expressions(i, call) for i, call in enumerate(self.calls)],
            result=self._result,
        )
        scope = {
            "mode": mode,
            "on_host": self.on_host,
            "stream": self._stream,
            "NoKey": NoKey,
            "current": pytorch.streams() if follows else None,
            "follow": pytorch.follow,
            "device": self._device,
            "make": functools.partial(_made, self._sizes, self._forms),
            "sizes": self.scratch_sizes,
            "fill": fill,
            "zeros": [nbytes for _, nbytes in self._zeroed],
            "logged": log.logged,
            "forget": log.forget,
            "errors": [call.function._binding.error for call in self.calls],
            **self._kinds,
        }
        through_raw: dict[str, Any] = {**scope, "watched": ()}
        bare: dict[str, Any] = {**scope, "watched": watched}
        for i, call in enumerate(self.calls):
            through_raw |= {f"call{i}": call.function, **_named(i, call.checked)}
            bare |= {f"call{i}": call.symbol, **_named(i, call.native)}
        bare["through_raw"] = function_of(source, "a plan", through_raw)
        self.run = function_of(source, "a plan", bare)

    def fits(self, launcher: Launcher) -> bool:
        """Whether the plan is for the launcher's device, and for the stream that it needs."""
        return mode.reference_device_active is self.on_host and (
            self._stream is None or self._stream == launcher.stream_pointer
        )

    def fill(
        self, launcher: Launcher, at: Any, scratch: list[Allocation]
    ) -> tuple[list[DeviceTensor], dict[str, Any]]:
        """The results that are made for a launch, and what fills the gaps of its calls.

        Parameters
        ----------
        at
            What C is given of the arguments.
        scratch : list of Allocation
            The workspaces, one for each of `scratch_sizes`.
        """
        made, to = _made(self._sizes, self._forms, launcher.allocator)
        spaces = [block.pointer for block in scratch]
        return made, {"at": at, "to": to, "scratch": spaces, "handle": launcher._as_parameter_}

    def zeroed(
        self, made: list[DeviceTensor], scratch: list[Allocation]
    ) -> list[tuple[Allocation, int]]:
        """Memory to fill with zeros before the calls, and the number of bytes."""
        blocks = [*(tensor._memory for tensor in made), *scratch]
        return [(blocks[position], nbytes) for position, nbytes in self._zeroed]

    def filled(self, values: dict[str, Any], *, checked: bool) -> Iterator[FilledCall]:
        """The C calls with their gaps filled, for ``raw`` or for C itself."""
        for call in self.calls:
            arguments = (call.checked if checked else call.native).copy()
            for position, place in call.gaps.items():
                arguments[position] = functools.reduce(operator.getitem, place, values)
            yield call.function, call.function if checked else call.symbol, arguments

    def follow(self, launcher: Launcher) -> None:
        """Have the launcher's stream wait for what others have under way with the operands."""
        if self._torch and self._device is not None:
            pytorch.follow(self._device, launcher.stream_pointer)

    def __del__(self) -> None:
        if hasattr(self, "_stack"):
            with log.set_aside():
                self._stack.close()


def fill(memory: Allocation, nbytes: int, stream: Any) -> None:
    """Put zeros in memory, in the order of a stream."""
    copy.fill(memory, b"\0", 0, nbytes, stream=stream)


def _made(
    sizes: list[int], forms: list[tuple[int, TensorForm]], allocator: Allocator
) -> tuple[list[DeviceTensor], list[ctypes.c_void_p]]:
    """Results in new memory, and their addresses."""
    made: list[DeviceTensor] = []
    addresses: list[ctypes.c_void_p] = []
    for memory, (token, form) in zip(allocator.allocate_each(sizes), forms):  # noqa: B905 - slower
        pointer = memory.pointer
        made.append(DeviceTensor._in(memory, form, (token, pointer)))
        addresses.append(pointer)
    return made, addresses


def _place(recording: Recording, places: dict[Any, Place], memory: Memory) -> Place:
    """Where a launch finds the address of an operand, or of memory that was made for the call."""
    value, operand = memory._as_parameter_, recording.given.get(memory.name)
    if (made := places.get(id(value))) is not None:
        return made
    if value is not operand:  # it is what the operand was imported as
        pointer = look(operand, recording.handle)[1]
        if pointer is None or pointer.value != _address(value):
            raise NoKey
    return places[memory.name]


def _with_gaps(
    recording: Recording,
    places: dict[Any, Place],
    function: Function,
    arguments: tuple[Any, ...],
) -> Call:
    if not isinstance(function, Function):
        raise NoKey
    # The gaps hold nothing: a plan keeps no memory alive.
    checked: list[Any] = [None] * len(arguments)
    native: list[Any] = [None] * len(arguments)
    gaps: dict[int, Place] = {}
    argtypes = function._binding.argtypes
    for position, argument in enumerate(arguments):
        if isinstance(argument, Memory):
            gaps[position] = _place(recording, places, argument)
        elif isinstance(argument, Launcher | Descriptor) and id(argument) in places:
            gaps[position] = places[id(argument)]
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
    return Call(function, checked, getattr(bare, function.__name__), native, gaps)


def _expressions(index: int, call: Call) -> list[str]:
    """The arguments of a call in the source of a plan."""
    return [
        "".join((place[0], *(f"[{i}]" for i in place[1:])))
        if (place := call.gaps.get(position)) is not None
        else f"argument{index}_{position}"
        for position in range(len(call.native))
    ]


def _named(index: int, arguments: list[Any]) -> dict[str, Any]:
    """The arguments of a call by the names that they have in `_expressions`."""
    return {f"argument{index}_{position}": value for position, value in enumerate(arguments)}


def _address(memory: Any) -> int | None:
    return memory if isinstance(memory, int) else getattr(memory, "_as_parameter_", memory).value
