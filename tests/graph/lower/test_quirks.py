"""Faults of cuDNN's: where they are found, what is done then, and whether they are still there."""

from __future__ import annotations

import contextlib
import functools
import math
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from reference.device.evaluation import evaluate, expansion

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    EngineChoice,
    FaultWarning,
    Handle,
    NotSupportedError,
    raw,
    use_reference_device,
)
from cudnn_ctypes.device import cuda
from cudnn_ctypes.dtypes import as_data_type, numpy_dtype
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.quirks import QUIRKS, Quirk, cautions, faulty_engines, refusals
from cudnn_ctypes.graph.lower.quirks import Graph as Lowered
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.strides import packed

from ..attentions import Attention
from ..fp8_attentions import Fp8Attention
from . import fatal_programs

H200 = Target(91900, 90)


def _lowered(graph: Graph) -> Lowered:
    nodes = graph._expanded(graph.validate(), H200).nodes
    return Lowered(nodes, flattened(nodes))


def _faulty(graph: Graph, target: Target = H200) -> set[int]:
    return set(faulty_engines(_lowered(graph), target))


def _refusals(graph: Graph, target: Target = H200) -> str:
    return "; ".join(refusals(_lowered(graph), target))


X, W, Y = (4, 32, 14, 12), (64, 32, 3, 3), (4, 64, 14, 11)
UNEVEN = {"pre_padding": (0, 1), "post_padding": (2, 0)}
FAULTY: dict[str, set[int]] = {"fprop": set(), "dgrad": {50}, "wgrad": {1, 18, 20}}


def _graph(kind: str, data_type: str = "float16", **padding: Any) -> Graph:
    graph = Graph(io_data_type=data_type)
    dims = {"x": X, "w": W, "y": Y}

    def tensor(name: str) -> Any:
        return graph.tensor(dims[name], packed(dims[name], (0, 2, 3, 1)), name=name)

    if kind == "fprop":
        result, name = graph.conv_fprop(tensor("x"), tensor("w"), **padding), "y"
    elif kind == "dgrad":
        result, name = graph.conv_dgrad(tensor("y"), tensor("w"), **padding), "x"
    else:
        result, name = graph.conv_wgrad(tensor("x"), tensor("y"), **padding), "w"
    result.set_output(dims=dims[name], strides=packed(dims[name], (0, 2, 3, 1)), name=name)
    return graph


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", list(FAULTY))
def test_uneven_padding_passes_over_engines(kind: str, h200: DeviceProperties) -> None:
    with _graph(kind, **UNEVEN) as graph:
        assert _faulty(graph) == FAULTY[kind]
        told = graph.explain(h200)
        assert told.usable
        assert not {row.engine for row in told.usable} & FAULTY[kind]
        wrong = {row.engine for row in told if "pre_padding and post_padding differ" in row.reason}
        assert wrong <= FAULTY[kind]
        assert wrong or kind != "wgrad"  # that of dgrad, by FFT, wants a GPU that is there
        assert graph.build(h200).config.engine.index not in FAULTY[kind]


