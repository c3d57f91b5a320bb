"""GNN aggregation of features over the neighbours of each node.

These functions of cuDNN 9.26 and later take a stream instead of a handle; an older library gives a
``SymbolNotFoundError`` that names both versions. They need a GPU of compute capability 8.0.
Operands are dense tensors; results are allocated where none are given.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from ..arguments import enumerator, expect
from ..runtime.launching.recording import Memory
from .dense_operands import DenseOperands
from .documentation import launched
from .gnn_csc_graph import GnnCscGraph


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
            elif not operands.tensor(name, features[name]).shape[1]:
                raise ValueError(f"{name}: expected features, got none")
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
