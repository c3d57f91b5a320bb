"""Plans: the C calls of recorded launches, with gaps for what differs from launch to launch."""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Sequence
from ctypes import c_void_p
from typing import Any, NamedTuple

from cudnn_ctypes.raw import log
from cudnn_ctypes.raw.bare import bare
from cudnn_ctypes.raw.ctypes_support import OpaquePointer
from cudnn_ctypes.raw.function import Function, watched
from cudnn_ctypes.resource import Resource

from .. import copy, pytorch
from ..allocation import LARGEST_KEPT, Allocation, Allocator, grains
from ..interface import Runtime
from ..tensor import DeviceTensor
from .likeness import NoKey, look
from .recording import Launcher, Recording

Values = list[Any]
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


# The steps of `Allocator.allocate_each` and `DeviceTensor`, without calls: most launches make one.
_MAKE = """\
_same = _kept[{grains}] if _kept is not None and {grains} else None
    if _same is None:
        (_memory,) = _allocator.allocate_each(({nbytes},))
        _to{0} = _memory.pointer
    else:
        try:
            _block = _same.pop()
        except IndexError:
            _block = _allocator.new_block({grains})
        _memory = _new(_Allocation)
        _memory.nbytes = {nbytes}
        _memory.pointer = _to{0} = _block.pointer
        _memory._allocator = _allocator
        _memory._block = _block
        _memory._same = _same
    _made{0} = _new(_DeviceTensor)
    _made{0}._memory = _memory
    (
        _made{0}._runtime, _made{0}._shape, _made{0}._strides, _made{0}._data_type,
        _made{0}._offset, _made{0}._readonly, _made{0}._nbytes,
    ) = {form}
    _made{0}._keyed = {token}, _to{0}"""
_CALL = """\
if _logged: _forget()
        _code = {watched} or {symbol}({1})
        if _code: _found[0].settle({0}, _code, _launcher, ({2}), {3}, {4})"""


