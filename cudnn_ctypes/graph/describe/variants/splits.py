"""A graph in two, with a tensor in memory between them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ....dtypes import data_type_name, element_bits
from ....raw import cudnnDataType_t
from ..node import Node
from ..rewriting import halves
from ..tensor import Tensor
from .remedy import Step, Variant

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["splits"]

_CUTS = 8  # that are tried
_LEAST = 16  # bits of what is worth being stored


def splits(graph: Graph) -> Iterator[Variant]:
    """A validated graph in two after each virtual result, those with a large first graph first.

    What lies between has the data type of the graph's operands, else its own.
    """
    found: list[tuple[int, Node, Tensor]] = []
    for node in graph.nodes:
        for tensor in node.outputs.values():
            if tensor.virtual:
                try:
                    first, _ = halves(graph, tensor, None)
                except ValueError:  # nothing comes after it
                    continue
                found.append((len(first.nodes), node, tensor))
    found.sort(key=lambda each: -each[0])
    for _, node, tensor in found[:_CUTS]:
        for data_type in _types_between(graph, tensor):
            graphs = halves(graph, tensor, data_type)
            words = (
                f"split after {node}: let {node.argument(tensor)} be an output "
                f"({data_type_name(data_type)}) of the first graph and an input of the second"
            )
            yield Variant((Step("split", words),), (), graphs)


def _types_between(graph: Graph, tensor: Tensor) -> list[cudnnDataType_t]:
    own = tensor.data_type
    assert own is not None
    operands = [each for node in graph.nodes for each in node.operands if not each.virtual]
    wide = [each.data_type for each in operands if not each.by_value]
    wanted = next((each for each in wide if element_bits(each) >= _LEAST), own)
    if own != graph.intermediate_data_type or wanted is None:
        return [own]
    return list(dict.fromkeys((wanted, own)))
