"""Graph neural networks: features aggregated over each node's neighbours, attention over them.

A graph is held by its destinations: for destination v the edges ``offsets[v]`` to
``offsets[v + 1] - 1`` arrive, and edge i comes from source ``indices[i]``. This is a compressed
sparse column (CSC) matrix without values. The features of edge i are row ``edge_rows[i]`` of the
table of edge features; without `edge_rows`, row i.

In attention over the neighbours, GAT and GATv2, each destination weighs its sources, and sums their
features by these weights. Features of a node are those of H heads, one after the other; each head
attends on its own. For edge i from source u to destination v, the logits are

- GAT: act(a_source . x_u + a_destination . x_v + a_edge . e_i), a dot product with the head's part
  of each weight vector, then the activation;
- GATv2: a . act(x_u + x_v + e_i), the activation first.

A softmax over the edges that arrive at v makes coefficients of the logits; dropout multiplies them
by a mask; the output of v is the sum of x_u by these coefficients. The heads' outputs are
concatenated, or averaged.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple, cast, get_args

import numpy as np
from numpy.typing import DTypeLike

from .activation import Activation, derivative
from .activation import activate as activation_of
from .tiles import Array

Operation = Literal["sum", "mean", "max", "min"]


@dataclass(frozen=True)
class GnnCscGraph:
    """A directed graph from sources to destinations.

    Attributes
    ----------
    offsets : ndarray of int
        (destinations + 1,), from 0 to the number of edges, never falling.
    indices : ndarray of int
        (edges,), the source of each edge.
    source_count : int
    edge_rows : ndarray of int, optional
        (edges,), the row of each edge's features; default: the edges' order.

    Raises
    ------
    ValueError
        If the arrays do not describe a graph.
    """

    offsets: Array
    indices: Array
    source_count: int
    edge_rows: Array | None = None

    def __post_init__(self) -> None:
        offsets, indices = self.offsets, self.indices
        if offsets[0] != 0 or offsets[-1] != len(indices) or (np.diff(offsets) < 0).any():
            raise ValueError(f"offsets must rise from 0 to {len(indices)}, the number of edges")
        if len(indices) and not (indices.min() >= 0 and indices.max() < self.source_count):
            raise ValueError(f"indices must be sources from 0 to {self.source_count - 1}")
        if self.edge_rows is not None and sorted(self.edge_rows) != list(range(len(indices))):
            raise ValueError(f"edge_rows must hold each of 0 to {len(indices) - 1} once")

    @property
    def destination_count(self) -> int:
        return len(self.offsets) - 1

    @property
    def edge_count(self) -> int:
        return len(self.indices)

    @property
    def destinations(self) -> Array:
        """(edges,), the destination of each edge."""
        return np.repeat(np.arange(self.destination_count), np.diff(self.offsets))

    @property
    def rows(self) -> Array:
        """(edges,), the row of each edge's features."""
        return np.arange(self.edge_count) if self.edge_rows is None else self.edge_rows

    def in_edge_order(self, table: Array) -> Array:
        """A table (..., edges) in the rows' order, reordered to the edges' order."""
        ordered: Array = table[..., self.rows]
        return ordered

    def as_stored(self, values: Array) -> Array:
        """The way back of `in_edge_order`."""
        stored = np.empty_like(values)
        stored[..., self.rows] = values
        return stored

    def reversed_offsets(self) -> Array:
        """(sources + 1,): the offsets of the same graph held by its sources."""
        counts = np.bincount(self.indices, minlength=self.source_count)
        return np.concatenate([[0], np.cumsum(counts)]).astype(self.offsets.dtype)

    def reversed_rows(self) -> Array:
        """(edges,): the rows of the edges' features, for edges ordered by their sources."""
        order = np.argsort(self.indices, kind="stable")
        return self.rows[order].astype(self.offsets.dtype)


class GnnAggSimpleResult(NamedTuple):
    """`output` (destinations, nodes' features + edges' + concatenated), and `out_positions`.

    For max and min, `out_positions` (destinations, nodes' features + edges') tells where each
    element comes from: a source, or a row of edge features; -1 where no edge arrives. Else None.
    """

    output: Array
    out_positions: Array | None


