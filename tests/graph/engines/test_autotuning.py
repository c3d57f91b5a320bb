"""The order of an autotuning with plans made up, and autotuning itself on a GPU."""

from __future__ import annotations

import dataclasses
import json
import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, Handle, PlanCache, use_reference_device
from cudnn_ctypes.errors import ExecutionFailedError, NotSupportedError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.backend.engine import EngineChoice, EngineConfig, Knob
from cudnn_ctypes.graph.engines.operands import random_memory
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.engines.tuning import autotuning as autotuning_module
from cudnn_ctypes.graph.engines.tuning import timing
from cudnn_ctypes.graph.engines.tuning.autotuning import Tuner, knob_settings, tune, tuning_bar
from cudnn_ctypes.graph.engines.tuning.measurements import Autotuning, Measurement, Settings
from cudnn_ctypes.graph.engines.tuning.timing import Timer
from cudnn_ctypes.graph.lower.faults import Faults
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.raw import cudnnStatus_t

from ..cases import ANY_ENGINE, Operands, check
from ..damage import accident, damages, raised, sample
from ..families import CASES

# --- plans that are made up ----------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class _Engine:
    index: int
    numerical_notes: frozenset[str] = frozenset({"tensor_core"})
    behavior_notes: frozenset[str] = frozenset()


@dataclasses.dataclass(frozen=True)
class _Config:
    """A config whose plan takes so many microseconds."""

    engine: _Engine
    takes: float = 10.0
    fails: Exception | None = None
    workspace_size: int = 0
    shared_memory: int | None = None

    @property
    def choice(self) -> EngineChoice:
        return EngineChoice(self.engine.index)


class _Plan:
    def __init__(self, config: _Config) -> None:
        if isinstance(config.fails, NotSupportedError):
            raise config.fails
        self.config = config
        self.workspace_size = config.workspace_size
        self.closed = False

    def close(self) -> None:
        assert not self.closed
        self.closed = True


class _Bench:
    """A tuner with a clock of its own: making a plan takes a second, a run what it takes."""

    def __init__(
        self,
        settings: Settings | None = None,
        selection: Selection | None = None,
        faults: Faults | None = None,
    ) -> None:
        self.now = 0.0
        self.plans: list[_Plan] = []
        self.runs: list[tuple[int, int]] = []
        self.tuner = Tuner(
            self._build,
            self._time,
            settings or Settings(),
            selection or Selection(),
            faults=faults,
            clock=lambda: self.now,
        )

    def _build(self, config: _Config) -> _Plan:
        self.now += 1
        plan = _Plan(config)
        self.plans.append(plan)
        return plan

    def _time(self, plan: _Plan, untimed: int, runs: int) -> list[float]:
        if plan.config.fails is not None:
            raise plan.config.fails
        self.runs.append((untimed, runs))
        return [plan.config.takes + run % 2 for run in range(runs)]

    def measure(self, *configs: _Config) -> list[Any]:
        return [self.tuner.measure(each, f"a {n}") for n, each in enumerate(configs, 1)]

    @property
    def open(self) -> list[_Plan]:
        return [plan for plan in self.plans if not plan.closed]


def _error(cls: Any, message: str) -> Any:
    return cls("f", cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED, messages=[message])


def test_the_smallest_median_wins_and_only_its_plan_stays():
    bench = _Bench(Settings(runs=9, warm_up=2))
    noted = bench.measure(*(_Config(_Engine(i), takes) for i, takes in enumerate([12, 10, 11])))
    assert [each.state for each in noted] == ["measured"] * 3
    assert bench.tuner.best is noted[1]
    assert bench.runs == [(2, 3), (0, 6)] * 3
    assert noted[1].runs == 9
    assert (noted[1].fastest, noted[1].median) == (10, 10)
    assert noted[1].build_seconds == 1
    assert noted[1].notes == ("tensor_core",)
    assert [plan.config.engine.index for plan in bench.open] == [1]
    assert bench.tuner.plan is bench.open[0]
    bench.tuner.close()
    assert bench.open == []


