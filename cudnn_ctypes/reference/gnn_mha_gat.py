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
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .gnn_activations import GnnActivation, activate, slope
from .gnn_agg_simple import GnnCscGraph

__all__ = [
    "GnnMhaGatGradients",
    "GnnMhaGatResult",
    "GnnMhaParams",
    "gnn_mha_gat_backward",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_backward",
    "gnn_mha_gat_v2_forward",
]


@dataclass(frozen=True)
class GnnMhaParams:
    """What `cudnnGnnMhaParams_t` holds; `alpha` is for "leaky_relu" (> 0) and "scalar"."""

    heads: int = 1
    concatenated: bool = True
    activation: GnnActivation = "leaky_relu"
    alpha: float = 0.2


class GnnMhaGatResult(NamedTuple):
    """What the forward pass gives; edges as the graph's edge features are stored.

    `output` (destinations, features or features / heads); `logits` and `coefficients`, before
    dropout, (heads, edges); `activated` (edges, features), what GATv2's activation gave.
    """

    output: NDArray[Any]
    logits: NDArray[Any]
    coefficients: NDArray[Any]
    activated: NDArray[Any] | None


class GnnMhaGatGradients(NamedTuple):
    """Gradients, each of the shape of what it is a gradient of; `dedges` None without edges."""

    dsource: NDArray[Any]
    ddestination: NDArray[Any]
    dedges: NDArray[Any] | None
    dweights: NDArray[Any]
    dlogits: NDArray[Any]
    dcoefficients: NDArray[Any]


# --- GAT ------------------------------------------------------------------------------------------


def gnn_mha_gat_forward(
    graph: GnnCscGraph,
    source: NDArray[Any],
    destination: NDArray[Any],
    edges: NDArray[Any] | None,
    weights: NDArray[Any],
    options: GnnMhaParams,
    mask: NDArray[Any] | None = None,
) -> GnnMhaGatResult:
    """`cudnnGnnMhaGatForward`, in the dtype of `source`: float32 or float64.

    Parameters
    ----------
    source
        (sources, features), features a multiple of the heads.
    destination
        (destinations, features).
    edges
        (edges, edge features), these a multiple of the heads; or None.
    weights
        (2 * features + edge features,): for sources, destinations, edges.
    mask
        (heads, edges): 0 or 1 / (1 - p), stored as edge features are.
    """
    of_source, of_destination, of_edges = _weights_by_kind(source, edges, weights, options.heads)
    x_source, x_destination = _heads(source, options), _heads(destination, options)
    sums = (x_source * of_source).sum(axis=2)[graph.indices]
    sums = sums + (x_destination * of_destination).sum(axis=2)[graph.destinations]
    if edges is not None:
        sums = sums + (_heads(edges, options)[graph.rows] * of_edges).sum(axis=2)
    logits = activate(sums, options.activation, options.alpha)
    return _attend(graph, x_source, logits.T, options, mask, None)


def gnn_mha_gat_backward(
    graph: GnnCscGraph,
    source: NDArray[Any],
    destination: NDArray[Any],
    edges: NDArray[Any] | None,
    weights: NDArray[Any],
    options: GnnMhaParams,
    forward: GnnMhaGatResult,
    doutput: NDArray[Any],
    mask: NDArray[Any] | None = None,
    dattention: NDArray[Any] | None = None,
) -> GnnMhaGatGradients:
    """`cudnnGnnMhaGatBackward`.

    Parameters
    ----------
    forward
        What `gnn_mha_gat_forward` gave; its logits and coefficients are used.
    doutput
        Gradient of the output.
    dattention
        Gradient of the coefficients after dropout, (heads, edges), if they are used elsewhere.
    """
    x_source, x_destination = _heads(source, options), _heads(destination, options)
    dx_source, dlogits, dcoefficients = _attend_backward(
        graph, x_source, options, forward, doutput, mask, dattention
    )
    logits = graph.in_edge_order(forward.logits).T
    dsums = dlogits.T * slope(logits, options.activation, options.alpha)  # (edges, heads)
    of_source, of_destination, of_edges = _weights_by_kind(source, edges, weights, options.heads)
    dsums_source = _summed(dsums, graph.indices, graph.source_count)
    dsums_destination = _summed(dsums, graph.destinations, graph.destination_count)
    dx_source = dx_source + dsums_source[:, :, None] * of_source
    dx_destination = dsums_destination[:, :, None] * of_destination
    dweights = [
        (dsums_source[:, :, None] * x_source).sum(axis=0).ravel(),
        (dsums_destination[:, :, None] * x_destination).sum(axis=0).ravel(),
    ]
    dedges = None
    if edges is not None:
        of_rows = graph.as_stored(dsums.T).T  # (rows, heads)
        dedges = (of_rows[:, :, None] * of_edges).reshape(edges.shape)
        dweights.append((of_rows[:, :, None] * _heads(edges, options)).sum(axis=0).ravel())
    return GnnMhaGatGradients(
        dx_source.reshape(source.shape),
        dx_destination.reshape(destination.shape),
        dedges,
        np.concatenate(dweights),
        graph.as_stored(dlogits),
        graph.as_stored(dcoefficients),
    )


