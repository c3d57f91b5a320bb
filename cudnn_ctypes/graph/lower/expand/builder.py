"""Builder of an expansion: a graph's primitive operations, and the list that they go into."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from ....raw import cudnnDataType_t
from ....raw.strides import packed
from ...describe.node import Kind, Node, Subgraph
from ...describe.operations.normalizations import (
    NORM_BACKWARD,
    NORM_FORWARD,
    OF_CHANNELS,
    normalized_axes,
)
from ...describe.operations.table import GraphOperations
from ...describe.tensor import Tensor
from ..target import Target

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


class Builder(GraphOperations):
    """Tensors and nodes while a graph is expanded; those of the user are read, never changed.

    - `nodes`, `tensors`: the user's, complete.
    - `target`: the version of cuDNN, and the GPU.
    - `expansions`: what adds the parts of each composite kind.
    - `fixed`: whether the shapes stay.
    """

    def __init__(
        self,
        nodes: Sequence[Node],
        tensors: Iterable[Tensor],
        target: Target,
        expansions: Sequence[tuple[Kind, Expand]],
        *,
        fixed: bool = True,
    ) -> None:
        super().__init__()
        self.users = nodes
        self.tensors: list[Tensor] = list(tensors)
        self._expansions = expansions
        self.target: Target = target
        self.fixed: bool = fixed
        self.origin: Node | None = None  # the user's node that is being expanded

    def take(self, node: Node) -> None:
        """Add a node of the user's: as it is, or its parts."""
        if not in_parts(node):
            self.nodes.append(node)
            return
        outer, self.origin = self.origin, node
        next(function for kind, function in self._expansions if kind is node.kind)(self, node)
        self.origin = outer

    def _add(self, *arguments: Any, **options: Any) -> dict[str, Tensor]:
        results = super()._add(*arguments, **options)
        self.nodes[-1].origin = self.origin
        return results

    def append(
        self,
        kind: Kind,
        operation: str,
        inputs: Mapping[str, Any],
        options: Mapping[str, Any],
        outputs: Mapping[str, Tensor],
        subgraphs: Mapping[str, Subgraph] | None = None,
    ) -> None:
        """Add one operation whose results are those of the node that is being expanded."""
        assert self.origin is not None
        data_type = self.origin.compute_data_type
        arguments = {
            "targets": outputs,
            "compute_data_type": data_type,
            "name": self.named(operation),
        }
        self._add(kind, operation, inputs, options, outputs=(), **arguments)
        self.nodes[-1].subgraphs |= subgraphs or {}

    def held(self, start: int, first: Tensor, last: Tensor) -> Subgraph:
        """The nodes from `start` on, taken out of the graph's own: what an operation holds."""
        nodes = self.nodes[start:]
        del self.nodes[start:]
        return Subgraph(first, last, nodes)

    def named(self, part: str) -> str:
        """A free name for a part of the node that is being expanded."""
        assert self.origin is not None
        return self._free_name(f"{self.origin.name}.{part}")

    def into(self, result: Tensor, target: Tensor | None) -> Tensor:
        """The user's tensor `target` in place of the last node's `result`."""
        if target is None:
            return result
        node = self.nodes[-1]
        port = next(port for port, each in node.outputs.items() if each is result)
        node.outputs[port] = target
        self.tensors.remove(result)
        return target

    def modified(self, tensor: Tensor, subgraph: Subgraph | None) -> Tensor:
        """Apply the user's subgraph to `tensor`, the last node's result."""
        if subgraph is None:
            return tensor
        self.into(tensor, subgraph.input)
        for node in subgraph.nodes:
            self.take(node)
        return subgraph.output

    def typed(self, tensor: Tensor, data_type: cudnnDataType_t | None) -> Tensor:
        tensor.data_type = data_type
        return tensor

    def follow(self, tensor: Tensor, like: Tensor) -> Tensor:
        """The tensor cores take what has the operands' data type."""
        return self.typed(tensor, like.data_type)

    def turned(self, tensor: Tensor, name: str, *, back: bool = False) -> Tensor:
        """The last two dimensions exchanged, by strides; `back`: of one that already is."""
        result = self.reshape(tensor, name=name)
        node = self.nodes[-1]
        node.options["exchange"] = True
        node.transposed = frozenset({"input"} if back else ())
        return result

    def make_turned(self, tensor: Tensor) -> None:
        """Where `tensor` is a result, have it written as it will be read: cuDNN looks at dims."""
        for place, node in enumerate(self.nodes):
            ports = {port for port, each in node.outputs.items() if each is tensor}
            if ports:
                self.nodes[place] = replace(node, transposed=node.transposed | ports)

    def constant(
        self, dims: Sequence[int], values: Sequence[float] | float, data_type: Any, name: str
    ) -> Tensor:
        """A scratch tensor with fixed contents, or one number everywhere."""
        tensor = self.tensor(dims, data_type=data_type, name=name)
        tensor.scratch = True
        tensor.value = tuple(values) if isinstance(values, Sequence) else values
        return tensor

    def as_scratch(self, tensor: Tensor, dims: Sequence[int]) -> Tensor:
        """A result that lies, packed and in float32, in the workspace."""
        tensor.set_output(dims=dims, strides=packed(dims), data_type=_FLOAT)
        tensor.scratch = True
        return tensor

    def softmax_scale(self, node: Node) -> Tensor | float:
        """The factor of attention scores; default 1 / sqrt(d)."""
        scale = node.inputs.get("attn_scale", node.options.get("attn_scale"))
        if scale is not None:
            return scale  # type: ignore[no-any-return]
        return 1 / math.sqrt(node.inputs["q"].dims[-1])


def in_parts(node: Node) -> bool:
    """Whether a node of the user's is expanded: one that is no operation of cuDNN's."""
    return node.kind.composite or without_scale(node)


def without_scale(node: Node) -> bool:
    """Whether a norm needs a scale to say which dimensions it normalizes.

    Without one, cuDNN's engines normalize all but the first.
    """
    if node.kind not in (NORM_FORWARD, NORM_BACKWARD) or "scale" in node.inputs:
        return False
    x = node.inputs["input"]
    if node.options["mode"] in OF_CHANNELS or x.dims is None:
        return False
    axes = normalized_axes(node)
    return any((axis in axes) == (axis == 0) for axis, size in enumerate(x.dims) if size > 1)


Expand = Callable[[Builder, Node], None]
"""Adds the parts of one composite node."""
