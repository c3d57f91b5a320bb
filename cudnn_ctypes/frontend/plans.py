"""The engine configs of a `pygraph` in their order, and the plans made of them."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import NotSupportedError
from ..graph.backend.device_properties import DeviceProperties
from ..graph.backend.engine import Engine, EngineConfig, engine_count
from ..graph.engines.build_failure import engine_refusals
from ..graph.engines.building import PLAN_ERRORS
from ..graph.engines.heuristics import proposed_configs
from ..graph.engines.refusals import refusal
from ..graph.lower.lowering import Lowering, operation_graph_attributes
from ..graph.lower.target import Target
from ..graph.run.kernel_cache import KernelCache
from ..graph.run.plan import ExecutionPlan
from ..graph.run.scratch import Scratch
from ..raw import cudnnStatus_t
from .enums import build_plan_policy, heur_mode
from .errors import cudnnGraphNotSupportedError
from .knobs import short_knobs

if TYPE_CHECKING:
    from ..graph.lower.expand.expansion import Expansion
    from ..handle import Handle

__all__ = ["NoSuchPlanError", "Plans"]

_TOLD = 8  # refused configs whose reason is in a message


class Plans:
    """An operation graph, what cuDNN proposes for it, and the plans built so far.

    Parameters
    ----------
    expansion : Expansion
        The graph's operations and tensors.
    device : Handle or DeviceProperties
    sm_count : int, optional
        How many multiprocessors engines should use.
    cache : KernelCache, optional
    **attributes
        Further ones of the OPERATIONGRAPH descriptor.
    """

    def __init__(
        self,
        expansion: Expansion,
        device: Handle | DeviceProperties,
        *,
        sm_count: int | None = None,
        cache: KernelCache | None = None,
        **attributes: Any,
    ) -> None:
        self.device = device
        self._tensors = expansion.tensors
        self._sm_count = sm_count
        self._cache = cache
        self.configs: list[EngineConfig] = []
        self._engines: list[Engine] = []
        self._plans: dict[int, ExecutionPlan] = {}
        self._barred: dict[int, str] = {}
        self._limit: int | None = None
        self._barred_names: tuple[str, ...] = ()
        self.candidate: int | None = None
        self._what = expansion.operations
        known = operation_graph_attributes(device)
        self._lowering = Lowering(expansion.compute_data_type, Target.of(device))
        try:
            self.operation_graph = self._lowering.operation_graph(
                expansion.nodes, **known, **attributes
            )
        except BaseException:
            self._lowering.close()
            raise
        self._faulty = self._lowering.faulty

    # --- what may be chosen ----------------------------------------------------------------------

    def query(self, modes: Iterable[heur_mode]) -> None:
        """Append what heuristics propose.

        Raises
        ------
        cudnnGraphNotSupportedError
            If that is nothing.
        """
        reasons: list[str] = []
        found = 0
        for mode in modes:
            if mode is heur_mode.OPENSOURCE:
                reasons.append("heuristics OPENSOURCE: there are no such kernels here")
                continue
            try:
                proposed = proposed_configs(
                    self._lowering,
                    device=self.device,
                    mode=mode.name.lower(),
                    sm_count=self._sm_count,
                )
            except NotSupportedError as error:
                reasons.append(f"heuristics {mode.name}: {refusal(error)}")
                continue
            for index, config in enumerate(proposed, len(self.configs)):
                fault = self._faulty.get(config.engine.index) if self._faulty else None
                if fault is not None:
                    self._barred[index] = fault
            self.configs += proposed
            found += len(proposed)
        if not found:
            reasons = reasons or list(engine_refusals(self.operation_graph, self.device))
            raise self._refused("create_execution_plans", reasons)

    def append(self, engine_id: int, knobs: Mapping[Any, int]) -> None:
        """Append one engine with these knobs."""
        engine = self.engine(engine_id)
        self._engines.append(engine)
        self.configs.append(engine.config(short_knobs(engine, knobs)))

    def engine(self, engine_id: int) -> Engine:
        return Engine(self.operation_graph, engine_id, device=self.device, sm_count=self._sm_count)

    @property
    def engine_count(self) -> int:
        return engine_count(self.operation_graph)

    def bar(self, notes: Collection[str], *, having: bool) -> None:
        """Take no config that has one of `notes`, or has none of them."""
        for index in range(len(self.configs)):
            present = bool(set(notes) & self.notes(index))
            if present == having:
                listed = ", ".join(sorted(notes))
                self._barred[index] = f"{'has' if having else 'lacks'} {listed}"

    def bar_engines(self, names: Iterable[str]) -> None:
        self._barred_names = tuple(names)

    def bar_workspace(self, limit: int) -> None:
        self._limit = limit

    # --- one config ------------------------------------------------------------------------------

    def config(self, index: int) -> EngineConfig:
        """One of the engine configs.

        Raises
        ------
        RuntimeError
            If there is no such plan.
        """
        if isinstance(index, bool) or not 0 <= index.__index__() < len(self.configs):
            raise NoSuchPlanError(f"there is no plan {index}: there are {len(self.configs)}")
        return self.configs[index]

    def notes(self, index: int) -> frozenset[str]:
        """All notes of a config by short name."""
        engine = self.config(index).engine
        return engine.numerical_notes | engine.behavior_notes

    def name(self, index: int) -> str:
        """Engine and knobs: "eng11_k2=18_k23=0"."""
        config = self.config(index)
        choices = config.descriptor.get("knob_choices") or ()
        knobs = {int(each.get("knob_type")): each.get("knob_value") for each in choices}
        return f"eng{config.engine.index}" + "".join(f"_k{k}={v}" for k, v in knobs.items())

    def unwanted(self, index: int) -> str:
        """Why a config may not be taken; "" if it may."""
        if index in self._barred:
            return self._barred[index]
        name = self.name(index)
        if any(part in name for part in self._barred_names):
            return "deselected by its name"
        if self._limit is not None:
            needed = self.config(index).workspace_size
            if needed is not None and needed > self._limit:
                return f"needs a workspace of {needed} bytes"
        return ""

    # --- plans -----------------------------------------------------------------------------------

    def check_support(self) -> None:
        """See that one config may be taken.

        Raises
        ------
        cudnnGraphNotSupportedError
            If none may.
        """
        refusals = []
        for index in range(len(self.configs)):
            reason = self.unwanted(index)
            if not reason:
                return
            refusals.append(f"{self.name(index)}: {reason}")
        raise self._refused("check_support", refusals)

    def build(self, policy: build_plan_policy) -> None:
        """Compile the first config that works, or all of them."""
        if policy is build_plan_policy.HEURISTICS_CHOICE and self.candidate is not None:
            return
        refusals = []
        for index in range(len(self.configs)):
            reason = self._build(index)
            if reason:
                refusals.append(f"{self.name(index)}: {reason}")
                continue
            if self.candidate is None:
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
        if index in self._plans:
            return ""
        reason = self.unwanted(index)
        if reason:
            return reason
        cache = None if self._cache is None else self._cache.begin(self.operation_graph)
        try:
            plan = ExecutionPlan(self.configs[index], device=self.device, kernel_cache=cache)
        except PLAN_ERRORS as error:
            return str(refusal(error))
        plan.scratch = Scratch(self._tensors)
        if self._limit is not None and plan.workspace_size > self._limit:
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

    def _refused(self, where: str, reasons: Sequence[str]) -> cudnnGraphNotSupportedError:
        return cudnnGraphNotSupportedError(
            f"pygraph.{where}",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"graph": self._what},
            messages=tuple(dict.fromkeys(reasons))[:_TOLD],
            hint="other layouts, data types or alignments may have an engine; so may parts of it",
        )

    def close(self) -> None:
        """Destroy plans, configs and operation graph, in this order."""
        for plan in self._plans.values():
            plan.close()
        self._plans.clear()
        while self.configs:
            self.configs.pop().close()
        while self._engines:
            self._engines.pop().close()
        self._lowering.close()


class NoSuchPlanError(IndexError, RuntimeError):
    """There is no such plan, or it is not built. The front end raises a RuntimeError."""
