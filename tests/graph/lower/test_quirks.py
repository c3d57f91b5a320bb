"""Engines that compute wrong numbers are passed over, and those that are left compute right."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, NotSupportedError
from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.graph.backend.device_properties import DeviceProperties
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.quirks import fault_of_graph, faulty_engines
from cudnn_ctypes.strides import packed

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


@pytest.mark.parametrize("kind", list(FAULTY))
def test_uneven_padding_passes_over_engines(kind: str, h200: DeviceProperties) -> None:
    with _graph(kind, **UNEVEN) as graph:
        nodes = graph.validate()
        assert set(faulty_engines(nodes)) == FAULTY[kind]
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
    (node,) = graph.nodes
    assert faulty_engines([node]) == {}


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


@pytest.mark.parametrize(
    "clips", [{"upper_clip": 2.0}, {"lower_clip": -1.0}, {"lower_clip": 0.5, "upper_clip": 2.0}]
)
def test_products_that_are_clipped_pass_over_an_engine(
    clips: dict[str, float], h200: DeviceProperties
) -> None:
    with _clipped(**clips) as graph:
        assert set(faulty_engines(graph.validate())) == {0}
        told = graph.explain(h200)
        assert told.usable
        assert 0 not in {row.engine for row in told.usable}


@pytest.mark.parametrize("clips", [{}, {"lower_clip": 0.0}, {"upper_clip": float("inf")}])
def test_a_plain_relu_has_all_engines(clips: dict[str, float]) -> None:
    assert faulty_engines(_clipped(**clips).validate()) == {}


BATCHES = (3, 8, 64)


def _sum(*dims: tuple[int, ...]) -> Graph:
    graph = Graph(io_data_type="float32")
    total = graph.tensor(BATCHES, name="x")
    for number, each in enumerate(dims):
        total = graph.add(total, graph.tensor(each, name=f"b{number}"))
    total.set_output(name="y")
    return graph


def _fault(graph: Graph) -> str:
    nodes = graph.validate()
    return fault_of_graph(nodes, flattened(nodes))


def test_an_operand_of_one_column_is_refused_by_name() -> None:
    fault = _fault(_sum(BATCHES, (1, 8, 1)))
    assert "add 'add_2': 'b1' (1, 8, 1) broadcasts" in fault
    assert "size of the batch" in fault


def test_two_dimensions_that_cannot_be_three_are_refused() -> None:
    graph = Graph(io_data_type="float32")
    x = graph.tensor((6, 64), name="x")
    graph.add(x, graph.gen_index(x, axis=1)).set_output(name="y")
    assert "describe the tensors with three" in _fault(graph)


@pytest.mark.parametrize(
    "dims", [(1, 1, 1), (1, 8, 64), (3, 1, 64), (3, 8, 1), (1, 1, 64), (3, 1, 1)]
)
def test_other_operands_broadcast(dims: Any) -> None:
    assert _fault(_sum(dims)) == ""


def test_only_element_wise_graphs_have_the_fault() -> None:
    graph = Graph(io_data_type="float16")
    product = graph.matmul(graph.tensor((3, 8, 16)), graph.tensor((3, 16, 64)))
    graph.add(product, graph.tensor((1, 1, 64))).set_output(name="y")
    assert _fault(graph) == ""


def test_the_refusal_reaches_the_user(h200: DeviceProperties) -> None:
    with _sum((1, 8, 1)) as graph, pytest.raises(NotSupportedError, match="add 'add': 'b0'"):
        graph.build(h200)


@pytest.mark.parametrize("mode", ["layer", "rms"])
def test_statistics_of_16_bits_are_refused(mode: str) -> None:
    graph = Graph(io_data_type="float16")
    x, scale = graph.tensor((8, 64, 1, 1), name="x"), graph.tensor((1, 64, 1, 1), name="scale")
    bias = None if mode == "rms" else graph.tensor((1, 64, 1, 1), name="bias")
    results = graph.norm_forward(mode, "training", x, scale, bias, epsilon=1e-5)
    results["y"].set_output()
    for name in results.keys() - {"y"}:
        results[name].set_output()
    assert _fault(graph) == ""
    results["inv_variance"].data_type = as_data_type("float16")
    assert "inv_variance 'norm_forward.inv_variance' must be float32" in _fault(graph)
