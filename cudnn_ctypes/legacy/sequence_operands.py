"""Operands of recurrent networks, attention and the CTC loss: each with a descriptor, or NULL."""

from __future__ import annotations

from collections.abc import Sequence
from ctypes import c_void_p
from typing import Any

import numpy as np

from .. import raw
from ..handle import Handle
from ..resource import Closing, Uncopied
from ..runtime import DeviceBuffer, DeviceTensor
from ..runtime.launching.likeness import Look, look
from ..runtime.launching.plan import Memory, recording
from .operands import Operands, check_memory, fitting, imported, is_address
from .tensor import TensorDescriptor


class WeightSpace(Closing, Uncopied):
    """Device memory with the weights of a network in an order that only cuDNN knows.

    Attributes
    ----------
    space : DeviceBuffer
        The memory.
    """

    def __init__(self, handle: Handle, space: DeviceBuffer | None, needed: int) -> None:
        self._owned = space is None
        self._stream = handle.stream
        if space is None:
            space = DeviceBuffer(needed, device=handle.device, stream=handle.stream)
            space.fill(0, stream=handle.stream)
        if not isinstance(space, DeviceBuffer):
            raise TypeError(f"space: expected a DeviceBuffer, got {space!r}")
        if space.nbytes < needed:
            raise ValueError(f"space: {space.nbytes} bytes are too small, {needed} are needed")
        self.space = space

    def _write(self, name: str, tensor: DeviceTensor, array: Any) -> None:
        """Copy an array to a part of the space, rounded to its type; errors call it `name`."""
        if np.shape(array) != tensor.shape:
            raise ValueError(f"{name}: expected shape {tensor.shape}, got {np.shape(array)}")
        tensor.copy_from(np.asarray(array).astype(tensor.dtype), stream=self._stream)

    def _look(self, launcher: Any) -> Look:
        return look(self.space)

    @property
    def _as_parameter_(self) -> c_void_p:
        return self.space._as_parameter_

    @property
    def nbytes(self) -> int:
        """Size of the space."""
        return self.space.nbytes

    def zero(self) -> None:
        """Set everything to zero, on the handle's stream."""
        self.space.fill(0, stream=self._stream)

    def close(self) -> None:
        """Close the space if it was made here. A second call does nothing."""
        if self._owned:
            self.space.close()

    @property
    def closed(self) -> bool:
        """Whether the space is closed."""
        return self.space.closed


class SequenceOperands(Operands):
    """The operands of one call, each held against its descriptor; None is NULL for C.

    - `**operands`: by name, what the user gave, and the descriptor of any kind that it must fit.
    """

    _operands: dict[str, tuple[Any, Any]]

    def _common_layout(self) -> None:
        return None

    def require(self, *names: str) -> None:
        """Refuse operands that are None."""
        for name in names:
            if self._operands[name][0] is None:
                raise TypeError(f"{name}: a tensor is needed, got None")

    def describe(self, name: str) -> Any:
        """The descriptor of the operand `name`: as it was given, or made once for the call."""
        value, desc = self._operands[name]
        if desc is None:
            desc = TensorDescriptor(value.shape, value.data_type, strides=value.strides)
            self.alike(name, value, self.enter_context(desc))
        return desc

    def alike(self, name: str, value: Any, desc: Any) -> None:
        """Add the operand `name`, which must fit the descriptor of another operand."""
        self._operands[name] = value, desc

    def result(self, name: str, *, zeros: bool = False) -> DeviceTensor:
        """Make the result `name` as its descriptor says, uninitialised or of zeros."""
        desc: Any = self.describe(name)
        result = self.new(desc.shape, desc.data_type, strides=desc.strides, zeros=zeros)
        self.alike(name, result, desc)
        return result

    def memory(self, name: str, *, written: bool = False) -> Any:
        """The memory of the operand `name`, which must fit its descriptor; None for NULL."""
        value = self._operands[name][0]
        if value is None:
            return None
        desc = self.describe(name)
        value = fitting(name, value, desc, self._handle)
        return check_memory(name, value, desc, self._handle, written=written)

    # -- what has no descriptor ----------------------------------------------------------------

    def room(self, name: str, value: Any, needed: int) -> tuple[Memory | None, int]:
        """Memory without a shape, and its size in bytes."""
        return super().room(name, value.space if isinstance(value, WeightSpace) else value, needed)

    def reserve_space(self, value: Any, needed: int) -> Any:
        """The reserve space of training: as it was given, or made if one is needed."""
        return self.new((needed,), "uint8") if value is None and needed else value

    def integers(self, name: str, value: Any, count: int) -> Memory | None:
        """An array of at least `count` int32 in device memory."""
        if value is None:
            return None
        if is_address(name, value):
            return Memory(name, value)
        tensor = imported(name, value, self._handle)
        if tensor.data_type != raw.CUDNN_DATA_INT32 or tensor.nbytes != 4 * tensor.size:
            raise TypeError(f"{name}: expected dense int32, got {tensor!r}")
        if tensor.size < count:
            raise ValueError(f"{name}: expected {count} elements, got {tensor.size}")
        _ = tensor._as_parameter_
        return Memory(name, tensor)

    def copied(self, numbers: Sequence[int]) -> Any:
        """Integers of the host in device memory, for the call and those that repeat it."""
        tensor = DeviceTensor.from_numpy(
            np.array(numbers, np.int32), device=self._handle.device, stream=self._handle.stream
        )
        if (current := recording()) is not None:
            current.constants.append(tensor)
        return self.enter_context(tensor)
