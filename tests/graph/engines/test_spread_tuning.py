"""Autotuning by an executor: with workers that make times up, and on a GPU."""

from __future__ import annotations

import itertools
import os
import pickle
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, use_reference_device
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.errors import NotSupportedError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.backend.engine import EngineChoice
from cudnn_ctypes.graph.engines.selection import Selection
from cudnn_ctypes.graph.engines.tuning import autotuning
from cudnn_ctypes.graph.engines.tuning import spread as spread_tuning
from cudnn_ctypes.graph.engines.tuning.autotuning import Tuner
from cudnn_ctypes.graph.engines.tuning.measurements import Measurement, Settings
from cudnn_ctypes.graph.engines.tuning.random_memory import host_operands
from cudnn_ctypes.graph.engines.tuning.spread import (
    Chunk,
    SpreadTuner,
    _measured,
    _on_the_gpu,
    check_target,
    checked_executor,
)
from cudnn_ctypes.graph.engines.tuning.timing import gpu_lock
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.lowering import lowered
from cudnn_ctypes.graph.run.plan import ExecutionPlan
from cudnn_ctypes.raw import cudnnStatus_t
from cudnn_ctypes.runtime import device_count

from ..cases import ANY_ENGINE, Operands, check, problem
from ..families import CASES

NAME = "convolution"
TARGET = ("9.28.0", {"deviceName": "NVIDIA H200"})


def _time(choice: EngineChoice) -> float:
    return 100.0 + sum(choice.knobs.values()) if choice.knobs else 1000.0


def _measure(chunk: Chunk, device: Any) -> list[Measurement]:
    """Stands for what a worker does: the time of a config depends on it alone."""
    return [
        Measurement(choice.engine, choice.knobs, source, "measured", (_time(choice),))
        for choice, source in chunk.choices
    ]


def _measure_or_raise(chunk: Chunk, device: Any) -> list[Measurement]:
    """Even engines cannot do it."""
    if any(choice.engine % 2 == 0 for choice, _ in chunk.choices):
        status = cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED
        raise NotSupportedError("f", status, messages=["odd ones only"])
    return _measure(chunk, device)


def _die(chunk: Chunk, device: Any) -> None:
    os._exit(1)


def _chunk(settings: Settings | None = None) -> Chunk:
    graph = CASES[NAME].graph()
    graph.validate()
    return Chunk(graph, (), {}, TARGET, settings or Settings(), Selection())


def _choices(*engines: int) -> list[tuple[EngineChoice, str]]:
    return [(EngineChoice(engine, {"tile": engine}), f"a {engine}") for engine in engines]


class _Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


# --- what comes back ------------------------------------------------------------------------------


@pytest.mark.soak
def test_results_and_failures_belong_to_their_configs():
    """In the order of the configs: what raises fails with the part that the worker was given."""
    with ThreadPoolExecutor(4) as executor:
        tuner = SpreadTuner(executor, _chunk(), function=_measure_or_raise)
        tuner.measure(_choices(*range(1, 21)), 20)
    assert [each.engine for each in tuner.measurements] == list(range(1, 21))
    assert [each.source for each in tuner.measurements] == [f"a {n}" for n in range(1, 21)]
    for each in tuner.measurements:
        if each.engine % 2 == 0:
            told = (each.state, each.status, each.reason)
            assert told == ("failed", "NOT_SUPPORTED", "odd ones only")
        else:
            assert each.times == (_time(each.choice),)
    assert tuner.best is tuner.measurements[0]


@pytest.mark.soak
def test_a_worker_that_dies_fails_its_configs():
    with ProcessPoolExecutor(1, get_context("spawn")) as executor:
        tuner = SpreadTuner(executor, _chunk(), function=_die)
        for _ in range(2):  # the executor is broken the second time
            tuner.measure(_choices(1, 2), 2)
    assert {each.state for each in tuner.measurements} == {"failed"}
    assert all("abruptly" in each.reason for each in tuner.measurements)


