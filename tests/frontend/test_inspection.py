"""What graphs say of themselves, against what NVIDIA's front end says of the same graphs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import cudnn_ctypes.frontend as cudnn

from . import inspected_graphs
from .inspected_graphs import GRAPHS, rows, told
from .nvidia_names import told_by_nvidias

EXPECTED = json.loads(Path(__file__).with_name("inspected.json").read_text())
HALF, FLOAT = cudnn.data_type.HALF, cudnn.data_type.FLOAT


@pytest.mark.parametrize("name", GRAPHS)
def test_graphs_say_the_same(name):
    got, expected = json.loads(json.dumps(told(cudnn, GRAPHS[name]))), EXPECTED[name]
    for mine, theirs in zip(got["nodes"], expected["nodes"], strict=True):
        given, wanted = mine.pop("params"), theirs.pop("params")
        # Beyond those that were given, ours have defaults.
        assert given | wanted == given, mine["name"]
    assert got == expected


def test_the_stored_answers_are_those_of_the_installed_version():
    stored = json.loads(Path(__file__).with_name("inspected.json").read_text())
    assert told_by_nvidias(inspected_graphs.__file__) == stored


def product() -> Any:
    g = cudnn.pygraph(io_data_type=HALF, intermediate_data_type=FLOAT, compute_data_type=FLOAT)
    c = g.matmul(rows(g, 2, 8, 16, name="a"), rows(g, 2, 16, 4, name="b"), name="product")
    g.relu(c, name="clip").set_output(True).set_name("y").set_uid(7)
    return g


def test_a_graph_is_looked_at_by_names_and_uids():
    g = product()
    assert repr(g.nodes) == "[Node('product', MATMUL), Node('clip', POINTWISE)]"
    assert list(g.tensors) == ["a", "b", "product::C", "y"]
    assert g.get_node("clip").inputs == {"IN_0": g.tensors["product::C"]}
    assert g.get_node("clip").params == {"mode": "relu"}
    assert g.get_node("none") is None
    assert g.find_tensor(7) is g.find_tensor("y") is g.tensors["y"]
    assert g.find_tensor("none") is g.find_tensor(99) is None
    assert [each.name for each in g.get_inputs()] == ["a", "b"]
    assert [each.name for each in g.get_outputs()] == ["y"]
    assert g.context == cudnn.GraphContext(HALF, FLOAT, FLOAT)
    with pytest.raises(TypeError, match="name_or_uid: expected a name or a uid"):
        g.find_tensor(1.5)


def test_names_that_several_have_are_no_keys():
    g = product()
    g.tensors["a"].set_name("same")
    g.tensors["b"].set_name("same")
    assert list(g.tensors) == ["product::C", "y"]
    with pytest.raises(RuntimeError, match="several tensors are called 'same'"):
        g.find_tensor("same")


def test_the_text_of_a_graph_keeps_its_operations():
    g, other = product(), cudnn.pygraph()
    other.deserialize(g.to_json(indent=None))
    assert other.to_json() == g.to_json()
    for one, own in zip(other.nodes, g.nodes, strict=True):
        assert (one.name, one.node_type) == (own.name, own.node_type)
    assert other.nodes[0].inputs.keys() == {"A", "B"}


def test_operations_within_attention_are_a_part_of_it():
    g = cudnn.pygraph(io_data_type=HALF)
    q, k, v = (rows(g, 2, 4, 64, 32, name=name) for name in "qkv")
    g.sdpa(q, k, v, generate_stats=False, score_mod=lambda graph, scores: graph.tanh(scores))
    assert [each.node_type for each in g.nodes] == [cudnn.NodeType.SDPA]


def test_tensors_have_their_attributes_by_name():
    g = cudnn.pygraph(io_data_type=HALF)
    x = g.tensor([2, 8, 16], name="x", alignment_value=8, ragged_offset_multiplier=4)
    assert (x.dim, x.stride) == ([2, 8, 16], [128, 16, 1])
    assert (x.is_virtual, x.is_pass_by_value) == (False, False)
    assert (x.alignment_value, x.get_ragged_offset_multiplier()) == (8, 4)
    assert (x.pass_by_value, x.scalar_type) == (None, None)
    x.dim, x.stride = [2, 16, 8], [128, 1, 16]
    assert (x.get_dim(), x.get_stride()) == ([2, 16, 8], [128, 1, 16])
    x.validate()
    constant = cudnn.scalar_type.COMPILE_TIME_CONST
    two = g.tensor_scalar(2.0, constant, name="two")
    assert (two.name, two.pass_by_value, two.scalar_type) == ("two", 2.0, constant)
    assert g.tensor_like(x, is_virtual=True).is_virtual
    with pytest.raises(ValueError, match="alignment_value: expected at least 1, got 0"):
        x.set_alignment_value(0)
    with pytest.raises(ValueError, match=r"has dims \[2, 16, 8\] and strides \[1\]"):
        x.set_stride([1]).validate()


def test_results_get_the_dims_that_the_call_gives():
    g = cudnn.pygraph(io_data_type=HALF)
    x = rows(g, 4, 8, 16)
    assert g.reduction(x, cudnn.reduction_mode.MAX, out_dims=[4, 1, 16]).get_dim() == [4, 1, 16]
    sums = g.genstats(g.tensor([4, 16, 8, 8]), out_dims={"SQ_SUM": [1, 16, 1, 1]})
    assert [each.get_dim() for each in sums] == [[], [1, 16, 1, 1]]
    with pytest.raises(RuntimeError, match=r"out_dims: no result 'Z'; there are SUM, SQ_SUM"):
        g.genstats(g.tensor([4, 16, 8, 8]), out_dims={"Z": [1]})


def test_normalization_takes_each_operand_once():
    g = cudnn.pygraph(io_data_type=HALF)
    x, one, eps = g.tensor([8, 64, 1, 1]), g.tensor([1, 64, 1, 1]), g.tensor([1, 1, 1, 1])
    phase = cudnn.norm_forward_phase.INFERENCE
    with pytest.raises(TypeError, match="too many positional"):
        g.layernorm(x, one, one, eps, phase, FLOAT)
    with pytest.raises(TypeError, match="multiple values"):
        g.layernorm(x, one, one, eps, norm_forward_phase=phase, input=x)