def test_a_clearly_slower_plan_is_dropped_after_three_runs():
    bench = _Bench(Settings(runs=20))
    times = (10, 13, 13.5)
    first, slow, slower = bench.measure(*(_Config(_Engine(i), t) for i, t in enumerate(times)))
    assert first.median == 10
    assert (slow.state, slow.runs) == ("measured", 20)
    assert (slower.state, slower.runs, slower.fastest) == ("dropped", 3, 13.5)
    assert len(bench.open) == 1


def test_a_plan_that_fails_is_noted_and_the_others_measured():
    bench = _Bench()
    states = bench.measure(
        _Config(_Engine(0), fails=_error(NotSupportedError, "no such kernel")),
        _Config(_Engine(1)),
        _Config(_Engine(2), fails=_error(ExecutionFailedError, "launch")),
        _Config(_Engine(3), fails=MemoryError("no room")),
    )
    told = [(each.state, each.status, each.reason) for each in states]
    assert told == [
        ("failed", "NOT_SUPPORTED", "no such kernel"),
        ("measured", "", ""),
        ("failed", "NOT_SUPPORTED", "launch"),
        ("failed", "", "no room"),
    ]
    assert bench.tuner.best is states[1]
    assert len(bench.open) == 1


def test_an_interrupted_run_leaves_no_plan():
    bench = _Bench()
    with pytest.raises(KeyboardInterrupt):
        bench.measure(_Config(_Engine(0), fails=KeyboardInterrupt()))
    assert bench.open == []


def test_engines_that_compute_wrong_numbers_are_not_measured():
    bench = _Bench(faults=Faults({0: "it gives wrong numbers"}))
    wrong, good = bench.measure(_Config(_Engine(0)), _Config(_Engine(1)))
    assert (wrong.state, wrong.reason, wrong.runs) == ("excluded", "it gives wrong numbers", 0)
    assert bench.tuner.best is good


def test_the_budget_ends_it_after_the_first_plan_at_the_earliest():
    for budget, measured in ((1.5, 2), (0.1, 1)):
        found = _Bench(Settings(budget=budget)).measure(*(_Config(_Engine(i)) for i in range(4)))
        states = [each.state for each in found]
        assert states == ["measured"] * measured + ["not tried"] * (4 - measured)


def test_nothing_is_measured_twice():
    bench = _Bench()
    first, again = bench.measure(_Config(_Engine(0)), _Config(_Engine(0)))
    assert first is not None
    assert again is None
    assert len(bench.tuner.measurements) == 1


def test_settings_of_knobs_differ_in_one():
    ranges = {"stages": Knob(0, 2, 1), "split": Knob(1, 2048, 1), "even": Knob(0, 4, 2)}
    found = list(knob_settings(EngineChoice(3, {"stages": 1, "split": 1}), ranges))
    assert {each.engine for each in found} == {3}
    assert [dict(each.knobs) for each in found[:2]] == [{"stages": n, "split": 1} for n in (0, 2)]
    splits = [each.knobs["split"] for each in found if each.knobs["split"] != 1]
    assert splits == [2, 3, 5, 9, 17, 33, 65, 129, 257, 513, 1025]
    assert [each.knobs["even"] for each in found if "even" in each.knobs] == [0, 2, 4]


@pytest.mark.parametrize("cold", [True, False])
def test_a_run_is_timed_after_the_cache_was_swept(cold, monkeypatch):
    calls: list[str] = []

    def event(stream: Any) -> Any:
        calls.append("event")
        return SimpleNamespace(number=len(calls), close=lambda: calls.append("closed"))

    swept = SimpleNamespace(
        fill=lambda value, stream: calls.append("sweep"), close=lambda: calls.append("end")
    )
    monkeypatch.setattr(timing, "DeviceBuffer", lambda nbytes, device, stream: swept)
    monkeypatch.setattr(timing, "Event", event)
    monkeypatch.setattr(timing, "elapsed_ms", lambda start, end: end.number - start.number)
    with Timer(SimpleNamespace(stream=1, device=None), cold_cache=cold) as timer:
        timer.warm_up(1)
        assert timer(lambda: calls.append("run"), 2) == [2000, 2000]
    each = ["sweep", *["run"] * (not cold), "event", "run", "event"]
    assert calls == ["sweep", *each, *each, *["closed"] * 4, "end"]


# --- cuDNN's configs, plans and times made up -----------------------------------------------------


