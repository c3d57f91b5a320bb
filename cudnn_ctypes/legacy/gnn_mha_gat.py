"""GNN attention: each destination weighs its sources' features. GAT and GATv2.

These functions of cuDNN 9.28 and later take a stream instead of a handle; an older library gives a
``SymbolNotFoundError`` that names both versions. They need a GPU of compute capability 8.0.
Operands are dense tensors; results are made where none are given. The formulas stand in
``cudnn_ctypes.reference.gnn_mha_gat``.

cuDNN compiles the kernels on the first call for a type in a process: with 9.28 beside an H200 1 s
for float32, and half a minute to a minute for float16 and bfloat16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import raw
from .dense_operands import as_given
from .gnn_csc_graph import GnnCscGraph
from .gnn_mha_gat_call import AttentionCall, GnnMhaParams

__all__ = [
    "GnnMhaGatResult",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_forward",
]


class GnnMhaGatResult(NamedTuple):
    """What the forward pass gives; edges as edge features stand.

    `output` (destinations, features, or those of one head if averaged); `scores`, float32
    (2, heads, edges): the logits, and the coefficients before dropout; `activated` (edges,
    features), of GATv2 only.
    """

    output: Any
    scores: Any
    activated: Any = None


def gnn_mha_gat_forward(
    graph: GnnCscGraph,
    source: Any,
    destination: Any,
    weights: Any,
    edges: Any = None,
    output: Any = None,
    scores: Any = None,
    *,
    options: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    stream: Any = None,
) -> GnnMhaGatResult:
    """GAT: the activation of a weighted sum, then a softmax; follows ``cudnnGnnMhaGatForward``.

    Parameters
    ----------
    graph : GnnCscGraph
    source : tensor
        (sources, features), features a multiple of the heads; float32, float16 or bfloat16.
    destination : tensor or None
        (destinations, features). None: the first of the sources are the destinations.
    weights : tensor
        (2 * features + edge features,): for sources, destinations and edges.
    edges : tensor, optional
        (edges, edge features), these a multiple of the heads.
    output, scores : tensor, optional
        Left out: made.
    options : GnnMhaParams, optional
    dropout_mask : tensor, optional
        (heads, edges), float32: 0 where a coefficient is dropped, else 1 / (1 - p).
    stream : stream, optional
        Left out: the legacy default stream.

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
    """
    with AttentionCall(1, graph, source, destination, edges, weights, options, stream) as call:
        result, both = call.forward_results(output, scores)
        mask = call.per_head("dropout_mask", dropout_mask)
        launch: Callable[..., object] = raw.cudnnGnnMhaGatForward
        launch(
            stream, graph, *call.given, mask, result, both, *call.dims, call.options, call.data_type
        )
    return GnnMhaGatResult(*as_given((output, scores), (result, both)))


def gnn_mha_gat_v2_forward(
    graph: GnnCscGraph,
    source: Any,
    destination: Any,
    weights: Any,
    edges: Any = None,
    output: Any = None,
    scores: Any = None,
    activated: Any = None,
    *,
    options: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    stream: Any = None,
) -> GnnMhaGatResult:
    """GATv2: the activation first, then the weighted sum; follows ``cudnnGnnMhaGatV2Forward``.

    Parameters
    ----------
    weights : tensor
        (features,).
    edges : tensor, optional
        (edges, features).
    activated : tensor, optional
        Left out: made.

    The other parameters, and the errors, are those of `gnn_mha_gat_forward`.
    """
    with AttentionCall(2, graph, source, destination, edges, weights, options, stream) as call:
        result, both = call.forward_results(output, scores)
        mask = call.per_head("dropout_mask", dropout_mask)
        shape = (graph.edge_count, call.features)
        acts = call.operands.result("activated", activated, shape, call.data_type)
        launch: Callable[..., object] = raw.cudnnGnnMhaGatV2Forward
        launch(
            stream,
            graph,
            *call.given,
            mask,
            result,
            both,
            acts,
            *call.dims,
            call.options,
            call.data_type,
        )
    return GnnMhaGatResult(*as_given((output, scores, activated), (result, both, acts)))