@pytest.mark.parametrize(
    "padding", [{}, {"padding": 1}, {"pre_padding": 1, "post_padding": (1, 1)}]
)
@pytest.mark.parametrize("kind", list(FAULTY))
def test_even_padding_has_all_engines(kind: str, padding: Any) -> None:
    graph = _graph(kind, **padding)
    assert faulty_engines(Lowered(graph.nodes, {}), H200) == {}


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("data_type", ["float16", "float32"])
@pytest.mark.parametrize("kind", list(FAULTY))
def test_all_other_engines_compute(kind: str, data_type: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    arrays = {
        n: rng.standard_normal(d).astype(data_type) for n, d in zip("xwy", (X, W, Y), strict=True)
    }
    x, w, dy = (torch.tensor(arrays[n].astype(np.float64), requires_grad=True) for n in "xwy")
    padded = torch.nn.functional.pad(x, (1, 0, 0, 2))
    y = torch.conv2d(padded, w)
    y.backward(dy)
    exact = {"fprop": y, "dgrad": x.grad, "wgrad": w.grad}[kind].detach().numpy()
    with Handle() as handle, _graph(kind, data_type, **UNEVEN) as graph:
        memory: dict[Any, Any] = {
            each: DeviceTensor.from_numpy(arrays[each.name], strides=each.strides)
            for each in graph.inputs
        }
        (result,) = graph.outputs
        rows = graph.explain(handle).usable
        assert len({row.engine for row in rows}) > 5
        for row in rows:
            plan = graph.build(handle, config=row)
            poison = np.full(result.dims, np.nan, data_type)
            memory[result] = DeviceTensor.from_numpy(poison, strides=result.strides)
            with DeviceBuffer(max(plan.workspace_size, 1)) as workspace:
                graph.execute(memory, workspace)
                handle.synchronize()
            # Winograd's transforms and sums in fp16 lose some bits; float32 is TF32.
            error = np.abs(memory[result].numpy().astype(np.float64) - exact).max()
            assert error < 1e-2 * np.abs(exact).max(), row.choice
            memory.pop(result).close()
        for each in memory.values():
            each.close()


def _clipped(**clips: float) -> Graph:
    graph = Graph(io_data_type="float16")
    product = graph.matmul(graph.tensor((2, 16, 32)), graph.tensor((2, 32, 24)))
    graph.relu(product, **clips).set_output()
    return graph


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "clips", [{"upper_clip": 2.0}, {"lower_clip": -1.0}, {"lower_clip": 0.5, "upper_clip": 2.0}]
)
def test_products_that_are_clipped_pass_over_an_engine(
    clips: dict[str, float], h200: DeviceProperties
) -> None:
    with _clipped(**clips) as graph:
        assert _faulty(graph) == {0}
        told = graph.explain(h200)
        assert told.usable
        assert 0 not in {row.engine for row in told.usable}


@pytest.mark.parametrize("clips", [{}, {"lower_clip": 0.0}, {"upper_clip": float("inf")}])
def test_a_plain_relu_has_all_engines(clips: dict[str, float]) -> None:
    assert _faulty(_clipped(**clips)) == set()


BATCHES = (3, 8, 64)


def _sum(*dims: tuple[int, ...]) -> Graph:
    graph = Graph(io_data_type="float32")
    total = graph.tensor(BATCHES, name="x")
    for number, each in enumerate(dims):
        total = graph.add(total, graph.tensor(each, name=f"b{number}"))
    total.set_output(name="y")
    return graph


def test_an_operand_of_one_column_passes_over_an_engine() -> None:
    graph = _sum(BATCHES, (1, 8, 1))
    assert _refusals(graph) == ""
    assert "add 'add_2': 'b1' (1, 8, 1) in (3, 8, 64)" in faulty_engines(_lowered(graph), H200)[1]


@pytest.mark.parametrize(
    "dims", [(1, 1, 1), (1, 8, 64), (3, 1, 64), (3, 8, 1), (1, 1, 64), (3, 1, 1)]
)
def test_other_operands_broadcast(dims: Any) -> None:
    assert _faulty(_sum(dims)) == set()


def test_only_element_wise_graphs_have_the_fault() -> None:
    graph = Graph(io_data_type="float16")
    product = graph.matmul(graph.tensor((3, 8, 16)), graph.tensor((3, 16, 64)))
    graph.add(product, graph.tensor((1, 1, 64))).set_output(name="y")
    assert _faulty(graph) == set()


def test_where_no_engine_is_left_the_operand_is_named(h200: DeviceProperties) -> None:
    with _sum((1, 8, 1)) as graph, pytest.raises(NotSupportedError, match="add 'add': 'b0'"):
        graph.build(h200)


def _two_dimensions() -> Graph:
    graph = Graph(io_data_type="float32")
    x = graph.tensor((6, 64), name="x")
    graph.add(x, graph.gen_index(x, axis=1)).set_output(name="y")
    return graph


def test_two_dimensions_that_cannot_be_three_are_refused_where_they_go_wrong() -> None:
    assert "describe the tensors with three" in _refusals(_two_dimensions())
    assert _refusals(_two_dimensions(), Target(92800, 90)) == ""  # cuDNN refuses it itself
    assert _refusals(_two_dimensions(), Target(91900, 80)) == ""  # not known of other GPUs


