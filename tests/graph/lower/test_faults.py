"""Faults of cuDNN's: where they are found, what is done then, and whether they are still there."""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    FaultWarning,
    Handle,
    NotSupportedError,
    raw,
)
from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.expand.expansion import expand
from cudnn_ctypes.graph.lower.faults import FAULTS, Faults, faults_of
from cudnn_ctypes.graph.lower.faults import Graph as Lowered
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw.faults import Fault, Range
from cudnn_ctypes.raw.faults.calls import CALL_FAULTS
from cudnn_ctypes.runtime import cuda
from tools.fault_programs import CALLS, PROGRAMS, described, wrong
from tools.fuzz.wrong_rows import UNSEEN, verdict

from ..attentions import Attention
from ..fp8_attentions import Fp8Attention

H200 = Target(91900, 90)


def _of(program: Callable[..., None], *sizes: Any, **options: Any) -> Graph:
    return described(lambda graph: program(graph, *sizes, **options))


def _lowered(graph: Graph) -> Lowered:
    nodes = expand(graph.validate(), graph.tensors, graph._data_types(), H200).nodes
    return Lowered(nodes, flattened(nodes))


def _found(graph: Graph, target: Target = H200) -> Faults:
    return faults_of(_lowered(graph), target)


def _faulty(graph: Graph, target: Target = H200) -> set[int]:
    return set(_found(graph, target).engines)


def _refusals(graph: Graph, target: Target = H200) -> str:
    return "; ".join(each.message for each in _found(graph, target).found if each.refuses)


def _cautions(graph: Graph, target: Target = H200) -> list[str]:
    return [each.message for each in _found(graph, target).found if each.fault.data]


FAULTY: dict[str, set[int]] = {"fprop": set(), "dgrad": {50}, "wgrad": {1, 18, 20}}


@pytest.mark.thinned(3)
@pytest.mark.parametrize("kind", list(FAULTY))
def test_uneven_padding_passes_over_engines(kind: str, h200: DeviceProperties) -> None:
    with _of(wrong.convolution, kind, **wrong.UNEVEN) as graph:
        assert _faulty(graph) == FAULTY[kind]
        told = graph.explain(h200)
        assert told.usable
        assert not {row.engine for row in told.usable} & FAULTY[kind]
        passed_over = {
            row.engine for row in told if "pre_padding and post_padding differ" in row.reason
        }
        assert passed_over <= FAULTY[kind]
        assert passed_over or kind != "wgrad"  # that of dgrad, by FFT, wants a GPU that is there
        assert graph.build(h200).config.engine.index not in FAULTY[kind]


@pytest.mark.parametrize(
    "padding", [{}, {"padding": 1}, {"pre_padding": 1, "post_padding": (1, 1)}]
)
@pytest.mark.parametrize("kind", list(FAULTY))
def test_even_padding_has_all_engines(kind: str, padding: Any) -> None:
    graph = _of(wrong.convolution, kind, **padding)
    assert faults_of(Lowered(graph.nodes, {}), H200).engines == {}


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("data_type", ["float16", "float32"])
@pytest.mark.parametrize("kind", list(FAULTY))
def test_all_other_engines_compute(kind: str, data_type: str) -> None:
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    arrays = {n: rng.standard_normal(d).astype(data_type) for n, d in wrong.DIMS.items()}
    x, w, dy = (torch.tensor(arrays[n].astype(np.float64), requires_grad=True) for n in "xwy")
    padded = torch.nn.functional.pad(x, (1, 0, 0, 2))
    y = torch.conv2d(padded, w)
    y.backward(dy)
    exact = {"fprop": y, "dgrad": x.grad, "wgrad": w.grad}[kind].detach().numpy()
    with Handle() as handle, _of(wrong.convolution, kind, data_type, **wrong.UNEVEN) as graph:
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


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "clips", [{"upper_clip": 2.0}, {"lower_clip": -1.0}, {"lower_clip": 0.5, "upper_clip": 2.0}]
)
def test_products_that_are_clipped_pass_over_an_engine(
    clips: dict[str, float], h200: DeviceProperties
) -> None:
    with _of(wrong.clipped_product, **clips) as graph:
        assert _faulty(graph) == {0}
        told = graph.explain(h200)
        assert told.usable
        assert 0 not in {row.engine for row in told.usable}


