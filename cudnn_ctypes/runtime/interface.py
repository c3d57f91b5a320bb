"""The interface that the GPU's side and the reference device's side of the runtime implement.

``raw.mode.runtime`` is the active one; ``use_reference_device`` exchanges it. An object that owns
memory or a point in a stream keeps the one that made it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from contextlib import AbstractContextManager
from typing import Any, Protocol

from cudnn_ctypes.raw.spaces import GpuSpace


class Source(Protocol):
    """Where memory for the work of one stream comes from.

    - `keeps`: whether blocks that are given back may serve the next work on the stream.
    """

    keeps: bool

    def allocate(self, nbytes: int) -> tuple[Any, int]:
        """New memory and its address.

        Raises OutOfDeviceMemoryError if there is not enough.
        """

    def free(self, memory: Any, stream: Any = None) -> None:
        """Free memory in the order of `stream`; default: the stream it was allocated on."""


class Runtime(GpuSpace, ABC):
    """Memory, copies, streams and events of one kind of device.

    Addresses and streams are numbers, the legacy default stream is 0. A device is an ordinal.
    Sizes are in bytes, and larger than 0.
    """

    # -- devices ---------------------------------------------------------------------------------

    @abstractmethod
    def device_count(self) -> int:
        """Number of devices."""

    @abstractmethod
    def current_device(self) -> Any:
        """The calling thread's current device, as an object with ``name`` and ``device_id``."""

    @abstractmethod
    def current_ordinal(self) -> int:
        """Ordinal of the current device."""

    @abstractmethod
    def make_current(self, ordinal: int) -> Any:
        """Make a device the calling thread's current one; return its object."""

    @abstractmethod
    def checked_ordinal(self, ordinal: int) -> int:
        """The same number; ValueError if there is no such device."""

    @abstractmethod
    def on(self, ordinal: int) -> AbstractContextManager[Any]:
        """``with`` it a device is current in this thread."""

    @abstractmethod
    def place(self, ordinal: int) -> str:
        """The name of a device's memory in messages."""

    @abstractmethod
    def ordinal_of(self, tensor: Any) -> int:
        """The device of a tensor of PyTorch."""

    # -- memory ----------------------------------------------------------------------------------

    @abstractmethod
    def source(self, ordinal: int, stream: Any, memory_resource: Any) -> Source:
        """Where memory for a stream of a device comes from."""

    @abstractmethod
    def write(
        self, ordinal: int, address: int, host: int, nbytes: int, stream: int, *, wait: bool = True
    ) -> None:
        """Copy from the host. Without `wait` the copy may be under way on return."""

    @abstractmethod
    def read(self, ordinal: int, host: int, address: int, nbytes: int, stream: int) -> None:
        """Copy to the host, and return when it is done."""

    @abstractmethod
    def copy(self, ordinal: int, target: int, origin: int, nbytes: int, stream: int) -> None:
        """Copy within device memory."""

    @abstractmethod
    def fill(self, ordinal: int, address: int, pattern: bytes, nbytes: int, stream: int) -> None:
        """Repeat a pattern of 1, 2 or 4 bytes."""

    @abstractmethod
    def block_at(self, address: int) -> tuple[object, int, int] | None:
        """The allocation with an address in it: a unique object, its address and size."""

    # -- memory of others ------------------------------------------------------------------------

    @abstractmethod
    def request_capsule(self, tensor: Any, ordinal: int, stream: Any) -> Any:
        """A DLPack capsule of another library's tensor, for work on `stream`."""

    @abstractmethod
    def hand_over(self, ordinal: int, own: int, consumer: int | None) -> None:
        """Have the stream that DLPack names wait for the work on the stream `own`."""

    # -- streams and events ----------------------------------------------------------------------

    @abstractmethod
    def current_stream(self, library: str) -> int | None:
        """The address of "torch"'s or "cupy"'s current stream; None if it is not loaded."""

    @abstractmethod
    def synchronize(self, device: Any, stream: int | None) -> None:
        """Wait for the work on a stream, or for all work on a device (None: the current one)."""

    @abstractmethod
    def is_capturing(self, stream: int) -> bool:
        """Whether work on a stream goes to a CUDA graph."""

    @abstractmethod
    def record(self, stream: Any, event: Any = None) -> Any:
        """A point at the end of the stream's work: `event`, moved there, or a new one."""

    @abstractmethod
    def elapsed_ms(self, start: Any, end: Any) -> float:
        """Milliseconds between two events, after both."""
