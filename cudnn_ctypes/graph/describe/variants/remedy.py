"""One thing to say differently in a graph, and the graph that comes of it: plain data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ..changes import Change, listed
from ..rewriting import Edit

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["Remedy", "Step", "Variant"]


@dataclass(frozen=True)
class Step:
    """The change that one remedy made.

    Attributes
    ----------
    topic : str
        "layout", "dimensions", "width", "alignment", "scale type", "statistics type",
        "compute type", "intermediate type", "result type", "input type", "results" or "split".
    words : str
        The change in one line, with the user's names.
    caveat : str
        Further work that the change asks for, or a property that it loses; "" if none.
    changes : tuple of Change
    known : str
        The case that it repairs, if that was measured; "" if not.
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

    Attributes
    ----------
    topic : str
        As in `Step`.
    phrase : str
        What to do, with "{}" for the arguments that are changed.
    edit : callable
        From a validated graph to what is to be said differently; empty if nothing.
    loses : bool
        Whether numbers become less exact, or results are left out.
    known : str
        As in `Step`.
    """

    topic: str
    phrase: str
    edit: Callable[[Graph], Edit]
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

    Attributes
    ----------
    steps : tuple of Step
    changes : tuple of Change
        All that is different in the end.
    graphs : tuple of Graph
        Not built; two for one that was split, in the order in which they are to be executed.
    """

    steps: tuple[Step, ...]
    changes: tuple[Change, ...]
    graphs: tuple[Graph, ...]