def test_a_chunk_can_be_pickled():
    chunk = replace(_chunk(), choices=tuple(_choices(1, 2)), operands={3: np.arange(4)})
    back = pickle.loads(pickle.dumps(chunk))
    assert back.graph.to_json() == chunk.graph.to_json()
    assert (back.choices, back.target, back.selection) == (
        chunk.choices,
        chunk.target,
        chunk.selection,
    )


def test_gpus_are_taken_in_turn():
    seen = []

    def function(chunk, device):
        seen.append((device, [choice.engine for choice, _ in chunk.choices]))
        return _measure(chunk, device)

    with ThreadPoolExecutor(1) as executor:
        tuner = SpreadTuner(executor, _chunk(), devices=[3, 4], function=function)
        tuner.measure(_choices(*range(5)), 5)
    assert seen == [(3, [0, 2, 4]), (4, [1, 3])]
    assert {each.state for each in tuner.measurements} == {"measured"}


def test_workers_have_the_rest_of_the_budget():
    clock, budgets = _Clock(), []

    def function(chunk, device):
        clock.now += 4
        budgets.append(chunk.settings.budget)
        return _measure(chunk, device)

    with ThreadPoolExecutor(1) as executor:
        tuner = SpreadTuner(executor, _chunk(Settings(budget=10)), function=function, clock=clock)
        for _ in range(3):
            tuner.measure(_choices(1, 2), 2)
    assert budgets == [10, 6, 2]


def test_every_measurement_is_noted():
    noted = []
    with ThreadPoolExecutor(2) as executor:
        tuner = SpreadTuner(
            executor,
            _chunk(),
            function=_measure,
            noted=lambda measurement, total: noted.append((measurement.engine, total)),
        )
        tuner.measure(_choices(*range(6)), 6)
    assert sorted(noted) == [(engine, 6) for engine in range(6)]


# --- which configs --------------------------------------------------------------------------------


def _tuned(device: DeviceProperties, settings: Settings, **options: Any) -> SpreadTuner:
    with ThreadPoolExecutor(2) as executor, CASES[NAME].graph() as graph:
        expansion = graph.expansion(device)
        chunk = Chunk(graph, (), {}, TARGET, settings, Selection())
        tuner = SpreadTuner(executor, chunk, function=_measure)
        with lowered(expansion, device) as lowering:
            tuner.tune(lowering, device, ["a", "fallback"], **options)
    return tuner


@pytest.mark.soak
def test_all_that_heuristics_propose_is_measured_once(h200):
    tuner = _tuned(h200, Settings())
    with CASES[NAME].graph() as graph:
        rows = [r for r in graph.explain(h200, ("a", "fallback")) if r.proposed_by]
    assert [each.choice for each in tuner.measurements] == [row.choice for row in rows]
    assert [each.source for each in tuner.measurements] == [row.proposed_by[0] for row in rows]
    every = _tuned(h200, Settings(), every_engine=True)
    assert len(every.measurements) > len(tuner.measurements)
    assert {each.source for each in every.measurements} >= {"engine"}


@pytest.mark.soak
def test_settings_of_knobs_are_searched(h200):
    before, after = _tuned(h200, Settings()), _tuned(h200, Settings(knobs=40))
    searched = [each for each in after.measurements if each.source == "knobs"]
    assert 0 < len(searched) <= 40
    assert len({each.choice for each in after.measurements}) == len(after.measurements)
    assert before.best is not None
    assert after.best is not None
    assert after.best.median < before.best.median


# --- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("executor", "devices", "error", "says"),
    [
        (object(), (), TypeError, r"executor: expected one with submit\(\)"),
        (None, [0], ValueError, "devices: these are for the workers of an executor"),
        (ThreadPoolExecutor(1), [-1], ValueError, "devices: expected numbers of GPUs from 0"),
        (ThreadPoolExecutor(1), [True], ValueError, "devices: expected numbers of GPUs from 0"),
        (ThreadPoolExecutor(1), [0, 0], ValueError, "devices: expected each GPU once"),
        (ThreadPoolExecutor(1), "01", TypeError, "devices: expected numbers of GPUs, got"),
        (ThreadPoolExecutor(1), 1, TypeError, "devices: expected numbers of GPUs, got"),
        (
            ProcessPoolExecutor(1, get_context("fork")),
            (),
            ValueError,
            r"executor: a fork of a process that uses CUDA .*get_context\('spawn'\)",
        ),
    ],
)
def test_what_cannot_be_used(executor, devices, error, says, h200):
    with pytest.raises(error, match=says):
        checked_executor(executor, devices)
    with CASES[NAME].graph() as graph, pytest.raises(error, match=says):
        graph.autotune(h200, executor=executor, devices=devices)