# --- GATv2 ----------------------------------------------------------------------------------------


def gnn_mha_gat_v2_forward(
    graph: GnnCscGraph,
    source: NDArray[Any],
    destination: NDArray[Any],
    edges: NDArray[Any] | None,
    weights: NDArray[Any],
    options: GnnMhaParams,
    mask: NDArray[Any] | None = None,
) -> GnnMhaGatResult:
    """`cudnnGnnMhaGatV2Forward`.

    `edges` is (edges, features) or None, `weights` (features,); the others are those of
    `gnn_mha_gat_forward`.
    """
    sums = source[graph.indices] + destination[graph.destinations]
    if edges is not None:
        sums = sums + edges[graph.rows]
    activated = activate(sums, options.activation, options.alpha)
    logits = (_heads(activated, options) * weights.reshape(options.heads, -1)).sum(axis=2)
    return _attend(graph, _heads(source, options), logits.T, options, mask, activated)


def gnn_mha_gat_v2_backward(
    graph: GnnCscGraph,
    source: NDArray[Any],
    destination: NDArray[Any],
    edges: NDArray[Any] | None,
    weights: NDArray[Any],
    options: GnnMhaParams,
    forward: GnnMhaGatResult,
    doutput: NDArray[Any],
    mask: NDArray[Any] | None = None,
    dattention: NDArray[Any] | None = None,
) -> GnnMhaGatGradients:
    """`cudnnGnnMhaGatV2Backward`; `forward` gives coefficients and what the activation gave.

    The parameters are those of `gnn_mha_gat_backward` and `gnn_mha_gat_v2_forward`.
    """
    if forward.activated is None:
        raise ValueError("forward must come from gnn_mha_gat_v2_forward")
    dx_source, dlogits, dcoefficients = _attend_backward(
        graph, _heads(source, options), options, forward, doutput, mask, dattention
    )
    activated = graph.in_edge_order(forward.activated.T).T
    by_head = weights.reshape(options.heads, -1)
    dactivated = (dlogits.T[:, :, None] * by_head).reshape(activated.shape)
    dsums = dactivated * slope(activated, options.activation, options.alpha)
    dsource = dx_source.reshape(source.shape) + _summed(dsums, graph.indices, graph.source_count)
    ddestination = _summed(dsums, graph.destinations, graph.destination_count)
    dweights = (dlogits.T[:, :, None] * _heads(activated, options)).sum(axis=0).ravel()
    return GnnMhaGatGradients(
        dsource,
        ddestination,
        None if edges is None else graph.as_stored(dsums.T).T,
        dweights,
        graph.as_stored(dlogits),
        graph.as_stored(dcoefficients),
    )


# --- what both have in common ---------------------------------------------------------------------


