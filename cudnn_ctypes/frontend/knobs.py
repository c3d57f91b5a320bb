"""Knobs of engines."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..graph.backend.engine import Engine
from .enums import knob_type

__all__ = ["knob", "knobs_of", "short_knobs"]


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
