"""``DeviceBuffer``: untyped device memory, for workspaces, reserve spaces and raw calls."""

from __future__ import annotations

import ctypes
import operator
import tracemalloc
import warnings
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.arguments import integer
from cudnn_ctypes.errors import ClosedError, UnclosedWarning
from cudnn_ctypes.raw import mode, process
from cudnn_ctypes.raw.process import Bounded
from cudnn_ctypes.raw.records import tokens
from cudnn_ctypes.resource import Closing, Uncopied

from . import copy
from .allocation import Allocation
from .interface import Runtime

Keyed = tuple[int, ctypes.c_void_p]
"""The part of a launch's key that memory contributes, and its address."""

forms: Bounded[Any, int] = tokens()
"""The parts of keys, by all that an operation may learn of memory but its address."""


class DeviceBuffer(Closing, Uncopied):
    """A block of device memory, uninitialised; host memory on the reference device.

    It is allocated and freed in the order of a stream (``cuMemAllocFromPoolAsync``,
    ``cuMemFreeAsync``): freeing waits for the work on that stream, not for other streams. Memory
    last used on another stream is given back by ``close(stream=...)``.

    Parameters
    ----------
    nbytes : int
        Size; 0 is allowed and gives NULL.
    device : int or cuda.core.Device, optional
        Default: the calling thread's current device.
    stream : stream, optional
        As for `as_stream_pointer`; default: the legacy default stream.
    memory_resource : cuda.core.MemoryResource, optional
        Where the memory comes from; default: the device's pool.

    Raises
    ------
    OutOfDeviceMemoryError
        If there is not enough memory (a MemoryError).
    NoDeviceError
        If there is no GPU and the reference device is not active.

    Examples
    --------
    >>> with DeviceBuffer(1 << 20) as workspace:
    ...     workspace.fill(0)
    """

    _instead = "allocate another one and copy its contents with copy_from"

    # Without slots, Python 3.11's tracemalloc cannot tell where an object was made.
    __slots__ = (
        "__weakref__",
        "_allocation",
        "_forgotten",
        "_keyed",
        "_nbytes",
        "_offset",
        "_parent",
        "_runtime",
    )

    def __init__(
        self, nbytes: int, *, device: Any = None, stream: Any = None, memory_resource: Any = None
    ) -> None:
        allocation = Allocation.of(
            nbytes, device=device, stream=stream, memory_resource=memory_resource
        )
        self._parent: DeviceBuffer | None = None
        self._allocation: Allocation | None = allocation
        self._offset = 0
        self._nbytes = allocation.nbytes
        self._runtime = allocation.runtime
        self._keyed: Keyed | None = None
        # The finalizer keeps the allocation, which is freed when the finalizer is done.
        self._forgotten: Any = weakref.finalize(
            self, _warn_forgotten, allocation, tracemalloc.get_object_traceback(self)
        )

    def view(self, offset: int, nbytes: int | None = None) -> DeviceBuffer:
        """The part from byte `offset` on, `nbytes` long or to the end, of the same memory.

        The view keeps this buffer alive. Closing the view frees nothing; closing this buffer
        closes its views.

        Raises
        ------
        ValueError
            If the part is not within this buffer.
        """
        self._root()
        offset = integer("offset", offset)
        if nbytes is None:
            if not 0 <= offset <= self._nbytes:
                raise ValueError(
                    f"offset {offset} is not within this buffer of {self._nbytes} bytes"
                )
            nbytes = self._nbytes - offset
        nbytes = integer("nbytes", nbytes)
        if offset < 0 or nbytes < 0 or offset + nbytes > self._nbytes:
            raise ValueError(
                f"bytes {offset} to {offset + nbytes} are not within this buffer of "
                f"{self._nbytes} bytes"
            )
        part = object.__new__(type(self))
        part._parent = self
        part._allocation = None
        part._offset = self._offset + offset
        part._nbytes = nbytes
        part._runtime, part._keyed = self._runtime, None
        part._forgotten = weakref.finalize(part, _nothing)
        return part

    def __add__(self, offset: int) -> DeviceBuffer:
        """The part from byte `offset` on, as C's pointer arithmetic gives its address."""
        if isinstance(offset, bool) or not hasattr(offset, "__index__"):
            return NotImplemented
        return self.view(offset.__index__())

    __radd__ = __add__

    def __array__(self, *args: Any, **kwargs: Any) -> NDArray[Any]:
        raise TypeError(
            "a DeviceBuffer has no data type for NumPy: copy its bytes with .copy_to_host(), or "
            "make a DeviceTensor of it"
        )

    def _root(self) -> Allocation:
        if not self._forgotten.alive:
            raise ClosedError(f"this DeviceBuffer of {self._nbytes} bytes is closed")
        if self._parent is not None:
            return self._parent._root()
        assert self._allocation is not None
        return self._allocation

    @property
    def allocation(self) -> Allocation:
        """The block of memory that this is, or is a part of."""
        return self._root()

    @property
    def ptr(self) -> int:
        """Device address; 0 if the buffer is empty."""
        address = self._root().ptr
        return address + self._offset if self._nbytes else 0

    @property
    def nbytes(self) -> int:
        """Size in bytes."""
        return self._nbytes

    @property
    def device_id(self) -> int:
        """Ordinal of the device."""
        return self._root().device_id

    @property
    def runtime(self) -> Runtime:
        """The runtime that reads and writes it."""
        return self._root().runtime

    @property
    def on_host(self) -> bool:
        """True for memory of the reference device."""
        return self._root().on_host

    @property
    def stream(self) -> int:
        """Address of the stream it was allocated on; 0 is the legacy default stream."""
        return self._root().stream

    @property
    def _as_parameter_(self) -> ctypes.c_void_p:
        check_reachable(self)
        return ctypes.c_void_p(self.ptr)

    def keyed(self) -> Keyed:
        """Its part of the keys of launches, and its address."""
        pointer = self._as_parameter_
        keyed = forms["buffer", self._nbytes, self.runtime.where(self.device_id)], pointer
        if self._parent is None:
            self._keyed = keyed  # for nothing but `close` closes it
        return keyed

    def copy_from_host(self, data: Any, *, offset: int = 0, stream: Any = None) -> None:
        """Copy the bytes of a NumPy array or of a bytes-like object here, from `offset` on.

        Returns when the copy is finished.

        Parameters
        ----------
        data : numpy.ndarray or bytes-like
            Copied as it lies in memory, in C's order.
        offset : int
            Bytes from the beginning of this buffer.

        Raises
        ------
        ValueError
            If they do not fit.
        """
        copy.write(self, offset, copy.host_bytes(data), stream=stream)

    def copy_from(self, source: Any, *, offset: int = 0, stream: Any = None) -> None:
        """Copy the bytes of device memory here, from byte `offset` on.

        Parameters
        ----------
        source : DeviceBuffer, DeviceTensor, or any object that `as_tensor` takes
            Of a tensor, the bytes from its first element to its last.
        offset : int
            Bytes from the beginning of this buffer.
        stream : stream, optional
            The one on which the copy is put; default: the one this memory was allocated on.

        Raises
        ------
        ValueError
            If they do not fit.
        """
        stream = self.stream if stream is None else stream
        if not isinstance(source, DeviceBuffer):
            from .tensor import as_tensor

            source = as_tensor(source, stream=stream)
        copy.between(self, offset, source, 0, source.nbytes, stream)

    def copy_to_host(self, *, stream: Any = None) -> NDArray[np.uint8]:
        """The contents as an array of bytes, after the work that is on `stream` now."""
        return copy.read(self, 0, self._nbytes, stream=stream)

    def fill(self, byte: int, *, stream: Any = None) -> None:
        """Set every byte to `byte`, in the order of `stream`."""
        is_byte = hasattr(byte, "__index__") and not isinstance(byte, (bool, type, np.ndarray))
        if not is_byte or not 0 <= operator.index(byte) <= 255:
            raise ValueError(f"byte: expected an int from 0 to 255, got {byte!r}")
        copy.fill(self, bytes([byte]), stream=stream)

    def close(self, *, stream: Any = None) -> None:
        """Give the memory back after the work on `stream`; a second call does nothing.

        `stream` defaults to the one that the memory was allocated on. What another library holds
        through ``__dlpack__`` stays valid until that lets go.
        """
        self._keyed = None
        if self._forgotten.detach() is None:
            return
        allocation, self._allocation = self._allocation, None
        if allocation is not None:
            allocation.release(stream)

    @property
    def closed(self) -> bool:
        """True once the buffer, or the one that it is a part of, was closed."""
        return not self._forgotten.alive or (self._parent is not None and self._parent.closed)

    def __len__(self) -> int:
        return self._nbytes

    def __repr__(self) -> str:
        if self.closed:
            return f"<DeviceBuffer, {self._nbytes} bytes, closed>"
        place = self.runtime.place(self.device_id).removeprefix("the ")
        return f"<DeviceBuffer, {self._nbytes} bytes at {self.ptr:#x}, {place}>"


def check_reachable(memory: copy.Memory) -> None:
    """Refuse memory of the GPU while the reference device is active, and the other way round.

    Raises ValueError before C, or NumPy, reads an address that it cannot reach.
    """
    if memory.runtime is not mode.runtime:
        raise ValueError(
            "this memory was allocated on the reference device, which is not active any more"
            if memory.runtime.on_host
            else "this is memory of a GPU, but the reference device is active now"
        )


def _warn_forgotten(allocation: Allocation, origin: tracemalloc.Traceback | None) -> None:
    if process.exiting():
        return
    place = "" if origin is None else "\ncreated at:\n" + "\n".join(origin.format())
    warnings.warn(
        f"unclosed DeviceBuffer of {allocation.nbytes} bytes{place}", UnclosedWarning, stacklevel=2
    )


def _nothing() -> None:
    """Finalizer of a view, which owns nothing."""
