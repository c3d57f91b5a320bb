"""Graphs of the front end, built for an H200 that need not be there: what they infer and refuse."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes.frontend as cudnn
from cudnn_ctypes import NotSupportedError, last_error_string, raw
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw.strides import packed

from .peer_graphs import PEER_GRAPHS
from .refused_graphs import BOTH

HALF, FLOAT, NOT_SET = cudnn.data_type.HALF, cudnn.data_type.FLOAT, cudnn.data_type.NOT_SET
# What cuDNN up to 9.28 has no engine for on an H200.
NO_ENGINE = {"matmul_of_a_reshaped_matrix", "two_matrices_side_by_side"}
OTHER_RELEASE = '{"format": "cudnn_ctypes frontend plan"}'
NOT_SUPPORTED = cudnn.cudnnGraphNotSupportedError
NUMBERS, HABITS = cudnn.numerical_note, cudnn.behavior_note
CUBLAS, COMPILED = "cublaslt_dependency", "runtime_compilation"
DIMS, ROWS = [4, 64, 64], [4096, 64, 1]
WIDE = dict.fromkeys(("intermediate_data_type", "compute_data_type"), FLOAT)


@pytest.fixture
def h200():
    with cudnn.create_device_properties(DeviceProperties.preset("H200").to_json()) as properties:
        yield properties


@pytest.fixture
def graph(h200):
    with cudnn.pygraph(io_data_type=HALF, **WIDE, device_property=h200) as made:
        yield made


def product(graph: Any) -> Any:
    a, b = (graph.tensor(dim=DIMS, stride=ROWS, name=name) for name in "ab")
    return graph.relu(graph.matmul(a, b, name="product"), name="relu").set_output(True)


# --- tensors -------------------------------------------------------------------------------------


def test_setters_return_the_tensor(graph):
    t = graph.tensor(dim=[2, 3], stride=[3, 1])
    other = graph.tensor(dim=[2], stride=[1])
    same = (
        t.set_name("t")
        .set_uid(7)
        .set_dim([4, 5])
        .set_stride([5, 1])
        .set_data_type(cudnn.data_type.INT8)
        .set_output(True)
        .set_is_virtual(False)
        .set_is_pass_by_value(False)
        .set_alignment(32)
        .set_ragged_offset(other)
        .set_reordering_type(cudnn.tensor_reordering.INT8x32)
        .set_vector_count_and_dimension(4, 1)
    )
    assert same is t
    assert (t.get_name(), t.get_uid(), t.get_dim(), t.get_stride()) == ("t", 7, [4, 5], [5, 1])
    assert t.get_data_type() is cudnn.data_type.INT8
    assert t.get_reordering_type() is cudnn.tensor_reordering.INT8x32
    assert (t.get_alignment(), t.get_vector_count(), t.get_vector_dimension()) == (32, 4, 1)
    assert not t.get_is_virtual()
    assert not t.get_is_pass_by_value()
    assert t.ragged_offset is other


@pytest.mark.parametrize("wrong", ["float17", cudnn.heur_mode.A, 3])
def test_what_is_no_data_type(graph, wrong):
    with pytest.raises(TypeError, match=r"expected a data|no data type"):
        graph.tensor([1], [1], data_type=wrong)


def test_tensor_scalar(graph):
    half = graph.tensor_scalar(0.5, cudnn.scalar_type.RUNTIME_PARAM)
    five = graph.tensor_scalar(5, cudnn.scalar_type.COMPILE_TIME_CONST)
    assert (half.get_data_type(), five.get_data_type()) == (FLOAT, cudnn.data_type.INT32)
    assert half.get_is_pass_by_value()
    assert half.get_dim() == half.get_stride() == [1]
    assert not half.get_has_compile_time_constant()
    assert five.get_has_compile_time_constant()


def test_one_number_on_the_host_is_passed_by_value(graph):
    one = graph.tensor_like(np.full((1, 1, 1), 0.5, np.float32))
    assert one.get_is_pass_by_value()
    assert graph.tensor_like(one).get_is_pass_by_value()


# --- what validation fills in --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("axis", "order"), [(None, (0, 1, 2)), (2, (0, 1, 2)), (1, (2, 0, 1)), (-3, (1, 2, 0))]
)
def test_transposed_blocks_have_their_axis_innermost(graph, axis, order):
    x = graph.tensor(dim=[32, 64, 96], stride=[6144, 96, 1])
    results = graph.block_scale_quantize(x, block_size=32, axis=axis, transpose=True)
    scales = [32, 64, 96]
    scales[order[-1]] //= 32
    for result, dims in zip(results, ([32, 64, 96], scales), strict=True):
        laid = np.empty([dims[each] for each in order], np.int8).transpose(np.argsort(order))
        assert tuple(result.get_stride()) == laid.strides
    for bare in (graph.relu(x), graph.relu(x).set_dim([32, 64, 96])):
        with pytest.raises(ValueError, match="transpose"):
            graph.block_scale_quantize(bare, 32, transpose=True)


def nhwc(dims: list[int]) -> list[int]:
    _, c, h, w = dims
    return [h * w * c, 1, w * c, c]


def test_results_of_convolutions_have_their_channels_together(graph):
    x = graph.tensor(dim=[2, 8, 6, 6], stride=[288, 36, 6, 1])
    w = graph.tensor(dim=[16, 8, 3, 3], stride=[72, 9, 3, 1])
    y = graph.conv_fprop(x, w, padding=[1, 1]).set_output(True)
    dw = graph.conv_wgrad(x, y, [1, 1]).set_dim([16, 8, 3, 3]).set_output(True)
    dx = graph.conv_dgrad(y, w, [1, 1]).set_dim([2, 8, 6, 6]).set_output(True)
    relu = graph.relu(x).set_output(True)
    part = graph.slice(x, [slice(0, 2), slice(0, 8, 2), slice(None), slice(1, 4, 3)])
    part.set_output(True)
    flat = graph.reshape(x, out_dims=[576]).set_output(True)
    graph.validate()
    for each in (y, dw, dx):
        assert each.get_stride() == nhwc(each.get_dim())
    assert relu.get_stride() == x.get_stride()
    assert (part.get_dim(), part.get_stride()) == ([2, 4, 6, 1], [288, 72, 6, 3])
    assert (flat.get_dim(), flat.get_stride()) == ([576], [1])


@pytest.mark.parametrize(
    ("dims", "strides", "expected"),
    [
        ([4, 8, 2, 2], [32, 4, 2, 1], [32, 4, 2, 1]),
        ([4, 8, 2, 2], [32, 1, 16, 8], [32, 1, 16, 8]),
        ([4, 8, 1, 1], [8, 1, 1, 1], [8, 1, 8, 8]),  # those of single elements do not count
    ],
)
def test_gradients_of_norms_lie_as_their_operand(graph, dims, strides, expected):
    x = graph.tensor(dims, strides)
    scale, mean, inverse = (graph.tensor([1, 8, 1, 1], data_type=FLOAT) for _ in range(3))
    dx, *others = graph.batchnorm_backward(x, x, scale, mean, inverse)
    for each in (dx, *others):
        each.set_output(True)
    graph.validate()
    assert (dx.get_dim(), dx.get_stride()) == (dims, expected)


def test_slices_are_views_for_a_cudnn_without_the_operation(graph):
    x = graph.tensor([4, 16, 64], [1024, 64, 1], name="x", uid=5)
    y = graph.slice(x, [slice(2, 4), slice(3, 9), slice(4, 64, 2)]).set_name("y")
    graph.relu(y.set_data_type(FLOAT)).set_output(True)
    for computed in (graph.relu(x), x):  # of a result, and as one: an operation all the same
        graph.slice(computed, [slice(0, 2)] * 3).set_output(True)
    nodes = graph._graph.validate()

    def expanded():
        return graph._graph._expanded(nodes, Target(92199, 90)).nodes

    with pytest.raises(ValueError, match=r"'y' needs the data type of 'x'"):
        expanded()
    y.set_data_type(HALF)
    for _ in range(2):
        assert [each.operation for each in expanded()] == ["relu", "relu", "slice", "slice"]
    assert (y.view_of, y.virtual) == ((5, 2 * (2 * 1024 + 3 * 64 + 4)), False)
    assert (x.alignment, y.alignment) == (16, 8)


def test_statistics_have_the_graph_s_data_types_too(graph):
    image = graph.tensor([2, 8, 4, 4], nhwc([2, 8, 4, 4]))
    total, squares = graph.genstats(image)
    squares.set_output(True)
    graph.sqrt(total).set_output(True)
    graph.validate()
    assert (total.get_data_type(), squares.get_data_type()) == (FLOAT, HALF)


def test_four_lists_of_a_convolution_by_their_place(graph):
    x = graph.tensor([1, 8, 6, 6], nhwc([1, 8, 6, 6]))
    w = graph.tensor([16, 8, 3, 3], nhwc([16, 8, 3, 3]))
    y = graph.conv_fprop(x, w, [0, 1], [2, 1], [1, 2], [1, 1], name="c").set_output(True)
    graph.validate()
    assert y.get_dim() == [1, 16, 6, 3]
    with pytest.raises(TypeError, match="convolution_mode: expected a convolution_mode"):
        graph.conv_fprop(x, w, convolution_mode="convolution")


def test_normalizations_in_inference_have_no_statistics(graph):
    x = graph.tensor([4, 8, 1, 1], [8, 1, 1, 1])
    scale, bias = (graph.tensor([1, 8, 1, 1], [8, 1, 1, 1], FLOAT) for _ in "sb")
    epsilon = graph.tensor([1] * 4, [1] * 4, FLOAT, is_pass_by_value=True)
    phase = cudnn.norm_forward_phase
    y, mean, inv = graph.layernorm(phase.INFERENCE, x, scale, bias, epsilon)
    assert y is not None
    assert mean is inv is None
    assert len(graph.rmsnorm(phase.TRAINING, x, scale, epsilon=epsilon)) == 2
    assert len(graph.batchnorm(x, scale, bias, scale, bias, epsilon, epsilon)) == 5
    assert graph.batchnorm(x, scale, bias, None, None, epsilon, epsilon)[3:] == [None, None]
    assert "momentum" not in graph._graph.nodes[-1].inputs
    with pytest.raises(TypeError, match="epsilon is missing"):
        graph.rmsnorm(phase.TRAINING, x, scale)
    with pytest.raises(TypeError, match="norm_forward_phase: expected a norm_forward_phase"):
        graph.layernorm("training", x, scale, bias, epsilon)


# --- building ------------------------------------------------------------------------------------


def test_the_steps(graph):
    y = product(graph)
    graph.tensor(dim=[1], stride=[1], name="used by nothing")
    graph.validate()
    assert (y.get_dim(), y.get_stride(), y.get_data_type()) == (DIMS, ROWS, HALF)
    graph.build_operation_graph()
    assert graph.get_execution_plan_count() == 0
    graph.create_execution_plans([cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK])
    count = graph.get_execution_plan_count()
    assert count > 1
    assert graph.get_engine_count() > 0
    graph.check_support()
    with pytest.raises(RuntimeError, match="no plan is built"):
        graph.get_workspace_size()
    graph.build_plans(cudnn.build_plan_policy.HEURISTICS_CHOICE)
    assert graph.get_workspace_size() >= 0
    assert graph.get_plan_name_at_index(0).startswith("eng")
    assert cudnn.behavior_note.RUNTIME_COMPILATION in graph.get_behavior_notes()
    assert graph.get_behavior_notes_for_plan_at_index(0) == graph.get_behavior_notes()
    assert graph.query_tensor_attributes_of_uid(y.get_uid()) is y
    for index in (-1, count):
        with pytest.raises(RuntimeError, match=f"there is no plan {index}"):
            graph.get_plan_name_at_index(index)


def test_steps_out_of_order(graph):
    product(graph)
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="build_operation_graph"):
        graph.get_engine_count()
    with pytest.raises(RuntimeError, match="no plan is built: call build"):
        graph.get_workspace_size()
    with pytest.raises(TypeError, match="heuristics: expected a heur_mode"):
        graph.build(["A"])


@pytest.mark.parametrize(
    ("bar", "given", "reason"),
    [
        ("select_numeric_notes", [NUMBERS.FFT], "lacks the note fft"),
        ("deselect_numeric_notes", [NUMBERS.FFT, NUMBERS.TENSOR_CORE], "has the note tensor_core"),
        ("select_behavior_notes", [HABITS.CUBLASLT_DEPENDENCY], f"lacks the note {CUBLAS}"),
        ("deselect_behavior_notes", [HABITS.RUNTIME_COMPILATION], f"has the note {COMPILED}"),
        ("deselect_engines", ["eng99", "eng"], "deselected by its name"),
    ],
)
def test_filters_hold_for_plans_that_come_later(graph, bar, given, reason):
    product(graph)
    assert getattr(graph, bar)(given) is graph
    with pytest.raises(cudnn.cudnnGraphNotSupportedError) as barred:
        graph.check_support()  # the steps before it are taken
    names = map(graph.get_plan_name_at_index, range(graph.get_execution_plan_count()))
    assert list(barred.value.messages) == [f"{name}: {reason}" for name in names][:8]


def test_pictures_show_the_graph_and_its_engine(graph):
    product(graph)
    pictures = (graph.to_svg, graph._repr_html_)
    for picture in pictures:
        assert all(each in picture() for each in ("matmul", "relu"))
        assert "engine" not in picture()
    graph.build([cudnn.heur_mode.A])
    engine = graph._plan(None).config.choice.engine
    for picture in pictures:
        assert f"engine {engine} " in picture()


def test_equal_graphs_have_equal_keys(h200):
    def key(size):
        with cudnn.pygraph(io_data_type=HALF, device_property=h200) as graph:
            x = graph.tensor([4, 8, size], [8 * size, size, 1])
            graph.relu(x).set_output(True)
            graph.validate()
            return graph.key()

    assert key(16) == key(16)
    assert key(16) != key(32)
    assert 0 <= key(16) < 1 << 64


def test_a_graph_that_no_engine_takes(graph):
    a, b = graph.tensor([1, 64, 32], [2048, 32, 1]), graph.tensor([1, 64, 64], [4096, 64, 1])
    graph.concatenate([a, b], 2).set_output(True)
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="engine 0") as caught:
        graph.build()
    assert isinstance(caught.value, NotSupportedError)
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match="no such kernels"):
        graph.create_execution_plans([cudnn.heur_mode.OPENSOURCE])


# --- attention -----------------------------------------------------------------------------------


def heads(graph: Any, *names: str) -> list[Any]:
    return [graph.tensor([2, 4, 64, 64], [16384, 4096, 64, 1], name=name) for name in names]


def attended(graph: Any, heads_of_k: int = 4, **options: Any) -> None:
    q, k, v = heads(graph, "q", "k", "v")
    k.set_dim([2, heads_of_k, 64, 64])
    graph.sdpa(q, k, v, **options)
    graph.validate()


PADDED = {"is_inference": True, "use_padding_mask": True}


def with_pages(graph: Any) -> None:
    attended(graph, is_inference=True, paged_attention_k_table=graph.tensor([2, 1, 4, 1]))


def with_a_gradient_of_no_bias(graph: Any) -> None:
    graph.sdpa_backward(*heads(graph, *"qkvods"), dBias=graph.tensor([1, 4, 64, 64]))
    graph.validate()


@pytest.mark.parametrize(
    ("call", "error", "says"),
    [
        (attended, ValueError, "give generate_stats, or is_inference"),
        (lambda g: attended(g, **PADDED), ValueError, "needs seq_len_q and seq_len_kv"),
        (lambda g: attended(g, **BOTH), ValueError, "exclude each other"),
        (lambda g: attended(g, 3, is_inference=True), NOT_SUPPORTED, "the 3 heads of k do not"),
        (with_pages, NOT_SUPPORTED, "paged_attention_k_table needs use_padding_mask=True"),
        (with_a_gradient_of_no_bias, ValueError, "dBias needs the bias"),
        (
            lambda g: g.layernorm(cudnn.norm_forward_phase.NOT_SET, *heads(g, *"xsbe")),
            ValueError,
            "layernorm: norm_forward_phase: INFERENCE or TRAINING",
        ),
        (
            lambda graph: graph.conv_fprop(*heads(graph, *"xw"), padding=[1], pre_padding=[1]),
            TypeError,
            "either padding, or pre_padding",
        ),
        (lambda g: g.tensor(DIMS, ROWS, HALF, True, True).validate(), ValueError, "is virtual, "),
        (lambda g: g.tensor(DIMS).set_ragged_offset(3), TypeError, "expected a tensor, got"),
        (lambda g: g.matmul(g.tensor(DIMS)), TypeError, r"matmul\(\) missing .*: 'B'"),
        (lambda g: g.rmsnorm_backward(*heads(g, *"yxsi")), TypeError, "has_dbias is missing"),
        (lambda g: g.sdpa_mxfp8(*heads(g, *"qkvabc")), TypeError, "generate_stats is missing"),
        (lambda graph: product(graph).validate(), ValueError, "tensor '.*' has no dims"),
        (lambda g: g.execute({}, override_uids=[1]), ValueError, "as many of each"),
        (lambda g: g.query_tensor_attributes_of_uid(77), RuntimeError, "no tensor has uid 77"),
        (lambda graph: graph.deserialize(5), TypeError, "serialize.. gave, got a int"),
        (lambda graph: graph.deserialize(OTHER_RELEASE), ValueError, "by another release"),
    ],
)
def test_what_is_refused_by_name(graph, call, error, says):
    with pytest.raises(error, match=says):
        call(graph)


def test_versions_and_errors_of_the_library():
    assert cudnn.backend_version_string() == raw.load().version_text
    told = []
    for ask in (cudnn.get_last_error_string, last_error_string):
        raw.cudnnCreate.unchecked(None)
        told.append(ask())
    assert told[0] == told[1] != ""


@pytest.mark.parametrize(
    "option", ["bias", "use_alibi_mask", "sink_token", "score_max", "score_sum_exp", "fn"]
)
def test_what_8_bit_attention_cannot_do_is_named(graph, option):
    scales = [graph.tensor([1, 1, 1, 1], [1, 1, 1, 1], FLOAT) for _ in range(6)]
    value = True if option == "use_alibi_mask" else scales[0]
    graph.sdpa_fp8(*heads(graph, *"qkv"), *scales, is_inference=True, **{option: value})
    with pytest.raises(cudnn.cudnnGraphNotSupportedError, match=f"carried out here: {option}"):
        graph.validate()


# --- device properties, serialization ------------------------------------------------------------


def test_device_properties(h200):
    text = h200.serialize()
    assert json.loads(text)["deviceName"] == "NVIDIA H200"
    assert cudnn.create_device_properties(text) == h200
    with pytest.raises(ValueError, match="no JSON"):
        cudnn.create_device_properties("{")
    with pytest.raises(TypeError, match="a GPU's number or JSON text"):
        cudnn.create_device_properties(None)
    with pytest.raises(ValueError, match="sm_version: 80, but NVIDIA H200 has 90"):
        cudnn.pygraph(device_property=h200, sm_version=80)
    cudnn.pygraph(device_property=h200, sm_version=90)


@pytest.mark.parametrize("data", [b"", b"{}", [1, 2, 3], "[]", [300]])
def test_damaged_data(h200, data):
    with (
        cudnn.pygraph(device_property=h200) as graph,
        pytest.raises((ValueError, TypeError), match="serialize"),
    ):
        graph.deserialize(data)


def test_data_cut_off_and_changed(graph, h200):
    product(graph)
    graph.build([cudnn.heur_mode.A])
    data = bytes(graph.serialize())
    document = json.loads(data)
    operands = json.loads(document["operands"])
    del next(iter(operands["tensors"].values()))["uid"]
    document["operands"] = json.dumps(operands)
    with cudnn.pygraph(device_property=h200) as other:
        for wrong in (data[:-40], json.dumps(document)):
            with pytest.raises(ValueError, match="damaged"):
                other.deserialize(wrong)
    with pytest.raises(TypeError, match=r"expected \(data\) or \(handle, data\)"):
        graph.deserialize()


def test_kernel_caches_are_shared(h200):
    with cudnn.create_kernel_cache() as cache:
        assert (cache.size(), cache.revision()) == (0, 0)
        with pytest.raises(ValueError, match="empty"):
            cache.serialize()
        kept = []
        tells = cudnn.backend_version() >= 92700  # how many kernels a cache has
        for size in (64, 128):
            with cudnn.pygraph(
                io_data_type=HALF,
                device_property=h200,
                kernel_cache=cache,
                is_dynamic_shape_enabled=True,
            ) as graph:
                x = graph.tensor([4, size, 64], [size * 64, 64, 1])
                graph.relu(graph.matmul(x, graph.tensor(DIMS, ROWS))).set_output(True)
                graph.build([cudnn.heur_mode.A])
                kept.append(cache.entry_count if tells else 1)
        assert kept[0] == kept[1] > 0
        text = cache.serialize()
    with cudnn.create_kernel_cache() as other:
        other.deserialize(text)
        assert json.loads(other.serialize()).keys() == json.loads(text).keys()


@pytest.mark.filterwarnings("ignore::cudnn_ctypes.FaultWarning")
@pytest.mark.parametrize("name", PEER_GRAPHS)
def test_the_heuristics_take_the_peer_s_programs(name, h200):
    """Those that are compared with NVIDIA's front end where there is a GPU."""
    case = PEER_GRAPHS[name]
    with cudnn.pygraph(io_data_type=case.io, device_property=h200, **WIDE) as graph:

        def new(name, dims, channels_last=False, tokens_first=False, data_type=None, **more):
            order = [0, *range(2, len(dims)), 1] if channels_last else range(len(dims))
            return graph.tensor(
                dims,
                packed(dims, [0, 2, 1, 3] if tokens_first else list(order)),
                data_type or case.io,
                name=name,
                is_pass_by_value="value" in more,
            )

        for each in case.describe(cudnn, graph, new).values():
            each.set_output(True)
        graph.validate()
        modes = [cudnn.heur_mode.A, cudnn.heur_mode.FALLBACK]

        def plan():
            graph.build_operation_graph()
            graph.create_execution_plans(modes)

        if name in NO_ENGINE:
            with pytest.raises(cudnn.cudnnGraphNotSupportedError):
                plan()
            return
        plan()
        graph.check_support()
        assert graph.get_execution_plan_count() > 0
