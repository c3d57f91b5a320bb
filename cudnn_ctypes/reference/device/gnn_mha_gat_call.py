"""One call of GNN attention: what goes in, and where results go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray

from ... import raw
from ..gnn_agg_simple import GnnCscGraph
from ..gnn_mha_gat import GnnMhaGatGradients, GnnMhaGatResult, GnnMhaParams
from .gnn_call import Table, check_types, mha_params, read_graph
from .memory import require

__all__ = ["AttentionCall", "AttentionResults"]

FLOAT = raw.CUDNN_DATA_FLOAT


@dataclass(frozen=True)
class AttentionCall:
    """The graph and the sizes of one call."""

    graph: GnnCscGraph
    params: GnnMhaParams
    node_features: int
    edge_features: int
    weight_count: int
    data_type: raw.cudnnDataType_t

    @classmethod
    def read(
        cls,
        graph: Any,
        params: Any,
        node_features: int,
        edge_features: int,
        weight_count: int,
        data_type: raw.cudnnDataType_t,
    ) -> AttentionCall:
        check_types(data_type)
        held = mha_params(params, node_features, edge_features)
        return cls(read_graph(graph), held, node_features, edge_features, weight_count, data_type)

    @property
    def out_features(self) -> int:
        whole = self.params.concat_heads
        return self.node_features if whole else self.node_features // self.params.num_heads

    def given(
        self, source: int | None, destination: int | None, edges: int | None, weights: int | None
    ) -> dict[str, Any]:
        """The features and the weights, as the reference takes them."""
        require(srcFeatures=source, dstFeatures=destination, attnWeights=weights)
        kind, graph, size = self.data_type, self.graph, self.node_features
        rows = (graph.edge_count, self.edge_features)
        return {
            "src_features": Table("srcFeatures", source, kind, (graph.source_count, size)).load(),
            "dst_features": Table(
                "dstFeatures", destination, kind, (graph.destination_count, size)
            ).load(),
            "attn_weights": Table("attnWeights", weights, kind, (self.weight_count,)).load(),
            "edge_features": Table("edgeFeatures", edges, kind, rows).optional(),
            "params": self.params,
        }

    def per_head(self, name: str, address: int | None) -> NDArray[Any] | None:
        """An optional table (heads, edges) of FLOAT."""
        if not address:
            return None
        shape = (self.params.num_heads, self.graph.edge_count)
        return Table(name, address, FLOAT, shape).load()

    def both_scores(self, name: str, address: int | None) -> Table:
        require(**{name: address})
        return Table(name, address, FLOAT, (2, self.params.num_heads, self.graph.edge_count))

    def activated(self, address: int | None) -> Table:
        require(actScores=address)
        shape = (self.graph.edge_count, self.node_features)
        return Table("actScores", address, self.data_type, shape)

    def output(self, name: str, address: int | None) -> Table:
        require(**{name: address})
        shape = (self.graph.destination_count, self.out_features)
        return Table(name, address, self.data_type, shape)

    def forward(
        self,
        function: Callable[..., GnnMhaGatResult],
        given: dict[str, Any],
        mask: int | None,
        output: int | None,
        scores: int | None,
    ) -> GnnMhaGatResult:
        results = self.output("output", output), self.both_scores("smScores", scores)
        made = function(self.graph, **given, dropout_mask=self.per_head("dropoutMask", mask))
        results[0].store(made.output)
        results[1].store(made.sm_scores)
        return made

    def backward(
        self,
        function: Callable[..., GnnMhaGatGradients],
        given: dict[str, Any],
        smScores: int | None,
        gradOut: int | None,
        mask: int | None,
        dattention: int | None,
        results: AttentionResults,
    ) -> None:
        made = function(
            self.graph,
            **given,
            doutput=self.output("gradOut", gradOut).load(),
            sm_scores=self.both_scores("smScores", smScores).load(),
            dropout_mask=self.per_head("dropoutMask", mask),
            dattention=self.per_head("gradAttention", dattention),
        )
        results.store(made)


class AttentionResults:
    """Where the gradients go."""

    def __init__(
        self,
        call: AttentionCall,
        source: int | None,
        destination: int | None,
        edges: int | None,
        weights: int | None,
        scores: int | None,
        feature_type: raw.cudnnDataType_t,
        weight_type: raw.cudnnDataType_t,
    ) -> None:
        require(gradSrcFeatures=source, gradDstFeatures=destination)
        graph, size = call.graph, call.node_features
        self.source = Table("gradSrcFeatures", source, feature_type, (graph.source_count, size))
        self.destination = Table(
            "gradDstFeatures", destination, feature_type, (graph.destination_count, size)
        )
        self.edges = Table(
            "gradEdgeFeatures", edges, feature_type, (graph.edge_count, call.edge_features)
        )
        self.edges.check()
        self.weights = Table("gradWeights", weights, weight_type, (call.weight_count,))
        self.scores = call.both_scores("gradSmScores", scores)

    def store(self, made: GnnMhaGatGradients) -> None:
        dsource, ddestination = made.dsrc_features, made.ddst_features
        if self.source.address == self.destination.address:  # one set of nodes: both together
            count = min(len(dsource), len(ddestination))
            dsource, ddestination = dsource.copy(), ddestination.copy()
            dsource[:count] += made.ddst_features[:count]
            ddestination[:count] += made.dsrc_features[:count]
        self.source.store(dsource)
        self.destination.store(ddestination)
        if made.dedge_features is not None:
            self.edges.store(made.dedge_features)
        if self.weights.address:
            self.weights.store(made.dattn_weights)
        self.scores.store(made.dsm_scores)