def test_gpus_of_another_kind_are_refused():
    check_target(TARGET, ("9.28.0", {"deviceName": "NVIDIA H200"}))
    for other, says in (
        (("9.19.0", TARGET[1]), "the worker has cuDNN 9.19.0, and .* 9.28.0"),
        (("9.28.0", {"deviceName": "T4"}), "another GPU: deviceName 'T4' instead of 'NVIDIA H200'"),
    ):
        with pytest.raises(ValueError, match=says):
            check_target(TARGET, other)


@pytest.fixture
def graph():
    graph = CASES[NAME].graph()
    graph.validate()
    return graph


def test_operands_go_as_they_lie_in_memory(graph):
    x, w = graph.inputs
    array = np.random.default_rng(0).standard_normal(x.dims).astype(np.float16)
    nhwc = np.ascontiguousarray(array.transpose(0, 2, 3, 1))
    wanted = nhwc.reshape(-1).view(np.uint8)
    with use_reference_device():
        tensor = DeviceTensor.from_numpy(array, strides=x.strides)
        for value in (array, nhwc.transpose(0, 3, 1, 2), nhwc, wanted, tensor):
            np.testing.assert_array_equal(host_operands(graph, {"x": value})[x.uid], wanted)
        buffer = DeviceBuffer(wanted.nbytes)
        buffer.copy_from_host(wanted)
        np.testing.assert_array_equal(host_operands(graph, {x: buffer})[x.uid], wanted)
        found = host_operands(graph, {"x": nhwc, "y": DeviceBuffer(8)})
        assert set(found) == {x.uid}
        with pytest.raises(TypeError, match="tensor 'x': workers need its contents"):
            host_operands(graph, {"x": buffer.ptr})
    with pytest.raises(ValueError, match="tensor 'w' has 36864 bytes, and the array 6"):
        host_operands(graph, {w: np.zeros(3, np.float16)})
    with pytest.raises(ValueError, match="tensor 'x' is of float16, and the array of int16"):
        host_operands(graph, {x: np.zeros(x.dims, np.int16)})
    with pytest.raises(KeyError, match="'z'"):
        host_operands(graph, {"z": nhwc})


def test_operands_with_gaps_and_of_fewer_bits():
    graph = Graph(io_data_type="float32")
    x = graph.tensor((2, 3, 4), (24, 8, 2), "float32", name="x")
    mask = graph.tensor((2, 3, 8), (24, 8, 1), "boolean", name="mask")
    x.uid, mask.uid = 1, 2
    fake = SimpleNamespace(inputs=[x, mask], outputs=[])
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    (found,) = host_operands(fake, {"x": array}).values()
    memory = found.view(np.float32)
    assert memory.size == 24 + 16 + 6 + 1
    for index in np.ndindex(2, 3, 4):
        assert memory[np.dot(index, (24, 8, 2))] == array[index]
    bits = np.array([1, 2, 3, 4, 5, 6], np.uint8)
    np.testing.assert_array_equal(host_operands(fake, {"mask": bits})[2], bits)


def test_numbers_go_as_they_are():
    graph = Graph(io_data_type="float16")
    factor = graph.tensor_scalar(1.0)
    factor.value, factor.name = None, "factor"
    graph.mul(graph.tensor((4, 8, 8), name="x"), factor).set_output(name="y")
    graph.validate()
    assert host_operands(graph, {"factor": 2.5}) == {factor.uid: 2.5}


