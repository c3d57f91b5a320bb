"""Operations around attention: within it, where cuDNN has engines for them, and alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from error_report import Report

from cudnn_ctypes import Handle
from cudnn_ctypes.errors import NotSupportedError, SymbolNotFoundError
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


SCORES = (2, 4, 64, 64)
DIAGONALS = (2, 4, 64, 32)
BAND: dict[str, Any] = {"lower_bandwidth": 16, "upper_bandwidth": 15, "axis": 3}


def _tensor(graph: Graph, dims: tuple[int, ...] = SCORES, data_type: str = "float16") -> Tensor:
    return graph.tensor(dims, data_type=data_type)


def _pages(graph: Graph) -> Tensor:
    table, lengths = (_tensor(graph, (2, 1, n, 1), "int32") for n in (8, 1))
    return graph.paged_cache_load(_tensor(graph, (64, 4, 16, 64)), table, lengths, 128)


ALONE: dict[str, Callable[[Graph], Tensor]] = {
    "softmax": lambda g: g.softmax(_tensor(g))["y"],
    "diagonal_band_mask": lambda g: g.diagonal_band_mask(_tensor(g), NEVER),
    "rope": lambda g: g.rope(_tensor(g), _tensor(g, (1, 1, 64, 64), "float32")),
    "rope_backward": lambda g: g.rope_backward(_tensor(g), _tensor(g, (1, 1, 64, 64), "float32")),
    "paged_cache_load": _pages,
    "expand_band_matrix": lambda g: g.expand_band_matrix(
        _tensor(g, (2, 4, 64, 32)), SCORES, **BAND
    ),
    "contract_band_matrix": lambda g: g.contract_band_matrix(_tensor(g), (2, 4, 64, 32), **BAND),
    "rng, bernoulli": lambda g: g.rng(SCORES, seed=3, probability=0.5),
    "rng, uniform": lambda g: g.rng(SCORES, "uniform", seed=3, minimum=0.0, maximum=1.0),
    "rng, normal": lambda g: g.rng(SCORES, "normal", seed=3, mean=0.0, standard_deviation=1.0),
}


@pytest.mark.parametrize("name", list(ALONE))
def test_alone_has_no_engine_on_an_h200(name: str, h200: DeviceProperties) -> None:
    """cuDNN takes the graph, and each of its engines says why not."""
    with Graph(io_data_type="float16") as graph:
        ALONE[name](graph).set_output()
        with pytest.raises((NotSupportedError, SymbolNotFoundError)) as caught:
            graph.build(h200)
    if caught.type is NotSupportedError:
        assert "engine 1" in str(caught.value)
        assert name.split(",")[0] in str(caught.value)


REFUSED: dict[str, tuple[Callable[[Graph], Tensor], str]] = {
    "axis of a band": (
        lambda g: g.expand_band_matrix(_tensor(g), SCORES, **{**BAND, "axis": 1}),
        "axis 1 is none of the last two dimensions",
    ),
    "width of a band": (
        lambda g: g.expand_band_matrix(_tensor(g), SCORES, **BAND),
        r"\(2, 4, 64, 64\) must have lower_bandwidth \+ upper_bandwidth \+ 1 = 32 elements",
    ),
    "angles": (
        lambda g: g.rope(_tensor(g), _tensor(g, (1, 1, 64, 32))),
        "has less than 64 angles, the rope_dim",
    ),
    "odd rope_dim": (
        lambda g: g.rope(_tensor(g), _tensor(g), rope_dim=31),
        "rope_dim 31 must be even, and at most the head size 64",
    ),
    "pages": (
        lambda g: g.paged_cache_load(
            _tensor(g, (64, 4, 16, 64)),
            _tensor(g, (2, 1, 8, 1), "int32"),
            _tensor(g, (2, 1, 1, 1), "int32"),
            129,
        ),
        "max_seq_len 129 does not fit in 8 pages of 16",
    ),
    "probability": (lambda g: g.rng(SCORES, seed=1, probability=1.5), "from 0 to 1, got 1.5"),
}


@pytest.mark.parametrize("name", list(REFUSED))
def test_refuses_what_does_not_fit(name: str) -> None:
    describe, message = REFUSED[name]

    def described() -> None:
        graph = Graph(io_data_type="float16")
        describe(graph).set_output()
        graph.validate()

    with pytest.raises(ValueError, match=message):
        described()
