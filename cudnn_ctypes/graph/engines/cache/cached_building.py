"""Building through the plan cache: what was tuned first, what is stored before what is compiled."""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....errors import NotSupportedError
from ....raw.faults import heed
from ....raw.values import described
from ...backend import warden
from ...lower.faults import Faults
from ...lower.lowering import graph_faults
from ...run.scratch import Scratch, Step, Steps
from ...run.stored_plan import KernelCache
from ..building import build_plan, plan_of
from ..judging.verdict import kept_verdicts
from ..selection import Selection
from .plan_cache import CacheKeys, PlanCache, Request, as_cache, important_properties

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.device_properties import DeviceProperties
    from ...describe.node import Node
    from ...lower.expand.expansion import Expansion
    from ...run.plan import ExecutionPlan
    from ..tuning.measurements import Autotuning, Measurement

_logger = logging.getLogger(__name__)


def wanted_of(
    expansion: Expansion,
    selection: Selection | None,
    workspace_limit: int | None = None,
    device: Handle | DeviceProperties | None = None,
    *,
    by_name: bool = False,
) -> Selection:
    """The conditions on a plan itself: what the graph keeps in the workspace is taken off.

    For a `device` what ended the process there is passed over and, unless a config is chosen
    `by_name`, what a judge has found wrong.

    Raises TypeError or ValueError if `selection` is none; if the workspace is too small for what
    the graph keeps there.
    """
    if selection is not None and not isinstance(selection, Selection):
        raise TypeError(f"selection: expected a Selection, got {described(selection)}")
    wanted = (selection or Selection()).within(workspace_limit)
    if device is not None:
        known = kept_verdicts(expansion, device)
        wanted = wanted.passing_over(known.only_crashes if by_name else known)
    kept = Scratch(expansion.tensors)
    if not kept or wanted.workspace_limit is None:
        return wanted
    if kept.size > wanted.workspace_limit:
        raise ValueError(
            f"workspace_limit: {wanted.workspace_limit} bytes are too few; the operations keep "
            f"{kept.size} bytes between their kernels"
        )
    return wanted.within(wanted.workspace_limit - kept.size)


def obtained_plan(
    expansion: Expansion,
    device: Handle | DeviceProperties,
    request: Request,
    *,
    name: str,
    cache: Any = None,
    kernel_cache: KernelCache | None = None,
) -> ExecutionPlan:
    """A plan for a graph: from the cache that `cache` names, if there is one, else from cuDNN.

    Raises ValueError or TypeError if `cache` names no cache, or one that cannot be used here.
    Raises NotSupportedError if no engine can carry it out.
    """
    plans = as_cache(cache)
    begun = time.perf_counter()
    if kernel_cache is not None:
        if not isinstance(kernel_cache, KernelCache):
            raise TypeError(f"kernel_cache: expected a KernelCache, got {described(kernel_cache)}")
        if plans is not None and cache is not None:
            raise ValueError(
                "cache: a plan with a kernel_cache is not kept on disk; KernelCache.to_json keeps "
                "the kernels"
            )
        plans = None
    if plans is None or expansion.seen_twice is not None:
        plan = _built(expansion, device, request, kernel_cache=kernel_cache)
        _log(name, plan, "built", begun)
        return plan
    building = _Building(plans, expansion, device, name, dynamic=request.override_shapes)
    if request.config is None:
        return building.tuned_plan(request) or building.plan(request)
    return building.plan(replace(request, modes=()))


def scratch_of(
    expansion: Expansion, device: Handle | DeviceProperties, *, cache: Any = None
) -> Scratch:
    """The scratch tensors of a graph, with the plans that fill them.

    Raises NotSupportedError if no engine can carry one of them out.
    """
    steps: list[Step] = []
    with ExitStack() as stack:
        for prelude in expansion.preludes:
            plan = obtained_plan(
                prelude.expansion,
                device,
                Request(wanted_of(prelude.expansion, None, device=device), ("a", "fallback")),
                name=prelude.result.name,
                cache=cache,
            )
            used = _uids(prelude.expansion.nodes)
            tensors = prelude.expansion.tensors
            plan.scratch = Scratch(t for t in tensors if t.uid in used and not t.scratch)
            stack.callback(plan.close)
            steps.append(Step(plan, {uid: uid for uid in used}))
        stack.pop_all()
    theirs = {each.uid or 0 for each in expansion.tensors} - _uids(expansion.nodes)
    return Scratch(expansion.tensors, Steps(steps), theirs if steps else ())