def test_workers_get_what_was_sent():
    contents = np.arange(200, dtype=np.uint8)
    with use_reference_device(), Handle() as handle, ExitStack() as stack:
        buffer = _on_the_gpu(contents, handle, stack)
        np.testing.assert_array_equal(buffer.copy_to_host(), contents)
        for number in (2.5, 3, np.float32(1)):
            assert _on_the_gpu(number, handle, stack) is number
    assert buffer.closed


def test_a_worker_answers_for_each_config_it_was_asked(h200):
    """Under the name by which it was asked, also if cuDNN refuses it or calls it otherwise."""
    with CASES[NAME].graph() as graph:
        rows = graph.explain(h200, ["a"]).usable
        tuner = Tuner(
            lambda config: ExecutionPlan(config, device=h200),
            lambda plan, untimed, runs: [5.0] * runs,
            Settings(runs=1),
            Selection(),
        )
        good = rows[0].choice
        open_knobs = {name: -1 for name in good.knobs if name != "kernel_cfg"}
        asked = [
            good,
            EngineChoice(9999),
            EngineChoice(good.engine, {"no_such": 1}),
            EngineChoice(good.engine, {**good.knobs, **open_knobs}),
        ]
        with lowered(graph.expansion(h200), h200) as lowering:
            found = [
                _measured(tuner, lowering.graph, h200, each, f"a {n}", None)
                for n, each in enumerate((*asked, good))
            ]
        tuner.close()
    assert [each.choice for each in found] == [*asked, good]
    assert [each.source for each in found] == ["a 0", "a 1", "a 2", "a 3", "a 4"]
    assert [each.state for each in found[:3]] == ["measured", "failed", "failed"]
    assert "engine 9999: this graph has engines" in found[1].reason
    assert "has no knob 'no_such'" in found[2].reason
    assert found[4].times == found[0].times


def _hold(folder: str, uuid: str) -> None:
    """Fails if another process is within the lock at the same time."""
    for _ in range(20):
        with gpu_lock(uuid):
            mark = Path(folder) / "within"
            mark.mkdir()
            mark.rmdir()


@pytest.mark.soak
def test_one_process_measures_at_a_time(tmp_path):
    uuid = f"test-{os.getpid()}"
    with ProcessPoolExecutor(3, get_context("spawn")) as executor:
        for each in [executor.submit(_hold, str(tmp_path), uuid) for _ in range(3)]:
            each.result()
    with ThreadPoolExecutor(3) as threads:
        for each in [threads.submit(_hold, str(tmp_path), uuid) for _ in range(3)]:
            each.result()


