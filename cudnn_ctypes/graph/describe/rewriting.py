"""Graphs that are described as another one is, but for some things, and remedies that change them.

The other graph stays as it is.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

from ...arguments import enumerator, shown, suggestion
from ...dtypes import data_type_argument, data_type_name
from ...raw import cudnnDataType_t
from ...raw.ctypes_support import CudnnEnum
from ...raw.strides import same_steps
from .node import Node, Subgraph
from .serialization import DATA_TYPES
from .tensor import Tensor
from .validation import check_option, check_tensor

if TYPE_CHECKING:
    from .description import Description


_FIELDS = ("data_type", "dims", "strides", "alignment")


@dataclass(frozen=True)
class Change:
    """One thing that a graph says differently than another.

    - `operation`: the operation that the tensor is an argument or result of, or whose option it is:
      "conv_fprop 'conv'"; "" for what is the graph's own.
    - `argument`: the argument and the tensor: "image 'x'"; "" for what is the operation's own.
    - `field`: what is different: a field of `Tensor`, an option, "compute_data_type", or "result"
      for one that is left out.
    - `before`, `after`: data types by their names, all else as the description has it.
    - `note`: "virtual", or "the same memory" for strides that differ in dimensions of one element
      only.
    """

    operation: str
    argument: str
    field: str
    before: Any
    after: Any
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "before": shown(self.before), "after": shown(self.after)}

    def __str__(self) -> str:
        place = " of ".join(part for part in (self.argument, self.operation) if part) or "the graph"
        note = f" ({self.note})" if self.note else ""
        return f"{place}: {self.field} {shown(self.before)} -> {shown(self.after)}{note}"


def differences(before: Description, after: Description) -> tuple[Change, ...]:
    """Differences of `after`, which was derived from `before`; both are validated."""
    found: list[Change] = []
    if before.compute_data_type != after.compute_data_type:
        pair = (before.compute_data_type, after.compute_data_type)
        found.append(Change("", "", "compute_data_type", _told(pair[0]), _told(pair[1])))
    for old, new in zip(before.nodes, after.nodes, strict=True):
        found += _of_node(old, new)
    remaining = {tensor.uid: tensor for tensor in after.tensors}
    for tensor in before.tensors:
        operation, argument = _place(before.nodes, tensor)
        twin = remaining.get(tensor.uid)
        if twin is None:
            found.append(Change(operation, argument, "result", "computed", "left out"))
        else:
            found += _of_tensor(tensor, twin, operation, argument)
    return tuple(found)


def listed(changes: Iterable[Change]) -> str:
    """The arguments, by operation: "image 'x' and weight 'w' of conv_fprop 'conv'"."""
    arguments: dict[str, dict[str, None]] = {}
    for change in changes:
        if change.argument and not change.note:
            arguments.setdefault(change.operation, {})[change.argument] = None
    return ", ".join(f"{_and(list(each))} of {name}" for name, each in arguments.items())


def _and(words: Sequence[str]) -> str:
    return " and ".join([", ".join(words[:-1])] * (len(words) > 1) + [words[-1]])


def _of_node(old: Node, new: Node) -> Iterator[Change]:
    if old.compute_data_type != new.compute_data_type:
        pair = (old.compute_data_type, new.compute_data_type)
        yield Change(str(old), "", "compute_data_type", _told(pair[0]), _told(pair[1]))
    for name in dict.fromkeys((*old.options, *new.options)):
        pair = old.options.get(name), new.options.get(name)
        if pair[0] != pair[1]:
            yield Change(str(old), "", name, *pair)


def _of_tensor(old: Tensor, new: Tensor, operation: str, argument: str) -> Iterator[Change]:
    for name in _FIELDS:
        pair = getattr(old, name), getattr(new, name)
        if pair[0] == pair[1] or (old.virtual and name in ("strides", "alignment")):
            continue
        note = "virtual" if old.virtual else ""
        if name == "strides" and None not in pair and old.dims == new.dims:
            note = "the same memory" if same_steps(old.dims or (), *pair) else note
        yield Change(operation, argument, name, _told(pair[0]), _told(pair[1]), note)


def _told(value: Any) -> Any:
    return data_type_name(value) if isinstance(value, cudnnDataType_t) else value


def _place(nodes: Sequence[Node], tensor: Tensor) -> tuple[str, str]:
    """The operation that makes a tensor, else the first that reads it, and the argument there."""
    for tensors in ("results", "operands"):
        for node in nodes:
            if any(tensor is each for each in getattr(node, tensors)):
                return str(node), node.argument(tensor) or repr(tensor.name)
    return "", repr(tensor.name)


G = TypeVar("G", bound="Description")

_CHANGEABLE = frozenset(each.name for each in dataclasses.fields(Tensor)) - {"uid", "ragged_offset"}


@dataclass
class Edit:
    """Changes of a description, by positions in the graph's lists.

    New fields of tensors (None has ``validate`` fill them in), new options of nodes and their
    `compute_data_type`, results that are left out, and the graph's own data types; the caveat says
    what else the edit means to the user.
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

    Its tensors come too, by the ids of those that they are copies of.
    """
    new = type(graph)(graph.name, **{name: getattr(graph, name) for name in DATA_TYPES})
    used = graph.tensors if nodes is None else _tensors_of(nodes)
    twins = {id(tensor): copy.copy(tensor) for tensor in used}
    for twin in twins.values():
        if twin.ragged_offset is not None:
            twin.ragged_offset = twins[id(twin.ragged_offset)]
    new.tensors.extend(twins.values())
    new.nodes.extend(_twin_of(node, twins) for node in (graph.nodes if nodes is None else nodes))
    return new, twins


def _tensors_of(nodes: Sequence[Node]) -> list[Tensor]:
    """All tensors that the nodes need, each once."""
    every = [each for node in nodes for each in (node, *node.inner)]
    tensors = [each for node in every for each in (*node.operands, *node.results)]
    offsets = [each.ragged_offset for each in tensors if each.ragged_offset is not None]
    return list({id(each): each for each in (*tensors, *offsets)}.values())


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


def _change_default(graph: Description, name: str, value: Any) -> None:
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


def edit_of(
    graph: Description,
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
            if name not in _CHANGEABLE:
                raise ValueError(
                    f"replaced: tensor {tensor.name!r}: there is no field {name!r}"
                    f"{suggestion(str(name), _CHANGEABLE)}"
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


def _tensor(graph: Description, key: Any, argument: str) -> Tensor:
    if isinstance(key, Tensor):
        if not any(key is each for each in graph.tensors):
            raise ValueError(f"replaced: {argument}: {key!r} is of another graph")
        return key
    return graph.find_tensor(key)


def _index(things: Sequence[Any], wanted: Any) -> int:
    return next(index for index, each in enumerate(things) if each is wanted)


def _node(graph: Description, name: str) -> int:
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


def _result(graph: Description, key: Any) -> int:
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


@dataclass(frozen=True)
class Step:
    """The change that one remedy made.

    - `topic`: "layout", "dimensions", "width", "alignment", "scale type", "statistics type",
      "compute type", "intermediate type", "result type", "input type", "results" or "program".
    - `words`: the change in one line, with the user's names.
    - `caveat`: further work that the change asks for, or a property that it loses; "" if none.
    - `known`: the case that it repairs, if that was measured; "" if not.
    """

    topic: str
    words: str
    caveat: str = ""
    changes: tuple[Change, ...] = ()
    known: str = ""

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "changes": [each.as_dict() for each in self.changes]}


@dataclass(frozen=True)
class Remedy:
    """A way to change graphs.

    - `topic`: as in `Step`.
    - `phrase`: what to do, with "{}" for the arguments that are changed.
    - `edit`: from a validated graph to what is to be said differently; empty if nothing.
    - `loses`: whether numbers become less exact, or results are left out.
    - `known`: as in `Step`.
    """

    topic: str
    phrase: str
    edit: Callable[[Description], Edit]
    loses: bool = False
    known: str = ""

    def step(self, changes: Sequence[Change], caveat: str) -> Step:
        """The step that records these changes of one graph."""
        told = [each for each in changes if each.field != "strides"] or changes
        if self.topic == "layout":
            told = [each for each in changes if each.field == "strides"]
        words = self.phrase.format(listed(told))
        return Step(self.topic, words, caveat, tuple(changes), self.known)


@dataclass(frozen=True, eq=False)
class Variant:
    """A graph after some remedies.

    - `changes`: all that is different in the end.
    - `graphs`: not built.
    """

    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    graphs: tuple[Description, ...]


def varied(graph: Description, remedies: Sequence[Remedy]) -> Variant | None:
    """A graph after some of its remedies, one after the other.

    None if one of them changes nothing any more, or the graph would not be valid.
    """
    before = graph
    before.validate()
    steps = []
    for remedy in remedies:
        edit = remedy.edit(graph)
        if not edit:
            return None
        changed = edited(graph, edit)
        try:
            changed.validate()
        except (ValueError, TypeError):
            return None
        steps.append(remedy.step(differences(graph, changed), edit.caveat))
        graph = changed
    return Variant(tuple(steps), differences(before, graph), (graph,))
