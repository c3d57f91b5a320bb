"""Plans: the C calls of recorded launches, with gaps for what differs from launch to launch."""

from __future__ import annotations

import ctypes
import functools
import weakref
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from cudnn_ctypes.raw import log
from cudnn_ctypes.raw.bare import bare, watched
from cudnn_ctypes.raw.ctypes_support import OpaquePointer
from cudnn_ctypes.raw.function import Function
from cudnn_ctypes.resource import Resource

from .. import copy, pytorch
from ..allocation import LARGEST_KEPT, Allocation, Allocator, grains
from ..interface import Runtime
from ..tensor import DeviceTensor
from .forms import function_of, typed_pointers
from .likeness import NoKey
from .recording import Launcher, Recording

__all__ = ["Call", "Plan", "Values"]

Values = list[Any]
"""Values for the gaps of calls: a pointer for each argument of the operation, or None; those of
descriptors that belong to arguments; addresses of results that are made, and of workspaces."""


class Call(NamedTuple):
    """A C call with gaps.

    Attributes
    ----------
    function : Function
        Of ``raw``, which takes `checked` where others are the same in all launches.
    symbol : ctypes function
        Of C itself, which takes `native` there.
    places : tuple of int
        Where each argument is among the values of a launch and those arguments behind them.
    """

    function: Function
    symbol: Callable[..., int]
    places: tuple[int, ...]
    checked: list[Any]
    native: list[Any]

    def filled(self, values: Values) -> tuple[list[Any], list[Any]]:
        """The arguments for ``raw``, and for C itself."""
        checked, native = [*values, *self.checked], [*values, *self.native]
        return [checked[at] for at in self.places], [native[at] for at in self.places]


_RUN = """\
def run(_data, _launcher, _at, _given):
    {names} = _data
    if _watched: _at = _typed(_launcher, _at, _given)
    {before}
    try:
        {work}
    except BaseException:
        for _tensor in ({made}): _tensor.close()
        raise
    return {result}
"""
# The steps of `Allocator.allocate_each` and `DeviceTensor`, without calls: most launches make one.
_MAKE = """\
same = kept[_grains{0}] if kept is not None and _grains{0} else None
    if same is None:
        (memory,) = allocator.allocate_each((_nbytes{0},))
    else:
        try:
            block = same.pop()
        except IndexError:
            block = allocator.new_block(_grains{0})
        memory = _new(_Allocation)
        memory.nbytes, memory.pointer = _nbytes{0}, block.pointer
        memory._allocator, memory._block, memory._same = allocator, block, same
    made{0} = _new(_DeviceTensor)
    made{0}._memory = memory
    (
        made{0}._runtime, made{0}._shape, made{0}._strides, made{0}._data_type, made{0}._offset,
        made{0}._readonly, made{0}._nbytes,
    ) = _form{0}
    made{0}._keyed = _token{0}, memory.pointer"""
_CALL = """\
_callee, _fixed = _seen{0} if _watched else _bare{0}
        if _logged: _forget()
        _code = _callee({1})
        if _code:
            _at, _fixed = _typed(_launcher, _at, _given), _seen{0}[1]
            _settle{0}(_code, ({1}))"""


class Plan:
    """The C calls of one key, with gaps for what differs from call to call.

    Attributes
    ----------
    calls : list of Call
    run : callable
        Launches with any arguments of the key: takes `data`, the launcher, the pointers that C
        receives for the arguments, and the arguments. Plans that differ in shapes share it.
    data : tuple
        What is different in such plans.
    used : int
        When it was used last: see `Plans`.
    other : Plan or None
        Another of its key.
    alike : callable
        Whether tensors of PyTorch are like those of the launch that was recorded, in all but their
        shapes.
    """

    used = 0
    other: Plan | None = None
    alike: Callable[..., bool]

    def __init__(self, recording: Recording, result: Any) -> None:
        handle, given = recording.handle, [*recording.arguments.values()]
        self.runtime: Runtime = handle.runtime
        self.stream: int | None = handle.stream_pointer if recording.constants else None
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
        values, self._names = recording.values(), _names(recording)
        self.calls: list[Call] = [
            _call(recording, values, function, arguments) for function, arguments in recording.calls
        ]
        self._kinds: dict[str, Any] = {}
        self._result = _result(recording, result, self._kinds)
        # Not in `__del__`: in a collected cycle, finalizers of the descriptors come before it.
        weakref.finalize(self, log.set_aside()(recording.stack.close)).atexit = False
        self.compile()

    def compile(self) -> None:
        """Make `run` and `data` of `calls`."""
        data: dict[str, Any] = {"_zero": functools.partial(_zero, self._zeroed), **self._kinds}
        made = [f"made{i}" for i in range(len(self._forms))]
        spaces = [f"_space{i}" for i in range(len(self.scratch_sizes))]
        before, work = [], []
        if made or self._follows is not None:
            before.append("allocator = _launcher.allocator")
        if made:
            before.append("kept = allocator.usable()")
        for i, (token, form) in enumerate(self._forms):
            before.append(_MAKE.format(i))
            kept = 0 < form[-1] <= LARGEST_KEPT
            data |= {f"_token{i}": token, f"_form{i}": form, f"_nbytes{i}": form[-1]}
            data[f"_grains{i}"] = grains(form[-1]) if kept else 0
        for i, nbytes in enumerate(self.scratch_sizes):
            data[f"_size{i}"] = nbytes
            work.append(f"_space{i} = _launcher.workspace(_size{i}, {i})")
        if self._follows is not None:
            data |= {"_ordinal": self._follows, "_current": pytorch.streams()}
            work.append(
                "if _current(_ordinal) != allocator.stream: _follow(_ordinal, allocator.stream)"
            )
        if self._zeroed:
            work.append(f"_zero(_launcher, {_listed(made)}, {_listed(spaces)})")
        for i, call in enumerate(self.calls):
            fixed = [f"_fixed[{j}]" for j in range(len(call.native))]
            arguments = ", ".join([*self._names, *fixed][place] for place in call.places)
            work.append(_CALL.format(i, arguments))
            data[f"_seen{i}"] = call.function, call.checked
            data[f"_bare{i}"] = call.symbol, call.native
            data[f"_settle{i}"] = call.function._binding.settle
        source = _RUN.format(
            names=_listed(list(data)),
            before="\n    ".join(before) or "pass",
            work="\n        ".join(work),
            made="".join(f"{each}, " for each in made),
            result=self._result,
        )
        self.data: tuple[Any, ...] = tuple(data.values())
        self.run: Callable[..., Any] = _function_of(source)

    def make(self, allocator: Allocator) -> list[DeviceTensor]:
        """The results that a launch makes, uninitialised."""
        memory = allocator.allocate_each([form[-1] for _, form in self._forms])
        return [
            DeviceTensor._in(block, form, (token, block.pointer))
            for block, (token, form) in zip(memory, self._forms, strict=True)
        ]

    def values(self, at: Values, made: Sequence[DeviceTensor], scratch: Sequence[Any]) -> Values:
        """Values that fill the gaps of the calls; `at` are the pointers for the arguments."""
        inner = [each for position in self._nested for each in at[position]]
        to = [tensor._memory.pointer for tensor in made]
        return [*at, *inner, *to, *(block.pointer for block in scratch)]

    def result(self, made: Sequence[DeviceTensor], given: Sequence[Any]) -> Any:
        """The operation's result."""
        names = {f"made{i}": tensor for i, tensor in enumerate(made)}
        source = f"def result(_given): return {self._result}"
        scope = {"_tuple": tuple.__new__, **self._kinds, **names}
        return function_of(source, "a plan", scope)(given)

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
        _zero(self._zeroed, launcher, made, scratch)


