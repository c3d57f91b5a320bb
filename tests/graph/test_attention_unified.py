"""Attention as one operation of cuDNN's."""

from __future__ import annotations

from typing import Any

import pytest
from error_report import Report

from cudnn_ctypes import Handle, raw
from cudnn_ctypes.errors import BadParamError, NotSupportedError
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph

from .attention_problems import BOTH, FORWARD
from .attentions import OUT, Attention, execute
from .test_attention import NEWEST, TYPES, build, check

FORWARDS = {
    name: {**BOTH, **FORWARD}[name]
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
    )
}
BACKWARDS = {name: BOTH[name] for name in ("plain", "heads of 128", "padding")}


def _lengths(attention: Attention, graph: Graph) -> dict[str, Any]:
    if attention.lengths is None:
        return {}
    return {
        name: graph.tensor((attention.batch, 1, 1, 1), data_type="int32", name=name)
        for name in ("seq_len_q", "seq_len_kv")
    }


def _forward(attention: Attention, graph: Graph) -> None:
    q, k, v = attention.operands(graph)
    more = _lengths(attention, graph)
    if attention.scale == "tensor":
        more["attn_scale"] = graph.tensor((1, 1, 1, 1), data_type="float32", name="scale")
    more |= attention.tables(graph)
    o, stats = graph.sdpa_unified(q, k, v, generate_stats=not attention.inference, **more)
    o.set_output(name="o")
    attention.pack_tensor(graph, "o", o)
    if stats is not None:
        stats.set_output(name="stats")
        attention.pack_stats(graph, stats)


def _backward(attention: Attention, graph: Graph) -> None:
    q, k, v = attention.operands(graph)
    o, d_o = (attention.like_o(graph, each) for each in OUT)
    stats = graph.tensor((*attention.scores[:3], 1), data_type="float32", name="stats")
    more = _lengths(attention, graph)
    gradients = graph.sdpa_unified_backward(q, k, v, o, d_o, stats, **more)
    for gradient, like in zip(gradients, (q, k, v), strict=True):
        gradient.set_output(name=f"d{like.name}")


def _build_backward(graph: Graph, device: Handle | DeviceProperties) -> None:
    """cuDNN 9.19 calls the graph malformed, 9.27 has no engine for it on an H200."""
    try:
        build(graph, device)
    except BadParamError as error:
        if raw.load().version >= NEWEST:
            raise
        pytest.skip(str(error))


@pytest.mark.parametrize("name", list(FORWARDS))
def test_forward_builds_for_an_h200(name: str, h200: DeviceProperties) -> None:
    with Graph(io_data_type="float16") as graph:
        _forward(FORWARDS[name], graph)
        build(graph, h200)


@pytest.mark.parametrize("name", list(BACKWARDS))
def test_backward_builds_for_an_h200(name: str, h200: DeviceProperties) -> None:
    with Graph(io_data_type="float16") as graph:
        _backward(BACKWARDS[name], graph)
        _build_backward(graph, h200)


def test_a_block_mask_has_no_engine_on_an_h200(h200: DeviceProperties) -> None:
    with Graph(io_data_type="float16") as graph:
        q, k, v = FORWARDS["plain"].operands(graph)
        mask = graph.tensor((2, 4, 1, 1), data_type="uint8")
        graph.sdpa_unified(q, k, v, block_mask=mask)[0].set_output()
        with pytest.raises(NotSupportedError, match=r"Graph\.build"):
            graph.build(h200)


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", list(FORWARDS))
def test_forward(name: str, data_type: str, report: Report) -> None:
    pytest.importorskip("torch")
    attention = FORWARDS[name]
    a = attention.values(data_type)
    with Handle() as handle, Graph(io_data_type=data_type) as graph:
        _forward(attention, graph)
        build(graph, handle)
        found = execute(attention, graph, a, handle)
    check(attention, data_type, found, attention.compute(a), a, report, "sdpa_unified")


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("data_type", TYPES)
@pytest.mark.parametrize("name", list(BACKWARDS))
def test_backward(name: str, data_type: str, report: Report) -> None:
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


def test_unfused_multiplications_and_additions_build_for_an_h200(h200: DeviceProperties) -> None:
    with Graph(io_data_type="float16") as graph:
        q, k, v = BOTH["plain"].operands(graph)
        o, _ = graph.sdpa_unified(q, k, v, unfuse_fma=True)
        o.set_output(name="o")
        assert graph.nodes[-1].options == {"unfuse_fma": True}
        build(graph, h200)
