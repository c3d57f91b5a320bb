"""``@graph_function``: traced once for each kind of arguments, built, and run."""

from __future__ import annotations

import pickle
import threading
from typing import Any, NamedTuple

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, Graph, Handle, graph_function, use_reference_device
from cudnn_ctypes.graph import GraphFunction, tracing
from cudnn_ctypes.graph.tracing import TracedGraph, quick_look

torch: Any = pytest.importorskip("torch")

pytestmark = pytest.mark.usefixtures("without_engines")

TRACED: list[tuple[Any, ...]] = []


@graph_function
def gate(graph: Any, a: Any, b: Any, factor: float = 1.0) -> Any:
    """The sigmoid of a sum."""
    TRACED.append((a.dims, a.strides, a.data_type, factor))
    return graph.sigmoid(a + b * factor)


@graph_function
def correlation(graph: Any, a: Any, b: Any, factor: float = 1.0) -> Any:
    """Of an image with a filter: its engine is not compiled, which takes most of a build."""
    TRACED.append((a.dims, a.strides, a.data_type, factor))
    return graph.conv_fprop(a, b)


@pytest.fixture(autouse=True)
def on_the_reference_device(request):
    """Unless the test is for a GPU; no graph is left of tests before."""
    gate.clear()
    correlation.clear()
    TRACED.clear()
    if request.node.get_closest_marker("gpu"):
        yield
    else:
        with use_reference_device():
            yield
    gate.clear()
    correlation.clear()


def operands(*shape: int, seed: int = 0) -> tuple[Any, Any]:
    generator = torch.Generator().manual_seed(seed)
    a, b = (torch.randn(shape or (2, 8, 4), generator=generator) for _ in range(2))
    return a, b


def image_and_filter(*shape: int) -> tuple[Any, Any]:
    return operands(*(shape or (2, 8, 4, 4)))[0], operands(8, 8, 1, 1)[1]


def test_it_is_traced_once_for_each_kind_of_arguments():
    a, b = image_and_filter()
    for _ in range(3):
        correlation(a, b)
        correlation(a.clone(), factor=1.0, b=b)
    assert len(TRACED) == 1
    others = [
        image_and_filter(1, 8, 4, 4),  # shapes
        (a.contiguous(memory_format=torch.channels_last), b),  # strides
        (a.half(), b.half()),  # data types
        (a, b, 2.0),
        (a, b, 2),
        tuple(DeviceTensor.from_numpy(each.numpy()) for each in image_and_filter(3, 8, 4, 4)),
    ]
    for number, each in enumerate(others, start=2):
        correlation(*each)
        correlation(*each)
        assert len(TRACED) == number


def test_the_oldest_graph_is_let_go(monkeypatch):
    monkeypatch.setattr(tracing, "_KEPT", 2)
    for batch, number in ((1, 1), (2, 2), (3, 3), (2, 3), (1, 4), (3, 4)):
        correlation(*image_and_filter(batch, 8, 4, 4))
        assert len(TRACED) == number, batch


class Pair(NamedTuple):
    total: Any
    difference: Any


def test_results_have_the_structure_that_the_function_returns():
    a, b = operands()

    @graph_function
    def all_of_them(graph, pair, more):
        x, y = pair
        total = x + y
        return {"pair": Pair(total, x - y), "list": [x * more["z"], (total,)]}

    result = all_of_them((a, b), {"z": a})
    assert type(result["pair"]) is Pair
    torch.testing.assert_close(result["pair"], Pair(a + b, a - b))
    assert type(result["list"]) is list
    torch.testing.assert_close(result["list"][0], a * a)
    assert result["list"][1][0] is result["pair"].total


def test_a_function_inside_another_one_adds_to_its_graph():
    @graph_function
    def twice(graph, x):
        return gate(gate(x, x), x, factor=0.5)

    a, _ = operands()
    torch.testing.assert_close(twice(a), torch.sigmoid(torch.sigmoid(2 * a) + a / 2))
    described = twice.graph(a)
    assert [each.operation for each in described.nodes] == ["mul", "add", "sigmoid"] * 2


