"""Results of autotuning as JSON, and several of them as one."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from ....arguments import Place
from ....raw.values import described
from .measurement import Measurement, Settings

if TYPE_CHECKING:
    from .measurements import Autotuning

__all__ = ["content", "from_content", "from_json", "merged", "to_json"]

FORMAT = "cudnn_ctypes autotuning"
VERSION = 1

_STATES = ("measured", "dropped", "failed", "excluded", "not tried")


def to_json(tuned: Autotuning) -> str:
    """See ``Autotuning.to_json``."""
    return json.dumps({"format": FORMAT, "version": VERSION, **content(tuned)}, indent=1)


def from_json(cls: type[Autotuning], text: str | bytes) -> Autotuning:
    """See ``Autotuning.from_json``."""
    top = Place.of_text(text, "autotuning")
    if (top["format"].value, top["version"].value) != (FORMAT, VERSION):
        top.refuse(f"expected {FORMAT!r}, version {VERSION}")
    return from_content(cls, top)


def content(tuned: Autotuning) -> dict[str, Any]:
    """For JSON, the best one by its place."""
    return {**asdict(tuned), "best": tuned.measurements.index(tuned.best)}


def from_content(cls: type[Autotuning], place: Place) -> Autotuning:
    """An `Autotuning` from the data that `content` returned.

    Raises
    ------
    ValueError
        If it is damaged; the message names the place.
    """
    measurements = tuple(map(_measurement, place["measurements"].items()))
    best = place["best"].integer(0)
    if best >= len(measurements) or measurements[best].state != "measured":
        place["best"].refuse(f"expected the place of a plan that was measured, got {best}")
    return cls(
        graph=place["graph"].text(),
        device=place["device"].text(),
        cudnn=place["cudnn"].text(),
        measurements=measurements,
        best=measurements[best],
        settings=_settings(place["settings"]),
        seconds=_number(place["seconds"]),
    )


def merged(results: Sequence[Autotuning]) -> Autotuning:
    """See ``Autotuning.merge``."""
    first = results[0]
    found: dict[Any, Measurement] = {}
    for tuned in results:
        if not isinstance(tuned, type(first)):
            raise TypeError(f"others: expected results of autotuning, got {described(tuned)}")
        for what, here, there in (
            ("device", first.device, tuned.device),
            ("cudnn", first.cudnn, tuned.cudnn),
            ("cold_cache", first.settings.cold_cache, tuned.settings.cold_cache),
        ):
            if here != there:
                raise ValueError(f"others: {what} is {there!r} in one and {here!r} in another")
        for each in tuned.measurements:
            before = found.get(each.choice)
            if before is None or _tells_more(each, before):
                found[each.choice] = each
    measurements = tuple(found.values())
    best = min((m for m in measurements if m.state == "measured"), key=lambda m: m.median)
    seconds = sum(tuned.seconds for tuned in results)
    return replace(first, measurements=measurements, best=best, seconds=seconds)


def _tells_more(new: Measurement, old: Measurement) -> bool:
    """Full measurements before others, then the one with more runs; the later of equal ones."""

    def told(each: Measurement) -> tuple[int, int]:
        return -_STATES.index(each.state), each.runs

    return told(new) >= told(old)


def _measurement(place: Place) -> Measurement:
    state = place["state"].text()
    if state not in _STATES:
        place["state"].refuse(f"expected one of {', '.join(_STATES)}, got {state!r}")
    times = tuple(map(_number, place["times"].items()))
    if state == "measured" and not times:
        place["times"].refuse("expected the times of a plan that was measured")
    knobs = place["knobs"]
    workspace = place["workspace"]
    return Measurement(
        engine=place["engine"].integer(0),
        knobs={name: knobs[name].integer() for name in knobs.keys()},  # noqa: SIM118
        source=place["source"].text(),
        state=state,
        times=times,
        workspace=None if workspace.value is None else workspace.integer(0),
        notes=tuple(note.text() for note in place["notes"].items()),
        build_seconds=_number(place["build_seconds"]),
        status=place["status"].text(),
        reason=place["reason"].text(),
    )


def _settings(place: Place) -> Settings:
    try:
        return Settings(
            runs=place["runs"].integer(),
            warm_up=place["warm_up"].integer(),
            budget=place["budget"].value,
            knobs=place["knobs"].integer(),
            cold_cache=place["cold_cache"].boolean(),
        )
    except TypeError as error:
        place.refuse(str(error))


def _number(place: Place) -> float:
    value = place.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        place.refuse(f"expected a number, got {value!r}")
    if not 0 <= value < math.inf or value > 1e300:
        place.refuse(f"expected a number from 0, got {value!r}")
    return float(value)
