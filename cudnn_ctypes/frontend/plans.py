"""The plans of a `pygraph`, made of its engine configs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from .. import raw
from ..arguments import integer, integers, items
from ..errors import NotSupportedError, OwnReason
from ..graph.backend.descriptor import BackendDescriptor
from ..graph.backend.device_properties import DeviceProperties
from ..graph.backend.engine import Engine, EngineConfig, engine_count
from ..graph.describe.tensor import Tensor
from ..graph.engines.building import PLAN_ERRORS, proposed_configs
from ..graph.engines.cache.cached_building import scratch_of
from ..graph.engines.judging.verdict import kept_verdicts
from ..graph.engines.refusals import engine_refusals, refusal
from ..graph.engines.selection import Selection
from ..graph.lower.lowering import Lowering, operation_graph_attributes
from ..graph.lower.target import Target
from ..graph.run.execution import Execution, Operands
from ..graph.run.plan import ExecutionPlan
from ..graph.run.stored_plan import KernelCache
from ..graph.run.tensor_memory import Extent, extent, host_value, memory_bytes
from ..handle import Handle
from ..raw import cudnnStatus_t
from ..raw.host_blocks import warn
from ..raw.typed_memory import typed
from ..resource import Uncopied
from .c_members import note_of
from .enums import build_plan_policy, cuda_graph_retention, heur_mode, knob_type, named
from .errors import InvalidGraphError, cudnnGraphNotSupportedError

if TYPE_CHECKING:
    from ..graph.lower.expand.expansion import Expansion
    from ..graph.run.scratch import Scratch

_TOLD = 8  # refused configs whose reason is in a message


@dataclass(frozen=True)
class PlanConfig:
    """One engine config of a graph, its place there, and the heuristics that proposed it."""

    engine_id: int
    knobs: Mapping[Any, int] = field(default_factory=dict)
    cpp_index: int | None = None
    mode: heur_mode | None = None


@dataclass
class Filters:
    """Conditions on engine configs, those to come too, and parts of names that are not wanted."""

    selection: Selection = field(default_factory=Selection)
    names: tuple[str, ...] = ()


class Plans:
    """An operation graph, the engine configs that there are for it, and the plans built so far.

    The parameters are those of `pygraph`; further `attributes` are the OPERATIONGRAPH descriptor's.
    """

    def __init__(
        self,
        expansion: Expansion,
        device: Handle | DeviceProperties,
        *,
        sm_count: int | None = None,
        filters: Filters | None = None,
        cache: KernelCache | None = None,
        retention: cuda_graph_retention = cuda_graph_retention.PER_GRAPH,
        **attributes: Any,
    ) -> None:
        self.device = device
        self._sm_count = sm_count
        self.configs: list[EngineConfig] = []
        self.modes: list[heur_mode | None] = []  # which proposed each config
        self._engines: list[Engine] = []
        self._filters = filters or Filters()
        self._expansion = expansion
        self._scratch: Scratch | None = None  # of the first plan
        self._cache = cache
        self._retention = retention_attribute(retention)
        self._plans: dict[int, ExecutionPlan] = {}
        self._pinned: int | None = None
        self.candidate: int | None = None
        known = operation_graph_attributes(device)
        self._lowering = Lowering(expansion.compute_data_type, Target.of(device))
        try:
            self.operation_graph: BackendDescriptor = self._lowering.operation_graph(
                expansion.nodes, **known, **attributes
            )
        except BaseException:
            self._lowering.close()
            raise
        self._judged = kept_verdicts(expansion, device)

    # --- what may be chosen ----------------------------------------------------------------------

    def query(self, modes: Iterable[heur_mode]) -> None:
        """Append what heuristics propose.

        Raises cudnnGraphNotSupportedError if that is nothing.
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
                text = f"heuristics {mode.name}: {refusal(error)}"
                reasons.append(OwnReason.of(error, text))
                continue
            self.configs += proposed
            self.modes += [mode] * len(proposed)
            found += len(proposed)
        if not found:
            reasons = reasons or list(engine_refusals(self.operation_graph, self.device))
            raise self._refused("create_execution_plans", reasons)

    def append(self, engine_id: int, knobs: Mapping[Any, int]) -> None:
        """Append one engine with these knobs."""
        engine = self.engine(engine_id)
        self._engines.append(engine)
        self.configs.append(engine.config(short_knobs(engine, knobs)))
        self.modes.append(None)

    def engine(self, engine_id: int) -> Engine:
        return Engine(self.operation_graph, engine_id, device=self.device, sm_count=self._sm_count)

    @property
    def engine_count(self) -> int:
        return engine_count(self.operation_graph)

    # --- one config ------------------------------------------------------------------------------

    def config(self, index: int) -> EngineConfig:
        """One of the engine configs.

        Raises RuntimeError if there is no such plan.
        """
        if isinstance(index, bool) or not 0 <= integer("index", index) < len(self.configs):
            raise NoSuchPlanError(f"there is no plan {index}: there are {len(self.configs)}")
        return self.configs[index]

    def name(self, index: int) -> str:
        """Engine and knobs: "eng11_k2=18_k23=0"."""
        knobs = self._knobs(index)
        engine = self.config(index).engine.index
        return f"eng{engine}" + "".join(f"_k{int(k)}={v}" for k, v in knobs.items())

    def entry(self, index: int) -> PlanConfig:
        """Engine, knobs by ``knob_type``, and who proposed them."""
        knobs = {note_of(knob_type, key): value for key, value in self._knobs(index).items()}
        return PlanConfig(self.config(index).engine.index, knobs, index, self.modes[index])

    def _knobs(self, index: int) -> dict[Any, int]:
        choices = self.config(index).descriptor.get("knob_choices") or ()
        return {each.get("knob_type"): int(each.get("knob_value")) for each in choices}

    def unwanted(self, index: int) -> str:
        """Why a config may not be taken; "" if it may."""
        config, selection = self.config(index), self._filters.selection
        if any(part in self.name(index) for part in self._filters.names):
            return "deselected by its name"
        if self.modes[index] is None:  # the program chose it
            return selection.refusal(config)
        fault = self._lowering.faults.engines.get(config.engine.index, "")
        return fault or selection.passing_over(self._judged).refusal(config)

    def check_support(self) -> None:
        """See that one config may be taken.

        Raises cudnnGraphNotSupportedError if none may.
        """
        refusals = []
        for index in range(len(self.configs)):
            reason = self.unwanted(index)
            if not reason:
                return
            refusals.append(OwnReason(f"{self.name(index)}: {reason}"))
        raise self._refused("check_support", refusals)

    def _refused(self, where: str, reasons: Sequence[str]) -> cudnnGraphNotSupportedError:
        return cudnnGraphNotSupportedError(
            f"pygraph.{where}",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"graph": self._expansion.operations},
            messages=tuple(dict.fromkeys(reasons))[:_TOLD],
            hint="other layouts, data types or alignments may have an engine; so may parts of it",
        )

    # --- plans -----------------------------------------------------------------------------------

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
        reason = self._filters.selection.refusal_of_workspace(plan.workspace_size)
        if reason:
            plan.close()
        else:
            self._plans[index] = plan
        return reason

    def plan(self, index: int | None = None) -> ExecutionPlan:
        """The plan of one config, or that of `build`.

        Raises RuntimeError if it was not built.
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
        while self._plans:
            self._plans.popitem()[1].close()
        if self._scratch is not None:
            self._scratch.close()
        while self.configs:
            self.configs.pop().close()
        while self._engines:
            self._engines.pop().close()
        self._lowering.close()


class NoSuchPlanError(IndexError, RuntimeError):
    """There is no such plan, or it is not built. The front end raises a RuntimeError."""


_VARIABLE = "CUDNN_CUDA_GRAPH_RETENTION"
_HAS_ATTRIBUTE = 92800  # the first version with a choice; older ones keep nothing alive


def chosen_retention(retention: cuda_graph_retention | None) -> cuda_graph_retention:
    """The graph's retention, or else the environment's; PER_GRAPH by default.

    Raises ValueError if the variable is neither "per_graph" nor "none".
    """
    if retention is not None:
        return named(cuda_graph_retention, retention, "cuda_graph_retention")
    said = os.environ.get(_VARIABLE, "").strip()
    if not said:
        return cuda_graph_retention.PER_GRAPH
    members = {each.name.lower(): each for each in cuda_graph_retention}
    if said.lower() not in members:
        raise ValueError(f"{_VARIABLE}={said!r}: expected {' or '.join(members)}")
    return members[said.lower()]


def retention_attribute(chosen: cuda_graph_retention) -> str | None:
    """The attribute of an execution plan; None for cuDNN's default, and before cuDNN 9.28."""
    if chosen is cuda_graph_retention.PER_GRAPH or raw.cudnnGetVersion() < _HAS_ATTRIBUTE:
        return None
    return chosen.name.lower()


