"""The plans of a `pygraph`, made of its engine configs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..graph.backend.device_properties import DeviceProperties
from ..graph.engines.building import PLAN_ERRORS
from ..graph.engines.cache.cached_building import scratch_of
from ..graph.engines.refusals import refusal
from ..graph.run.kernel_cache import KernelCache
from ..graph.run.plan import ExecutionPlan
from .candidates import Candidates, NoSuchPlanError
from .enums import build_plan_policy, cuda_graph_retention
from .retention import retention_attribute

if TYPE_CHECKING:
    from ..graph.lower.expand.expansion import Expansion
    from ..graph.run.scratch import Scratch
    from ..handle import Handle

__all__ = ["Plans"]


class Plans(Candidates):
    """Engine configs, and the plans built of them so far.

    Parameters
    ----------
    expansion, device
        As for `Candidates`.
    cache : KernelCache, optional
    retention : cuda_graph_retention
        Whether CUDA graphs keep alive what they need of the plans.
    **options
        Those of `Candidates`.
    """

    def __init__(
        self,
        expansion: Expansion,
        device: Handle | DeviceProperties,
        *,
        cache: KernelCache | None = None,
        retention: cuda_graph_retention = cuda_graph_retention.PER_GRAPH,
        **options: Any,
    ) -> None:
        super().__init__(expansion, device, **options)
        self._expansion = expansion
        self._scratch: Scratch | None = None  # of the first plan
        self._cache = cache
        self._retention = retention_attribute(retention)
        self._plans: dict[int, ExecutionPlan] = {}
        self._pinned: int | None = None
        self.candidate: int | None = None

    def take(self, engine_id: int, knobs: Mapping[Any, int]) -> None:
        """Append one engine with these knobs, and make its plan that of `plan`."""
        self.append(engine_id, knobs)
        self.build_at(len(self.configs) - 1)

    def pin(self, index: int) -> None:
        """Have `build` take this config or none."""
        self.config(index)
        self._pinned, self.candidate = index, None

    def build(self, policy: build_plan_policy) -> None:
        """Compile the first config that works, or all of them."""
        if policy is build_plan_policy.HEURISTICS_CHOICE and self.candidate is not None:
            return
        refusals = []
        every = policy is build_plan_policy.ALL or self._pinned is None
        for index in range(len(self.configs)) if every else (self._pinned,):
            assert index is not None
            reason = self._build(index)
            if reason:
                refusals.append(f"{self.name(index)}: {reason}")
                continue
            if self.candidate is None or index == self._pinned:
                self.candidate = index
            if policy is build_plan_policy.HEURISTICS_CHOICE:
                return
        if self.candidate is None:
            raise self._refused("build_plans", refusals)

    def build_at(self, index: int) -> None:
        """Compile one config, which `plan` then gives."""
        self.config(index)
        reason = self._build(index)
        if reason:
            raise self._refused("build_plan_at_index", [f"{self.name(index)}: {reason}"])
        self.candidate = index

    def _build(self, index: int) -> str:
        """Why there is no plan; "" if there is one now."""
        reason = self.unwanted(index)
        if reason or index in self._plans:
            return reason
        cache = None if self._cache is None else self._cache.begin(self.operation_graph)
        try:
            plan = ExecutionPlan(
                self.configs[index],
                device=self.device,
                kernel_cache=cache,
                cuda_graph_retention=self._retention,
            )
        except PLAN_ERRORS as error:
            return str(refusal(error))
        if self._scratch is None:
            self._scratch = scratch_of(self._expansion, self.device)
        plan.scratch = self._scratch.borrowed()
        limit = self._filters.workspace_limit
        if limit is not None and plan.workspace_size > limit:
            plan.close()
            return f"needs a workspace of {plan.workspace_size} bytes"
        self._plans[index] = plan
        return ""

    def plan(self, index: int | None = None) -> ExecutionPlan:
        """The plan of one config, or that of `build`.

        Raises
        ------
        RuntimeError
            If it was not built.
        """
        chosen = index
        if index is not None:
            self.config(index)
        elif (chosen := self.candidate) is None:
            raise NoSuchPlanError("no plan is built: call build_plans()")
        if chosen not in self._plans:
            raise NoSuchPlanError(f"plan {chosen} is not built: call build_plan_at_index()")
        return self._plans[chosen]

    def close(self) -> None:
        """Destroy plans, configs and operation graph, in this order."""
        for plan in self._plans.values():
            plan.close()
        self._plans.clear()
        if self._scratch is not None:
            self._scratch.close()
        super().close()
