"""One thing to say differently in a graph, and the graph that comes of it: plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..rewriting import Change, Edit, differences, edited, listed

if TYPE_CHECKING:
    from ..description import Description


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
