"""Checks of a graph as a whole, before cuDNN is asked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

from ...dtypes import data_type_name
from .node import Node
from .node_checks import check_node
from .tensor import Tensor
from .tensor_checks import check_memory, check_tensor

__all__ = [
    "check_fields",
    "check_results",
    "check_subgraphs",
    "check_tensors",
    "in_order",
]


def check_fields(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors and nodes with contents that they cannot have, each by itself.

    Raises
    ------
    TypeError, ValueError
        The message names the tensor or operation, and the field.
    """
    for tensor in tensors:
        check_tensor(tensor)
    own = {id(tensor) for tensor in tensors}
    for node in nodes:
        check_node(node)
        for each in (node, *node.inner):
            for port, value in (*each.inputs.items(), *each.outputs.items()):
                for tensor in value if isinstance(value, (list, tuple)) else [value]:
                    if id(tensor) not in own:
                        node.refuse(f"{port} {tensor!r} is of another graph")
    for tensor in tensors:
        offset = tensor.ragged_offset
        if offset is not None and id(offset) not in own:
            raise ValueError(f"{tensor!r}: its ragged_offset {offset!r} is of another graph")


def in_order(nodes: Sequence[Node]) -> list[Node]:
    """The nodes, each after those whose results it uses.

    Raises
    ------
    ValueError
        If a tensor is the result of two nodes, or nodes need each other's results.
    """
    maker: dict[int, Node] = {}
    for node in nodes:
        for tensor in node.results:
            other = maker.setdefault(id(tensor), node)
            if other is not node:
                raise ValueError(f"{tensor!r} is the result of both {other} and {node}")
    ordered: list[Node] = []
    done: set[int] = set()
    open_nodes: set[int] = set()
    for first in nodes:
        # What is being visited, each with its operands that have not been looked at yet; a list
        # rather than recursion, as graphs may be longer than Python's stack.
        path = [(first, first.operands)] if id(first) not in done else []
        open_nodes.add(id(first))
        while path:
            node, operands = path[-1]
            for tensor in operands:
                before = maker.get(id(tensor))
                if before is None or id(before) in done:
                    continue
                if id(before) in open_nodes:
                    _refuse_circle([each for each, _ in path], before)
                open_nodes.add(id(before))
                path.append((before, before.operands))
                break
            else:
                done.add(id(node))
                ordered.append(node)
                path.pop()
    return ordered


def _refuse_circle(path: Sequence[Node], node: Node) -> NoReturn:
    start = next(index for index, each in enumerate(path) if each is node)
    circle = " -> ".join(str(each) for each in reversed((*path[start:], node)))
    raise ValueError(f"the operations go in a circle: {circle}")


def check_tensors(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors that no operation uses or makes.

    Raises
    ------
    ValueError
    """
    if not nodes:
        raise ValueError("the graph has no operations")
    used = {id(t) for node in nodes for each in (node, *node.inner) for t in each.operands}
    subgraphs = [each for node in nodes for each in node.subgraphs.values()]
    inputs = {id(each.input) for each in subgraphs}
    used |= inputs | {id(each.output) for each in subgraphs}
    used |= {id(each.ragged_offset) for each in tensors if each.ragged_offset is not None}
    every = [each for node in nodes for each in (node, *node.inner)]
    makers = {id(tensor): node for node in every for tensor in node.outputs.values()}
    for tensor in tensors:
        if id(tensor) in makers:
            node = makers[id(tensor)]
            port = next(port for port, each in node.outputs.items() if each is tensor)
            idle = node.may_go_unused or port in node.kind.unread
            if tensor.virtual and id(tensor) not in used and not idle:
                node.refuse(
                    f"its result {port} {tensor.name!r} is neither used nor an output: "
                    "call its set_output()"
                )
        elif id(tensor) not in used:
            raise ValueError(f"{tensor!r} is used by no operation")
        elif tensor.virtual and id(tensor) not in inputs:
            raise ValueError(f"{tensor!r} is virtual, but no operation makes it")


def check_results(tensors: Sequence[Tensor], nodes: Sequence[Node]) -> None:
    """Refuse tensors whose properties contradict each other, once they are complete.

    Raises
    ------
    ValueError
    """
    results = {id(tensor) for node in nodes for tensor in node.results}
    for tensor in tensors:
        check_memory(tensor, id(tensor) in results)
        if tensor.ragged_offset is not None and tensor.ragged_offset.data_type is not None:
            name = data_type_name(tensor.ragged_offset.data_type)
            if name not in ("int32", "int64"):
                raise ValueError(f"{tensor!r}: its ragged_offset is {name}, not int32 or int64")


def check_subgraphs(node: Node) -> None:
    """Refuse a function of the user whose result has other dims than what it was called with.

    Raises
    ------
    ValueError
    """
    for name, each in node.subgraphs.items():
        if each.output.dims != each.input.dims:
            node.refuse(
                f"{name} must return a tensor of dims {each.input.dims}, got "
                f"{each.output.name!r} {each.output.dims}"
            )
