"""``GnnCscGraph``, GNN aggregation and attention: what random problems do not show."""

from __future__ import annotations

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import ClosedError, DeviceTensor, GnnCscGraph, GnnMhaParams, raw

from .gnn_problems import upload


def test_a_graph_is_its_struct(on_reference: None) -> None:
    graph = GnnCscGraph.from_edges([0, 1], [0, 0], dtype=np.int64)
    struct = graph._as_parameter_.contents
    assert struct.cscOffsets == graph.offsets.ptr
    assert struct.mapRevToCoo == graph.reversed_rows.ptr
    assert (struct.nSrcNodes, struct.nDstNodes, struct.nIndices) == (2, 1, 2)
    assert struct.idxType == raw.CUDNN_DATA_INT64
    nodes, output = DeviceTensor.full((2, 3), 2, "float32"), DeviceTensor.zeros((1, 3), "float32")
    raw.cudnnGnnAggSimpleForward(
        None, graph, nodes, None, None, output, None, 3, 0, 0, raw.CUDNN_DATA_FLOAT, 0
    )
    assert (output.numpy() == 4).all()


def test_other_graphs_share_a_launch(on_reference: None) -> None:
    nodes = DeviceTensor.from_numpy(np.arange(6, dtype=np.float32).reshape(3, 2))
    for ends, expected in (([0, 0, 1], [[2, 4], [4, 5]]), ([1, 0, 1], [[2, 3], [4, 6]])):
        graph = GnnCscGraph.from_edges([0, 1, 2], ends)
        result = cudnn.gnn_agg_simple_forward(graph, nodes)
        np.testing.assert_array_equal(result.output.numpy(), expected)
    graph.indices.close()
    with pytest.raises(ClosedError, match="an array of <GnnCscGraph"):
        cudnn.gnn_agg_simple_forward(graph, nodes)


def test_a_graph_without_edges(on_reference: None) -> None:
    graph = GnnCscGraph.from_edges([], [], 2, 3)
    nodes = DeviceTensor.full((2, 2), 5, "float32")
    for _ in range(2):
        assert (cudnn.gnn_agg_simple_forward(graph, nodes).output.numpy() == np.zeros((3, 2))).all()


def test_one_set_of_nodes(on_reference: None) -> None:
    graph = GnnCscGraph.from_edges([0, 1, 2, 0], [1, 1, 0, 2])
    rng = np.random.default_rng(1)
    nodes, weights = (upload(rng.standard_normal(s).astype(np.float32)) for s in ((3, 4), (8,)))
    params = GnnMhaParams(2)
    one = cudnn.gnn_mha_gat_forward(graph, nodes, None, weights, params=params)
    two = cudnn.gnn_mha_gat_forward(graph, nodes, nodes, weights, params=params)
    np.testing.assert_array_equal(one.output.numpy(), two.output.numpy())
    doutput = upload(rng.standard_normal((3, 4)).astype(np.float32))
    given = {"attn_weights": weights, "sm_scores": one.sm_scores, "params": params}
    for _ in range(2):  # the second is found by its key
        together = cudnn.gnn_mha_gat_backward(
            graph, doutput=doutput, src_features=nodes, dst_features=None, **given
        )
        apart = cudnn.gnn_mha_gat_backward(
            graph, doutput=doutput, src_features=nodes, dst_features=nodes, **given
        )
        assert together.ddst_features is None
        np.testing.assert_allclose(
            together.dsrc_features.numpy(),
            apart.dsrc_features.numpy() + apart.ddst_features.numpy(),
            atol=1e-6,
        )
