"""Graphs that are put together from operations whose operands are made to fit."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from cudnn_ctypes.graph import Graph, Tensor

__all__ = [
    "OPERATIONS",
    "SHAPES",
    "Given",
    "Results",
    "Sketch",
    "Unfit",
    "either",
    "named",
    "operands",
    "operation",
]

Given = Tensor | None
Results = Mapping[str, Tensor]

SHAPES: dict[str, tuple[int, ...]] = {
    "image": (4, 32, 16, 16),
    "matrix": (4, 64, 64),
    "tokens": (1, 128, 64),
}
"""Dims of the first operand, by name."""


class Unfit(Exception):
    """The tensor cannot be this operand; the message says why."""


def either(*given: Given) -> Given:
    """The first tensor that is given, if one is."""
    return next((each for each in given if each is not None), None)


class Sketch:
    """A graph to which operations are added with operands of fitting shapes.

    Parameters
    ----------
    shape : str
        Key of `SHAPES`.
    io, intermediate : str
        Data types of tensors with memory, and of virtual ones.
    channels_last : bool
    """

    def __init__(
        self, shape: str, io: str, intermediate: str = "float32", *, channels_last: bool = True
    ) -> None:
        self.graph = Graph(io_data_type=io, intermediate_data_type=intermediate)
        self.intermediate = intermediate
        self.dims = SHAPES[shape]
        self.channels_last = channels_last

    def new(
        self, dims: Sequence[int], data_type: str | None = None, *, rows: bool = False
    ) -> Tensor:
        """An input of the graph, in the layout of the sketch; `rows` has it packed as in C."""
        order = list(range(len(dims)))
        if self.channels_last and len(dims) > 3 and not rows:
            order = [0, *range(2, len(dims)), 1]
        strides, step = [1] * len(dims), 1
        for axis in reversed(order):
            strides[axis], step = step, step * dims[axis]
        return self.graph.tensor(dims, strides, data_type)

    def first(self, *given: Given) -> Tensor:
        """The first tensor that is given, else an operand of the sketch's own shape."""
        found = either(*given)
        return self.new(self.dims) if found is None else found

    def like(self, tensor: Tensor, data_type: str | None = None) -> Tensor:
        return self.new(self.of(tensor), data_type)

    def of(self, tensor: Tensor, rank: int | None = None) -> tuple[int, ...]:
        """The dims of a tensor."""
        assert tensor.dims is not None
        if rank is not None and len(tensor.dims) != rank:
            raise Unfit(f"rank {len(tensor.dims)}, not {rank}")
        return tensor.dims

    def spatial(self, tensor: Tensor) -> tuple[int, ...]:
        dims = self.of(tensor)
        if len(dims) < 3:
            raise Unfit("no spatial dimensions")
        return dims[2:]

    def channels(self, tensor: Tensor) -> tuple[int, ...]:
        """(1, c, 1, …), the dims of what there is once for each channel."""
        dims = self.of(tensor)
        if len(dims) < 2:
            raise Unfit("no channels")
        return (1, dims[1], *(1,) * (len(dims) - 2))

    def one(self, data_type: str = "float32", rank: int = 4) -> Tensor:
        return self.new((1,) * rank, data_type)


OPERATIONS: dict[str, Callable[..., Results]] = {}
"""By name, for instance "conv_fprop" or "norm_forward layer inference"."""


def operands(name: str) -> tuple[str, ...]:
    """The names of the operands that an operation can be given."""
    return tuple(inspect.signature(OPERATIONS[name]).parameters)[1:]


def named(results: Any, *names: str) -> Results:
    """What a method of `Graph` returned, by name."""
    if isinstance(results, Mapping):
        return dict(results)
    several = results if isinstance(results, tuple) else (results,)
    names = names or ("y",)
    return {name: each for name, each in zip(names, several, strict=False) if each is not None}


def operation(name: str) -> Callable[[Callable[..., Results]], Callable[..., Results]]:
    """Adds a function to `OPERATIONS`.

    It takes a `Sketch` and at most one tensor, by the name of the operand that it becomes, makes
    the other operands, adds the operation and returns its results by name.
    """

    def add(function: Callable[..., Results]) -> Callable[..., Results]:
        OPERATIONS[name] = function
        return function

    return add
