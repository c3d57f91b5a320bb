"""Attention over the neighbours of each node (GNN): GAT and GATv2.

Each destination weighs its sources, and sums their features by these weights.

Features of a node are those of H heads, one after the other; each head attends on its own. For
edge i from source u to destination v, the logits are

- GAT: act(a_source . x_u + a_destination . x_v + a_edge . e_i), a dot product with the head's part
  of each weight vector, then the activation;
- GATv2: a . act(x_u + x_v + e_i), the activation first.

A softmax over the edges that arrive at v makes coefficients of the logits; dropout multiplies them
by a mask; the output of v is the sum of x_u by these coefficients. The heads' outputs are
concatenated, or averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .gnn_agg_simple import GnnCscGraph

GnnActivation = Literal["linear", "relu", "sigmoid", "tanh", "elu", "scalar", "leaky_relu"]


def activate(z: NDArray[Any], activation: GnnActivation, alpha: float) -> NDArray[Any]:
    """The activation of every element, in the dtype of `z`.

    ==========  ==============================
    activation  formula
    ==========  ==============================
    linear      z
    relu        max(z, 0)
    sigmoid     1 / (1 + exp(-z))
    tanh        tanh(z)
    elu         z if z > 0 else exp(z) - 1
    scalar      alpha * z
    leaky_relu  z if z > 0 else alpha * z
    ==========  ==============================
    """
    factor, zero = z.dtype.type(alpha), z.dtype.type(0)
    result: NDArray[Any]
    match activation:
        case "linear":
            result = z
        case "relu":
            result = np.maximum(z, zero)
        case "sigmoid":
            half = z.dtype.type(0.5)
            result = half + half * np.tanh(half * z)
        case "tanh":
            result = np.tanh(z)
        case "elu":
            result = np.where(z > 0, z, np.expm1(np.minimum(z, zero)))
        case "scalar":
            result = factor * z
        case "leaky_relu":
            result = np.where(z > 0, z, factor * z)
        case _:
            raise ValueError(f"unknown activation {activation!r}")
    return result


def slope(y: NDArray[Any], activation: GnnActivation, alpha: float) -> NDArray[Any]:
    """The activation's derivative where it gave `y`; for leaky_relu alpha must be positive."""
    one, factor = y.dtype.type(1), y.dtype.type(alpha)
    result: NDArray[Any]
    match activation:
        case "linear":
            result = np.ones_like(y)
        case "relu":
            result = (y > 0).astype(y.dtype)
        case "sigmoid":
            result = y * (one - y)
        case "tanh":
            result = one - y * y
        case "elu":
            result = np.where(y > 0, one, y + one)
        case "scalar":
            result = np.full_like(y, factor)
        case "leaky_relu":
            result = np.where(y > 0, one, factor)
        case _:
            raise ValueError(f"unknown activation {activation!r}")
    return result


@dataclass(frozen=True)
class GnnMhaParams:
    """The fields of `cudnnGnnMhaParams_t`.

    `activation_alpha` is for "leaky_relu", where it must be positive, and "scalar".
    """

    num_heads: int = 1
    concat_heads: bool = True
    activation: GnnActivation = "leaky_relu"
    activation_alpha: float = 0.2

    def activate(self, z: NDArray[Any]) -> NDArray[Any]:
        return activate(z, self.activation, self.activation_alpha)

    def slope(self, y: NDArray[Any]) -> NDArray[Any]:
        return slope(y, self.activation, self.activation_alpha)


class GnnMhaGatResult(NamedTuple):
    """The result of the forward pass; edges are in the order of the edge features' rows.

    `output` (destinations, features or features / heads); `sm_scores` (2, heads, edges), the logits
    and the coefficients before dropout; `act_scores` (edges, features), the output of GATv2's
    activation.
    """

    output: NDArray[Any]
    sm_scores: NDArray[Any]
    act_scores: NDArray[Any] | None


def attend(
    graph: GnnCscGraph,
    x_src: NDArray[Any],
    logits: NDArray[Any],
    params: GnnMhaParams,
    mask: NDArray[Any] | None,
    activated: NDArray[Any] | None,
) -> GnnMhaGatResult:
    """Softmax, dropout and sum; `logits` (heads, edges) and `activated` in the edges' order."""
    coefficients = softmax(graph, logits)
    kept = coefficients if mask is None else coefficients * graph.in_edge_order(mask)
    messages = kept.T[:, :, None] * x_src[graph.indices]
    by_head = summed(messages, graph.destinations, graph.destination_count)
    if params.concat_heads:
        output = by_head.reshape(graph.destination_count, -1)
    else:
        output = by_head.mean(axis=1)
    return GnnMhaGatResult(
        output,
        graph.as_stored(np.stack([logits, coefficients])),
        None if activated is None else graph.as_stored(activated.T).T,
    )