def _tuned(name: str, device: DeviceProperties, settings: Settings) -> Tuner:
    """The time of each plan depends on its config only."""

    def time_plan(plan: Any, untimed: int, runs: int) -> list[float]:
        knobs = plan.config.knobs
        return [10.0 + sum(knobs.values()) if knobs else 1000.0] * runs

    def build(config: EngineConfig) -> Any:
        return SimpleNamespace(config=config, workspace_size=0, close=lambda: None)

    with CASES[name].graph() as graph:
        tuner = Tuner(build, time_plan, settings, Selection())
        with lowered(graph.expansion(device), device) as lowering:
            tune(tuner, lowering, device, ["a", "fallback"], knobs=settings.knobs)
    return tuner


def test_the_search_goes_downhill(h200):
    before = _tuned("convolution", h200, Settings(runs=1))
    after = _tuned("convolution", h200, Settings(runs=1, knobs=60))
    searched = [each for each in after.measurements if each.source == "knobs"]
    assert before.best is not None
    assert after.best is not None
    assert len(searched) == 60
    fastest = before.best
    for each in searched:  # from the fastest so far, one knob after the other
        assert each.engine == fastest.engine
        assert len(each.knobs.items() ^ fastest.knobs.items()) == 2
        fastest = min(fastest, each, key=lambda each: each.median)
    assert after.best is fastest
    assert len({each.choice for each in after.measurements}) == len(after.measurements)
    assert after.best.median < before.best.median
    assert after.best.source == "knobs"
    before.close()
    after.close()


# --- the result ----------------------------------------------------------------------------------


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


def test_a_small_difference_is_called_so():
    close = Measurement(3, {}, "a 1", "measured", (11.0, 11.5, 12.0), 0)
    line = str(result(close, FAST)).splitlines()[1]
    assert line.endswith("a 1, which build() tries first, 11.5 us: no difference beyond the spread")


def test_the_result_as_text():
    program = Measurement(-1, {}, "program", "measured", (30.0, 34.0), 8, pieces=("mul", "matmul"))
    assert (
        str(result(SLOW, program, FAST, *OTHERS))
        == """\
'net' on H200, cuDNN 9.28.0: 4 plans measured in 1.5 s, 3 runs each, cold cache
fastest: engine 7: stages=2, 11.0 us; a 1, which build() tries first, 22.0 us

median us  spread  fastest       runs              engine  knobs     workspace  built in s  from
     11.0     1.0     10.0          3                   7  stages=2      1,024       0.250  b 2
     22.0     0.0     22.0          3                   3  -                 0       0.000  a 1
     32.0     2.0     30.0          2  program of 2 plans  -                 8       0.000  program
     20.0     0.0     20.0  1 dropped                   4  -                 -       0.000  a 2

engine 5 failed: NOT_SUPPORTED: k > 3
1 not tried: the budget of 60 s was used up"""
    )
    assert (FAST.quartiles, OTHERS[0].quartiles) == ((10.5, 11.5), (20, 20))
    assert (OTHERS[2].median, OTHERS[2].fastest, OTHERS[2].spread) == (math.inf, math.inf, 0)
    warm = result(FAST, settings=Settings(budget=None, cold_cache=False))
    assert "20 runs each, warm cache\nfastest: engine 7: stages=2, 11.0 us\n" in str(warm)


def test_progress_is_drawn_when_wanted(capsys):
    for wanted in (None, False):  # the error output of a test is no terminal
        with tuning_bar(wanted) as noted:
            noted(FAST, 2)
        assert capsys.readouterr().err == ""


# --- random operands -----------------------------------------------------------------------------


def test_operands_whose_values_decide_are_asked_for():
    with use_reference_device(), CASES["convolution"].graph() as graph, Handle() as handle:
        lengths = graph.tensor((4, 1, 1, 1), data_type="int32", name="lengths")
        factor = graph.tensor_scalar(1.0)
        factor.value, factor.name = None, "factor"
        for tensor, says in ((lengths, "'lengths': random int32 numbers"), (factor, "'factor' is")):
            with pytest.raises(ValueError, match=says):
                random_memory([tensor], [], handle, lambda buffer: buffer)


# --- on a GPU ------------------------------------------------------------------------------------


