"""GNN attention, GAT and GATv2, on the reference device."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from ... import raw
from ..gnn_mha_gat import (
    gnn_mha_gat_backward,
    gnn_mha_gat_forward,
    gnn_mha_gat_v2_backward,
    gnn_mha_gat_v2_forward,
)
from .call import Call
from .gnn_call import Table, check_types, mha_params, read_graph, use_workspaces
from .registry import implements, not_supported

FLOAT = raw.CUDNN_DATA_FLOAT


class _Attention:
    """A call of GNN attention: the graph, the sizes, and tables of memory."""

    def __init__(self, call: Call) -> None:
        self.call, self.v2 = call, "V2" in call.name
        self.data_type = call["dataType"]
        check_types(self.data_type)
        self.size = call["dimNode"]
        if self.v2:
            self.edge_size = self.size if call["edgeFeatures"] else 0
            self.weight_count = self.size
        else:
            self.edge_size = call["dimEdge"]
            self.weight_count = 2 * self.size + self.edge_size
        self.params = mha_params(call, self.size, self.edge_size)
        self.graph = graph = read_graph(call)
        self.sources = (graph.source_count, self.size)
        self.destinations = (graph.destination_count, self.size)
        self.edges = (graph.edge_count, self.edge_size)
        whole = self.params.concat_heads
        out_size = self.size if whole else self.size // self.params.num_heads
        self.outputs = (graph.destination_count, out_size)
        self.activated = (graph.edge_count, self.size)
        self.scores = (2, self.params.num_heads, graph.edge_count)

    def table(self, name: str, *shape: int, data_type: Any = None) -> Table:
        return Table(self.call, name, self.data_type if data_type is None else data_type, shape)

    def required(self, name: str, *shape: int, data_type: Any = None) -> Table:
        """A table that must not be NULL."""
        self.call.require(name)
        return self.table(name, *shape, data_type=data_type)

    def given(self) -> dict[str, Any]:
        """The features and the weights, as the reference takes them."""
        self.call.require("srcFeatures", "dstFeatures", "attnWeights")
        return {
            "src_features": self.table("srcFeatures", *self.sources).load(),
            "dst_features": self.table("dstFeatures", *self.destinations).load(),
            "attn_weights": self.table("attnWeights", self.weight_count).load(),
            "edge_features": self.table("edgeFeatures", *self.edges).optional(),
            "params": self.params,
        }

    def per_head(self, name: str) -> NDArray[Any] | None:
        """An optional table (heads, edges) of FLOAT."""
        if not self.call[name]:
            return None
        return self.table(name, *self.scores[1:], data_type=FLOAT).load()


@implements("cudnnGnnMhaGatForward", "cudnnGnnMhaGatV2Forward")
def forward(call: Call) -> None:
    here = _Attention(call)
    function = gnn_mha_gat_v2_forward if here.v2 else gnn_mha_gat_forward
    operands = here.given()
    output = here.required("output", *here.outputs)
    scores = here.required("smScores", *here.scores, data_type=FLOAT)
    activated = here.required("actScores", *here.activated) if here.v2 else None
    results = function(here.graph, **operands, dropout_mask=here.per_head("dropoutMask"))
    output.store(results.output)
    scores.store(results.sm_scores)
    if activated is not None and results.act_scores is not None:
        activated.store(results.act_scores)


@implements("cudnnGnnMhaGatBackward", "cudnnGnnMhaGatV2Backward")
def backward(call: Call) -> None:
    """FLOAT gradients of features go with FLOAT gradients of weights only, says NVIDIA's manual."""
    here = _Attention(call)
    kind = call[call.named("gradType", "gradDataType")]
    weight_kind = call[call.named("gradType", "gradWeightType")]
    check_types(here.data_type, kind, weight_kind)
    if kind == FLOAT != weight_kind:
        raise not_supported(f"gradWeightType {weight_kind.name} with gradDataType {kind.name}")
    operands = here.given()
    if not here.v2:
        call.require("gradWeights")
    dsource = here.required("gradSrcFeatures", *here.sources, data_type=kind)
    ddestination = here.required("gradDstFeatures", *here.destinations, data_type=kind)
    dedges = here.table("gradEdgeFeatures", *here.edges, data_type=kind)
    dedges.check()
    dweights = here.table("gradWeights", here.weight_count, data_type=weight_kind)
    dscores = here.required("gradSmScores", *here.scores, data_type=FLOAT)
    destinations, edges = here.graph.destination_count, here.graph.edge_count
    use_workspaces(
        here.graph,
        here.table("gradWspaceFeat", edges, here.size, data_type=kind),
        here.table("gradWspaceWeights", destinations, here.weight_count, data_type=weight_kind),
    )
    if here.v2:
        operands["act_scores"] = here.required("actScores", *here.activated).load()
    gradients = (gnn_mha_gat_v2_backward if here.v2 else gnn_mha_gat_backward)(
        here.graph,
        **operands,
        doutput=here.required("gradOut", *here.outputs).load(),
        sm_scores=here.required("smScores", *here.scores, data_type=FLOAT).load(),
        dropout_mask=here.per_head("dropoutMask"),
        dattention=here.per_head("gradAttention"),
    )
    by_source, by_destination = gradients.dsrc_features, gradients.ddst_features
    if dsource.address == ddestination.address:  # one set of nodes: both together
        count = min(len(by_source), len(by_destination))
        by_source, by_destination = by_source.copy(), by_destination.copy()
        by_source[:count] += gradients.ddst_features[:count]
        by_destination[:count] += gradients.dsrc_features[:count]
    dsource.store(by_source)
    ddestination.store(by_destination)
    if gradients.dedge_features is not None:
        dedges.store(gradients.dedge_features)
    if dweights.address:
        dweights.store(gradients.dattn_weights)
    dscores.store(gradients.dsm_scores)
