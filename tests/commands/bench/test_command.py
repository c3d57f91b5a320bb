"""``python -m cudnn_ctypes bench``: on the reference device with made-up times, and on a GPU."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import contextmanager, nullcontext
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import Graph, Handle, NoDeviceError, raw, use_reference_device
from cudnn_ctypes.__main__ import main
from cudnn_ctypes.commands.bench import _handle
from cudnn_ctypes.commands.bench.measuring import (
    Options,
    algorithm_rows,
    engine_rows,
    problem_of,
    torch_row,
)
from cudnn_ctypes.commands.bench.results import BenchRow
from cudnn_ctypes.graph.engines.tuning.measurements import Measurement, Settings

PROBLEMS = {
    "attention": (["1x2x64x64"], Options(causal=True)),
    "convolution": (["2x8x9x9", "8x8x3x3"], Options(padding=1)),
    "data": (["2x8x9x9", "8x8x3x3"], Options(padding=1, stride=2, direction="data")),
    "filter": (["2x8x9x9", "8x4x3x3"], Options(layout="NCHW", direction="filter")),
    "matmul": (["64x32", "32x16"], Options()),
    "layer norm": (["16x64"], Options()),
    "rms norm": (["16x64"], Options(norm="rms")),
}
KIND = {"data": "convolution", "filter": "convolution", "layer norm": "norm", "rms norm": "norm"}


class MadeUp:
    """Stands in for a timer: executes once, and counts the executions."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, execute: Callable[[], object], runs: int) -> list[float]:
        execute()
        self.count += 1
        return [float(self.count)] * runs


@pytest.mark.parametrize("name", ["convolution", "data", "filter"])
def test_every_algorithm_that_can_run_is_timed(reference_device, name):
    shapes, options = PROBLEMS[name]
    problem, timer = problem_of("convolution", shapes, options), MadeUp()
    with Handle() as handle:
        rows = list(algorithm_rows(problem, handle, timer, 3))
    done = [row for row in rows if row.median is not None]
    assert len(done) == timer.count > 0
    assert [row.median for row in done] == [float(i + 1) for i in range(len(done))]
    assert all(row.workspace is not None and row.deterministic is not None for row in done)
    assert all(row.note for row in rows if row.median is None)


def test_an_algorithm_that_fails_does_not_stop_the_others(reference_device, monkeypatch):
    timer = MadeUp()

    def time(execute, runs):
        times = timer(execute, runs)
        if timer.count == 1:
            raw.cudnnSetStream(None, None)  # refused
        return times

    problem = problem_of("convolution", *PROBLEMS["convolution"])
    with Handle() as handle:
        rows = list(algorithm_rows(problem, handle, time, 3))
    assert rows[0].note.startswith("failed: cudnnSetStream")
    assert any(row.median is not None for row in rows[1:])


def test_the_reference_device_has_no_times_of_engines(reference_device):
    problem = problem_of("matmul", *PROBLEMS["matmul"])
    with Handle() as handle:
        assert list(algorithm_rows(problem, handle, MadeUp(), 3)) == []
        with pytest.raises(NoDeviceError, match="measures plans on a GPU"):
            engine_rows(problem, handle, Settings(), lambda row, total: None)
    assert _handle() is None


@pytest.mark.parametrize("name", PROBLEMS)
def test_pytorch_computes_the_same_shape(name):
    """On the CPU, so that the calls are known to be right where there is no GPU."""
    torch = pytest.importorskip("torch")
    shapes, options = PROBLEMS[name]
    problem = problem_of(KIND.get(name, name), shapes, options)
    problem.graph.validate()
    assert problem.torch is not None
    call = problem.torch.bound(torch, "cpu")
    assert call is not None
    found = call()
    if isinstance(found, tuple):
        (found,) = (each for each in found if each is not None)
    (output,) = problem.graph.outputs
    assert output.dims is not None
    assert np.prod(found.shape) == np.prod(output.dims)
    assert [size for size in found.shape if size > 1] == [size for size in output.dims if size > 1]


def test_types_that_pytorch_lacks():
    problem = problem_of("matmul", ["16x32", "32x16"], Options(data_type="fp8_e4m3"))
    assert torch_row(problem, None, MadeUp(), 3) is None


class Told(list[Any]):
    """What `Graph.explain` gives."""

    refusal = "no engine"


def explained(state: str, kind: str, *notes: str, workspace: int | None = None) -> Any:
    """The row of an engine."""
    row = {"state": state, "kind": kind, "reason": "why" if kind else "old", "choice": "engine 4"}
    return SimpleNamespace(
        **row, numerical_notes=notes[:1], behavior_notes=notes[1:], workspace=workspace
    )


def test_without_a_gpu_the_engines_that_compile_are_shown(monkeypatch, capsys):
    monkeypatch.setattr("cudnn_ctypes.commands.bench._handle", lambda: None)
    told = Told(
        [
            explained("works", "runtime fusion", "tensor_core", "nondeterministic", workspace=64),
            explained("refused", "precompiled"),
            explained("refused", ""),
        ]
    )
    monkeypatch.setattr(Graph, "explain", lambda graph, device, *, compile: told)
    words = ["bench", "matmul", "64x32", "32x16", "--json"]
    assert main(words) == 0
    out, err = capsys.readouterr()
    assert err.startswith("bench: there is no GPU here")
    assert "compile for h200" in err
    data = json.loads(out)
    assert (data["gpu"], data["flops"]) == ("NVIDIA H200", 2 * 64 * 32 * 16)
    names = ("workspace", "deterministic", "tensor_cores", "note")
    assert [[row[name] for name in names] for row in data["rows"]] == [
        [64, False, True, "runtime fusion"],
        [None, True, False, "refused: why"],
        [None, None, None, "refused: old"],
    ]
    del told[0]
    assert main([*words[:-1], "--device", "b200"]) == 1
    out, err = capsys.readouterr()
    assert "matmul 64x32 by 32x16, float16 on NVIDIA B200" in out
    assert err == ""
    told.clear()
    assert main([*words, "--device", "b200"]) == 1
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert (row["what"], row["note"]) == ("the graph", "no engine")


