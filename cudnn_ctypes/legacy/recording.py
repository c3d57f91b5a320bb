"""Recordings of the first call of a key, from which a plan is made."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from ..handle import Handle
from ..raw.function import Function
from ..runtime import DeviceBuffer, DeviceTensor
from .descriptor import Descriptor
from .stream_launcher import StreamLauncher

__all__ = ["Launcher", "Memory", "Place", "Recording"]

Launcher = Handle | StreamLauncher

Place = tuple[Any, ...]
"""Where a launch finds what fills a gap: ``("at", 3, 1)`` is ``at[3][1]``. ``at`` is what C is
given of the arguments (see `launch_keys`), ``to`` the addresses of results that are made,
``scratch`` those of workspaces, and ``handle`` the handle."""


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

    Parameters
    ----------
    handle : Handle
    arguments : dict
        The other arguments by name.
    launches : bool
        False: nothing is launched, only recorded.
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

    def places(self) -> dict[Any, Place]:
        """Where a launch finds operands, by their names, and other things, by their identities."""
        places: dict[Any, Place] = {id(self.handle): ("handle",)}
        for i, (name, value) in enumerate(self.arguments.items()):
            places[name] = ("at", i)
            if hasattr(value, "descriptors"):
                for j, descriptor in enumerate(value.descriptors):
                    places.setdefault(id(descriptor), ("at", i, j))
            elif isinstance(value, Descriptor):
                places.setdefault(id(value), ("at", i))
        places |= {id(each): ("to", i) for i, each in enumerate(self.made)}
        return places | {id(each): ("scratch", i) for i, each in enumerate(self.scratch)}

    def written(self) -> set[str]:
        """The names of the operands that the calls write."""
        return {
            argument.name
            for _, arguments in self.calls
            for argument in arguments
            if isinstance(argument, Memory) and argument.written
        }
