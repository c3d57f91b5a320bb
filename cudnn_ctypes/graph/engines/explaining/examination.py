"""Every engine config for a graph: what it is and needs, whether it works and, if not, why."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, field, replace
from itertools import islice
from typing import TYPE_CHECKING, Any

from ....errors import BadParamError, CrashError, CudnnError, NotSupportedError, SymbolNotFoundError
from ....raw.library import load, version_text
from ...backend import warden
from ...backend.device_properties import DeviceProperties, is_absent
from ...backend.engine import Engine, EngineChoice, EngineConfig, default_configs, engine_count
from ...backend.warden import step
from ...lower.faults import Faults
from ...lower.lowering import graph_faults, lowered
from ...run.plan import ExecutionPlan
from ...run.program import Program
from ..building import PLAN_ERRORS, ReferencePlan, asked, proposals, proposed
from ..judging.verdict import kept_verdicts
from ..refusals import Refusal, refusal
from ..selection import Selection
from .explanation import EngineRow, Explanation

if TYPE_CHECKING:
    from ....evidence.pictures.diagram import Region
    from ....handle import Handle
    from ...backend.descriptor import BackendDescriptor
    from ...lower.expand.expansion import Expansion


def explain(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    name: str = "graph",
    selection: Selection | None = None,
    compile: bool = False,
    noted: Callable[[str, int], object] = warden.tell,
) -> Explanation:
    """Carry out `Graph.explain` for an expanded graph, in the warden if that is active.

    What only a GPU that is here can tell is asked here, after the warden has survived it. `noted`
    is called after each config and engine with its name and their total number.
    """
    selection = selection or Selection()
    told: dict[str, Any] = {
        "graph": name,
        "operations": expansion.operations,
        "device": (device if isinstance(device, DeviceProperties) else device.device).name,
        "cudnn": load().version_text,
        "faults": {each.fault.name: each.told for each in graph_faults(expansion, device).found},
        "beforehand": tuple(map(str, expansion.preludes)),
    }
    options: dict[str, Any] = {"name": name, "compile": compile}
    if warden.active():
        try:
            selection.kept.heed("Graph.explain")
            warded = asked(
                explain, expansion, device, modes, selection=selection, noted=noted, **options
            )
        except CrashError as error:
            return Explanation(**told, refusal=str(refusal(error)))
        if is_absent(device):
            return replace(warded, device=told["device"])
        selection = selection.passing_over(kept_verdicts(expansion, device))
    with ExitStack() as stack:
        try:
            selection.kept.heed("Graph.explain")
            warden.step("finalizing the operation graph")
            lowering = stack.enter_context(lowered(expansion, device))
        except (NotSupportedError, BadParamError) as error:
            return Explanation(**told, refusal=str(refusal(error)))
        lowering.faults = selection.kept.heeded(lowering.faults)
        graph, count = lowering.graph, engine_count(lowering.graph)
        examiner = _Examiner(graph, device, selection, compile, lowering.faults)
        refused_modes: dict[str, str] = {}
        waiting = proposed(  # asking is quick, compiling is not
            lowering,
            device,
            modes,
            stack,
            on_refusal=lambda mode, error: refused_modes.update({mode: str(refusal(error))}),
        )
        found: dict[EngineChoice, EngineRow] = {}
        total = len(waiting) + count
        for config, place in waiting:
            choice = config.choice
            if choice in found:
                row = found[choice]
                found[choice] = replace(row, proposed_by=(*row.proposed_by, place))
            else:
                found[choice] = examiner.of_config(config, (place,))
            noted(str(choice), total)
        rows = list(found.values())
        known = {row.engine for row in rows}
        others: list[EngineRow] = []
        for index in range(count):
            if index not in known:
                others += examiner.of_engine(index)
            noted(f"engine {index}", total)
        order = ("works", "accepted", "undecided", "excluded", "refused")
        rows += sorted(others, key=lambda row: order.index(row.state))
    return Explanation(
        **told,
        rows=tuple(rows),
        engine_count=count,
        proposed={
            mode: sum(place.split()[0] == mode for _, place in waiting)
            for mode in dict.fromkeys(modes)
            if mode not in refused_modes
        },
        refused_modes=refused_modes,
    )


@dataclass
class _Examiner:
    """Makes the rows of one operation graph."""

    graph: BackendDescriptor
    device: Handle | DeviceProperties
    selection: Selection
    compile: bool
    faults: Faults
    facts: dict[int, dict[str, Any]] = field(default_factory=dict)

    def of_config(self, config: EngineConfig, proposed_by: tuple[str, ...]) -> EngineRow:
        engine = config.engine
        row = EngineRow(
            engine.index,
            "accepted",
            proposed_by,
            knobs=config.knobs,
            workspace=config.workspace_size,
            shared_memory=config.shared_memory,
            **self._of_engine(engine),
        )
        unwanted = self.faults.fault(config.choice) or self.selection.refusal(config)
        if unwanted:
            return replace(row, state="excluded", reason=unwanted)
        if row.kind == "runtime fusion" and not self.compile:
            return row
        warden.step(f"compiling {config.choice}", choice=config.choice)
        try:
            with ExecutionPlan(config, device=self.device) as plan:
                return replace(row, state="works", workspace=plan.workspace_size)
        except CudnnError as error:
            return replace(row, **_refused("plan", refusal(error)))

    def of_engine(self, index: int) -> list[EngineRow]:
        """Rows of an engine that heuristics do not propose; cuDNN chooses its knobs."""
        unwanted = self.selection.refusal_of_engine(index)
        if unwanted:
            return [EngineRow(index, "excluded", reason=unwanted)]
        row, at = EngineRow(index, "refused"), "engine"
        warden.step(f"asking engine {index}", choice=EngineChoice(index))
        try:
            with Engine(self.graph, index, device=self.device) as engine:
                row, at = replace(row, **self._of_engine(engine)), "config"
                with ExitStack() as stack:
                    configs = [stack.enter_context(each) for each in default_configs(engine)]
                    return [self.of_config(config, ()) for config in configs]
        except CudnnError as error:
            return [replace(row, **_refused(at, refusal(error)))]
        except SymbolNotFoundError as error:
            return [replace(row, **_refused(at, Refusal("", str(error))))]

    def _of_engine(self, engine: Engine) -> dict[str, Any]:
        index = engine.index
        if index not in self.facts:
            notes, behavior = engine.numerical_notes, engine.behavior_notes
            self.facts[index] = {
                "kind": engine_kind(behavior),
                "knob_ranges": engine.knobs,
                "numerical_notes": tuple(sorted(notes)),
                "behavior_notes": tuple(sorted(behavior)),
            }
        return self.facts[index]


def engine_kind(notes: frozenset[str]) -> str:
    """ "runtime fusion", "cuBLASLt" or "precompiled", by an engine's behavior notes."""
    if "runtime_compilation" in notes:
        return "runtime fusion"
    return "cuBLASLt" if "cublaslt_dependency" in notes else "precompiled"


