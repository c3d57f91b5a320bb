"""Differences between two descriptions of almost the same graph, in the user's words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ...arguments import shown
from ...dtypes import data_type_name
from ...raw import cudnnDataType_t
from .node import Node
from .tensor import Tensor

if TYPE_CHECKING:
    from ..graph import Graph

__all__ = ["Change", "differences", "listed"]

_FIELDS = ("data_type", "dims", "strides", "alignment")


@dataclass(frozen=True)
class Change:
    """One thing that a graph says differently than another.

    Attributes
    ----------
    operation : str
        The operation that the tensor is an argument or result of, or whose option it is:
        "conv_fprop 'conv'"; "" for what is the graph's own.
    argument : str
        The argument and the tensor: "image 'x'"; "" for what is the operation's own.
    field : str
        What is different: a field of `Tensor`, an option, "compute_data_type", or "result" for
        one that is left out.
    before, after : object
        Data types by their names, all else as the description has it.
    note : str
        "virtual", or "the same memory" for strides that differ in dimensions of one element only.
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


def differences(before: Graph, after: Graph) -> tuple[Change, ...]:
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
        if name == "strides" and old.dims == new.dims and _same_memory(old, new):
            note = "the same memory"
        yield Change(operation, argument, name, _told(pair[0]), _told(pair[1]), note)


def _told(value: Any) -> Any:
    return data_type_name(value) if isinstance(value, cudnnDataType_t) else value


def _same_memory(old: Tensor, new: Tensor) -> bool:
    dims = old.dims or ()
    pairs = zip(dims, old.strides or (), new.strides or (), strict=True)
    return all(size == 1 or one == other for size, one, other in pairs)


def _place(nodes: Sequence[Node], tensor: Tensor) -> tuple[str, str]:
    """The operation that makes a tensor, else the first that reads it, and the argument there."""
    for tensors in ("results", "operands"):
        for node in nodes:
            if any(tensor is each for each in getattr(node, tensors)):
                return str(node), node.argument(tensor) or repr(tensor.name)
    return "", repr(tensor.name)
