"""What a `pygraph` tells of its engine configs, and how they are filtered."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from .enums import behavior_note, named, note_of, numerical_note
from .errors import translated
from .held_plans import Holding
from .knobs import knob, knobs_of

__all__ = ["ChoosingMethods"]


class ChoosingMethods(Holding):
    """Filters, counts, names, notes, knobs, workspaces."""

    def select_numeric_notes(self, notes: Sequence[numerical_note]) -> None:
        """Take only engine configs that have one of these notes."""
        self._plans.bar(_short(numerical_note, notes), having=False)

    def deselect_numeric_notes(self, notes: Sequence[numerical_note]) -> None:
        """Take no engine config that has one of these notes."""
        self._plans.bar(_short(numerical_note, notes), having=True)

    def select_behavior_notes(self, notes: Sequence[behavior_note]) -> None:
        """Take only engine configs that have one of these notes."""
        self._plans.bar(_short(behavior_note, notes), having=False)

    def deselect_behavior_notes(self, notes: Sequence[behavior_note]) -> None:
        """Take no engine config that has one of these notes."""
        self._plans.bar(_short(behavior_note, notes), having=True)

    def deselect_engines(self, names: Sequence[str]) -> None:
        """Take no engine config whose name (`get_plan_name_at_index`) has one of these in it."""
        self._plans.bar_engines(map(str, names))

    def deselect_workspace_greater_than(self, limit: int) -> None:
        """Take no engine config that needs more than so many bytes of workspace."""
        self._plans.bar_workspace(limit.__index__())

    def get_execution_plan_count(self) -> int:
        """How many engine configs there are, barred ones too."""
        if self._held.restored is not None:
            return 1
        return 0 if self._held.plans is None else len(self._held.plans.configs)

    def get_engine_count(self) -> int:
        """How many engines there are for graphs of this pattern, usable or not."""
        return self._plans.engine_count

    def get_knobs_for_engine(self, engine_id: int) -> list[knob]:
        """What an engine can be told."""
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

    def get_workspace_size(self) -> int:
        """Bytes of device memory that `execute` needs beside the operands."""
        return self._plan(None).workspace_size

    def get_workspace_size_plan_at_index(self, index: int) -> int:
        return self._plan(index).workspace_size

    def key(self) -> int:
        """A number for what the graph describes; equal for equal graphs. 64 bits."""
        with translated("pygraph.key"):
            text = self._graph.to_json()
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "little")


def _short(cls: Any, notes: Sequence[Any]) -> set[str]:
    """Layer 3's names of notes."""
    return {named(cls, note, "notes").name.lower() for note in notes}


def _behavior(engine: Any) -> list[Any]:
    notes = engine.descriptor.get("behavior_note") or ()
    return [note_of(behavior_note, note) for note in notes]
