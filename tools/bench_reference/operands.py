"""The handle and the operands of all cases, and how the sides are compared."""

from __future__ import annotations

import os
import tracemalloc
from collections.abc import Callable
from typing import Any, NamedTuple

__all__ = ["SHAPES", "Bench", "Case"]

SHAPES = {"mnist": (64, 16, 28, 28), "cifar": (32, 64, 32, 32), "image": (1, 64, 112, 112)}
TOLERANCE = 2e-4  # of the largest element of the result


class Case(NamedTuple):
    """One operation. Each side returns its result, None if random numbers make it."""

    name: str
    ours: Callable[[], Any]
    theirs: Callable[[], Any]


class Bench:
    """The handle and the operands of all cases."""

    def __init__(self, threads: int) -> None:
        os.environ["OPENBLAS_NUM_THREADS"] = str(threads)  # read when NumPy is loaded
        import numpy
        import torch

        import cudnn_ctypes

        torch.set_num_threads(threads)
        cudnn_ctypes.use_reference_device()
        self.np, self.torch, self.cudnn = numpy, torch, cudnn_ctypes
        self.aten, self.functional = torch.ops.aten, torch.nn.functional
        self.handle = cudnn_ctypes.Handle()
        self.rng = numpy.random.default_rng(0)

    def pair(self, *shape: int, positive: bool = False) -> tuple[Any, Any]:
        """The same random numbers for both sides."""
        values = self.rng.standard_normal(shape).astype("float32")
        values = abs(values) + 0.1 if positive else values
        return self.cudnn.DeviceTensor.from_numpy(values), self.torch.tensor(values)

    def copied(self, tensor: Any) -> Any:
        return self.cudnn.DeviceTensor.from_numpy(tensor.detach().contiguous().numpy())

    def empty(self, *shape: int) -> Any:
        return self.cudnn.DeviceTensor.zeros(shape, "float32")

    def executed(self, describe: Callable[..., Any], *pairs: Any) -> Callable[[], Any]:
        """A graph of float32 tensors like these, executed; `describe` gives its result."""
        graph = self.cudnn.Graph(io_data_type="float32")
        tensors = [graph.tensor(x.shape, name=f"t{i}") for i, (x, _) in enumerate(pairs)]
        described = describe(graph, *tensors)
        described = described if isinstance(described, tuple) else (described,)
        for number, each in enumerate(described):
            each.set_output(name=f"y{number}")
        graph.build(self.handle, without_engine=True)
        memory = {f"t{i}": x for i, (x, _) in enumerate(pairs)}
        for number, each in enumerate(described):
            dtype = self.cudnn.raw.cudnnDataType_t(each.data_type).name.removeprefix("CUDNN_DATA_")
            dtype = {"FLOAT": "float32", "INT8": "int8"}[dtype]
            memory[f"y{number}"] = self.cudnn.DeviceTensor.zeros(each.dims, dtype)
        workspace = self.cudnn.DeviceBuffer(max(graph.workspace_size, 1))

        def execute() -> Any:
            graph.execute(memory, workspace)
            return memory["y0"]

        return execute

    def max_pool_backward(self, tdy: Any, tx: Any, *sizes: Any) -> Any:
        """PyTorch's gradient of a maximum, with the indices that it needs."""
        index = self.aten.max_pool2d_with_indices(tx, *sizes)[1]
        return self.aten.max_pool2d_with_indices_backward(tdy, tx, *sizes, [1, 1], False, index)

    def compare(self, case: Case) -> None:
        """Both sides compute the same numbers."""
        ours, theirs = case.ours(), case.theirs()
        if ours is None:
            return
        found, wanted = ours.numpy(), theirs.detach().numpy()
        error = abs(found.reshape(wanted.shape) - wanted).max() / abs(wanted).max()
        if not error <= TOLERANCE:
            raise AssertionError(f"{case.name}: the sides differ by {error}")

    def peak_megabytes(self, case: Case) -> float:
        tracemalloc.start()
        case.ours()
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return peak / 1e6
