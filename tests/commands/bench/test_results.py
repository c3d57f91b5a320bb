"""Rows of measurements, tables, and results over time."""

from __future__ import annotations

import dataclasses

from cudnn_ctypes.commands.bench.measuring import measured_row
from cudnn_ctypes.commands.bench.results import BenchResult, BenchRow
from cudnn_ctypes.graph.engines.tuning.measurements import Measurement

ROWS = (
    BenchRow("engine 4", "graph", 20.0, 19.0, 22.0, 1 << 20, True, True),
    BenchRow("implicit_gemm (fma_math)", "legacy", 40.0, 40.0, 41.0, 0, True, False),
    BenchRow("PyTorch 2.11", "PyTorch", 10.0, 9.0, 11.0),
    BenchRow("engine 7", "graph", note="failed: it refused"),
    BenchRow("engine 5", "graph", 16.0, 15.0, 16.5, 0, False, True, "slower"),
)


def result(**changes: object) -> BenchResult:
    made = BenchResult("a matmul", "GPU", "9.28.0", "1.0", ROWS, 8_000_000, 4_000, 5.0, "a source")
    return dataclasses.replace(made, **changes)


# 8 MFLOP and 4 kB in the time of each, of which 5 us are the limit.
TABLE = """\
a matmul on GPU, cuDNN 9.28.0
0.008 GFLOP, 0.004 MB at least
limit 5 us: a source
known fault 'it': told

  us  spread  TFLOP/s  GB/s  of limit  workspace  same bits  tensor cores  what
10.0     2.0      0.8   0.4       50%          -  ?          ?             PyTorch 2.11
16.0     1.5      0.5   0.2       31%          0  no         yes           graph: engine 5 (slower)
20.0     3.0      0.4   0.2       25%  1,048,576  yes        yes           graph: engine 4
40.0     1.0      0.2   0.1       12%          0  yes        no            \
legacy: implicit_gemm (fma_math)

workspace  same bits  tensor cores  what             note
        -  ?          ?             graph: engine 7  failed: it refused"""


def test_a_result_as_text_data_and_bars():
    assert str(result(faults={"it": "told"})) == TABLE
    unknown = result(rows=ROWS[3:], limit=None, flops=0)
    assert "no limit is known for this GPU and data type (a source)" in str(unknown)
    rows = unknown.as_dict()["rows"]
    speeds = [tuple(row[name] for name in ("tflops", "gbytes", "share")) for row in rows]
    assert speeds == [(None, 0.25, None), (None, None, None)]
    known = {"tflops": 0.4, "gbytes": 0.2, "share": 0.25}
    assert result().as_dict()["rows"][2] == {**dataclasses.asdict(ROWS[0]), **known}
    assert result(rows=ROWS[2:4]).best is None
    assert [dataclasses.astuple(bar) for bar in result()._bars()] == [
        ("PyTorch 2.11", 9.0, 10.0, 11.0, "pale"),
        ("graph: engine 5", 15.0, 16.0, 16.5, "best"),
        ("graph: engine 4", 19.0, 20.0, 22.0, ""),
        ("legacy: implicit_gemm (fma_math)", 40.0, 40.0, 41.0, ""),
    ]


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
