"""Choosing from, and printing, what algorithm queries return."""

from __future__ import annotations

from io import StringIO

import pytest
from rich.console import Console

from cudnn_ctypes import AlgorithmRow, AlgorithmTable, raw
from cudnn_ctypes.errors import NotSupportedError

KIB = 1024


def perf(
    algorithm: str,
    memory: int,
    *,
    time: float = -1.0,
    status: raw.cudnnStatus_t = raw.CUDNN_STATUS_SUCCESS,
    deterministic: bool = True,
) -> AlgorithmRow:
    entry = raw.cudnnConvolutionFwdAlgoPerf_t()
    entry.algo = raw.cudnnConvolutionFwdAlgo_t[f"CUDNN_CONVOLUTION_FWD_ALGO_{algorithm}"]
    entry.status, entry.time, entry.memory = status, time, memory
    entry.determinism = raw.CUDNN_DETERMINISTIC if deterministic else raw.CUDNN_NON_DETERMINISTIC
    entry.mathType = raw.CUDNN_TENSOR_OP_MATH
    return AlgorithmRow.of(entry)


REFUSED = raw.CUDNN_STATUS_NOT_SUPPORTED
# As a heuristic answers: in the order of expected time, not timed; one that failed first of all.
SUGGESTED = AlgorithmTable(
    [
        perf("WINOGRAD", 0, status=REFUSED),
        perf("FFT", 300 * KIB, deterministic=False),
        perf("IMPLICIT_PRECOMP_GEMM", 2 * KIB, deterministic=False),
        perf("GEMM", 30 * KIB),
        perf("IMPLICIT_GEMM", 0),
    ],
    "cudnnGetConvolutionForwardAlgorithm_v7",
)


def name(row: AlgorithmRow) -> str:
    return row.algorithm.name.removeprefix("CUDNN_CONVOLUTION_FWD_ALGO_")


def test_nothing_deterministic() -> None:
    with pytest.raises(NotSupportedError, match="not deterministic"):
        SUGGESTED[:3].choose(deterministic=True)


def test_prints_with_rich() -> None:
    out, note = StringIO(), f"{'a' * 40} {'b' * 37}"
    Console(file=out, width=80).print(AlgorithmTable(SUGGESTED, SUGGESTED.source, note=note))
    table = out.getvalue()
    assert note in table
    for text in (SUGGESTED.source, "implicit_precomp_gemm", "not timed", "300.0 KiB", "tensor_op"):
        assert text in table
    assert "…" not in table