@pytest.mark.gpu
class TestOnAGpu:
    @pytest.mark.parametrize(
        "name", ["convolution", "convolution + bias + relu", "matmul + bias + gelu"]
    )
    def test_the_fastest_plan_stays_and_computes(self, name, handle):
        with CASES[name].graph() as graph:
            tuned = graph.autotune(handle, runs=10, budget=20)
            print(tuned)
            assert tuned.best.state == "measured"
            assert tuned.best.runs == 10
            assert all(0.5 < t < 10_000 for t in tuned.best.times)
            full = [each for each in tuned if each.state == "measured"]
            assert tuned.best.median == min(each.median for each in full)
            assert graph.plan.config.choice == tuned.best.choice
            assert graph.workspace_size == tuned.best.workspace
            check(CASES[name], graph, handle, ANY_ENGINE)
            graph.build(handle, config=tuned.best)
            check(CASES[name], graph, handle, ANY_ENGINE)

    def test_later_builds_take_the_result(self, handle, tmp_path):
        name = "convolution"
        with CASES[name].graph() as graph, CASES[name].graph() as later:
            tuned = graph.autotune(handle, runs=5, cache=tmp_path)
            (kept,) = PlanCache(tmp_path).every("tuning")
            assert kept["engine"]["engine"].value == tuned.best.engine
            plan = later.build(handle, "fallback", cache=tmp_path)
            assert plan.config.choice.engine == tuned.best.engine
            check(CASES[name], later, handle, ANY_ENGINE)

    def test_an_emptied_cache_takes_longer_than_a_warm_one(self, handle):
        with DeviceBuffer(8 << 20) as source, DeviceBuffer(8 << 20) as target:
            source.fill(1, stream=handle.stream)
            medians = []
            for cold in (True, False):
                with Timer(handle, cold_cache=cold) as timer:
                    timer.warm_up()
                    times = timer(lambda: target.copy_from(source, stream=handle.stream), 30)
                    medians.append(np.median(times))
        assert medians[0] > medians[1]

    def test_operands_of_the_user_are_used(self, handle):
        name = "convolution"
        with CASES[name].graph() as graph:
            graph.validate()
            with Operands(CASES[name], graph) as operands:
                tuned = graph.autotune(handle, operands.memory, "a", runs=3)
                assert len(tuned) > 5
                operands.check(handle, ANY_ENGINE)

    def test_every_supported_config_of_a_convolution_computes(self, handle):
        name = "convolution"
        with CASES[name].graph() as graph:
            told = graph.explain(handle, compile=True)
            print(told)
            assert {row.engine for row in told} == set(range(told.engine_count))
            works = [row for row in told if row.state == "works"]
            assert len({row.engine for row in works}) > 10
            assert not any(row.state == "accepted" for row in told)
            for row in works:
                plan = graph.build(handle, config=row)
                assert plan.workspace_size == row.workspace
                check(CASES[name], graph, handle, ANY_ENGINE)

    def test_selections_hold(self, handle):
        with CASES["convolution backward filter"].graph() as graph:
            told = graph.explain(handle)
            some = [row for row in told.usable if "nondeterministic" in row.numerical_notes]
            assert some, "no engine with this note: the test shows nothing"
            wanted = Selection(deterministic=True, workspace_limit=1 << 20)
            tuned = graph.autotune(handle, selection=wanted, runs=3)
            ran = [each for each in tuned if each.times]
            assert ran
            assert not any("nondeterministic" in each.notes for each in ran)
            assert all((each.workspace or 0) <= 1 << 20 for each in ran)
            assert "nondeterministic" not in graph.plan.numerical_notes

    def test_deterministic_engines_repeat_their_bits(self, handle):
        name = "convolution backward filter"
        with CASES[name].graph() as graph:
            told = graph.explain(handle, selection=Selection(deterministic=True))
            for row in told.usable:
                graph.build(handle, config=row)
                first, again = (check(CASES[name], graph, handle, ANY_ENGINE) for _ in range(2))
                for tensor, array in first.items():
                    np.testing.assert_array_equal(array, again[tensor], err_msg=str(row.choice))

    def test_settings_of_knobs_are_searched(self, handle):
        name = "convolution"
        with CASES[name].graph() as graph:
            tuned = graph.autotune(handle, heuristics="a", knobs=25, runs=5)
            print(tuned)
            searched = [each for each in tuned if each.source == "knobs"]
            assert len(searched) == 25
            assert len({each.choice for each in tuned}) == len(tuned)
            check(CASES[name], graph, handle, ANY_ENGINE)

    def test_what_operations_keep_in_the_workspace_has_room(self, handle):
        with CASES["attention, backward"].graph() as graph:
            tuned = graph.autotune(handle, runs=3)
            assert not any(each.state == "failed" for each in tuned)
            assert tuned.best.workspace is not None
            assert graph.workspace_size > tuned.best.workspace

    def test_the_budget_holds(self, handle):
        with CASES["matmul + bias + gelu"].graph() as graph:
            tuned = graph.autotune(handle, budget=1e-6)
            assert [each.state for each in tuned].count("measured") == 1
            assert sum(each.state == "not tried" for each in tuned) == len(tuned) - 1

    def test_a_failing_plan_is_noted(self, handle, monkeypatch):
        """The second plan is given a workspace that cannot be had."""
        sizes = iter([0, 1 << 60])
        given = autotuning_module._Workspace.of

        def of(self, nbytes):
            return given(self, next(sizes, nbytes))

        monkeypatch.setattr(autotuning_module._Workspace, "of", of)
        with CASES["convolution"].graph() as graph:
            tuned = graph.autotune(handle, heuristics="a", runs=3)
        failed = [each for each in tuned if each.state == "failed"]
        assert len(failed) == 1
        assert failed[0].reason
        assert "failed" in str(tuned)

    def test_times_are_of_the_gpu_not_of_the_launch(self, handle):
        """Copies of 1 GiB take twice as long as those of half of it, and as long as the GPU says;
        an empty execution takes next to nothing although the host needs microseconds."""
        with Timer(handle) as timer, DeviceBuffer(1 << 30) as memory:
            timer.warm_up()
            whole = np.median(timer(lambda: memory.fill(0, stream=handle.stream), 10))
            half = np.median(
                timer(lambda: memory.view(0, 1 << 29).fill(0, stream=handle.stream), 10)
            )
            nothing = np.median(timer(lambda: SimpleNamespace(), 10))
        assert 1.6 < whole / half < 2.2
        assert 0 <= nothing < 8


