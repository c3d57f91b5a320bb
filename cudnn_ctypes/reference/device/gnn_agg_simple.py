"""GNN aggregation over the neighbours of each node, on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ..gnn_agg_simple import gnn_agg_simple_backward, gnn_agg_simple_forward
from .dispatch import Refused, implements
from .gnn_call import Table, check_types, read_graph
from .memory import require

_OPERATIONS: dict[int, Any] = {
    raw.CUDNN_GNN_AGG_SUM: "sum",
    raw.CUDNN_GNN_AGG_MEAN: "mean",
    raw.CUDNN_GNN_AGG_MAX: "max",
    raw.CUDNN_GNN_AGG_MIN: "min",
}


@implements("cudnnGnnAggSimpleForward")
def forward(
    stream: Any,
    graph: Any,
    nodeFeatures: int | None,
    edgeFeatures: int | None,
    concatFeatures: int | None,
    output: int | None,
    outPositions: int | None,
    nodeFeatDim: int,
    edgeFeatDim: int,
    concatFeatDim: int,
    dataType: raw.cudnnDataType_t,
    aggOp: raw.cudnnGnnAggOp_t,
) -> None:
    operation = _operation(aggOp, outPositions, nodeFeatDim, edgeFeatDim, concatFeatDim)
    check_types(dataType)
    read = read_graph(graph)
    nodes = Table("nodeFeatures", nodeFeatures, dataType, (read.source_count, nodeFeatDim))
    edges = Table("edgeFeatures", edgeFeatures, dataType, (read.edge_count, edgeFeatDim))
    passed = Table(
        "concatFeatures", concatFeatures, dataType, (read.destination_count, concatFeatDim)
    )
    features = nodeFeatDim + edgeFeatDim
    result = Table("output", output, dataType, (read.destination_count, features + concatFeatDim))
    require(output=output)
    made = gnn_agg_simple_forward(
        read,
        nodes.optional(),
        edges.optional(),
        passed.optional(),
        operation=operation,
        compute_dtype=np.float32,
    )
    result.store(made.output)
    if made.out_positions is not None:
        kind = graph.contents.idxType
        positions = made.out_positions
        Table("outPositions", outPositions, kind, positions.shape).store(positions)


@implements("cudnnGnnAggSimpleBackward")
def backward(
    stream: Any,
    graph: Any,
    gradOutput: int | None,
    outPositions: int | None,
    gradNodeFeatures: int | None,
    gradEdgeFeatures: int | None,
    gradConcatFeatures: int | None,
    nodeFeatDim: int,
    edgeFeatDim: int,
    concatFeatDim: int,
    dataType: raw.cudnnDataType_t,
    aggOp: raw.cudnnGnnAggOp_t,
) -> None:
    operation = _operation(aggOp, outPositions, nodeFeatDim, edgeFeatDim, concatFeatDim)
    check_types(dataType)
    read = read_graph(graph)
    nodes = Table("gradNodeFeatures", gradNodeFeatures, dataType, (read.source_count, nodeFeatDim))
    edges = Table("gradEdgeFeatures", gradEdgeFeatures, dataType, (read.edge_count, edgeFeatDim))
    passed = Table(
        "gradConcatFeatures", gradConcatFeatures, dataType, (read.destination_count, concatFeatDim)
    )
    features = nodeFeatDim + edgeFeatDim
    doutput = Table(
        "gradOutput", gradOutput, dataType, (read.destination_count, features + concatFeatDim)
    )
    require(gradOutput=gradOutput)
    positions = None
    if operation in ("max", "min"):
        shape = (read.destination_count, features)
        positions = Table("outPositions", outPositions, graph.contents.idxType, shape).load()
        _check_positions(positions, read.source_count, read.edge_count, nodeFeatDim)
    passed.check()
    made = gnn_agg_simple_backward(
        read,
        doutput=doutput.load(),
        out_positions=positions,
        dnode_features=nodes.optional(),
        dedge_features=edges.optional(),
        node_feat_dim=nodeFeatDim,
        edge_feat_dim=edgeFeatDim,
        operation=operation,
        compute_dtype=np.float32,
    )
    for table, gradient in zip((nodes, edges, passed), made, strict=True):
        if gradient is not None:
            table.store(gradient)


def _operation(
    aggOp: raw.cudnnGnnAggOp_t, positions: int | None, nodes: int, edges: int, passed: int
) -> Any:
    """The operation's name in the reference, with what it needs checked."""
    if aggOp not in _OPERATIONS:
        raise Refused(raw.CUDNN_STATUS_BAD_PARAM, f"aggOp {int(aggOp)}")
    if min(nodes, edges, passed) < 0 or nodes + edges == 0:
        raise Refused(
            raw.CUDNN_STATUS_BAD_PARAM,
            f"nodeFeatDim {nodes} or edgeFeatDim {edges} must be positive, and none negative, "
            f"concatFeatDim {passed} included",
        )
    if aggOp in (raw.CUDNN_GNN_AGG_MAX, raw.CUDNN_GNN_AGG_MIN):
        require(outPositions=positions)
    return _OPERATIONS[aggOp]


def _check_positions(positions: Any, sources: int, edges: int, node_features: int) -> None:
    """Refuse positions that would make a kernel write elsewhere."""
    for part, count in (
        (positions[:, :node_features], sources),
        (positions[:, node_features:], edges),
    ):
        if part.size and (part.min() < -1 or part.max() >= count):
            raise Refused(
                raw.CUDNN_STATUS_EXECUTION_FAILED,
                "outPositions do not come from the forward pass of this graph",
            )
