"""A plan's own operands, besides the user's: memory at the workspace's end, fixed numbers.

cuDNN asks for it in the form of ordinary tensors. The user never sees them: they count in the
plan's workspace size, and their addresses are added to those of the operands.
"""

from __future__ import annotations

import ctypes
import math
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ...device import cuda
from ...device.stream import as_stream_pointer
from ...dtypes import element_bits, numpy_dtype
from ...raw import host_blocks
from ...raw.memory import memory_pointer
from .tensor_memory import host_value

if TYPE_CHECKING:
    from ...handle import Handle
    from ..describe.tensor import Tensor

__all__ = ["Scratch"]

_ALIGNMENT = 256  # as cudaMalloc aligns


class Scratch:
    """Where the scratch tensors of one graph lie in its workspace, behind the plan's own part.

    It has the numbers too that are fixed in the graph, which nobody needs to pass.

    Parameters
    ----------
    tensors : iterable of Tensor
        Of a validated graph; those that are no scratch are left out.
    """

    def __init__(self, tensors: Iterable[Tensor] = ()) -> None:
        self.size: int = 0
        self._offsets: dict[int, int] = {}
        self._contents: list[tuple[int, Any]] = []
        tensors = list(tensors)
        self._numbers = {
            each.uid or 0: host_value(each.value, each)
            for each in tensors
            if each.by_value and each.value is not None
        }
        for tensor in {id(each): each for each in tensors if each.scratch}.values():
            assert tensor.dims is not None
            assert tensor.uid is not None
            self._offsets[tensor.uid] = self.size
            if tensor.value is not None:
                contents = np.asarray(tensor.value).astype(numpy_dtype(tensor.data_type))
                self._contents.append((self.size, contents))
            nbytes = math.prod(tensor.dims) * element_bits(tensor.data_type) // 8
            self.size += _rounded(nbytes)

    def __bool__(self) -> bool:
        return self.size > 0

    @property
    def must_write(self) -> bool:
        """Whether something is to be written there before each execution."""
        return bool(self._contents)

    def total(self, own: int) -> int:
        """Bytes of the whole workspace, of which a plan needs `own` itself."""
        return _rounded(own) + self.size if self else own

    def offsets(self, own: int) -> dict[int, int]:
        """Where each scratch tensor begins, by unique id, in bytes from the workspace's start."""
        return {uid: _rounded(own) + offset for uid, offset in self._offsets.items()}

    def added_to(self, pointers: Mapping[int, Any], own: int, workspace: Any) -> Mapping[int, Any]:
        """`pointers`, the addresses of the scratch tensors and the fixed numbers, by unique id."""
        if not self._numbers.keys() <= pointers.keys():
            pointers = {**self._numbers, **pointers}
        if not self:
            return pointers
        start = memory_pointer(workspace, "workspace") or 0
        return {**pointers, **{uid: start + offset for uid, offset in self.offsets(own).items()}}

    def write(self, handle: Handle, own: int, workspace: Any) -> None:
        """Write the contents that are fixed, in the order of the handle's stream."""
        start = (memory_pointer(workspace, "workspace") or 0) + _rounded(own)
        if handle.on_reference_device:
            for offset, contents in self._contents:
                ctypes.memmove(start + offset, contents.ctypes.data, contents.nbytes)
                host_blocks.written(start + offset, contents.nbytes)
            return
        stream = as_stream_pointer(handle.stream)
        with cuda.current_context(handle.device):
            for offset, contents in self._contents:
                # Few bytes: the driver takes its copy of them before it returns.
                source, nbytes = contents.ctypes.data, contents.nbytes
                cuda.call("cuMemcpyHtoDAsync", start + offset, source, nbytes, stream)


def _rounded(nbytes: int) -> int:
    return -(-nbytes // _ALIGNMENT) * _ALIGNMENT
