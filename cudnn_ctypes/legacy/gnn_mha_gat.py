"""GNN attention: each destination weighs its sources' features. GAT and GATv2.

These functions of cuDNN 9.28 and later take a stream instead of a handle; an older library gives a
``SymbolNotFoundError`` that names both versions. They need a GPU of compute capability 8.0.
Operands are dense tensors; results are allocated where none are given. The formulas stand in
``cudnn_ctypes.reference.gnn_mha_gat``.

cuDNN compiles the kernels on the first call for a type in a process: with 9.28 beside an H200 1 s
for float32, and half a minute to a minute for float16 and bfloat16.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect, flag, integer
from ..dtypes import as_data_type
from ..runtime import DeviceTensor
from ..runtime.launching.operation import launched
from ..runtime.launching.recording import Memory
from .dense_operands import DenseOperands
from .gnn_csc_graph import GnnCscGraph
from .operand_memory import real

__all__ = [
    "GatOperands",
    "GnnMhaGatGradients",
    "GnnMhaGatResult",
    "GnnMhaParams",
    "gnn_mha_gat_backward",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_backward",
    "gnn_mha_gat_v2_forward",
]

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


class GnnMhaGatResult(NamedTuple):
    """Result of the forward pass; edges in the order of the rows of `edge_features`.

    `output` (destinations, features, or those of one head if averaged); `sm_scores`, float32
    (2, heads, edges): the logits, and the coefficients before dropout; `act_scores` (edges,
    features), the output of GATv2's activation, None for GAT.

    For an example see `gnn_mha_gat_forward`.
    """

    output: Any
    sm_scores: Any
    act_scores: Any = None


@launched
def gnn_mha_gat_forward(
    graph: GnnCscGraph,
    src_features: Any,
    dst_features: Any,
    attn_weights: Any,
    edge_features: Any = None,
    output: Any = None,
    sm_scores: Any = None,
    *,
    params: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    stream: Any = None,
) -> GnnMhaGatResult:
    """GAT: the activation of a weighted sum, then a softmax; follows ``cudnnGnnMhaGatForward``.

    Parameters
    ----------
    graph : GnnCscGraph
    src_features : tensor
        (sources, features), features a multiple of the heads; float32, float16 or bfloat16.
    dst_features : tensor or None
        (destinations, features). None: the first of the sources are the destinations.
    attn_weights : tensor
        (2 * features + edge features,): for sources, destinations and edges.
    edge_features : tensor, optional
        (edges, edge features), these a multiple of the heads.
    output, sm_scores : tensor, optional
        Default: allocated.
    params : GnnMhaParams, optional
        Default: ``GnnMhaParams()``.
    dropout_mask : tensor, optional
        (heads, edges), float32: 0 where a coefficient is dropped, else 1 / (1 - p).
    stream : stream, optional
        Default: the legacy default stream.

    Returns
    -------
    GnnMhaGatResult

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type.
    ValueError
        If shapes do not fit; the message names the argument.
    NotSupportedError
        If the GPU is too old, or the type is not supported.
    SymbolNotFoundError
        If the loaded library is older than cuDNN 9.28.

    Examples
    --------
    >>> graph = GnnCscGraph.from_edges([0, 1], [0, 0])
    >>> features = DeviceTensor.from_numpy(np.array([[1], [3]], "float32"))
    >>> attn_weights = DeviceTensor.zeros((2,), "float32")  # equal scores: a mean
    >>> result = gnn_mha_gat_forward(graph, features, None, attn_weights)
    >>> result.output.numpy()
    array([[2.]], dtype=float32)
    """
    with GatOperands(1, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights)
        operands.per_head("dropout_mask", dropout_mask)
        results = operands.forward_results(output, sm_scores)
        operands.launch_attention(raw.cudnnGnnMhaGatForward, dimEdge=operands.edge_width)
    return GnnMhaGatResult(*results)


@launched
def gnn_mha_gat_v2_forward(
    graph: GnnCscGraph,
    src_features: Any,
    dst_features: Any,
    attn_weights: Any,
    edge_features: Any = None,
    output: Any = None,
    sm_scores: Any = None,
    act_scores: Any = None,
    *,
    params: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    stream: Any = None,
) -> GnnMhaGatResult:
    """GATv2: the activation first, then the weighted sum; follows ``cudnnGnnMhaGatV2Forward``.

    Parameters
    ----------
    attn_weights : tensor
        (features,).
    edge_features : tensor, optional
        (edges, features).
    act_scores : tensor, optional
        Default: allocated.

    The other parameters, and the errors, are those of `gnn_mha_gat_forward`.

    Examples
    --------
    >>> graph = GnnCscGraph.from_edges([0, 1], [0, 0])
    >>> features = DeviceTensor.from_numpy(np.array([[1], [3]], "float32"))
    >>> attn_weights = DeviceTensor.zeros((1,), "float32")  # equal scores: a mean
    >>> result = gnn_mha_gat_v2_forward(graph, features, None, attn_weights)
    >>> result.output.numpy()
    array([[2.]], dtype=float32)
    """
    with GatOperands(2, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights)
        operands.per_head("dropout_mask", dropout_mask)
        shape = (graph.edge_count, operands.width)
        results = (
            *operands.forward_results(output, sm_scores),
            operands.result("act_scores", act_scores, shape, operands.data_type),
        )
        operands.launch_attention(raw.cudnnGnnMhaGatV2Forward)
    return GnnMhaGatResult(*results)


class GnnMhaGatGradients(NamedTuple):
    """Gradients of the features, of the weights, and of `sm_scores`.

    `ddst_features` is None where sources and destinations are the same nodes: `dsrc_features` then
    holds both gradients together. `dedge_features` is None without edge features.

    For an example see `gnn_mha_gat_backward`.
    """

    dsrc_features: Any
    ddst_features: Any
    dedge_features: Any
    dattn_weights: Any
    dsm_scores: Any


@launched
def gnn_mha_gat_backward(
    graph: GnnCscGraph,
    *,
    doutput: Any,
    src_features: Any,
    dst_features: Any,
    attn_weights: Any,
    sm_scores: Any,
    edge_features: Any = None,
    dsrc_features: Any = None,
    ddst_features: Any = None,
    dedge_features: Any = None,
    dattn_weights: Any = None,
    dsm_scores: Any = None,
    params: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    dattention: Any = None,
    deterministic: bool = False,
    gradient_type: Any = None,
    weight_gradient_type: Any = None,
    stream: Any = None,
) -> GnnMhaGatGradients:
    """The gradients of the operands of `gnn_mha_gat_forward`; follows ``cudnnGnnMhaGatBackward``.

    Parameters
    ----------
    doutput : tensor
        Gradient of the output.
    sm_scores : tensor
        As the forward pass gave them.
    dsrc_features, ddst_features, dedge_features, dattn_weights, dsm_scores : tensor, optional
        Default: allocated.
    dattention : tensor, optional
        (heads, edges), float32: gradient of the coefficients after dropout, if they are used too.
    deterministic : bool
        Whether sums have a fixed order. It takes memory, and a graph that holds its reverse.
    gradient_type, weight_gradient_type : data type, optional
        Of the gradients of features, and of weights: the type of `src_features` (the default), or
        float32.

    The other parameters, and the errors, are those of `gnn_mha_gat_forward`.

    Examples
    --------
    >>> graph = GnnCscGraph.from_edges([0, 1], [0, 0])
    >>> features = DeviceTensor.from_numpy(np.array([[1], [3]], "float32"))
    >>> attn_weights = DeviceTensor.zeros((2,), "float32")
    >>> result = gnn_mha_gat_forward(graph, features, None, attn_weights)
    >>> gradients = gnn_mha_gat_backward(
    ...     graph,
    ...     doutput=DeviceTensor.full((1, 1), 1, "float32"),
    ...     src_features=features,
    ...     dst_features=None,
    ...     attn_weights=attn_weights,
    ...     sm_scores=result.sm_scores,
    ... )
    >>> gradients.dsrc_features.numpy().ravel()
    array([0.5, 0.5], dtype=float32)
    """
    asked = (dsrc_features, ddst_features, dedge_features, dattn_weights, dsm_scores)
    with GatOperands(1, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights)
        operands.backward_inputs(doutput, sm_scores, dropout_mask, dattention)
        feature_type = operands.gradient_type(gradient_type)
        weight_type = operands.gradient_type(weight_gradient_type)
        results = operands.gradients(asked, feature_type, weight_type)
        operands.launch_attention(
            raw.cudnnGnnMhaGatBackward,
            gradOut="doutput",
            gradWeights="dattn_weights",
            dimEdge=operands.edge_width,
            gradDataType=feature_type,
            gradWeightType=weight_type,
            **operands.workspaces(deterministic, feature_type, weight_type),
        )
    return GnnMhaGatGradients(*results)


@launched
def gnn_mha_gat_v2_backward(
    graph: GnnCscGraph,
    *,
    doutput: Any,
    src_features: Any,
    dst_features: Any,
    attn_weights: Any,
    sm_scores: Any,
    act_scores: Any,
    edge_features: Any = None,
    dsrc_features: Any = None,
    ddst_features: Any = None,
    dedge_features: Any = None,
    dattn_weights: Any = None,
    dsm_scores: Any = None,
    params: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    dattention: Any = None,
    deterministic: bool = False,
    gradient_type: Any = None,
    stream: Any = None,
) -> GnnMhaGatGradients:
    """The gradients of the operands of `gnn_mha_gat_v2_forward`.

    Follows ``cudnnGnnMhaGatV2Backward``.

    Parameters
    ----------
    sm_scores, act_scores : tensor
        As the forward pass gave them.
    gradient_type : data type, optional
        Of all gradients: the type of `src_features` (the default), or float32.

    The other parameters, and the errors, are those of `gnn_mha_gat_backward`.

    Examples
    --------
    >>> graph = GnnCscGraph.from_edges([0, 1], [0, 0])
    >>> features = DeviceTensor.from_numpy(np.array([[1], [3]], "float32"))
    >>> attn_weights = DeviceTensor.zeros((1,), "float32")
    >>> result = gnn_mha_gat_v2_forward(graph, features, None, attn_weights)
    >>> gradients = gnn_mha_gat_v2_backward(
    ...     graph,
    ...     doutput=DeviceTensor.full((1, 1), 1, "float32"),
    ...     src_features=features,
    ...     dst_features=None,
    ...     attn_weights=attn_weights,
    ...     sm_scores=result.sm_scores,
    ...     act_scores=result.act_scores,
    ... )
    >>> gradients.dsrc_features.numpy().ravel()
    array([0.5, 0.5], dtype=float32)
    """
    asked = (dsrc_features, ddst_features, dedge_features, dattn_weights, dsm_scores)
    with GatOperands(2, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights)
        operands.backward_inputs(doutput, sm_scores, dropout_mask, dattention)
        shape = (graph.edge_count, operands.width)
        operands.tensor("act_scores", act_scores, shape, operands.data_type)
        gradients_type = operands.gradient_type(gradient_type)
        results = operands.gradients(asked, gradients_type, gradients_type)
        operands.launch_attention(
            raw.cudnnGnnMhaGatV2Backward,
            gradOut="doutput",
            gradWeights="dattn_weights",
            gradType=gradients_type,
            **operands.workspaces(deterministic, gradients_type, gradients_type),
        )
    return GnnMhaGatGradients(*results)
