"""Checks of a graph as a whole, before cuDNN is asked."""

from __future__ import annotations

from collections.abc import Sequence

from ..dtypes import data_type_name
from .node import Node
from .tensor import Tensor

__all__ = ["check_results", "check_tensors", "in_order"]


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, each after those whose results it uses.

    Raises
    ------
    ValueError
        If a tensor is the result of two nodes, or nodes need each other's results.
    """
    maker: dict[int, Node] = {}
    for node in nodes:
        for tensor in node.outputs.values():
            other = maker.setdefault(id(tensor), node)
            if other is not node:
                raise ValueError(f"{tensor!r} is the result of both {other} and {node}")
    ordered: list[Node] = []
    state: dict[int, str] = {}

    def visit(node: Node, path: tuple[Node, ...]) -> None:
        if state.get(id(node)) == "done":
            return
        if any(node is each for each in path):
            start = next(index for index, each in enumerate(path) if each is node)
            circle = " -> ".join(str(each) for each in (*path[start:], node))
            raise ValueError(f"the operations go in a circle: {circle}")
        for tensor in node.operands:
            before = maker.get(id(tensor))
            if before is not None:
                visit(before, (*path, node))
        state[id(node)] = "done"
        ordered.append(node)

    for node in nodes:
        visit(node, ())
    return ordered


def check_tensors(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors that no operation uses or makes.

    Raises
    ------
    ValueError
    """
    if not nodes:
        raise ValueError("the graph has no operations")
    used = {id(tensor) for node in nodes for tensor in node.operands}
    used |= {id(each.ragged_offset) for each in tensors if each.ragged_offset is not None}
    made = {id(tensor): node for node in nodes for tensor in node.outputs.values()}
    for tensor in tensors:
        if id(tensor) in made:
            node = made[id(tensor)]
            port = next(port for port, each in node.outputs.items() if each is tensor)
            if tensor.virtual and id(tensor) not in used and not node.may_go_unused:
                node.refuse(
                    f"its result {port} {tensor.name!r} is neither used nor an output: "
                    "call its set_output()"
                )
        elif id(tensor) not in used:
            raise ValueError(f"{tensor!r} is used by no operation")
        elif tensor.virtual:
            raise ValueError(f"{tensor!r} is virtual, but no operation makes it")


def check_results(tensors: Sequence[Tensor]) -> None:
    """Refuse results that overlap themselves, and properties that contradict each other.

    Raises
    ------
    ValueError
    """
    for tensor in tensors:
        if tensor.virtual and tensor.by_value:
            raise ValueError(f"{tensor!r} cannot be both virtual and by value")
        if tensor.by_value and any(size != 1 for size in tensor.dims or ()):
            raise ValueError(f"{tensor!r} is passed by value, so it can only be one number")
        if tensor.alignment < 1 or tensor.alignment & (tensor.alignment - 1):
            raise ValueError(f"{tensor!r}: alignment {tensor.alignment} is no power of two")
        if tensor.vector_count > 1 and tensor.vector_dimension is None:
            raise ValueError(f"{tensor!r}: vector_count without vector_dimension")
        if tensor.ragged_offset is not None and tensor.ragged_offset.data_type is not None:
            name = data_type_name(tensor.ragged_offset.data_type)
            if name not in ("int32", "int64"):
                raise ValueError(f"{tensor!r}: its ragged_offset is {name}, not int32 or int64")
