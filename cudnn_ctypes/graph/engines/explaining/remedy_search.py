"""The search for changes that give a graph an engine, or more engines: which are tried, and when
it ends."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from .probing import Outcome, Probe

if TYPE_CHECKING:
    from ...describe.variants.remedy import Remedy, Variant
    from ...graph import Graph

__all__ = ["Search", "Tried"]


class Tried(NamedTuple):
    """A variant of the graph, and what can carry out each of its graphs."""

    variant: Variant
    outcomes: tuple[Outcome, ...]


class Search:
    """Asks about variants of one graph, so many and so long as it may.

    Parameters
    ----------
    graph : Graph
    probe : callable
        Whether a graph has an engine.
    tries : int
        How many graphs are asked about at most.
    seconds : float
        After which nothing else is asked.
    clock : callable
        Seconds.
    """

    def __init__(
        self,
        graph: Graph,
        probe: Probe,
        *,
        tries: int,
        seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._graph = graph
        self._probe = probe
        self._tries = tries
        self._clock = clock
        self._begun = clock()
        self._end = self._begun + seconds
        self.tried: int = 0
        every = graph._remedies()
        self._keeping = [each for each in every if not each.loses]
        self._losing = [each for each in every if each.loses]

    @property
    def seconds(self) -> float:
        """Since it was begun."""
        return self._clock() - self._begun

    @property
    def exhausted(self) -> bool:
        """True if the search ended before every variant was tried."""
        return self.tried >= self._tries or self._clock() >= self._end

    def cures(self, *, first_only: bool) -> Iterator[Tried]:
        """Changed graphs that have an engine, for a graph that has none.

        First each change alone; then, if none does, the fewest changes together; then the graph in
        two; then changes that lose something. With `first_only`, nothing is tried after the first
        of these that gave something.
        """
        stages = (self._alone, self._together, self._in_two, self._losing_something)
        found = False
        for stage in stages:
            if stage == self._together and found:
                continue
            for each in stage(found):
                found = True
                yield each
            if found and first_only:
                return

    def gains(self) -> Iterator[Tried]:
        """Variants that have an engine, for a graph that has one too: each change alone."""
        for remedy in self._keeping:
            yield from self._ask([remedy])
        widths = [each for each in self._keeping if each.topic == "width"]
        if len(widths) > 1:
            yield from self._ask(widths)

    def _ask(self, remedies: Sequence[Remedy]) -> Iterator[Tried]:
        variant = self._graph._variant(remedies)
        if variant is not None:
            yield from self._ask_about(variant)

    def _ask_about(self, variant: Variant) -> Iterator[Tried]:
        outcomes: list[Outcome] = []
        for graph in variant.graphs:
            if self.exhausted:
                return
            self.tried += 1
            outcome = self._probe(graph)
            if outcome is None:
                return
            outcomes.append(outcome)
        yield Tried(variant, tuple(outcomes))

    def _alone(self, found: bool) -> Iterator[Tried]:
        for remedy in self._keeping:
            yield from self._ask([remedy])

    def _together(self, found: bool) -> Iterator[Tried]:
        yield from self._fewest(self._keeping)

    def _fewest(self, remedies: Sequence[Remedy], always: Sequence[Remedy] = ()) -> Iterator[Tried]:
        """All changes together, and without those that turn out not to be needed."""
        chosen = _compatible(remedies)
        if len(chosen) + len(always) < 2:
            return
        best = next(self._ask([*chosen, *always]), None)
        if best is None:
            return
        for remedy in list(chosen):
            fewer = [each for each in chosen if each is not remedy]
            if fewer or always:
                better = next(self._ask([*fewer, *always]), None)
                if better is not None:
                    best, chosen = better, fewer
        yield best

    def _in_two(self, found: bool) -> Iterator[Tried]:
        """The graph cut in two, as it is and, if that does not do, with all changes."""
        for variant in self._graph._splits():
            answer = next(self._ask_about(variant), None)
            if answer is not None:
                yield answer
                return
        if found:
            return
        changed = self._graph._variant(_compatible(self._keeping))
        if changed is None or not changed.steps:
            return
        for variant in changed.graphs[0]._splits():
            both = type(variant)((*changed.steps, *variant.steps), changed.changes, variant.graphs)
            answer = next(self._ask_about(both), None)
            if answer is not None:
                yield answer
                return

    def _losing_something(self, found: bool) -> Iterator[Tried]:
        any_alone = False
        for remedy in self._losing:
            for each in self._ask([remedy]):
                any_alone = True
                yield each
        if found or any_alone:
            return
        for remedy in self._losing:
            if remedy.topic == "input type":
                answer = next(self._fewest(self._keeping, [remedy]), None)
                if answer is not None:
                    yield answer


def _compatible(remedies: Sequence[Remedy]) -> list[Remedy]:
    """One layout, and all of the others."""
    layouts = [each for each in remedies if each.topic == "layout"]
    return [each for each in remedies if each.topic != "layout" or each is layouts[0]]
