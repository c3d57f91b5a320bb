"""Methods of a `pygraph` that show and filter its engine configs."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..arguments import integer, items
from .c_members import note_of
from .candidates import PlanConfig
from .enums import behavior_note, cuda_graph_retention, knob_type, named, numerical_note
from .errors import translated
from .execution import overriding
from .handles import AnyHandle, as_handle
from .held_plans import Holding
from .knobs import knob, knobs_of

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ChoosingMethods"]


class ChoosingMethods(Holding):
    """Filters, counts, names, notes, knobs, workspaces."""

    def select_numeric_notes(self, notes: Sequence[numerical_note]) -> Self:
        """Take only engine configs that have all of these notes."""
        self._filters.notes(_short(numerical_note, notes), wanted=True)
        return self

    def deselect_numeric_notes(self, notes: Sequence[numerical_note]) -> Self:
        """Take no engine config that has one of these notes."""
        self._filters.notes(_short(numerical_note, notes), wanted=False)
        return self

    def select_behavior_notes(self, notes: Sequence[behavior_note]) -> Self:
        """Take only engine configs that have all of these notes."""
        self._filters.notes(_short(behavior_note, notes), wanted=True)
        return self

    def deselect_behavior_notes(self, notes: Sequence[behavior_note]) -> Self:
        """Take no engine config that has one of these notes."""
        self._filters.notes(_short(behavior_note, notes), wanted=False)
        return self

    def deselect_engines(self, engine_names: Sequence[str]) -> Self:
        """Take no engine config whose name (`get_plan_name_at_index`) has one of these in it."""
        self._filters.engines(map(str, items("engine_names", engine_names, "names of engines")))
        return self

    def deselect_workspace_greater_than(self, workspace_limit: int) -> Self:
        """Take no engine config that needs more than so many bytes of workspace."""
        self._filters.workspace_limit = integer("workspace_limit", workspace_limit)
        return self

    def get_execution_plan_count(self) -> int:
        """How many engine configs there are, barred ones too."""
        if self._held.restored is not None:
            return 1
        return 0 if self._held.plans is None else len(self._held.plans.configs)

    def get_engine_count(self) -> int:
        """How many engines there are for graphs of this pattern, usable or not."""
        return self._plans.engine_count

    def get_knobs_for_engine(self, engine_id: int) -> list[knob]:
        """An engine's knobs."""
        with translated("pygraph.get_knobs_for_engine"), self._plans.engine(engine_id) as engine:
            return knobs_of(engine)

    def get_plan_name_at_index(self, index: int) -> str:
        """The engine and knobs of one engine config: "eng11_k2=18"."""
        return self._plans.name(index)

    def get_behavior_notes(self) -> list[Any]:
        """The ``behavior_note`` of the plan that `execute` takes."""
        return _behavior(self._plan(None).config.engine)

    def get_behavior_notes_for_plan_at_index(self, index: int) -> list[Any]:
        return _behavior(self._plans.config(index).engine)

    def select_plan(self, index: int) -> Self:
        """Have `build_plans` take this engine config, and none if it does not work."""
        self._plans.pin(index)
        return self

    @property
    def plans(self) -> list[PlanConfig]:
        """The engine configs in their order, barred ones too."""
        plans = self._held.plans
        return [] if plans is None else [plans.entry(i) for i in range(len(plans.configs))]

    def backend_plan_entries(self) -> list[PlanConfig]:
        """The same as `plans`: all engines are cuDNN's."""
        return self.plans

    @property
    def selected_engine(self) -> None:
        """None: the engine is one of cuDNN's, and no kernel that a front end brings itself."""
        return None

    def get_engine_and_knobs_at_index(self, index: int) -> tuple[int, dict[knob_type, int]]:
        """One engine config, as `create_execution_plan` takes it."""
        entry = self._plans.entry(index)
        return entry.engine_id, dict(entry.knobs)

    def get_cuda_graph_retention(self) -> cuda_graph_retention:
        """How CUDA graphs keep alive what they need of this graph's plans."""
        return self._retention

    def get_workspace_size(
        self,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> int:
        """Bytes of device memory that `execute` needs beside the operands.

        The overrides are those of `execute`; cuDNN 9.23.
        """
        overrides = overriding(override_uids, override_shapes, override_strides)
        return self._workspace_size(None, handle, overrides)

    def get_workspace_size_plan_at_index(
        self,
        index: int,
        handle: AnyHandle | None = None,
        override_uids: Sequence[int] | None = None,
        override_shapes: Sequence[Sequence[int]] | None = None,
        override_strides: Sequence[Sequence[int]] | None = None,
    ) -> int:
        """`get_workspace_size` of the plan of one engine config."""
        overrides = overriding(override_uids, override_shapes, override_strides)
        return self._workspace_size(index, handle, overrides)

    def _workspace_size(self, index: int | None, handle: AnyHandle | None, overrides: Any) -> int:
        plan = self._plan(index)
        if overrides is None:
            return plan.workspace_size
        chosen = self._default_handle() if handle is None else as_handle(handle)
        with translated("pygraph.get_workspace_size"):
            return plan.workspace_size_for(chosen, overrides)

    def key(self) -> int:
        """A number for what the graph describes; equal for equal graphs. 64 bits."""
        with translated("pygraph.key"):
            text = self._graph.to_json()
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _short(cls: Any, notes: Sequence[Any]) -> set[str]:
    """Layer 3's names of notes."""
    given = items("notes", notes, "notes")
    return {named(cls, note, "notes").name.lower() for note in given}


def _behavior(engine: Any) -> list[Any]:
    notes = engine.descriptor.get("behavior_note") or ()
    return [note_of(behavior_note, note) for note in notes]
