"""The form of a graph, and small graphs of the same form."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pytest

from cudnn_ctypes.graph.describe.form import form, small
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw.strides import packed


def form_of(graph: Graph) -> str:
    return form(graph.validate(), graph.compute_data_type)


def layer(
    x: Sequence[int] = (64, 64, 56, 56),
    bias: Sequence[int] = (1, 128, 1, 1),
    *,
    order: Sequence[int] = (0, 2, 3, 1),
    name: str = "x",
    padding: int = 1,
    factor: float = 0.3,
    io: str = "float16",
) -> Graph:
    graph = Graph(io_data_type=io)
    image = graph.tensor(x, packed(x, order), name=name)
    filters = (128, x[1], 3, 3)
    y = graph.conv_fprop(
        image, graph.tensor(filters, packed(filters, order)), padding=padding, stride=2
    )
    y = graph.relu(graph.add(y, graph.tensor(bias)), lower_clip=factor)
    y.set_output()
    return graph


@pytest.mark.parametrize(
    "other",
    [
        layer(bias=(1, 1, 1, 1)),
        layer(bias=(64, 128, 1, 1)),
        layer((1, 64, 56, 56)),
        layer(order=(0, 1, 2, 3)),
        layer(padding=2),
        layer(io="bfloat16"),
    ],
)
def test_patterns_types_layouts_and_options_are(other):
    assert form_of(other) != form_of(layer())


def test_names_sizes_and_factors_are_no_part():
    other = layer((32, 16, 30, 30), (1, 128, 1, 1), name="image", factor=0.7)
    assert form_of(other) == form_of(layer())
    assert form_of(layer(factor=0.0)) != form_of(layer())


def test_the_form_as_text():
    graph = Graph(io_data_type="float16")
    offset = graph.tensor((3, 1, 1), data_type="int32")
    layout = {"strides": (60, 60, 2), "alignment": 32, "ragged_offset": offset}
    x = graph.relu(graph.tensor((2, 1, 30), **layout), negative_slope=0.3)
    lines = graph.tensor((1, 20, 30), (40, 1, 1))
    y = graph.matmul(lines, x, transpose_B=True, compute_data_type="bfloat16")
    y[:, 2:20:2].set_output()

    content = json.loads(form_of(graph))
    assert [" ".join(map(str, each.values())) for each in content["tensors"]] == [
        "n11 0 int32",
        "32 n1n 02 gaps 0 float16",
        "n1n 02 float32 True",
        "1nn 12 overlapping float16",
        "nn1 01 float32 True",
        "nn1 01 float32",
    ]
    clipped = {"mode": "CUDNN_POINTWISE_RELU_FWD", "negative_slope": "x"}
    slices = {"slices": [["cut", 1], ["cut", 2], ["cut", 1]], "start": [0, 2, 0]}
    slices |= {"limit": [2, "n", 1], "steps": [1, 2, 1]}
    assert [[*each.values()] for each in content["operations"]] == [
        ["float32", {"x": 1}, "operation_pointwise", clipped, {"y": 2}],
        ["bfloat16", {"A": 3, "B": 2}, "operation_matmul", {}, {"C": 4}, ["B"]],
        ["float32", {"input": 4}, "operation_slice", slices, {"y": 5}],
    ]


# --- small graphs --------------------------------------------------------------------------------


def gradient(of: str) -> Graph:
    graph = Graph(io_data_type="float16")

    def image(*dims: int, name: str) -> Any:
        return graph.tensor(dims, packed(dims, (0, 2, 3, 1)), name=name)

    loss = image(64, 128, 28, 28, name="loss")
    if of == "pooling":
        y = graph.resample_backward(loss, "avgpool", window=3, stride=2, padding=1)
        y.set_output(dims=(64, 128, 56, 56))
    elif of == "data":
        w = image(128, 64, 3, 3, name="w")
        y = graph.conv_dgrad(loss, w, padding=1, stride=2).set_output(dims=(64, 64, 56, 56))
    else:
        x = image(64, 64, 56, 56, name="x")
        y = graph.conv_wgrad(x, loss, padding=1, stride=2).set_output(dims=(128, 64, 3, 3))
    y.name = "result"
    return graph


def attention(batch: int = 4, *, ragged: bool = False) -> Graph:
    graph = Graph(io_data_type="float16")
    options, more = {}, {}
    if ragged:
        offset = graph.tensor((batch + 1, 1, 1, 1), data_type="int32", name="offset")
        length = graph.tensor((batch, 1, 1, 1), data_type="int32", name="length")
        options, more = {"ragged_offset": offset}, {"seq_len_q": length, "seq_len_kv": length}
    q, k, v = (graph.tensor((batch, 16, 4096, 128), name=name, **options) for name in "qkv")
    graph.sdpa(q, k, v, **more)[0].set_output(name="result")
    return graph


def rows() -> Graph:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((4, 100, 200), (100 * 216, 216, 1), name="x")
    s = graph.tensor((4, 100, 1), name="s")
    graph.mul(x, graph.rsqrt(s)).set_output(name="result")
    return graph


def normalized() -> Graph:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((2048, 4096, 1, 1), name="x")
    scale, bias = (graph.tensor((1, 4096, 1, 1), data_type="float32") for _ in range(2))
    for port, each in graph.norm_forward("layer", "training", x, scale, bias, 1e-5).items():
        each.set_output(name="result" if port == "y" else port)
    return graph


def reduced() -> Graph:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((64, 128, 33, 33), name="x")
    graph.reduction(x, "add", axes=[0, 2, 3]).set_output(name="result", data_type="float32")
    return graph


@pytest.mark.parametrize(
    ("make", "dims"),
    [
        (lambda: gradient("data"), (16, 16, 24, 24)),
        (lambda: gradient("filter"), (16, 16, 3, 3)),
        (lambda: gradient("pooling"), (16, 16, 24, 24)),
        (attention, (4, 16, 16, 16)),
        (rows, (4, 20, 24)),
        (normalized, (16, 16, 1, 1)),
        (reduced, (1, 16, 1, 1)),
    ],
)
def test_a_small_graph_has_the_same_form(make, dims):
    graph = make()
    smaller = small(graph, 16)
    assert smaller is not None
    assert form_of(smaller) == form_of(graph)
    assert smaller.find_tensor("result").dims == dims


def test_offsets_are_one_more_than_sequences():
    smaller = small(attention(50, ragged=True), 16)
    assert smaller is not None
    names = ("offset", "length", "q", "result")
    assert [(smaller.find_tensor(name).dims or ())[0] for name in names] == [19, 18, 18, 18]


def test_elements_that_share_memory_are_not_changed():
    graph = Graph(io_data_type="float16")
    graph.relu(graph.tensor((4, 100, 200), (0, 200, 1))).set_output()
    assert small(graph, 16) is None


def test_gaps_stay():
    smaller = small(rows(), 16)
    assert smaller is not None
    assert smaller.find_tensor("x").strides == (20 * 40, 40, 1)


def test_sizes_that_would_be_two_at_once_are_not_changed():
    """The batch of 28 is the height of the result, too."""
    assert small(layer((28, 64, 56, 56)), 16) is None
