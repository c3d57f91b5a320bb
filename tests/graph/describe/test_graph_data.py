"""A graph as plain data: inference and validation, without any library call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes.graph.describe.operations.pointwise import POINTWISE_METHODS
from cudnn_ctypes.graph.graph import Graph
from cudnn_ctypes.raw import CUDNN_LAYER_NORM, cudnnDataType_t, cudnnPointwiseMode_t

HALF, FLOAT = cudnnDataType_t.CUDNN_DATA_HALF, cudnnDataType_t.CUDNN_DATA_FLOAT


def graph() -> Graph:
    return Graph(io_data_type="float16")


def test_numpy_scalars_keep_their_type_if_it_was_chosen():
    g = graph()
    scalar = g.tensor_scalar(ml_dtypes.bfloat16(2))
    assert scalar.data_type == cudnnDataType_t.CUDNN_DATA_BFLOAT16


# --- shapes --------------------------------------------------------------------------------------


NEGATIVE_AXES: dict[str, Callable[[Graph, int], Any]] = {
    "concatenate": lambda g, axis: g.concatenate([g.tensor((2, 3, 4)), g.tensor((2, 3, 4))], axis),
    "gen_index": lambda g, axis: g.gen_index(g.tensor((2, 3, 4)), axis),
    "transpose": lambda g, axis: g.transpose(g.tensor((2, 3, 4)), (axis, 0, 1)),
    "reduction": lambda g, axis: g.reduction(g.tensor((2, 3, 4)), "add", axes=(axis,)),
    "expand_band_matrix": lambda g, axis: g.expand_band_matrix(
        g.tensor((2, 4, 3)), (2, 4, 4), lower_bandwidth=1, upper_bandwidth=1, axis=axis
    ),
    "block_scale_quantize": lambda g, axis: g.block_scale_quantize(
        g.tensor((2, 3, 4)), 2, axis=axis
    )[1],
}


@pytest.mark.parametrize("name", NEGATIVE_AXES)
def test_axes_count_from_the_end_too(name):
    results = []
    for axis in (2, -1, np.int64(-1)):
        g = graph()
        results.append(NEGATIVE_AXES[name](g, axis).set_output())
        for tensor in g.nodes[0].outputs.values():
            tensor.set_output()
        g.validate()
        settled = g.nodes[0].options
        assert settled.get("axis", 2) == 2
        assert settled.get("permutation", (2, 0, 1)) == (2, 0, 1)
    assert len({each.dims for each in results}) == 1
    for wrong in (3, -4):
        g = graph()
        NEGATIVE_AXES[name](g, wrong).set_output()
        for tensor in g.nodes[0].outputs.values():
            tensor.set_output()
        with pytest.raises(ValueError, match=f"{name}.*{wrong}"):
            g.validate()


# --- element-wise modes --------------------------------------------------------------------------


def test_every_pointwise_mode_has_a_method():
    methods = [getattr(Graph, name) for name in POINTWISE_METHODS]
    assert {method.pointwise_mode for method in methods} == set(cudnnPointwiseMode_t)
    for method in methods:
        assert method.__doc__
        assert method.pointwise_mode.name in method.__doc__


def test_what_convolutions_and_pooling_leave_out_is_one_and_no_padding():
    g = graph()
    y = g.conv_fprop(
        g.tensor((1, 2, 5, 6)), g.tensor((4, 2, 3, 3)), padding=1, stride=2
    ).set_output()
    z = g.resample(g.tensor((1, 2, 5, 6)), "maxpool", window=2, stride=2)[0].set_output()
    names = ("pre_padding", "post_padding", "stride", "dilation", "window")
    for node in g.nodes:
        node.options |= {name: None for name in names if name in node.options}
    g.validate()
    assert (y.dims, z.dims) == ((1, 4, 3, 4), (1, 2, 5, 6))
    settled = [[node.options.get(name) for name in names] for node in g.nodes]
    none, one = (0, 0), (1, 1)
    assert settled == [[none, none, one, one, None], [none, none, one, None, one]]


# --- wrong input ---------------------------------------------------------------------------------


def test_a_circle_is_refused():
    g = graph()
    x = g.tensor((2, 3))
    y = g.add(x, x, name="first")
    z = g.relu(y, name="second").set_output()
    g.nodes[0].inputs["b"] = z
    with pytest.raises(ValueError, match=r"circle: add 'first' -> relu 'second' -> add 'first'"):
        g.validate()


def test_two_makers_of_one_tensor_are_refused():
    g = graph()
    y = g.relu(g.tensor((2, 3))).set_output()
    g.neg(g.tensors[0])
    g.nodes[1].outputs["y"] = y
    with pytest.raises(ValueError, match=r"is the result of both relu 'relu' and neg 'neg'"):
        g.validate()


def test_unused_tensors_and_results_are_refused():
    g = graph()
    with pytest.raises(ValueError, match="no operations"):
        g.validate()
    x = g.tensor((2, 3))
    y = g.relu(x)
    with pytest.raises(ValueError, match=r"relu 'relu': its result y 'relu' is neither used nor"):
        g.validate()
    y.set_output()
    g.validate()
    g.tensor((4,), name="left over")
    with pytest.raises(ValueError, match=r"'left over'.* is used by no operation"):
        g.validate()


def test_a_tensor_of_another_graph_is_one_of_both():
    first, second = graph(), graph()
    x = first.tensor((2, 3), name="x")
    y = first.relu(x).set_output(name="y")
    own = second.tensor((2, 3), name="own")
    z = second.add(second.mul(x, own), y).set_output(name="z")
    with pytest.raises(ValueError, match="'y' has no dims; if it is a result of another graph, va"):
        second.validate()
    for each, nodes in ((first, ["relu"]), (second, ["mul", "add"])):
        each.validate()
        assert [node.operation for node in each.nodes] == nodes
    assert first.tensors == [x, y]
    assert {id(x), id(y), id(own), id(z)} <= {id(each) for each in second.tensors}
    assert set(second.inputs) == {own, x, y}
    assert x.graph is first
    assert len({each.uid for each in second.tensors}) == len(second.tensors)
    assert len({each.uid for each in first.tensors}) == 2
    copy = Graph.from_json(second.to_json())
    assert {each.name for each in copy.inputs} == {"own", "x", "y"}


def test_uids_are_given_and_unique():
    g = graph()
    x = g.tensor((2, 3), uid=2)
    y = g.add(x, g.tensor((2, 3))).set_output()
    g.validate()
    assert sorted(tensor.uid for tensor in g.tensors) == [1, 2, 3]
    y.uid = 2
    with pytest.raises(ValueError, match="both have uid 2"):
        g.validate()


@pytest.mark.parametrize("mode", ["layer_norm", CUDNN_LAYER_NORM, "Layer_Norm"], ids=str)
def test_modes_of_norms_have_short_and_full_names(mode):
    short, full = graph(), graph()
    for g, each in ((short, "layer"), (full, mode)):
        x, scale = g.tensor((4, 3, 8, 8)), g.tensor((1, 3, 8, 8))
        g.norm_forward(each, "inference", x, scale, None, 1e-5)["y"].set_output()
    assert short.to_json() == full.to_json()
