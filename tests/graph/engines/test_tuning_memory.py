"""The memory that autotuning and judging send elsewhere, the lock of a GPU, and made-up times."""

from __future__ import annotations

import itertools
import os
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, Selection, use_reference_device
from cudnn_ctypes.graph.engines.operands import host_operands
from cudnn_ctypes.graph.engines.tuning import autotuning
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.library.linux import locked

from ..cases import ANY_ENGINE, check
from ..families import CASES

NAME = "convolution"


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


def test_numbers_go_as_they_are():
    graph = Graph(io_data_type="float16")
    factor = graph.tensor_scalar(1.0)
    factor.value, factor.name = None, "factor"
    graph.mul(graph.tensor((4, 8, 8), name="x"), factor).set_output(name="y")
    graph.validate()
    assert host_operands(graph, {"factor": 2.5}) == {factor.uid: 2.5}


def _hold(folder: str, uuid: str) -> None:
    """Fails if another process is within the lock at the same time."""
    for _ in range(20):
        with locked(uuid):
            mark = Path(folder) / "within"
            mark.mkdir()
            mark.rmdir()


@pytest.mark.soak
def test_one_process_measures_at_a_time(tmp_path):
    uuid = f"test-{os.getpid()}"
    with ProcessPoolExecutor(3, get_context("spawn")) as executor:
        for each in [executor.submit(_hold, str(tmp_path), uuid) for _ in range(3)]:
            each.result()


def test_one_thread_measures_at_a_time(tmp_path):
    with ThreadPoolExecutor(3) as threads:
        for each in [threads.submit(_hold, str(tmp_path), f"test-{os.getpid()}") for _ in range(3)]:
            each.result()


def test_without_a_place_for_the_lock_there_is_none(monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", "/no/such/folder")
    with locked("x"), locked("x"):
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
    monkeypatch.setattr(autotuning, "check_handle", lambda handle: None)
    monkeypatch.setattr(autotuning, "Timer", _Timer)
    with use_reference_device(), Handle() as handle:
        monkeypatch.setattr(type(handle.device), "uuid", "reference", raising=False)
        yield handle


def test_all_of_it(tunable, tmp_path):
    """Measurements, plan, cache, and numbers of the plan."""
    with CASES[NAME].graph() as graph, CASES[NAME].graph() as later:
        options = {"cache": tmp_path, "selection": Selection(engines=[0, 1])}
        tuned = graph.autotune(tunable, heuristics="fallback", runs=2, **options)
        assert {each.engine for each in tuned if each.times} == {0, 1}
        assert {each.state for each in tuned} <= {"measured", "dropped", "excluded"}
        assert tuned.best.median == min(each.median for each in tuned)
        assert tuned.best is not tuned.measurements[0]
        plan = later.build(tunable, **options)
        assert plan.config.choice.engine == graph.plan.config.choice.engine == tuned.best.engine
        check(CASES[NAME], later, tunable, ANY_ENGINE)