# --- results of autotuning as JSON text, and several as one ---------------------------------------


def test_json_brings_everything_back():
    tuned = result(SLOW, FAST, *OTHERS, settings=Settings(5, 2, None, 7, False))
    back = Autotuning.from_json(tuned.to_json())
    assert back == tuned
    stored = json.loads(tuned.to_json())
    assert stored["version"] == 1
    best = stored["measurements"][stored["best"]]
    assert {**stored, "best": best}.items() >= json.loads(json.dumps(back.as_dict())).items()
    assert back.best is back.measurements[1]
    assert str(back) == str(tuned)
    assert Autotuning.from_json(tuned.to_json().encode()) == tuned


def test_damaged_json_is_taken_or_refused():
    stored = json.loads(result(SLOW, FAST, *OTHERS).to_json())
    taken = 0
    for damage in sample(damages(stored, ("measured", "x")), 400, seed=9):
        text = json.dumps(damage.done_to(stored))

        def read(text=text):
            str(Autotuning.from_json(text))

        error = raised(read)
        assert error is None or isinstance(error, ValueError), damage
        assert error is None or not accident(error), damage
        taken += error is None
    assert 0 < taken < 200


def test_text_that_is_no_result():
    for text, says in (
        ("{", "autotuning: the JSON is damaged"),
        ('{"format": "x", "version": 1}', "autotuning: expected 'cudnn_ctypes autotuning'"),
        ('{"format": "cudnn_ctypes autotuning", "version": 2}', "autotuning: expected 'cudnn_"),
    ):
        with pytest.raises(ValueError, match=says):
            Autotuning.from_json(text)


def test_merging_keeps_what_tells_more():
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
def test_what_cannot_be_compared_is_not_merged(changes, says):
    with pytest.raises(ValueError, match=says):
        result(FAST).merge(result(FAST, **changes))
    with pytest.raises(TypeError, match="others: expected results of autotuning, got"):
        result(FAST).merge("x")