@pytest.mark.parametrize("clips", [{}, {"lower_clip": 0.0}, {"upper_clip": float("inf")}])
def test_a_plain_relu_has_all_engines(clips: dict[str, float]) -> None:
    assert _faulty(_of(wrong.clipped_product, **clips)) == set()


def test_an_operand_of_one_column_is_misread() -> None:
    graph = _of(wrong.total, (3, 8, 64), (1, 8, 1))
    assert "add 'add_2': 'b1' (1, 8, 1) in (3, 8, 64)" in _refusals(graph)


@pytest.mark.parametrize(
    "dims", [(1, 1, 1), (1, 8, 64), (3, 1, 64), (3, 8, 1), (1, 1, 64), (3, 1, 1)]
)
def test_other_operands_broadcast(dims: Any) -> None:
    assert _faulty(_of(wrong.total, dims)) == set()


def test_only_element_wise_graphs_have_the_fault() -> None:
    graph = Graph(io_data_type="float16")
    product = graph.matmul(graph.tensor((3, 8, 16)), graph.tensor((3, 16, 64)))
    graph.add(product, graph.tensor((1, 1, 64))).set_output(name="y")
    assert _faulty(graph) == set()


def test_an_operand_that_cannot_be_copied_beforehand_is_named(h200: DeviceProperties) -> None:
    with (
        _of(wrong.total, (1, 8, 1)) as graph,
        pytest.raises(NotSupportedError, match="add 'add': 'b0'"),
    ):
        graph.build(h200, override_shapes=True)


def test_two_dimensions_that_cannot_be_three_are_refused_where_they_go_wrong() -> None:
    assert "describe the tensors with three" in _refusals(_of(wrong.two_dimensions))
    assert _refusals(_of(wrong.two_dimensions), Target(92800, 90)) == ""  # cuDNN refuses it itself
    assert _refusals(_of(wrong.two_dimensions), Target(91900, 80)) == ""  # not known of other GPUs


@pytest.mark.parametrize("mode", ["layer", "rms"])
def test_statistics_of_16_bits_are_refused(mode: str) -> None:
    assert _refusals(_of(wrong.norm_of_layers, mode, None)) == ""
    refusals = _refusals(_of(wrong.norm_of_layers, mode, "float16"))
    first = "mean" if mode == "layer" else "inv_variance"
    assert f"{first} '{first}': cuDNN writes float32 there" in refusals


@pytest.mark.parametrize(
    ("data_type", "order", "faulty"),
    [("bfloat16", (0, 2, 3, 1), {3}), ("bfloat16", None, set()), ("float16", (0, 2, 3, 1), set())],
)
def test_pooling_of_bfloat16_passes_over_an_engine(
    data_type: str, order: tuple[int, ...] | None, faulty: set[int]
) -> None:
    assert _faulty(_of(wrong.pooled, data_type, order)) == faulty


def test_pooling_after_an_element_wise_operation_passes_over_an_engine() -> None:
    assert _faulty(_of(wrong.pooled, "float16", (0, 2, 3, 1), after_relu=True)) == {1}


@pytest.mark.parametrize(
    ("joined", "misread"),
    [
        ((1, 8, 1, 1), True),
        ((16, 8, 1, 1), True),
        ((1, 1, 2, 3), True),
        ((1, 8, 2, 3), False),
        ((16, 1, 1, 1), False),
        ((16, 8, 2, 3), False),
        ((1, 1, 1, 1), False),
    ],
)
def test_filter_gradients_joined_with_a_part_are_misread(
    joined: tuple[int, ...], misread: bool
) -> None:
    refusals = _refusals(_of(wrong.filter_gradient, joined))
    assert ("'other'" in refusals) is misread


def _scattered_heads(stride: int) -> Graph:
    """Attention on q, of which neighbours of a head lie `stride` elements apart."""
    graph = Graph(io_data_type="float16")
    q, k, v = (graph.tensor((2, 4, 64, 32), name=name) for name in "qkv")
    graph.sdpa(q, k, v, attn_scale=0.1)[0].set_output(name="o")
    q.strides = (8192 * stride, 2048 * stride, 32 * stride, stride)
    return graph


