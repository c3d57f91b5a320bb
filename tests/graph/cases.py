"""Graphs that the tests build for an H200 anywhere, and execute where there is a GPU.

Each case describes a graph and says what it computes, in float64 NumPy or PyTorch. Its inputs and
outputs are told apart by name. The modules ``*_cases`` fill `CASES`; `families` imports them all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes import DeviceTensor
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


def problem(case: Case, graph: Graph) -> tuple[dict[str, NDArray[Any]], dict[str, NDArray[Any]]]:
    """The inputs in their data types, and the outputs that they give in float64.

    Parameters
    ----------
    graph : Graph
        Of the case, validated.
    """
    rng = np.random.default_rng(7)
    values = {tensor.name: _drawn(rng, tensor, case.ranges) for tensor in graph.inputs}
    if case.prepare is not None:
        case.prepare(values)
    inputs = {tensor.name: stored(values[tensor.name], tensor) for tensor in graph.inputs}
    exact = {name: array.astype(np.float64) for name, array in inputs.items()}
    return inputs, dict(case.compute(exact))


def device_memory(graph: Graph, inputs: Mapping[str, NDArray[Any]]) -> dict[Any, DeviceTensor]:
    """Tensors on the device for a graph: its inputs, and outputs full of a wrong number."""
    arrays = {tensor: inputs[tensor.name] for tensor in graph.inputs}
    arrays |= {tensor: stored(np.full(tensor.dims, 77.0), tensor) for tensor in graph.outputs}
    return {
        tensor: DeviceTensor.from_numpy(array, dtype=tensor.data_type, strides=tensor.strides)
        for tensor, array in arrays.items()
    }


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
