"""The engine configs of a `pygraph`, in their order."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ..arguments import integer
from ..errors import NotSupportedError, OwnReason
from ..graph.backend.descriptor import BackendDescriptor
from ..graph.backend.device_properties import DeviceProperties
from ..graph.backend.engine import Engine, EngineConfig, engine_count
from ..graph.engines.build_failure import engine_refusals
from ..graph.engines.heuristics import proposed_configs
from ..graph.engines.judging.kept import NOTHING, kept_verdicts
from ..graph.engines.refusals import refusal
from ..graph.lower.lowering import Lowering, operation_graph_attributes
from ..graph.lower.target import Target
from ..raw import cudnnStatus_t
from .c_members import note_of
from .enums import heur_mode, knob_type
from .errors import cudnnGraphNotSupportedError
from .filters import Filters
from .knobs import short_knobs

if TYPE_CHECKING:
    from ..graph.lower.expand.expansion import Expansion
    from ..handle import Handle

__all__ = ["Candidates", "NoSuchPlanError", "PlanConfig"]

_TOLD = 8  # refused configs whose reason is in a message


@dataclass(frozen=True)
class PlanConfig:
    """One engine config of a graph.

    Attributes
    ----------
    engine_id : int
    knobs : dict of knob_type to int
    cpp_index : int
        Its place in the list of the graph.
    mode : heur_mode, optional
        Which heuristics proposed it; None if the program did.
    """

    engine_id: int
    knobs: Mapping[Any, int] = field(default_factory=dict)
    cpp_index: int | None = None
    mode: heur_mode | None = None


class Candidates:
    """An operation graph, and what cuDNN proposes for it.

    Parameters
    ----------
    expansion : Expansion
        The graph's operations and tensors.
    device : Handle or DeviceProperties
    sm_count : int, optional
        How many multiprocessors engines should use.
    filters : Filters, optional
        What the program does not want.
    **attributes
        Further ones of the OPERATIONGRAPH descriptor.
    """

    def __init__(
        self,
        expansion: Expansion,
        device: Handle | DeviceProperties,
        *,
        sm_count: int | None = None,
        filters: Filters | None = None,
        **attributes: Any,
    ) -> None:
        self.device = device
        self._sm_count = sm_count
        self.configs: list[EngineConfig] = []
        self.modes: list[heur_mode | None] = []  # which proposed each config
        self._engines: list[Engine] = []
        self._filters = filters or Filters()
        self._faults: dict[int, str] = {}
        self._what = expansion.operations
        known = operation_graph_attributes(device)
        self._lowering = Lowering(expansion.compute_data_type, Target.of(device))
        try:
            self.operation_graph: BackendDescriptor = self._lowering.operation_graph(
                expansion.nodes, **known, **attributes
            )
        except BaseException:
            self._lowering.close()
            raise
        self._faulty = self._lowering.faults.engines
        self._judged = kept_verdicts(expansion, device)

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
                text = f"heuristics {mode.name}: {refusal(error)}"
                reasons.append(OwnReason.of(error, text))
                continue
            for index, config in enumerate(proposed, len(self.configs)):
                fault = self._faulty.get(config.engine.index) if self._faulty else ""
                if not fault and self._judged is not NOTHING:
                    fault = self._judged.fault(config.choice)
                if fault:
                    self._faults[index] = fault
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

        Raises
        ------
        RuntimeError
            If there is no such plan.
        """
        if isinstance(index, bool) or not 0 <= integer("index", index) < len(self.configs):
            raise NoSuchPlanError(f"there is no plan {index}: there are {len(self.configs)}")
        return self.configs[index]

    def notes(self, index: int) -> frozenset[str]:
        """All notes of a config by short name."""
        engine = self.config(index).engine
        return engine.numerical_notes | engine.behavior_notes

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
        if index in self._faults:
            return self._faults[index]
        reason = self._filters.reason(self.name(index), self.notes(index))
        limit = self._filters.workspace_limit
        if not reason and limit is not None:
            needed = self.config(index).workspace_size
            if needed is not None and needed > limit:
                return f"needs a workspace of {needed} bytes"
        return reason

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
            refusals.append(OwnReason(f"{self.name(index)}: {reason}"))
        raise self._refused("check_support", refusals)

    def _refused(self, where: str, reasons: Sequence[str]) -> cudnnGraphNotSupportedError:
        return cudnnGraphNotSupportedError(
            f"pygraph.{where}",
            cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
            arguments={"graph": self._what},
            messages=tuple(dict.fromkeys(reasons))[:_TOLD],
            hint="other layouts, data types or alignments may have an engine; so may parts of it",
        )

    def close(self) -> None:
        """Destroy configs and operation graph, in this order."""
        while self.configs:
            self.configs.pop().close()
        while self._engines:
            self._engines.pop().close()
        self._lowering.close()


class NoSuchPlanError(IndexError, RuntimeError):
    """There is no such plan, or it is not built. The front end raises a RuntimeError."""