class Plan:
    """The C calls of one key, with gaps for what differs from call to call.

    - `steps`: what a launch does, as source for the function of a `Form`. It is the same for plans
      that differ in shapes.
    - `data`: what is different in such plans.
    """

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, [*recording.arguments.values()]
        self.runtime: Runtime = handle.runtime
        follows = self.runtime.bare_calls and any(pytorch.is_torch(type(value)) for value in given)
        self._follows: int | None = handle.device.device_id if follows else None
        self._forms = [(each.keyed()[0], each._form()) for each in recording.made]
        self.scratch_sizes: list[int] = [each.nbytes for each in recording.scratch]
        self._zeroed = [
            (position, each.nbytes)
            for position, each in enumerate((*recording.made, *recording.scratch))
            if any(each is zeroed for zeroed in recording.zeroed)
        ]
        self._nested = [at for at, each in enumerate(given) if hasattr(each, "descriptors")]
        values, self._arguments = recording.values(), list(recording.arguments)
        pointers: dict[int, Any] = {}
        self.calls: list[Call] = [
            _call(recording, values, function, arguments, pointers)
            for function, arguments in recording.calls
        ]
        self._result = _result(recording, result)
        # Not in `__del__`: in a collected cycle, finalizers of the descriptors come before it.
        weakref.finalize(self, log.set_aside()(recording.stack.close)).atexit = False
        key = "_launcher.launch_key, " if handle.launch_key is not None else ""
        key += "_launcher.stream_pointer, " if recording.constants else ""
        self.steps, self.data = self._compiled(key, _names(recording))
        by_id = {id(each): value for value, each in pointers.items()}
        self._pointers = {
            place: by_id[id(each)] for place, each in enumerate(self.data, 3) if id(each) in by_id
        }

    def _compiled(self, key: str, names: Sequence[str]) -> tuple[dict[str, str], tuple[Any, ...]]:
        """`steps` and `data` of `calls`, whose values have these `names`."""
        data: list[Any] = []

        def at(value: Any) -> str:
            data.append(value)
            return f"_found[{len(data) + 2}]"  # behind what a `Form` puts there

        made = _listed([f"_made{i}" for i in range(len(self._forms))])
        spaces = _listed([f"_space{i}" for i in range(len(self.scratch_sizes))])
        before, work = [], []
        if self._forms:
            before += ["_allocator = _launcher.allocator", "_kept = _allocator.usable()"]
        for i, (token, form) in enumerate(self._forms):
            kept = grains(form[-1]) if 0 < form[-1] <= LARGEST_KEPT else 0
            values = {"grains": kept, "nbytes": form[-1], "form": form, "token": token}
            before.append(_MAKE.format(i, **{name: at(each) for name, each in values.items()}))
        for i, nbytes in enumerate(self.scratch_sizes):
            work.append(f"_space{i} = _launcher.workspace({at(nbytes)}, {i})")
        if self._follows is not None:
            ordinal, current = self._follows, at(pytorch.streams())
            stream = "_allocator.stream" if self._forms else "_launcher.stream_pointer"
            work.append(f"_stream = {stream}")
            work.append(f"if {current}({ordinal}) != _stream: _follow({ordinal}, _stream)")
        if self._zeroed:
            work.append(f"_found[0].zero(_launcher, {made}, {spaces})")
        given = "".join(f"{name}, " for name in self._arguments[1:])
        looked = at(watched)
        for i, call in enumerate(self.calls):
            places = [*names, *map(at, call.native)]
            arguments = ", ".join([places[place] for place in call.places])
            call_of = {"watched": looked, "symbol": at(call.symbol)}
            work.append(_CALL.format(i, arguments, given, made, spaces, **call_of))
        steps = {
            "key": key,
            "before": "\n    ".join(before) or "pass",
            "work": "\n        ".join(work),
            "made": made[1:-1],
            "result": self._source(self._result, at),
        }
        return steps, tuple(data)

    def _source(self, result: Any, at: Callable[[Any], str]) -> str:
        """An expression for the operation's result; `at` takes the classes of tuples."""
        if result is None:
            return "None"
        if isinstance(result, tuple):
            parts = _listed([self._source(each, at) for each in result[1]])
            return f"_tuple({at(result[0])}, {parts})"
        made = [f"_made{i}" for i in range(len(self._forms))]
        name: str = [*self._arguments, *made][result]
        return name

    def copied(self, found: tuple[Any, ...]) -> tuple[Any, ...]:
        """Finds of a `Form`, as new objects, made one after the other."""
        anew, other = list(found), found[2]
        pointers = {value: c_void_p.from_param(value) for value in self._pointers.values()}
        for place, value in self._pointers.items():
            anew[place] = pointers[value]
        anew[2] = other and other[0].copied(other)
        return tuple(anew)

    def settle(
        self,
        index: int,
        code: Any,
        launcher: Launcher,
        given: Sequence[Any],
        made: Sequence[DeviceTensor],
        scratch: Sequence[Allocation],
    ) -> None:
        """Raise the error of a call that returned a status; `watched` stands for one not made."""
        call, values = self.calls[index], self.values(launcher, given, made, scratch)
        arguments = call.filled(values, call.checked)
        if code is watched:
            call.function(*arguments)
        else:
            call.function._binding.settle(code, tuple(arguments))

    def make(self, allocator: Allocator) -> list[DeviceTensor]:
        """The results that a launch makes, uninitialised."""
        memory = allocator.allocate_each([form[-1] for _, form in self._forms])
        return [
            DeviceTensor._in(block, form, (token, block.pointer))
            for block, (token, form) in zip(memory, self._forms, strict=True)
        ]

    def values(
        self,
        launcher: Launcher,
        given: Sequence[Any],
        made: Sequence[DeviceTensor],
        scratch: Sequence[Any],
    ) -> Values:
        """Values that fill the gaps of the calls, as ``raw`` takes them."""
        at = [look(value, launcher)[1] for value in (launcher, *given)]
        inner = [each for position in self._nested for each in at[position]]
        to = [tensor._memory.pointer for tensor in made]
        return [*at, *inner, *to, *(block.pointer for block in scratch)]

    def result(self, launcher: Launcher, given: Sequence[Any], made: Sequence[Any]) -> Any:
        """The operation's result."""
        return _picked(self._result, [launcher, *given, *made])

    @property
    def prepares(self) -> bool:
        """Whether something is to be done before the calls of each launch."""
        return bool(self._zeroed) or self._follows is not None

    @property
    def zeroes(self) -> bool:
        """Whether memory is filled with zeros before each launch."""
        return bool(self._zeroed)

    def prepare(self, launcher: Launcher, made: Sequence[DeviceTensor], scratch: Any) -> None:
        """Fill with zeros what must be; wait for what others have under way with the operands."""
        if self._follows is not None:
            pytorch.follow(self._follows, launcher.stream_pointer)
        self.zero(launcher, made, scratch)

    def zero(
        self, launcher: Launcher, made: Sequence[DeviceTensor], scratch: Sequence[Allocation]
    ) -> None:
        """Fill with zeros what must be."""
        blocks = [*(tensor._memory for tensor in made), *scratch]
        for position, nbytes in self._zeroed:
            copy.fill(blocks[position], b"\0", 0, nbytes, stream=launcher.stream)