class GnnAggSimpleGradients(NamedTuple):
    """Gradients of the features of nodes, of edges, and of concatenated ones; None if absent."""

    dnode_features: Array | None
    dedge_features: Array | None
    dconcat_features: Array | None


def gnn_agg_simple_forward(
    graph: GnnCscGraph,
    node_features: Array | None = None,
    edge_features: Array | None = None,
    concat_features: Array | None = None,
    *,
    operation: Operation = "sum",
    compute_dtype: DTypeLike = np.float64,
) -> GnnAggSimpleResult:
    """For each destination one row of output: `cudnnGnnAggSimpleForward`.

    The row holds, one after the other, the aggregated features of the sources that edges come
    from, the aggregated features of these edges, and the destination's `concat_features`.
    A destination without edges aggregates to zeros.

    Parameters
    ----------
    node_features
        (sources, features).
    edge_features
        (edges, features), in the order of the graph's rows.
    concat_features
        (destinations, features).
    operation
        "sum", "mean", "max" or "min"; among equal values, max and min choose the first.
    """
    compute = np.dtype(compute_dtype)
    parts: list[Array] = []
    positions: list[Array] = []
    for table, rows in ((node_features, graph.indices), (edge_features, graph.rows)):
        if table is not None:
            aggregated, chosen = _aggregated(graph, table.astype(compute), rows, operation)
            parts.append(aggregated)
            positions.append(chosen)
    if not parts:
        raise ValueError("node_features or edge_features must be given")
    if concat_features is not None:
        parts.append(concat_features.astype(compute))
    extreme = operation in ("max", "min")
    return GnnAggSimpleResult(
        np.concatenate(parts, axis=1), np.concatenate(positions, axis=1) if extreme else None
    )


def gnn_agg_simple_backward(
    graph: GnnCscGraph,
    *,
    doutput: Array,
    out_positions: Array | None = None,
    dnode_features: Array | None = None,
    dedge_features: Array | None = None,
    node_feat_dim: int = 0,
    edge_feat_dim: int = 0,
    operation: Operation = "sum",
    compute_dtype: DTypeLike = np.float64,
) -> GnnAggSimpleGradients:
    """The gradients by the aggregated features: `cudnnGnnAggSimpleBackward`.

    An edge carries its destination's gradient back: whole for sum, divided by the number of edges
    for mean; for max and min only the chosen element receives it.

    Parameters
    ----------
    doutput
        (destinations, node_feat_dim + edge_feat_dim + columns of `concat_features`).
    out_positions
        The `out_positions` from `gnn_agg_simple_forward`.
    dnode_features, dedge_features
        Arrays to which the gradients are added; default: zeros.
    """
    wide = doutput.astype(compute_dtype)
    aggregated = node_feat_dim + edge_feat_dim
    made: list[Array | None] = []
    for name, first, last, rows, count, prior in (
        ("nodes", 0, node_feat_dim, graph.indices, graph.source_count, dnode_features),
        ("edges", node_feat_dim, aggregated, graph.rows, graph.edge_count, dedge_features),
    ):
        if first == last:
            made.append(None)
            continue
        result = np.zeros((count, last - first), wide.dtype)
        if prior is not None:
            result += prior.astype(wide.dtype)
        gradient = wide[:, first:last]
        if operation in ("max", "min"):
            if out_positions is None:
                raise ValueError(f"out_positions must be given for the {operation} of {name}")
            _scatter_extreme(result, gradient, out_positions[:, first:last])
        else:
            scale = _edge_scale(graph, operation).astype(wide.dtype)
            np.add.at(result, rows, gradient[graph.destinations] * scale[:, None])
        made.append(result)
    concatenated = wide[:, aggregated:].copy() if wide.shape[1] > aggregated else None
    return GnnAggSimpleGradients(made[0], made[1], concatenated)


