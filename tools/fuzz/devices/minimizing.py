"""The plainest case that still differs in the same way."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

from . import catalogue
from .batches import judge

__all__ = ["minimized"]


def minimized(
    case: dict[str, Any], key: str, pair: Sequence[str], *, seconds: float = 30
) -> dict[str, Any]:
    """Make the choices of a case plainer, as long as it differs as `Judged.key` says.

    Each round tries one simplification of every choice, all in one batch, and keeps as many of
    those that still differ as do so together.
    """
    deadline = time.monotonic() + seconds

    def differs(cases: Sequence[dict[str, Any]]) -> list[bool]:
        return [
            any(each.key(difference) == key for difference in each.differences)
            for each in judge(cases, pair)
        ]

    depth, tries = 0, 3
    while time.monotonic() < deadline and depth < tries:
        draw, _ = catalogue.redraw(case)
        case = draw.case
        changes = [
            (name, option.plainer[depth])
            for name, option in draw.options.items()
            if len(option.plainer) > depth
        ]
        if not changes:
            depth += 1
            continue
        alone = differs([_changed(case, [change]) for change in changes])
        good = [change for change, still in zip(changes, alone, strict=True) if still]
        kept = _together(case, good, differs)
        if kept:
            case = _changed(case, kept)
        else:
            depth += 1
    draw, _ = catalogue.redraw(case)
    return draw.case


def _changed(case: dict[str, Any], changes: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    return {**case, "choices": {**case["choices"], **dict(changes)}}


def _together(case: dict[str, Any], good: list[tuple[str, Any]], differs: Any) -> list[Any]:
    """As many changes as still differ when all are made: all, or halves, or one."""
    if not good:
        return []
    prefixes = [good[: n + 1] for n in range(len(good))]
    together = differs([_changed(case, each) for each in prefixes])
    return max((p for p, still in zip(prefixes, together, strict=True) if still), key=len)