def _layer_norm(mode: str, statistics: str | None) -> Graph:
    graph = Graph(io_data_type="float16")
    dims = {"x": (8, 64, 1, 1), "scale": (1, 64, 1, 1), "bias": (1, 64, 1, 1)}
    if mode == "rms":
        dims.pop("bias")
    given = {name: graph.tensor(size, name=name) for name, size in dims.items()}
    results = graph.norm_forward(mode, "training", *given.values(), epsilon=1e-5)
    for name, result in results.items():
        result.set_output(name=name)
    if statistics is not None:
        for name in {"mean", "inv_variance"} & set(results):
            results[name].data_type = as_data_type(statistics)
    return graph


@pytest.mark.parametrize("mode", ["layer", "rms"])
def test_statistics_of_16_bits_are_refused(mode: str) -> None:
    assert _refusals(_layer_norm(mode, None)) == ""
    refusals = _refusals(_layer_norm(mode, "float16"))
    first = "mean" if mode == "layer" else "inv_variance"
    assert f"{first} '{first}' must be float32" in refusals


def _pooled(data_type: str, order: tuple[int, ...] | None, *, after_relu: bool = False) -> Graph:
    graph = Graph(io_data_type=data_type)
    x = graph.tensor((2, 8, 4, 4), packed((2, 8, 4, 4), order), name="x")
    image = graph.relu(x) if after_relu else x
    graph.resample(image, "maxpool", window=2, stride=2)[0].set_output(name="y")
    return graph


@pytest.mark.parametrize(
    ("data_type", "order", "faulty"),
    [("bfloat16", (0, 2, 3, 1), {3}), ("bfloat16", None, set()), ("float16", (0, 2, 3, 1), set())],
)
def test_pooling_of_bfloat16_passes_over_an_engine(
    data_type: str, order: tuple[int, ...] | None, faulty: set[int]
) -> None:
    assert _faulty(_pooled(data_type, order)) == faulty


def test_pooling_after_an_element_wise_operation_passes_over_an_engine() -> None:
    assert _faulty(_pooled("float16", (0, 2, 3, 1), after_relu=True)) == {1}


def _filter_gradient(joined: tuple[int, ...], *, then: str = "add") -> Graph:
    graph = Graph(io_data_type="float16")
    order = (0, 2, 3, 1)
    x, dy = (
        graph.tensor(dims, packed(dims, order), name=name)
        for name, dims in (("x", (2, 8, 9, 9)), ("dy", (2, 16, 8, 7)))
    )
    dw = graph.conv_wgrad(x, dy)
    dw.dims, dw.strides = (16, 8, 2, 3), packed((16, 8, 2, 3), order)
    other = graph.tensor(joined, packed(joined, order), name="other")
    getattr(graph, then)(graph.relu(dw), other).set_output(name="y")
    return graph


@pytest.mark.parametrize(
    ("joined", "faulty"),
    [
        ((1, 8, 1, 1), {4}),
        ((16, 8, 1, 1), {4}),
        ((1, 1, 2, 3), {4}),
        ((1, 8, 2, 3), set()),
        ((16, 1, 1, 1), set()),
        ((16, 8, 2, 3), set()),
        ((1, 1, 1, 1), set()),
    ],
)
def test_filter_gradients_joined_with_a_part_pass_over_an_engine(
    joined: tuple[int, ...], faulty: set[int]
) -> None:
    assert _faulty(_filter_gradient(joined)) == faulty


def _scattered_heads(stride: int) -> Graph:
    """Attention on q, of which neighbours of a head lie `stride` elements apart."""
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((2, 4, 64, 32), name=name) for name in "qkv")
    graph.sdpa(q, k, v, attn_scale=0.1)[0].set_output(name="o")
    q.strides = (8192 * stride, 2048 * stride, 32 * stride, stride)
    return graph


