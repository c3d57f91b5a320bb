"""Where functions of C launch that take a stream instead of a handle."""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any

from cudnn_ctypes.raw import mode

from ..allocation import Allocation, Allocator
from ..device import current_device
from ..interface import Runtime
from ..stream import LEGACY_DEFAULT, as_stream_pointer
from .likeness import Plans

_plans = Plans()

_allocators: dict[int, Allocator] = {}
"""Allocators of the legacy default streams, by GPU."""


class StreamLauncher:
    """A stream of the current device, with the attributes that a plan needs of a handle.

    - `launch_key`: the device, as part of a launch's key.
    """

    __slots__ = (
        "_allocator",
        "_as_parameter_",
        "_ordinal",
        "launch_key",
        "runtime",
        "stream",
        "stream_pointer",
    )

    def __init__(self, stream: Any) -> None:
        self.stream: Any = stream
        self.stream_pointer: int = as_stream_pointer(stream)
        self._as_parameter_ = ctypes.c_void_p(self.stream_pointer)
        self.runtime: Runtime = mode.runtime
        self._allocator: Allocator | None = None
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
        known = self._allocator
        if known is None:
            known = self._allocator = self._found_allocator()
        return known

    def _found_allocator(self) -> Allocator:
        if self.stream_pointer not in (0, LEGACY_DEFAULT):
            return Allocator(stream=self.stream)
        known = _allocators.get(self.launch_key)
        if known is None:
            known = _allocators.setdefault(self.launch_key, Allocator(self._ordinal, keeps=True))
        return known

    def check_memory(self, operands: Mapping[str, Any]) -> None:
        """Refuse memory of another GPU than the current one, which has no access to it.

        Raises ValueError.
        """
        for name, value in operands.items():
            parts = getattr(value, "arrays", None)  # of a graph of nodes
            named = {f"{name}.{part}": each for part, each in parts.items()} if parts else {}
            mode.runtime.check_memory(self._ordinal, (named or {name: value}).items())
