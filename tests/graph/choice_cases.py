"""Graphs with engines of every sort, among which the tests choose; see `cases.Case`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed

from .cases import Arrays, Case

__all__ = ["CHOICES", "check", "computed"]

IMAGE, FILTER, RESULT = (4, 32, 14, 14), (64, 32, 3, 3), (4, 64, 14, 14)


def _image(graph: Graph, name: str, dims: tuple[int, ...]) -> Tensor:
    return graph.tensor(dims, packed(dims, (0, 2, 3, 1)), name=name)


def _convolution(graph: Graph) -> Tensor:
    return graph.conv_fprop(_image(graph, "x", IMAGE), _image(graph, "w", FILTER), padding=1)


def _conv2d(a: Arrays) -> NDArray[Any]:
    import torch

    y: NDArray[Any] = torch.conv2d(torch.tensor(a["x"]), torch.tensor(a["w"]), padding=1).numpy()
    return y


def _with_bias(graph: Graph) -> None:
    y = graph.bias(_convolution(graph), _image(graph, "b", (1, 64, 1, 1)))
    graph.relu(y).set_output(name="y")


def _filter_gradient(graph: Graph) -> None:
    dw = graph.conv_wgrad(_image(graph, "x", IMAGE), _image(graph, "dy", RESULT), padding=1)
    dw.set_output(dims=FILTER, strides=packed(FILTER, (0, 2, 3, 1)), name="dw")


def _filter_gradient_of(a: Arrays) -> Arrays:
    import torch

    w = torch.zeros(FILTER, dtype=torch.float64, requires_grad=True)
    torch.conv2d(torch.tensor(a["x"]), w, padding=1).backward(torch.tensor(a["dy"]))
    assert w.grad is not None
    return {"dw": w.grad.numpy()}


def _product(graph: Graph) -> None:
    a, b = graph.tensor((4, 64, 128), name="a"), graph.tensor((4, 128, 256), name="b")
    bias = graph.tensor((1, 1, 256), name="bias")
    graph.gelu(graph.bias(graph.matmul(a, b), bias)).set_output(name="c")


def _product_of(a: Arrays) -> Arrays:
    import torch

    sums = torch.tensor(a["a"] @ a["b"] + a["bias"])
    return {"c": torch.nn.functional.gelu(sums).numpy()}


# Engines may add in fp16 or in parts, and Winograd's transform its operands: several roundings of
# fp16, relative to the largest result. Engines of float32 compute in TF32, of 10 bits.
CHOICES = {
    "convolution": Case(
        lambda graph: _convolution(graph).set_output(name="y"), lambda a: {"y": _conv2d(a)}
    ),
    "convolution, float32": Case(
        lambda graph: _convolution(graph).set_output(name="y"),
        lambda a: {"y": _conv2d(a)},
        io="float32",
    ),
    "convolution + bias + relu": Case(
        _with_bias, lambda a: {"y": np.maximum(_conv2d(a) + a["b"], 0)}
    ),
    "filter gradient": Case(_filter_gradient, _filter_gradient_of),
    "matmul + bias + gelu": Case(_product, _product_of),
}


def operands(name: str, graph: Graph) -> tuple[dict[str, NDArray[Any]], Arrays]:
    """Random inputs of a validated graph, and the outputs that they give in float64."""
    pytest.importorskip("torch")
    rng = np.random.default_rng(5)
    inputs = {
        each.name: rng.standard_normal(each.dims).astype(numpy_dtype(each.data_type))
        for each in graph.inputs
    }
    exact = {key: array.astype(np.float64) for key, array in inputs.items()}
    return inputs, CHOICES[name].compute(exact)


@contextmanager
def on_the_gpu(inputs: Arrays, graph: Graph) -> Iterator[dict[Any, DeviceTensor]]:
    """Device memory for all tensors; outputs are full of 77."""
    memory: dict[Any, DeviceTensor] = {}
    try:
        for each in (*graph.inputs, *graph.outputs):
            array = inputs.get(each.name)
            if array is None:
                array = np.full(each.dims, 77.0).astype(numpy_dtype(each.data_type))
            memory[each] = DeviceTensor.from_numpy(array, strides=each.strides)
        yield memory
    finally:
        for made in memory.values():
            made.close()


def computed(name: str, graph: Graph, handle: Handle) -> dict[str, NDArray[Any]]:
    """What the graph's plan makes of the operands, by the outputs' names."""
    inputs, _ = operands(name, graph)
    with (
        on_the_gpu(inputs, graph) as memory,
        DeviceBuffer(max(graph.workspace_size, 1)) as workspace,
    ):
        graph.execute(memory, workspace)
        handle.synchronize()
        return {each.name: memory[each].numpy().astype(np.float64) for each in graph.outputs}


def check(name: str, graph: Graph, handle: Handle) -> None:
    """Compare what the plan computes with what it must."""
    _, expected = operands(name, graph)
    for output, result in computed(name, graph, handle).items():
        scale = np.abs(expected[output]).max()
        np.testing.assert_allclose(
            result / scale,
            expected[output] / scale,
            rtol=0,
            atol=CHOICES[name].tolerance,
            err_msg=f"{output} by {graph.plan}",
        )
