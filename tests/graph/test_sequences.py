"""Operations around attention: within it, where cuDNN has engines for them, and alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from error_report import Report

from cudnn_ctypes import Handle
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from .attentions import Attention, execute
from .test_attention import TOLERANCES, build, check

PLAIN = Attention(scale=0.125)
NEVER = float("-inf")


def _between(
    graph: Graph,
    attention: Attention,
    *,
    mask: Callable[[Graph, Tensor, Mapping[str, Tensor]], Tensor] | None = None,
    outputs: tuple[str, ...] = ("y", "stats"),
) -> None:
    """Attention by the softmax operation, perhaps with a mask before it."""
    q, k, v = attention.operands(graph)
    given = {
        name: graph.tensor((attention.batch, 1, 1, 1), data_type="int32", name=name)
        for name in ("seq_len_q", "seq_len_kv")
        if attention.lengths is not None
    }
    sink = None
    if attention.sink:
        sink = graph.tensor((1, attention.heads, 1, 1), data_type="float32", name="sink")
    scores = graph.mul(graph.matmul(q, k, transpose_B=True), attention.factor)
    if mask is not None:
        scores = mask(graph, scores, given)
    results = graph.softmax(scores, outputs=outputs, sink=sink)
    for name in outputs[1:]:
        results[name].set_output(name=name)
    results["y"].data_type = graph.io_data_type
    graph.matmul(results["y"], v).set_output(name="o", strides=q.strides)


def _right(shift: int | None = None) -> Any:
    return lambda g, scores, _: g.diagonal_band_mask(scores, NEVER, right_shift=shift)


def _left(bound: int) -> Any:
    return lambda g, scores, _: g.diagonal_band_mask(
        scores, NEVER, comparison="cmp_gt", left_bound=bound
    )


WITHIN: dict[str, tuple[Attention, dict[str, Any]]] = {
    "softmax": (PLAIN, {}),
    "softmax with maximum and sum": (PLAIN, {"outputs": ("y", "max", "sum_exp")}),
    "softmax with a sink": (Attention(scale=0.125, sink=True), {}),
    "diagonal mask": (Attention(scale=0.125, right=0), {"mask": _right()}),
    "diagonal mask, shifted": (Attention(scale=0.125, right=5), {"mask": _right(5)}),
    "diagonal mask to the left": (Attention(scale=0.125, left=32), {"mask": _left(32)}),
}


@pytest.mark.thinned(6)
@pytest.mark.parametrize("name", list(WITHIN))
def test_within_attention_builds_for_an_h200(name: str, h200: DeviceProperties) -> None:
    attention, options = WITHIN[name]
    with Graph(io_data_type="float16") as graph:
        _between(graph, attention, **options)
        build(graph, h200)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("data_type", list(TOLERANCES))
@pytest.mark.parametrize("name", list(WITHIN))
def test_within_attention(name: str, data_type: str, report: Report) -> None:
    pytest.importorskip("torch")
    attention, options = WITHIN[name]
    a = attention.values(data_type)
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        _between(graph, attention, **options)
        build(graph, handle)
        found = execute(attention, graph, a, handle)
    if "max" in found:
        found["stats"] = found.pop("max") + np.log(found.pop("sum_exp"))
    check(attention, data_type, found, attention.compute(a), a, report, name)