@dataclass
class knob:
    """One knob of an engine: min_value, min_value + stride, … max_value."""

    type: Any = knob_type.NOT_SET
    max_value: int | None = None
    min_value: int | None = None
    stride: int | None = None

    def __init__(
        self,
        knob_type: Any = knob_type.NOT_SET,
        max_value: int | None = None,
        min_value: int | None = None,
        stride: int | None = None,
    ) -> None:
        self.type = knob_type
        self.max_value, self.min_value, self.stride = max_value, min_value, stride


_BY_SHORT_NAME = {member.name.lower(): member for member in knob_type}


def knobs_of(engine: Engine) -> list[knob]:
    """All of an engine's; the type is a short name where the front end has none."""
    return [
        knob(_BY_SHORT_NAME.get(name.lower(), name), each.maximum, each.minimum, each.stride)
        for name, each in engine.knobs.items()
    ]


def short_knobs(engine: Engine, knobs: Mapping[Any, int]) -> dict[str, int]:
    """Chosen values by the names that layer 3 has for the knobs."""
    theirs = {name.lower(): name for name in engine.knobs}
    chosen = {}
    for key, value in knobs.items():
        name = key.name.lower() if isinstance(key, knob_type) else str(key).lower()
        chosen[theirs.get(name, name)] = value
    return chosen


