"""Graphs that are described as another one is, but for some things; the other stays as it is."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ...arguments import enumerator, suggestion
from ...dtypes import data_type_argument
from ...raw.ctypes_support import CudnnEnum
from .node import Node, Subgraph
from .node_checks import check_option
from .serialization import DATA_TYPES
from .tensor import Tensor
from .tensor_checks import check_tensor
from .validation import in_order

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["Edit", "copied", "edit_of", "edited", "halves"]

G = TypeVar("G", bound="Graph")

_FIELDS = frozenset(each.name for each in dataclasses.fields(Tensor)) - {"uid", "ragged_offset"}


@dataclass
class Edit:
    """Changes of a description, by positions in the graph's lists.

    Attributes
    ----------
    tensors : dict of int to dict
        New fields of tensors; None has ``validate`` fill them in.
    nodes : dict of int to dict
        New options of nodes, and `compute_data_type`.
    without : set of int
        Results that nodes no longer have.
    data_types : dict
        The graph's own: `io_data_type`, `intermediate_data_type`, `compute_data_type`.
    caveat : str
        What else the edit means to the user.
    """

    tensors: dict[int, dict[str, Any]] = field(default_factory=dict)
    nodes: dict[int, dict[str, Any]] = field(default_factory=dict)
    without: set[int] = field(default_factory=set)
    data_types: dict[str, Any] = field(default_factory=dict)
    caveat: str = ""

    def __bool__(self) -> bool:
        return bool(self.tensors or self.nodes or self.without or self.data_types)

    def of_tensor(self, index: int, **fields: Any) -> None:
        """Add fields of one tensor."""
        self.tensors.setdefault(index, {}).update(fields)


def copied(graph: G, nodes: Sequence[Node] | None = None) -> tuple[G, dict[int, Tensor]]:
    """A graph of its own with all nodes, or some, and the tensors that they use.

    Returns
    -------
    graph : Graph
        Not built.
    twins : dict of int to Tensor
        Its tensors by the ids of those that they are copies of.
    """
    new = type(graph)(graph.name, **{name: getattr(graph, name) for name in DATA_TYPES})
    kept = None if nodes is None else _tensors_of(nodes)
    twins = {
        id(tensor): copy.copy(tensor)
        for tensor in graph.tensors
        if kept is None or id(tensor) in kept
    }
    for twin in twins.values():
        if twin.ragged_offset is not None:
            twin.ragged_offset = twins[id(twin.ragged_offset)]
    new.tensors.extend(twins.values())
    new.nodes.extend(_twin_of(node, twins) for node in (graph.nodes if nodes is None else nodes))
    return new, twins


def _tensors_of(nodes: Sequence[Node]) -> set[int]:
    """The ids of all tensors that the nodes need."""
    every = [each for node in nodes for each in (node, *node.inner)]
    tensors = [each for node in every for each in (*node.operands, *node.results)]
    offsets = [each.ragged_offset for each in tensors if each.ragged_offset is not None]
    return {id(each) for each in (*tensors, *offsets)}


def _twin_of(node: Node, twins: Mapping[int, Tensor]) -> Node:
    def twin(value: Any) -> Any:
        if isinstance(value, (list, tuple)):
            return [twins[id(each)] for each in value]
        return twins[id(value)]

    return dataclasses.replace(
        node,
        inputs={port: twin(value) for port, value in node.inputs.items()},
        outputs={port: twin(value) for port, value in node.outputs.items()},
        options=dict(node.options),
        subgraphs={
            name: Subgraph(
                twin(each.input),
                twin(each.output),
                [_twin_of(inner, twins) for inner in each.nodes],
            )
            for name, each in node.subgraphs.items()
        },
    )


def edited(graph: G, edit: Edit) -> G:
    """A graph of its own, described as `graph` is but for `edit`."""
    copy, _ = copied(graph)
    for name, value in edit.data_types.items():
        _change_default(copy, name, value)
    for index, fields in edit.tensors.items():
        for name, value in fields.items():
            setattr(copy.tensors[index], name, value)
    for index, options in edit.nodes.items():
        node = copy.nodes[index]
        for name, value in options.items():
            if name == "compute_data_type":
                node.compute_data_type = value
            else:
                node.options[name] = value
    gone = {id(copy.tensors[index]) for index in edit.without}
    for node in copy.nodes:
        node.outputs = {port: each for port, each in node.outputs.items() if id(each) not in gone}
    copy.tensors[:] = [each for each in copy.tensors if id(each) not in gone]
    return copy


def _change_default(graph: Graph, name: str, value: Any) -> None:
    """Give a data type of the graph to itself, and to the tensors that have the one before."""
    before = getattr(graph, name)
    setattr(graph, name, value)
    for tensor in graph.tensors:
        if tensor.by_value:
            default = "compute_data_type"
        else:
            default = "intermediate_data_type" if tensor.virtual else "io_data_type"
        if default == name and tensor.data_type == before:
            tensor.data_type = value


def halves(graph: G, at: Tensor, data_type: Any) -> tuple[G, G]:
    """The nodes that a tensor needs, and the others, as two graphs; see ``Graph.split``."""
    nodes = in_order(graph.nodes)
    maker = {id(tensor): node for node in nodes for tensor in node.results}
    if id(at) not in maker:
        raise ValueError(f"split: at: {at!r} is no result of an operation")
    first, waiting = {id(maker[id(at)])}, [maker[id(at)]]
    while waiting:
        for tensor in waiting.pop().operands:
            node = maker.get(id(tensor))
            if node is not None and id(node) not in first:
                first.add(id(node))
                waiting.append(node)
    before = [node for node in nodes if id(node) in first]
    after = [node for node in nodes if id(node) not in first]
    if not after:
        raise ValueError(f"split: at: all operations are needed for {at!r}: nothing is left")
    results = {id(tensor) for node in before for tensor in node.results}
    between = [each for each in graph.tensors if id(each) in results & _tensors_of(after)]
    one, ones = copied(graph, before)
    two, twos = copied(graph, after)
    for tensor in between:
        for twin in (ones[id(tensor)], twos[id(tensor)]):
            if tensor.virtual and data_type is not None:
                twin.data_type = data_type
            twin.virtual = False
    return one, two


def edit_of(
    graph: Graph,
    tensors: Mapping[Any, Mapping[str, Any]] | None,
    operations: Mapping[str, Mapping[str, Any]] | None,
    without: Collection[Any],
    data_types: Mapping[str, Any],
) -> Edit:
    """Read the arguments of ``Graph.replaced``; refuse those without a meaning."""
    edit = Edit(
        data_types={
            name: data_type_argument(f"replaced: {name}", value)
            for name, value in data_types.items()
        }
    )
    for argument, changes in (("tensors", tensors), ("operations", operations)):
        if changes is None:
            continue
        if not isinstance(changes, Mapping) or not all(
            isinstance(each, Mapping) for each in changes.values()
        ):
            raise TypeError(f"replaced: {argument}: expected mappings by name, got {changes!r}")
    if isinstance(without, (str, Tensor)) or not isinstance(without, Collection):
        raise TypeError(f"replaced: without: expected several tensors, got {without!r}")
    for key, fields in (tensors or {}).items():
        tensor = _tensor(graph, key, "tensors")
        for name, value in fields.items():
            if name not in _FIELDS:
                raise ValueError(
                    f"replaced: tensor {tensor.name!r}: there is no field {name!r}"
                    f"{suggestion(str(name), _FIELDS)}"
                )
            typed = value
            if name == "data_type" and value is not None:
                typed = data_type_argument(f"replaced: tensor {tensor.name!r}: data_type", value)
            edit.of_tensor(_index(graph.tensors, tensor), **{name: typed})
        twin = copy.copy(tensor)
        for name, value in edit.tensors.get(_index(graph.tensors, tensor), {}).items():
            setattr(twin, name, value)
        check_tensor(twin)
    for operation, options in (operations or {}).items():
        index = _node(graph, operation)
        node = graph.nodes[index]
        edit.nodes[index] = {name: _option(node, name, value) for name, value in options.items()}
    for key in without:
        edit.without.add(_result(graph, key))
    return edit


def _tensor(graph: Graph, key: Any, argument: str) -> Tensor:
    if isinstance(key, Tensor):
        if not any(key is each for each in graph.tensors):
            raise ValueError(f"replaced: {argument}: {key!r} is of another graph")
        return key
    return graph.find_tensor(key)


def _index(things: Sequence[Any], wanted: Any) -> int:
    return next(index for index, each in enumerate(things) if each is wanted)


def _node(graph: Graph, name: str) -> int:
    indices = [index for index, node in enumerate(graph.nodes) if node.name == name]
    if len(indices) != 1:
        problem = "several operations are" if indices else "no operation is"
        listed = ", ".join(repr(node.name) for node in graph.nodes)
        raise KeyError(f"operations: {problem} called {name!r}; there are {listed}")
    return indices[0]


def _option(node: Node, name: str, value: Any) -> Any:
    if name == "compute_data_type":
        return None if value is None else data_type_argument(f"{node}: {name}", value)
    if name not in node.kind.all_options:
        node.refuse(f"there is no option {name!r}{suggestion(str(name), node.kind.all_options)}")
    before = node.options.get(name)
    if isinstance(before, CudnnEnum) and isinstance(value, str):
        value = enumerator(type(before), value, f"{node}: {name}")
    if value is not None:
        check_option(node.kind, name, value, f"{node}: {name}")
    return value


def _result(graph: Graph, key: Any) -> int:
    """The place of a result that can be left out."""
    tensor = _tensor(graph, key, "without")
    node = next((n for n in graph.nodes if any(tensor is t for t in n.outputs.values())), None)
    if node is None:
        raise ValueError(f"replaced: without: {tensor!r} is no result of an operation")
    if len(node.outputs) == 1:
        raise ValueError(f"replaced: without: {tensor!r} is the only result of {node}")
    user = next((n for n in graph.nodes if any(tensor is t for t in n.operands)), None)
    if user is not None:
        raise ValueError(f"replaced: without: {tensor!r} is used by {user}")
    return _index(graph.tensors, tensor)
