"""What can be said differently in a graph, and what must not be."""

from __future__ import annotations

import math
from typing import Any

import pytest

from cudnn_ctypes.graph.describe.variants.remedy import Variant
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import cudnnDataType_t
from cudnn_ctypes.raw.strides import packed

from ...families import CASES

Type = cudnnDataType_t


def _variants(graph: Graph, topic: str) -> list[Variant]:
    made = [graph._variant([each]) for each in graph._remedies() if each.topic == topic]
    return [each for each in made if each is not None]


def _sizes(graph: Graph) -> set[tuple[str, tuple[int, ...]]]:
    """Tensors with memory and their dims, in all variants of their widths."""
    return {
        (each.name, each.dims or ())
        for variant in _variants(graph, "width")
        for each in variant.graphs[0].tensors
        if not each.virtual and each.dims != graph.find_tensor(each.name).dims
    }


def _image(graph: Graph, name: str, dims: tuple[int, ...], *, last: bool = False) -> Any:
    order = (0, *range(2, len(dims)), 1)
    return graph.tensor(dims, packed(dims, order if last else None), name=name)


def _convolution(channels: int, filters: int, groups: int = 1, *, last: bool = False) -> Graph:
    graph = Graph(io_data_type="float16")
    x = _image(graph, "x", (2, channels, 8, 8), last=last)
    w = _image(graph, "w", (filters, channels // groups, 3, 3), last=last)
    y = graph.bias(graph.conv_fprop(x, w, name="conv"), _image(graph, "b", (1, filters, 1, 1)))
    y.set_output(name="y")
    return graph


@pytest.mark.thinned(8)
@pytest.mark.parametrize("name", [name for name, case in CASES.items() if case.here])
def test_remedies_leave_the_graph_as_it_is_and_give_valid_ones(name: str) -> None:
    with CASES[name].graph() as graph:
        graph.validate()
        before = graph.to_json()
        for remedy in graph._remedies():
            variant = graph._variant([remedy])
            if variant is None:  # the change contradicts an operation
                continue
            assert variant.changes
            assert variant.steps[0].words.count("{") == 0
            assert variant.graphs[0].to_json() != before
            uids = {each.uid for each in variant.graphs[0].tensors}
            assert uids <= {each.uid for each in graph.tensors}
        assert graph.to_json() == before


def test_channels_grow_apart_and_with_what_is_added_to_them() -> None:
    assert _sizes(_convolution(15, 21)) == {
        ("x", (2, 16, 8, 8)),
        ("w", (21, 16, 3, 3)),
        ("w", (24, 15, 3, 3)),
        ("b", (1, 24, 1, 1)),
        ("y", (2, 24, 6, 6)),
    }
    assert _sizes(_convolution(16, 24)) == set()


def test_the_order_of_dimensions_stays_when_they_grow() -> None:
    (variant,) = _variants(_convolution(15, 24, last=True), "width")
    x = variant.graphs[0].find_tensor("x")
    assert (x.dims, x.strides) == ((2, 16, 8, 8), (1024, 1, 128, 16))


def test_channels_in_groups_do_not_grow() -> None:
    assert _sizes(_convolution(15, 21, groups=3)) == set()


@pytest.mark.parametrize(("data_type", "size"), [("int8", 16), ("float32", 8), ("float64", 6)])
def test_sizes_grow_to_16_bytes(data_type: str, size: int) -> None:
    graph = Graph(io_data_type=data_type)
    a, b = graph.tensor((2, 32, 5), name="a"), graph.tensor((2, 5, 16), name="b")
    graph.matmul(a, b).set_output(name="c")
    assert _sizes(graph) == {("a", (2, 32, size)), ("b", (2, size, 16))}


def test_transposed_operands_grow_where_they_are_summed() -> None:
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((2, 5, 32), name="a"), graph.tensor((2, 16, 5), name="b")
    graph.matmul(a, b, transpose_A=True, transpose_B=True).set_output(name="c")
    assert _sizes(graph) == {("a", (2, 8, 32)), ("b", (2, 16, 8))}


def test_what_is_normalized_or_reduced_does_not_grow() -> None:
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((1, 30, 16), name="a"), graph.tensor((1, 16, 21), name="b")
    c = graph.matmul(a, b)
    y, _ = graph.rmsnorm("inference", c, graph.tensor((1, 1, 21), name="s"), None, 1e-5)
    y.set_output(name="y")
    assert _sizes(graph) == set()
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((1, 30, 16), name="a"), graph.tensor((1, 16, 21), name="b")
    graph.reduction(graph.matmul(a, b), "max", axes=(2,)).set_output(name="y")
    assert _sizes(graph) == set()


@pytest.mark.parametrize(("operation", "grows"), [("sigmoid", True), ("log", False)])
def test_sums_over_what_zeros_may_not_give_do_not_grow(operation: str, grows: bool) -> None:
    """Zeros of b meet sigmoid(0) in the sum, but log(0) is infinite, and times zero it is NaN."""
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((1, 32, 5), name="a"), graph.tensor((1, 5, 16), name="b")
    graph.matmul(getattr(graph, operation)(a), b).set_output(name="c")
    assert bool(_sizes(graph)) == grows


def test_sums_of_results_alone_do_not_grow() -> None:
    """Both factors are one half where nothing was."""
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((1, 32, 5), name="a"), graph.tensor((1, 5, 16), name="b")
    graph.matmul(graph.sigmoid(a), graph.sigmoid(b)).set_output(name="c")
    assert _sizes(graph) == set()


def test_memory_with_gaps_does_not_grow() -> None:
    graph = Graph(io_data_type="float16")
    a = graph.tensor((1, 32, 5), (320, 10, 1), name="a")
    graph.matmul(a, graph.tensor((1, 5, 16), name="b")).set_output(name="c")
    assert _sizes(graph) == set()


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_images_are_stored_channels_last(rank: int) -> None:
    graph = Graph(io_data_type="float16")
    dims, window = (2, 16, *(8,) * (rank - 2)), (16, 16, *(3,) * (rank - 2))
    x, w = graph.tensor(dims, name="x"), graph.tensor(window, name="w")
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output(name="y")
    (variant,) = _variants(graph, "layout")
    for tensor in variant.graphs[0].tensors:
        assert tensor.strides == packed(tensor.dims or (), (0, *range(2, rank), 1))
    (back,) = _variants(variant.graphs[0], "layout")
    for tensor in back.graphs[0].tensors:
        assert tensor.strides == packed(tensor.dims or ())


def test_matrices_have_no_channels() -> None:
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((1, 2, 32, 8), name="a"), graph.tensor((1, 2, 8, 16), name="b")
    graph.matmul(a, b).set_output(name="c")
    assert _variants(graph, "layout") == []


def test_rows_whose_memory_is_both_are_left_alone() -> None:
    graph = Graph(io_data_type="float16")
    x, scale = graph.tensor((64, 128, 1, 1), name="x"), graph.tensor((1, 128, 1, 1), name="s")
    graph.rmsnorm("inference", x, scale, None, 1e-5)[0].set_output(name="y")
    assert _variants(graph, "layout") == []


def _typed(graph: Graph, topic: str) -> list[dict[str, Any]]:
    return [
        {
            each.name: each.data_type
            for each in variant.graphs[0].tensors
            if each.data_type != graph.find_tensor(each.name).data_type
        }
        for variant in _variants(graph, topic)
    ]


def test_scales_of_rows_follow_the_input_and_those_of_channels_are_float32() -> None:
    graph = Graph(io_data_type="bfloat16")
    x = graph.tensor((64, 128, 1, 1), name="x")
    scale = graph.tensor((1, 128, 1, 1), data_type="float32", name="scale")
    graph.rmsnorm("inference", x, scale, None, 1e-5)[0].set_output(name="y")
    assert _typed(graph, "scale type") == [{"scale": Type.CUDNN_DATA_BFLOAT16}]
    (step,) = _variants(graph, "scale type")[0].steps
    assert step.known
    graph = Graph(io_data_type="float16")
    x = graph.tensor((2, 16, 8, 8), name="x")
    scale, bias = (graph.tensor((1, 16, 1, 1), name=name) for name in ("scale", "bias"))
    graph.instancenorm("inference", x, scale, bias, 1e-5)[0].set_output(name="y")
    float32 = Type.CUDNN_DATA_FLOAT
    assert _typed(graph, "scale type") == [{"scale": float32, "bias": float32}]


def test_only_a_norm_by_itself_is_known_to_be_slow() -> None:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((64, 128, 1, 1), name="x")
    scale = graph.tensor((1, 128, 1, 1), data_type="float32", name="scale")
    y = graph.rmsnorm("inference", x, scale, None, 1e-5)[0]
    graph.relu(y).set_output(name="y")
    (step,) = _variants(graph, "scale type")[0].steps
    assert step.known == ""


@pytest.mark.parametrize(
    ("data_type", "given", "expected"),
    [
        ("int8", "float32", Type.CUDNN_DATA_INT32),
        ("float64", "float32", Type.CUDNN_DATA_DOUBLE),
        ("float16", "float16", Type.CUDNN_DATA_FLOAT),
        ("fp8_e4m3", "fast_float_for_fp8", Type.CUDNN_DATA_FLOAT),
    ],
)
def test_sums_are_computed_in_the_type_of_the_operands(
    data_type: str, given: str, expected: cudnnDataType_t
) -> None:
    graph = Graph(io_data_type=data_type, compute_data_type=given)
    a, b = graph.tensor((1, 32, 16), name="a"), graph.tensor((1, 16, 16), name="b")
    graph.matmul(a, b, name="matmul").set_output(name="c")
    (variant,) = _variants(graph, "compute type")
    (made,) = variant.graphs
    assert (made.nodes[0].compute_data_type or made.compute_data_type) == expected
    assert _variants(made, "compute type") == []


def test_inference_leaves_out_what_nothing_uses() -> None:
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((2, 2, 64, 16), name=name) for name in "qkv")
    o, stats = graph.sdpa(q, k, v, generate_stats=True, name="sdpa")
    o.set_output(name="o")
    assert stats is not None
    stats.set_output(name="stats")
    (variant,) = _variants(graph, "results")
    assert [each.name for each in variant.graphs[0].outputs] == ["o"]
    graph.exp(stats).set_output(name="e")
    assert _variants(graph, "results") == []


def test_graphs_are_split_at_virtual_results_the_largest_part_first() -> None:
    graph = Graph(io_data_type="float16")
    x = graph.tensor((2, 8, 16), name="x")
    y = graph.exp(graph.relu(x, name="relu"), name="exp")
    graph.tanh(y, name="tanh").set_output(name="y")
    found = [
        ([node.name for node in first.nodes], first.outputs[0].data_type)
        for first, _ in (variant.graphs for variant in graph._splits())
    ]
    half, single = Type.CUDNN_DATA_HALF, Type.CUDNN_DATA_FLOAT
    assert found == [
        (["relu", "exp"], half),
        (["relu", "exp"], single),
        (["relu"], half),
        (["relu"], single),
    ]


@pytest.mark.parametrize(
    ("dims", "strides", "axes", "folded"),
    [
        ((8, 16, 32), None, (2,), (128, 32, 1, 1)),
        ((8, 16, 32), (512, 1, 16), (1,), (256, 16, 1, 1)),  # the second is innermost
        ((8, 1, 32), None, (1, 2), (8, 32, 1, 1)),
        ((2, 8, 4, 4), None, (2, 3), (16, 16, 1, 1)),
        ((2, 8, 4, 4), None, (0, 1), (16, 16, 1, 1)),
        ((2, 8, 4, 4), (128, 1, 32, 8), (0, 2, 3), (32, 8, 1, 1)),
        ((6, 7), None, (0, 1), (1, 42, 1, 1)),
    ],
)
def test_reductions_of_one_end_of_memory_are_those_of_images(
    dims: tuple[int, ...], strides: Any, axes: tuple[int, ...], folded: tuple[int, ...]
) -> None:
    graph = Graph(io_data_type="float32")
    x = graph.tensor(dims, strides, name="x")
    graph.reduction(x, "add", axes=axes, name="sum").set_output(name="y")
    (variant,) = _variants(graph, "dimensions")
    (made,) = variant.graphs
    assert made.find_tensor("x").dims == folded
    assert math.prod(made.find_tensor("y").dims or ()) == math.prod(
        size for axis, size in enumerate(dims) if axis not in axes
    )


@pytest.mark.parametrize("name", ["middle", "gaps", "bias of another shape", "index", "two"])
def test_other_reductions_keep_their_dimensions(name: str) -> None:
    graph = Graph(io_data_type="float32")
    x = graph.tensor((8, 16, 32), (1024, 64, 2) if name == "gaps" else None, name="x")
    if name == "bias of another shape":
        x = x + graph.tensor((1, 16, 1), name="b")
    elif name == "index":
        x = x + graph.gen_index(x, axis=1)
    elif name == "two":
        x = x - graph.reduction(x, "max", axes=(2,))
    graph.reduction(x, "add", axes=(1,) if name == "middle" else (2,)).set_output(name="y")
    assert _variants(graph, "dimensions") == []


def test_images_of_a_graph_that_another_remedy_has_changed() -> None:
    """The order in memory is another one then, and so are the images."""
    graph = Graph(io_data_type="float32")
    x = graph.tensor((2, 8, 4, 4), name="x")
    graph.reduction(x, "add", axes=(2, 3), name="sum").set_output(name="y")
    channels_last, images = (
        next(each for each in graph._remedies() if each.topic == topic)
        for topic in ("layout", "dimensions")
    )
    assert graph._variant([channels_last]) is not None
    assert graph._variant([images]) is not None
    assert graph._variant([channels_last, images]) is None
