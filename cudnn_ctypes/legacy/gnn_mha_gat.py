"""GNN attention: each destination weighs its sources' features. GAT and GATv2.

These functions of cuDNN 9.28 and later take a stream instead of a handle; an older library gives a
``SymbolNotFoundError`` that names both versions. They need a GPU of compute capability 8.0.
Operands are dense tensors; results are allocated where none are given. The formulas stand in
``cudnn_ctypes.reference.gnn_mha_gat``.

cuDNN compiles the kernels on the first call for a type in a process: with 9.28 beside an H200 1 s
for float32, and half a minute to a minute for float16 and bfloat16.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from .gnn_csc_graph import GnnCscGraph
from .gnn_mha_gat_operands import GatOperands, GnnMhaParams
from .launch import launched

__all__ = [
    "GnnMhaGatResult",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_forward",
]


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
