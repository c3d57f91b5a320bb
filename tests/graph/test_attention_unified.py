"""Attention as one operation of cuDNN's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import Handle, raw
from cudnn_ctypes.errors import BadParamError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph

from .attention_problems import BOTH, COMBINED, FORWARD, LENGTHS, MODIFIED, MODIFIED_FORWARD
from .attentions import OUT, Attention, execute
from .test_attention import NEWEST, TYPES, build, check

CUMULATIVE = {
    "sums of lengths": Attention(lengths=LENGTHS, cumulative=True),
    "sums of lengths, ragged": Attention(lengths=LENGTHS, cumulative=True, ragged=True),
    "sums of lengths, causal from the bottom right": Attention(
        lengths=LENGTHS, cumulative=True, right=0, bottom_right=True
    ),
    "sums of lengths, window from the bottom right": Attention(
        lengths=LENGTHS, cumulative=True, left=32, right=3, bottom_right=True
    ),
    "sums of lengths, pages": Attention(lengths=LENGTHS, cumulative=True, page=16, inference=True),
}
# cuDNN's operation has no dropout by a mask.
EVERY = {
    name: attention
    for name, attention in {
        **BOTH,
        **FORWARD,
        **COMBINED,
        **MODIFIED,
        **MODIFIED_FORWARD,
        **CUMULATIVE,
    }.items()
    if attention.dropout != "mask"
}
# Built without a GPU, and on the reference device, too: each option once, and some together.
FORWARDS = {
    name: EVERY[name]
    for name in (
        "plain",
        "heads before tokens",
        "scale as a tensor",
        "heads of 128",
        "one head of keys for two",
        "padding",
        "ragged",
        "inference",
        "pages",
        "causal",
        "causal window",
        "window to both sides",
        "causal from the bottom right",
        "window from the bottom right",
        "padding, window from the bottom right",
        "alibi",
        "bias",
        "dropout by a seed",
        "sink",
        "padding, causal, sink",
        "causal, dropout",
        "ragged, bias",
        "pages, causal from the bottom right",
        "capped, padding",
        "capped, padding, causal, alibi, bias",
        "relative, pages, bias",
        *CUMULATIVE,
    )
}
BACKWARDS = {
    **{name: BOTH[name] for name in ("plain", "heads of 128", "padding")},
    "sums of lengths": CUMULATIVE["sums of lengths"],
}


def _backward(attention: Attention, graph: Graph, **more: Any) -> None:
    q, k, v = attention.operands(graph)
    o, d_o = (attention.like_o(graph, each) for each in OUT)
    d_o.ragged_offset = o.ragged_offset
    stats = graph.tensor((*attention.scores[:3], 1), data_type="float32", name="stats")
    attention.pack_stats(graph, stats)
    more |= {name: each for name, each in attention.options(graph).items() if "seq_len" in name}
    gradients = graph.sdpa_unified_backward(q, k, v, o, d_o, stats, **more)
    for gradient, like in zip(gradients, (q, k, v), strict=True):
        gradient.set_output(name=f"d{like.name}")
        gradient.ragged_offset = like.ragged_offset


def _build_backward(graph: Graph, device: Handle | DeviceProperties) -> None:
    """cuDNN 9.19 calls the graph malformed, 9.27 has no engine for it on an H200."""
    try:
        build(graph, device)
    except BadParamError as error:
        if raw.load().version >= NEWEST:
            raise
        pytest.skip(str(error))


@pytest.mark.soak
@pytest.mark.parametrize("name", list(FORWARDS)[::8])
def test_forward_builds_for_an_h200(name, h200):
    with Graph(io_data_type="float16") as graph:
        FORWARDS[name].forward(graph, unified=True)
        build(graph, h200)


@pytest.mark.thinned(12)
@pytest.mark.gpu
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", list(EVERY))
def test_forward(name, data_type, report):
    pytest.importorskip("torch")
    attention = EVERY[name]
    a = attention.values(data_type)
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        attention.forward(graph, unified=True)
        build(graph, handle)
        found = execute(attention, graph, a, handle)
    if attention.dropout:
        a["kept"] = np.where(found["kept"] == 1, 1.0, 0.0)
    check(attention, data_type, found, attention.compute(a), a, report, "sdpa_unified")


@pytest.mark.gpu
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", list(BACKWARDS))
def test_backward(name, data_type, report):
    pytest.importorskip("torch")
    attention = BACKWARDS[name]
    a = attention.values(data_type)
    exact = attention.compute(a)
    a |= {"o": attention.rounded(exact["o"], data_type), "stats": exact["stats"]}
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        _backward(attention, graph)
        _build_backward(graph, handle)
        found = execute(attention, graph, a, handle)
    check(attention, data_type, found, exact, a, report, "sdpa_unified_backward")


@pytest.mark.soak
def test_unfused_multiplications_and_additions_build_for_an_h200(h200):
    with Graph(io_data_type="float16") as graph:
        q, k, v = BOTH["plain"].operands(graph)
        o, _ = graph.sdpa_unified(q, k, v, unfuse_fma=True)
        o.set_output(name="o")
        assert graph.nodes[-1].options == {"unfuse_fma": True}
        build(graph, h200)


TOTALS = {"max_total_seq_len_q": 256, "max_total_seq_len_kv": 384}


@pytest.mark.soak
@pytest.mark.parametrize(
    ("attention", "told"), [*((each, {}) for each in BACKWARDS.values()), (BOTH["ragged"], TOTALS)]
)
def test_backward_builds_for_an_h200(attention, told, h200):
    with Graph(io_data_type="float16") as graph:
        _backward(attention, graph, **told)
        assert graph.nodes[-1].options.items() >= told.items()
        _build_backward(graph, h200)
