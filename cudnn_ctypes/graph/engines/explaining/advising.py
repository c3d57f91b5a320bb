"""Advice on a graph: its variants, asked about on the same GPU, and put in order."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....arguments import flag
from ....errors import CudnnError, NoDeviceError
from ....raw import nvrtc
from ...backend.device_properties import DeviceProperties
from ...backend.warden import asking
from ...lower.faults import FAULTS
from ..refusals import Refusal, failed_to_compile
from .advice import Advice, Suggestion
from .explanation import Explanation
from .probing import Conditions, examined, options_of
from .remedy_search import Search, Tried

if TYPE_CHECKING:
    from ...graph import Graph

__all__ = ["advise"]

_TRIES = 60  # changed graphs, each of which takes 10 to 200 ms
_SUGGESTIONS = 8
_MEASURED = 4  # suggestions, each of which is compiled and autotuned
_BUDGET = 20.0  # seconds of measuring each


def advise(
    graph: Graph,
    conditions: Conditions,
    explanation: Explanation,
    *,
    measure: bool = False,
    limit: float = 30.0,
) -> Advice:
    """Carry out ``Explanation.advice``, for the graph that was explained under `conditions`."""
    if isinstance(limit, bool) or not isinstance(limit, (int, float)) or not limit >= 0:
        raise ValueError(f"advice: limit: expected seconds, 0 or more, got {limit!r}")
    if flag("advice: measure", measure):
        _check_gpu(conditions.device)
    reasons = (message for row in explanation.rows for message in (row.reason, *row.messages))
    if not explanation.usable and failed_to_compile(reasons) and (broken := nvrtc.defect()):
        return Advice(explanation, broken=broken)
    with _open(conditions) as here, asking(conditions.warden):
        probe = examined(here)
        search = Search(graph, probe, tries=_TRIES, seconds=limit)
        found = [*_unchanged(graph, explanation)]
        if explanation.usable:
            tried = [each for each in search.gains() if _gains(each, explanation)]
        else:
            tried = list(search.cures(first_only=False))
        found += [_suggestion(each, explanation) for each in tried]
        found = [each for each in found if _compiles(each, here.device, explanation)]
        seconds = search.seconds
        found = sorted(found, key=_rank)[:_SUGGESTIONS]
        if measure:
            found = _measured(graph, found, here, bool(explanation.usable))
    return Advice(explanation, tuple(found), search.tried, seconds, not search.exhausted)


@contextmanager
def _open(conditions: Conditions) -> Iterator[Conditions]:
    """With properties of their own: those of the explanation may have been closed since."""
    if not isinstance(conditions.device, DeviceProperties):
        yield conditions
        return
    with copy.copy(conditions.device) as device:
        yield replace(conditions, device=device)


def _check_gpu(device: Any) -> None:
    if isinstance(device, DeviceProperties) or device.on_reference_device:
        raise NoDeviceError(
            "advice: measure=True runs the graphs on a GPU: give Graph.explain the Handle of one"
        )


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
    suggestion = Suggestion(
        tried.variant.steps,
        tried.variant.graphs,
        tuple(each.options for each in tried.outcomes),
        tried.variant.changes,
        before.usable,
        explanations,
        fact=next((row for row in FAULTS if row.name in known), None),
    )
    return replace(suggestion, reason=_reason(suggestion, before))


def _reason(suggestion: Suggestion, before: Explanation) -> str:
    """Why an engine that is gained refused the graph; of two graphs there is none."""
    if before.refusal:
        return before.refusal
    if len(suggestion.graphs) > 1 or any(
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
        len(suggestion.graphs),
        not any(step.known for step in suggestion.steps),
        bool(suggestion.before) and not proposed,
        len(suggestion.steps),
        -len(proposed),
    )


def _measured(
    graph: Graph, found: list[Suggestion], here: Conditions, supported: bool
) -> list[Suggestion]:
    """With times of the first ones; the fastest first."""
    was = _microseconds(graph, here) if supported else float("inf")
    timed: list[Suggestion] = []
    for each in found[:_MEASURED]:
        times = [_microseconds(part, here) for part in each.graphs]
        now = sum(time for time in times if time is not None)
        if was is not None and None not in times:
            each = replace(each, times=(was, now))
        timed.append(each)
    timed.sort(key=lambda each: each.times[1] if each.times else float("inf"))
    return [*timed, *found[_MEASURED:]]


def _microseconds(graph: Graph, here: Conditions) -> float | None:
    """The median of the fastest plan; None if the graph cannot be measured by itself."""
    with graph.replaced() as own:
        try:
            tuned = own.autotune(
                here.device,  # type: ignore[arg-type]
                heuristics=here.modes,
                selection=here.selection,
                every_engine=True,
                budget=_BUDGET,
                sm_count=here.sm_count,
                progress=False,
                cache=False,
            )
        except (CudnnError, ValueError):
            return None
    return tuned.best.median
