"""The memory of one call of a recurrent network, checked before C."""

from __future__ import annotations

import math
from contextlib import ExitStack
from typing import Any

from ..device import DeviceBuffer, DeviceTensor
from ..dtypes import as_data_type, data_type_name, numpy_dtype, storage_bytes
from ..handle import Handle
from .operands import expect, imported, is_address, new_workspace, workspace_memory
from .rnn_weights import RNNWeights

__all__ = ["Memory"]


class Memory(ExitStack):
    """What C receives for each operand; usable in ``with``, which frees the workspace made here.

    Parameters
    ----------
    handle : Handle
    data_type : cudnnDataType_t
        Of sequences and states.
    """

    def __init__(self, handle: Handle, data_type: Any) -> None:
        super().__init__()
        self._handle = expect("handle", handle, Handle)
        self._data_type = data_type
        self._results: dict[str, Any] = {}

    def operand(
        self,
        name: str,
        value: Any,
        shape: tuple[int, ...],
        data_type: Any = None,
        *,
        optional: bool = False,
    ) -> Any:
        """The memory of a dense operand of this shape; NULL for None where that is allowed.

        Raises
        ------
        TypeError
            If it is no device memory, or of another type.
        ValueError
            If it is NULL, has another shape, gaps, or too few bytes.
        """
        if value is None:
            if optional:
                return None
            raise TypeError(f"{name}: a tensor is needed, got None")
        if is_address(name, value):
            return value
        data_type = as_data_type(self._data_type if data_type is None else data_type)
        if isinstance(value, DeviceBuffer):
            needed = storage_bytes(data_type, math.prod(shape))
            if value.nbytes < needed:
                raise ValueError(f"{name}: {value.nbytes} bytes, {needed} are needed")
            return value
        tensor = imported(name, value, self._handle)
        if tensor.dtype != numpy_dtype(data_type):
            raise TypeError(
                f"{name}: expected {data_type_name(data_type)}, got "
                f"{data_type_name(tensor.data_type)}"
            )
        if tensor.shape != shape:
            raise ValueError(f"{name}: expected shape {shape}, got {tensor.shape}")
        if not _dense(tensor):
            raise ValueError(f"{name}: must be dense in C order, got strides {tensor.strides}")
        return tensor

    def result(self, name: str, value: Any, shape: tuple[int, ...]) -> Any:
        """Where the result `name` goes: `value`, checked, or a new tensor."""
        if value is None:
            value = DeviceTensor.empty(
                shape, self._data_type, device=self._handle.device, stream=self._handle.stream
            )
        memory = self.operand(name, value, shape)
        if isinstance(memory, DeviceTensor) and memory.readonly:
            raise ValueError(f"{name}: the library that this tensor comes from made it read-only")
        self._results[name] = memory
        return value

    def written(self, name: str) -> Any:
        """The memory of a result; NULL for one that is not wanted."""
        return self._results.get(name)

    def weights(self, name: str, weights: Any, needed: int) -> tuple[int, Any]:
        """Size and memory of a weight space."""
        space = weights.space if isinstance(weights, RNNWeights) else weights
        if not isinstance(space, DeviceBuffer):
            raise TypeError(f"{name}: expected RNNWeights or a DeviceBuffer, got {weights!r}")
        if space.nbytes < needed:
            raise ValueError(f"{name}: {space.nbytes} bytes, {needed} are needed")
        return space.nbytes, space

    def workspace(self, workspace: Any, needed: int) -> tuple[int, Any]:
        """Size and memory of the workspace, which is made if it is None."""
        if workspace is None:
            workspace = self.enter_context(new_workspace(self._handle, needed))
        memory, size = workspace_memory(self._handle, workspace)
        if size < needed:
            raise ValueError(f"workspace: {size} bytes, {needed} are needed")
        return size, memory

    def reserve(self, reserve_space: Any, needed: int, *, make: bool) -> Any:
        """The reserve space: as it was given, new, or None where none is needed."""
        if reserve_space is None:
            if needed == 0:
                return None
            if not make:
                raise TypeError("reserve_space: needed, as RNN.forward returned it in training")
            return DeviceTensor.empty(
                (needed,), "uint8", device=self._handle.device, stream=self._handle.stream
            )
        _, size = self._sized(reserve_space)
        if size < needed:
            raise ValueError(f"reserve_space: {size} bytes, {needed} are needed")
        return reserve_space

    def sized(self, reserve_space: Any) -> tuple[int, Any]:
        """Size and memory of a reserve space."""
        if reserve_space is None:
            return 0, None
        memory, size = self._sized(reserve_space)
        return size, memory

    def _sized(self, reserve_space: Any) -> tuple[Any, int]:
        if isinstance(reserve_space, DeviceBuffer):
            return reserve_space, reserve_space.nbytes
        tensor = imported("reserve_space", reserve_space, self._handle)
        return tensor, tensor.nbytes


def _dense(tensor: DeviceTensor) -> bool:
    step = 1
    for size, stride in zip(reversed(tensor.shape), reversed(tensor.strides), strict=True):
        if size > 1 and stride != step:
            return False
        step *= size
    return True
