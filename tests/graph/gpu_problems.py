"""Cases with their operands on the GPU, for tests that execute plans in several ways."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, raw
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.run import operands

from .cases import Case

POISON = 77.0

PRECOMPILED = any(raw.load().path.parent.glob("libcudnn_engines_precompiled.so*"))

needs_precompiled_engines = pytest.mark.skipif(
    not PRECOMPILED,
    reason="this cuDNN has engines for runtime fusion only",
)


def stored(array: NDArray[Any], tensor: Tensor) -> NDArray[Any]:
    return array.astype(numpy_dtype(tensor.data_type))


class Operands:
    """One set of operands of a validated graph, with what its outputs must become.

    Outputs are poisoned until an execution has overwritten them.
    """

    def __init__(self, case: Case, graph: Graph, *, seed: int = 7) -> None:
        pytest.importorskip("torch")
        self.case, self.graph = case, graph
        rng = np.random.default_rng(seed)
        values = {each.name: rng.standard_normal(each.dims) for each in graph.inputs}
        if case.prepare is not None:
            case.prepare(values)
        inputs = {each.name: stored(values[each.name], each) for each in graph.inputs}
        exact = {name: array.astype(np.float64) for name, array in inputs.items()}
        self.expected: Mapping[str, NDArray[Any]] = case.compute(exact)
        self.memory: dict[Any, Any] = {
            each: DeviceTensor.from_numpy(inputs[each.name], strides=each.strides)
            for each in graph.inputs
        }
        for each in graph.outputs:
            poison = stored(np.full(each.dims, POISON), each)
            self.memory[each] = DeviceTensor.from_numpy(poison, strides=each.strides)

    def poison(self) -> None:
        """Overwrite the outputs, where they are."""
        for each in self.graph.outputs:
            self.memory[each].copy_from(stored(np.full(each.dims, POISON), each))

    @property
    def pointers(self) -> dict[int, Any]:
        return operands.Operands(self.graph.tensors).by_uid(self.memory)

    def check(self, handle: Handle) -> dict[str, float]:
        """Compare the outputs, relative to the largest magnitude; returns their errors."""
        handle.synchronize()
        errors = {}
        for each in self.graph.outputs:
            result = self.memory[each].numpy().astype(np.float64)
            exact = self.expected[each.name]
            scale = np.abs(exact).max()
            errors[each.name] = float(np.abs(result - exact).max() / scale)
            np.testing.assert_allclose(
                result / scale, exact / scale, rtol=0, atol=self.case.tolerance, err_msg=each.name
            )
        return errors

    def is_poisoned(self, handle: Handle) -> bool:
        handle.synchronize()
        return all(
            bool((self.memory[each].numpy().astype(np.float64) == POISON).all())
            for each in self.graph.outputs
        )

    def close(self) -> None:
        for each in self.memory.values():
            each.close()


@contextmanager
def built(case: Case, handle: Handle, **options: Any) -> Iterator[tuple[Graph, Operands, Any]]:
    """A graph that was built for the GPU of `handle`, its operands, and a workspace."""
    with case.graph() as graph:
        graph.build(handle, **options)
        operands = Operands(case, graph)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            yield graph, operands, workspace
        operands.close()