def _aggregated(
    graph: GnnCscGraph, table: Array, rows: Array, operation: Operation
) -> tuple[Array, Array]:
    output = np.zeros((graph.destination_count, table.shape[1]), table.dtype)
    positions = np.full(output.shape, -1, np.int64)
    for v in range(graph.destination_count):
        arriving = rows[graph.offsets[v] : graph.offsets[v + 1]]
        if not len(arriving):
            continue
        values = table[arriving]
        match operation:
            case "sum":
                output[v] = values.sum(axis=0)
            case "mean":
                output[v] = values.mean(axis=0)
            case "max" | "min":
                best = values.argmax(axis=0) if operation == "max" else values.argmin(axis=0)
                output[v] = values[best, np.arange(table.shape[1])]
                positions[v] = arriving[best]
            case _:
                raise ValueError(f"operation must be sum, mean, max or min, got {operation!r}")
    return output, positions


def _scatter_extreme(result: Array, gradient: Array, positions: Array) -> None:
    destination, feature = np.nonzero(positions >= 0)
    chosen = positions[destination, feature]
    np.add.at(result, (chosen, feature), gradient[destination, feature])


def _edge_scale(graph: GnnCscGraph, operation: Operation) -> Array:
    degrees = np.diff(graph.offsets)[graph.destinations]
    return 1 / degrees if operation == "mean" else np.ones(graph.edge_count)


# --- attention over neighbours --------------------------------------------------------------------


GnnActivation = Literal["linear", "relu", "sigmoid", "tanh", "elu", "scalar", "leaky_relu"]


def activate(z: Array, activation: GnnActivation, alpha: float) -> Array:
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
    if activation in ("scalar", "leaky_relu"):
        scaled: Array = z.dtype.type(alpha) * z
        return scaled if activation == "scalar" else np.where(z > 0, z, scaled)
    return activation_of(z, _plain(activation), 1.0)


def slope(y: Array, activation: GnnActivation, alpha: float) -> Array:
    """The activation's derivative where it gave `y`; for leaky_relu alpha must be positive."""
    if activation in ("scalar", "leaky_relu"):
        factors: Array = np.full_like(y, alpha)
        return factors if activation == "scalar" else np.where(y > 0, np.ones_like(y), factors)
    return derivative(y, y, _plain(activation), 1.0)


def _plain(activation: GnnActivation) -> Activation:
    """The name of an activation that image operations have too."""
    if activation not in get_args(GnnActivation):
        raise ValueError(f"unknown activation {activation!r}")
    return cast(Activation, "identity" if activation == "linear" else activation)


@dataclass(frozen=True)
class GnnMhaParams:
    """The fields of `cudnnGnnMhaParams_t`.

    `activation_alpha` is for "leaky_relu", where it must be positive, and "scalar".
    """

    num_heads: int = 1
    concat_heads: bool = True
    activation: GnnActivation = "leaky_relu"
    activation_alpha: float = 0.2

    def activate(self, z: Array) -> Array:
        return activate(z, self.activation, self.activation_alpha)

    def slope(self, y: Array) -> Array:
        return slope(y, self.activation, self.activation_alpha)


class GnnMhaGatResult(NamedTuple):
    """The result of the forward pass; edges are in the order of the edge features' rows.

    `output` (destinations, features or features / heads); `sm_scores` (2, heads, edges), the logits
    and the coefficients before dropout; `act_scores` (edges, features), the output of GATv2's
    activation.
    """

    output: Array
    sm_scores: Array
    act_scores: Array | None


def attend(
    graph: GnnCscGraph,
    x_src: Array,
    logits: Array,
    params: GnnMhaParams,
    mask: Array | None,
    activated: Array | None,
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
    x_src: Array,
    params: GnnMhaParams,
    coefficients: Array,
    doutput: Array,
    mask: Array | None,
    dattention: Array | None,
) -> tuple[Array, Array, Array]:
    """The gradients by x_src, the logits and the coefficients, these in the edges' order.

    With c the coefficients of a destination and dc their gradients, the softmax gives
    dlogits = c * (dc - sum of c * dc).
    """
    if params.concat_heads:
        dby_head: Array = doutput.reshape(graph.destination_count, params.num_heads, -1)
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


def softmax(graph: GnnCscGraph, logits: Array) -> Array:
    """Over the edges that arrive at each destination."""
    coefficients = np.empty_like(logits)
    for v in range(graph.destination_count):
        arriving = slice(graph.offsets[v], graph.offsets[v + 1])
        if graph.offsets[v] < graph.offsets[v + 1]:
            exponentials = np.exp(logits[:, arriving] - logits[:, arriving].max(1, keepdims=True))
            coefficients[:, arriving] = exponentials / exponentials.sum(1, keepdims=True)
    return coefficients