def _gradients(*options: str) -> Graph:
    """The gradients of attention, with what cuDNN differentiates wrong."""
    graph = Graph(io_data_type="float16")
    dims, keys = (2, 4, 128, 64), (2, 4, 192 if "alibi" in options else 128, 64)
    q, k, v, o, dO = (
        graph.tensor(keys if name in "kv" else dims, name=name)
        for name in ("q", "k", "v", "o", "dO")
    )
    strides = (512, 1, 4, 1) if "stats" in options else (512, 128, 1, 1)
    stats = graph.tensor((2, 4, 128, 1), strides, data_type="float32", name="stats")
    more: dict[str, Any] = {"use_alibi_mask": "alibi" in options}
    if "bias" in options:
        more["bias"] = graph.tensor((1, 4, 1, 128), name="bias")
    if "sink" in options:
        sinks = [
            graph.tensor((1, 4, 1, 1), data_type="float32", name=name) for name in ("sink", "dsink")
        ]
        more |= {"sink_token": sinks[0], "dSink_token": sinks[1]}
    if "mask" in options:
        mask = graph.tensor((2, 4, 128, 128), name="mask")
        more["dropout"] = (mask, graph.tensor((1, 1, 1, 1), data_type="float32", name="scale"))
    if "dropout" in options:
        seed, offset = (
            graph.tensor((1, 1, 1, 1), data_type="int64", name=name) for name in ("seed", "offset")
        )
        more["dropout"] = (0.25, seed, offset)
    for gradient in graph.sdpa_backward(q, k, v, o, dO, stats, **more):
        gradient.set_output(name=gradient.name.rpartition(".")[2])
    return graph


@pytest.mark.parametrize("options", [("sink", "dropout"), ("bias",), ("alibi",)], ids=str)
def test_wrong_gradients_are_refused_where_they_are_known(options: tuple[str, ...]) -> None:
    assert "sdpa_backward 'sdpa_backward'" in _refusals(_gradients(*options))
    assert _refusals(_gradients(*options), Target(91900, 80)) == ""


def test_a_sink_with_dropout_by_a_mask_is_taken() -> None:
    assert _refusals(_gradients("sink", "mask")) == ""


@pytest.mark.parametrize(
    ("data_type", "heads", "keys", "band", "refused"),
    [
        ("float16", 4, 192, {}, True),  # 0.25 * 64
        ("float16", 4, 128, {}, False),  # the tile is full
        ("float16", 2, 192, {}, False),  # 0.0625 * 64
        ("float16", 6, 208, {}, False),
        ("float16", 8, 130, {}, False),
        ("float16", 8, 320, {}, True),
        ("bfloat16", 4, 192, {}, False),
        ("float16", 4, 192, {"diagonal_band_left_bound": 20}, False),
        ("float16", 4, 192, {"use_causal_mask": True}, False),
    ],
)
def test_alibi_to_both_sides_is_refused_where_it_overflows(
    data_type: str, heads: int, keys: int, band: Any, refused: bool
) -> None:
    with Graph(io_data_type=data_type) as graph:
        q, k, v, o, dO = (
            graph.tensor((2, heads, keys if name in "kv" else 128, 64), name=name)
            for name in ("q", "k", "v", "o", "dO")
        )
        stats = graph.tensor((2, heads, 128, 1), data_type="float32", name="stats")
        for each in graph.sdpa_backward(q, k, v, o, dO, stats, use_alibi_mask=True, **band):
            each.set_output()
        assert ("without a mask" in _refusals(graph)) is refused


def test_strided_statistics_pass_over_engines_up_to_the_version_that_can() -> None:
    assert _faulty(_gradients()) == set()
    assert _faulty(_gradients("stats")) == {1, 7}
    engines = faulty_engines(_lowered(_gradients("stats")), H200)
    assert "stats 'stats' (2, 4, 128, 1) must be packed" in engines[7]
    assert _faulty(_gradients("stats"), Target(92600, 90)) == set()


def _gradients_of_8_bits(queries: int) -> Graph:
    graph = Graph()
    Fp8Attention(
        Attention(batch=1, heads=2, key_heads=2, queries=queries, size=128, value_size=128)
    ).backward(graph)
    return graph


def _band_of_8_bits(**options: Any) -> Graph:
    band = {"left": 2, "right": 0, "bottom_right": True, "lengths": ((128, 128), (160, 97))}
    sizes = {"queries": 128, "keys": 160, "size": 128, "value_size": 128}
    one = Attention(batch=2, heads=2, key_heads=2, inference=True, **{**sizes, **band, **options})
    graph = Graph()
    Fp8Attention(one).forward(graph)
    return graph