def attend_backward(
    graph: GnnCscGraph,
    x_src: NDArray[Any],
    params: GnnMhaParams,
    coefficients: NDArray[Any],
    doutput: NDArray[Any],
    mask: NDArray[Any] | None,
    dattention: NDArray[Any] | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The gradients by x_src, the logits and the coefficients, these in the edges' order.

    With c the coefficients of a destination and dc their gradients, the softmax gives
    dlogits = c * (dc - sum of c * dc).
    """
    if params.concat_heads:
        dby_head: NDArray[Any] = doutput.reshape(graph.destination_count, params.num_heads, -1)
    else:
        dby_head = np.repeat(doutput[:, None] / params.num_heads, params.num_heads, axis=1)
    arriving = dby_head[graph.destinations]  # (edges, heads, features of a head)
    factors = np.ones_like(coefficients) if mask is None else graph.in_edge_order(mask)
    kept = coefficients * factors
    dx_src = summed(kept.T[:, :, None] * arriving, graph.indices, graph.source_count)
    dkept = (arriving * x_src[graph.indices]).sum(axis=2).T
    if dattention is not None:
        dkept = dkept + graph.in_edge_order(dattention)
    dcoefficients = dkept * factors
    weighted = summed((coefficients * dcoefficients).T, graph.destinations, graph.destination_count)
    dlogits = coefficients * (dcoefficients - weighted[graph.destinations].T)
    return dx_src, dlogits, dcoefficients


def softmax(graph: GnnCscGraph, logits: NDArray[Any]) -> NDArray[Any]:
    """Over the edges that arrive at each destination."""
    coefficients = np.empty_like(logits)
    for v in range(graph.destination_count):
        arriving = slice(graph.offsets[v], graph.offsets[v + 1])
        if graph.offsets[v] < graph.offsets[v + 1]:
            exponentials = np.exp(logits[:, arriving] - logits[:, arriving].max(1, keepdims=True))
            coefficients[:, arriving] = exponentials / exponentials.sum(1, keepdims=True)
    return coefficients


def summed(values: NDArray[Any], targets: NDArray[Any], count: int) -> NDArray[Any]:
    """For each of `count` nodes the sum of the values (edges, ...) of the edges it is target of."""
    sums = np.zeros((count, *values.shape[1:]), values.dtype)
    np.add.at(sums, targets, values)
    return sums


def heads(features: NDArray[Any], params: GnnMhaParams) -> NDArray[Any]:
    """(rows, features) as (rows, heads, features of a head)."""
    if features.shape[1] % params.num_heads:
        raise ValueError(f"{features.shape[1]} features are not a multiple of {params.num_heads}")
    return features.reshape(len(features), params.num_heads, -1)


class GnnMhaGatGradients(NamedTuple):
    """Gradients of the operands of the forward pass, and of `sm_scores`, in their shapes."""

    dsrc_features: NDArray[Any]
    ddst_features: NDArray[Any]
    dedge_features: NDArray[Any] | None
    dattn_weights: NDArray[Any]
    dsm_scores: NDArray[Any]


# --- GAT ------------------------------------------------------------------------------------------


def gnn_mha_gat_forward(
    graph: GnnCscGraph,
    src_features: NDArray[Any],
    dst_features: NDArray[Any],
    attn_weights: NDArray[Any],
    edge_features: NDArray[Any] | None = None,
    *,
    params: GnnMhaParams,
    dropout_mask: NDArray[Any] | None = None,
) -> GnnMhaGatResult:
    """`cudnnGnnMhaGatForward`, in the dtype of `src_features`: float32 or float64.

    Parameters
    ----------
    src_features
        (sources, features), features a multiple of the heads.
    dst_features
        (destinations, features).
    attn_weights
        (2 * features + edge features,): for sources, destinations, edges.
    edge_features
        (edges, edge features), these a multiple of the heads.
    dropout_mask
        (heads, edges): 0 or 1 / (1 - p), in the order of the edge features' rows.
    """
    of_src, of_dst, of_edges = _weights_by_kind(src_features, edge_features, attn_weights, params)
    x_src, x_dst = heads(src_features, params), heads(dst_features, params)
    sums = (x_src * of_src).sum(axis=2)[graph.indices]
    sums = sums + (x_dst * of_dst).sum(axis=2)[graph.destinations]
    if edge_features is not None:
        sums = sums + (heads(edge_features, params)[graph.rows] * of_edges).sum(axis=2)
    return attend(graph, x_src, params.activate(sums).T, params, dropout_mask, None)


def gnn_mha_gat_backward(
    graph: GnnCscGraph,
    *,
    doutput: NDArray[Any],
    src_features: NDArray[Any],
    dst_features: NDArray[Any],
    attn_weights: NDArray[Any],
    sm_scores: NDArray[Any],
    edge_features: NDArray[Any] | None = None,
    params: GnnMhaParams,
    dropout_mask: NDArray[Any] | None = None,
    dattention: NDArray[Any] | None = None,
) -> GnnMhaGatGradients:
    """`cudnnGnnMhaGatBackward`.

    Parameters
    ----------
    doutput
        Gradient of the output.
    sm_scores
        The `sm_scores` from `gnn_mha_gat_forward`.
    dattention
        Gradient of the coefficients after dropout, (heads, edges), if they are used elsewhere.
    """
    x_src, x_dst = heads(src_features, params), heads(dst_features, params)
    logits, coefficients = graph.in_edge_order(sm_scores)
    dx_src, dlogits, dcoefficients = attend_backward(
        graph, x_src, params, coefficients, doutput, dropout_mask, dattention
    )
    dsums = dlogits.T * params.slope(logits.T)  # (edges, heads)
    of_src, of_dst, of_edges = _weights_by_kind(src_features, edge_features, attn_weights, params)
    dsums_src = summed(dsums, graph.indices, graph.source_count)[:, :, None]
    dsums_dst = summed(dsums, graph.destinations, graph.destination_count)[:, :, None]
    dweights = [(dsums_src * x_src).sum(axis=0).ravel(), (dsums_dst * x_dst).sum(axis=0).ravel()]
    dedge_features = None
    if edge_features is not None:
        of_rows = graph.as_stored(dsums.T).T[:, :, None]  # (rows, heads, 1)
        dedge_features = (of_rows * of_edges).reshape(edge_features.shape)
        dweights.append((of_rows * heads(edge_features, params)).sum(axis=0).ravel())
    return GnnMhaGatGradients(
        (dx_src + dsums_src * of_src).reshape(src_features.shape),
        (dsums_dst * of_dst).reshape(dst_features.shape),
        dedge_features,
        np.concatenate(dweights),
        graph.as_stored(np.stack([dlogits, dcoefficients])),
    )


# --- GATv2 ----------------------------------------------------------------------------------------


def gnn_mha_gat_v2_forward(
    graph: GnnCscGraph,
    src_features: NDArray[Any],
    dst_features: NDArray[Any],
    attn_weights: NDArray[Any],
    edge_features: NDArray[Any] | None = None,
    *,
    params: GnnMhaParams,
    dropout_mask: NDArray[Any] | None = None,
) -> GnnMhaGatResult:
    """`cudnnGnnMhaGatV2Forward`.

    `attn_weights` is (features,), `edge_features` (edges, features) or None; the others are those
    of `gnn_mha_gat_forward`.
    """
    sums = src_features[graph.indices] + dst_features[graph.destinations]
    if edge_features is not None:
        sums = sums + edge_features[graph.rows]
    activated = params.activate(sums)
    by_head = attn_weights.reshape(params.num_heads, -1)
    logits = (heads(activated, params) * by_head).sum(axis=2)
    return attend(graph, heads(src_features, params), logits.T, params, dropout_mask, activated)


def gnn_mha_gat_v2_backward(
    graph: GnnCscGraph,
    *,
    doutput: NDArray[Any],
    src_features: NDArray[Any],
    dst_features: NDArray[Any],
    attn_weights: NDArray[Any],
    sm_scores: NDArray[Any],
    act_scores: NDArray[Any],
    edge_features: NDArray[Any] | None = None,
    params: GnnMhaParams,
    dropout_mask: NDArray[Any] | None = None,
    dattention: NDArray[Any] | None = None,
) -> GnnMhaGatGradients:
    """`cudnnGnnMhaGatV2Backward`.

    `sm_scores` and `act_scores` are those of `gnn_mha_gat_v2_forward`, the other parameters those
    of `gnn_mha_gat_backward`. `dst_features` decides only its gradient's shape.
    """
    coefficients = graph.in_edge_order(sm_scores[1])
    dx_src, dlogits, dcoefficients = attend_backward(
        graph,
        heads(src_features, params),
        params,
        coefficients,
        doutput,
        dropout_mask,
        dattention,
    )
    activated = graph.in_edge_order(act_scores.T).T
    by_head = attn_weights.reshape(params.num_heads, -1)
    dactivated = (dlogits.T[:, :, None] * by_head).reshape(activated.shape)
    dsums = dactivated * params.slope(activated)
    dsrc = dx_src.reshape(src_features.shape) + summed(dsums, graph.indices, graph.source_count)
    return GnnMhaGatGradients(
        dsrc,
        summed(dsums, graph.destinations, graph.destination_count),
        None if edge_features is None else graph.as_stored(dsums.T).T,
        (dlogits.T[:, :, None] * heads(activated, params)).sum(axis=0).ravel(),
        graph.as_stored(np.stack([dlogits, dcoefficients])),
    )


def _weights_by_kind(
    src_features: NDArray[Any],
    edge_features: NDArray[Any] | None,
    attn_weights: NDArray[Any],
    params: GnnMhaParams,
) -> list[NDArray[Any]]:
    """GAT's weights for sources, destinations and edges, each (heads, features of a head)."""
    size = src_features.shape[1]
    shape = (2 * size + (0 if edge_features is None else edge_features.shape[1]),)
    if attn_weights.shape != shape:
        raise ValueError(f"attn_weights must have shape {shape}, got {attn_weights.shape}")
    parts = np.split(attn_weights, [size, 2 * size])
    return [part.reshape(params.num_heads, -1) for part in parts]
