"""Rows of measurements, tables, and results over time."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from cudnn_ctypes.commands.bench import History, compared, default_folder
from cudnn_ctypes.commands.bench.measuring import measured_row, timed
from cudnn_ctypes.commands.bench.results import BenchResult, BenchRow
from cudnn_ctypes.graph.engines.tuning.measurements import Measurement

ROWS = (
    BenchRow("engine 4", "graph", 20.0, 19.0, 22.0, 1 << 20, True, True),
    BenchRow("implicit_gemm (fma_math)", "legacy", 40.0, 40.0, 41.0, 0, True, False),
    BenchRow("PyTorch 2.11", "PyTorch", 10.0, 9.0, 11.0),
    BenchRow("engine 7", "graph", note="failed: it refused"),
    BenchRow("engine 5", "graph", 16.0, 15.0, 16.5, 0, False, True),
)


def result(**changes: object) -> BenchResult:
    made = BenchResult(
        "a matmul", "GPU", "9.28.0", "1.0", ROWS, 8_000_000, 4_000, 5.0, "a source", 1e9
    )
    return replace(made, **changes)  # type: ignore[arg-type]


def test_the_fastest_is_first_and_pytorch_is_not_the_best_of_cudnn() -> None:
    assert [row.what for row in result().ranking] == [
        "PyTorch 2.11",
        "engine 5",
        "engine 4",
        "implicit_gemm (fma_math)",
        "engine 7",
    ]
    best = result().best
    assert best is not None
    assert best.what == "engine 5"
    assert result(rows=ROWS[2:4]).best is None


def test_the_table_has_speeds_and_shares() -> None:
    lines = str(result()).splitlines()
    (row,) = (line for line in lines if line.endswith("graph: engine 4"))
    # 8 MFLOP in 20 us, 4 kB in 20 us, 5 us of 20.
    assert row.split()[:8] == ["20.0", "3.0", "0.4", "0.2", "25%", "1,048,576", "yes", "yes"]
    (row,) = (line for line in lines if "PyTorch 2.11" in line)
    assert row.split()[4:8] == ["50%", "-", "?", "?"]
    (row,) = (line for line in lines if "it refused" in line)
    assert row.split() == ["-", "?", "?", "graph:", "engine", "7", "failed:", "it", "refused"]
    assert "no limit is known" in str(result(limit=None))
    assert not any(line != line.rstrip() for line in lines)


def test_json_and_back() -> None:
    stored = json.loads(json.dumps(result().as_dict()))
    assert stored["rows"][1]["share"] == pytest.approx(5 / 16)
    again = BenchResult.from_dict(stored)
    assert again == result(rows=result().ranking)
    assert again.made == 1e9
    with pytest.raises((KeyError, TypeError)):
        BenchResult.from_dict({"rows": []})


def test_rows_of_measurements() -> None:
    notes = ("nondeterministic", "tensor_core")
    row = measured_row(Measurement(3, {}, "a 1", "measured", (1.0, 2.0, 3.0), 64, notes))
    assert (row.median, row.low, row.high) == (2.0, 1.5, 2.5)
    assert (row.deterministic, row.tensor_cores, row.workspace) == (False, True, 64)
    row = measured_row(Measurement(3, {}, "a 1", "dropped", (9.0, 9.0, 9.0)))
    assert row.median == 9.0
    assert "after 3 runs" in row.note
    assert (row.deterministic, row.tensor_cores) == (True, False)
    row = measured_row(Measurement(3, {}, "a 1", "failed", status="X", reason="why"))
    assert (row.median, row.deterministic, row.note) == (None, None, "failed: X: why")


def test_one_time_is_its_own_quartile() -> None:
    row = timed(BenchRow("a", "legacy", workspace=3), [7.0])
    assert (row.median, row.low, row.high, row.workspace) == (7.0, 7.0, 7.0, 3)


def test_plot(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    axes = result().plot()
    assert len(axes.patches) == 4
    axes.figure.savefig(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")


def test_results_are_kept_by_gpu_and_problem(tmp_path: Path) -> None:
    history = History(tmp_path, "a matmul", "NVIDIA H200")
    assert history.results() == []
    history.keep(result())
    history.keep(result(cudnn="9.30.0"))
    with history.path.open("a") as file:
        file.write("damaged\n[]\n")
    assert [each.cudnn for each in history.results()] == ["9.28.0", "9.30.0"]
    assert History(tmp_path, "a matmul", "NVIDIA H200").results() == history.results()
    assert History(tmp_path, "a matmul", "L4").results() == []
    assert History(tmp_path, "another", "NVIDIA H200").results() == []


def test_they_are_beside_the_plan_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("CUDNN_CTYPES_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert default_folder() == tmp_path / "cudnn_ctypes" / "bench"


def test_changes_beyond_the_spread_are_told() -> None:
    faster = replace(ROWS[0], median=10.0, low=9.0, high=11.0)
    same = replace(ROWS[4], median=16.2)
    later = result(cudnn="9.30.0", rows=(faster, same))
    text = compared([result(), later])
    assert "9.28.0 to 9.30.0" in text
    (change,) = (line for line in text.splitlines() if "-50%" in line)
    assert change.split() == ["20.0", "10.0", "-50%", "graph:", "engine", "4"]
    assert "+1%" not in text
    assert "no change beyond the spread" in compared([result(), result()])
    assert "nothing was timed" in compared([result(rows=ROWS[3:4])])
