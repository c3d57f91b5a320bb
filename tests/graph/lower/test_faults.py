"""Faults of cuDNN's: where they are found, what is done then, and whether they are still there."""

from __future__ import annotations

import functools
import re
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, FaultWarning, Handle, NotSupportedError, raw
from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.backend.engine import EngineChoice
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.expand.expansion import expand
from cudnn_ctypes.graph.lower.faults import FAULTS, Faults, faults_of
from cudnn_ctypes.graph.lower.faults import Graph as Lowered
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.target import Target
from cudnn_ctypes.raw.faults.calls import CALL_FAULTS
from cudnn_ctypes.raw.strides import packed
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


def _scattered_heads(graph: Graph, stride: int) -> None:
    """Attention on q, of which neighbours of a head lie `stride` elements apart."""
    q, k, v = (graph.tensor((2, 4, 64, 32), name=name) for name in "qkv")
    graph.sdpa(q, k, v, attn_scale=0.1)[0].set_output(name="o")
    q.strides = (8192 * stride, 2048 * stride, 32 * stride, stride)


def _pools_beside(graph: Graph, other: str) -> None:
    x = graph.tensor((2, 16, 8, 8), layout="nhwc", name="x")
    y, _ = graph.resample(x, "avgpool", window=2, stride=2)
    read = {"x": x, "y": y}[other] if other in "xy" else graph.tensor((3, 5, 7), name="t")
    graph.relu(read).set_output(name="z")
    y.set_output(name="y")


def _slices_of_lines(graph: Graph, *dims: int) -> None:
    s = graph.tensor(dims, packed((*dims[:-1], 40)), name="s")
    graph.add(graph.tensor((8, 128, 33), name="x"), s).set_output(name="y")


def _counts_in_another_order(graph: Graph, order: tuple[int, ...] = (1, 2, 0)) -> None:
    dims = (2, 40, 56)
    counted = graph.tensor(dims, packed(dims, order), name="counted")
    graph.add(graph.gen_index(counted, axis=2), graph.tensor(dims, name="x")).set_output(name="y")


def _batch_norm_gradient_behind_relus(graph: Graph) -> None:
    dy, x, y = (
        graph.tensor((4, 16, 12, 12), layout="nhwc", name=name) for name in ("dy", "x", "y")
    )
    of_channels = [
        graph.tensor((1, 16, 1, 1), data_type="float32", name=name)
        for name in ("scale", "mean", "inv")
    ]
    grad = graph.relu_backward(dy, y)
    for gradient in graph.norm_backward("batch", grad, x, *of_channels).values():
        gradient.set_output()


def _narrow_gradient(graph: Graph, filters: int, channels: int) -> None:
    dy, w = (
        graph.tensor(dims, layout="nhwc", name=name)
        for name, dims in (("dy", (2, filters, 8, 8)), ("w", (filters, channels, 1, 1)))
    )
    dx = (2, channels, 8, 8)
    graph.conv_dgrad(dy, w).set_output(dims=dx, strides=packed(dx, LAST))


def _images_with_a_scale_of_another_type(graph: Graph) -> None:
    x = graph.tensor((4, 16, 8, 8), layout="nhwc", name="x")
    scale, bias = (
        graph.tensor((1, 16, 1, 1), data_type=each, name=each) for each in ("float16", "float32")
    )
    for each in graph.norm_forward("instance", "training", x, scale, bias, 1e-3).values():
        each.set_output()


FAULTY: dict[str, set[int]] = {"fprop": set(), "dgrad": {50}, "wgrad": {1, 18, 20}}


