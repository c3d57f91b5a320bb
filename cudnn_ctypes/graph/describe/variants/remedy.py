"""One thing to say differently in a graph, and the graph that comes of it: plain data."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ....dtypes import data_type_name, element_bits
from ....raw import cudnnDataType_t
from ..node import Node
from ..rewriting import Change, Edit, differences, edited, halves, listed
from ..tensor import Tensor

if TYPE_CHECKING:
    from ..description import Description


@dataclass(frozen=True)
class Step:
    """The change that one remedy made.

    - `topic`: "layout", "dimensions", "width", "alignment", "scale type", "statistics type",
      "compute type", "intermediate type", "result type", "input type", "results" or "split".
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
    - `graphs`: not built; two for one that was split, in the order in which they are to be
      executed.
    """

    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    graphs: tuple[Description, ...]

    def cut(self) -> Iterator[Variant]:
        """This graph in two after each virtual result."""
        for each in splits(self.graphs[0]):
            yield Variant((*self.steps, *each.steps), self.changes, each.graphs)


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


_CUTS = 8  # that are tried
_LEAST = 16  # bits of what is worth being stored


def splits(graph: Description) -> Iterator[Variant]:
    """A graph in two after each virtual result, those with a large first graph first.

    What lies between has the data type of the graph's operands, else its own.
    """
    graph.validate()
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


def _types_between(graph: Description, tensor: Tensor) -> list[cudnnDataType_t]:
    own = tensor.data_type
    assert own is not None
    operands = [each for node in graph.nodes for each in node.operands if not each.virtual]
    wide = [each.data_type for each in operands if not each.by_value]
    wanted = next((each for each in wide if element_bits(each) >= _LEAST), own)
    if own != graph.intermediate_data_type or wanted is None:
        return [own]
    return list(dict.fromkeys((wanted, own)))
