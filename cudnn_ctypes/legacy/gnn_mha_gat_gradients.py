"""The gradients of GNN attention."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import raw
from .gnn_csc_graph import GnnCscGraph
from .gnn_mha_gat_operands import GatOperands, GnnMhaParams
from .launch import launched

__all__ = ["GnnMhaGatGradients", "gnn_mha_gat_backward", "gnn_mha_gat_v2_backward"]


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