@pytest.mark.gpu
@pytest.mark.parametrize("data_type", ["float16", "float32"])
@pytest.mark.parametrize("kind", list(FAULTY))
def test_all_other_engines_compute(kind, data_type):
    torch = pytest.importorskip("torch")
    rng = np.random.default_rng(2)
    arrays = {n: rng.standard_normal(d).astype(data_type) for n, d in wrong.DIMS.items()}
    x, w, dy = (torch.tensor(arrays[n].astype(np.float64), requires_grad=True) for n in "xwy")
    padded = torch.nn.functional.pad(x, (1, 0, 0, 2))
    y = torch.conv2d(padded, w)
    y.backward(dy)
    exact = {"fprop": y, "dgrad": x.grad, "wgrad": w.grad}[kind].detach().numpy()
    with Handle() as handle, _of(wrong.convolution, kind, data_type, **wrong.UNEVEN) as graph:
        memory = {
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


RELU = {"after_relu": True}
LAST = (0, 2, 3, 1)
SCALED = {"scale": -0.2}
PAGED = {"page": 16, "lengths": ((128,), (192,))}
ONE_QUERY = {"lengths": ((1,), (80,))}

# Programs and the engines that are passed over for them, refusals aside.
ENGINES: list[tuple[Any, tuple[Any, ...], dict[str, Any], set[int]]] = [
    *((wrong.convolution, (kind,), wrong.UNEVEN, faulty) for kind, faulty in FAULTY.items()),
    (wrong.clipped_product, (), {"upper_clip": 2.0}, {0}),
    (wrong.clipped_product, (), {"lower_clip": -1.0}, {0}),
    (wrong.clipped_product, (), {"lower_clip": 0.5, "upper_clip": 2.0}, {0}),
    (wrong.clipped_product, (), {}, set()),
    (wrong.clipped_product, (), {"lower_clip": 0.0}, set()),
    (wrong.clipped_product, (), {"upper_clip": float("inf")}, set()),
    *(
        (wrong.total, (dims,), {}, set())
        for dims in ((1, 1, 1), (1, 8, 64), (3, 1, 64), (3, 8, 1), (1, 1, 64), (3, 1, 1))
    ),
    (wrong.pooled, ("bfloat16", LAST), {}, {3}),
    (wrong.pooled, ("bfloat16", None), {}, set()),
    (wrong.pooled, ("float16", LAST), {}, set()),
    (wrong.pooled, ("float16", LAST), RELU, {1}),
    (wrong.attention, (), SCALED, {2, 5, 9}),
    (wrong.attention, (), {"scale": 0.0, "right": 0}, {2, 5, 9}),
    (wrong.attention, (), {"scale": 0.2}, set()),
    (wrong.attention, (), {**SCALED, "left": 9, "right": 0}, set()),
    (wrong.attention, (), {**SCALED, "bias": (1, 1, 128, 192)}, set()),
    (wrong.attention, (), {**SCALED, "modifier": "cap"}, {2, 5, 9}),
    (wrong.joined_batch_norm, (), {}, {0}),
    (wrong.joined_batch_norm, ((2, 64, 6, 6),), {}, set()),
    (wrong.joined_batch_norm, ((2, 64, 6, 6), "bfloat16"), {}, {0}),
    (wrong.strided_gradient, (), {}, {1}),
    (wrong.strided_gradient, (1,), {"joined": (5, 1, 12, 4)}, set()),
    (wrong.strided_gradient, (), {"joined": (1, 32, 1, 1)}, set()),
    (wrong.strided_gradient, (), {"joined": (1, 1, 1, 1)}, set()),
    (wrong.strided_gradient, (), {"joined": (5, 32, 12, 9)}, set()),
    (wrong.strided_gradient, (), {"joined": (5, 32, 12, 9), "order": (0, 1, 2, 3)}, {1, 8}),
    (wrong.fused, ((2, 16, 9, 9),), {"number": 0.5}, {8}),
    (wrong.fused, ((1, 16, 1, 1),), {"number": 0.5}, set()),
    (wrong.fused, ((2, 16, 9, 9),), {}, set()),
    (wrong.fused, ((2, 2, 9, 9),), {"room": 8}, {8}),
    (wrong.one_column, (), {}, set()),  # of 9.28
    (wrong.pooled_gradient, (), {}, {1}),
    (wrong.pooled_gradient, ("bfloat16",), {}, set()),
    (wrong.pooled_gradient, (), {"last": True}, set()),
    (wrong.product, (100,), {}, {2}),
    (wrong.product, (40,), {}, set()),
    (wrong.attention, (), PAGED, {2, 9}),
    (wrong.attention, (), {**PAGED, "keys": 256}, set()),
    (wrong.gradients, (), {}, set()),
    (wrong.gradients, ("stats",), {}, {1, 7}),
    (wrong.packed_statistics, (), {}, {1, 8}),
    (wrong.packed_statistics, (), {"unified": True}, {1, 8}),
    (wrong.packed_statistics, (), {"queries": 2, **ONE_QUERY}, set()),
    (wrong.packed_statistics, (), {"key_heads": 2}, set()),
    (wrong.packed_statistics, (), {"ragged": False}, set()),
    (wrong.packed_statistics, (), {"sink": True}, set()),
    (wrong.packed_statistics, (), {"inference": True}, set()),
    (wrong.window_of_one, (), {}, {4}),
    (wrong.window_of_one, (8,), {}, set()),
    (wrong.window_of_one, (), {"order": LAST}, set()),
    (wrong.window_of_one, (), {"window": 3}, set()),
    (wrong.turned, (), {}, {1, 8}),
    (wrong.turned, ((0, 1, 2),), {}, set()),
    (wrong.turned, ((1, 0, 2), 1, 128), {}, set()),  # whole, with lines as the result's
    (wrong.turned, ((0, 2, 1), 1, 128), {}, {1, 8}),
    (_pools_beside, ("y",), {}, set()),
    (_pools_beside, ("x",), {}, {1}),
    (_pools_beside, ("t",), {}, {1}),
    (_counts_in_another_order, (), {}, {1, 8}),
    (_counts_in_another_order, ((1, 0, 2),), {}, set()),
    (wrong.uneven_lines, ("wgrad", 12), {}, {2}),
    (wrong.uneven_lines, ("wgrad", 8, 20), {}, {2}),
    (wrong.uneven_lines, ("wgrad", 2), {}, {1, 2}),
    (wrong.uneven_lines, ("wgrad", 12), {"pixels": (5, 5, 5)}, {1, 2}),
    (wrong.uneven_lines, ("wgrad", 12), {"data_type": "float32"}, set()),
    (wrong.uneven_lines, ("dgrad", 8, 12), {}, set()),
    (wrong.turned_pooled_gradient, (), {}, {1}),
    (wrong.turned_pooled_gradient, (LAST,), {}, set()),
    (wrong.scaled_gradient, (), {}, {1}),
    (wrong.scaled_gradient, ("exp", 16), {}, set()),
    (wrong.scaled_gradient, ("exp", 16, "wgrad"), {}, {1}),
    (wrong.fused, ((1, 16, 1, 1),), {"image": 1, "order": (0, 1, 2, 3)}, {4, 7, 52}),
    *(
        (wrong.channels_first, (kind,), {"data_type": "float32", **options}, engines)
        for kind, options, engines in (
            ("fprop", {}, set()),
            ("fprop", {"order": LAST}, set()),
            ("wgrad", {}, {70}),
            ("wgrad", {"window": 1}, {4, 70}),
            ("wgrad", {"size": 8}, set()),
            ("wgrad", {"order": LAST}, set()),
            ("dgrad", {"data_type": "bfloat16"}, {78}),
            ("dgrad", {"window": 1}, set()),
            ("dgrad", {"size": 8}, set()),
            ("dgrad", {"order": LAST}, set()),
        )
    ),
    (wrong.typed_norm_gradient, (), {}, {0}),
    (wrong.typed_norm_gradient, ("instance", "bfloat16"), {}, {0}),
    (wrong.typed_norm_gradient, ("batch", "float16"), {}, set()),
    (wrong.joined_norm, (), {}, {4, 5, 6}),
    (wrong.joined_norm, (), {"masks": True}, set()),
    (wrong.gelu_of_a_product, ("float32",), {}, {0}),
    (wrong.gelu_of_a_product, ("float16",), {}, set()),
    (wrong.gelu_of_a_product, ("float32", "gelu_approx_tanh"), {}, set()),
]


@pytest.mark.parametrize(("program", "sizes", "options", "engines"), ENGINES)
def test_engines_are_passed_over(program, sizes, options, engines):
    graph = _of(program, *sizes, **options)
    assert (_faulty(graph), _refusals(graph)) == (engines, "")


CONVOLUTION = functools.partial(wrong.channels_first, size=8)
SMALL, OLDER = 92401, 91901  # builds without precompiled engines


@pytest.mark.parametrize(
    ("program", "sizes", "options", "version", "engines"),
    [
        (wrong.uneven_lines, ("wgrad", 12), {}, 92800, {2}),
        (wrong.scaled_gradient, ("tanh", 16), {}, 91400, {1}),
        (wrong.scaled_gradient, ("identity", 16), {}, 91900, set()),
        (wrong.pooled, ("bfloat16", LAST), {}, SMALL, {2, 3}),
        (wrong.pooled, ("bfloat16", LAST), {}, 92400, {3}),
        (wrong.repeated_matrix, (1, 3), {}, 91400, {4}),
        (wrong.repeated_matrix, (1, 1), {}, 91400, set()),
        (wrong.repeated_matrix, (1, 3), {}, 91900, set()),
        (wrong.interleaved, (), {}, SMALL, {8}),
        (wrong.interleaved, ((64 * 40, 1, 64),), {}, SMALL, set()),
        (wrong.interleaved, ((7680, 64, 1, 192), (2, 3)), {}, SMALL, {8}),
        (CONVOLUTION, ("fprop",), {"size": 9}, SMALL, {4}),
        (CONVOLUTION, ("fprop",), {"size": 9}, 92400, set()),
        (CONVOLUTION, ("fprop",), {}, SMALL, set()),
        (CONVOLUTION, ("fprop",), {}, OLDER, {7}),
        (CONVOLUTION, ("fprop",), {}, 91900, set()),
        (CONVOLUTION, ("fprop",), {"order": LAST}, SMALL, set()),
        (CONVOLUTION, ("dgrad",), {"order": (3, 2, 0, 1)}, SMALL, {2, 4, 7, 8}),
        (CONVOLUTION, ("wgrad",), {"order": (3, 2, 0, 1)}, SMALL, {4, 7, 8}),
        (CONVOLUTION, ("fprop",), {"order": LAST, "turned": (3, 0, 2, 1)}, SMALL, {2, 8}),
        (CONVOLUTION, ("dgrad",), {"order": (3, 2, 0, 1)}, 91900, set()),
        (CONVOLUTION, ("fprop",), {"order": LAST, "filters": "float16"}, SMALL, {2}),
        (CONVOLUTION, ("dgrad",), {"order": LAST, "channels": 12}, SMALL, {2}),
        (CONVOLUTION, ("wgrad",), {"order": LAST, "channels": 12}, SMALL, set()),
        (CONVOLUTION, ("wgrad", "float32", LAST), {"channels": 1}, SMALL, {1}),
        (CONVOLUTION, ("wgrad", "float32", LAST), {"channels": 1, "window": 1}, SMALL, set()),
        (CONVOLUTION, ("wgrad", "float16", LAST), {"channels": 1}, SMALL, set()),
        (CONVOLUTION, ("wgrad",), {"size": 9}, SMALL, {4, 70}),
        (CONVOLUTION, ("dgrad",), {"size": 9}, SMALL, {4, 78}),
        (CONVOLUTION, ("dgrad",), {"size": 9, "window": 1}, SMALL, set()),
        (_narrow_gradient, (16, 4), {}, SMALL, {2}),
        (_narrow_gradient, (16, 8), {}, SMALL, set()),
        (wrong.fused, ((2, 16, 9, 9),), {"room": 8}, 92700, {2, 8}),
    ],
)
def test_engines_of_versions_are_passed_over(program, sizes, options, version, engines):
    graph = _of(program, *sizes, **options)
    target = Target(version, 90, small=version in (SMALL, OLDER))
    assert (_faulty(graph, target), _refusals(graph, target)) == (engines, "")


def test_kernels_that_are_right_are_kept():
    target = Target(SMALL, 90, small=True)
    kernels = {None: "", 21: "", 26: "conv_fprop 'conv_fprop': 'image'", 30: "conv_fprop"}

    def found(order):
        faults = _found(_of(CONVOLUTION, "fprop", order=order, window=1), target)
        knobs = [{} if each is None else {"kernel_cfg": each} for each in kernels]
        return faults.engines, [faults.fault(EngineChoice(7, each)) for each in knobs]

    engines, said = found(None)
    assert 7 not in engines
    for each, expected in zip(said, kernels.values(), strict=True):
        assert each.startswith(expected)
        assert bool(each) == bool(expected)
    assert found(LAST) == ({}, [""] * 4)
    engines, said = found((3, 2, 0, 1))  # for which another row passes over the engine
    assert set(engines) == {4, 7, 8}
    assert all(said)


MISREAD = ((1, 8, 1, 1), (16, 8, 1, 1), (1, 1, 2, 3))
READ = ((1, 8, 2, 3), (16, 1, 1, 1), (16, 8, 2, 3), (1, 1, 1, 1))
BIAS = {"bias": (1, 2, 128, 192), "bias_gradient": True}
NO_BIAS = {**BIAS, "bias_gradient": False}
SCATTERED = "sdpa 'sdpa': q 'q' (2, 4, 64, 32) must have stride 1"
UNFILLED = "queries: cuDNN gives 0 for half"
PACKED_SINK = {"sink": True, **wrong.PACKED}
OLD, AMPERE, BLACKWELL = Target(91400, 90), Target(91900, 80), Target(91900, 100)

# Programs, where, and a part of their refusal; "" if they are taken.
REFUSALS: list[tuple[Any, tuple[Any, ...], dict[str, Any], Target, str]] = [
    (wrong.total, ((3, 8, 64), (1, 8, 1)), {}, H200, "add 'add_2': 'b1' (1, 8, 1) in (3, 8, 64)"),
    (wrong.two_dimensions, (), {}, H200, "describe the tensors with three"),
    (wrong.spread_product, (), {}, H200, "(2, 128, 64) of (2, 128, 1)"),
    (wrong.indexed, (), {}, H200, "'gen_index' (64, 7, 33)"),
    (wrong.indexed, ((1, 1, 33), 2), {}, H200, "'gen_index' (1, 1, 33)"),
    (wrong.indexed, ((64, 7, 33), 2), {}, H200, ""),
    (wrong.indexed, ((64, 7, 33), 1), {}, H200, ""),
    (wrong.indexed, ((8, 1, 33), 2, (8, 1, 33), (8, 1, 1)), {}, H200, "'gen_index' (8, 1, 33)"),
    (wrong.indexed, ((8, 33, 1), 1, (8, 33, 1), (8, 1, 1)), {}, H200, "'gen_index' (8, 33, 1)"),
    (wrong.indexed, ((8, 1, 33), 2, (8, 1, 33), (1, 1, 33)), {}, H200, ""),
    (wrong.indexed, ((1, 8, 33), 2, (1, 8, 33), (1, 8, 1)), {}, H200, ""),
    (wrong.kept, (), {}, H200, "'kept' (16, 1, 64)"),
    (wrong.kept, ((1, 33, 64),), {}, H200, ""),
    (wrong.kept, ((1, 1, 1), True), {}, H200, "'kept' (1, 1, 1)"),
    (wrong.kept, ((16, 1, 64), True), {}, H200, "'kept' (16, 1, 64)"),
    (wrong.doubled, (), {}, H200, "'a'"),
    (wrong.doubled, (), {"other": True}, H200, ""),
    (wrong.two_products, ((2, 16, 1),), {}, H200, "'exp' (2, 16, 1)"),
    (wrong.two_products, ((1, 1, 64),), {}, H200, ""),
    (wrong.turned, ((0, 1, 2), 2), {}, H200, "'s' (8, 1, 33) with strides (66, 66, 2)"),
    (_slices_of_lines, (8, 1, 33), {}, H200, "'s' (8, 1, 33) with strides (40, 40, 1)"),
    *((_slices_of_lines, (n, 128, 33), {}, H200, "") for n in (1, 8)),
    (wrong.fused, ((1, 16, 9, 9),), {"room": 8}, H200, "'other' (1, 16, 9, 9) with strides"),
    (wrong.fused, ((2, 1, 9, 9),), {"room": 8}, H200, "'other' (2, 1, 9, 9) with strides"),
    (wrong.fused, ((2, 16, 9, 9),), {"room": 8}, H200, ""),
    (wrong.modified, ((2, 2, 1, 1),), {}, H200, "'factor' (2, 2, 1, 1) in scores of (2, 2"),
    (wrong.modified, ((2, 1, 1, 1),), {}, H200, "'factor' (2, 1, 1, 1) in scores"),
    (wrong.modified, ((2, 1, 1, 1),), {"join": "add"}, H200, ""),
    (wrong.modified, ((2, 2, 1, 1),), {"join": "add"}, H200, "'factor' (2, 2, 1, 1) in scores"),
    (wrong.modified, ((1, 2, 1, 1),), {}, H200, ""),
    (wrong.modified, ((2, 2, 64, 1),), {}, H200, ""),
    (wrong.modified, ((1, 1, 64, 192), (0, 1, 3, 2)), {"data_type": "float32"}, H200, ""),
    (wrong.modified, ((1, 1, 1, 192), (0, 3, 1, 2)), {}, H200, ""),
    (wrong.computed_bias, (), {}, H200, "'max': cuDNN accesses memory that is not there"),
    (_batch_norm_gradient_behind_relus, (), {}, H200, ""),
    (wrong.layer_norm, (), {}, H200, "'scale': cuDNN reads the bias in the data type"),
    (wrong.layer_norm, ("float32", None), {}, H200, "'bias': cuDNN reads the bias in the"),
    (wrong.layer_norm, ("float32",), {}, H200, ""),
    (wrong.layer_norm, (None, None), {}, H200, ""),
    (wrong.layer_norm, (None, None), {"size": 3}, H200, "'scale' (1, 64, 3, 3) with strides"),
    (_images_with_a_scale_of_another_type, (), {}, H200, ""),
    (wrong.turned_image, (), {}, H200, "'other' (5, 16, 5, 11) with strides"),
    (wrong.turned_image, (LAST,), {}, H200, ""),
    (wrong.turned_matrix, ((1, 2, 0),), {}, H200, "'other' (3, 64, 16) with strides (1, 48, 3)"),
    (wrong.turned_matrix, ((0, 2, 1),), {}, H200, ""),
    (wrong.modified, ((1, 1, 64, 192), (0, 1, 3, 2)), {}, H200, "with strides (12288, 12288"),
    (wrong.modified, ((1, 1, 64, 192),), {}, H200, ""),
    (wrong.two_dimensions, (), {}, Target(92800, 90), ""),  # cuDNN refuses it itself
    (wrong.two_dimensions, (), {}, AMPERE, ""),  # not known of other GPUs
    (wrong.norm_of_layers, ("layer", None), {}, H200, ""),
    (wrong.norm_of_layers, ("rms", None), {}, H200, ""),
    (wrong.norm_of_layers, ("layer", "float16"), {}, H200, "mean 'mean': cuDNN writes float32"),
    (wrong.norm_of_layers, ("rms", "float16"), {}, H200, "inv_variance 'inv_variance': cuDNN"),
    *((wrong.filter_gradient, (joined,), {}, H200, "'other'") for joined in MISREAD),
    *((wrong.filter_gradient, (joined,), {}, H200, "") for joined in READ),
    (wrong.gradients, ("sink", "dropout"), {}, H200, "sdpa_backward 'sdpa_backward'"),
    (wrong.gradients, ("bias",), {}, H200, "sdpa_backward 'sdpa_backward'"),
    (wrong.gradients, ("sink", "dropout"), {}, AMPERE, ""),
    (wrong.gradients, ("bias",), {}, AMPERE, ""),
    (wrong.gradients, ("sink", "mask"), {}, H200, ""),
    (wrong.attention_gradients, (), {**BIAS, "modifier": "relative"}, H200, "bias"),
    (wrong.attention_gradients, (), {**BIAS, "scale": 0.0}, H200, "bias"),
    (wrong.attention_gradients, (), {**NO_BIAS, "scale": 0.0, "modifier": "cap"}, H200, "bias"),
    (wrong.attention_gradients, (), {**NO_BIAS, "modifier": "relative"}, H200, ""),
    (wrong.attention_gradients, (), {**NO_BIAS, "scale": 0.0}, H200, ""),
    (wrong.attention_gradients, (), BIAS, H200, ""),
    (wrong.gradients_of_8_bits, (8,), {}, H200, "q 'q' (1, 2, 8, 128) has 8 " + UNFILLED),
    (wrong.gradients_of_8_bits, (50,), {}, H200, "q 'q' (1, 2, 50, 128) has 50 " + UNFILLED),
    (wrong.gradients_of_8_bits, (128,), {}, H200, ""),
    (wrong.gradients_of_8_bits, (8,), {}, BLACKWELL, ""),
    *(
        (_scattered_heads, (2,), {}, Target(version, capability), SCATTERED * refused)
        for version, capability, refused in (
            *((91400, 90, True), (91400, 120, False), (91900, 120, True), (92700, 100, True)),
            *((92800, 90, True), (92800, 100, False), (92800, 80, False)),
        )
    ),
    (_scattered_heads, (1,), {}, OLD, ""),
    (_scattered_heads, (1,), {}, Target(92800, 90), ""),
    *((wrong.joined_experts, (gate,), {}, H200, "mul") for gate in ((1, 1, 64), (1, 1, 1))),
    (wrong.joined_experts, ((1, 128, 1),), {}, H200, ""),
    (wrong.large_volume, (), {}, OLD, "conv_fprop 'conv_fprop': 'x' (1, 16"),
    (wrong.large_volume, (100,), {}, OLD, ""),
    (wrong.large_volume, (), {"order": (0, 2, 3, 4, 1)}, OLD, ""),
    # What is beside a reported fault.
    (wrong.attention, (), {"left": 100, "right": 0, "keys": 1152}, OLD, ""),
    (wrong.attention, (), {"left": 100, "keys": 1024}, OLD, ""),
    (wrong.attention, (), {"keys": 1152}, OLD, ""),
    (wrong.attention, (), {"left": 100, "keys": 1152}, Target(91401, 90), ""),
    (wrong.attention_gradients, (), {"sink": True}, H200, ""),
    (wrong.attention_gradients, (), wrong.PACKED, H200, ""),
    (wrong.attention_gradients, (), PACKED_SINK, Target(92600, 90), ""),
    (wrong.attention_gradients, (), {"size": 192, "value_size": 128}, Target(91100, 90), ""),
    (wrong.attention_gradients, (), {"size": 160, "value_size": 64}, Target(91100, 90), ""),
    (wrong.attention_gradients, (), {"size": 160, "value_size": 80}, Target(91100, 100), ""),
    (wrong.attention, (), {}, Target(90000, 90), ""),
    (wrong.masked_blocks, (), {}, Target(92600, 100), ""),
    (wrong.masked_blocks, (), {}, H200, ""),
]


@pytest.mark.parametrize(("program", "sizes", "options", "target", "says"), REFUSALS)
def test_graphs_are_refused(program, sizes, options, target, says):
    refusals = _refusals(_of(program, *sizes, **options), target)
    assert says in refusals
    assert bool(refusals) == bool(says)


@pytest.mark.parametrize(
    ("options", "engines"), [({}, {1}), ({"window": 3}, set()), ({"last": False}, set())]
)
def test_more_averages_than_pixels_are_passed_over(options, engines):
    assert _faulty(_of(wrong.more_windows, **options)) == engines


def test_an_operand_that_cannot_be_copied_beforehand_is_named(h200):
    with (
        _of(wrong.total, (1, 8, 1)) as graph,
        pytest.raises(NotSupportedError, match="add 'add': 'b0'"),
    ):
        graph.build(h200, override_shapes=True)


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
def test_gradients_without_bounds_get_the_lengths_of_all_tokens(options, told):
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
def test_one_query_with_alibi_gets_a_right_bound(options, told):
    graph = _of(wrong.attention, **{"queries": 1, "keys": 320, **options})
    found = [each.place for each in _found(graph).found]
    assert [told in each for each in found] == [True] * bool(told)
    nodes = expand(graph.validate(), graph.tensors, graph._data_types(), H200).nodes
    assert any("right" in node.name for node in nodes) is (bool(told) or "right" in options)


@pytest.mark.soak
def test_a_band_of_8_bits_that_is_wrong_for_some_lengths_is_built_with_a_warning():
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


def test_attention_of_8_bits_with_statistics_of_16():
    with Graph() as graph:
        Fp8Attention(Attention(batch=1, heads=2, key_heads=2)).forward(graph)
        assert _refusals(graph) == ""
        (stats,) = (each for each in graph.outputs if each.name == "stats")
        stats.data_type = as_data_type("bfloat16")
        assert "'stats': NVIDIA tells" in _refusals(graph)


def test_numbers_of_rows_that_are_results_too_are_misread():
    graph = Graph(io_data_type="float16")
    x, row = graph.tensor((8, 16, 64)), graph.tensor((8, 16, 1), name="row")
    centered = graph.sub(x, graph.mul(row, 0.5).set_output(name="half"))
    graph.reduction(centered, "add", axes=2).set_output(name="y", data_type="float32")
    assert "'half' (8, 16, 1) in (8, 16, 64)" in _refusals(graph)


# --- the table -----------------------------------------------------------------------------------


def test_each_row_has_a_program():
    assert sorted(row.name for row in FAULTS) == sorted(PROGRAMS)
    assert sorted(row.name for row in CALL_FAULTS) == sorted(CALLS)


@pytest.mark.parametrize(
    ("row", "at"),
    [pytest.param(row, each, id=f"{row.name}, {each}") for row in FAULTS for each in row.ranges],
)
def test_a_row_finds_its_program_in_its_versions_and_gpus(row, at, monkeypatch):
    graph = _lowered(described(PROGRAMS[row.name][0]))
    # As on a machine with an old GPU, where it matters.
    monkeypatch.setattr(cuda, "first_capability", lambda: 60 * row.beside_another)
    for gpu in (at.capabilities[0], at.capabilities[-1]):
        here = Target(at.since, gpu, True, at.small)
        # Nothing but this row says something of its engines there, but for what data show.
        found = faults_of(graph, here).found
        (own,) = (each for each in found if each.fault is row)
        others = {
            each.fault.name
            for each in found
            if not (each.fault.data or each.fault.only_told)
            and not (each.engines and set(each.engines).isdisjoint(own.engines))
        }
        assert others <= {row.name, "attention of 9.10"}
        assert set(at.modes) <= set(own.modes)
        assert at in own.ranges
        assert bool(row.ranges_at(here._replace(by_properties=False))) is not row.beside_another
    assert at not in row.ranges_at(here._replace(version=at.since - 1))
    assert (at in row.ranges_at(here._replace(small=False))) is not at.small
    assert (at in row.ranges_at(here._replace(capability=70))) == bool(at.engines)
    if at.repaired is not None:
        assert at not in row.ranges_at(here._replace(version=at.repaired))


SILENT = [row for row in (*FAULTS, *CALL_FAULTS) if row.effect not in UNSEEN]


@pytest.mark.gpu
@pytest.mark.parametrize("row", SILENT, ids=lambda row: row.name)
def test_the_fault_is_still_there(row):
    """Where this fails, the row wants its `repaired`."""
    with Handle() as handle:
        found = verdict(row, handle)
    if found.startswith(("not ", "no engine")):
        pytest.skip(found)
    if row.reported and found != "wrong":
        pytest.xfail("others tell of it, and it is not seen here")
    assert found == "wrong"