def test_a_band_of_8_bits_that_is_wrong_for_some_lengths_is_built_with_a_warning() -> None:
    with DeviceProperties("H200") as h200:
        for options in ({"left": None}, {"bottom_right": False}, {"lengths": None}):
            assert not cautions(_lowered(_band_of_8_bits(**options)), H200)
        assert not cautions(_lowered(_band_of_8_bits()), Target(91900, 80))
        assert _refusals(_band_of_8_bits()) == ""
        assert _faulty(_band_of_8_bits()) == set()
        (caution,) = cautions(_lowered(_band_of_8_bits()), H200)
        assert "more queries than keys" in caution
        with _band_of_8_bits() as graph, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FaultWarning)
            graph.build(h200)
        said = [str(each.message) for each in caught if each.category is FaultWarning]
        assert bool(said) == (raw.load().version >= 91900)  # the first version known to do it
        assert all(re.search("sdpa_fp8.*seq_len_kv", each) for each in said)


def _packed_statistics(*, unified: bool = False, **options: Any) -> Graph:
    defaults = {"queries": 1, "keys": 80, "lengths": ((1,), (80,)), "ragged": True}
    one = Attention(**{"batch": 1, "heads": 2, "key_heads": 1, **defaults, **options})
    graph = Graph(io_data_type="float16")
    one.forward(graph, unified=unified)
    return graph


def test_packed_statistics_of_one_query_pass_over_engines() -> None:
    assert _faulty(_packed_statistics()) == {1, 8}
    assert _faulty(_packed_statistics(unified=True)) == {1, 8}
    beside: list[dict[str, Any]] = [
        {"queries": 2, "lengths": ((1,), (80,))},
        {"key_heads": 2},
        {"ragged": False},
        {"sink": True},
        {"inference": True},
    ]
    for options in beside:
        assert _faulty(_packed_statistics(**options)) == set()


def _window_of_one(
    size: int = 9, *, order: tuple[int, ...] | None = None, window: int = 1
) -> Graph:
    graph = Graph(io_data_type="bfloat16")
    x, dy = (
        graph.tensor(dims, packed(dims, order), name=name)
        for name, dims in (("x", (1, 24, 12, size)), ("dy", (1, 8, 12, size)))
    )
    dw = graph.conv_wgrad(x, dy, padding=window // 2)
    dw.set_output(False, dims=(8, 24, window, window))
    graph.tanh(dw).set_output(name="y")
    return graph


def test_gradients_that_end_within_a_line_pass_over_an_engine() -> None:
    assert _faulty(_window_of_one()) == {4}
    for right in (
        _window_of_one(8),
        _window_of_one(order=(0, 2, 3, 1)),
        _window_of_one(window=3),
    ):
        assert _faulty(right) == set()


def _gelu_of_a_product(data_type: str, function: str = "gelu") -> Graph:
    graph = Graph(io_data_type="float16")
    a, b = (graph.tensor((1, 64, 64), name=name) for name in "ab")
    getattr(graph, function)(graph.matmul(a, b)).set_output(name="y", data_type=data_type)
    return graph


def test_gelu_of_a_product_passes_over_an_engine_where_float32_shows_it() -> None:
    assert _faulty(_gelu_of_a_product("float32")) == {0}
    assert _faulty(_gelu_of_a_product("float16")) == set()
    assert _faulty(_gelu_of_a_product("float32", "gelu_approx_tanh")) == set()


@pytest.mark.parametrize("queries", [8, 50, 128])
def test_queries_in_8_bits_that_leave_a_tile_unfilled_are_refused(queries: int) -> None:
    refused = f"q 'q' (1, 2, {queries}, 128) has {queries} queries; store a multiple of 16"
    assert (refused in _refusals(_gradients_of_8_bits(queries))) is (queries % 16 != 0)
    assert _refusals(_gradients_of_8_bits(queries), Target(91900, 100)) == ""


@pytest.mark.parametrize(
    ("version", "capability", "refused"),
    [
        (91400, 90, True),
        (91400, 120, False),
        (91900, 120, True),
        (92700, 100, True),
        (92800, 90, True),
        (92800, 100, False),
        (92800, 80, False),
    ],
)
def test_scattered_heads_are_refused_where_they_end_the_process(
    version: int, capability: int, refused: bool
) -> None:
    target = Target(version, capability)
    assert _refusals(_scattered_heads(1), target) == ""
    told = "sdpa 'sdpa': q 'q' (2, 4, 64, 32) must have stride 1"
    assert (told in _refusals(_scattered_heads(2), target)) is refused


def test_columns_of_two_other_products_are_taken() -> None:
    """cuDNN has engines for them."""
    graph = Graph(io_data_type="float16")
    for _ in range(2):
        a = graph.tensor((4, 64, 64), (4096, 1, 64))
        graph.matmul(a, graph.tensor((4, 64, 64))).set_output()
    assert _refusals(graph) == ""


def _attention(**options: Any) -> Graph:
    graph = Graph(io_data_type="float16")
    Attention(batch=1, heads=2, key_heads=2, **options).forward(graph)
    return graph


def _attention_gradients(**options: Any) -> Graph:
    graph = Graph(io_data_type="float16")
    Attention(batch=2, heads=2, key_heads=2, **options).backward(graph)
    return graph


PACKED: dict[str, Any] = {"lengths": ((100, 28), (150, 42)), "ragged": True}


def _statistics(**options: Any) -> Graph:
    graph = _attention()
    (stats,) = (each for each in graph.outputs if each.name == "stats")
    for name, value in options.items():
        setattr(stats, name, value)
    return graph


def _masked_blocks() -> Graph:
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((2, 4, 256, 64), name=name) for name in "qkv")
    mask = graph.tensor((2, 4, 2, 1), data_type="uint8", name="mask")
    graph.sdpa_unified(q, k, v, block_mask=mask)[0].set_output(name="o")
    return graph


