"""Operands that engines misread, computed beforehand: what is prepared, and that it is right."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from cudnn_ctypes import DeviceBuffer, DeviceTensor, FaultWarning, Handle
from cudnn_ctypes.dtypes import numpy_dtype
from cudnn_ctypes.graph import Graph
from cudnn_ctypes.graph.describe.node import Node
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.lower.broadcasts import sides
from cudnn_ctypes.graph.lower.faults import Graph as Lowered
from cudnn_ctypes.graph.lower.faults import faults_of
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw.strides import packed
from tools.fault_programs import wrong
from tools.fuzz.broadcast_graphs import Sketch, draw

from ..conftest import on_each_device

H200 = Target(91900, 90)
LAST = (0, 2, 3, 1)
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "": lambda s: s,
    "rsqrt": lambda s: 1 / np.sqrt(s),
    "relu": lambda s: np.maximum(s, 0),
    "tanh": np.tanh,
    "sigmoid": lambda s: 1 / (1 + np.exp(-s)),
}

CASES = [
    # the result, a small operand, its function, how many graphs run before
    ("plain", (64, 128, 1, 1), (64, 1, 1, 1), "rsqrt", 1),
    ("plain", (256, 256), (256, 1), "relu", 1),
    ("plain", (256, 256), (256, 1), "", 0),
    ("plain", (8, 16, 64), (8, 16, 1), "rsqrt", 1),
    ("plain", (8, 16, 64), (1, 1, 64), "rsqrt", 0),
    ("plain", (8, 16, 64), (1, 16, 1), "", 1),
    ("plain", (8, 16, 64), (1, 16, 1), "tanh", 2),
    ("plain", (8, 16, 64), (1, 1, 1), "tanh", 1),
    ("plain", (4, 32, 8, 8), (4, 32, 1, 1), "sigmoid", 0),
    ("image", (8, 64, 9, 9), (8, 64, 9, 9), "tanh", 0),
    ("image", (8, 64, 9, 9), (1, 64, 1, 1), "tanh", 0),
    ("image", (8, 64, 9, 9), (8, 64, 1, 1), "sigmoid", 2),
    ("image", (8, 64, 9, 9), (8, 64, 1, 1), "", 1),
    ("image", (8, 64, 9, 9), (8, 1, 1, 1), "", 1),
    ("image", (8, 64, 9, 9), (1, 1, 9, 9), "", 1),
    ("image", (8, 64, 9, 9), (1, 1, 9, 1), "", 2),
    ("image", (8, 64, 9, 9), (1, 64, 9, 9), "relu", 2),
    ("image", (8, 64, 9, 9), (8, 64, 9, 1), "", 1),
    ("image", (8, 64, 9, 9), (8, 1, 9, 9), "relu", 1),
    ("data", (8, 12, 9, 9), (1, 12, 1, 1), "tanh", 1),
    ("data", (8, 12, 9, 9), (1, 12, 1, 1), "rsqrt", 0),
    ("filter", (16, 12, 3, 3), (1, 12, 3, 3), "rsqrt", 1),
    ("filter", (16, 12, 3, 3), (1, 12, 3, 3), "", 0),
    ("product", (3, 100, 128), (1, 100, 1), "relu", 1),
    ("product", (3, 100, 128), (3, 1, 128), "relu", 0),
    ("product", (3, 100, 128), (3, 100, 1), "", 0),
    ("pool", (3, 32, 1, 1), (3, 1, 1, 1), "relu", 2),
    ("pool", (3, 32, 1, 1), (1, 1, 1, 1), "relu", 1),
    ("image", (8, 64, 9, 9), (1, 64, 1, 1), "kept relu", 1),
    ("product", (3, 100, 128), (3, 1, 128), "kept relu", 1),
    ("plain", (16, 33, 64), (16, 1, 64), "kept relu", 1),
]

FIRST = {(family, count): (family, *rest, count) for family, *rest, count in reversed(CASES)}
"""One case of each family and number of graphs, of which the engines are compiled here, too."""


def _described(family: str, full: Any, small: Any, function: str) -> tuple[Graph, dict[str, Any]]:
    """A graph, and its operands."""
    rng = np.random.default_rng(5)
    shapes = {"x": full, "s": small}
    if family == "image":
        shapes |= {"x": (8, 32, 9, 9), "w": (64, 32, 3, 3)}
    elif family == "data":
        shapes |= {"x": (8, 4, 9, 9), "w": (4, 12, 3, 3)}
    elif family == "filter":
        shapes |= {"x": (2, 12, 9, 9), "w": (2, 16, 9, 9)}  # w: of the result
    elif family == "product":
        shapes |= {"x": (3, 100, 64), "w": (3, 64, 128)}
    elif family == "pool":
        shapes |= {"x": (3, 32, 3, 3)}
    graph = Graph(io_data_type="float16")
    values, tensors = {}, {}
    for name, dims in shapes.items():
        order = LAST if len(dims) == 4 else None
        kind = "float32" if name == "s" else "float16"
        tensors[name] = graph.tensor(dims, packed(dims, order), data_type=kind, name=name)
        low = 0.5 if name == "s" else -0.5
        values[name] = rng.uniform(low, 1, dims).astype(numpy_dtype(tensors[name].data_type))
    base = tensors["x"]
    if family == "image":
        base = graph.conv_fprop(base, tensors["w"], padding=1)
    elif family == "data":
        base = graph.conv_dgrad(base, tensors["w"], padding=1).set_output(False, dims=full)
    elif family == "filter":
        base = graph.conv_wgrad(base, tensors["w"], padding=1).set_output(False, dims=full)
    elif family == "product":
        base = graph.matmul(base, tensors["w"])
    elif family == "pool":
        base = graph.resample(base, "avgpool", window=3)[0]
    small_one = tensors["s"]
    if function:
        small_one = getattr(graph, function.removeprefix("kept "))(small_one)
    if function.startswith("kept "):
        small_one.set_output(name="kept", data_type="float32")
    strides = packed(full, LAST if len(full) == 4 else None)
    graph.mul(base, small_one).set_output(name="y", data_type="float32", strides=strides)
    return graph, values


def _exact(family: str, values: dict[str, Any], function: str) -> Any:
    wide = {name: value.astype(np.float64) for name, value in values.items()}
    base = wide["x"]
    if family == "product":
        base = base @ wide["w"]
    elif family == "pool":
        base = base.mean((2, 3), keepdims=True)
    elif family in ("image", "data", "filter"):
        w = wide["w"][:, :, ::-1, ::-1].swapaxes(0, 1) if family == "data" else wide["w"]
        padded = np.pad(base, [(0, 0), (0, 0), (1, 1), (1, 1)])
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        sums = "nchwrs,nkhw->kcrs" if family == "filter" else "nchwrs,kcrs->nkhw"
        base = np.einsum(sums, windows, w, optimize=True)
    return base * FUNCTIONS[function.removeprefix("kept ")](wide["s"])


def _memory(graph: Graph, values: dict[str, Any]) -> dict[str, Any]:
    graph.validate()
    memory: dict[str, Any] = {}
    for each in (*graph.inputs, *graph.outputs):
        value = values.get(each.name, np.full(each.dims, np.nan, numpy_dtype(each.data_type)))
        memory[each.name] = DeviceTensor.from_numpy(
            value, dtype=each.data_type, strides=each.strides
        )
    return memory


def _execute(graph: Graph, handle: Handle, memory: dict[str, Any]) -> None:
    """Build a graph and execute it once, with a workspace of no numbers."""
    graph.build(handle)
    with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
        workspace.fill(255)
        graph.execute(memory, workspace)
        handle.synchronize()


def _check(handle: Handle, case: tuple[Any, ...]) -> None:
    family, full, small, function, _ = case
    graph, values = _described(family, full, small, function)
    memory = _memory(graph, values)
    exact = _exact(family, values, function)
    with graph:
        graph.build(handle)
        with DeviceBuffer(max(graph.workspace_size, 1)) as workspace:
            workspace.fill(255)
            graph.execute(memory, workspace)
            handle.synchronize()
            found = memory["y"].numpy()
            assert np.abs(found - exact).max() < 2e-3 * np.abs(exact).max()
            if "kept" in memory:
                np.testing.assert_array_equal(memory["kept"].numpy(), values["s"])
            # With other numbers in the same memory, bound.
            memory["s"].copy_from(values["s"][..., ::-1].copy())
            memory["y"].copy_from(np.full(full, np.nan, np.float32))
            values["s"] = values["s"][..., ::-1]
            exact = _exact(family, values, function)
            with graph.bind(memory, workspace) as bound:
                bound()
                handle.synchronize()
            found = memory["y"].numpy()
    assert np.abs(found - exact).max() < 2e-3 * np.abs(exact).max()


@pytest.mark.thinned(24)
@on_each_device
@pytest.mark.parametrize("case", CASES, ids=str)
def test_operands_are_computed_beforehand(case, handle):
    *described, count = case
    graph, _ = _described(*described)
    assert len(graph.expansion(handle).preludes) == count
    if case in FIRST.values() or not handle.on_reference_device:
        _check(handle, case)


NUMBERS = [
    ((2, 3, 1, 1), 64, [(2, 3, 64, 1)]),
    ((2, 3, 1, 1), 1, [(2, 3, 1, 96)]),
    ((2, 1, 1, 1), 64, [(2, 1, 64, 1)]),
    ((2, 1, 1, 1), 1, []),
    ((1, 3, 1, 1), 64, []),
]


@pytest.mark.thinned(6)
@on_each_device
@pytest.mark.parametrize(("dims", "queries", "copied"), NUMBERS)
def test_numbers_that_multiply_scores_of_attention_are_copied(dims, queries, copied, handle):
    rng = np.random.default_rng(7)
    graph = Graph(io_data_type="float16")
    shapes = {"q": (2, 3, queries, 64), "k": (2, 3, 96, 64), "v": (2, 3, 96, 64), "s": dims}
    tensors = {name: graph.tensor(shape, name=name) for name, shape in shapes.items()}
    values = {name: rng.uniform(-1, 1, shape) for name, shape in shapes.items()}
    values = {name: value.astype(np.float16) for name, value in values.items()}

    def multiplied(graph: Graph, scores: Any) -> Any:
        return graph.mul(scores, tensors["s"])

    attention = graph.sdpa(*(tensors[name] for name in "qkv"), score_mod=multiplied)
    attention[0].set_output(name="o")
    memory = _memory(graph, values)
    q, k, v, s = (values[name].astype(np.float64) for name in "qkvs")
    scores = q @ k.swapaxes(-1, -2) / 8 * s
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    exact = shares / shares.sum(-1, keepdims=True) @ v
    with graph:
        assert [each.result.dims for each in graph.expansion(handle).preludes] == copied
        _execute(graph, handle, memory)
        assert np.abs(memory["o"].numpy() - exact).max() < 4e-3 * np.abs(exact).max()


@pytest.mark.soak
@on_each_device
@pytest.mark.parametrize(
    ("computed", "scale", "bias"),
    [
        *((each, "float16", "float16") for each in ("scale", "bias", "y")),
        *(("", "float16", "float32"), ("", "float32", "float16")),
    ],
)
def test_scale_and_bias_are_given_one_type(computed, scale, bias, handle):
    """Layer normalization of float16, its scale or bias a product, or it itself a part of s."""
    rng = np.random.default_rng(3)
    kinds = {"x": "float16", "scale": scale, "bias": bias} | ({"s": "float16"} if computed else {})
    whole = {"x", "s"} if computed == "y" else {"x"}
    graph = Graph(io_data_type="float16")
    tensors, values = {}, {}
    for name, kind in kinds.items():
        dims = (44 if name in whole else 1, 64, 1, 1)
        tensors[name] = graph.tensor(dims, data_type=kind, name=name)
        values[name] = rng.uniform(0.5, 1.5, dims).astype(kind)
    given = {name: values[name].astype(np.float64) for name in kinds}
    if computed in ("scale", "bias"):
        tensors[computed] = graph.mul(tensors[computed], tensors["s"])
        given[computed] = given[computed] * given["s"]
    y = graph.layernorm("inference", *(tensors[n] for n in ("x", "scale", "bias")), 1e-3)[0]
    x = given["x"] - given["x"].mean(1, keepdims=True)
    exact = x / np.sqrt(x.var(1, keepdims=True) + 1e-3) * given["scale"] + given["bias"]
    if computed == "y":
        y, exact = graph.sub(tensors["s"], y), given["s"] - exact
    y.set_output(name="y")
    memory = _memory(graph, values)
    with graph:
        expansion = graph.expansion(handle)
        assert not faults_of(Lowered(expansion.nodes, {}), H200).engines
        inputs = expansion.nodes[0].inputs
        assert inputs["scale"].data_type == inputs["bias"].data_type
        _execute(graph, handle, memory)
        assert np.abs(memory["y"].numpy() - exact).max() < 2e-3 * np.abs(exact).max()


@pytest.mark.parametrize(
    ("method", "first", "said"),
    [
        ("sub", "s", [("NEG", ["n.y"]), ("ADD", ["sub.negative", "s"])]),
        ("sub", "few", [("SUB", ["few", "n.y"])]),
        ("sub", "", [("SUB", ["n.y", "s"])]),
        ("max", "s", [("MAX", ["n.y", "s"])]),
        ("div", "s", [("DIV", ["s", "n.y"])]),
    ],
)
def test_results_of_norms_stand_first_where_they_may(method, first, said):
    graph = Graph(io_data_type="float16")
    x, few = (graph.tensor((n, 64, 1, 1), name=t) for t, n in (("x", 44), ("few", 1)))
    y = graph.layernorm("inference", x, few, few, 1e-3, name="n")[0]
    other = few if first == "few" else graph.tensor((44, 64, 1, 1), name="s")
    operands = (other, y) if first else (y, other)
    getattr(graph, method)(*operands).set_output(name="y")
    expansion = graph.expansion("H200")
    nodes = expansion.nodes[1:]
    modes = [node.options["mode"].name.removeprefix("CUDNN_POINTWISE_") for node in nodes]
    assert [*zip(modes, ([t.name for t in n.operands] for n in nodes), strict=True)] == said
    assert len({each.uid for each in expansion.tensors}) == len(expansion.tensors)


@on_each_device
def test_operands_of_gradients_of_norms_are_computed_beforehand(handle):
    """1 + gamma is rounded to the type of its gradient, which engines want the scale to have."""
    graph, last = Graph(io_data_type="float16"), packed((44, 64, 1, 1), LAST)
    rng, full, few = np.random.default_rng(3), (44, 64, 1, 1), (1, 64, 1, 1)
    dims = {"dy": full, "x": full, "gamma": few, "mean": (44, 1, 1, 1), "inverse": (44, 1, 1, 1)}
    values = {name: rng.uniform(0.5, 1.5, each).astype("f2") for name, each in dims.items()}
    for name in ("mean", "inverse"):
        values[name] = values[name].astype("f4")
    dy, x, gamma, mean, inverse = (
        graph.tensor(
            dims[n], data_type=values[n].dtype, strides=last if n in ("dy", "x") else None, name=n
        )
        for n in dims
    )
    found = graph.layernorm_backward(dy, x, graph.add(gamma, 1.0), mean, inverse)
    for name, result in zip(("dx", "dscale", "dbias"), found, strict=True):
        result.set_output(name=name, data_type="float16")
    wide = {name: each.astype("f8") for name, each in values.items()}
    normal = (wide["x"] - wide["mean"]) * wide["inverse"]
    dnormal = wide["dy"] * (1 + wide["gamma"])
    means = dnormal.mean(1, keepdims=True), (dnormal * normal).mean(1, keepdims=True)
    exact = {
        "dx": wide["inverse"] * (dnormal - means[0] - normal * means[1]),
        "dscale": (wide["dy"] * normal).sum(0, keepdims=True),
        "dbias": wide["dy"].sum(0, keepdims=True),
    }
    memory = _memory(graph, values)
    with graph:
        expansion = graph.expansion(handle)
        assert [str(each.result.data_type) for each in expansion.preludes] == ["CUDNN_DATA_HALF"]
        assert [node.operation for node in expansion.nodes] == ["layernorm_backward"]
        _execute(graph, handle, memory)
        for name, right in exact.items():
            assert np.abs(memory[name].numpy() - right).max() < 4e-3 * np.abs(right).max()


def test_tensors_by_which_gpus_exchange_sums_stay_as_they_are():
    graph = Graph(io_data_type="float32")
    scale, bias, *peers = (graph.tensor((1, 16, 1, 1), name=name) for name in "abcd")
    x = graph.tensor((4, 16, 3, 3), layout="nhwc")
    graph.batchnorm(x, scale, bias, epsilon=1e-3, peer_stats=peers)[0].set_output()
    expansion = graph.expansion("H200")
    assert not expansion.preludes
    assert expansion.nodes[0].inputs["peer_stats"] == peers


def _is_one_graph(nodes: Sequence[Node]) -> bool:
    """Whether the operations hang together: engines compute one part of what does not."""
    first, *rest = nodes
    tensors = {*first.operands, *first.outputs.values()}
    while near := [n for n in rest if not tensors.isdisjoint([*n.operands, *n.outputs.values()])]:
        tensors.update(t for n in near for t in (*n.operands, *n.outputs.values()))
        rest = [node for node in rest if node not in near]
    return not rest


# What no engine could copy in another order or from gaps; attention, before which none are copied.
REFUSED = {
    "gradient of a norm beside element-wise operations",
    "spaced matrix of a product",
    "modifier with spaced keys",
    "operand with gaps",
    "image computed from another order of memory",
}


@pytest.mark.parametrize("seed", range(0, 400, 2))
def test_nothing_that_engines_misread_is_left(seed):
    case = draw(seed)
    channels_first = case["main"] == "convolution" and not case["parameters"]["last"]
    sketch = Sketch(case)
    sketch.result()
    if channels_first:
        return
    expansion = sketch.graph._expanded(sketch.graph.validate(), H200)
    for each in (expansion, *(prelude.expansion for prelude in expansion.preludes)):
        assert _is_one_graph(each.nodes)
        if any(node.operation == "copy" for node in each.nodes):
            continue  # its result is larger than its operands
        found = faults_of(Lowered(each.nodes, flattened(each.nodes)), H200).found
        refusing = {finding.fault.name for finding in found if finding.refuses}
        if "result that broadcasts" in refusing:
            continue
        assert refusing <= REFUSED
        for side in sides(each.nodes):
            for node in side.nodes:
                assert not any(side.misread(t, node) for t in node.operands)


@on_each_device
@pytest.mark.thinned(2)
@pytest.mark.parametrize("product", [False, True])
def test_indices_that_engines_count_wrong_are_counted_beforehand(product, handle):
    rng = np.random.default_rng(7)
    with Graph(io_data_type="float32") as graph:
        a, b = (rng.standard_normal(dims, np.float32) for dims in ((2, 24, 16), (2, 16, 40)))
        given = {"a": DeviceTensor.from_numpy(a)}
        x = graph.tensor_like(given["a"], name="a")
        if product:
            given["b"] = DeviceTensor.from_numpy(b)
            x = graph.matmul(x, graph.tensor_like(given["b"], name="b"))
            row, column = (graph.gen_index(x, axis=axis) for axis in (1, 2))
            lower = graph.binary_select(x, x * 0.0, graph.cmp_ge(row, column))
            graph.mul(lower, graph.gen_index(x, axis=0)).set_output(name="y")
            expected = np.tril(a @ b) * np.arange(2).reshape(2, 1, 1)
        else:
            graph.gen_index(x, axis=0).set_output(name="y", data_type="int32")
            expected = np.broadcast_to(np.arange(2).reshape(2, 1, 1), a.shape)
        assert len(graph.expansion(handle).preludes) == 1 + 2 * product
        got = graph.run(given, handle=handle)["y"].numpy()
    np.testing.assert_allclose(got, expected, atol=1e-2)  # a GPU multiplies in TF32


@on_each_device
@pytest.mark.parametrize("kept", ["exp", "sub"])
@pytest.mark.parametrize("pools", [True, False])
def test_what_is_written_on_the_way_to_an_operand_is_written_beforehand(pools, kept, handle):
    rng, dims = np.random.default_rng(8), (2, 16, 6, 8)
    given = {name: rng.uniform(0.5, 1, dims).astype("f4") for name in "xz"}
    with Graph(io_data_type="float32") as graph:
        x, z = (graph.tensor(dims, layout="nhwc", name=name) for name in "xz")
        function = graph.exp(z)
        operand = graph.sub(x, function if pools else graph.log(function))
        exact = given["x"] - (np.exp(given["z"]) if pools else given["z"])
        if pools:
            y, _ = graph.resample(operand, "avgpool", window=2, stride=2)
            expected = exact.reshape(2, 16, 3, 2, 4, 2).mean((3, 5))
        else:
            y = graph.reduction(operand, "add", axes=(0, 2, 3))
            expected = exact.sum((0, 2, 3), keepdims=True)
        y.set_output(name="y")
        (function if kept == "exp" else operand).set_output(name=kept)
        memory = _memory(graph, given)
        assert len(graph.expansion(handle).nodes) == 1
        _execute(graph, handle, memory)
        np.testing.assert_allclose(memory["y"].numpy(), expected, rtol=1e-4, atol=1e-4)
        right = np.exp(given["z"]) if kept == "exp" else exact
        np.testing.assert_allclose(memory[kept].numpy(), right, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize(
    ("main", "other", "apart"),
    [
        *(("pool", "x", 1), ("pool", "y", 0), ("pool", "t", 1), ("sum", "x", 0), ("sum", "t", 1)),
        *(("product", "x", 1), ("product", "y", 0), ("tanh", "x", 0), ("wider", "x", 1)),
    ],
)
def test_what_shares_no_result_is_computed_in_a_graph_of_its_own(main, other, apart, h200):
    graph = Graph(io_data_type="float16")
    x = graph.tensor((2, 16, 8, 1 if main == "wider" else 8), layout="nhwc")
    made: dict[str, Callable[[], Any]] = {
        "pool": lambda: graph.resample(x, "avgpool", window=2)[0],
        "sum": lambda: graph.reduction(x, "add", axes=1),
        "product": lambda: graph.matmul(x, graph.tensor((2, 16, 8, 4))),
        "tanh": lambda: graph.tanh(x),
        "wider": lambda: graph.add(x, graph.tensor((2, 16, 8, 8), layout="nhwc")),
    }
    y = made[main]().set_output()
    read = {"x": x, "y": y}[other] if other in "xy" else graph.tensor((3, 5, 7))
    graph.tanh(graph.relu(read)).set_output()
    sizes = [len(each.expansion.nodes) for each in graph.expansion(h200).preludes]
    assert sizes == [1 if main == "wider" else 2] * apart


def test_channels_of_images_are_counted_beforehand(h200):
    (x, w), order = (((n, 8, 1, 1) for n in (2, 16)), (0, 2, 3, 1))
    graph = Graph(io_data_type="float16")
    y = graph.conv_fprop(graph.tensor(x, packed(x, order)), graph.tensor(w, packed(w, order)))
    graph.add(y, graph.gen_index(y, axis=1)).set_output()
    (prelude,) = graph.expansion(h200).preludes
    assert prelude.result.dims == (1, 1, 16)


@pytest.mark.parametrize(("order", "apart"), [((0, 1, 2), 0), ((1, 0, 2), 1), ((1, 2, 0), 1)])
def test_indices_of_another_order_of_memory_are_counted_beforehand(order, apart, h200):
    dims = (7, 9, 33)
    graph = Graph(io_data_type="float32")
    index = graph.gen_index(graph.tensor(dims, packed(dims, order)), axis=1)
    graph.add(graph.tensor(dims), index).set_output()
    counted = [each.result.dims for each in graph.expansion(h200).preludes][:1]
    assert counted == [(1, 1, 9)] * apart


def test_an_index_that_is_both_operands_is_counted_once(h200):
    graph = Graph(io_data_type="float32")
    index = graph.gen_index(graph.tensor((1, 8, 8)), axis=1)
    graph.matmul(index, index).set_output()
    (prelude,) = graph.expansion(h200).preludes
    assert prelude.result.dims == (1, 1, 8)


def test_the_index_of_one_number_is_read_as_it_was_counted(h200):
    graph = Graph(io_data_type="float32")
    y = graph.matmul(graph.tensor((1, 24, 16)), graph.tensor((1, 16, 40)))
    index = graph.gen_index(graph.tensor((1, 1, 1)), axis=1)
    graph.max(y, graph.mul(graph.neg(index), 0.5)).set_output()
    expansion = graph.expansion(h200)
    (prelude,) = expansion.preludes
    assert [node.operation for node in expansion.nodes] == ["matmul", "neg", "mul", "max"]
    assert expansion.nodes[1].inputs["x"].uid == prelude.result.uid


def test_results_that_broadcast_stay_in_their_graph(h200):
    graph = Graph(io_data_type="float16")
    wrong.spread_product(graph)
    assert not graph.expansion(h200).preludes


def test_copies_are_no_larger_than_they_must_be(h200):
    graph, _ = _described("image", (8, 64, 9, 9), (8, 1, 1, 1), "")
    (prelude,) = graph.expansion(h200).preludes
    assert prelude.result.dims == (8, 1, 9, 9)
    assert math.prod(prelude.result.dims) * 4 == 2592
    assert "2592 bytes" in str(prelude)


def test_explain_tells_of_what_is_computed_beforehand(h200):
    graph, _ = _described("plain", (64, 128, 1, 1), (64, 1, 1, 1), "rsqrt")
    told = graph.explain(h200)
    assert len(told.beforehand) == 1
    assert "computed beforehand: rsqrt 'rsqrt' to (64, 1, 1, 1), 256 bytes" in str(told)
    assert told.usable


@pytest.mark.soak
@pytest.mark.usefixtures("reference_device")
def test_the_front_end_tells_where_that_of_nvidia_is_wrong():
    from cudnn_ctypes import frontend

    handle = frontend.create_handle()
    graph = frontend.pygraph(io_data_type=frontend.data_type.FLOAT, handle=handle)
    values = np.random.default_rng(3).uniform(0.5, 1, (1, 16, 64)).astype(np.float32)
    small = values[..., :1].copy()
    x = graph.tensor(name="x", dim=[1, 16, 64], stride=[1024, 64, 1])
    s = graph.tensor(name="s", dim=[1, 16, 1], stride=[16, 1, 1])
    y = graph.mul(x, graph.rsqrt(s)).set_output(True)
    with pytest.warns(FaultWarning, match="NVIDIA's front end would give wrong numbers"):
        graph.build([frontend.heur_mode.A])
    arrays = ((x, values), (s, small), (y, np.full((1, 16, 64), np.nan, np.float32)))
    memory = {each: DeviceTensor.from_numpy(array) for each, array in arrays}
    with DeviceBuffer(max(graph.get_workspace_size(), 1)) as workspace:
        graph.execute(memory, workspace, handle=handle)
    np.testing.assert_allclose(memory[y].numpy(), values / np.sqrt(small), rtol=1e-5)


# --- the same memory, described with other dims --------------------------------------------------


SIZES = (1, 2, 3, 5)


def _random_sum(seed: int) -> tuple[Graph, list[Tensor]]:
    """x + b + c of random dims and layouts: some operands broadcast, some have gaps."""
    rng = np.random.default_rng(seed)
    rank = int(rng.integers(1, 7))
    dims = tuple(int(each) for each in rng.choice(SIZES, rank))
    order = rng.permutation(rank) if rng.random() < 0.3 else np.arange(rank)
    graph = Graph(io_data_type="float32")
    operands = []
    for name in "xbc":
        keeps = rng.random(rank) < (1.1 if name == "x" else 0.6)
        own = tuple(size if kept else 1 for size, kept in zip(dims, keeps, strict=True))
        gap = int(rng.choice((1, 1, 1, 2)))
        strides = tuple(gap * each for each in packed(own, order.tolist()))
        operands.append(graph.tensor(own, strides, name=name))
    total = graph.add(graph.add(*operands[:2]), operands[2])
    total.set_output(name="y", dims=dims, strides=packed(dims, order.tolist()))
    return graph, operands


def _read(memory: NDArray[Any], dims: Any, strides: Any) -> NDArray[Any]:
    return as_strided(memory, dims, [each * memory.itemsize for each in strides])


@pytest.mark.parametrize("seed", range(10))
def test_a_sum_by_the_views_is_the_sum(seed):
    graph, operands = _random_sum(seed)
    views = flattened(graph.validate())
    rng = np.random.default_rng(seed)
    memory = {each.name: rng.standard_normal(20_000) for each in operands}
    (result,) = graph.outputs

    def total(how):
        y = np.full(20_000, 77.0)
        parts = [_read(memory[each.name], *how(each)) for each in operands]
        _read(y, *how(result))[...] = sum(parts)
        return y

    exact = total(lambda each: (each.dims, each.strides))
    if views:
        assert all(len(dims) == len(strides) == 3 for dims, strides in views.values())
        np.testing.assert_array_equal(total(lambda each: views[id(each)]), exact)
