"""Graphs as JSON: every case there and back, and what is refused."""

from __future__ import annotations

import json
import math
from dataclasses import fields
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.graph.describe.node import Kind, Node, Subgraph
from cudnn_ctypes.graph.describe.serialization import kinds
from cudnn_ctypes.graph.describe.tensor import Tensor
from cudnn_ctypes.graph.graph import Graph

from ..damage import DELETED, Damage
from ..families import CASES, DISTINCT


def plain(graph: Graph) -> Any:
    """All that a graph describes, without the identities of its objects."""
    index = {id(tensor): i for i, tensor in enumerate(graph.tensors)}

    def shown(value: Any) -> Any:
        if isinstance(value, Tensor):
            return ("tensor", index[id(value)])
        if isinstance(value, Kind):
            return id(value)
        if isinstance(value, (list, tuple)):
            return tuple(map(shown, value))
        if isinstance(value, dict):
            return {key: shown(each) for key, each in value.items()}
        return content(value) if isinstance(value, (Node, Subgraph)) else value

    def content(obj: Any) -> dict[str, Any]:
        return {field.name: shown(getattr(obj, field.name)) for field in fields(obj)}

    return (
        graph.name,
        graph.io_data_type,
        graph.intermediate_data_type,
        graph.compute_data_type,
        [content(tensor) for tensor in graph.tensors],
        [content(node) for node in graph.nodes],
    )


@pytest.mark.parametrize("name", [*DISTINCT[::3], "attention, bias and factor by a function"])
def test_every_case_comes_back(name):
    graph = CASES[name].graph()
    for _ in range(2):  # as described, and as validated
        again = Graph.from_json(graph.to_json())
        assert plain(again) == plain(graph) == plain(graph.replaced())
        assert plain(Graph.from_json(graph.to_json(indent=None))) == plain(graph)
        graph.validate()
        again.validate()
        assert plain(again) == plain(graph)


def test_tensors_of_one_name_are_told_apart():
    graph = Graph(io_data_type="float16")
    a, b = graph.tensor((4, 8), name="x"), graph.tensor((4, 8), name="x")
    graph.sub(b, a, name="x#2").set_output()
    assert list(json.loads(graph.to_json())["tensors"]) == ["x", "x#3", "x#2"]
    again = Graph.from_json(graph.to_json())
    assert plain(again) == plain(graph)
    assert [tensor.name for tensor in again.tensors] == ["x", "x", "x#2"]


def test_every_property_of_a_tensor_and_every_notation():
    graph = Graph(io_data_type="float16", compute_data_type="float64")
    offset = graph.tensor((2, 1, 1, 1), name="offset", data_type="int32")
    x = graph.tensor(
        (1, 4, 8, 8),
        data_type="int8",
        uid=70,
        alignment=32,
        ragged_offset=offset,
        ragged_offset_multiplier=64,
        vector_count=32,
        vector_dimension=1,
        reordering="int8x32",
    )
    graph.slice(x, (slice(0, 1), slice(None, None, 2), slice(1, None), slice(0, 8))).set_output()
    graph.resample(
        graph.tensor((1, 4, 8, 8)), "bilinear", window=2, stride=(Fraction(1, 2), Fraction(3, 2))
    )[0].set_output()
    graph.max(graph.tensor((4, 8)), -math.inf).set_output()
    graph.neg(graph.tensor((4, 8)), name="between")
    slopes = graph.tensor((1, 2), data_type="float32")
    slopes.scratch, slopes.value = True, (0.5, 0.25)
    graph.exp(slopes).set_output()
    graph.mul(
        graph.find_tensor("between"), np.float32(0.1), compute_data_type="float32"
    ).set_output()
    again = Graph.from_json(graph.to_json())
    assert plain(again) == plain(graph) == plain(graph.replaced())
    values = [tensor.value for tensor in again.tensors if tensor.by_value]
    assert values == [-math.inf, float(np.float32(0.1))]
    changed = {
        field.name
        for field in fields(Tensor)
        for tensor in again.tensors
        if getattr(tensor, field.name) != field.default
    }
    assert changed >= {field.name for field in fields(Tensor)}


def test_a_value_without_notation_names_its_place():
    graph = Graph()
    graph.tensor((4, 8), name="x").value = 3j
    with pytest.raises(TypeError, match=r"tensor 'x': value: 3j \(complex\)"):
        graph.to_json()


def test_every_kind_of_operation_is_known():
    known = kinds()
    assert len(known) > 25
    used = {id(node.kind) for case in CASES.values() for node in case.graph().nodes}
    assert used <= {id(kind) for kind in known.values()}
    assert all(isinstance(name, str) and name == name.lower() for name in known)


def test_a_node_has_no_field_that_is_forgotten():
    from cudnn_ctypes.graph.describe.serialization import _NODE_KEYS

    # What a node is part of is known after expansion only, of which nothing is stored.
    assert {field.name for field in fields(Node)} - {"origin"} == _NODE_KEYS


def _stored() -> dict[str, Any]:
    graph = Graph("g", io_data_type="float16")
    x = graph.tensor((4, 32, 14, 14), name="x")
    w = graph.tensor((64, 32, 3, 3), name="w")
    graph.relu(graph.conv_fprop(x, w, padding=1)).set_output(name="y")
    stored: dict[str, Any] = json.loads(graph.to_json())
    return stored