class Held(Uncopied):
    """A graph's plans, and what its executions look up, apart from the graph.

    So a finalizer can close the plans; and names are found faster than in the graph's class, which
    has a ``__getattr__``.
    """

    def __init__(self) -> None:
        self.plans: Plans | None = None
        self.restored: ExecutionPlan | None = None
        self.tensors: list[Any] = []  # as they were built, or stored
        self.executions: dict[int | None, FrontExecution] = {}  # by place of the config
        self.device: Handle | DeviceProperties | None = None  # for which plans were built
        self.handle: Handle | None = None  # the graph's own
        self.arrays: dict[int, tuple[Any, Any]] = {}  # that operations were described with

    def close(self) -> None:
        self.executions.clear()
        if self.plans is not None:
            self.plans.close()
        if self.restored is not None:
            self.restored.close()
        self.plans = self.restored = None
        self.tensors = []


_LOWEST_ADDRESS = 1 << 16  # no memory lies below, on the host or on a GPU


class FrontExecution(Execution):
    """Carries out one plan with whatever a program calls its operands.

    What is wrong with them is an `InvalidGraphError`.
    """

    def __init__(self, plan: ExecutionPlan, tensors: Sequence[Tensor]) -> None:
        super().__init__(plan, FrontOperands(tensors))

    def check_workspace(self, workspace: Any) -> int:
        try:
            return super().check_workspace(workspace)
        except ValueError as error:
            raise InvalidGraphError(str(error)) from None

    def pack(self, memory: Mapping[Any, Any], workspace: Any) -> Any:
        """A finalized VARIANT_PACK, which the caller closes."""
        by_uid = self.operands.by_uid(memory)
        self.check_workspace(workspace)
        return self._plan.variant_pack(by_uid, workspace)


def overriding(uids: Any, shapes: Any, strides: Any) -> dict[int, Any] | None:
    """Other dims and strides by unique id, as layer 3 takes them; None if nothing is given."""
    given = {"override_uids": uids, "override_shapes": shapes, "override_strides": strides}
    lists = [items(name, () if each is None else each, "a list") for name, each in given.items()]
    if not any(lists):
        return None
    if len({len(each) for each in lists}) != 1:
        raise ValueError("override_uids, override_shapes and override_strides: as many of each")
    return {
        uid: (integers("override_shapes", dims), integers("override_strides", steps))
        for uid, dims, steps in zip(*lists, strict=True)
    }


class FrontOperands(Operands):
    """Keys that are None or of no operand are left out; numbers come in more forms.

    A tensor of another graph stands for the operand with its unique id: so a graph is executed that
    was deserialized, with the tensors of the one that was serialized.
    """

    error: type[ValueError] = InvalidGraphError
    advice = ""

    @staticmethod
    def extent(operand: Tensor) -> Extent:
        """Data type and size: programs of NVIDIA's front end give memory of any dims."""
        return extent(operand)._replace(strides=())

    def contradicted(self, text: str, value: Any, wanted: Extent) -> None:
        """Refuse memory that is too small; warn of another type, as NVIDIA's looks at neither."""
        says = typed(value)
        if says is None or says.nbytes < wanted.size_in_bytes:
            raise self.error(text)
        warn(f"{text}: its bytes are read as the tensor's type")

    def unknown(self, key: Any) -> int | None:
        if isinstance(key, Tensor):
            return self._places.get(key.uid)
        if isinstance(key, str) and any(each.name == key for each in self.tensors):
            raise InvalidGraphError(f"several tensors are called {key!r}: give them by uid")
        if not (key is None or isinstance(key, (int, str))):
            raise TypeError(
                f"keys of a variant pack are tensors, uids or names, got {key!r} "
                f"({type(key).__name__})"
            )
        return None

    def check_keys(self, memory: Mapping[Any, Any]) -> None:
        """Let the last one count, as a dict does."""

    def number(self, value: Any, operand: Tensor) -> Any:
        """From a number, an array of one element on the host, or the address of one."""
        if isinstance(value, int) and not isinstance(value, bool) and value >= _LOWEST_ADDRESS:
            ctype = type(host_value(0, operand))
            return ctype.from_buffer_copy(ctypes.string_at(value, memory_bytes(operand)))
        item = getattr(value, "item", None)  # NumPy and PyTorch
        return host_value(item() if callable(item) else value, operand)
