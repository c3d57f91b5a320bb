"""The cuDNN handle: a library context on one GPU, or on the reference device."""

from __future__ import annotations

from typing import Any

from . import raw
from .raw import mode, records
from .raw.process import Bounded
from .resource import Resource
from .runtime import as_stream_pointer, current_device, make_current
from .runtime.allocation import Allocation, Allocator
from .runtime.interface import Runtime
from .runtime.launching.likeness import Plans

_MOST_STREAMS = 8  # whose allocators a handle keeps


class Handle(Resource[raw.cudnnHandle_t]):
    """A cuDNN context; follows ``cudnnCreate``.

    It keeps plans for later launches, and a workspace for each stream, which all launches on that
    stream share, one after the other.

    Parameters
    ----------
    device : int or cuda.core.Device, optional
        The GPU; by default the current one. It is made current.
    stream : optional
        Stream of all work: an object with ``__cuda_stream__`` (cuda.core, PyTorch, CuPy) or an
        address. By default the legacy default stream.

    Raises
    ------
    NotInitializedError
        Without a usable GPU and driver. The message says how to use the reference device.
    NoDeviceError
        The same, where `device` is given.

    Examples
    --------
    >>> with Handle() as handle:
    ...     print(handle)
    Handle(..., cuDNN ...)
    """

    _waits = True
    launch_key: int | None = None
    """Its part of the key of a launch: nothing, as it keeps its plans itself."""

    def __init__(self, *, device: Any = None, stream: Any = None) -> None:
        self.runtime: Runtime = mode.runtime
        """The runtime that carries its work out."""
        self.on_reference_device: bool = self.runtime.on_host
        if device is not None:
            make_current(device)
        handle = raw.cudnnHandle_t()
        raw.cudnnCreate(handle)
        super().__init__(handle, raw.cudnnDestroy)
        del handle  # closing waits for those that use it
        self._device = current_device()
        self._device.set_current()
        self._stream: Any = None
        self._allocator: Allocator | None = None
        self._allocators: dict[int, tuple[Any, Allocator]] = {}
        """Streams as they were given, and their allocators, by address; the last used is last."""
        self._place = records.NOTHING  # the entry of its record, which is the stream's address
        self._plans = Plans()
        """Prepared launches, by their keys."""
        self._fastest_algorithms: Bounded[Any, Any] = Bounded()
        """The fastest algorithms timed for convolutions, by their descriptors."""
        self._workspaces: dict[tuple[int, int], list[Allocation]] = {}
        if stream is not None:
            try:
                self.stream = stream
            except BaseException:
                self.close()
                raise

    @property
    def device(self) -> Any:
        """The ``cuda.core.Device`` of this handle, or the reference device."""
        return self._device

    @property
    def stream(self) -> Any:
        """The stream object that was set, else the address of cuDNN's stream."""
        pointer = self.stream_pointer
        stream = self._stream
        return pointer if stream is None or as_stream_pointer(stream) != pointer else stream

    @stream.setter
    def stream(self, stream: Any) -> None:
        as_stream_pointer(stream)  # says more of what it refuses than layer 1
        raw.cudnnSetStream(self, stream)
        self._stream = stream  # kept alive: cuDNN holds only its address

    @property
    def stream_pointer(self) -> int:
        """Address of the stream, 0 for the legacy default stream."""
        place = self._place
        return place.record if place.token else self._read_stream()

    def _read_stream(self) -> int:
        """Read the stream's address from C, after it may have changed."""
        pointer = int(records.record(self))
        self._place = records.place(self)
        return pointer

    @property
    def allocator(self) -> Allocator:
        """The allocator of memory for work on the handle's stream."""
        place, known = self._place, self._allocator
        stream = place.record if place.token else self._read_stream()
        if known is None or known.stream != stream:
            known = self._allocator = self._allocator_of(stream, self.stream)
        return known

    def _allocator_of(self, pointer: int, stream: Any) -> Allocator:
        """The allocator of a stream, kept for a handle that goes back and forth between several."""
        known = self._allocators.pop(pointer, None)
        if known is not None and known[0] != stream:  # another one, since created at its address
            known[1].close()
            known = None
        if known is None:
            known = stream, Allocator(self._device, stream, keeps=True)
        self._allocators[pointer] = known
        while len(self._allocators) > _MOST_STREAMS:
            self._allocators.pop(next(iter(self._allocators)))[1].close()
        return known[1]

    def workspace(self, nbytes: int, index: int = 0) -> Allocation:
        """Scratch memory of at least `nbytes` bytes for one launch on the handle's stream.

        It is the memory of earlier launches on that stream, or larger memory. `index` distinguishes
        several workspaces of one launch.
        """
        place = self._place
        stream = place.record if place.token else self._read_stream()
        kept = self._workspaces.get((stream, index))
        if kept is None:
            kept = self._workspaces.setdefault((stream, index), [])
        if not kept or kept[-1].nbytes < nbytes:
            # Smaller workspaces stay: a CUDA graph that captured a launch may use their addresses.
            kept.append(self.allocator.allocate(nbytes))
        return kept[-1]

    def release_workspaces(self) -> None:
        """Free the workspaces, and memory kept for results, in the order of their streams.

        To be called before a stream is destroyed that the handle was set to.
        """
        while self._workspaces:
            for block in self._workspaces.popitem()[1]:
                block.release()
        self._allocator = None
        while self._allocators:
            self._allocators.popitem()[1][1].close()

    def close(self) -> None:
        self._place = records.NOTHING
        self._plans.clear()
        self._fastest_algorithms.clear()
        self.release_workspaces()
        super().close()

    @property
    def version(self) -> tuple[int, int, int]:
        """cuDNN's version: major, minor, patch."""
        number = int(raw.cudnnGetVersion())
        return number // 10000, number // 100 % 100, number % 100

    def synchronize(self) -> None:
        """Wait for all work on this handle's stream."""
        stream = None if self._stream is None else as_stream_pointer(self._stream)
        self.runtime.synchronize(self._device, stream)

    def __repr__(self) -> str:
        if self.closed:
            return "Handle(closed)"
        where = "reference device" if self.on_reference_device else self.device.name
        return f"Handle({where}, cuDNN {'.'.join(map(str, self.version))})"