@pytest.mark.parametrize("options", [("sink", "dropout"), ("bias",)], ids=str)
def test_wrong_gradients_are_refused_where_they_are_known(options: tuple[str, ...]) -> None:
    assert "sdpa_backward 'sdpa_backward'" in _refusals(_of(wrong.gradients, *options))
    assert _refusals(_of(wrong.gradients, *options), Target(91900, 80)) == ""


def test_a_sink_with_dropout_by_a_mask_is_taken() -> None:
    assert _refusals(_of(wrong.gradients, "sink", "mask")) == ""


UNBOUNDED = "gradient without bounds"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({}, "128 queries and 192 keys"),
        ({"queries": 1, "keys": 128}, "1 queries and 128 keys"),
        ({"keys": 128, "slopes": (1.0,)}, "use_alibi_mask"),
        ({"keys": 128, "scale": -0.5}, "attn_scale -0.5"),
        ({"keys": 129, "bias": (1, 1, 128, 129), "modifier": "cap"}, "score_mod, bias and 129"),
        ({"keys": 129, "bias": (1, 1, 128, 129)}, ""),
        ({"keys": 256, "bias": (1, 1, 128, 256), "modifier": "cap"}, ""),
        ({"keys": 256}, ""),
        ({"left": 20}, ""),
        ({"right": 0}, ""),
        ({"lengths": ((128, 128), (192, 1))}, ""),
    ],
)
def test_gradients_without_bounds_get_the_lengths_of_all_tokens(options: Any, told: str) -> None:
    graph = _of(wrong.attention_gradients, **options)
    named = [each for each in _found(graph).found if each.fault.name == UNBOUNDED]
    assert _refusals(graph) == ""
    assert len(named) == bool(told)
    assert all(told in each.place and "with the lengths of all" in each.told for each in named)
    sizes = [(options.get("queries", 128),) * 2, (options.get("keys", 192),) * 2]
    assert _added_lengths(graph, H200) == (sizes if told else [])


def _added_lengths(graph: Graph, target: Target) -> list[Any]:
    tensors = expand(graph.validate(), graph.tensors, graph._data_types(), target).tensors
    return [each.value for each in tensors if each.scratch and "seq_len" in each.name]


def test_gradients_without_bounds_stay_where_they_are_right() -> None:
    for target in (Target(92700, 90), Target(91900, 100)):
        assert _added_lengths(_of(wrong.attention_gradients), target) == []


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"slopes": (1.0,)}, "use_alibi_mask, one query and 320 keys"),
        ({"dropout": "seed"}, "rng_dump, one query and 320 keys"),
        ({}, ""),
        ({"slopes": (1.0,), "keys": 256}, ""),
        ({"slopes": (1.0,), "queries": 2}, ""),
        ({"slopes": (1.0,), "right": 0}, ""),
    ],
)
def test_one_query_with_alibi_gets_a_right_bound(options: Any, told: str) -> None:
    graph = _of(wrong.attention, **{"queries": 1, "keys": 320, **options})
    found = [each.place for each in _found(graph).found]
    assert [told in each for each in found] == [True] * bool(told)
    nodes = expand(graph.validate(), graph.tensors, graph._data_types(), H200).nodes
    assert any("right" in node.name for node in nodes) is (bool(told) or "right" in options)


@pytest.mark.parametrize(
    ("options", "engines"),
    [
        ({"scale": -0.2}, {2, 5, 9}),
        ({"scale": 0.0, "right": 0}, {2, 5, 9}),
        ({"scale": 0.2}, set()),
        ({"scale": -0.2, "left": 9, "right": 0}, set()),
        ({"scale": -0.2, "bias": (1, 1, 128, 192)}, set()),
        ({"scale": -0.2, "modifier": "cap"}, set()),
        ({"page": 16, "lengths": ((128,), (192,))}, {2, 9}),
        ({"page": 16, "keys": 256, "lengths": ((128,), (192,))}, set()),
    ],
)
def test_scales_and_pages_pass_over_engines(options: Any, engines: set[int]) -> None:
    graph = _of(wrong.attention, **options)
    assert (_faulty(graph), _refusals(graph)) == (engines, "")