def _attend(
    graph: GnnCscGraph,
    x_source: NDArray[Any],
    logits: NDArray[Any],
    options: GnnMhaParams,
    mask: NDArray[Any] | None,
    activated: NDArray[Any] | None,
) -> GnnMhaGatResult:
    """Softmax, dropout and sum; `logits` (heads, edges) and `activated` in the edges' order."""
    coefficients = _softmax(graph, logits)
    kept = coefficients if mask is None else coefficients * graph.in_edge_order(mask)
    messages = kept.T[:, :, None] * x_source[graph.indices]
    by_head = _summed(messages, graph.destinations, graph.destination_count)
    if options.concatenated:
        output = by_head.reshape(graph.destination_count, -1)
    else:
        output = by_head.mean(axis=1)
    return GnnMhaGatResult(
        output,
        graph.as_stored(logits),
        graph.as_stored(coefficients),
        None if activated is None else graph.as_stored(activated.T).T,
    )


def _attend_backward(
    graph: GnnCscGraph,
    x_source: NDArray[Any],
    options: GnnMhaParams,
    forward: GnnMhaGatResult,
    doutput: NDArray[Any],
    mask: NDArray[Any] | None,
    dattention: NDArray[Any] | None,
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """The gradients by x_source, the logits and the coefficients, these in the edges' order.

    With c the coefficients of a destination and dc their gradients, the softmax gives
    dlogits = c * (dc - sum of c * dc).
    """
    if options.concatenated:
        dby_head = doutput.reshape(graph.destination_count, options.heads, -1)
    else:
        dby_head = np.repeat(doutput[:, None] / options.heads, options.heads, axis=1)
    arriving = dby_head[graph.destinations]  # (edges, heads, features of a head)
    coefficients = graph.in_edge_order(forward.coefficients)
    factors = np.ones_like(coefficients) if mask is None else graph.in_edge_order(mask)
    kept = coefficients * factors
    dx_source = _summed(kept.T[:, :, None] * arriving, graph.indices, graph.source_count)
    dkept = (arriving * x_source[graph.indices]).sum(axis=2).T
    if dattention is not None:
        dkept = dkept + graph.in_edge_order(dattention)
    dcoefficients = dkept * factors
    weighted = _summed(
        (coefficients * dcoefficients).T, graph.destinations, graph.destination_count
    )
    dlogits = coefficients * (dcoefficients - weighted[graph.destinations].T)
    return dx_source, dlogits, dcoefficients


def _softmax(graph: GnnCscGraph, logits: NDArray[Any]) -> NDArray[Any]:
    """Over the edges that arrive at each destination."""
    coefficients = np.empty_like(logits)
    for v in range(graph.destination_count):
        arriving = slice(graph.offsets[v], graph.offsets[v + 1])
        if graph.offsets[v] < graph.offsets[v + 1]:
            exponentials = np.exp(logits[:, arriving] - logits[:, arriving].max(1, keepdims=True))
            coefficients[:, arriving] = exponentials / exponentials.sum(1, keepdims=True)
    return coefficients


def _summed(values: NDArray[Any], targets: NDArray[Any], count: int) -> NDArray[Any]:
    """For each of `count` nodes the sum of the values (edges, ...) of the edges it is target of."""
    sums = np.zeros((count, *values.shape[1:]), values.dtype)
    np.add.at(sums, targets, values)
    return sums


def _heads(features: NDArray[Any], options: GnnMhaParams) -> NDArray[Any]:
    """(rows, features) as (rows, heads, features of a head)."""
    if features.shape[1] % options.heads:
        raise ValueError(f"{features.shape[1]} features are not a multiple of {options.heads}")
    return features.reshape(len(features), options.heads, -1)


def _weights_by_kind(
    source: NDArray[Any], edges: NDArray[Any] | None, weights: NDArray[Any], heads: int
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """GAT's weights for sources, destinations and edges, each (heads, features of a head)."""
    size, edge_size = source.shape[1], 0 if edges is None else edges.shape[1]
    if weights.shape != (2 * size + edge_size,):
        raise ValueError(f"weights must have shape {(2 * size + edge_size,)}, got {weights.shape}")
    first, second, third = np.split(weights, [size, 2 * size])
    return first.reshape(heads, -1), second.reshape(heads, -1), third.reshape(heads, -1)
