"""Plans: the C calls of a key's recorded first launch, with gaps for what differs in later ones."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from threading import get_ident
from typing import Any, NamedTuple, Protocol, cast

from cudnn_ctypes.raw import log, mode
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.ctypes_support import OpaquePointer
from cudnn_ctypes.raw.function import Function, watched
from cudnn_ctypes.raw.process import Bounded
from cudnn_ctypes.resource import Resource

from .. import copy, pytorch
from ..allocation import Allocation, Allocator
from ..buffer import DeviceBuffer
from ..device import current_device
from ..interface import Runtime
from ..stream import LEGACY_DEFAULT, as_stream_pointer
from ..tensor import DeviceTensor
from .likeness import NoKey, Plans, look


class Launcher(Protocol):
    """A handle, or a stream where C functions take one: what a plan needs of it.

    - `launch_key`: the device, where it is part of a launch's key.
    """

    launch_key: int | None
    runtime: Runtime
    _plans: Plans
    _as_parameter_: Any

    @property
    def device(self) -> Any: ...
    @property
    def stream(self) -> Any: ...
    @property
    def stream_pointer(self) -> int: ...
    @property
    def allocator(self) -> Allocator: ...
    def workspace(self, nbytes: int, index: int = 0) -> Allocation: ...


_plans = Plans()

_allocators: dict[int, Allocator] = {}
"""Allocators of the legacy default streams, by GPU."""


class StreamLauncher:
    """A stream of the current device, with the attributes that a plan needs of a handle.

    - `launch_key`: the device, as part of a launch's key.
    """

    def __init__(self, stream: Any) -> None:
        self.stream: Any = stream
        self.stream_pointer: int = as_stream_pointer(stream)
        self._as_parameter_ = ctypes.c_void_p(self.stream_pointer)
        self.runtime: Runtime = mode.runtime
        self._ordinal: int = mode.runtime.current_ordinal()
        self.launch_key: int = mode.runtime.where(self._ordinal)

    @property
    def device(self) -> Any:
        """The current device, on which memory for launches is allocated."""
        return current_device()

    @property
    def _plans(self) -> Plans:
        """The plans of all streams; they hold no descriptor."""
        return _plans

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self.stream_pointer

    def __repr__(self) -> str:
        return f"stream {self.stream_pointer:#x}"

    def workspace(self, nbytes: int, index: int = 0) -> Allocation:
        """Scratch memory for one launch, freed in the order of the stream."""
        return self.allocator.allocate(nbytes)

    @property
    def allocator(self) -> Allocator:
        """Where memory for launches on the stream comes from.

        The legacy default stream has one that keeps memory. Nobody says when another stream ends.
        """
        if self.stream_pointer not in (0, LEGACY_DEFAULT):
            return Allocator(stream=self.stream)
        key, ordinal = self.launch_key, self._ordinal
        return _allocators.get(key) or _allocators.setdefault(key, Allocator(ordinal, keeps=True))

    def check_memory(self, operands: Mapping[str, Any]) -> None:
        """Refuse memory of another GPU than the current one, which has no access to it.

        Raises ValueError.
        """
        for name, value in operands.items():
            parts = getattr(value, "arrays", None)  # of a graph of nodes
            named = {f"{name}.{part}": each for part, each in parts.items()} if parts else {}
            mode.runtime.check_memory(self._ordinal, (named or {name: value}).items())


class Memory:
    """An operand's memory for C, with the operand's name in Python."""

    __slots__ = ("_as_parameter_", "name", "written")

    def __init__(self, name: str, memory: Any, *, written: bool = False) -> None:
        self.name: str = name
        self._as_parameter_ = memory
        self.written: bool = written

    @property
    def device_id(self) -> int | None:
        """Ordinal of the GPU that the memory says it is on."""
        return getattr(self._as_parameter_, "device_id", None)

    def __repr__(self) -> str:
        return repr(self._as_parameter_)


class Recording:
    """The launches, new tensors and results of the first call of a key.

    - `arguments`: all arguments by name, in the order of the call.
    - `launches`: False: nothing is launched, only recorded.
    """

    def __init__(
        self, handle: Launcher, arguments: dict[str, Any], *, launches: bool = True
    ) -> None:
        self.handle = handle
        self.arguments = arguments
        self.stack: ExitStack[bool | None] = ExitStack()
        """Closes what was made for the call; with the plan, if there will be one."""
        self.made: list[DeviceTensor] = []
        """Uninitialised tensors that were made for results."""
        self.scratch: list[DeviceBuffer | DeviceTensor] = []
        """Workspaces that were made for the call."""
        self.zeroed: list[Any] = []
        """Members of `made` and `scratch` that were filled with zeros."""
        self.constants: list[DeviceTensor] = []
        """Copies of numbers of the host, which the key names, in memory that the plan keeps."""
        self.calls: list[tuple[Function, tuple[Any, ...]]] = []
        self.launches = launches

    def values(self) -> list[Any]:
        """Objects in whose places others may be in other launches of the key: see `Values`."""
        given = [*self.arguments.values()]
        parts = [each for value in given for each in getattr(value, "descriptors", ())]
        return [*given, *parts, *self.made, *self.scratch]

    def place(self, values: list[Any], argument: Any) -> int | None:
        """Where, among `values`, a launch finds what stood for an argument of C.

        Raises NoKey if it is memory that no later launch can find.
        """
        if not isinstance(argument, Memory):
            for place, value in enumerate(values):
                # C is given the argument itself, or one of its descriptors, or what is in it.
                owns = isinstance(value, Resource) and not hasattr(type(value), "descriptors")
                whole = owns or value is self.handle or place >= len(self.arguments)
                if value is argument and whole:
                    return place
            return None
        memory, operand = argument._as_parameter_, self.arguments.get(argument.name)
        first_made = len(values) - len(self.made) - len(self.scratch)
        for place, value in enumerate(values[first_made:], first_made):
            if value is memory:
                return place
        if argument.name not in self.arguments:
            raise NoKey
        if memory is not operand:  # it is what the operand was imported as
            pointer = look(operand, self.handle)[1]
            address = getattr(memory, "_as_parameter_", memory)
            if pointer is None or pointer.value != getattr(address, "value", address):
                raise NoKey
        return list(self.arguments).index(argument.name)

    def written(self) -> set[str]:
        """The names of the operands that the calls write."""
        return {
            argument.name
            for _, arguments in self.calls
            for argument in arguments
            if isinstance(argument, Memory) and argument.written
        }


recordings: dict[int, Recording] = {}
"""Recordings by thread; most of the time there is none."""


def recording() -> Recording | None:
    """The recording of this thread, if it makes the first call of some key."""
    return recordings.get(get_ident())


def launch(function: Callable[..., Any], *arguments: Any) -> None:
    """Call a C function that does the work of an operation; operands are given as `Memory`."""
    current = recording()
    if current is None or current.launches:
        function(*arguments)
    if current is not None:
        current.calls.append((cast(Function, function), arguments))


Values = Sequence[Any]
"""Values for the gaps of calls: a pointer for each argument of the operation, or None; those of
descriptors that belong to arguments; addresses of results that are made, and of workspaces."""


class Call(NamedTuple):
    """A C call with gaps.

    - `function`: of ``raw``, which takes `checked` where others are the same in all launches.
    - `symbol`: of C itself, which takes `native` there.
    - `places`: where each argument is among the values of a launch and those arguments behind them.
    """

    function: Function
    symbol: Callable[..., int]
    places: tuple[int, ...]
    checked: list[Any]
    native: list[Any]

    def filled(self, values: Values, fixed: list[Any]) -> list[Any]:
        """All arguments: `fixed` are `checked`, for ``raw``, or `native`."""
        every = [*values, *fixed]
        return [every[at] for at in self.places]


_MAKE = """\
_memory{0} = _allocator.allocated({nbytes}, _kept)
    _to{0} = _memory{0}.pointer
    _made{0} = _tensor_in(_memory{0}, {form}, ({token}, _to{0}))"""
_CALL = """\
if _logged: _forget()
        _code = {watched} or {symbol}({1})
        if _code: _found[0].settle({0}, _code, ({2}))"""


class Plan:
    """The C calls of one key, with gaps for what differs from call to call.

    - `steps`: what a launch does, as source for the function of a `Form`. It is the same for plans
      that differ in shapes.
    - `data`: what is different in such plans.
    - `zeroed`: places of results and workspaces that are filled with zeros before each launch, and
      their sizes.
    - `prepares`: whether there is something to do before the calls of each launch.
    """

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, [*recording.arguments.values()]
        self.runtime: Runtime = handle.runtime
        follows = self.runtime.bare_calls and any(pytorch.is_torch(type(value)) for value in given)
        self._follows: int | None = handle.device.device_id if follows else None
        self.scratch_sizes: list[int] = [each.nbytes for each in recording.scratch]
        self.zeroed: list[tuple[int, int]] = [
            (position, each.nbytes)
            for position, each in enumerate((*recording.made, *recording.scratch))
            if any(each is zeroed for zeroed in recording.zeroed)
        ]
        self.prepares: bool = bool(self.zeroed) or follows
        values = recording.values()
        self.calls: list[Call] = [
            _call(recording, values, function, arguments) for function, arguments in recording.calls
        ]
        data: list[Any] = []
        self.steps: dict[str, str] = self._compiled(recording, result, data)
        self.data = tuple(data)
        # Not in `__del__`: in a collected cycle, finalizers of the descriptors come before it.
        weakref.finalize(self, log.set_aside()(recording.stack.close)).atexit = False

    def _compiled(self, recording: Recording, result: Any, data: list[Any]) -> dict[str, str]:
        """`steps`, which find in `data` what they refer to."""
        launcher, made, scratch = recording.handle, recording.made, recording.scratch

        def at(value: Any) -> str:
            data.append(value)
            return f"_found[{len(data)}]"  # behind the plan

        gaps = []
        for i, value in enumerate(recording.arguments.values()):
            gaps.append("_launcher._as_parameter_" if value is launcher else f"_at_v{i}")
        for i, value in enumerate(recording.arguments.values()):
            gaps += [f"_at_v{i}[{j}]" for j in range(len(getattr(value, "descriptors", ())))]
        gaps += [f"_to{i}" for i in range(len(made))]
        before, work = [], []
        if made:
            before += ["_allocator = _launcher.allocator", "_kept = _allocator.usable()"]
        for i, tensor in enumerate(made):
            values = {"nbytes": tensor.nbytes, "form": tensor._form(), "token": tensor.keyed()[0]}
            before.append(_MAKE.format(i, **{name: at(each) for name, each in values.items()}))
        for i, nbytes in enumerate(self.scratch_sizes):
            work.append(f"_space{i} = _launcher.workspace({at(nbytes)}, {i})")
        tensors = _listed("_made", made)
        if self.zeroed:
            spaces = _listed("_space", scratch)
            work.append(f"_found[0].prepare(_launcher, {tensors}, {spaces})")
        elif self._follows is not None:
            work.append("_stream = _launcher.stream_pointer")
            current = f"{at(pytorch.streams())}({self._follows})"
            work.append(f"if {current} != _stream: _follow({self._follows}, _stream)")
        every = [*gaps, *(f"_space{i}.pointer" for i in range(len(scratch)))]
        shown, looked = "".join(f"{each}, " for each in every), at(watched)
        for i, call in enumerate(self.calls):
            arguments = ", ".join(call.filled(every, [*map(at, call.native)]))
            symbols = {"watched": looked, "symbol": at(call.symbol)}
            work.append(_CALL.format(i, arguments, shown, **symbols))
        key = "_launcher.launch_key, " if launcher.launch_key is not None else ""
        key += "_launcher.stream_pointer, " if recording.constants else ""
        return {
            "key": key,
            "results": "\n    ".join(before) or "pass",
            "work": "\n        ".join(work),
            "made": tensors[1:-1],
            "gaps": "".join(f"{each}, " for each in gaps),
            "result": _result(recording, result, at),
        }

    def copied(self, found: tuple[Any, ...]) -> tuple[Any, ...]:
        """The findings of a `Form` as new objects, made one after the other."""
        pointers = {
            id(native): _passed(checked)
            for call in self.calls
            for checked, native in zip(call.checked, call.native, strict=True)
            if isinstance(checked, OpaquePointer)
        }
        return tuple([pointers.get(id(each), each) for each in found])

    def run(self, index: int, values: Values) -> None:
        """Make one of the calls."""
        if log.logged:
            log.forget()
        call = self.calls[index]
        code: Any = watched or call.symbol(*call.filled(values, call.native))
        if code:
            self.settle(index, code, values)

    def settle(self, index: int, code: Any, values: Values) -> None:
        """Raise the error of a call that returned a status; `watched` stands for one not made."""
        call = self.calls[index]
        arguments = call.filled(values, call.checked)
        if code is watched:
            call.function(*arguments)
        else:
            call.function._binding.settle(code, tuple(arguments))

    def prepare(
        self, launcher: Launcher, made: Sequence[DeviceTensor], scratch: Sequence[Allocation]
    ) -> None:
        """Wait for what others have under way with the operands; fill with zeros what must be."""
        if self._follows is not None:
            pytorch.follow(self._follows, launcher.stream_pointer)
        blocks = [*(tensor._memory for tensor in made), *scratch]
        for position, nbytes in self.zeroed:
            copy.fill(blocks[position], b"\0", 0, nbytes, stream=launcher.stream)


def _listed(name: str, numbered: Sequence[Any]) -> str:
    return f"({''.join(f'{name}{i}, ' for i in range(len(numbered)))})"


def _call(
    recording: Recording, values: list[Any], function: Function, arguments: tuple[Any, ...]
) -> Call:
    """A call of a recording, with gaps for what differs between launches.

    Raises NoKey if C receives memory that no later launch can find.
    """
    if not isinstance(function, Function):
        raise NoKey
    # The gaps hold nothing: a plan keeps no memory alive.
    checked: list[Any] = []
    native: list[Any] = []
    places: list[int] = []
    argtypes = function._binding.argtypes
    for position, argument in enumerate(arguments):
        place = recording.place(values, argument)
        if place is None:
            constant = any(argument is each for each in recording.constants)
            if function.parameters[position].type.kind == "device" and not (
                constant or argument is None
            ):
                raise NoKey
            if constant or isinstance(argument, Resource):
                argument = argument._as_parameter_
            place = len(values) + len(native)
            both = argument, _passed(argtypes[position].from_param(argument))
            if isinstance(argument, _REAL):
                key = type(argument), bytes(argument)
                both = _numbers.get(key) or _numbers.keep(key, both)
            checked.append(both[0])
            native.append(both[1])
        places.append(place)
    return Call(function, getattr(bare, function.__name__), tuple(places), checked, native)


_REAL = ctypes.c_float, ctypes.c_double
_numbers: Bounded[Any, Any] = Bounded()
"""Factors of the host by type and value: plans share them, and what C is given for them."""

_SIMPLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_int64, ctypes.c_double


def _passed(argument: Any) -> Any:
    """An argument as the object that ctypes would make of it in each call."""
    if isinstance(argument, OpaquePointer):
        return ctypes.c_void_p.from_param(argument.value)
    if type(argument) in _SIMPLE:
        return type(argument).from_param(argument.value)
    return argument


def _result(recording: Recording, result: Any, at: Callable[[Any], str]) -> str:
    """An expression for the operation's result; `at` takes the classes of tuples."""
    if result is None:
        return "None"
    if isinstance(result, tuple):
        parts = "".join(f"{_result(recording, part, at)}, " for part in result)
        return f"_tuple({at(type(result))}, ({parts}))"
    for position, made in enumerate(recording.made):
        if result is made:
            return f"_made{position}"
    # In place a result is an operand too, and other calls need not be in place.
    written, names = recording.written(), list(recording.arguments)
    for name in sorted(names, key=lambda name: name not in written):
        if result is recording.arguments[name]:
            return f"_v{names.index(name)}"
    raise NoKey