def _refused(at: str, why: Refusal) -> dict[str, Any]:
    return {
        "state": "undecided" if why.needs_gpu else "refused",
        "refused_at": at,
        "status": why.status,
        "reason": why.reason,
        "messages": why.messages,
    }


BUILT_BY = ("a", "fallback")
"""The modes that ``Graph.build`` asks if it is not told others."""


@dataclass(frozen=True)
class Conditions:
    """Conditions under which graphs are asked about: arguments of ``Graph.explain``."""

    device: Handle | DeviceProperties
    modes: tuple[str, ...] = BUILT_BY
    selection: Selection | None = None
    compile: bool = False
    warden: bool = False


@dataclass(frozen=True)
class Outcome:
    """The engines that can carry out a graph, the best first.

    `options` are the arguments with which ``Graph.build`` finds one of them, besides the device;
    the explanation is there if every engine was asked.
    """

    engines: tuple[int, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    explanation: Explanation | None = None


Probe = Callable[[Any], Outcome | None]
"""Finds the engines for a Graph; None if there are none."""


def proposed_engines(expansion: Expansion, here: Conditions) -> tuple[list[int], str]:
    """The engines of the first mode of heuristics that proposes one; why there are none.

    Nothing is compiled unless the conditions say so: it takes milliseconds.
    """
    question: Any = expansion, here.device, here.modes
    options: dict[str, Any] = {"selection": here.selection or Selection()}
    options |= {"compile": here.compile}
    return (
        asked(_proposed, *question, **options) if here.warden else _proposed(*question, **options)
    )


def asked_at_once(conditions: Conditions) -> Probe:
    """A probe of the first mode of heuristics that proposes a config: takes milliseconds."""

    def probe(graph: Any) -> Outcome | None:
        try:
            engines, _ = proposed_engines(graph.expansion(conditions.device), conditions)
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
    compile: bool,
) -> tuple[list[int], str]:
    engines: list[int] = []
    chosen = ""
    reasons: list[str] = []
    step("finalizing the operation graph")
    with lowered(expansion, device) as lowering:

        def refused(mode: str, error: NotSupportedError) -> None:
            reasons.append(f"heuristics {mode}: {refusal(error)}")

        configs = proposals(lowering, device, modes, on_refusal=refused)
        with closing(configs):  # type: ignore[type-var]
            for mode, config in configs:
                if engines and mode != chosen:
                    break
                index = config.engine.index
                if why := lowering.faults.fault(config.choice) or selection.refusal(config):
                    reasons.append(why)
                    continue
                if not engines and (why := _unbuildable(config, device, compile=compile)):
                    reasons.append(f"engine {index}: {why}")
                    continue
                engines.append(index)
                chosen = mode
    return engines, "" if engines else "; ".join(dict.fromkeys(reasons)) or "none is proposed"


