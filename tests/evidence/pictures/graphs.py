"""Graphs to be drawn."""

from __future__ import annotations

from typing import Any

from cudnn_ctypes.graph.graph import Graph

IMAGE = (32, 64, 28, 28)
STRIDES = (64 * 784, 1, 64 * 28, 64)
CHANNELS = ((1, 64, 1, 1), (64, 1, 64, 64))
FILTER = ((64, 64, 3, 3), (576, 1, 192, 64))


def fused() -> Graph:
    """Convolution, bias, relu."""
    graph = Graph("conv + bias + relu", io_data_type="float16")
    x, w = graph.tensor(IMAGE, STRIDES, name="x"), graph.tensor(*FILTER, name="w")
    y = graph.bias(graph.conv_fprop(x, w, padding=1), graph.tensor(*CHANNELS, name="b"))
    graph.relu(y).set_output(name="y")
    return graph


def residual() -> Graph:
    """Two convolutions, and the input added to what they give."""
    graph = Graph("residual block", io_data_type="float16", intermediate_data_type="float16")
    x = result = graph.tensor(IMAGE, STRIDES, name="x")
    for i in (1, 2):
        w = graph.tensor(*FILTER, name=f"w{i}")
        result = graph.conv_fprop(result, w, padding=1, name=f"conv{i}")
        result = graph.scale(result, graph.tensor(*CHANNELS, name=f"scale{i}"))
        result = graph.bias(result, graph.tensor(*CHANNELS, name=f"bias{i}"))
        if i == 1:
            result = graph.relu(result)
    graph.relu(graph.add(result, x)).set_output(name="y")
    return graph


def attention(**options: Any) -> Graph:
    graph = Graph("attention", io_data_type="float16")
    q, k, v = (graph.tensor((2, 8, 512, 64), name=name) for name in "qkv")
    o, stats = graph.sdpa(
        q, k, v, attn_scale=0.125, use_causal_mask=True, generate_stats=True, **options
    )
    o.set_output(name="o")
    stats.set_output(name="stats", data_type="float32")
    return graph


def norm() -> Graph:
    """Many operands and many results of one operation."""
    graph = Graph("batch norm", io_data_type="float16")
    parameters = [
        graph.tensor(CHANNELS[0], data_type="float32", name=name)
        for name in ("scale", "bias", "running_mean", "running_var")
    ]
    y, *others = graph.batchnorm(graph.tensor(IMAGE, STRIDES, name="x"), *parameters, 1e-5, 0.1)
    for i, other in enumerate(others):
        other.set_output(name=f"result{i}", data_type="float32")
    graph.relu(y).set_output(name="y")
    return graph


def branches() -> Graph:
    """Two chains of different lengths that meet, and results in the middle."""
    graph = Graph("branches", io_data_type="float16")
    a, b = graph.tensor((4, 8, 16), name="a"), graph.tensor((4, 8, 16), name="b")
    left = graph.exp(graph.relu(graph.tanh(a))).set_output(name="left")
    right = graph.sigmoid(b).set_output(name="right")
    total = graph.mul(graph.add(left, right), 0.5)
    graph.sub(total, a).set_output(name="y")
    return graph


HOSTILE = (
    '<script>alert("1")</script>&amp;\\" ]; end\n} subgraph x --> '
    "`$\\{a}$ %%{init}%% \x00\x1b\ud800"
)
"""A name that is markup in every format, and has characters that none of them takes."""


def hostile() -> Graph:
    graph = Graph(HOSTILE, io_data_type="float16")
    x = graph.tensor((4, 8, 16), name=HOSTILE)
    graph.relu(graph.exp(x, name=HOSTILE)).set_output(name=HOSTILE + "y")
    return graph


GRAPHS = {each.__name__: each for each in (fused, residual, attention, norm, branches, hostile)}
