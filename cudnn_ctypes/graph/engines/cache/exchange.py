"""Results of autotuning from one plan cache to another, as JSON text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from ....arguments import Place
from ..tuning.measurements import Autotuning
from ..tuning.records import from_content
from .key import CacheKey

if TYPE_CHECKING:
    from .plan_cache import PlanCache

__all__ = ["exported", "merge"]

FORMAT = "cudnn_ctypes tunings"
VERSION = 1

_MEMBERS = ("key", "graph", "operations", "made", "tuning")


def exported(cache: PlanCache) -> str:
    """See ``PlanCache.export_tunings``."""
    tunings = [
        {name: entry[name].value for name in _MEMBERS}
        for entry in sorted(cache.every("tuning"), key=lambda entry: json.dumps(entry["key"].value))
    ]
    content = {"format": FORMAT, "version": VERSION, "tunings": tunings}
    return json.dumps(content, indent=1)


def merge(cache: PlanCache, text: str | bytes) -> int:
    """See ``PlanCache.merge_tunings``."""
    top = Place.of_text(text, "tunings")
    if (top["format"].value, top["version"].value) != (FORMAT, VERSION):
        top.refuse(f"expected {FORMAT!r}, version {VERSION}")
    # All are read before the first is written.
    found = [_members(each) for each in top["tunings"].items()]
    for key, tuned, members in found:
        here = cache.load(key)
        if here is not None:
            tuned, members["made"] = _joined(here, tuned, members["made"])
        cache.store_tuning(key, tuned, **members)
    return len(found)


def _members(place: Place) -> tuple[CacheKey, Autotuning, dict[str, Any]]:
    key, made = place["key"], place["made"]
    for part in ("graph", "device", "library", "request"):
        key[part].keys()
    if isinstance(made.value, bool) or not isinstance(made.value, (int, float)):
        made.refuse(f"expected seconds since 1970, got {made.value!r}")
    members = {name: place[name].text() for name in ("graph", "operations")}
    return (
        CacheKey.of("tuning", key.value),
        from_content(Autotuning, place["tuning"]),
        {
            **members,
            "made": made.value,
        },
    )


def _joined(here: Place, tuned: Autotuning, made: float) -> tuple[Autotuning, float]:
    """Merge a stored tuning with an incoming one; also the time when the newer was made."""
    try:
        ours, ours_made = from_content(Autotuning, here["tuning"]), float(here["made"].value)
    except (ValueError, TypeError):
        return tuned, made
    (_, older), (newest, newer) = sorted(
        [(ours_made, ours), (made, tuned)], key=lambda each: each[0]
    )
    if older.settings.cold_cache != newer.settings.cold_cache:
        return newer, newest
    return older.merge(newer), newest