@pytest.mark.parametrize(
    ("options", "refused"),
    [
        ({"modifier": "relative"}, True),
        ({"scale": 0.0}, True),
        ({"scale": 0.0, "modifier": "cap", "bias_gradient": False}, True),
        ({"modifier": "relative", "bias_gradient": False}, False),
        ({"scale": 0.0, "bias_gradient": False}, False),
        ({}, False),
    ],
)
def test_gradients_of_bias_are_refused_beside_a_modifier(options: Any, refused: bool) -> None:
    bias = {"bias": (1, 2, 128, 192), "bias_gradient": True}
    graph = _of(wrong.attention_gradients, **{**bias, **options})
    assert bool(_refusals(graph)) is refused


def test_lengths_that_may_be_zero_are_warned_of() -> None:
    assert ["queries and no keys" in each for each in _cautions(_of(wrong.attention))] == []
    (told,) = _cautions(_of(wrong.attention, **wrong.EMPTY))
    assert "sdpa 'sdpa' with seq_len_kv: most engines of cuDNN give NaN in o" in told
    gradients = _of(wrong.attention_gradients, lengths=wrong.EMPTY["lengths"])
    assert _cautions(gradients) == []
    old = [each.fault.name for each in _found(gradients, Target(91400, 90)).found]
    assert old == ["gradient of a sequence without queries"]


def test_strided_statistics_pass_over_engines_up_to_the_version_that_can() -> None:
    assert _faulty(_of(wrong.gradients)) == set()
    assert _faulty(_of(wrong.gradients, "stats")) == {1, 7}
    engines = _found(_of(wrong.gradients, "stats")).engines
    assert "stats 'stats' (2, 4, 128, 1) has strides (512, 1, 4, 1): it reads them" in engines[7]
    assert _faulty(_of(wrong.gradients, "stats"), Target(92600, 90)) == set()


def test_a_band_of_8_bits_that_is_wrong_for_some_lengths_is_built_with_a_warning() -> None:
    with DeviceProperties("H200") as h200:
        for options in ({"left": None}, {"bottom_right": False}, {"lengths": None}):
            told = _cautions(_of(wrong.band_of_8_bits, **options))
            assert all("a kernel of cuDNN may not end" in each for each in told)
        assert not _cautions(_of(wrong.band_of_8_bits), Target(91900, 80))
        assert _refusals(_of(wrong.band_of_8_bits)) == ""
        assert _faulty(_of(wrong.band_of_8_bits)) == set()
        (caution,) = (each for each in _cautions(_of(wrong.band_of_8_bits)) if "left bound" in each)
        assert "more queries than keys" in caution
        with _of(wrong.band_of_8_bits) as graph, warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", FaultWarning)
            graph.build(h200)
        said = [str(each.message) for each in caught if each.category is FaultWarning]
        assert bool(said) == (raw.load().version >= 91900)  # the first version known to do it
        assert all(re.search("sdpa_fp8.*seq_len_kv", each) for each in said)


def test_packed_statistics_of_one_query_pass_over_engines() -> None:
    assert _faulty(_of(wrong.packed_statistics)) == {1, 8}
    assert _faulty(_of(wrong.packed_statistics, unified=True)) == {1, 8}
    beside: list[dict[str, Any]] = [
        {"queries": 2, "lengths": ((1,), (80,))},
        {"key_heads": 2},
        {"ragged": False},
        {"sink": True},
        {"inference": True},
    ]
    for options in beside:
        assert _faulty(_of(wrong.packed_statistics, **options)) == set()


def test_gradients_that_end_within_a_line_pass_over_an_engine() -> None:
    assert _faulty(_of(wrong.window_of_one)) == {4}
    for right in (
        _of(wrong.window_of_one, 8),
        _of(wrong.window_of_one, order=(0, 2, 3, 1)),
        _of(wrong.window_of_one, window=3),
    ):
        assert _faulty(right) == set()


def test_gelu_of_a_product_passes_over_an_engine_where_float32_shows_it() -> None:
    assert _faulty(_of(wrong.gelu_of_a_product, "float32")) == {0}
    assert _faulty(_of(wrong.gelu_of_a_product, "float16")) == set()
    assert _faulty(_of(wrong.gelu_of_a_product, "float32", "gelu_approx_tanh")) == set()


