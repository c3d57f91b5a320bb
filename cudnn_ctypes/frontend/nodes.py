"""A `pygraph`'s operations, each as the program's call described it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from .c_members import member_of
from .enums import NodeType, data_type
from .tensors import tensor

__all__ = ["GraphContext", "Node", "node_of"]


@dataclass
class GraphContext:
    """The data types of a graph: of tensors with memory, of the others, and of the computation.

    Attributes
    ----------
    io_data_type, intermediate_data_type, compute_data_type : data_type
        NOT_SET where nothing was said.
    """

    io_data_type: Any = data_type.NOT_SET
    intermediate_data_type: Any = data_type.NOT_SET
    compute_data_type: Any = data_type.NOT_SET


@dataclass(eq=False, repr=False)
class Node:
    """One operation of a `pygraph`; changing it changes nothing in the graph.

    Attributes
    ----------
    name : str
    node_type : NodeType
    compute_data_type : data_type
        NOT_SET: that of the graph.
    inputs, outputs : dict of str to tensor
        By argument and by result: "image", "Y"; operands of lists with a number, "inputs_0"; those
        of element-wise operations "IN_0", "IN_1", "OUT_0".
    params : dict
        The other arguments of the call. Element-wise operations have their name as "mode".
    """

    name: str
    node_type: NodeType
    compute_data_type: Any = data_type.NOT_SET
    inputs: dict[str, tensor] = field(default_factory=dict)
    outputs: dict[str, tensor] = field(default_factory=dict)
    params: dict[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Node({self.name!r}, {self.node_type.name})"


def node_of(
    method: str,
    name: str,
    arguments: Mapping[str, Any],
    results: Mapping[str, tensor | None],
    compute_data_type: Any,
) -> Node:
    """The node for one call of a method of `pygraph`.

    Parameters
    ----------
    method, name : str
    arguments : mapping
        Operands and options by their names; those that are None were not given.
    results : mapping
        By the front end's names of the results; None for those that are absent.
    """
    kind = NodeType.__members__.get(method.upper().replace("_BACKWARD", "_BWD"))
    node = Node(name, kind or NodeType.POINTWISE, compute_data_type)
    if kind is None:
        node.params["mode"] = method
    for key, value in arguments.items():
        listed = isinstance(value, (list, tuple)) and any(isinstance(v, tensor) for v in value)
        if isinstance(value, tensor):
            node.inputs[key if kind else f"IN_{len(node.inputs)}"] = value
        elif listed:
            for index, each in enumerate(value):
                place = node.inputs if isinstance(each, tensor) else node.params
                place[f"{key}_{index}"] = member_of(each)
            node.params[f"_n_{key}"] = len(value)
        elif value is not None and not (isinstance(value, tuple) and not value):
            node.params[key] = member_of(value)
    node.outputs = {key: each for key, each in results.items() if each is not None}
    return node
