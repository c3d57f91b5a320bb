"""Python's operators on the tensors of a graph, against the methods that they stand for."""

from __future__ import annotations

import copy
import gc
import operator
import pickle
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph


def vectors() -> tuple[Graph, Tensor, Tensor]:
    graph = Graph(io_data_type="float32")
    return graph, graph.tensor((1, 2, 8), name="a"), graph.tensor((1, 2, 8), name="b")


BINARY: list[tuple[Callable[[Any, Any], Any], str]] = [
    (operator.add, "add"),
    (operator.sub, "sub"),
    (operator.mul, "mul"),
    (operator.truediv, "div"),
    (operator.pow, "pow"),
    (operator.lt, "cmp_lt"),
    (operator.le, "cmp_le"),
    (operator.gt, "cmp_gt"),
    (operator.ge, "cmp_ge"),
    (operator.and_, "logical_and"),
    (operator.or_, "logical_or"),
]


@pytest.mark.parametrize(("function", "method"), BINARY)
def test_an_operator_adds_the_node_of_its_method(function, method):
    graph, a, b = vectors()
    result = function(a, b)
    (node,) = graph.nodes
    by_method, x, y = vectors()
    getattr(by_method, method)(x, y)
    expected = by_method.nodes[0]
    assert (node.operation, node.name, node.kind) == (method, method, expected.kind)
    assert node.options == expected.options
    assert [*node.inputs.values()] == [a, b]
    assert [*node.outputs.values()] == [result]
    assert result.name == method


@pytest.mark.parametrize(("function", "method"), [*BINARY[:4], BINARY[4], BINARY[9], BINARY[10]])
def test_a_number_may_be_the_left_operand(function, method):
    graph, a, _ = vectors()
    function(2, a)
    (node,) = graph.nodes
    left, right = node.inputs.values()
    assert node.operation == method
    assert right is a
    assert (left.by_value, left.value) == (True, 2)


@pytest.mark.parametrize(
    ("function", "method"), [(operator.neg, "neg"), (operator.invert, "logical_not"), (abs, "abs")]
)
def test_operators_with_one_operand(function, method):
    graph, a, _ = vectors()
    function(a)
    assert [each.operation for each in graph.nodes] == [method]


def test_tensors_of_two_graphs_do_not_mix():
    """Whose operation it would be, nobody could tell."""
    graph, a, _ = vectors()
    other, stranger, _ = vectors()
    stranger.name = "stranger"
    for left, right in ((a, stranger), (stranger, a)):
        says = rf"add: .*'{right.name}'.* is of another graph than .*'{left.name}'.*: call add of"
        with pytest.raises(ValueError, match=says):
            left + right
    assert graph.nodes == other.nodes == []
    graph.relu(stranger)  # now it is one of this graph's
    a + stranger
    assert [each.operation for each in graph.nodes] == ["relu", "add"]
    with pytest.raises(ValueError, match="of another graph"):
        stranger + a
    assert other.nodes == []


@pytest.mark.parametrize("wrong", ["text", None, np.ones(3), [1], 1j])
def test_other_operands_are_refused_by_name(wrong):
    _graph, a, _ = vectors()
    with pytest.raises(TypeError, match=r"add 'add': b: expected (a|one) |unsupported operand"):
        a + wrong
    with pytest.raises(TypeError):
        wrong - a


def test_a_tensor_of_pytorch_is_refused_on_either_side():
    torch = pytest.importorskip("torch")
    _graph, a, _ = vectors()
    for left, right in ((a, torch.ones(1, 2, 8)), (torch.ones(1, 2, 8), a)):
        with pytest.raises(TypeError, match=r"mul 'mul': (x|b): expected a Tensor of this graph"):
            left * right


def test_a_tensor_has_no_truth_value():
    _graph, a, b = vectors()
    with pytest.raises(TypeError, match="no truth value"):
        bool(a > b)
    with pytest.raises(TypeError, match="no truth value"):
        max(a, b)
    with pytest.raises(TypeError, match="no truth value"):
        0 < a < b  # noqa: B015


def test_the_graph_of_a_tensor():
    graph, a, _ = vectors()
    assert a.graph is graph
    other = copy.copy(graph)
    assert other.tensors[0].graph is other
    with pytest.raises(ValueError, match="belongs to no graph"):
        Tensor("x", (1, 2)) + 1
    for stranger in (copy.copy(a), pickle.loads(pickle.dumps(a))):
        assert (stranger.name, stranger.dims) == (a.name, a.dims)
        with pytest.raises(ValueError, match="belongs to no graph"):
            operator.neg(stranger)
    del graph
    gc.collect()
    with pytest.raises(ValueError, match="outlived its graph"):
        operator.neg(a)


