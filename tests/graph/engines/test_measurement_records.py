"""Results of autotuning as JSON text, and several as one."""

from __future__ import annotations

import dataclasses
import json
from typing import Any

import pytest

from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning, Measurement, Settings

from ..damage import accident, damages, raised, sample


def result(*measurements: Measurement, **changes: Any) -> Autotuning:
    best = min((m for m in measurements if m.state == "measured"), key=lambda m: m.median)
    made = Autotuning("net", "H200", "9.28.0", measurements, best, Settings(runs=3), 1.5)
    return dataclasses.replace(made, **changes)


FAST = Measurement(
    7, {"stages": 2}, "b 2", "measured", (10.0, 12.0, 11.0), 1024, ("tensor_core",), 0.25
)
SLOW = Measurement(3, {}, "a 1", "measured", (22.0, 22.0, 22.0), 0)
OTHERS = (
    Measurement(4, {}, "a 2", "dropped", (20.0,), None),
    Measurement(5, {}, "a 3", "failed", status="NOT_SUPPORTED", reason="k > 3"),
    Measurement(6, {"tile": 1}, "b 1", "not tried"),
)


def test_json_brings_everything_back() -> None:
    tuned = result(SLOW, FAST, *OTHERS, settings=Settings(5, 2, None, 7, False))
    back = Autotuning.from_json(tuned.to_json())
    assert back == tuned
    assert back.best is back.measurements[1]
    assert str(back) == str(tuned)
    assert Autotuning.from_json(tuned.to_json().encode()) == tuned


def test_damaged_json_is_taken_or_refused() -> None:
    stored = json.loads(result(SLOW, FAST, *OTHERS).to_json())
    taken = 0
    for damage in sample(damages(stored, ("measured", "x")), 400, seed=9):
        text = json.dumps(damage.done_to(stored))

        def read(text: str = text) -> None:
            str(Autotuning.from_json(text))

        error = raised(read)
        assert error is None or isinstance(error, ValueError), damage
        assert error is None or not accident(error), damage
        taken += error is None
    assert 0 < taken < 200


def test_text_that_is_no_result() -> None:
    for text, says in (
        ("{", "autotuning: the JSON is damaged"),
        ('{"format": "x", "version": 1}', "autotuning: expected 'cudnn_ctypes autotuning'"),
    ):
        with pytest.raises(ValueError, match=says):
            Autotuning.from_json(text)


def test_merging_keeps_what_tells_more() -> None:
    """Of one config a full measurement before a dropped one, more runs before fewer, the later."""
    first = result(SLOW, dataclasses.replace(FAST, state="dropped", times=(9.0,)), OTHERS[2])
    later = dataclasses.replace(SLOW, times=(5.0, 5.0, 5.0))
    fewer = dataclasses.replace(later, times=(1.0,))
    tried = dataclasses.replace(OTHERS[2], state="failed", reason="it has died")
    merged = first.merge(result(FAST, later), result(fewer, tried))
    assert merged.measurements == (later, FAST, tried)
    assert merged.best == later
    assert merged.seconds == 4.5
    assert first.merge() == dataclasses.replace(first)
    assert merged.graph == "net"


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"device": "H100"}, "others: device is 'H100' in one and 'H200' in another"),
        ({"cudnn": "9.19.0"}, "others: cudnn is '9.19.0'"),
        ({"settings": Settings(cold_cache=False)}, "others: cold_cache is False in one and True"),
    ],
)
def test_what_cannot_be_compared_is_not_merged(changes: Any, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        result(FAST).merge(result(FAST, **changes))
    with pytest.raises(TypeError, match="others: expected results of autotuning, got"):
        result(FAST).merge("x")  # type: ignore[arg-type]
