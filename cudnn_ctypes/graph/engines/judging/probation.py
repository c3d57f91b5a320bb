"""Probation: an engine that is new for a form of graph is tried on a small one, in a child."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....raw.values import described
from ...backend.device_properties import DeviceProperties, is_absent
from ...backend.engine import EngineChoice
from ...lower.lowering import lowered
from ..selection import Kept
from .verdict import Verdict, family, keep_verdicts, kept_verdicts

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ....handle import Handle
    from ...lower.expand.expansion import Expansion
    from ...run.plan import ExecutionPlan
    from ..selection import Selection

_logger = logging.getLogger(__name__)

ENVIRONMENT_VARIABLE = "CUDNN_CTYPES_CHECK"

_PERIODS = (16, 64)  # of the sizes of small graphs: engines of attention want some 64 queries
_KINDS = ("ordinary", "rows")
_LARGEST = 1 << 22  # elements of all tensors, for which the reference takes seconds


def as_check(check: Any, device: Handle | DeviceProperties) -> bool:
    """Whether engines are tried before a build takes them; on a GPU that is there alone.

    Raises TypeError or ValueError if `check`, or the environment variable, is neither None nor
    "first"; if it is told for a GPU that need not be there.
    """
    if check is None:
        value = os.environ.get(ENVIRONMENT_VARIABLE, "").strip()
        if value not in ("", "0", "first"):
            raise ValueError(f"{ENVIRONMENT_VARIABLE}={value!r}: expected first, or 0 for none")
        return value == "first" and not is_absent(device)
    if not isinstance(check, str):
        raise TypeError(f'check: expected "first" or None, got {described(check)}')
    if check != "first":
        raise ValueError(f'check: expected "first" or None, got {check!r}')
    if isinstance(device, DeviceProperties):
        raise ValueError(
            f"check: an engine is tried on the GPU itself, expected its Handle, got "
            f"{described(device)}"
        )
    return not is_absent(device)


def checked(
    graph: Any, expansion: Expansion, handle: Handle, choices: Iterable[EngineChoice]
) -> Kept:
    """The verdicts on engines, after those of `choices` that are new were tried.

    A config is executed on a small graph of the same form; on the graph itself if there is none,
    or the engine does not take the small one. What cannot be tried stays new: random numbers,
    integers that have no meaning of their own.
    """
    known = kept_verdicts(expansion, handle)
    new: dict[Any, EngineChoice] = {}
    for choice in choices:
        if family(choice) not in known.families:
            new.setdefault(family(choice), choice)
    if not new:
        return known
    from .judging import refuse_chance

    try:
        refuse_chance(expansion)
        verdicts = _verdicts(graph, expansion, handle, list(new.values()))
    except ValueError as error:
        _logger.debug("graph %r: its engines cannot be checked: %s", graph.name, error)
        return known
    for each in verdicts:
        _logger.debug(
            "graph %r: %s was checked: %s", graph.name, each.choice, each.told or each.state
        )
    keep_verdicts(expansion, handle, verdicts)
    return kept_verdicts(expansion, handle)


def passed(
    graph: Any,
    expansion: Expansion,
    handle: Any,
    plan: ExecutionPlan,
    wanted: Selection,
    build: Callable[[Selection], ExecutionPlan],
) -> ExecutionPlan:
    """A plan of an engine that was tried: `plan`, or what `build` gives after it.

    Raises NotSupportedError if no engine is right.
    """
    seen: set[EngineChoice] = set()
    while True:
        choice = plan.config.choice
        try:
            known = checked(graph, expansion, handle, [choice])
        except BaseException:
            plan.close()
            raise
        if not known.fault(choice):
            return plan
        plan.close()
        if choice in seen:  # with other names of the same knobs
            known = replace(known, engines={**known.engines, choice.engine: known.fault(choice)})
        seen.add(choice)
        wanted = wanted.passing_over(known)
        plan = build(wanted)


def _verdicts(
    graph: Any, expansion: Expansion, handle: Handle, choices: Sequence[EngineChoice]
) -> list[Verdict]:
    from .judging import tried

    waiting = [Verdict(each.engine, dict(each.knobs), "probation") for each in choices]
    found: list[Verdict] = []
    for instance in (*map(graph._small, _PERIODS), graph.replaced()):
        if instance is None or not waiting:
            continue
        elements = sum(math.prod(each.dims or ()) for each in instance.tensors)
        if elements > _LARGEST:
            _logger.debug("graph %r is too large to be checked", graph.name)
            continue
        if instance.expansion(handle).form != expansion.form:  # other operands are prepared
            continue
        with ExitStack() as stack:
            verdicts = list(
                tried(instance, handle, waiting, given={}, kinds=_KINDS, loose=True, stack=stack)
            )
        found += [each for each in verdicts if each.state != "refused"]
        refused = {each.choice for each in verdicts if each.state == "refused"}
        waiting = [each for each in waiting if each.choice in refused]
    return found


def checked_proposals(
    graph: Any, expansion: Expansion, handle: Handle, modes: Sequence[str], *, every_engine: bool
) -> Kept:
    """`checked` for the first config of each engine that is proposed for a graph."""
    from ..building import proposed

    kept = kept_verdicts(expansion, handle)
    if is_absent(handle):
        return kept
    kept.heed("Graph.autotune")
    with lowered(expansion, handle) as lowering, ExitStack() as stack:
        lowering.faults = kept.heeded(lowering.faults)
        configs = proposed(lowering, handle, modes, stack, every_engine=every_engine)
        known = {engine for engine, _ in kept.families}
        first: dict[int, EngineChoice] = {}
        for config, _ in configs:
            engine = config.engine.index
            if not (engine in known or lowering.faults.fault(config.choice)):
                first.setdefault(engine, config.choice)
    return checked(graph, expansion, handle, first.values())


_unchecked: set[str] = set()


def note_unchecked(expansion: Expansion, device: Handle | DeviceProperties, plan: Any) -> None:
    """Log once for each form that its engine was never checked, and how many there are."""
    if not _logger.isEnabledFor(logging.DEBUG) or is_absent(device):
        return
    if expansion.form in _unchecked:
        return
    if family(plan.config.choice) not in kept_verdicts(expansion, device).families:
        _unchecked.add(expansion.form)
        count = len(_unchecked)
        _logger.debug(
            "%d form%s of graphs built whose engine was never checked on this machine: "
            'Graph.build(check="first"), or %s=first, tries each once',
            count,
            "" if count == 1 else "s",
            ENVIRONMENT_VARIABLE,
        )
