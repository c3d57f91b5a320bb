"""The steps by which a `pygraph` is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import items
from ..errors import FaultWarning
from ..graph.lower.target import Target
from ..raw.host_blocks import warn
from .enums import build_plan_policy, heur_mode, named
from .errors import translated
from .held_plans import Holding
from .plans import Plans

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["BuildingMethods"]

_DEFAULT_MODES = (heur_mode.A, heur_mode.FALLBACK)


class BuildingMethods(Holding):
    """From a description to compiled plans."""

    def validate(self) -> None:
        """Fill in what is missing in all tensors, and check the graph.

        Raises
        ------
        InvalidGraphError
            A ValueError and a RuntimeError; it names the operation and the tensor.
        """
        with translated("pygraph.validate"):
            self._nodes = self._graph.validate()

    def build_operation_graph(self) -> None:
        """Make cuDNN's descriptors of the graph."""
        if self._nodes is None:
            self.validate()
        assert self._nodes is not None
        with translated("pygraph.build_operation_graph"):
            device = self._device
            self._held.close()
            fixed = self._cache is None and not any(self._attributes.values())
            expansion = self._graph._expanded(self._nodes, Target.of(device), fixed=fixed)
            for prelude in expansion.preludes:
                warn(f"NVIDIA's front end would give wrong numbers here: {prelude}", FaultWarning)
            self._held.tensors = list(expansion.tensors)
            self._held.plans = Plans(
                expansion,
                device,
                sm_count=self._sm_count,
                cache=self._cache,
                retention=self._retention,
                filters=self._filters,
                **self._attributes,
            )
            self._held.device = device

    def create_execution_plans(self, heuristics: Sequence[heur_mode] | None = None) -> None:
        """Ask heuristics, in this order, for engine configs; by default A and FALLBACK.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they propose none.
        """
        modes = _DEFAULT_MODES if heuristics is None else items("heuristics", heuristics, "modes")
        if self._held.plans is None:
            self.build_operation_graph()
        with translated("pygraph.create_execution_plans"):
            self._plans.query([named(heur_mode, mode, "heuristics") for mode in modes])

    def create_execution_plan(self, engine_id: int, knobs: Mapping[Any, int] | None = None) -> Self:
        """Append one engine, its knobs by ``knob_type``, to the engine configs."""
        if self._held.plans is None:
            self.build_operation_graph()
        with translated("pygraph.create_execution_plan"):
            self._plans.append(engine_id, {} if knobs is None else knobs)
        return self

    def check_support(self) -> None:
        """See that the filters leave an engine config.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they leave none; the message has the reasons.
        """
        if self._held.plans is None:
            self.create_execution_plans()
        with translated("pygraph.check_support"):
            self._plans.check_support()

    def build_plans(
        self,
        policy: build_plan_policy = build_plan_policy.HEURISTICS_CHOICE,
        *,
        ctx: Any = None,
    ) -> None:
        """Compile the first engine config that works, or all of them.

        `ctx` is for NVIDIA's own kernels, and changes nothing.
        """
        if self._held.plans is None or not self._plans.configs:
            self.create_execution_plans()
        with translated("pygraph.build_plans"):
            self._plans.build(named(build_plan_policy, policy, "policy"))

    def build_plan_at_index(self, index: int) -> Self:
        """Compile one engine config; `execute` takes it from now on."""
        with translated("pygraph.build_plan_at_index"):
            self._plans.build_at(index)
        return self

    def build(self, heuristics: Sequence[heur_mode] | None = None, ctx: Any = None) -> None:
        """All steps from `validate` to `build_plans`. `ctx` is for NVIDIA's own kernels."""
        self.validate()
        self.build_operation_graph()
        self.create_execution_plans(heuristics)
        self.check_support()
        self.build_plans()

    def _build_rest(self) -> None:
        """The steps of `build` that were not taken yet, as `execute` needs them."""
        if self._held.plans is None or not self._plans.configs:
            self.create_execution_plans()
        self.check_support()
        self.build_plans()
