"""One call of GNN attention: its options, and its operands checked together."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any

from .. import raw
from ..device import DeviceTensor
from .dense_operands import DenseOperands
from .enumerators import enumerator
from .gnn_csc_graph import GnnCscGraph
from .operands import expect

__all__ = ["AttentionCall", "GnnMhaParams"]

FLOAT = raw.CUDNN_DATA_FLOAT


@dataclass(frozen=True)
class GnnMhaParams:
    """How heads attend; ``cudnnGnnMhaParams_t``.

    Attributes
    ----------
    heads : int
        The features of a node are those of the heads, one after the other.
    concatenated : bool
        Whether the heads' outputs are concatenated, or averaged.
    activation : cudnnGnnActivationOp_t or str
        "linear", "relu", "sigmoid", "tanh", "elu", "scalar" or "leaky_relu".
    alpha : float
        The negative slope of "leaky_relu", positive; the factor of "scalar".
    """

    heads: int = 1
    concatenated: bool = True
    activation: Any = "leaky_relu"
    alpha: float = 0.2

    @property
    def _as_parameter_(self) -> Any:
        struct = raw.cudnnGnnMhaParams_t(
            activationAlpha=self.alpha, numHeads=self.heads, concatHeads=self.concatenated
        )
        struct.activation = enumerator(raw.cudnnGnnActivationOp_t, self.activation, "activation")
        return ctypes.pointer(struct)


class AttentionCall:
    """What forward and backward passes of both kinds have in common.

    Attributes
    ----------
    operands : DenseOperands
    options : GnnMhaParams
    given : tuple
        Features of sources, destinations and edges, and the weights, as C takes them.
    dims : tuple of int
        The sizes that C takes.
    features, edge_features : int
    data_type : cudnnDataType_t
    one_set : bool
        Whether sources and destinations are the same nodes.
    """

    def __init__(
        self,
        version: int,
        graph: GnnCscGraph,
        source: Any,
        destination: Any,
        edges: Any,
        weights: Any,
        options: GnnMhaParams | None,
        stream: Any,
    ) -> None:
        self.graph = expect("graph", graph, GnnCscGraph)
        self.options = expect("options", options or GnnMhaParams(), GnnMhaParams)
        self.operands = DenseOperands(stream)
        self.one_set = destination is None
        first = self.operands.imported("source", source)
        if first.ndim != 2 or first.shape[1] == 0:
            raise ValueError(
                f"source: expected ({graph.source_count}, features), got {first.shape}"
            )
        self.features, self.data_type = first.shape[1], first.data_type
        self._check_heads("source", self.features)
        self.edge_features = 0
        if edges is not None:
            self.edge_features = self.operands.imported("edges", edges).shape[-1]
            self._check_heads("edges", self.edge_features)
        self.given = self._given(version, first, destination, edges, weights)
        both = (self.features, self.edge_features)
        self.dims = both if version == 1 else both[:1]

    def _given(
        self, version: int, source: DeviceTensor, destination: Any, edges: Any, weights: Any
    ) -> tuple[DeviceTensor | None, ...]:
        graph, size, tensor = self.graph, self.features, self.operands.tensor
        if version == 2 and edges is not None:
            self.edge_features = size
        count = 2 * size + self.edge_features if version == 1 else size
        tensor("source", source, (graph.source_count, size), self.data_type)
        if self.one_set and graph.destination_count > graph.source_count:
            raise ValueError(
                f"destination: needed, as {graph.source_count} sources cannot be "
                f"{graph.destination_count} destinations"
            )
        rows = (graph.edge_count, self.edge_features)
        return (
            source,
            source
            if self.one_set
            else tensor(
                "destination", destination, (graph.destination_count, size), self.data_type
            ),
            None if edges is None else tensor("edges", edges, rows, self.data_type),
            tensor("weights", weights, (count,), self.data_type),
        )

    def _check_heads(self, name: str, features: int) -> None:
        if self.options.heads < 1 or features % self.options.heads:
            raise ValueError(
                f"{name}: {features} features are not a multiple of {self.options.heads} heads"
            )

    @property
    def output_shape(self) -> tuple[int, int]:
        whole = self.options.concatenated
        width = self.features if whole else self.features // self.options.heads
        return (self.graph.destination_count, width)

    @property
    def scores_shape(self) -> tuple[int, int, int]:
        return (2, self.options.heads, self.graph.edge_count)

    def per_head(self, name: str, value: Any) -> DeviceTensor | None:
        """An optional table (heads, edges) of float32."""
        return self.operands.optional(name, value, self.scores_shape[1:], FLOAT)

    def forward_results(self, output: Any, scores: Any) -> tuple[DeviceTensor, DeviceTensor]:
        return (
            self.operands.result("output", output, self.output_shape, self.data_type),
            self.operands.result("scores", scores, self.scores_shape, FLOAT),
        )

    def gradient_results(
        self,
        dsource: Any,
        ddestination: Any,
        dedges: Any,
        dweights: Any,
        dscores: Any,
        gradient_type: raw.cudnnDataType_t,
        weight_gradient_type: raw.cudnnDataType_t,
    ) -> tuple[DeviceTensor | None, ...]:
        """The gradients as C takes them: of sources, destinations, edges, weights and scores."""
        graph, result = self.graph, self.operands.result
        nodes = (graph.source_count, self.features)
        of_source = result("dsource", dsource, nodes, gradient_type)
        if self.one_set and ddestination is not None:
            raise ValueError("ddestination: given, but destination is not")
        others = (graph.destination_count, self.features)
        rows = (graph.edge_count, self.edge_features)
        if self.given[2] is None and dedges is not None:
            raise ValueError("dedges: given, but edges are not")
        assert self.given[3] is not None
        return (
            of_source,
            of_source
            if self.one_set
            else result("ddestination", ddestination, others, gradient_type),
            None if self.given[2] is None else result("dedges", dedges, rows, gradient_type),
            result("dweights", dweights, self.given[3].shape, weight_gradient_type),
            result("dscores", dscores, self.scores_shape, FLOAT),
        )

    def workspaces(
        self,
        deterministic: bool,
        gradient_type: raw.cudnnDataType_t,
        weight_gradient_type: raw.cudnnDataType_t,
    ) -> tuple[DeviceTensor | None, DeviceTensor | None]:
        """Memory for sums in a fixed order; None for atomic additions."""
        if not deterministic:
            return None, None
        if not self.graph.reversible:
            raise ValueError(
                "graph: a deterministic backward pass needs reversed_offsets and reversed_rows"
            )
        assert self.given[3] is not None
        of_weights = (self.graph.destination_count, *self.given[3].shape)
        temporary = self.operands.temporary
        return (
            temporary((self.graph.edge_count, self.features), gradient_type),
            temporary(of_weights, weight_gradient_type),
        )

    def __enter__(self) -> AttentionCall:
        return self

    def __exit__(self, *exception: Any) -> bool | None:
        return self.operands.__exit__(*exception)