def _listed(names: Sequence[str]) -> str:
    return f"({''.join(f'{each}, ' for each in names)})"


def _names(recording: Recording) -> list[str]:
    """Expressions for what may differ between launches, in the order of `Recording.values`."""
    launcher, *names = [f"_at_{name}" for name in recording.arguments]
    found = ["_launcher._as_parameter_", *names]
    for name, value in zip((launcher, *names), recording.arguments.values(), strict=True):
        found += [f"{name}[{j}]" for j in range(len(getattr(value, "descriptors", ())))]
    found += [f"_to{i}" for i in range(len(recording.made))]
    return found + [f"_space{i}.pointer" for i in range(len(recording.scratch))]


def _call(
    recording: Recording,
    values: list[tuple[Any, Any]],
    function: Function,
    arguments: tuple[Any, ...],
    passed: dict[Any, Any],
) -> Call:
    """A call of a recording, with gaps for what differs between launches.

    Raises NoKey if C receives memory that no later launch can find.
    """
    if not isinstance(function, Function):
        raise NoKey
    # The gaps hold nothing: a plan keeps no memory alive.
    checked: list[Any] = []
    native: list[Any] = []
    positions: list[int] = []
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
            both = argument, _passed(argtypes[position].from_param(argument), passed)
            if isinstance(argument, _REAL):
                if len(_numbers) >= _MOST_NUMBERS:
                    _numbers.clear()
                both = _numbers.setdefault((type(argument), bytes(argument)), both)
            checked.append(both[0])
            native.append(both[1])
        positions.append(place)
    symbol = getattr(bare, function.__name__)
    return Call(function, symbol, tuple(positions), checked, native)


_REAL = ctypes.c_float, ctypes.c_double
_numbers: dict[Any, Any] = {}
"""Factors of the host by type and value: plans share them, and what C is given for them."""
_MOST_NUMBERS = 1024

_SIMPLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_int64, ctypes.c_double


def _passed(argument: Any, pointers: dict[Any, Any]) -> Any:
    """An argument as the object that ctypes would make of it in each call; one for each pointer."""
    if isinstance(argument, OpaquePointer):
        pointer = ctypes.c_void_p.from_param(argument.value)
        return pointers.setdefault(argument.value, pointer)
    if type(argument) in _SIMPLE:
        return type(argument).from_param(argument.value)
    return argument


def _result(recording: Recording, result: Any) -> Any:
    """Where the operation's result is: its place among the arguments and what is made.

    None for None; the class and the parts of a tuple.
    """
    if result is None:
        return None
    if isinstance(result, tuple):
        return type(result), [_result(recording, part) for part in result]
    for position, made in enumerate(recording.made):
        if result is made:
            return len(recording.arguments) + position
    # In place a result is an operand too, and other calls need not be in place.
    written, names = recording.written(), list(recording.arguments)
    for name in sorted(names, key=lambda name: name not in written):
        if result is recording.arguments[name]:
            return names.index(name)
    raise NoKey


def _picked(result: Any, values: Sequence[Any]) -> Any:
    if isinstance(result, tuple):
        return tuple.__new__(result[0], [_picked(each, values) for each in result[1]])
    return None if result is None else values[result]
