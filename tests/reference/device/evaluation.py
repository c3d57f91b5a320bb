"""A graph's operations on the reference device without a plan: also those no engine carries out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import DeviceTensor, raw
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import SymbolNotFoundError
from cudnn_ctypes.graph.backend.values import device_address
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.expand.expansion import Expansion
from cudnn_ctypes.graph.lower.lowering import Lowering
from cudnn_ctypes.graph.lower.target import NO_GPU, Target
from cudnn_ctypes.graph.run.execution import Operands
from cudnn_ctypes.reference.device.backend_execution import carry_out
from cudnn_ctypes.reference.device.backend_memory import GraphMemory
from cudnn_ctypes.reference.device.backend_records import Record, record

Array = NDArray[Any]
POISON = 77


def view(memory: Array, tensor: Any) -> Array:
    """A tensor's elements in its logical shape."""
    steps = [step * memory.itemsize for step in tensor.strides]
    return np.ndarray(tensor.dims, memory.dtype, memory.view(np.uint8).data, strides=steps)


def expansion(graph: Graph) -> Expansion:
    """The operations of a graph, for an H200; none is computed beforehand."""
    return graph._expanded(graph.validate(), Target(raw.load().version, 90), fixed=False)


def run(graph: Graph, addresses: Mapping[int, int], operations: Record | None = None) -> None:
    """Carry out a validated graph on memory by unique id; skips what the loaded cuDNN lacks.

    cuDNN checks the descriptors before, unless the `operations` are known from elsewhere.
    """
    lowering = Lowering(graph.compute_data_type, NO_GPU)
    try:
        if operations is None:
            lowered = lowering.operation_graph(expansion(graph).nodes)
            operations = record(lowered._as_parameter_)
        carry_out(operations, GraphMemory(addresses))
    except SymbolNotFoundError as error:
        pytest.skip(str(error))
    finally:
        lowering.close()


def evaluate(
    graph: Graph, arrays: Mapping[str, Any], operations: Record | None = None
) -> dict[str, Array]:
    """The outputs by name; `arrays` has the inputs by name, in their logical shapes."""
    memory = {
        tensor.uid or 0: DeviceTensor.from_numpy(
            _initial(tensor, arrays), dtype=tensor.data_type, strides=tensor.strides
        )
        for tensor in expansion(graph).tensors
        if not tensor.virtual
    }
    try:
        run(graph, {uid: each._as_parameter_.value for uid, each in memory.items()}, operations)
        return {each.name: memory[each.uid or 0].numpy() for each in graph.outputs}
    finally:
        for each in memory.values():
            each.close()


class Unplanned(Graph):
    """A graph that executes on the reference device without a plan.

    `operations` may be its operation graph, if that is known from elsewhere.
    """

    workspace_size = 0
    operations: Record | None = None

    def execute(self, memory: Mapping[Any, Any], *_: Any, **__: Any) -> None:
        found = {uid: device_address("", each) for uid, each in self._pointers(memory).items()}
        run(self, found, self.operations)

    def _pointers(self, memory: Mapping[Any, Any]) -> dict[int, Any]:
        """What an execution would pass, kept alive here, and memory for scratch tensors."""
        tensors = expansion(self).tensors
        self._held = Operands(tensors).by_uid(memory)
        self._scratch = [each for each in tensors if each.scratch]
        blocks = [
            DeviceTensor.from_numpy(_initial(each, {}), dtype=each.data_type)
            for each in self._scratch
        ]
        self._held |= {each.uid or 0: b for each, b in zip(self._scratch, blocks, strict=True)}
        return self._held


def _initial(tensor: Any, arrays: Mapping[str, Any]) -> Array:
    """What a tensor's memory holds before."""
    value = arrays.get(tensor.name, POISON) if tensor.value is None else tensor.value
    array = np.asarray(value).astype(numpy_dtype(tensor.data_type))
    if array.size == math.prod(tensor.dims):
        return array.reshape(tensor.dims)
    return np.broadcast_to(array, tensor.dims).copy()