@functools.lru_cache(maxsize=256)
def _function_of(source: str) -> Callable[..., Any]:
    scope: dict[str, Any] = {
        "_watched": watched,
        "_logged": log.logged,
        "_forget": log.forget,
        "_typed": typed_pointers,
        "_new": object.__new__,
        "_tuple": tuple.__new__,
        "_Allocation": Allocation,
        "_DeviceTensor": DeviceTensor,
        "_follow": pytorch.follow,
    }
    return function_of(source, "a plan", scope)


def _zero(
    zeroed: Sequence[tuple[int, int]],
    launcher: Launcher,
    made: Sequence[DeviceTensor],
    scratch: Sequence[Allocation],
) -> None:
    blocks = [*(tensor._memory for tensor in made), *scratch]
    for position, nbytes in zeroed:
        copy.fill(blocks[position], b"\0", 0, nbytes, stream=launcher.stream)


def _listed(names: Sequence[str]) -> str:
    return f"({''.join(f'{each}, ' for each in names)})"


def _names(recording: Recording) -> list[str]:
    """Expressions for what may differ between launches, in the order of `Recording.values`."""
    given = [*recording.arguments.values()]
    names = [f"_at[{i}]" for i in range(len(given))]
    for i, value in enumerate(given):
        names += [f"_at[{i}][{j}]" for j in range(len(getattr(value, "descriptors", ())))]
    names += [f"made{i}._keyed[1]" for i in range(len(recording.made))]
    return names + [f"_space{i}.pointer" for i in range(len(recording.scratch))]


def _call(
    recording: Recording,
    values: list[tuple[Any, Any]],
    function: Function,
    arguments: tuple[Any, ...],
) -> Call:
    """A call of a recording, with gaps for what differs between launches.

    Raises
    ------
    NoKey
        If C receives memory that no later launch can find.
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
            checked.append(argument)
            native.append(_passed(argtypes[position].from_param(argument)))
        positions.append(place)
    symbol = getattr(bare, function.__name__)
    return Call(function, symbol, tuple(positions), checked, native)


_SIMPLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_int64, ctypes.c_double


def _passed(argument: Any) -> Any:
    """An argument as the object that ctypes would make of it in each call."""
    if isinstance(argument, OpaquePointer):
        return ctypes.c_void_p.from_param(argument.value)
    if type(argument) in _SIMPLE:
        return type(argument).from_param(argument.value)
    return argument


def _result(recording: Recording, result: Any, kinds: dict[str, Any]) -> str:
    """The operation's result, as an expression of new tensors and the arguments.

    `kinds` takes the classes of tuples, by their names in the expression.
    """
    if result is None:
        return "None"
    if isinstance(result, tuple):
        parts = _listed([_result(recording, part, kinds) for part in result])
        kind = f"_kind{len(kinds)}"
        kinds[kind] = type(result)
        return f"_tuple({kind}, {parts})"
    for position, made in enumerate(recording.made):
        if result is made:
            return f"made{position}"
    # In place a result is an operand too, and other calls need not be in place.
    written, names = recording.written(), list(recording.arguments)
    for name in sorted(names, key=lambda name: name not in written):
        if result is recording.arguments[name]:
            return f"_given[{names.index(name)}]"
    raise NoKey
