"""Recordings of the first call of a key, from which a plan is made."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from threading import get_ident
from typing import Any, Protocol, cast

from cudnn_ctypes.raw.function import Function
from cudnn_ctypes.resource import Resource

from ..allocation import Allocation, Allocator
from ..buffer import DeviceBuffer
from ..interface import Runtime
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

    def values(self) -> list[tuple[Any, Any]]:
        """Values that may differ in other launches of the key, in the order of `Plan.values`.

        Pairs of what it is known by, an operand's name or an object, and of the object.
        """
        found: list[tuple[Any, Any]] = [*self.arguments.items()]
        for value in self.arguments.values():
            found += [(each, each) for each in getattr(value, "descriptors", ())]
        return found + [(each, each) for each in (*self.made, *self.scratch)]

    def place(self, values: list[tuple[Any, Any]], argument: Any) -> int | None:
        """Where, among `values`, a launch finds what stood for an argument of C.

        Raises NoKey if it is memory that no later launch can find.
        """
        if not isinstance(argument, Memory):
            for place, (_, value) in enumerate(values):
                behind = place >= len(self.arguments)  # one of an argument's `descriptors`
                if value is argument and (behind or _is_passed(value, self.handle)):
                    return place
            return None
        memory, operand = argument._as_parameter_, self.arguments.get(argument.name)
        first_made = len(values) - len(self.made) - len(self.scratch)
        for place, (_, value) in enumerate(values[first_made:], first_made):
            if value is memory:
                return place
        if argument.name not in self.arguments:
            raise NoKey
        if memory is not operand:  # it is what the operand was imported as
            pointer = look(operand, self.handle)[1]
            if pointer is None or pointer.value != _address(memory):
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


def _is_passed(value: Any, handle: Launcher) -> bool:
    """Whether C is given the argument itself, not what is in it."""
    owns = isinstance(value, Resource) and not hasattr(type(value), "descriptors")
    return owns or value is handle


def _address(memory: Any) -> Any:
    return memory if isinstance(memory, int) else getattr(memory, "_as_parameter_", memory).value


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
