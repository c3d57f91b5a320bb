"""A graph's operations on the reference device without a plan: also those no engine carries out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import SymbolNotFoundError
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lowering import Lowering
from cudnn_ctypes.reference.device.backend_execution import carry_out
from cudnn_ctypes.reference.device.backend_memory import GraphMemory
from cudnn_ctypes.reference.device.backend_records import record

Array = NDArray[Any]
POISON = 77


def storage(tensor: Any) -> Array:
    """Poisoned memory for a tensor, with room behind it."""
    span = sum((n - 1) * step for n, step in zip(tensor.dims, tensor.strides, strict=True))
    memory = np.full((span + 1) * tensor.vector_count + 8, POISON)
    return memory.astype(numpy_dtype(tensor.data_type))


def view(memory: Array, tensor: Any) -> Array:
    """A tensor's elements in its logical shape."""
    steps = [step * memory.itemsize for step in tensor.strides]
    return np.ndarray(tensor.dims, memory.dtype, memory.view(np.uint8).data, strides=steps)


def evaluate(graph: Graph, arrays: Mapping[str, Any]) -> dict[str, Array]:
    """The outputs by name; cuDNN checks the descriptors before.

    `arrays` has the inputs by name, in their logical shapes. Skips what the loaded cuDNN lacks.
    """
    lowering = Lowering(graph.compute_data_type)
    try:
        try:
            operations = lowering.operation_graph(graph.validate())
        except SymbolNotFoundError as error:
            pytest.skip(str(error))
        memory: dict[int, Array] = {}
        for tensor in graph.tensors:
            if tensor.virtual:
                continue
            memory[tensor.uid or 0] = block = storage(tensor)
            if tensor.value is not None:
                block[0] = tensor.value
            elif tensor.name in arrays:
                view(block, tensor)[...] = np.asarray(arrays[tensor.name]).astype(block.dtype)
        carry_out(
            record(operations._as_parameter_),
            GraphMemory({uid: block.ctypes.data for uid, block in memory.items()}),
        )
    finally:
        lowering.close()
    return {tensor.name: view(memory[tensor.uid or 0], tensor).copy() for tensor in graph.outputs}
