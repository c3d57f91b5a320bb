"""The steps by which a `pygraph` is built."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..graph.lower.target import Target
from .enums import build_plan_policy, heur_mode, named
from .errors import translated
from .held_plans import Holding
from .plans import Plans

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
            expansion = self._graph.expanded(self._nodes, Target.of(device))
            self._held.tensors = list(expansion.tensors)
            self._held.plans = Plans(
                expansion,
                device,
                sm_count=self._sm_count,
                cache=self._cache,
                **self._attributes,
            )
            self._held.device = device

    def create_execution_plans(self, modes: Sequence[heur_mode]) -> None:
        """Ask heuristics, in this order, for engine configs.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they propose none.
        """
        with translated("pygraph.create_execution_plans"):
            self._plans.query([named(heur_mode, mode, "modes") for mode in modes])

    def create_execution_plan(self, engine_id: int, knobs: Mapping[Any, int]) -> None:
        """Append one engine, its knobs by ``knob_type``, to the engine configs."""
        with translated("pygraph.create_execution_plan"):
            self._plans.append(engine_id, knobs)

    def check_support(self) -> None:
        """See that the filters leave an engine config.

        Raises
        ------
        cudnnGraphNotSupportedError
            If they leave none; the message has the reasons.
        """
        with translated("pygraph.check_support"):
            self._plans.check_support()

    def build_plans(self, policy: build_plan_policy = build_plan_policy.HEURISTICS_CHOICE) -> None:
        """Compile the first engine config that works, or all of them."""
        with translated("pygraph.build_plans"):
            self._plans.build(named(build_plan_policy, policy, "policy"))

    def build_plan_at_index(self, index: int) -> None:
        """Compile one engine config; `execute` takes it from now on."""
        with translated("pygraph.build_plan_at_index"):
            self._plans.build_at(index)

    def build(self, modes: Sequence[heur_mode] = _DEFAULT_MODES) -> None:
        """All steps from `validate` to `build_plans`."""
        self.validate()
        self.build_operation_graph()
        self.create_execution_plans(modes)
        self.check_support()
        self.build_plans()
