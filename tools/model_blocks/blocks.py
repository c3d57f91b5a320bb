"""What a block is, and how it is described and computed."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import torch

from cudnn_ctypes import (
    BadParamError,
    DeviceTensor,
    Graph,
    Handle,
    NotSupportedError,
    SymbolNotFoundError,
)
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph import Partition

from .parts import InGraph, InTorch, Parts, fan_in

Oracle = Callable[..., Mapping[str, torch.Tensor]]
"""From the operands by name, in float64, to the results by name."""
Say = Callable[[Parts], Any]
"""Says a block: returns its result, or several by name."""


class Block(NamedTuple):
    """A block of a model.

    Attributes
    ----------
    name : str
    of : str
        The kind of model, by a well-known one.
    say : callable
    data_type : str
        Of its tensors.
    """

    name: str
    of: str
    say: Say
    data_type: str


BLOCKS: list[Block] = []


def block(of: str, data_type: str = "float16") -> Callable[[Say], Say]:
    """Put a function into `BLOCKS`."""

    def taken(say: Say) -> Say:
        BLOCKS.append(Block(say.__name__, of, say, data_type))
        return say

    return taken


def _by_name(results: Any) -> dict[str, Any]:
    return dict(results) if isinstance(results, dict) else {"y": results}


def described(each: Block) -> tuple[Graph, Oracle]:
    """The graph of a block, and what PyTorch computes."""
    graph = Graph(each.name, io_data_type=each.data_type)
    for name, tensor in _by_name(each.say(InGraph(graph))).items():
        tensor.set_output(name=name)
        if name in ("mean", "inverse"):
            tensor.set_output(data_type="float32")
    graph.validate()

    def oracle(**operands: torch.Tensor) -> dict[str, torch.Tensor]:
        return _by_name(each.say(InTorch(operands)))

    return graph, oracle


def operands(graph: Graph) -> dict[str, Any]:
    """Numbers for the inputs, as their data types have them: weights keep the size of results."""
    random = np.random.default_rng(7)
    found = {}
    for tensor in graph.inputs:
        dims, name = tensor.dims or (), tensor.name
        numbers: Any = random.standard_normal(dims)
        if name == "label":
            numbers = random.integers(0, 1000, dims)
        elif name == "begins":  # of as many rows as there are for each expert
            numbers = (np.arange(dims[0]) * 16).reshape(dims)
        elif name in ("mask", "p"):
            numbers = random.random(dims) / (1 if name == "mask" else dims[-1])
        else:
            numbers /= math.sqrt(fan_in(name, dims))
        found[name] = numbers.astype(numpy_dtype(tensor.data_type))
    return found


def error_of(each: Block, handle: Handle, **options: Any) -> float:
    """The largest error of a block by the size of its results, against float64 of PyTorch."""
    graph, oracle = described(each)
    numbers = operands(graph)
    exact = oracle(**{name: torch.from_numpy(x.astype("f8")) for name, x in numbers.items()})
    memory = {
        each.name: DeviceTensor.from_numpy(numbers[each.name], strides=each.strides)
        for each in graph.inputs
    }
    with graph:
        graph.build(handle, **options)
        got = graph.run(memory, handle=handle)
    worst = 0.0
    for name, expected in exact.items():
        value = torch.from_numpy(got[name].numpy().astype("f8"))
        assert value.shape == expected.shape, (name, value.shape, expected.shape)
        worst = max(worst, ((value - expected).abs().max() / expected.abs().max()).item())
        assert torch.isfinite(value).all(), f"{name} has NaN or infinity"
    return worst


def kind(each: Block, device: str) -> tuple[str, Partition | None]:
    """ "plan" if one engine takes a block, "program", or "none"; with the pieces of a program."""
    graph, _ = described(each)
    try:
        graph.build(device, program=False, cache=False).close()
        return "plan", None
    except (NotSupportedError, BadParamError, SymbolNotFoundError):
        pieces = graph.partition(device)
        return ("program" if pieces else "none"), pieces