def test_ctrl_c_tells_what_was_measured(reference_device, monkeypatch, capsys):
    def measure(problem, handle, arguments, rows):
        rows.append(BenchRow("engine 1", "graph", 3.0, 3.0, 3.0))
        raise KeyboardInterrupt

    monkeypatch.setattr("cudnn_ctypes.commands.bench._handle", Handle)
    monkeypatch.setattr("cudnn_ctypes.commands.bench._measure", measure)
    assert main(["bench", "matmul", "64x32", "32x16", "--json"]) == 130
    out, err = capsys.readouterr()
    assert [row["median"] for row in json.loads(out)["rows"]] == [3.0]
    assert err == ""


@pytest.mark.soak
def test_results_are_plotted(reference_device, monkeypatch, tmp_path, capsys):
    pytest.importorskip("matplotlib").use("Agg")

    def measure(problem, handle, arguments, rows):
        rows.append(BenchRow("engine 1", "graph", 8.0, 8.0, 8.0))

    monkeypatch.setattr("cudnn_ctypes.commands.bench._handle", Handle)
    monkeypatch.setattr("cudnn_ctypes.commands.bench._measure", measure)
    words = ["bench", "matmul", "64x32", "32x16"]
    assert main([*words, "--plot", f"{tmp_path}/plots/"]) == 0
    assert (tmp_path / "plots" / "bench.png").is_file()
    assert main([*words, "--plot", f"{tmp_path}/plots/"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main([*words, "--plot", "/proc/times.svg"]) == 2
    assert "/proc/times.svg: it cannot be written" in capsys.readouterr().err


def test_rows_come_one_by_one_and_then_sorted(reference_device, monkeypatch, capsys):
    """All but the GPU: algorithms, no PyTorch, engines as `tune` notes them."""
    closed = []

    @contextmanager
    def opened(*arguments):
        yield SimpleNamespace(close=lambda: closed.append(True))

    def tune(*arguments, noted, **options):
        assert options["every_engine"]
        assert options["knobs"] == 2
        noted(Measurement(9, {}, "a 1", "measured", (0.5, 0.5)), 4)
        noted(Measurement(8, {}, "engine", "failed", status="X", reason="why"), 4)

    monkeypatch.setattr("cudnn_ctypes.commands.bench._handle", Handle)
    monkeypatch.setattr(
        "cudnn_ctypes.commands.bench.open_timer", lambda *_, **__: nullcontext(MadeUp())
    )
    monkeypatch.setattr("cudnn_ctypes.commands.bench.torch_with_gpu", lambda: None)
    monkeypatch.setattr("cudnn_ctypes.commands.bench.measuring.check_handle", lambda handle: None)
    monkeypatch.setattr(Graph, "explain", lambda *_, **__: None)
    monkeypatch.setattr(
        "cudnn_ctypes.commands.bench.measuring.checked_proposals", lambda *_, **__: []
    )
    monkeypatch.setattr("cudnn_ctypes.commands.bench.measuring.bench", opened)
    monkeypatch.setattr("cudnn_ctypes.commands.bench.measuring.tune_engines", tune)
    words = ["bench", "convolution", "2x8x9x9", "8x8x3x3", "--padding", "1", "--knobs", "2"]
    assert main(words) == 0
    came, _, table = capsys.readouterr().out.partition("\n\n")
    lines = came.splitlines()
    assert lines[0].split()[:2] == ["1.0", "us"]
    assert "legacy: " in lines[0]
    assert lines[-1].endswith("graph: engine 9")
    rows = table.split("\n\n")[1].splitlines()
    assert rows[1].split()[0] == "0.5"
    assert rows[1].endswith("graph: engine 9")
    assert len(rows) - 1 == len(lines)
    assert "failed: X: why" in table
    assert closed == [True]


@pytest.mark.gpu
@pytest.mark.parametrize("name", PROBLEMS)
def test_on_a_gpu(name, capsys):
    shapes, options = PROBLEMS[name]
    words = ["bench", KIND.get(name, name), *shapes, "--json", "--runs", "3", "--budget", "20"]
    words += ["--direction", options.direction, "--layout", options.layout]
    words += ["--padding", str(options.padding), "--stride", str(options.stride)]
    words += ["--norm", options.norm]
    with use_reference_device(False):
        assert main([*words, *(["--causal"] if options.causal else [])]) == 0
    told = json.loads(capsys.readouterr().out)
    timed = [row for row in told["rows"] if row["median"] is not None]
    assert any(row["api"] == "graph" for row in timed)
    assert any(row["api"] == "legacy" for row in timed) == (KIND.get(name, name) == "convolution")
    assert all(row["median"] > 0 and row["low"] <= row["median"] <= row["high"] for row in timed)
    medians = [row["median"] for row in timed]
    assert medians == sorted(medians)
    if told["limit"] is not None:
        assert all(row["share"] < 1.2 for row in timed if row["share"] is not None)