# --- layouts by name -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("dims", "layout", "strides"),
    [
        ((2, 3, 4, 5), "nhwc", (60, 1, 15, 3)),
        ((2, 3, 4, 5), "NHWC", (60, 1, 15, 3)),
        ((2, 3, 4, 5), "CUDNN_TENSOR_NHWC", (60, 1, 15, 3)),
        ((2, 3, 4, 5), "nchw", (60, 20, 5, 1)),
        ((2, 3, 4, 5), "krsc", (60, 1, 15, 3)),
        ((2, 3, 4, 5), "BsHd", (60, 5, 15, 1)),
        ((2, 3, 4, 5), "sbhd", (15, 5, 30, 1)),
        ((2, 3, 4), "nhwc", (12, 1, 3)),
        ((2, 3, 4), "nwc", (12, 1, 3)),
        ((2, 3, 4, 5, 6), "nhwc", (360, 1, 90, 18, 3)),
        ((2, 3, 4, 5, 6), "ndhwc", (360, 1, 90, 18, 3)),
        ((2, 3), "nhwc", (3, 1)),
    ],
)
def test_a_layout_gives_packed_strides(dims, layout, strides):
    assert Graph().tensor(dims, layout=layout).strides == strides


@pytest.mark.parametrize("layout", ["nhcww", "ndhwc", "channels", "", "nhw"])
def test_a_layout_that_the_rank_does_not_have_is_refused(layout):
    with pytest.raises(ValueError, match=r"tensor 'x': layout: expected .*nchw, kcrs, bhsd"):
        Graph().tensor((2, 3, 4, 5), layout=layout, name="x")


def test_strides_and_a_layout_are_one_too_many():
    with pytest.raises(ValueError, match="either strides or a layout"):
        Graph().tensor((2, 3, 4, 5), (60, 20, 5, 1), layout="nchw")
    with pytest.raises(TypeError, match="layout: expected a name"):
        Graph().tensor((2, 3, 4, 5), layout=3)


def test_the_work_for_a_node_does_not_grow_with_the_graph():
    def calls(nodes):
        count = 0

        def note(frame, event, argument):
            nonlocal count
            count += event == "call"

        graph = Graph(io_data_type="float32")
        x = graph.tensor((1, 4, 4), name="x")
        sys.setprofile(note)
        try:
            for _ in range(nodes):
                x = graph.relu(x)
        finally:
            sys.setprofile(None)
        assert x.name == f"relu_{nodes}"
        return count

    assert calls(400) < 2.2 * calls(200)


def test_names_are_free_again_after_renaming_removal_and_copying():
    graph = Graph(io_data_type="float32")
    x = graph.tensor((1, 4, 4))
    x.set_output(False, name="given")
    assert graph.tensor((1, 4, 4)).name == "tensor"
    with pytest.raises(ValueError, match="of another graph"):
        graph.add(graph.relu(x), Graph().tensor((1,), virtual=True), name="sum")
    assert graph.relu(x).name == "relu_2"
    x.name = "relu_3"
    assert graph.relu(x).name == "relu_4"
    copied = copy.deepcopy(graph)
    assert copied.relu(copied.tensors[0]).name == "relu_5"


@pytest.mark.parametrize(
    "key", [np.s_[..., :4], np.s_[:, 1:], np.s_[:1], np.s_[:1, ..., ::3], np.s_[...]]
)
def test_slices_are_those_of_numpy(key):
    graph, a, b = vectors()
    y = (a + b)[key].set_output()
    graph.validate()
    assert y.dims == np.empty((1, 2, 8))[key].shape


def test_what_is_no_slice_is_refused():
    graph, a, _ = vectors()
    with pytest.raises(TypeError, match="for the index i"):
        a[0]
    with pytest.raises(ValueError, match="stands more than once"):
        a[..., ...]
    assert graph.nodes == []
    with pytest.raises(TypeError, match="not iterable"):
        list(a)


def test_statistics_that_nothing_reads_are_outputs_by_their_names():
    graph = Graph(io_data_type="float16")
    x = graph.tensor((4, 8, 16))
    y, mean, inv_variance = graph.layernorm("training", x, None, None, 1e-5, axes=-1)
    y.set_output()
    (mean * 2).set_output(name="twice")
    graph.validate()
    assert mean.virtual
    assert inv_variance.dims == (4, 8, 1)
    assert {each.name for each in graph.outputs} == {y.name, "layernorm.inv_variance", "twice"}


@pytest.mark.parametrize(
    ("wrong", "right"),
    [("layer_norm", "'layernorm'"), ("conv2d", "'conv_fprop'"), ("softmx", "'softmax'")],
)
def test_a_wrong_name_of_an_operation_suggests_the_right_one(wrong, right):
    with pytest.raises(AttributeError, match=right):
        getattr(Graph(), wrong)


@pytest.mark.parametrize(("wrong", "right"), [("set_dim", "set_output.dims="), ("shape", "'dims'")])
def test_a_wrong_name_of_a_tensor_suggests_the_right_one(wrong, right):
    with pytest.raises(AttributeError, match=right):
        getattr(vectors()[1], wrong)
