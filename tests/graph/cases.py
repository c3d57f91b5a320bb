"""Graphs that the tests build for an H200 anywhere, and execute where there is a GPU.

Each case describes a graph and says what it computes, in float64 NumPy or PyTorch. Its inputs and
outputs are told apart by name. The modules ``*_cases`` fill `CASES`; `families` imports them all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle
from cudnn_ctypes.dtypes import data_type_name, numpy_dtype
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

Arrays = Mapping[str, NDArray[Any]]


@dataclass(frozen=True)
class Case:
    """One graph.

    Attributes
    ----------
    describe : callable
        Adds operations to an empty graph; outputs are named.
    compute : callable
        From the inputs by name to the outputs by name.
    io : str
        Data type of inputs and outputs that have none of their own.
    tolerance : float
        Of the error relative to the largest magnitude of an output.
    ranges : mapping of str to (low, high)
        For inputs that must not be normally distributed.
    prepare : callable, optional
        Changes the random inputs, those that depend on others.
    computation, intermediate : str
        Data types in which operations compute, and of virtual tensors.
    here : bool
        Whether it is built without a GPU too. Not so where cuDNN needs one to compile it, nor for
        what differs from another case in its data type only.
    one_kernel : bool
        Whether it is the point of the graph that the GPU carries it out in one kernel.
    """

    describe: Callable[[Graph], object]
    compute: Callable[[Arrays], Arrays]
    io: str = "float16"
    tolerance: float = 4e-3
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    prepare: Callable[[dict[str, NDArray[Any]]], object] | None = None
    computation: str = "float32"
    intermediate: str = "float32"
    here: bool = True
    one_kernel: bool = False

    def graph(self) -> Graph:
        graph = Graph(
            io_data_type=self.io,
            intermediate_data_type=self.intermediate,
            compute_data_type=self.computation,
        )
        self.describe(graph)
        return graph


CASES: dict[str, Case] = {}

# One rounding of the result, of at most half a unit in the last place, and as much again for
# sums in float32. Convolutions and products of float32 use TF32: see their own.
TOLERANCES = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-13}

# Engines may add in fp16 or in parts, and Winograd's transform its operands: several roundings.
ANY_ENGINE = 4e-3
POISON = 77.0

IMAGE = (4, 32, 14, 14)


def case(name: str, describe: Any, compute: Any, **options: Any) -> None:
    assert name not in CASES, name
    CASES[name] = Case(describe, compute, **options)


def image(graph: Graph, name: str, dims: Sequence[int] = IMAGE, data_type: Any = None) -> Tensor:
    """A tensor whose channels lie together."""
    return graph.tensor(dims, channels_last(dims), data_type, name=name)


def channels_last(dims: Sequence[int]) -> tuple[int, ...]:
    """Strides of (n, c, *spatial) with the channels innermost."""
    return packed(dims, (0, *range(2, len(dims)), 1))


def problem(
    case: Case, graph: Graph, seed: int = 7
) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """The inputs in their data types, and the outputs that they give in float64.

    Parameters
    ----------
    graph : Graph
        Of the case, validated.
    """
    rng = np.random.default_rng(seed)
    values = {tensor.name: _drawn(rng, tensor, case.ranges) for tensor in graph.inputs}
    if case.prepare is not None:
        case.prepare(values)
    inputs = {tensor.name: stored(values[tensor.name], tensor) for tensor in graph.inputs}
    exact = {name: array.astype(np.float64) for name, array in inputs.items()}
    return inputs, dict(case.compute(exact))


def device_memory(graph: Graph, inputs: Mapping[str, NDArray[Any]]) -> dict[Any, DeviceTensor]:
    """Tensors on the device for a graph: its inputs, and outputs full of a wrong number."""
    arrays = {tensor: inputs[tensor.name] for tensor in graph.inputs}
    arrays |= {tensor: _poison(tensor) for tensor in graph.outputs}
    return {
        tensor: DeviceTensor.from_numpy(array, dtype=tensor.data_type, strides=tensor.strides)
        for tensor, array in arrays.items()
    }


def _poison(tensor: Tensor) -> NDArray[Any]:
    return stored(np.full(tensor.dims, POISON), tensor)


class Operands:
    """One set of operands of a validated graph on the device, and what its outputs must become.

    Outputs are poisoned until an execution has overwritten them.
    """

    def __init__(self, case: Case, graph: Graph, *, seed: int = 7) -> None:
        pytest.importorskip("torch")
        self.case, self.graph = case, graph
        inputs, self.expected = problem(case, graph, seed)
        self.memory = device_memory(graph, inputs)

    def __enter__(self) -> Operands:
        return self

    def __exit__(self, *exc_info: object) -> None:
        self.close()

    def close(self) -> None:
        for each in self.memory.values():
            each.close()

    def poison(self) -> None:
        """Overwrite the outputs, where they are."""
        for each in self.graph.outputs:
            self.memory[each].copy_from(_poison(each))

    @property
    def pointers(self) -> dict[int, Any]:
        from cudnn_ctypes.graph.run.execution import Operands as ByUid

        return ByUid(self.graph.tensors).by_uid(self.memory)

    @property
    def results(self) -> dict[str, NDArray[Any]]:
        """The outputs by name, in float64."""
        return {t.name: self.memory[t].numpy().astype(np.float64) for t in self.graph.outputs}

    def check(self, handle: Handle, tolerance: float | None = None) -> dict[str, float]:
        """Compare the outputs, relative to the largest magnitude; returns their errors."""
        handle.synchronize()
        errors = {}
        for name, result in self.results.items():
            exact = np.asarray(self.expected[name], np.float64)
            scale, difference = np.abs(exact).max(), np.abs(result - exact)
            errors[name] = float(difference.max() / scale)
            assert errors[name] <= (tolerance or self.case.tolerance), (
                f"{name} by {self.graph.plan}: the largest error is {errors[name]:.2e} of the "
                f"largest element {scale:.3g}; worst at "
                f"{np.unravel_index(difference.argmax(), exact.shape)}"
            )
        return errors

    def is_poisoned(self, handle: Handle) -> bool:
        handle.synchronize()
        return all(bool((each == POISON).all()) for each in self.results.values())


@contextmanager
def built(case: Case, handle: Handle, **options: Any) -> Iterator[tuple[Graph, Operands, Any]]:
    """A graph that was built for the device of `handle`, its operands, and a workspace."""
    with case.graph() as graph:
        graph.build(handle, **options)
        with Operands(case, graph) as operands, workspace_of(graph) as workspace:
            yield graph, operands, workspace


def workspace_of(graph: Graph) -> DeviceBuffer:
    return DeviceBuffer(max(graph.workspace_size, 1))


def check(
    case: Case, graph: Graph, handle: Handle, tolerance: float | None = None
) -> dict[str, NDArray[Any]]:
    """Execute a graph's plan, compare the outputs with what they must be, and return them."""
    with Operands(case, graph) as operands, workspace_of(graph) as workspace:
        graph.execute(operands.memory, workspace)
        operands.check(handle, tolerance)
        return operands.results


def _drawn(
    rng: np.random.Generator, tensor: Tensor, ranges: Mapping[str, tuple[float, float]]
) -> NDArray[Any]:
    name = data_type_name(tensor.data_type)
    if tensor.name in ranges:
        return rng.uniform(*ranges[tensor.name], tensor.dims)
    if name in ("boolean", "bool"):
        return rng.random(tensor.dims) < 0.5
    if "int" in name:
        return rng.integers(-6, 7, tensor.dims)
    return rng.standard_normal(tensor.dims)


def stored(array: NDArray[Any], tensor: Tensor) -> NDArray[Any]:
    """In the data type of the tensor."""
    return array.astype(numpy_dtype(tensor.data_type))


def _torch() -> Any:
    import torch

    return torch


def gradients(
    function: Callable[..., Any], grad: NDArray[Any], *operands: NDArray[Any]
) -> list[NDArray[Any]]:
    """The gradients of `function` of PyTorch tensors with respect to all operands."""
    torch = _torch()
    tensors = [torch.tensor(each, requires_grad=True) for each in operands]
    function(*tensors).backward(torch.tensor(grad))
    return [each.grad.numpy() for each in tensors]
