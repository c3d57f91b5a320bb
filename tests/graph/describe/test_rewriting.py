"""Graphs that are described as another one is but for some things."""

from __future__ import annotations

import json
from typing import Any

import pytest

from cudnn_ctypes.dtypes import data_type_name
from cudnn_ctypes.graph.describe.rewriting import Change, differences
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import cudnnDataType_t

HALF, FLOAT = cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_FLOAT


def _chain() -> Graph:
    """(a @ b) * s, relu, and a sum with z, which needs nothing of the product."""
    graph = Graph("chain", io_data_type="float16")
    a, b = graph.tensor((2, 8, 16), name="a"), graph.tensor((2, 16, 8), name="b")
    product = graph.matmul(a, b, name="matmul")
    scaled = graph.mul(product, graph.tensor((1, 1, 8), name="s"), name="scale")
    y = graph.relu(scaled, name="relu").set_output(name="y")
    graph.add(y, graph.tensor((2, 8, 8), name="z"), name="add").set_output(name="sum")
    return graph


def _described(graph: Graph) -> Any:
    return json.loads(graph.to_json())


def test_results_are_left_out():
    graph = Graph(io_data_type="float16")
    x, scale = graph.tensor((8, 32, 1, 1), name="x"), graph.tensor((1, 32, 1, 1), name="scale")
    y, inv_variance = graph.rmsnorm("training", x, scale, None, 1e-5, name="norm")
    y.set_output(name="y")
    assert inv_variance is not None
    inv_variance.set_output(name="inv_variance")
    made = graph.replaced(operations={"norm": {"phase": "inference"}}, without=["inv_variance"])
    made.validate()
    assert list(made.nodes[0].outputs) == ["y"]
    assert [each.name for each in made.outputs] == ["y"]
    assert len(graph.outputs) == 2


@pytest.mark.parametrize(
    ("arguments", "error", "says"),
    [
        ({"tensors": {"q": {}}}, KeyError, "no tensor is called 'q'"),
        ({"tensors": {"a": {"stride": (1,)}}}, ValueError, r"no field 'stride'.*'strides'"),
        ({"tensors": {"a": {"data_type": "float17"}}}, TypeError, "no data type 'float17'"),
        ({"operations": {"conv": {}}}, KeyError, "no operation is called 'conv'"),
        ({"operations": {"relu": {"modes": 1}}}, ValueError, r"no option 'modes'.*'mode'"),
        ({"operations": {"relu": {"mode": "relu_forward"}}}, ValueError, "relu 'relu': mode"),
        ({"operations": {"relu": {"lower_clip": "1"}}}, TypeError, "expected a number"),
        ({"io_data_type": 3}, TypeError, "expected a data type"),
        ({"tensors": ["a"]}, TypeError, "tensors: expected mappings by name"),
        ({"tensors": {"a": 3}}, TypeError, "tensors: expected mappings by name"),
        ({"tensors": {"a": {"dims": "x"}}}, TypeError, "'a': dims: expected ints"),
        ({"tensors": {"a": {"dims": (2, 8)}}}, ValueError, "2 dims .*, but 3 strides"),
        ({"tensors": {"a": {"alignment": None}}}, TypeError, "'a': alignment: expected an int"),
        ({"operations": "relu"}, TypeError, "operations: expected mappings by name"),
        ({"without": "sum"}, TypeError, "without: expected several tensors"),
        ({"without": ["a"]}, ValueError, "is no result of an operation"),
        ({"without": ["sum"]}, ValueError, "is the only result of add 'add'"),
    ],
)
def test_what_cannot_be_replaced_is_refused(arguments, error, says):
    graph = _chain()
    before = _described(graph)
    with pytest.raises(error, match=says):
        graph.replaced(**arguments)
    assert _described(graph) == before


def test_tensors_of_other_graphs_are_refused():
    with pytest.raises(ValueError, match="is of another graph"):
        _chain().replaced({_chain().tensors[0]: {}})


def test_results_that_are_used_cannot_be_left_out():
    graph = Graph(io_data_type="float16")
    x, scale = graph.tensor((8, 32, 1, 1)), graph.tensor((1, 32, 1, 1))
    y, inv_variance = graph.rmsnorm("training", x, scale, None, 1e-5, name="norm")
    assert inv_variance is not None
    graph.mul(y, inv_variance, name="mul").set_output()
    with pytest.raises(ValueError, match="is used by mul 'mul'"):
        graph.replaced(without=[inv_variance])


def test_types_of_a_graph_are_those_of_its_tensors():
    graph = _chain()
    graph.mul(graph.find_tensor("y"), 2.0, name="twice").set_output(data_type="float32")
    graph.validate()
    types = {"io_data_type": "bfloat16", "intermediate_data_type": "float16"}
    made = graph.replaced(**types, compute_data_type="float64")
    assert {each.name: data_type_name(each.data_type) for each in made.tensors} == {
        **dict.fromkeys(("a", "b", "s", "y", "z", "sum"), "bfloat16"),
        **dict.fromkeys(("matmul", "scale"), "float16"),
        "twice.b": "float64",
        "twice": "float32",
    }
    assert [differences(graph, made)[0].as_dict(), _described(made)["compute_data_type"]] == [
        {
            **dict.fromkeys(("operation", "argument", "note"), ""),
            "field": "compute_data_type",
            "before": "'float32'",
            "after": "'float64'",
        },
        "float64",
    ]


def test_differences_are_told_by_operation_and_argument():
    graph = _chain()
    graph.validate()
    made = graph.replaced(
        {"a": {"data_type": "bfloat16"}, "matmul": {"data_type": "float16"}},
        {"relu": {"compute_data_type": "float16"}},
        compute_data_type="float64",
    )
    made.validate()
    assert differences(graph, made) == (
        Change("", "", "compute_data_type", "float32", "float64"),
        Change("relu 'relu'", "", "compute_data_type", None, "float16"),
        Change("matmul 'matmul'", "A 'a'", "data_type", "float16", "bfloat16"),
        Change("matmul 'matmul'", "C 'matmul'", "data_type", "float32", "float16", "virtual"),
    )
    assert [str(each) for each in differences(graph, made)][:3] == [
        "the graph: compute_data_type 'float32' -> 'float64'",
        "relu 'relu': compute_data_type None -> 'float16'",
        "A 'a' of matmul 'matmul': data_type 'float16' -> 'bfloat16'",
    ]