@pytest.mark.parametrize(
    ("graph", "target"),
    [
        (lambda: _attention(left=100, right=0, keys=1152), Target(91400, 90)),
        (lambda: _attention(left=100, keys=1024), Target(91400, 90)),
        (lambda: _attention(keys=1152), Target(91400, 90)),
        (lambda: _attention(left=100, keys=1152), Target(91401, 90)),
        (lambda: _attention_gradients(sink=True), Target(91900, 90)),
        (lambda: _attention_gradients(**PACKED), Target(91900, 90)),
        (lambda: _attention_gradients(sink=True, **PACKED), Target(92600, 90)),
        (lambda: _attention_gradients(size=192, value_size=128), Target(91100, 90)),
        (lambda: _attention_gradients(size=160, value_size=64), Target(91100, 90)),
        (lambda: _attention_gradients(size=160, value_size=80), Target(91100, 100)),
        (_attention, Target(90000, 90)),
        (_masked_blocks, Target(92600, 100)),
        (_masked_blocks, Target(91900, 90)),
    ],
)
def test_what_is_beside_a_reported_fault_is_taken(
    graph: Callable[[], Graph], target: Target
) -> None:
    assert _refusals(graph(), target) == ""


def test_attention_of_8_bits_with_statistics_of_16() -> None:
    with Graph() as graph:
        Fp8Attention(Attention(batch=1, heads=2, key_heads=2)).forward(graph)
        assert _refusals(graph) == ""
        (stats,) = (each for each in graph.outputs if each.name == "stats")
        stats.data_type = as_data_type("bfloat16")
        assert "'stats' must be float32: NVIDIA tells" in _refusals(graph)


# --- the table -----------------------------------------------------------------------------------

