"""One call of GNN attention: what goes in, and where results go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ..gnn_agg_simple import GnnCscGraph
from ..gnn_mha_gat import GnnMhaGatGradients, GnnMhaGatResult, GnnMhaParams
from .gnn_call import Table, check_types, options, read_graph
from .memory import require

__all__ = ["AttentionCall", "AttentionResults"]

FLOAT = raw.CUDNN_DATA_FLOAT


@dataclass(frozen=True)
class AttentionCall:
    """The graph and the sizes of one call."""

    graph: GnnCscGraph
    options: GnnMhaParams
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
        held = options(params, node_features, edge_features)
        return cls(read_graph(graph), held, node_features, edge_features, weight_count, data_type)

    @property
    def out_features(self) -> int:
        whole = self.options.concatenated
        return self.node_features if whole else self.node_features // self.options.heads

    def given(
        self, source: int | None, destination: int | None, edges: int | None, weights: int | None
    ) -> tuple[Any, Any, Any, Any]:
        """The features of sources, destinations and edges, and the weights."""
        require(srcFeatures=source, dstFeatures=destination, attnWeights=weights)
        kind, graph = self.data_type, self.graph
        return (
            Table("srcFeatures", source, kind, (graph.source_count, self.node_features)).load(),
            Table(
                "dstFeatures", destination, kind, (graph.destination_count, self.node_features)
            ).load(),
            Table("edgeFeatures", edges, kind, (graph.edge_count, self.edge_features)).optional(),
            Table("attnWeights", weights, kind, (self.weight_count,)).load(),
        )

    def per_head(self, name: str, address: int | None) -> NDArray[Any] | None:
        """An optional table (heads, edges) of FLOAT."""
        if not address:
            return None
        shape = (self.options.heads, self.graph.edge_count)
        return Table(name, address, FLOAT, shape).load()

    def both_scores(self, name: str, address: int | None) -> Table:
        require(**{name: address})
        return Table(name, address, FLOAT, (2, self.options.heads, self.graph.edge_count))

    def scores(self, address: int | None) -> GnnMhaGatResult:
        """What the forward pass saved."""
        logits, coefficients = self.both_scores("smScores", address).load()
        return GnnMhaGatResult(np.zeros(0, np.float32), logits, coefficients, None)

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
        given: tuple[Any, ...],
        mask: int | None,
        output: int | None,
        scores: int | None,
    ) -> GnnMhaGatResult:
        results = self.output("output", output), self.both_scores("smScores", scores)
        made = function(self.graph, *given, self.options, self.per_head("dropoutMask", mask))
        results[0].store(made.output)
        results[1].store(np.stack([made.logits, made.coefficients]))
        return made

    def backward(
        self,
        function: Callable[..., GnnMhaGatGradients],
        given: tuple[Any, ...],
        saved: GnnMhaGatResult,
        gradOut: int | None,
        mask: int | None,
        dattention: int | None,
        results: AttentionResults,
    ) -> None:
        doutput = self.output("gradOut", gradOut).load()
        made = function(
            self.graph,
            *given,
            self.options,
            saved,
            doutput,
            self.per_head("dropoutMask", mask),
            self.per_head("gradAttention", dattention),
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
        dsource, ddestination = made.dsource, made.ddestination
        if self.source.address == self.destination.address:  # one set of nodes: both together
            count = min(len(dsource), len(ddestination))
            dsource, ddestination = dsource.copy(), ddestination.copy()
            dsource[:count] += made.ddestination[:count]
            ddestination[:count] += made.dsource[:count]
        self.source.store(dsource)
        self.destination.store(ddestination)
        if made.dedges is not None:
            self.edges.store(made.dedges)
        if self.weights.address:
            self.weights.store(made.dweights)
        self.scores.store(np.stack([made.dlogits, made.dcoefficients]))