def test_outputs_are_of_the_type_of_the_first_tensor_unless_said_otherwise():
    a, b = operands()

    def double(graph, a, b):
        return a + b

    assert graph_function(double)(a.half(), b.half()).dtype == torch.float16
    wide = graph_function(io_data_type="float32")(double)
    assert wide(a.half(), b.half()).dtype == torch.float32

    @graph_function
    def mixed(graph, a, b):
        total = a + b
        return total, graph.identity(total).set_output(data_type="float32", name="wide")

    assert [each.dtype for each in mixed(a.half(), b.half())] == [torch.float16, torch.float32]


def test_a_handle_may_be_given():
    a, b = operands()
    with Handle() as handle:
        torch.testing.assert_close(gate(a, b, handle=handle), torch.sigmoid(a + b))
    torch.testing.assert_close(gate(a, b), torch.sigmoid(a + b))  # the handle is not kept
    with Handle() as handle:
        torch.testing.assert_close(gate(a, b, handle=handle), torch.sigmoid(a + b))
    assert len(TRACED) == 1


def test_threads_trace_once():
    a, b = operands()
    start = threading.Barrier(4, timeout=60)
    wrong = []

    def call():
        start.wait()
        if not torch.allclose(gate(a, b), torch.sigmoid(a + b), atol=1e-6):
            wrong.append(1)

    threads = [threading.Thread(target=call) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(TRACED) == 1


def test_it_looks_like_the_function():
    assert isinstance(gate, GraphFunction)
    assert gate.__name__ == "gate"
    assert gate.__doc__ == "The sigmoid of a sum."
    assert (
        repr(gate)
        == "<graph function gate(a: 'Any', b: 'Any', factor: 'float' = 1.0) -> 'Any', 0 graphs>"
    )
    assert pickle.loads(pickle.dumps(gate)) is gate


# --- what is refused -----------------------------------------------------------------------------


def test_wrong_arguments():
    a, b = operands()
    with pytest.raises(TypeError, match="gate: missing a required argument: 'b'"):
        gate(a)
    with pytest.raises(TypeError, match="gate: got an unexpected keyword"):
        gate(a, b, scale=1)
    with pytest.raises(TypeError, match="unhashable type: 'set'"):
        gate(a, b, {1})
    with pytest.raises(TypeError, match="host memory"):
        gate(a, b.numpy())
    with pytest.raises(ValueError, match="requires gradients"):
        gate(a, b.clone().requires_grad_())
    with pytest.raises(ValueError, match="do not broadcast"):
        gate(a, operands(2, 7, 4)[1])
    assert repr(gate).endswith("0 graphs>")  # none of them is kept


def test_wrong_results():
    a, _ = operands()
    stranger = Graph(io_data_type="float32").tensor((1, 2, 4))
    for returned, kind, message in (
        (lambda x: None, TypeError, "must return tensors"),
        (lambda x: (), TypeError, "must return tensors"),
        (lambda x: (x + 1, 3), TypeError, "must return tensors of its graph, got 3"),
        (lambda x: stranger, TypeError, "must return tensors of its graph"),
        (lambda x: x, ValueError, "returns its argument 'x'"),
    ):
        function = graph_function(lambda graph, x, returned=returned: returned(x))
        with pytest.raises(kind, match=message):
            function.graph(a)


def test_wrong_functions():
    with pytest.raises(TypeError, match="expected a function"):
        graph_function(3)
    with pytest.raises(TypeError, match="function: expected one with named parameters"):
        graph_function(dict)
    with pytest.raises(TypeError, match="a method's is its object: decorate a function outside"):
        graph_function(lambda self, graph, x: x)
    for build in (1, "a", [("heuristics", "a")]):
        with pytest.raises(TypeError, match=r"build: expected arguments of Graph\.build, got"):
            graph_function(lambda graph, x: x, build=build)
    with pytest.raises(TypeError, match="first argument must be the graph"):
        graph_function(lambda: None)
    with pytest.raises(TypeError, match="'handle'"):
        graph_function(lambda graph, handle: None)


# --- on a GPU ------------------------------------------------------------------------------------


@pytest.mark.gpu
def test_a_residual_block_on_a_gpu():
    @graph_function
    def block(graph, x, w, b):
        return graph.relu(graph.conv_fprop(x, w, padding=1) + b + x)

    torch.manual_seed(2)
    last = {"dtype": torch.float16, "device": "cuda"}
    x = torch.randn(4, 32, 14, 14, **last).contiguous(memory_format=torch.channels_last)
    w = torch.randn(32, 32, 3, 3, **last).contiguous(memory_format=torch.channels_last) / 17
    b = torch.randn(1, 32, 1, 1, **last)
    y = block(x, w, b)
    expected = torch.relu(torch.conv2d(x.double(), w.double(), padding=1) + b.double() + x.double())
    assert y.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(y.double(), expected, rtol=4e-3, atol=4e-3)
    assert block(x, w, b).data_ptr() != y.data_ptr()
    assert repr(block).endswith("1 graphs>")
    block.clear()


@pytest.mark.gpu
def test_addresses_that_are_not_aligned_on_a_gpu():
    shifted = torch.randn(65, device="cuda")[1:].reshape(2, 8, 4)
    b = torch.randn(2, 8, 4, device="cuda")
    torch.testing.assert_close(gate(shifted, b), torch.sigmoid(shifted + b), rtol=1e-5, atol=1e-5)


def test_tensors_of_two_graphs_are_no_arguments_of_one_function():
    first, second = Graph(io_data_type="float32"), Graph(io_data_type="float32")
    a, b = first.tensor((2, 8, 4), name="a"), second.tensor((2, 8, 4), name="b")
    with pytest.raises(ValueError, match=r"gate: .*'b'.* is of another graph than .*'a'"):
        gate(a, b)
    assert first.nodes == second.nodes == []


# --- calls that were made before ------------------------------------------------------------------


def test_keys_of_calls_tell_apart_what_graphs_are_traced_for():
    x = torch.zeros(66)[:64].reshape(2, 8, 4)
    other = torch.zeros(65)[1:].reshape(2, 8, 4)  # 4 bytes further
    different = [
        x,
        other,
        x.double(),
        x.transpose(1, 2),
        torch.zeros(2, 8, 5),
        torch.zeros(2, 8, 4, device="meta"),
        1,
        1.0,
        True,
        "1",
        None,
        0.0,
        -0.0,
        [1],
        [1, 2],
    ]

    def looked(*values):
        kinds = tuple(map(type, values))
        key, memory = quick_look(kinds)(*values)
        return (kinds, key), memory

    keys = [looked(each)[0] for each in different]
    assert len(set(keys)) == len(keys)
    nan = float("nan")
    key, memory = looked(x, 2, nan, x)
    assert key == looked(torch.zeros(2, 8, 4), 2, nan, x)[0]
    assert [id(each) for each in memory] == [id(x), id(x)]
    assert looked(torch.nn.Parameter(x))[0][1] == looked(x)[0][1]
    for unknown in ([x], (x,), [True], {"a": x}, np.zeros(3), object()):
        with pytest.raises(KeyError):
            looked(unknown)


@pytest.mark.gpu
def test_the_second_call_looks_up_one_key_on_a_gpu(monkeypatch):
    a, b = (each.cuda() for each in operands(4, 64, 32))
    expected = torch.sigmoid(a + b)
    torch.testing.assert_close(gate(a, b), expected)
    monkeypatch.setattr(TracedGraph, "run", None)  # the long way
    for _ in range(3):
        a, b = b.clone(), a.clone()
        torch.testing.assert_close(gate(a, b), expected)
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        torch.testing.assert_close(gate(a, b), expected)
    torch.cuda.synchronize()
    with torch.no_grad():
        torch.testing.assert_close(gate(a.requires_grad_(), b), expected)
    monkeypatch.undo()
    with pytest.raises(ValueError, match="requires gradients"):
        gate(a, b)
    gate.clear()
    torch.testing.assert_close(gate(a.detach(), b), expected)


@pytest.mark.gpu
def test_repeated_calls_in_a_cuda_graph():
    a, b = (each.cuda() for each in operands(4, 64, 32))
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(2):
            gate(a, b)
    torch.cuda.synchronize()
    captured = torch.cuda.CUDAGraph()
    with torch.cuda.graph(captured, stream=stream):
        y = gate(gate(a, b), b)
    a.copy_(torch.randn_like(a))
    captured.replay()
    torch.cuda.synchronize()
    torch.testing.assert_close(y, torch.sigmoid(torch.sigmoid(a + b) + b))
