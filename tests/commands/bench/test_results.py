"""Rows of measurements, tables, and results over time."""

from __future__ import annotations

from dataclasses import replace

from cudnn_ctypes.commands.bench.measuring import measured_row
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
    made = BenchResult("a matmul", "GPU", "9.28.0", "1.0", ROWS, 8_000_000, 4_000, 5.0, "a source")
    return replace(made, **changes)


def test_the_fastest_is_first_and_pytorch_is_not_the_best_of_cudnn():
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


def test_the_table_has_speeds_and_shares():
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


def test_rows_of_measurements():
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