def _unbuildable(config: EngineConfig, device: Handle | DeviceProperties, *, compile: bool) -> str:
    """Why cuDNN makes no plan; of engines that would be compiled, it is enough to be accepted."""
    if "runtime_compilation" in config.behavior_notes and not compile:
        return ""
    step(f"compiling {config.choice}", choice=config.choice)
    try:
        ExecutionPlan(config, device=device).close()
    except PLAN_ERRORS as error:
        return str(refusal(error))
    return ""


def examined(conditions: Conditions) -> Probe:
    """A probe by ``Graph.explain``: all engines, also those that no mode proposes."""

    def probe(graph: Any) -> Outcome | None:
        try:
            told = explain(
                graph.expansion(conditions.device),
                conditions.device,
                conditions.modes,
                name=graph.name,
                selection=conditions.selection,
                compile=conditions.compile,
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


_NAMED = 3  # kernels
_PLANS = 8  # of a program


def plan_region(plan: ExecutionPlan) -> Region:
    """The region around all operations: one engine carries them out together, or a program.

    Of a program it has the operations of each plan, and why the next is another. Kernels are named
    of engines that compile them; others do not tell theirs.
    """
    from ....evidence.pictures.diagram import Region

    if isinstance(plan, ReferencePlan):
        return Region("carried out operation by operation, without an engine")
    if isinstance(plan, Program):
        facts = []
        cuts = plan.cuts or [("plan", "")] * len(plan.steps)
        pairs = zip(plan.steps, cuts, strict=True)
        for n, (each, (operations, why)) in enumerate(islice(pairs, _PLANS), 1):
            facts.append(f"{n}: {operations}: {', '.join(map(str, each.plan.choices))}")
            facts += [f"cut: {why}"] if why else []
        if len(plan.steps) > _PLANS:
            facts.append(f"and {len(plan.steps) - _PLANS} more plans")
        facts.append(f"workspace {plan.workspace_size:,} bytes")
        return Region(f"program of {len(plan.steps)} plans", tuple(facts))
    choice, told = plan.config.choice, _told(plan)
    knobs = " ".join(f"{name}={value}" for name, value in choice.knobs.items())
    built_for = [f"workspace {plan.workspace_size:,} bytes", *told.pop("built_for", ())]
    facts = [f"knobs: {knobs}" if knobs else "", *told.pop("kernels", ()), ", ".join(built_for)]
    title = f"engine {choice.engine} ({engine_kind(plan.behavior_notes)})"
    return Region(title, tuple(filter(None, facts)))


def _told(plan: ExecutionPlan) -> dict[str, list[str]]:
    """Facts from the plan's JSON text; none before cuDNN 9.4, which writes no such text."""
    try:
        stored: dict[str, Any] = json.loads(plan.descriptor.get("json_representation"))
    except (CudnnError, SymbolNotFoundError, ValueError):
        return {}
    built_for = []
    if name := stored.get("GPUProfile", {}).get("deviceName"):
        built_for.append(str(name))
    if version := stored.get("cudnnVersion"):
        built_for.append(f"cuDNN {version_text(version)}")
    kernels = stored.get("engine", {}).get("payload", {}).get("kernels", [])
    names = [str(kernel.get("kernelName", "")) for kernel in kernels]
    lines = [f"kernel {name}" for name in names[:_NAMED]]
    if len(names) > _NAMED:
        lines.append(f"and {len(names) - _NAMED} more kernels")
    return {"built_for": built_for, "kernels": lines}
