"""Whether graphs have an engine, asked in two ways: at once, or about every engine."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ....errors import CudnnError, SymbolNotFoundError
from ...backend.engine import EngineChoice, EngineConfig
from ...backend.warden import step
from ...lower.lowering import lowered
from ...run.plan import ExecutionPlan
from ..building import PLAN_ERRORS, proposals
from ..selection import Selection
from ..warded import asked
from .examination import explain
from .explanation import EngineRow, Explanation

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.device_properties import DeviceProperties
    from ...graph import Graph
    from ...lower.expand.expansion import Expansion

__all__ = ["BUILT_BY", "Conditions", "Outcome", "Probe", "asked_at_once", "examined", "options_of"]

BUILT_BY = ("a", "fallback")
"""The modes that ``Graph.build`` asks if it is not told others."""


@dataclass(frozen=True)
class Conditions:
    """Under which graphs are asked about.

    Attributes
    ----------
    device : Handle or DeviceProperties
    modes : tuple of str
    selection : Selection, optional
    compile : bool
        As for ``Graph.explain``.
    sm_count : int, optional
    warden : bool
        Whether the warden is asked.
    """

    device: Handle | DeviceProperties
    modes: tuple[str, ...] = BUILT_BY
    selection: Selection | None = None
    compile: bool = False
    sm_count: int | None = None
    warden: bool = False


@dataclass(frozen=True)
class Outcome:
    """The engines that can carry out a graph.

    Attributes
    ----------
    engines : tuple of int
        Their indices, the best first.
    options : mapping
        Arguments with which ``Graph.build`` finds one of them, besides the device.
    explanation : Explanation, optional
        Present if every engine was asked.
    """

    engines: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    explanation: Explanation | None = None


Probe = Callable[["Graph"], Outcome | None]
"""Finds the engines for a graph; None if there are none."""


def asked_at_once(conditions: Conditions) -> Probe:
    """A probe of the first mode of heuristics that proposes a config: takes milliseconds."""

    def probe(graph: Graph) -> Outcome | None:
        here = conditions
        options: dict[str, Any] = {"selection": here.selection or Selection()}
        options |= {"sm_count": here.sm_count, "compile": here.compile}
        try:
            question = graph.expansion(here.device), here.device, here.modes
            engines = (
                asked(_proposed, *question, **options)
                if here.warden
                else _proposed(*question, **options)
            )
        except (CudnnError, SymbolNotFoundError, ValueError, TypeError):
            return None
        return Outcome(tuple(dict.fromkeys(engines))) if engines else None

    return probe


def _proposed(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    selection: Selection,
    sm_count: int | None,
    compile: bool,
) -> list[int]:
    engines: list[int] = []
    chosen = ""
    step("finalizing the operation graph")
    with lowered(expansion, device) as lowering:
        configs = proposals(
            lowering, device, modes, sm_count=sm_count, on_refusal=lambda mode, error: None
        )
        with closing(configs):  # type: ignore[type-var]
            for mode, config in configs:
                if engines and mode != chosen:
                    break
                index = config.engine.index
                if index in lowering.faults.engines or selection.refusal(config):
                    continue
                if engines or _buildable(config, device, compile=compile):
                    engines.append(index)
                    chosen = mode
    return engines


def _buildable(config: EngineConfig, device: Handle | DeviceProperties, *, compile: bool) -> bool:
    """Whether cuDNN makes a plan; of engines that would be compiled, whether it accepts them."""
    if "runtime_compilation" in config.behavior_notes and not compile:
        return True
    step(f"compiling {config.choice}", choice=config.choice)
    try:
        ExecutionPlan(config, device=device).close()
    except PLAN_ERRORS:
        return False
    return True


def examined(conditions: Conditions) -> Probe:
    """A probe by ``Graph.explain``: all engines, also those that no mode proposes."""

    def probe(graph: Graph) -> Outcome | None:
        try:
            told = explain(
                graph.expansion(conditions.device),
                conditions.device,
                conditions.modes,
                name=graph.name,
                selection=conditions.selection,
                compile=conditions.compile,
                sm_count=conditions.sm_count,
            )
        except (CudnnError, SymbolNotFoundError, ValueError, TypeError):
            return None
        if not told.usable:
            return None
        engines = dict.fromkeys(row.engine for row in told.usable)
        return Outcome(tuple(engines), options_of(told.usable), told)

    return probe


def options_of(usable: Sequence[EngineRow]) -> dict[str, Any]:
    """Arguments with which ``Graph.build`` takes the best of these configs."""
    for row in usable:
        if any(place.split()[0] in BUILT_BY for place in row.proposed_by):
            return {}
    for row in usable:
        if row.proposed_by:
            return {"heuristics": row.proposed_by[0].split()[0]}
    return {"config": EngineChoice(usable[0].engine, usable[0].knobs)}
