"""Advice on a graph: its variants, asked about on the same GPU, and put in order."""

from __future__ import annotations

import copy
import functools
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from ...errors import CudnnError
from ...raw.library import nvrtc
from ..backend.device_properties import DeviceProperties, properties_text
from ..backend.warden import asking
from ..describe.rewriting import Remedy, Step, Variant
from ..engines.explaining.examination import (
    Conditions,
    Outcome,
    Probe,
    asked_at_once,
    examined,
    options_of,
)
from ..engines.explaining.explanation import Advice, Explanation, Suggestion
from ..engines.explaining.report import spans
from ..engines.refusals import Refusal, failed_to_compile
from ..lower.faults import FAULTS
from .partition import Partition, partition

if TYPE_CHECKING:
    from ...handle import Handle
    from ..engines.selection import Selection
    from ..graph import Graph

# The search for changes that give a graph an engine, or more engines: which are tried, and when
# it ends.


class Tried(NamedTuple):
    """A variant of the graph, and what can carry it out: each graph of a program."""

    variant: Variant
    outcomes: tuple[Outcome, ...]


class Search:
    """Asks `probe` about variants of one graph, at most `tries` and for so many `seconds`.

    `cut` gives the pieces of a program of the graph.
    """

    def __init__(
        self,
        graph: Graph,
        probe: Probe,
        *,
        tries: int,
        seconds: float,
        cut: Callable[[Graph], Partition | None] = lambda graph: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._graph = graph
        self._probe = probe
        self._cut = cut
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

    def cures(self, *, first_only: bool) -> list[Tried]:
        """Changed graphs that have an engine, for a graph that has none.

        First each change alone; then, if none does, the fewest changes together; then a program;
        then changes that lose something. With `first_only`, nothing is tried after the first
        of these that gave something.
        """
        found = self._each(self._keeping) or self._fewest(self._keeping)
        for stage in (self._program, self._losing_something):
            if found and first_only:
                break
            found = [*found, *stage(bool(found))]
        return found

    def gains(self) -> list[Tried]:
        """Variants that have an engine, for a graph that has one too: each change alone."""
        found = self._each(self._keeping)
        widths = [each for each in self._keeping if each.topic == "width"]
        together = self._ask(widths) if len(widths) > 1 else None
        return found if together is None else [*found, together]

    def _each(self, several: Sequence[Remedy]) -> list[Tried]:
        answers = [self._ask([remedy]) for remedy in several]
        return [each for each in answers if each is not None]

    def _ask(self, several: Sequence[Remedy]) -> Tried | None:
        variant = self._graph._varied(several)
        if variant is None or self.exhausted:
            return None
        self.tried += 1
        (graph,) = variant.graphs
        outcome = self._probe(cast("Graph", graph))
        return None if outcome is None else Tried(variant, (outcome,))

    def _fewest(self, several: Sequence[Remedy], always: Sequence[Remedy] = ()) -> list[Tried]:
        """All changes together, and without those that turn out not to be needed."""
        chosen = _compatible(several)
        best = self._ask([*chosen, *always]) if len(chosen) + len(always) > 1 else None
        if best is None:
            return []
        for remedy in list(chosen):
            fewer = [each for each in chosen if each is not remedy]
            better = self._ask([*fewer, *always]) if fewer or always else None
            if better is not None:
                best, chosen = better, fewer
        return [best]

    def _program(self, found: bool) -> list[Tried]:
        """The graph as it is, in several plans."""
        pieces = None if self.exhausted else self._cut(self._graph)
        if not pieces:
            return []
        parts = ", then ".join(" with ".join(each.operations) for each in pieces)
        step = Step("program", f"let build make a program: {parts}")
        outcomes = [self._probe(each.graph) for each in pieces]
        told = tuple(each for each in outcomes if each is not None)
        return [Tried(Variant((step,), (), (self._graph.replaced(),)), told)]

    def _losing_something(self, found: bool) -> list[Tried]:
        alone = self._each(self._losing)
        if found or alone:
            return alone
        types = [each for each in self._losing if each.topic == "input type"]
        return [tried for each in types for tried in self._fewest(self._keeping, [each])]


def _compatible(remedies: Sequence[Remedy]) -> list[Remedy]:
    """One layout, and all of the others."""
    layouts = [each for each in remedies if each.topic == "layout"]
    return [each for each in remedies if each.topic != "layout" or each is layouts[0]]


_TRIES = 60  # changed graphs, each of which takes 10 to 200 ms
_SUGGESTIONS = 8


def advise(
    graph: Graph, conditions: Conditions, explanation: Explanation, *, limit: float = 30.0
) -> Advice:
    """Carry out ``Explanation.advice``, for the graph that was explained under `conditions`."""
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit >= 0:
        raise ValueError(f"advice: limit: expected seconds, 0 or more, got {limit!r}")
    reasons = (message for row in explanation.rows for message in (row.reason, *row.messages))
    if not explanation.usable and failed_to_compile(reasons) and (broken := nvrtc.defect()):
        return Advice(explanation, broken=broken)
    with _open(conditions) as here, asking(conditions.warden):
        probe = examined(here)
        cut = functools.partial(partition, conditions=here)
        search = Search(graph, probe, tries=_TRIES, seconds=limit, cut=cut)
        found = [*_unchanged(graph, explanation)]
        if explanation.usable:
            tried = [each for each in search.gains() if _gains(each, explanation)]
        else:
            tried = search.cures(first_only=False)
        found += [_suggestion(each, explanation) for each in tried]
        found = [each for each in found if _compiles(each, here.device, explanation)]
        seconds = search.seconds
        found = sorted(found, key=_rank)[:_SUGGESTIONS]
    return Advice(explanation, tuple(found), search.tried, seconds, not search.exhausted)


@contextmanager
def _open(conditions: Conditions) -> Iterator[Conditions]:
    """With properties of their own: those of the explanation may have been closed since."""
    if not isinstance(conditions.device, DeviceProperties):
        yield conditions
        return
    with copy.copy(conditions.device) as device:
        yield replace(conditions, device=device)


def _unchanged(graph: Graph, explanation: Explanation) -> Iterator[Suggestion]:
    """The graph as it is, if only what ``Graph.build`` asks by itself does not find an engine."""
    usable = explanation.usable
    options = options_of(usable) if usable else {}
    if options:
        yield Suggestion((), (graph.replaced(),), (options,), after=(explanation,))


def _compiles(suggestion: Suggestion, device: Any, before: Explanation) -> bool:
    """Whether what is said to make a graph supported, or no mode proposes, can be compiled.

    cuDNN accepts graphs that its compiler then refuses.
    """
    for graph, options in zip(suggestion.graphs, suggestion.options, strict=True):
        if before.usable and "config" not in options:
            continue
        with graph.replaced() as own:
            try:
                own.build(device, cache=False, **options)
            except CudnnError as error:
                refused = failed_to_compile(error.messages) and not nvrtc.defect()
                if refused or "config" in options:
                    return False
    return True


def _gains(tried: Tried, before: Explanation) -> bool:
    """Whether it is known to be faster, or has engines that the graph has not as it is."""
    if any(step.known for step in tried.variant.steps):
        return True
    (after,) = (each.explanation for each in tried.outcomes)
    # In another pattern of graphs the same index means another engine.
    if after is None or after.engine_count != before.engine_count:
        return False
    return bool({row.engine for row in after.usable} - {row.engine for row in before.usable})


def _suggestion(tried: Tried, before: Explanation) -> Suggestion:
    explanations = tuple(each.explanation for each in tried.outcomes if each.explanation)
    known = {step.known for step in tried.variant.steps}
    is_program = any(step.topic == "program" for step in tried.variant.steps)
    suggestion = Suggestion(
        tried.variant.steps,
        cast("tuple[Graph, ...]", tried.variant.graphs),
        ({},) if is_program else tuple(each.options for each in tried.outcomes),
        tried.variant.changes,
        before.usable,
        explanations,
        fact=next((row for row in FAULTS if row.name in known), None),
    )
    return replace(suggestion, reason=_reason(suggestion, before))


def _reason(suggestion: Suggestion, before: Explanation) -> str:
    """Why an engine that is gained refused the graph; of a program there is none."""
    if before.refusal:
        return before.refusal
    if len(suggestion.after) > 1 or any(
        e.engine_count != before.engine_count for e in suggestion.after
    ):
        return ""
    reasons = [
        (row, Refusal(row.status, row.reason))
        for gained in suggestion.gained
        for row in before.rows
        if row.engine == gained.engine and row.reason
    ]
    # A status that says whether it is the shape, the layout or the data type comes first.
    reasons.sort(key=lambda each: (each[1].hopeless, each[1].status == "NOT_SUPPORTED"))
    if not reasons or reasons[0][1].hopeless:
        return ""
    row, why = reasons[0]
    return f"engine {row.engine}: {why.without_index(row.engine)}"


def _rank(suggestion: Suggestion) -> tuple[Any, ...]:
    """First what is known to be faster, found by a plain build, loses nothing, is little to do."""
    proposed = [row for row in suggestion.gained if row.proposed_by]
    return (
        suggestion.fact is None,
        bool(suggestion.steps) and any(suggestion.options),
        any(step.topic in ("input type", "results") for step in suggestion.steps),
        len(suggestion.after),
        not any(step.known for step in suggestion.steps),
        bool(suggestion.before) and not proposed,
        len(suggestion.steps),
        -len(proposed),
    )


# Advice in the message of a failed build: looked for when the message is read.
#
# Programs that build many graphs and go on where one is refused pay nothing for it but a copy of
# the description (0.1 ms) and, of a Handle, of its GPU's properties (0.4 ms).

_BUILD_TRIES = 30  # changed graphs, each of which takes 2 to 60 ms
_SECONDS = 0.5
_SECONDS_TO_COMPILE = 3.0
_LINES = 3


def add_advice(
    error: CudnnError,
    graph: Graph,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    selection: Selection,
) -> None:
    """Have the error of a failed build find advice when it is read."""
    with asking(None, default=True) as warded:
        conditions = Conditions(device, tuple(modes), selection, warden=warded)
    error.advised_by(BuildAdvice(graph, conditions, error.messages))


class BuildAdvice:
    """Changes with which a graph has an engine; called once, it looks for them.

    Nothing is compiled unless it was compiling that failed: then cuDNN's acceptance means little.
    A broken compiler is the only advice. Else the search ends after the first kind of change that
    does: one change, several, a program, or what loses something. Whatever goes wrong on the
    way, the error that is told of is the one of the build. `messages` are cuDNN's reasons.
    """

    def __init__(self, graph: Graph, conditions: Conditions, messages: Sequence[str] = ()) -> None:
        self._graph = graph.replaced()
        self._messages = tuple(messages)
        self._properties = properties_text(conditions.device)
        self._conditions = conditions
        self._process = os.getpid()

    def __call__(self) -> tuple[str, ...]:
        if os.getpid() != self._process:  # in a fork cuDNN's threads are gone
            return ()
        uncompiled = failed_to_compile(self._messages)
        if uncompiled and (broken := nvrtc.defect()):
            return (broken,)
        try:
            with DeviceProperties(self._properties) as device:
                here = replace(self._conditions, device=device, compile=uncompiled)
                seconds = _SECONDS_TO_COMPILE if uncompiled else _SECONDS
                search = Search(
                    self._graph,
                    asked_at_once(here),
                    tries=_BUILD_TRIES,
                    seconds=seconds,
                    cut=functools.partial(partition, conditions=here),
                )
                found = search.cures(first_only=True)
        except Exception:
            return ()
        return tuple(_line(each) for each in found[:_LINES])


def _line(tried: Tried) -> str:
    steps = tried.variant.steps
    engines = ", then ".join(spans(sorted(each.engines)) for each in tried.outcomes)
    caveats = [step.caveat for step in steps if step.caveat]
    line = f"{'; '.join(step.words for step in steps)}: {engines}"
    return f"{line} ({'; '.join(caveats)})" if caveats else line
