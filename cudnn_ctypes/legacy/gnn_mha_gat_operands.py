"""The parameters and the operands of GNN attention, checked together."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .. import raw
from ..arguments import expect, flag, integer
from ..dtypes import as_data_type
from ..runtime import DeviceTensor
from .dense_operands import DenseOperands
from .enumerators import enumerator
from .gnn_csc_graph import GnnCscGraph
from .launch import Memory
from .scalars import real

__all__ = ["GatOperands", "GnnMhaParams"]

FLOAT = raw.CUDNN_DATA_FLOAT


@dataclass(frozen=True)
class GnnMhaParams:
    """How heads attend; ``cudnnGnnMhaParams_t``.

    Attributes
    ----------
    num_heads : int
        The features of a node are those of the heads, one after the other.
    concat_heads : bool
        Whether the heads' outputs are concatenated, or averaged.
    activation : cudnnGnnActivationOp_t or str
        "linear", "relu", "sigmoid", "tanh", "elu", "scalar" or "leaky_relu".
    activation_alpha : float
        The negative slope of "leaky_relu", positive; the factor of "scalar".

    Examples
    --------
    >>> GnnMhaParams(2, activation="relu").num_heads
    2
    """

    num_heads: int = 1
    concat_heads: bool = True
    activation: Any = "leaky_relu"
    activation_alpha: float = 0.2

    def __post_init__(self) -> None:
        integer("num_heads", self.num_heads, least=1)
        flag("concat_heads", self.concat_heads)
        enumerator(raw.cudnnGnnActivationOp_t, self.activation, "activation")
        real("activation_alpha", self.activation_alpha)

    @property
    def _as_parameter_(self) -> Any:
        activation = enumerator(raw.cudnnGnnActivationOp_t, self.activation, "activation")
        return ctypes.pointer(
            raw.cudnnGnnMhaParams_t(
                activation, self.activation_alpha, self.num_heads, self.concat_heads
            )
        )


class GatOperands(DenseOperands):
    """The operands of one call of GAT (version 1) or GATv2 (version 2).

    Attributes
    ----------
    graph : GnnCscGraph
    params : GnnMhaParams
    width, edge_width : int
        Features of a node, and of an edge.
    weight_count : int
    data_type : cudnnDataType_t
        Of the features and the weights.
    one_set : bool
        Whether sources and destinations are the same nodes.
    """

    def __init__(
        self, version: int, graph: GnnCscGraph, params: GnnMhaParams | None, stream: Any
    ) -> None:
        super().__init__(stream)
        self.version = version
        self.graph: GnnCscGraph = expect("graph", graph, GnnCscGraph)
        self.params: GnnMhaParams = expect("params", params or GnnMhaParams(), GnnMhaParams)

    def inputs(
        self, src_features: Any, dst_features: Any, edge_features: Any, attn_weights: Any
    ) -> None:
        """Check the features and the weights."""
        graph = self.graph
        first = self.imported("src_features", src_features)
        if first.ndim != 2 or first.shape[1] == 0:
            raise ValueError(
                f"src_features: expected ({graph.source_count}, features), got {first.shape}"
            )
        self.width: int = first.shape[1]
        self.data_type: raw.cudnnDataType_t = first.data_type
        self._check_heads("src_features", self.width)
        self.edge_width: int = 0
        if edge_features is not None:
            self.edge_width = self.imported("edge_features", edge_features).shape[-1]
            self._check_heads("edge_features", self.edge_width)
            if self.version == 2:
                self.edge_width = self.width
        self.tensor("src_features", first, (graph.source_count, self.width), self.data_type)
        self.one_set: bool = dst_features is None
        if not self.one_set:
            shape = (graph.destination_count, self.width)
            self.tensor("dst_features", dst_features, shape, self.data_type)
        elif graph.destination_count > graph.source_count:
            raise ValueError(
                f"dst_features: needed, as {graph.source_count} sources cannot be "
                f"{graph.destination_count} destinations"
            )
        rows = (graph.edge_count, self.edge_width)
        self.optional("edge_features", edge_features, rows, self.data_type)
        self.weight_count: int = (
            2 * self.width + self.edge_width if self.version == 1 else self.width
        )
        self.tensor("attn_weights", attn_weights, (self.weight_count,), self.data_type)

    def _check_heads(self, name: str, features: int) -> None:
        heads = self.params.num_heads
        if heads < 1 or features % heads:
            raise ValueError(f"{name}: {features} features are not a multiple of {heads} heads")

    @property
    def output_shape(self) -> tuple[int, int]:
        whole = self.params.concat_heads
        width = self.width if whole else self.width // self.params.num_heads
        return (self.graph.destination_count, width)

    @property
    def scores_shape(self) -> tuple[int, int, int]:
        return (2, self.params.num_heads, self.graph.edge_count)

    def per_head(self, name: str, value: Any) -> None:
        """An optional table (heads, edges) of float32."""
        self.optional(name, value, self.scores_shape[1:], FLOAT)

    def forward_results(self, output: Any, sm_scores: Any) -> tuple[Any, Any]:
        return (
            self.result("output", output, self.output_shape, self.data_type),
            self.result("sm_scores", sm_scores, self.scores_shape, FLOAT),
        )

    def backward_inputs(
        self, doutput: Any, sm_scores: Any, dropout_mask: Any, dattention: Any
    ) -> None:
        """Check the operands of a backward pass alone."""
        self.tensor("doutput", doutput, self.output_shape, self.data_type)
        self.tensor("sm_scores", sm_scores, self.scores_shape, FLOAT)
        self.per_head("dropout_mask", dropout_mask)
        self.per_head("dattention", dattention)

    def gradient_type(self, asked: Any) -> raw.cudnnDataType_t:
        """The data type of gradients: the features' by default."""
        return self.data_type if asked is None else as_data_type(asked)

    def gradients(
        self,
        asked: tuple[Any, ...],
        gradient_type: raw.cudnnDataType_t,
        weight_gradient_type: raw.cudnnDataType_t,
    ) -> tuple[DeviceTensor | None, ...]:
        """The gradients of sources, destinations, edges, weights and scores; `asked`: as given."""
        graph, size = self.graph, self.width
        described: tuple[tuple[str, tuple[int, ...], raw.cudnnDataType_t, str], ...] = (
            ("dsrc_features", (graph.source_count, size), gradient_type, ""),
            (
                "ddst_features",
                (graph.destination_count, size),
                gradient_type,
                "dst_features is not" if self.one_set else "",
            ),
            (
                "dedge_features",
                (graph.edge_count, self.edge_width),
                gradient_type,
                "" if self.edge_width else "edge_features are not",
            ),
            ("dattn_weights", (self.weight_count,), weight_gradient_type, ""),
            ("dsm_scores", self.scores_shape, FLOAT, ""),
        )
        results: list[Any] = []
        for (name, shape, data_type, reason), value in zip(described, asked, strict=True):
            if reason and value is not None:
                raise ValueError(f"{name}: given, but {reason}")
            self.absent(name)
            results.append(None if reason else self.result(name, value, shape, data_type))
        return tuple(results)

    def workspaces(
        self,
        deterministic: bool,
        gradient_type: raw.cudnnDataType_t,
        weight_gradient_type: raw.cudnnDataType_t,
    ) -> dict[str, DeviceTensor | None]:
        """Memory for sums in a fixed order; None for atomic additions."""
        if not deterministic:
            return {"gradWspaceFeat": None, "gradWspaceWeights": None}
        if not self.graph.reversible:
            raise ValueError(
                "graph: a deterministic backward pass needs reversed_offsets and reversed_rows"
            )
        of_weights = (self.graph.destination_count, self.weight_count)
        return {
            "gradWspaceFeat": self.temporary((self.graph.edge_count, self.width), gradient_type),
            "gradWspaceWeights": self.temporary(of_weights, weight_gradient_type),
        }

    def launch_attention(self, function: Callable[..., Any], **arguments: Any) -> None:
        """Launch a C function with these operands and the `arguments` of its own."""
        if self.one_set:
            arguments["dstFeatures"] = "src_features"
            if function.__name__.endswith("Backward"):
                arguments["gradDstFeatures"] = "dsrc_features"
        self.launch(
            function,
            graph=Memory("graph", self.graph),
            dimNode=self.width,
            params=self.params,
            dataType=self.data_type,
            **arguments,
        )
