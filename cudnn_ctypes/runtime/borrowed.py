"""Memory and tensors that belong to another library."""

from __future__ import annotations

from typing import Any, NamedTuple

from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.resource import Uncopied

from .layout import Shape
from .stream import as_stream_pointer

__all__ = ["Borrowed", "Imported", "c_strides", "not_negative"]


class Borrowed(Uncopied):
    """Memory of another library, kept alive by `keeper` (a capsule or the object itself)."""

    def __init__(
        self, ptr: int, nbytes: int, device_id: int, on_host: bool, stream: Any, keeper: Any
    ) -> None:
        self.ptr = ptr
        self.nbytes = nbytes
        self.device_id = device_id
        self.on_host = on_host
        self.stream: int = 0 if stream is None else as_stream_pointer(stream)
        self._keeper = (keeper, stream)

    @property
    def allocation(self) -> Borrowed:
        """Itself: what keeps the memory alive."""
        return self


class Imported(NamedTuple):
    """A tensor of another library: its memory, and how to read it."""

    memory: Borrowed
    shape: Shape
    strides: Shape
    data_type: cudnnDataType_t
    readonly: bool


def c_strides(shape: Shape) -> Shape:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(shape[axis], 1)
    return tuple(strides)


def not_negative(strides: Shape) -> Shape:
    if any(stride < 0 for stride in strides):
        raise BufferError(f"negative strides {strides} are not supported; copy the tensor first")
    return strides
