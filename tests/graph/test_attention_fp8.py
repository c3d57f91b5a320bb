"""Attention on 8-bit numbers, forward and backward."""

from __future__ import annotations

import pytest
from error_report import Report

from cudnn_ctypes import Handle
from cudnn_ctypes.graph.graph import Graph

from .attentions import execute
from .fp8_attentions import FP8_BACKWARD, FP8_FORWARD, Fp8Attention
from .test_attention import build

# One element of 3 or 2 bits after the point is off by a 16th or an 8th at most. The softmax, or the
# gradient of the scores, and the result are rounded so; the first errors nearly cancel in sums.
OF_RESULTS = {"fp8_e4m3": 1.25 / 16, "fp8_e5m2": 1.25 / 8}
OF_MAXIMA = {"fp8_e4m3": 0.8 / 16, "fp8_e5m2": 0.8 / 8}
# The exponentials' sum is taken of numbers that the GPU computes in float32.
OF_STATS = 3e-4


def _check(
    problem: Fp8Attention, data_type: str, errors: dict[str, float], report: Report, operation: str
) -> None:
    for name, error in errors.items():
        allowed = OF_RESULTS[data_type]
        if name == "stats":
            allowed = OF_STATS
        elif name.startswith("amax"):
            allowed = OF_MAXIMA[data_type]
        report.ran(("gpu", data_type, f"{operation}: {name}"), error, error / allowed)
        assert error <= allowed, name


@pytest.mark.soak
@pytest.mark.parametrize(
    "describe",
    [each.forward for each in list(FP8_FORWARD.values())[::4]]
    + [each.backward for each in FP8_BACKWARD.values()],
)
def test_attention_builds_for_an_h200(describe, h200):
    with Graph() as graph:
        describe(graph)
        build(graph, h200)


@pytest.mark.gpu
@pytest.mark.parametrize("name", list(FP8_FORWARD))
def test_forward(name, report):
    pytest.importorskip("torch")
    problem = FP8_FORWARD[name]
    stored, exact = problem.operands()
    with Handle() as handle, Graph() as graph:
        problem.forward(graph)
        build(graph, handle)
        found = execute(problem.attention, graph, stored, handle)
    _check(problem, problem.data_type, problem.errors(found, exact), report, "sdpa_fp8")


@pytest.mark.gpu
@pytest.mark.parametrize("name", list(FP8_BACKWARD))
def test_backward(name, report):
    pytest.importorskip("torch")
    problem = FP8_BACKWARD[name]
    stored, exact = problem.operands()
    with Handle() as handle, Graph() as graph:
        problem.backward(graph)
        build(graph, handle)
        found = execute(problem.attention, graph, stored, handle)
    errors = problem.errors(found, exact)
    _check(problem, problem.gradient_type, errors, report, "sdpa_fp8_backward")