def _damaged(stored: Any, path: str, value: Any) -> str:
    way = tuple(int(part) if part.isdigit() else part for part in path.split("/"))
    return json.dumps(Damage(way, value).done_to(stored))


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        ("format", "something", r"^graph: expected a graph, whose 'format' is"),
        ("format", DELETED, r"^graph: expected a graph"),
        ("version", 3, r"^graph.version: this graph is of version 3"),
        ("version", "1", r"^graph.version: expected an integer, got \"1\""),
        ("tensor", {}, r"^graph: 'tensor' is not known here; did you mean 'tensors'"),
        ("tensors", DELETED, r"^graph: 'tensors' is missing"),
        ("tensors", [], r"^graph.tensors: expected an object, got \[\]"),
        ("nodes", {}, r"^graph.nodes: expected a list"),
        ("io_data_type", "float15", r"^graph.io_data_type: .*float15"),
        ("tensors/x/dim", [1], r"^graph.tensors.x: 'dim' is not known here; did you mean 'dims'"),
        ("tensors/x/dims", [4, "8"], r"^graph.tensors.x.dims\[1\]: expected an integer"),
        ("tensors/x/dims", [4, 0], r"^graph.tensors.x.dims\[1\]: expected an integer from 1"),
        ("tensors/x/dims", [4, 1 << 70], r"^graph.tensors.x.dims\[1\]: expected an integer"),
        ("tensors/x/strides", [4], r"^graph.tensors.x.strides: expected as many strides as dims"),
        ("tensors/x/data_type", 3, r"^graph.tensors.x.data_type: expected a string"),
        ("tensors/x/virtual", 1, r"^graph.tensors.x.virtual: expected true or false"),
        ("tensors/x/value", "much", r"^graph.tensors.x.value: 'much' is neither"),
        ("tensors/x/value", ["a"], r"^graph.tensors.x.value\[0\]: 'a' is neither"),
        ("tensors/x/value", "CUDNN_DATA_HALF", r"^graph.tensors.x.value: expected a number"),
        ("tensors/x/reordering", "f", r"graph.tensors.x.reordering: expected one of"),
        ("tensors/x/ragged_offset", "z", r"^graph.tensors.x.ragged_offset: there is no tensor 'z'"),
        ("nodes/0", 7, r"^graph.nodes\[0\]: expected an object, got 7"),
        ("nodes/0/operation", "conv", r"^graph.nodes\[0\].operation: a graph has no operation"),
        ("nodes/0/operation", "_add", r"^graph.nodes\[0\].operation: a graph has no operation"),
        ("nodes/1/kind", DELETED, r"^graph.nodes\[1\].operation: there is no kind .* 'relu'"),
        ("nodes/1/kind", "pontwise", r"^graph.nodes\[1\].kind: .* did you mean 'pointwise'"),
        ("nodes/0/inputs/image", "X", r"^graph.nodes\[0\].inputs.image: there is no tensor 'X'"),
        ("nodes/0/inputs/weight", DELETED, r"^graph.nodes\[0\].inputs: weight is missing"),
        ("nodes/0/inputs/w", "w", r"^graph.nodes\[0\].inputs: 'w' is not known here"),
        ("nodes/0/outputs", {}, r"^graph.nodes\[0\].outputs: expected at least one of y"),
        ("nodes/0/options/pad", 1, r"^graph.nodes\[0\].options: 'pad' is not known here"),
        ("nodes/0/options/stride", "a", r"^graph.nodes\[0\].options.stride: 'a' is neither"),
        ("nodes/0/options/stride", {}, r"^graph.nodes\[0\].options.stride: {} is neither"),
        (
            "nodes/1/options/mode",
            "CUDNN_DATA_HALF",
            r"^graph.nodes\[1\].options.mode: expected a cudnnPointwiseMode_t, got",
        ),
        ("nodes/1/options", DELETED, r"^graph.nodes\[1\]: 'options' is missing"),
        ("nodes/1/options", {}, r"^graph.nodes\[1\].options: 'mode' is missing"),
        ("nodes/1/options/lower_clip", [1], r"^graph.nodes\[1\].options.lower_clip: .*one value"),
        ("nodes/0/options/stride", [1, 0.5], r"^graph.nodes\[0\].options.stride\[1\]: .*0.5"),
        ("nodes/0/inputs/image", ["x"], r"^graph.nodes\[0\].inputs.image: expected a string"),
        ("nodes/1/transposed", ["z"], r"^graph.nodes\[1\].transposed\[0\]: expected one of"),
    ],
)
def test_what_is_damaged_or_unknown_names_the_place(path, value, says):
    stored = _stored()
    Graph.from_json(json.dumps(stored)).validate()
    with pytest.raises(ValueError, match=says):
        Graph.from_json(_damaged(stored, path, value))


@pytest.mark.parametrize(
    ("axes", "says"),
    [
        (3, ": expected a list, got 3"),
        ([[1]], r"\[0\]: expected an int, got \(1,\)"),
        ("inf", ": expected a list, got inf"),
    ],
)
def test_options_that_are_no_attributes_are_checked_too(axes, says):
    graph = Graph(io_data_type="float16")
    graph.reduction(graph.tensor((4, 8)), "max", axes=(1,)).set_output()
    damaged = _damaged(json.loads(graph.to_json()), "nodes/0/options/axes", axes)
    with pytest.raises(ValueError, match=rf"^graph.nodes\[0\].options.axes{says}"):
        Graph.from_json(damaged)