EXAMPLES: dict[str, Callable[[], Graph]] = {
    "pooling after an element-wise operation": lambda: _pooled(
        "float16", (0, 2, 3, 1), after_relu=True
    ),
    "clipped product": lambda: _clipped(lower_clip=0.5, upper_clip=2.0),
    "pooling of bfloat16": lambda: _pooled("bfloat16", (0, 2, 3, 1)),
    "uneven padding, gradient of data": lambda: _graph("dgrad", **UNEVEN),
    "uneven padding, gradient of filter": lambda: _graph("wgrad", **UNEVEN),
    "part of a filter gradient": lambda: _filter_gradient((1, 8, 1, 1)),
    "gradient of filters of one element": _window_of_one,
    "gelu of a product": lambda: _gelu_of_a_product("float32"),
    "broadcast along two dimensions": lambda: _sum((1, 8, 1)),
    "element-wise graph of two dimensions": _two_dimensions,
    "statistics of layers in 16 bits": lambda: _layer_norm("layer", "float16"),
    "strided statistics of attention": lambda: _gradients("stats"),
    "gradient of queries in 8 bits": lambda: _gradients_of_8_bits(8),
    "gradient of a sink with dropout": lambda: _gradients("sink", "dropout"),
    "gradient of one row of bias": lambda: _gradients("bias"),
    "gradient with alibi to both sides": lambda: _gradients("alibi"),
    "packed statistics of one query": _packed_statistics,
    "band of attention in 8 bits": _band_of_8_bits,
    "attention of 9.10": _attention,
    "8-bit attention of 9.10": lambda: _gradients_of_8_bits(16),
    "window of attention without a right bound": lambda: _attention(left=100, keys=1152),
    "sink of packed sequences": lambda: _attention_gradients(sink=True, **PACKED),
    "strided statistics of attention's forward pass": lambda: _statistics(strides=(512, 1, 4, 1)),
    "statistics of attention in 16 bits": lambda: _statistics(data_type=as_data_type("float16")),
    "block mask of unified attention": _masked_blocks,
    "gradient of bias of packed sequences": lambda: _attention_gradients(
        bias=(1, 2, 128, 192), bias_gradient=True, **PACKED
    ),
    "uneven heads in attention's backward pass": lambda: _attention_gradients(
        size=160, value_size=80
    ),
    **{
        name: functools.partial(fatal_programs.described, programs[0])
        for name, programs in fatal_programs.PROGRAMS.items()
    },
}


# Relative to the largest element.
ALLOWED = {"gelu of a product": 1e-5}

# What is dropped by a seed only cuDNN knows; the gradient of the sink does not depend on it.
COMPARED = {"gradient of a sink with dropout": ("dsink",)}


def test_each_row_has_an_example() -> None:
    assert [quirk.name for quirk in QUIRKS] == list(EXAMPLES)


