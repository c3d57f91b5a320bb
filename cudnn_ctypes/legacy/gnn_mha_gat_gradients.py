"""The gradients of GNN attention."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import raw
from ..dtypes import as_data_type
from .dense_operands import as_given
from .gnn_csc_graph import GnnCscGraph
from .gnn_mha_gat_call import AttentionCall, GnnMhaParams

__all__ = ["GnnMhaGatGradients", "gnn_mha_gat_backward", "gnn_mha_gat_v2_backward"]


class GnnMhaGatGradients(NamedTuple):
    """Gradients of what goes in, and of `scores`.

    `ddestination` is None where sources and destinations are the same nodes: `dsource` then holds
    both gradients together. `dedges` is None without edge features.
    """

    dsource: Any
    ddestination: Any
    dedges: Any
    dweights: Any
    dscores: Any


def gnn_mha_gat_backward(
    graph: GnnCscGraph,
    doutput: Any,
    source: Any,
    destination: Any,
    weights: Any,
    scores: Any,
    edges: Any = None,
    dsource: Any = None,
    ddestination: Any = None,
    dedges: Any = None,
    dweights: Any = None,
    dscores: Any = None,
    *,
    options: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    dattention: Any = None,
    deterministic: bool = False,
    gradient_type: Any = None,
    weight_gradient_type: Any = None,
    stream: Any = None,
) -> GnnMhaGatGradients:
    """The gradients of what `gnn_mha_gat_forward` takes; follows ``cudnnGnnMhaGatBackward``.

    Parameters
    ----------
    doutput : tensor
        Gradient of the output.
    scores : tensor
        As the forward pass gave them.
    dsource, ddestination, dedges, dweights, dscores : tensor, optional
        Left out: made.
    dattention : tensor, optional
        (heads, edges), float32: gradient of the coefficients after dropout, if they are used too.
    deterministic : bool
        Whether sums have a fixed order. It takes memory, and a graph that holds its reverse.
    gradient_type, weight_gradient_type : data type, optional
        Of the gradients of features, and of weights: the type of `source` (the default), or
        float32.

    The other parameters, and the errors, are those of `gnn_mha_gat_forward`.
    """
    with AttentionCall(1, graph, source, destination, edges, weights, options, stream) as call:
        feature_type = call.data_type if gradient_type is None else as_data_type(gradient_type)
        weight_type = (
            call.data_type if weight_gradient_type is None else as_data_type(weight_gradient_type)
        )
        doutput_memory = call.operands.tensor("doutput", doutput, call.output_shape, call.data_type)
        saved = call.operands.tensor("scores", scores, call.scores_shape, raw.CUDNN_DATA_FLOAT)
        asked = (dsource, ddestination, dedges, dweights, dscores)
        results = call.gradient_results(*asked, feature_type, weight_type)
        launch: Callable[..., object] = raw.cudnnGnnMhaGatBackward
        launch(
            stream,
            graph,
            doutput_memory,
            *call.given,
            saved,
            call.per_head("dropout_mask", dropout_mask),
            call.per_head("dattention", dattention),
            *results,
            *call.workspaces(deterministic, feature_type, weight_type),
            *call.dims,
            call.options,
            call.data_type,
            feature_type,
            weight_type,
        )
    return _gradients(call, asked, results)


def gnn_mha_gat_v2_backward(
    graph: GnnCscGraph,
    doutput: Any,
    source: Any,
    destination: Any,
    weights: Any,
    scores: Any,
    activated: Any,
    edges: Any = None,
    dsource: Any = None,
    ddestination: Any = None,
    dedges: Any = None,
    dweights: Any = None,
    dscores: Any = None,
    *,
    options: GnnMhaParams | None = None,
    dropout_mask: Any = None,
    dattention: Any = None,
    deterministic: bool = False,
    gradient_type: Any = None,
    stream: Any = None,
) -> GnnMhaGatGradients:
    """The gradients of what `gnn_mha_gat_v2_forward` takes; follows ``cudnnGnnMhaGatV2Backward``.

    Parameters
    ----------
    scores, activated : tensor
        As the forward pass gave them.
    gradient_type : data type, optional
        Of all gradients: the type of `source` (the default), or float32.

    The other parameters, and the errors, are those of `gnn_mha_gat_backward`.
    """
    with AttentionCall(2, graph, source, destination, edges, weights, options, stream) as call:
        kind = call.data_type if gradient_type is None else as_data_type(gradient_type)
        doutput_memory = call.operands.tensor("doutput", doutput, call.output_shape, call.data_type)
        saved = call.operands.tensor("scores", scores, call.scores_shape, raw.CUDNN_DATA_FLOAT)
        shape = (graph.edge_count, call.features)
        acts = call.operands.tensor("activated", activated, shape, call.data_type)
        asked = (dsource, ddestination, dedges, dweights, dscores)
        results = call.gradient_results(*asked, kind, kind)
        launch: Callable[..., object] = raw.cudnnGnnMhaGatV2Backward
        launch(
            stream,
            graph,
            doutput_memory,
            *call.given,
            saved,
            acts,
            call.per_head("dropout_mask", dropout_mask),
            call.per_head("dattention", dattention),
            *results,
            *call.workspaces(deterministic, kind, kind),
            *call.dims,
            call.options,
            call.data_type,
            kind,
        )
    return _gradients(call, asked, results)


def _gradients(
    call: AttentionCall, asked: tuple[Any, ...], results: tuple[Any, ...]
) -> GnnMhaGatGradients:
    made = GnnMhaGatGradients(*as_given(asked, results))
    return made._replace(ddestination=None) if call.one_set else made
