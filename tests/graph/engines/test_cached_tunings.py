"""Results of autotuning in the plan cache: which builds use them, and how they travel."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from cudnn_ctypes import EngineChoice, PlanCache, Selection
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.engines.cache import cached_building
from cudnn_ctypes.graph.engines.cache.cached_building import keep_tuning
from cudnn_ctypes.graph.engines.cache.entry_folder import ENVIRONMENT_VARIABLE
from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning, Measurement, Settings
from cudnn_ctypes.graph.lower.faults import Faults

from ..damage import accident, damages, raised, sample
from ..families import CASES

CASE = CASES["convolution"]


@pytest.fixture(autouse=True)
def _no_cache_by_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(ENVIRONMENT_VARIABLE, raising=False)


@pytest.fixture
def cache(tmp_path: Path) -> PlanCache:
    return PlanCache(tmp_path / "plans")


def _rows(device: Any) -> list[Any]:
    """Configs of different engines that work, in the order of the heuristics."""
    with CASE.graph() as graph:
        usable = graph.explain(device, ["a"]).usable
    by_engine = {row.engine: row for row in reversed(usable)}
    return sorted(by_engine.values(), key=usable.index)


def _measurement(row: Any, us: float, state: str = "measured") -> Measurement:
    notes = tuple(sorted((*row.numerical_notes, *row.behavior_notes)))
    return Measurement(
        row.engine, row.knobs, "a 1", state, (float(us),) * 2, workspace=row.workspace, notes=notes
    )


def _tuned(*measurements: Measurement, cold: bool = True) -> Autotuning:
    best = min((m for m in measurements if m.state == "measured"), key=lambda m: m.median)
    settings = Settings(runs=2, cold_cache=cold)
    return Autotuning("graph", "NVIDIA H200", "9.28.0", measurements, best, settings)


def _keep(
    cache: PlanCache, device: Any, tuned: Autotuning, selection: Selection | None = None
) -> None:
    """As ``Graph.autotune`` does on a GPU."""
    with CASE.graph() as graph:
        plan = graph.build(device, config=tuned.best)
        expansion = graph.expansion(device)
        keep_tuning(cache, expansion, device, tuned, plan, selection=selection or Selection())


def _built(cache: Any, device: Any, **options: Any) -> int:
    with CASE.graph() as graph:
        return int(graph.build(device, cache=cache, **options).config.choice.engine)


def test_builds_take_the_fastest_config(h200: DeviceProperties, cache: PlanCache) -> None:
    first, second, third, *_ = _rows(h200)
    assert _built(cache, h200) == first.engine
    _keep(cache, h200, _tuned(_measurement(first, 9), _measurement(third, 5)))
    assert _built(cache, h200) == third.engine
    assert _built(cache, h200, heuristics="fallback") == third.engine
    assert _built(cache, h200, config=EngineChoice(second.engine)) == second.engine
    assert _built(False, h200) == first.engine
    with DeviceProperties.preset("H100") as h100:
        assert _built(cache, h100) == _built(False, h100)
    # A later result takes the place of the first.
    _keep(cache, h200, _tuned(_measurement(second, 4), _measurement(third, 5)))
    assert _built(cache, h200) == second.engine


def test_the_plan_of_the_fastest_config_is_there(
    h200: DeviceProperties, cache: PlanCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    *_, last = _rows(h200)
    _keep(cache, h200, _tuned(_measurement(last, 5)))
    monkeypatch.setattr(cached_building, "build_plan", None)
    assert _built(cache, h200) == last.engine
    assert {each.kind for each in cache.entries()} == {"plan", "tuning"}


def test_a_selection_takes_the_fastest_that_meets_it(
    h200: DeviceProperties, cache: PlanCache
) -> None:
    first, second, third, *_ = _rows(h200)
    _keep(
        cache,
        h200,
        _tuned(
            _measurement(first, 9),
            _measurement(second, 7),
            _measurement(third, 5),
        ),
    )
    without = Selection(without_engines=[third.engine])
    assert _built(cache, h200, selection=without) == second.engine
    # A result of its own comes first.
    _keep(cache, h200, _tuned(_measurement(first, 3)), without)
    assert _built(cache, h200, selection=without) == first.engine
    assert _built(cache, h200) == third.engine
    # Notes and workspace are known from the measurements, so nothing is compiled in vain.
    measured = _measurement(third, 5)
    unwanted = Selection(forbid=[measured.notes[0]])
    names = [cached_building._unwanted(measured, unwanted)]
    assert names == [f"has the note {measured.notes[0]}"]
    limited = Measurement(0, {}, "", "measured", (1.0,), workspace=2)
    assert "workspace" in cached_building._unwanted(limited, Selection(workspace_limit=1))


def test_results_under_a_selection_do_not_bind_other_builds(
    h200: DeviceProperties, cache: PlanCache
) -> None:
    first, _, third, *_ = _rows(h200)
    only = Selection(engines=[third.engine])
    _keep(cache, h200, _tuned(_measurement(third, 5)), only)
    assert _built(cache, h200) == first.engine
    assert _built(cache, h200, selection=only) == third.engine


def test_what_was_dropped_or_is_faulty_is_passed_over(
    h200: DeviceProperties, cache: PlanCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third, *_ = _rows(h200)
    slow = _measurement(first, 9)
    _keep(cache, h200, _tuned(_measurement(third, 5), _measurement(second, 1, "dropped"), slow))
    monkeypatch.setattr(
        cached_building, "graph_faults", lambda *_, **__: Faults({third.engine: ""})
    )
    assert _built(cache, h200) == first.engine


def test_a_config_that_there_is_not_is_passed_over(
    h200: DeviceProperties, cache: PlanCache
) -> None:
    first, second, *_ = _rows(h200)
    wrong = Measurement(second.engine, {"no_such_knob": 1}, "", "measured", (1.0,))
    far = Measurement(9999, {}, "", "measured", (2.0,))
    tuned = _tuned(wrong, far, _measurement(second, 5))
    with CASE.graph() as graph:
        plan = graph.build(h200)
        keep_tuning(
            cache, graph.expansion(h200), h200, tuned, plan, selection=Selection(engines=[0])
        )
        keep_tuning(cache, graph.expansion(h200), h200, tuned, plan, selection=Selection())
    for file in cache.folder.glob("plan-*"):
        file.unlink()  # of a choice that cannot be built
    assert first.engine != second.engine
    assert _built(cache, h200) == second.engine


# --- between machines -----------------------------------------------------------------------------


def test_results_travel(h200: DeviceProperties, cache: PlanCache, tmp_path: Path) -> None:
    first, second, third, *_ = _rows(h200)
    there = PlanCache(tmp_path / "there")
    _keep(there, h200, _tuned(_measurement(first, 9), _measurement(third, 5)))
    _keep(there, h200, _tuned(_measurement(second, 5)), Selection(deterministic=True))
    text = there.export_tunings()
    assert "cudnnVersion" not in text
    assert cache.merge_tunings(text) == 2
    assert _built(cache, h200) == third.engine
    assert _built(cache, h200, selection=Selection(deterministic=True)) == second.engine
    assert PlanCache(tmp_path / "empty").merge_tunings(cache.export_tunings()) == 2
    assert cache.export_tunings() == text


def test_results_for_one_key_become_one(
    h200: DeviceProperties, cache: PlanCache, tmp_path: Path
) -> None:
    first, second, third, *_ = _rows(h200)
    there = PlanCache(tmp_path / "there")
    _keep(cache, h200, _tuned(_measurement(first, 9), _measurement(second, 3)))
    _keep(there, h200, _tuned(_measurement(first, 8), _measurement(third, 5)))
    cache.merge_tunings(there.export_tunings())
    assert _built(cache, h200) == second.engine
    (joined,) = (entry["tuning"].value for entry in cache.every("tuning"))
    times = {each["engine"]: each["times"][0] for each in joined["measurements"]}
    assert times == {first.engine: 8, second.engine: 3, third.engine: 5}
    # One with a warm cache cannot be compared: the newer stays.
    _keep(there, h200, _tuned(_measurement(third, 1), cold=False))
    cache.merge_tunings(there.export_tunings())
    assert _built(cache, h200) == third.engine
    _keep(cache, h200, _tuned(_measurement(first, 9)))
    cache.merge_tunings(there.export_tunings())
    assert _built(cache, h200) == first.engine


@pytest.mark.soak
def test_a_damaged_export_is_refused_whole(
    h200: DeviceProperties, cache: PlanCache, tmp_path: Path
) -> None:
    there = PlanCache(tmp_path / "there")
    first, second, *_ = _rows(h200)
    _keep(there, h200, _tuned(_measurement(first, 9)))
    _keep(there, h200, _tuned(_measurement(second, 9)), Selection(deterministic=True))
    stored = json.loads(there.export_tunings())
    for number in (0, 1):
        broken = json.loads(json.dumps(stored))
        broken["tunings"][number]["tuning"]["best"] = 7
        with pytest.raises(ValueError, match=rf"tunings\[{number}\].tuning.best: expected the pl"):
            cache.merge_tunings(json.dumps(broken))
        assert cache.entries() == []
    for text, says in (
        ("[]", "expected an object"),
        ('{"format": 1, "version": 1}', "expected 'c"),
    ):
        with pytest.raises(ValueError, match=f"tunings: {says}"):
            cache.merge_tunings(text)
    for damage in sample(damages(stored), 150, seed=4):
        text = json.dumps(damage.done_to(stored))
        error = raised(lambda text=text: cache.merge_tunings(text))  # type: ignore[misc]
        assert error is None or (isinstance(error, ValueError) and not accident(error)), damage
    cache.entries()
    _built(cache, h200)


@pytest.mark.soak
def test_the_command_carries_results(
    h200: DeviceProperties, cache: PlanCache, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    *_, last = _rows(h200)
    _keep(cache, h200, _tuned(_measurement(last, 5)))
    file, there = tmp_path / "tunings.json", tmp_path / "there"
    assert main(["cache", str(cache.folder), "--export", str(file)]) == 0
    assert capsys.readouterr().out == f"1 entry written to {file}\n"
    assert main(["cache", str(there), "--merge", str(file), str(file)]) == 0
    assert capsys.readouterr().out == f"1 entry taken over from {file}\n" * 2
    assert _built(there, h200) == last.engine
    file.write_text("{")
    assert main(["cache", str(there), "--merge", str(file)]) == 2
    assert f"cache: {file}: tunings: the JSON is damaged" in capsys.readouterr().err
