"""The graph that predicates of known faults look at."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...describe.node import Node
from ...describe.tensor import Tensor
from ..broadcasts import Side, sides
from ..flattening import View


@dataclass(frozen=True)
class Graph:
    """The graph that a row's predicate looks at.

    - `nodes`: validated, in an order in which they can be carried out.
    - `views`: dims and strides by a tensor's id, where cuDNN gets others than the tensor has.
    """

    nodes: Sequence[Node]
    views: Mapping[int, View]

    @functools.cached_property
    def sides(self) -> list[Side]:
        """The element-wise operations, by where they are."""
        return sides(self.nodes)

    @functools.cached_property
    def misread(self) -> Mapping[str, str]:
        """The tensors that engines misread, in words, by the reason."""
        found: dict[str, str] = {}
        for side in self.sides:
            for node in side.nodes:
                for each in (*node.operands, *node.outputs.values()):
                    if (reason := side.misread(each, node)) and reason not in found:
                        found[reason] = f"{node}: {each.name!r} {each.dims} in {side.full}"
        return found

    def view(self, tensor: Tensor) -> View:
        """The dims and strides that cuDNN gets."""
        return self.views.get(id(tensor)) or (tensor.dims or (), tensor.strides or ())

    def dims(self, tensor: Tensor) -> tuple[int, ...]:
        """The dims that cuDNN gets."""
        return self.view(tensor)[0]

    def of(self, *kinds: str, mode: Any = None) -> list[Node]:
        """The operations of some kinds of descriptors, or of these those of one mode."""
        wanted = {f"operation_{kind}" for kind in kinds}
        return [
            node
            for node in self.nodes
            if node.kind.descriptor in wanted and mode in (None, node.options.get("mode"))
        ]

    def as_written(self, *operations: str) -> Iterator[Node]:
        """The user's calls of these names that were expanded."""
        users = {id(each): each for node in self.nodes if (each := node.origin) is not None}
        return (each for each in users.values() if each.operation in operations)

    def alone(self, *kinds: str) -> list[Node]:
        """The only operation, if it is of one of these kinds of descriptors."""
        return self.of(*kinds) if len(self.nodes) == 1 else []

    def after(self, nodes: Iterable[Node], *, through_norms: bool = True) -> list[Node]:
        """The operations that use results of `nodes`, at once or by way of others."""
        reached = {id(tensor) for node in nodes for tensor in node.outputs.values()}
        found = []
        for node in self.nodes:
            if any(id(operand) in reached for operand in node.operands):
                found.append(node)
                if through_norms or node.kind.descriptor != "operation_norm_forward":
                    reached |= {id(tensor) for tensor in node.outputs.values()}
        return found


def using(nodes: Iterable[Node], node: Node) -> list[Node]:
    """The operations among `nodes` that use a result of `node`."""
    results = {id(tensor) for tensor in node.outputs.values()}
    return [each for each in nodes if any(id(operand) in results for operand in each.operands)]


def in_order(nodes: Sequence[Node], others: Sequence[Node]) -> str:
    """The first of `nodes` whose result one of the others uses, in words."""
    for before in nodes:
        for node in using(others, before):
            return f"{before} before {node}"
    return ""
