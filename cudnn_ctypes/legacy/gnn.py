"""Functions on graphs: the features of neighbours aggregated, and attention (GAT and GATv2).

They take a stream instead of a handle. An older library than cuDNN 9.26 (aggregation) or 9.28
(attention) gives a ``SymbolNotFoundError`` that names both versions. They need a GPU of compute
capability 8.0. Operands are dense tensors; results are allocated where none are given. The formulas
stand in ``cudnn_ctypes.reference.gnn``.

cuDNN compiles the kernels of attention on the first call for a type in a process: with 9.28 beside
an H200 1 s for float32, and half a minute to a minute for float16 and bfloat16.
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
from ..runtime.launching.plan import Memory
from .dense_operands import DenseOperands
from .documentation import launched
from .gnn_csc_graph import GnnCscGraph
from .operands import real

# --- aggregation ---------------------------------------------------------------------------------


class GnnAggSimpleResult(NamedTuple):
    """`output` (destinations, features), and for max and min `out_positions`, else None."""

    output: Any
    out_positions: Any


class GnnAggSimpleGradients(NamedTuple):
    """Gradients of the features of nodes, of edges, and of concatenated ones; None if absent."""

    dnode_features: Any
    dedge_features: Any
    dconcat_features: Any


@launched
def gnn_agg_simple_forward(
    graph: GnnCscGraph,
    node_features: Any = None,
    edge_features: Any = None,
    concat_features: Any = None,
    output: Any = None,
    out_positions: Any = None,
    *,
    operation: Any = "sum",
    stream: Any = None,
) -> GnnAggSimpleResult:
    """For each destination its sources' features and its edges', aggregated, and its own.

    Follows ``cudnnGnnAggSimpleForward``.

    Parameters
    ----------
    graph : GnnCscGraph
    node_features : tensor, optional
        (sources, features); float32, float16 or bfloat16. `node_features` or `edge_features` must
        be given.
    edge_features : tensor, optional
        (edges, features).
    concat_features : tensor, optional
        (destinations, features); appended to the output as they are.
    output : tensor, optional
        (destinations, features of nodes + edges + concatenated). Default: allocated.
    out_positions : tensor, optional
        (destinations, features of nodes + edges), of the graph's index type: where max and min
        come from, for the backward pass. Default: allocated.
    operation : cudnnGnnAggOp_t or str
        "sum", "mean", "max" or "min".

    Raises
    ------
    NotSupportedError
        If the GPU is too old, or the type is not supported.
    SymbolNotFoundError
        If the loaded library is older than cuDNN 9.26.

    Examples
    --------
    >>> features = DeviceTensor.from_numpy(np.array([[1, 2], [3, 4], [5, 6]], "float32"))
    >>> graph = GnnCscGraph.from_edges([0, 1, 2], [0, 0, 1])
    >>> gnn_agg_simple_forward(graph, features).output.numpy()
    array([[4., 6.],
           [5., 6.]], dtype=float32)
    """
    expect("graph", graph, GnnCscGraph)
    agg_op = enumerator(raw.cudnnGnnAggOp_t, operation, "operation")
    features = {
        "node_features": node_features,
        "edge_features": edge_features,
        "concat_features": concat_features,
    }
    if node_features is None and edge_features is None:
        raise ValueError("node_features: expected a tensor, or edge_features")
    with _operands(raw.cudnnGnnAggSimpleForward, graph, agg_op, stream) as operands:
        for name, size in zip(features, _SIZES, strict=True):
            if features[name] is None:
                operands.absent(name)
                operands.known[size] = 0
            else:
                operands.tensor(name, features[name])
        output = operands.result("output", output)
        if _has_positions(operands, agg_op, out_positions):
            out_positions = operands.result("out_positions", out_positions)
        operands.launch(graph=Memory("graph", graph))
    return GnnAggSimpleResult(output, out_positions)


@launched
def gnn_agg_simple_backward(
    graph: GnnCscGraph,
    *,
    doutput: Any,
    out_positions: Any = None,
    dnode_features: Any = None,
    dedge_features: Any = None,
    dconcat_features: Any = None,
    node_feat_dim: int = 0,
    edge_feat_dim: int = 0,
    operation: Any = "sum",
    stream: Any = None,
) -> GnnAggSimpleGradients:
    """The gradients of the operands of `gnn_agg_simple_forward`.

    Follows ``cudnnGnnAggSimpleBackward``.

    Parameters
    ----------
    doutput : tensor
        Gradient of the output.
    out_positions : tensor, optional
        As the forward pass gave them; needed for max and min.
    dnode_features, dedge_features : tensor, optional
        The gradients are added to what they hold, by atomic additions in no fixed order. Default:
        allocated, of zeros.
    dconcat_features : tensor, optional
        Default: allocated.
    node_feat_dim, edge_feat_dim : int
        How many columns of the output come from nodes, and from edges; the others were
        concatenated.

    The other parameters, and the errors, are those of `gnn_agg_simple_forward`.

    Examples
    --------
    >>> graph = GnnCscGraph.from_edges([0, 1, 2], [0, 0, 1])
    >>> doutput = DeviceTensor.from_numpy(np.array([[1], [2]], "float32"))
    >>> gradients = gnn_agg_simple_backward(graph, doutput=doutput, node_feat_dim=1)
    >>> gradients.dnode_features.numpy().ravel()
    array([1., 1., 2.], dtype=float32)
    """
    expect("graph", graph, GnnCscGraph)
    agg_op = enumerator(raw.cudnnGnnAggOp_t, operation, "operation")
    asked = {
        "dnode_features": dnode_features,
        "dedge_features": dedge_features,
        "dconcat_features": dconcat_features,
    }
    with _operands(raw.cudnnGnnAggSimpleBackward, graph, agg_op, stream) as operands:
        gradient = operands.imported("doutput", doutput)
        rows, aggregated = graph.destination_count, node_feat_dim + edge_feat_dim
        if gradient.ndim != 2 or gradient.shape[1] < aggregated:
            raise ValueError(
                f"doutput: expected ({rows}, {aggregated} or more), got {gradient.shape}"
            )
        sizes = (node_feat_dim, edge_feat_dim, gradient.shape[1] - aggregated)
        operands.known |= zip(_SIZES, sizes, strict=True)
        operands.tensor("doutput", gradient)
        if _has_positions(operands, agg_op, out_positions):
            if out_positions is None:
                raise ValueError(f"out_positions: needed for {operation!r}")
            operands.tensor("out_positions", out_positions)
        results: list[Any] = []
        for (name, value), size in zip(asked.items(), sizes, strict=True):
            if size == 0 and value is not None:
                raise ValueError(f"{name}: given, but it has no features")
            operands.absent(name)
            results.append(operands.result(name, value, zeros=True) if size else None)
        operands.launch(graph=Memory("graph", graph))
    return GnnAggSimpleGradients(*results)


_SIZES = ("nodeFeatDim", "edgeFeatDim", "concatFeatDim")


def _operands(
    function: Any, graph: GnnCscGraph, agg_op: raw.cudnnGnnAggOp_t, stream: Any
) -> DenseOperands:
    return DenseOperands(stream, function, graph=graph._struct.contents, aggOp=agg_op)


def _has_positions(
    operands: DenseOperands, agg_op: raw.cudnnGnnAggOp_t, out_positions: Any
) -> bool:
    """Whether the operation says where its results come from."""
    if agg_op in (raw.CUDNN_GNN_AGG_MAX, raw.CUDNN_GNN_AGG_MIN):
        return True
    if out_positions is not None:
        raise ValueError("out_positions: only for max and min")
    operands.absent("out_positions")
    return False


# --- attention -----------------------------------------------------------------------------------


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


class _GatOperands(DenseOperands):
    """The operands of one call of GAT or GATv2; in GAT edges have features of their own number."""

    def __init__(
        self,
        function: Callable[..., Any],
        graph: GnnCscGraph,
        params: GnnMhaParams | None,
        stream: Any,
    ) -> None:
        self.graph: GnnCscGraph = expect("graph", graph, GnnCscGraph)
        self.params: GnnMhaParams = expect("params", params or GnnMhaParams(), GnnMhaParams)
        known = {"graph": graph._struct.contents, "params": self.params._as_parameter_.contents}
        names = {"doutput": "gradOut", "dattn_weights": "gradWeights"}
        super().__init__(stream, function, names, **known)

    def inputs(
        self,
        src_features: Any,
        dst_features: Any,
        edge_features: Any,
        attn_weights: Any,
        dropout_mask: Any,
    ) -> None:
        """Take the features, the weights and the mask."""
        graph = self.graph
        self.tensor("src_features", src_features)
        self._check_heads("src_features", self.known["dimNode"])
        self.one_set: bool = dst_features is None
        if not self.one_set:
            self.tensor("dst_features", dst_features)
        elif graph.destination_count > graph.source_count:
            raise ValueError(
                f"dst_features: needed, as {graph.source_count} sources cannot be "
                f"{graph.destination_count} destinations"
            )
        self.with_edges: bool = self.optional("edge_features", edge_features) is not None
        self._check_heads("edge_features", self.known.setdefault("dimEdge", 0))
        self.tensor("attn_weights", attn_weights)
        self.optional("dropout_mask", dropout_mask)

    def _check_heads(self, name: str, features: int) -> None:
        heads = self.params.num_heads
        if heads < 1 or features % heads:
            raise ValueError(f"{name}: {features} features are not a multiple of {heads} heads")

    def types(self, **asked: Any) -> None:
        """Types of gradients, by C's names; by default that of the features."""
        for name, data_type in asked.items():
            like = self.known["dataType"]
            self.known[name] = like if data_type is None else as_data_type(data_type)

    def gradients(self, *asked: Any) -> tuple[DeviceTensor | None, ...]:
        """The gradients of sources, destinations, edges, weights and scores; `asked`: as given."""
        reasons = {
            "dsrc_features": "",
            "ddst_features": "dst_features is not" if self.one_set else "",
            "dedge_features": "" if self.with_edges else "edge_features are not",
            "dattn_weights": "",
            "dsm_scores": "",
        }
        results: list[Any] = []
        for (name, reason), value in zip(reasons.items(), asked, strict=True):
            if reason and value is not None:
                raise ValueError(f"{name}: given, but {reason}")
            self.absent(name)
            results.append(None if reason else self.result(name, value))
        return tuple(results)

    def workspaces(self, deterministic: bool) -> None:
        """Take memory for sums in a fixed order; none for atomic additions."""
        spaces = ("dwspace_feat", "dwspace_weights")
        if deterministic and not self.graph.reversible:
            raise ValueError(
                "graph: a deterministic backward pass needs reversed_offsets and reversed_rows"
            )
        self.absent(*spaces)
        for name in spaces if deterministic else ():
            self.temporary(name)

    def launch_attention(self, **arguments: Any) -> None:
        """Launch the C function with these operands."""
        if self.one_set:
            arguments["dstFeatures"] = "src_features"
            if self.function.__name__.endswith("Backward"):
                arguments["gradDstFeatures"] = "dsrc_features"
        self.launch(graph=Memory("graph", self.graph), params=self.params, **arguments)