@pytest.mark.parametrize("quirk", QUIRKS, ids=lambda quirk: quirk.name)
def test_a_row_finds_its_example_in_its_versions_and_gpus(
    quirk: Quirk, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = _lowered(EXAMPLES[quirk.name]())
    assert quirk.where(graph)
    version, gpu = quirk.since, quirk.capabilities[0]
    # As on a machine with an old GPU, where it matters.
    monkeypatch.setattr(cuda, "first_capability", lambda: 60 * quirk.beside_another)
    here = Target(version, gpu, True)
    assert quirk.applies(here)
    assert quirk.applies(Target(version, gpu)) is not quirk.beside_another
    assert not quirk.applies(here._replace(version=version - 1))
    assert quirk.applies(here._replace(capability=70)) == bool(quirk.engines)
    if quirk.repaired is not None:
        assert not quirk.applies(here._replace(version=quirk.repaired))
    # Nothing but this row says something of its example there, in its modes.
    there = [each for each in QUIRKS if each.applies(here) and _share_modes(each, quirk)]
    said = {each.name for each in there if each.where(graph)}
    assert said - REFUSES_ALL_ATTENTION == {quirk.name} - REFUSES_ALL_ATTENTION
    assert quirk.name in said


REFUSES_ALL_ATTENTION = {"attention of 9.10"}


def _share_modes(one: Quirk, other: Quirk) -> bool:
    return not one.modes or not other.modes or bool({*one.modes} & {*other.modes})


# What only compute-sanitizer shows, or the end of the process.
UNSEEN = ("ends the process", "reads beyond the end")
SILENT = [quirk for quirk in QUIRKS if not any(each in quirk.fault for each in UNSEEN)]


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("quirk", SILENT, ids=lambda quirk: quirk.name)
def test_the_fault_is_still_there(quirk: Quirk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where this fails, the row wants its `repaired`."""
    with Handle() as handle:
        if not quirk.applies(Target.of(handle)):
            pytest.skip("not known of this cuDNN and GPU")
        with use_reference_device(), EXAMPLES[quirk.name]() as graph:
            arrays = _inputs(graph)
            expected = evaluate(graph, arrays)
            assert all(np.isfinite(each.astype(np.float64)).all() for each in expected.values())
        monkeypatch.setattr("cudnn_ctypes.graph.lower.quirks.QUIRKS", ())
        # Some engines of attention have no kernel by default.
        choices = [
            EngineChoice(engine, knobs)
            for engine in quirk.engines
            for knobs in ({}, {"kernel_cfg": 25})
        ] or [None]
        right = [_is_right(handle, quirk.name, arrays, expected, choice) for choice in choices]
    if quirk.reported and False not in right:
        pytest.xfail("NVIDIA tells of it, and it is not seen here")
    assert False in right


def _inputs(graph: Graph) -> dict[str, Any]:
    """Random numbers; statistics of attention are near those of scores of 0."""
    rng = np.random.default_rng(3)
    arrays = {}
    offsets = {each.ragged_offset: each for each in graph.tensors if each.ragged_offset is not None}
    for tensor in expansion(graph).tensors:
        if tensor in graph.inputs:
            array = rng.standard_normal(tensor.dims)
            if tensor.name == "stats":
                heads, queries = tensor.dims[1:3]
                slopes = 2.0 ** (-8 * np.arange(1, heads + 1) / heads)
                slopes *= graph.nodes[0].options.get("use_alibi_mask", False)
                (keys,) = (each.dims[2] for each in graph.inputs if each.name == "k")
                scores = slopes[:, None, None] * (np.arange(keys) - np.arange(queries)[:, None])
                array += np.logaddexp.reduce(scores, axis=-1)[..., None]
            elif tensor.name.startswith(("scale_", "descale_")):
                array = np.ones(tensor.dims)
            elif tensor.name.startswith("seq_len_"):  # the queries are more, in the last sequence
                array = np.array([160, 97] if tensor.name.endswith("kv") else [128, 128])
                if tensor.dims[0] == 1:
                    name = "k" if tensor.name.endswith("kv") else "q"
                    array = next(each.dims[2:3] for each in graph.inputs if each.name == name)
                array = np.reshape(array, tensor.dims)
            elif tensor in offsets:
                array = np.reshape([0, math.prod(offsets[tensor].dims)], tensor.dims)
            arrays[tensor.name] = array.astype(numpy_dtype(tensor.data_type))
    return arrays


def _is_right(
    handle: Handle,
    name: str,
    arrays: dict[str, Any],
    expected: dict[str, Any],
    choice: EngineChoice | None,
) -> bool | None:
    """Whether a plan gives what is expected; None if cuDNN makes none."""
    with EXAMPLES[name]() as graph, contextlib.ExitStack() as stack:
        try:
            plan = graph.build(handle, config=choice)
        except (NotSupportedError, ValueError):  # ValueError: no such engine or knob
            return None
        types = {name: array.dtype for name, array in (arrays | expected).items()}
        memory: dict[Any, Any] = {}
        for each in (*graph.inputs, *graph.outputs):
            given = arrays.get(each.name)
            if given is None:
                given = np.full(each.dims, np.nan, types[each.name])
            # Room behind the end: one of the faults is to write there.
            room = stack.enter_context(DeviceBuffer(4 * given.size + 256))
            tensor = DeviceTensor.from_numpy(given, strides=each.strides)
            stack.enter_context(tensor)
            memory[each] = tensor if each in graph.inputs else room
            if each in graph.outputs:
                room.copy_from(tensor)
        workspace = stack.enter_context(DeviceBuffer(max(plan.workspace_size, 1)))
        workspace.fill(255)  # not a number
        graph.execute({each: _address(m) for each, m in memory.items()}, workspace)
        handle.synchronize()
        for each in graph.outputs:
            if each.name not in COMPARED.get(name, expected):
                continue
            dtype = types[each.name]
            flat = memory[each].copy_to_host()[: expected[each.name].nbytes].view(dtype)
            found = np.ndarray(
                each.dims, dtype, flat, strides=[s * dtype.itemsize for s in each.strides]
            )
            wanted = expected[each.name].astype(np.float64)
            error = np.abs(found.astype(np.float64) - wanted).max()
            allowed = ALLOWED.get(name, 0.4 if "8 bits" in name else 2e-2)
            if not error <= allowed * np.abs(wanted).max():  # NaN is wrong too
                return False
    return True


def _address(memory: Any) -> int:
    return int(memory._as_parameter_.value)