def summed(values: Array, targets: Array, count: int) -> Array:
    """For each of `count` nodes the sum of the values (edges, ...) of the edges it is target of."""
    sums = np.zeros((count, *values.shape[1:]), values.dtype)
    np.add.at(sums, targets, values)
    return sums


def heads(features: Array, params: GnnMhaParams) -> Array:
    """(rows, features) as (rows, heads, features of a head)."""
    if features.shape[1] % params.num_heads:
        raise ValueError(f"{features.shape[1]} features are not a multiple of {params.num_heads}")
    return features.reshape(len(features), params.num_heads, -1)


class GnnMhaGatGradients(NamedTuple):
    """Gradients of the operands of the forward pass, and of `sm_scores`, in their shapes."""

    dsrc_features: Array
    ddst_features: Array
    dedge_features: Array | None
    dattn_weights: Array
    dsm_scores: Array


# --- GAT ------------------------------------------------------------------------------------------


def gnn_mha_gat_forward(
    graph: GnnCscGraph,
    src_features: Array,
    dst_features: Array,
    attn_weights: Array,
    edge_features: Array | None = None,
    *,
    params: GnnMhaParams,
    dropout_mask: Array | None = None,
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
    doutput: Array,
    src_features: Array,
    dst_features: Array,
    attn_weights: Array,
    sm_scores: Array,
    edge_features: Array | None = None,
    params: GnnMhaParams,
    dropout_mask: Array | None = None,
    dattention: Array | None = None,
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
    src_features: Array,
    dst_features: Array,
    attn_weights: Array,
    edge_features: Array | None = None,
    *,
    params: GnnMhaParams,
    dropout_mask: Array | None = None,
) -> GnnMhaGatResult:
    """`cudnnGnnMhaGatV2Forward`.

    `attn_weights` is (features,), `edge_features` (edges, features) or None; the others are those
    of `gnn_mha_gat_forward`.
    """
    sums = src_features[graph.indices] + dst_features[graph.destinations]
    if edge_features is not None:
        sums = sums + edge_features[graph.rows]
    activated = params.activate(sums)
    by_head = heads(activated, params)
    weights = _checked(attn_weights, src_features.shape[1]).reshape(params.num_heads, -1)
    logits = (by_head * weights).sum(axis=2)
    return attend(graph, heads(src_features, params), logits.T, params, dropout_mask, activated)


def gnn_mha_gat_v2_backward(
    graph: GnnCscGraph,
    *,
    doutput: Array,
    src_features: Array,
    dst_features: Array,
    attn_weights: Array,
    sm_scores: Array,
    act_scores: Array,
    edge_features: Array | None = None,
    params: GnnMhaParams,
    dropout_mask: Array | None = None,
    dattention: Array | None = None,
) -> GnnMhaGatGradients:
    """`cudnnGnnMhaGatV2Backward`.

    `sm_scores` and `act_scores` are those of `gnn_mha_gat_v2_forward`, the other parameters those
    of `gnn_mha_gat_backward`. `dst_features` decides only its gradient's shape.
    """
    coefficients = graph.in_edge_order(sm_scores[1])
    dx_src, dlogits, dcoefficients = attend_backward(
        graph, heads(src_features, params), params, coefficients, doutput, dropout_mask, dattention
    )
    activated = graph.in_edge_order(act_scores.T).T
    by_head = _checked(attn_weights, src_features.shape[1]).reshape(params.num_heads, -1)
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
    src_features: Array, edge_features: Array | None, attn_weights: Array, params: GnnMhaParams
) -> list[Array]:
    """GAT's weights for sources, destinations and edges, each (heads, features of a head)."""
    size = src_features.shape[1]
    edges = 0 if edge_features is None else edge_features.shape[1]
    parts = np.split(_checked(attn_weights, 2 * size + edges), [size, 2 * size])
    return [part.reshape(params.num_heads, -1) for part in parts]


def _checked(attn_weights: Array, size: int) -> Array:
    if attn_weights.shape != (size,):
        raise ValueError(f"attn_weights must have shape {(size,)}, got {attn_weights.shape}")
    return attn_weights