class GnnMhaGatResult(NamedTuple):
    """Result of the forward pass; edges in the order of the rows of `edge_features`.

    `output` (destinations, features, or those of one head if averaged); `sm_scores`, float32
    (2, heads, edges): the logits, and the coefficients before dropout; `act_scores` (edges,
    features), the output of GATv2's activation, None for GAT.
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

    Raises
    ------
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
    with _GatOperands(raw.cudnnGnnMhaGatForward, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights, dropout_mask)
        results = {"output": output, "sm_scores": sm_scores}
        made = [operands.result(name, value) for name, value in results.items()]
        operands.launch_attention()
    return GnnMhaGatResult(*made)


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
    with _GatOperands(raw.cudnnGnnMhaGatV2Forward, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights, dropout_mask)
        results = {"output": output, "sm_scores": sm_scores, "act_scores": act_scores}
        made = [operands.result(name, value) for name, value in results.items()]
        operands.launch_attention()
    return GnnMhaGatResult(*made)


class GnnMhaGatGradients(NamedTuple):
    """Gradients of the features, of the weights, and of `sm_scores`.

    `ddst_features` is None where sources and destinations are the same nodes: `dsrc_features` then
    holds both gradients together. `dedge_features` is None without edge features.
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
    with _GatOperands(raw.cudnnGnnMhaGatBackward, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights, dropout_mask)
        operands.tensors(doutput=doutput, sm_scores=sm_scores)
        operands.optional("dattention", dattention)
        operands.types(gradDataType=gradient_type, gradWeightType=weight_gradient_type)
        results = operands.gradients(
            dsrc_features, ddst_features, dedge_features, dattn_weights, dsm_scores
        )
        operands.workspaces(deterministic)
        operands.launch_attention()
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
    with _GatOperands(raw.cudnnGnnMhaGatV2Backward, graph, params, stream) as operands:
        operands.inputs(src_features, dst_features, edge_features, attn_weights, dropout_mask)
        operands.tensors(doutput=doutput, sm_scores=sm_scores, act_scores=act_scores)
        operands.optional("dattention", dattention)
        operands.types(gradType=gradient_type)
        results = operands.gradients(
            dsrc_features, ddst_features, dedge_features, dattn_weights, dsm_scores
        )
        operands.workspaces(deterministic)
        operands.launch_attention()
    return GnnMhaGatGradients(*results)