def _uids(nodes: Iterable[Node]) -> set[int]:
    """The unique ids of the tensors that operations read and write."""
    every = [each for node in nodes for each in (node, *node.inner)]
    return {t.uid or 0 for each in every for t in (*each.operands, *each.results)}


def keep_tuning(
    plans: PlanCache,
    expansion: Expansion,
    device: Handle,
    tuned: Autotuning,
    plan: ExecutionPlan,
    *,
    selection: Selection,
) -> None:
    """Keep a result of autotuning, and the plan of the fastest config, for later builds.

    Of a program nothing is kept.
    """
    engines = [each for each in tuned.measurements if not each.pieces]
    measured = [each for each in engines if each.state == "measured"]
    if not measured:
        return
    best = min(measured, key=lambda each: each.median)
    tuned, is_best = replace(tuned, measurements=tuple(engines), best=best), best is tuned.best
    shown = {"graph": tuned.graph, "operations": expansion.operations}
    keys = CacheKeys(expansion, important_properties(device, plans))
    request = Request(selection, config=tuned.best.choice)
    plans.store_tuning(keys.tuning(request), tuned, **shown)
    if is_best:
        plans.store_plan(keys.plan(request), plan, **shown)


class _Building:
    """One graph for one GPU, and the cache."""

    def __init__(
        self,
        plans: PlanCache,
        expansion: Expansion,
        device: Handle | DeviceProperties,
        name: str,
        *,
        dynamic: bool,
    ) -> None:
        # Engines among them can be chosen by name all the same; raises for a graph that none
        # computes right.
        self._faults = graph_faults(expansion, device, dynamic=dynamic)
        heed("Graph.build", self._faults.found)
        self._plans = plans
        self._expansion = expansion
        self._device = device
        self._name = name
        self._keys = CacheKeys(expansion, important_properties(device, plans))

    def tuned_plan(self, request: Request) -> ExecutionPlan | None:
        """The plan that autotuning found to be the fastest of those that are wanted, if any."""
        for measurement in self._tuned(request):
            if not self._faults.fault(measurement.choice):
                chosen = replace(request, modes=(), config=measurement.choice)
                with suppress(NotSupportedError, ValueError):  # then the next one
                    return self.plan(chosen)
        return None

    def _tuned(self, request: Request) -> Iterator[Measurement]:
        """Configs measured under the same conditions, or under none, the fastest first."""
        for selection in dict.fromkeys((request.selection, Selection())):
            wanted = replace(request, selection=selection)
            tuned = self._plans.load_tuning(self._keys.tuning(wanted))
            if tuned is not None:
                for each in tuned.ranking:
                    if each.state == "measured" and not _unwanted(each, request.selection):
                        yield each

    def plan(self, request: Request) -> ExecutionPlan:
        """The stored plan, or one that is built and stored."""
        faults = Faults() if request.config is not None else self._faults
        key = self._keys.plan(request)
        begun = time.perf_counter()
        plan = self._plans.load_plan(key, self._device, avoided=faults.engines)
        if plan is not None:
            choice = plan.config.choice
            if faults.fault(choice) or request.selection.kept.fault(choice):
                plan.close()
                plan = None
        if plan is not None:
            _log(self._name, plan, f"loaded from the cache in {self._plans.folder}", begun)
        else:
            plan = _built(self._expansion, self._device, request, faults=self._faults)
            _log(self._name, plan, f"built and put into the cache in {self._plans.folder}", begun)
            shown = {"graph": self._name, "operations": self._expansion.operations}
            self._plans.store_plan(key, plan, **shown)
        return plan


def _built(
    expansion: Expansion, device: Handle | DeviceProperties, request: Request, **options: Any
) -> ExecutionPlan:
    """The plan that cuDNN makes for a request, asked by the warden where it is active."""
    build = plan_of if warden.active() else build_plan
    return build(
        expansion,
        device,
        request.modes,
        selection=request.selection,
        config=request.config,
        sm_count=request.sm_count,
        override_shapes=request.override_shapes,
        **options,
    )


def _log(name: str, plan: ExecutionPlan, how: str, begun: float) -> None:
    if _logger.isEnabledFor(logging.INFO):
        choice, seconds = plan.config.choice, time.perf_counter() - begun
        _logger.info("graph %r: plan of %s %s in %.3f s", name, choice, how, seconds)


def _unwanted(measurement: Measurement, selection: Selection) -> str:
    """Why a plan that was measured is not wanted, as far as its record tells; "" if it is."""
    return (
        selection.refusal_of_engine(measurement.engine)
        or selection.kept.fault(measurement.choice)
        or selection.refusal_of_notes(measurement.notes)
        or selection.refusal_of_workspace(measurement.workspace)
    )