@pytest.mark.parametrize("queries", [8, 50, 128])
def test_queries_in_8_bits_that_leave_a_tile_unfilled_are_refused(queries: int) -> None:
    refused = f"q 'q' (1, 2, {queries}, 128) has {queries} queries: cuDNN gives 0 for half"
    assert (refused in _refusals(_of(wrong.gradients_of_8_bits, queries))) is (queries % 16 != 0)
    assert _refusals(_of(wrong.gradients_of_8_bits, queries), Target(91900, 100)) == ""


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


@pytest.mark.parametrize(
    ("graph", "target"),
    [
        (lambda: _of(wrong.attention, left=100, right=0, keys=1152), Target(91400, 90)),
        (lambda: _of(wrong.attention, left=100, keys=1024), Target(91400, 90)),
        (lambda: _of(wrong.attention, keys=1152), Target(91400, 90)),
        (lambda: _of(wrong.attention, left=100, keys=1152), Target(91401, 90)),
        (lambda: _of(wrong.attention_gradients, sink=True), Target(91900, 90)),
        (lambda: _of(wrong.attention_gradients, **wrong.PACKED), Target(91900, 90)),
        (lambda: _of(wrong.attention_gradients, sink=True, **wrong.PACKED), Target(92600, 90)),
        (lambda: _of(wrong.attention_gradients, size=192, value_size=128), Target(91100, 90)),
        (lambda: _of(wrong.attention_gradients, size=160, value_size=64), Target(91100, 90)),
        (lambda: _of(wrong.attention_gradients, size=160, value_size=80), Target(91100, 100)),
        (lambda: _of(wrong.attention), Target(90000, 90)),
        (lambda: _of(wrong.masked_blocks), Target(92600, 100)),
        (lambda: _of(wrong.masked_blocks), Target(91900, 90)),
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
        assert "'stats': NVIDIA tells" in _refusals(graph)


def test_large_volumes_of_bfloat16_are_refused_before_9_19() -> None:
    old = Target(91400, 90)
    assert "conv_fprop 'conv_fprop': 'x' (1, 16" in _refusals(_of(wrong.large_volume), old)
    for right in (_of(wrong.large_volume, 100), _of(wrong.large_volume, order=(0, 2, 3, 4, 1))):
        assert _refusals(right, old) == ""


# --- the table -----------------------------------------------------------------------------------


def test_each_row_has_a_program() -> None:
    assert sorted(row.name for row in FAULTS) == sorted(PROGRAMS)
    assert sorted(row.name for row in CALL_FAULTS) == sorted(CALLS)


@pytest.mark.parametrize(
    ("row", "at"),
    [pytest.param(row, each, id=f"{row.name}, {each}") for row in FAULTS for each in row.ranges],
)
def test_a_row_finds_its_program_in_its_versions_and_gpus(
    row: Fault, at: Range, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = _lowered(described(PROGRAMS[row.name][0]))
    # As on a machine with an old GPU, where it matters.
    monkeypatch.setattr(cuda, "first_capability", lambda: 60 * row.beside_another)
    for gpu in (at.capabilities[0], at.capabilities[-1]):
        here = Target(at.since, gpu, True)
        # Nothing but this row says something of its program there, but for what data show.
        found = faults_of(graph, here).found
        (own,) = (each for each in found if each.fault is row)
        others = {
            each.fault.name for each in found if not (each.fault.data or each.fault.only_told)
        }
        assert others <= {row.name, "attention of 9.10"}
        assert set(at.modes) <= set(own.modes)
        assert at in own.ranges
        assert bool(row.ranges_at(Target(at.since, gpu))) is not row.beside_another
    assert at not in row.ranges_at(here._replace(version=at.since - 1))
    assert (at in row.ranges_at(here._replace(capability=70))) == bool(row.engines)
    if at.repaired is not None:
        assert at not in row.ranges_at(here._replace(version=at.repaired))


SILENT = [row for row in (*FAULTS, *CALL_FAULTS) if row.effect not in UNSEEN]


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
@pytest.mark.parametrize("row", SILENT, ids=lambda row: row.name)
def test_the_fault_is_still_there(row: Fault) -> None:
    """Where this fails, the row wants its `repaired`."""
    with Handle() as handle:
        found = verdict(row, handle)
    if found.startswith("not "):
        pytest.skip(found)
    if row.reported and found != "wrong":
        pytest.xfail("others tell of it, and it is not seen here")
    assert found == "wrong"
