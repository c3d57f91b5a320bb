"""C calls with gaps for what differs between the launches of a plan."""

from __future__ import annotations

import ctypes
import functools
import operator
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

from ..raw import log
from ..raw.bare import bare
from ..raw.ctypes_support import OpaquePointer
from ..raw.function import Function
from ..resource import Resource
from .descriptor import Descriptor
from .launch_keys import NoKey, look
from .recording import Launcher, Memory, Place, Recording

__all__ = ["Call", "FilledCall", "make_call", "recorded_call"]

FilledCall = tuple[Function, Callable[..., Any], list[Any]]


def make_call(function: Function, callee: Callable[..., Any], arguments: list[Any]) -> None:
    """Make a call, through ``raw`` or bare."""
    if log.logged:
        log.forget()
    if code := callee(*arguments):
        function._binding.settle(code, tuple(arguments))


class Call(NamedTuple):
    """A C call with gaps.

    Attributes
    ----------
    function : Function
        Of ``raw``, which takes the arguments `checked`.
    symbol : ctypes function
        Of C itself, which takes the arguments `native`.
    gaps : dict
        The places of the values that fill them, by position among the arguments.
    """

    function: Function
    checked: list[Any]
    symbol: Callable[..., int]
    native: list[Any]
    gaps: dict[int, Place]

    def filled(self, values: dict[str, Any], *, checked: bool) -> FilledCall:
        """The call with its gaps filled, for ``raw`` or for C itself."""
        arguments = (self.checked if checked else self.native).copy()
        for position, place in self.gaps.items():
            arguments[position] = functools.reduce(operator.getitem, place, values)
        return self.function, self.function if checked else self.symbol, arguments

    def expressions(self, prefix: str, names: Sequence[str]) -> Iterator[str]:
        """The arguments in the source of a launch (see `launch_source`).

        Parameters
        ----------
        prefix : str
            Of the names of `constants`.
        names : sequence of str
            Of the operation's arguments.
        """
        for position in range(len(self.native)):
            kind, *place = self.gaps.get(position, ("",))
            first = place[0] if place else 0
            yield {
                "": f"{prefix}{position}",
                "handle": "_handle",
                "at": f"_at_{names[first]}",
                "to": f"_to[{first}]",
                "scratch": f"_space{first}.pointer",
            }[kind] + "".join(f"[{i}]" for i in place[1:])

    def constants(self, prefix: str) -> dict[str, Any]:
        """The arguments that are the same in all launches, by name, as C receives them fastest."""
        return {f"{prefix}{i}": _passed(argument) for i, argument in enumerate(self.native)}


_SIMPLE = ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t, ctypes.c_int64, ctypes.c_double


def _passed(argument: Any) -> Any:
    """An argument as the object that ctypes would make of it in each call."""
    if isinstance(argument, OpaquePointer):
        return ctypes.c_void_p.from_param(argument.value)
    if type(argument) in _SIMPLE:
        return type(argument).from_param(argument.value)
    return argument


def recorded_call(
    recording: Recording,
    places: dict[Any, Place],
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


def _place(recording: Recording, places: dict[Any, Place], memory: Memory) -> Place:
    """Where a launch finds the address of an operand, or of memory that was made for the call."""
    value, operand = memory._as_parameter_, recording.arguments.get(memory.name)
    if (made := places.get(id(value))) is not None:
        return made
    if value is not operand:  # it is what the operand was imported as
        pointer = look(operand, recording.handle)[1]
        if pointer is None or pointer.value != _address(value):
            raise NoKey
    return places[memory.name]


def _address(memory: Any) -> int | None:
    return memory if isinstance(memory, int) else getattr(memory, "_as_parameter_", memory).value