def test_without_a_place_for_the_lock_there_is_none(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with gpu_lock("x"), gpu_lock("x"):
        pass


# --- on the reference device, with times made up --------------------------------------------------


class _Timer:
    """Executes, and makes up times: each is a little less than the one before."""

    calls = itertools.count()

    def __init__(self, handle: Handle, *, cold_cache: bool) -> None:
        pass

    def warm_up(self) -> None:
        pass

    def __call__(self, execute: Any, runs: int) -> list[float]:
        execute()
        return [1000.0 - next(self.calls)] * runs

    def __enter__(self) -> _Timer:
        return self

    def __exit__(self, *exc_info: object) -> None:
        pass


@pytest.fixture
def tunable(monkeypatch):
    """A handle of the reference device that autotuning takes for one of a GPU."""
    for module in (autotuning, spread_tuning):
        monkeypatch.setattr(module, "check_handle", lambda handle: None)
    monkeypatch.setattr(autotuning, "Timer", _Timer)
    with use_reference_device(), Handle() as handle:
        monkeypatch.setattr(type(handle.device), "uuid", "reference", raising=False)
        yield handle


@pytest.mark.parametrize("workers", [0, 2])
def test_all_of_it(workers, tunable, tmp_path):
    """With an executor and without: measurements, plan, cache, and numbers of the plan."""
    with CASES[NAME].graph() as graph, CASES[NAME].graph() as later:
        graph.validate()
        inputs, _ = problem(CASES[NAME], graph)
        options = {"heuristics": "a", "runs": 2, "cache": tmp_path}
        if workers:
            with ThreadPoolExecutor(workers) as executor:
                tuned = graph.autotune(tunable, inputs, executor=executor, **options)
        else:
            tuned = graph.autotune(tunable, **options)
        rows = [row for row in graph.explain(tunable, "a") if row.proposed_by]
        assert [each.choice for each in tuned] == [row.choice for row in rows]
        assert {each.state for each in tuned} <= {"measured", "dropped"}
        assert tuned.best.median == min(each.median for each in tuned)
        assert tuned.best is not tuned.measurements[0]
        plan = later.build(tunable, cache=tmp_path)
        assert plan.config.choice.engine == graph.plan.config.choice.engine == tuned.best.engine
        check(CASES[NAME], later, tunable, ANY_ENGINE)


# --- on a GPU -------------------------------------------------------------------------------------


def _spawning(count: int) -> ProcessPoolExecutor:
    return ProcessPoolExecutor(count, get_context("spawn"))


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
class TestOnAGpu:
    @pytest.mark.parametrize("kind", ["processes", "threads", "dask"])
    def test_any_executor_will_do(self, kind, handle):
        """The same configs as without one, all with times; the fastest stays and computes."""
        name = "convolution + bias + relu"
        with CASES[name].graph() as graph:
            alone = graph.autotune(handle, runs=5, budget=None)
            with _executor(kind) as executor:
                tuned = graph.autotune(handle, runs=5, budget=None, executor=executor)
            print(tuned)
            assert {each.choice for each in tuned} == {each.choice for each in alone}
            states = {each.choice: each.state == "failed" for each in alone}
            assert {each.choice: each.state == "failed" for each in tuned} == states
            medians = [each.median for each in tuned if each.state == "measured"]
            assert 0 < tuned.best.median == min(medians)
            check(CASES[name], graph, handle, ANY_ENGINE)

    def test_arrays_are_sent(self, handle):
        """Those of NumPy, and what device memory holds."""
        with CASES[NAME].graph() as graph:
            graph.validate()
            inputs, _ = problem(CASES[NAME], graph)
            arrays = {
                each.name: np.ascontiguousarray(inputs[each.name].transpose(0, 2, 3, 1))
                for each in graph.inputs
            }
            assert arrays["x"].dtype == numpy_dtype(graph.inputs[0].data_type)
            with _spawning(1) as executor:
                tuned = graph.autotune(handle, arrays, "a", runs=3, executor=executor)
                with Operands(CASES[NAME], graph) as operands:
                    device = {each: operands.memory[each] for each in graph.inputs}
                    again = graph.autotune(handle, device, "a", runs=3, executor=executor)
            assert any(each.state == "measured" for each in tuned)
            assert {each.choice for each in again} == {each.choice for each in tuned}

    def test_a_worker_without_the_gpu_says_so(self, handle):
        hidden = ProcessPoolExecutor(1, get_context("spawn"), _hide_gpus)
        with (
            CASES[NAME].graph() as graph,
            hidden as executor,
            pytest.raises(NotSupportedError) as caught,
        ):
            graph.autotune(handle, heuristics="a", executor=executor)
        assert caught.value.messages

    @pytest.mark.parametrize("kind", ["processes", "threads"])
    def test_two_gpus(self, kind, handle):
        if device_count() < 2:
            pytest.skip("there is one GPU")
        with CASES[NAME].graph() as graph, _executor(kind) as executor:
            tuned = graph.autotune(handle, runs=5, executor=executor, devices=[0, 1])
            assert sum(each.state == "measured" for each in tuned) > 5
            check(CASES[NAME], graph, handle, ANY_ENGINE)


def _hide_gpus() -> None:
    os.environ["CUDA_VISIBLE_DEVICES"] = ""


def _executor(kind: str) -> Any:
    if kind == "processes":
        return _spawning(2)
    if kind == "threads":
        return ThreadPoolExecutor(2)
    return _dask()


class _dask:
    def __enter__(self) -> Any:
        distributed = pytest.importorskip("distributed")
        self._cluster = distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=None, processes=True
        )
        self._client = distributed.Client(self._cluster)
        return self._client.get_executor()

    def __exit__(self, *exc_info: object) -> None:
        self._client.close()
        self._cluster.close()
