"""GNN aggregation over the neighbours of each node, on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np

from ... import raw
from ..gnn_agg_simple import gnn_agg_simple_backward, gnn_agg_simple_forward
from .call import Call
from .gnn_call import Table, check_types, read_graph
from .registry import bad_param, execution_failed, implements

_OPERATIONS: dict[int, Any] = {
    raw.CUDNN_GNN_AGG_SUM: "sum",
    raw.CUDNN_GNN_AGG_MEAN: "mean",
    raw.CUDNN_GNN_AGG_MAX: "max",
    raw.CUDNN_GNN_AGG_MIN: "min",
}


class _Aggregation:
    """A call of an aggregation: the graph, the operation's name, and tables of memory."""

    def __init__(self, call: Call) -> None:
        self.call = call
        nodes, edges, passed = (call[f"{of}FeatDim"] for of in ("node", "edge", "concat"))
        if call["aggOp"] not in _OPERATIONS:
            raise bad_param(f"aggOp {int(call['aggOp'])}")
        if min(nodes, edges, passed) < 0 or nodes + edges == 0:
            raise bad_param(
                f"nodeFeatDim {nodes} or edgeFeatDim {edges} must be positive, and none negative, "
                f"concatFeatDim {passed} included"
            )
        self.operation = _OPERATIONS[call["aggOp"]]
        if self.operation in ("max", "min"):
            call.require("outPositions")
        check_types(call["dataType"])
        self.graph = graph = read_graph(call)
        self.nodes = (graph.source_count, nodes)
        self.edges = (graph.edge_count, edges)
        self.passed = (graph.destination_count, passed)
        self.outputs = (graph.destination_count, nodes + edges + passed)
        self.positions = (graph.destination_count, nodes + edges)

    def table(self, name: str, shape: tuple[int, ...]) -> Table:
        return Table(self.call, name, self.call["dataType"], shape)

    def out_positions(self) -> Table:
        kind = self.call["graph"].contents.idxType
        return Table(self.call, "outPositions", kind, self.positions)


@implements("cudnnGnnAggSimpleForward")
def forward(call: Call) -> None:
    here = _Aggregation(call)
    call.require("output")
    result = gnn_agg_simple_forward(
        here.graph,
        here.table("nodeFeatures", here.nodes).optional(),
        here.table("edgeFeatures", here.edges).optional(),
        here.table("concatFeatures", here.passed).optional(),
        operation=here.operation,
        compute_dtype=np.float32,
    )
    here.table("output", here.outputs).store(result.output)
    if result.out_positions is not None:
        here.out_positions().store(result.out_positions)


@implements("cudnnGnnAggSimpleBackward")
def backward(call: Call) -> None:
    here = _Aggregation(call)
    nodes = here.table("gradNodeFeatures", here.nodes)
    edges = here.table("gradEdgeFeatures", here.edges)
    passed = here.table("gradConcatFeatures", here.passed)
    call.require("gradOutput")
    positions = None
    if here.operation in ("max", "min"):
        positions = here.out_positions().load()
        _check_positions(positions, here.nodes[0], here.edges[0], here.nodes[1])
    passed.check()
    gradients = gnn_agg_simple_backward(
        here.graph,
        doutput=here.table("gradOutput", here.outputs).load(),
        out_positions=positions,
        dnode_features=nodes.optional(),
        dedge_features=edges.optional(),
        node_feat_dim=here.nodes[1],
        edge_feat_dim=here.edges[1],
        operation=here.operation,
        compute_dtype=np.float32,
    )
    for table, gradient in zip((nodes, edges, passed), gradients, strict=True):
        if gradient is not None:
            table.store(gradient)


def _check_positions(positions: Any, sources: int, edges: int, node_features: int) -> None:
    """Refuse positions that would make a kernel write elsewhere."""
    for part, count in (
        (positions[:, :node_features], sources),
        (positions[:, node_features:], edges),
    ):
        if part.size and (part.min() < -1 or part.max() >= count):
            raise execution_failed("outPositions do not come from the forward pass of this graph")
