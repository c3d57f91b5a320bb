"""What the logger "cudnn_ctypes" tells, and the categories of warnings."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from programs import run_program

import cudnn_ctypes as cudnn
from cudnn_ctypes.graph.backend.engine import EngineChoice
from cudnn_ctypes.graph.engines.tuning.autotuning import _log
from cudnn_ctypes.graph.engines.tuning.measurements import Measurement
from cudnn_ctypes.porting.compat import OldNameWarning


@pytest.fixture
def records(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[logging.LogRecord]]:
    """All that the logger tells while the test runs."""
    logger, handler = logging.getLogger("cudnn_ctypes"), logging.Handler()
    kept: list[logging.LogRecord] = []
    monkeypatch.setattr(handler, "emit", kept.append)
    before = logger.level
    logger.addHandler(handler)
    logger.setLevel(logging.DEBUG)
    yield kept
    logger.setLevel(before)
    logger.removeHandler(handler)


def product() -> cudnn.Graph:
    graph = cudnn.Graph("product", io_data_type="float16")
    graph.matmul(graph.tensor((1, 64, 64)), graph.tensor((1, 64, 64))).set_output()
    return graph


def test_the_library_that_is_chosen() -> None:
    program = """
        import logging, sys
        logging.basicConfig(stream=sys.stdout, level=logging.DEBUG, format="%(name)s|%(message)s")
        from cudnn_ctypes import raw
        raw.cudnnGetVersion()
        raw.cudnnGetVersion()
        print(raw.load().path)
    """
    *told, path = run_program(program).stdout.splitlines()
    (line,) = (line for line in told if line.startswith("cudnn_ctypes.raw.library|cuDNN "))
    assert f" from {path} (" in line


def test_nothing_is_printed_unless_it_is_asked_for(tmp_path: Path) -> None:
    program = """
        from cudnn_ctypes import DeviceBuffer, raw, use_reference_device
        use_reference_device()
        raw.cudnnGetVersion()
        DeviceBuffer(4 << 20).close()
    """
    assert run_program(program).stderr == ""


def test_plans_built_and_loaded(tmp_path: Path, records: list[logging.LogRecord]) -> None:
    cache = cudnn.PlanCache(tmp_path)
    with cudnn.DeviceProperties.preset("A100") as device:
        for _ in range(2):
            with product() as graph:
                graph.build(device, cache=cache)
                engine = graph.plan.config.choice.engine
        with product() as graph:
            graph.build(device, cache=False)
    built, loaded, uncached = (r.getMessage() for r in records if "plan of" in r.msg)
    assert built.startswith(f"graph 'product': plan of engine {engine}: ")
    assert f" built and put into the cache in {tmp_path} in " in built
    assert f"loaded from the cache in {tmp_path} in " in loaded
    assert " built in " in uncached


def test_allocations_that_the_driver_makes(reference_device, records):
    with cudnn.use_reference_device(), cudnn.DeviceBuffer(4 << 20), cudnn.DeviceBuffer(16):
        pass
    told = [r.getMessage() for r in records if r.name == "cudnn_ctypes.runtime.allocation"]
    assert told == ["4.0 MiB (4194304 bytes) allocated on the reference device"]


def test_measurements_of_autotuning(records: list[logging.LogRecord]) -> None:
    _log(Measurement(3, {"tile": 1}, "a 1", "measured", (2.0, 3.0, 4.0)))
    _log(Measurement(4, {}, "engine", "failed", reason="it refused"))
    first, second = (record.getMessage() for record in records)
    assert first == f"{EngineChoice(3, {'tile': 1})} (a 1) measured: 3.0 us"
    assert second.endswith("failed: it refused")


OWN = {
    cudnn.UnclosedWarning: ResourceWarning,
    cudnn.CleanUpWarning: RuntimeWarning,
    cudnn.DeviceMemoryWarning: RuntimeWarning,
    cudnn.FaultWarning: RuntimeWarning,
    cudnn.PlanCacheWarning: RuntimeWarning,
    OldNameWarning: DeprecationWarning,
}


@pytest.mark.parametrize("category", OWN)
def test_each_warning_is_one_of_ours_and_one_of_pythons(category: type[Warning]) -> None:
    assert issubclass(category, cudnn.CudnnWarning)
    assert issubclass(category, OWN[category])
