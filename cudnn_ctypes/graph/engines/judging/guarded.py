"""Device memory for one plan, between red zones: what is written beside it is found."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ....dtypes import element_bits
from ....resource import Closing
from ....runtime import DeviceBuffer
from ...run.tensor_memory import host_value

if TYPE_CHECKING:
    from ....handle import Handle
    from ...describe.tensor import Tensor
    from .operands import Images

_ZONE = 512  # bytes before and after the memory of a tensor
_WORKSPACE_ZONE = 4096


class Guarded(Closing):
    """Operands, results and workspace of a plan, each with a red zone on both sides.

    An address is a multiple of the tensor's alignment, and of no higher power of two. `written`
    are the unique ids of results.
    """

    def __init__(
        self, handle: Handle, tensors: list[Tensor], written: set[int], workspace_size: int
    ) -> None:
        self._handle = handle
        self._tensors = [each for each in tensors if not each.scratch]
        self._written = written
        self._buffers: dict[int, DeviceBuffer] = {}
        self._starts: dict[int, int] = {}
        self._contents: dict[int, NDArray[np.uint8]] = {}
        self._numbers: dict[int, Any] = {}
        self._size = workspace_size
        self._pattern = 0  # of the last `fill`
        self.workspace: DeviceBuffer = self._allocated(workspace_size + 2 * _WORKSPACE_ZONE)

    def _allocated(self, nbytes: int) -> DeviceBuffer:
        return DeviceBuffer(nbytes, device=self._handle.device, stream=self._handle.stream)

    def fill(self, images: Images, pattern: int, accumulating: bool) -> dict[int, Any]:
        """Write operands, and the byte `pattern` everywhere else; returns what an execution takes.

        Results that are `accumulating` begin with the numbers in their images.
        """
        stream = self._handle.stream
        self._pattern = pattern
        self.workspace.fill(pattern, stream=stream)
        pointers: dict[int, Any] = {}
        for tensor in self._tensors:
            uid = tensor.uid or 0
            image = images[uid]
            if tensor.by_value:
                ctype = type(host_value(0, tensor))
                self._numbers[uid] = pointers[uid] = ctype.from_buffer_copy(image.tobytes())
                continue
            if uid not in self._buffers:
                step = max(tensor.alignment, 1)
                self._buffers[uid] = buffer = self._allocated(image.nbytes + 2 * (_ZONE + step))
                start = -(-(buffer.ptr + _ZONE) // step) * step - buffer.ptr
                if not (buffer.ptr + start) // step % 2:
                    start += step
                self._starts[uid] = start
            start = self._starts[uid]
            whole = np.full(self._buffers[uid].nbytes, pattern, np.uint8)
            if uid not in self._written or accumulating:
                whole[start : start + image.nbytes] = image
            self._contents[uid] = whole
            self._buffers[uid].copy_from_host(whole, stream=stream)
            pointers[uid] = self._buffers[uid].ptr + start
        return pointers

    @property
    def usable_workspace(self) -> DeviceBuffer | None:
        """The workspace without its red zones."""
        return self.workspace.view(_WORKSPACE_ZONE, self._size) if self._size else None

    def read(self, images: Images) -> tuple[dict[int, NDArray[np.uint8]], str]:
        """The bytes of the results, and what was written that must not be; "" if nothing was."""
        found: dict[int, NDArray[np.uint8]] = {}
        beyond = ""
        for tensor in self._tensors:
            uid = tensor.uid or 0
            if tensor.by_value:
                continue
            whole = self._buffers[uid].copy_to_host(stream=self._handle.stream)
            start, nbytes = self._starts[uid], images[uid].nbytes
            changed = whole != self._contents[uid]
            inner = changed[start : start + nbytes]
            if uid in self._written:
                found[uid] = whole[start : start + nbytes].copy()
                inner[_occupied(tensor, nbytes)] = False
            beyond = beyond or _told(tensor, changed, start, nbytes, uid in self._written)
        zones = self.workspace.copy_to_host(stream=self._handle.stream)
        edges = (zones[:_WORKSPACE_ZONE], zones[_WORKSPACE_ZONE + self._size :])
        if not beyond and any((edge != self._pattern).any() for edge in edges):
            beyond = "beyond the workspace"
        return found, beyond

    def close(self) -> None:
        for each in (*self._buffers.values(), self.workspace):
            each.close()
        self._buffers.clear()


def _told(
    tensor: Tensor, changed: NDArray[np.bool_], start: int, nbytes: int, written: bool
) -> str:
    places = np.flatnonzero(changed)
    if not places.size:
        return ""
    first = int(places[0]) - start
    name = repr(tensor.name)
    if first < 0:
        return f"{len(places)} bytes, from {-first} before {name} on"
    if first >= nbytes:
        return f"{len(places)} bytes, from {first - nbytes} behind {name} on"
    if written:
        return f"{len(places)} bytes between elements of {name}, from byte {first} on"
    return f"{len(places)} bytes of the operand {name}, from byte {first} on"


def _occupied(tensor: Tensor, nbytes: int) -> NDArray[np.bool_]:
    """Which bytes of a tensor's memory belong to its elements; all where that is not simple."""
    bits = element_bits(tensor.data_type)
    if bits < 8 or tensor.reordering or tensor.ragged_offset is not None:
        return np.ones(nbytes, np.bool_)
    size = bits // 8 * tensor.vector_count
    occupied = np.zeros(nbytes, np.bool_)
    steps = [step * size for step in tensor.strides or ()]
    view = np.lib.stride_tricks.as_strided(
        occupied, (*(tensor.dims or ()), size), (*steps, 1), writeable=True
    )
    view[...] = True
    return occupied
