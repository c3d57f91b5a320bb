"""The common part of GAT and GATv2: softmax over arriving edges, dropout, and the sum."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .gnn_activations import GnnActivation, activate, slope
from .gnn_agg_simple import GnnCscGraph

__all__ = [
    "GnnMhaGatResult",
    "GnnMhaParams",
    "attend",
    "attend_backward",
    "heads",
    "summed",
]


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
