"""Aggregation of features over the neighbours of each node (GNN), and its gradients.

A graph is held by its destinations: for destination v the edges ``offsets[v]`` to
``offsets[v + 1] - 1`` arrive, and edge i comes from source ``indices[i]``. This is a compressed
sparse column (CSC) matrix without values. The features of edge i are row ``edge_rows[i]`` of the
table of edge features; without `edge_rows`, row i.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

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

    offsets: NDArray[Any]
    indices: NDArray[Any]
    source_count: int
    edge_rows: NDArray[Any] | None = None

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
    def destinations(self) -> NDArray[Any]:
        """(edges,), the destination of each edge."""
        return np.repeat(np.arange(self.destination_count), np.diff(self.offsets))

    @property
    def rows(self) -> NDArray[Any]:
        """(edges,), the row of each edge's features."""
        return np.arange(self.edge_count) if self.edge_rows is None else self.edge_rows

    def in_edge_order(self, table: NDArray[Any]) -> NDArray[Any]:
        """A table (..., edges) in the rows' order, reordered to the edges' order."""
        ordered: NDArray[Any] = table[..., self.rows]
        return ordered

    def as_stored(self, values: NDArray[Any]) -> NDArray[Any]:
        """The way back of `in_edge_order`."""
        stored = np.empty_like(values)
        stored[..., self.rows] = values
        return stored

    def reversed_offsets(self) -> NDArray[Any]:
        """(sources + 1,): the offsets of the same graph held by its sources."""
        counts = np.bincount(self.indices, minlength=self.source_count)
        return np.concatenate([[0], np.cumsum(counts)]).astype(self.offsets.dtype)

    def reversed_rows(self) -> NDArray[Any]:
        """(edges,): the rows of the edges' features, for edges ordered by their sources."""
        order = np.argsort(self.indices, kind="stable")
        return self.rows[order].astype(self.offsets.dtype)


class GnnAggSimpleResult(NamedTuple):
    """`output` (destinations, nodes' features + edges' + concatenated), and `out_positions`.

    For max and min, `out_positions` (destinations, nodes' features + edges') tells where each
    element comes from: a source, or a row of edge features; -1 where no edge arrives. Else None.
    """

    output: NDArray[Any]
    out_positions: NDArray[Any] | None


class GnnAggSimpleGradients(NamedTuple):
    """Gradients of the features of nodes, of edges, and of concatenated ones; None if absent."""

    dnode_features: NDArray[Any] | None
    dedge_features: NDArray[Any] | None
    dconcat_features: NDArray[Any] | None


def gnn_agg_simple_forward(
    graph: GnnCscGraph,
    node_features: NDArray[Any] | None = None,
    edge_features: NDArray[Any] | None = None,
    concat_features: NDArray[Any] | None = None,
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
    parts: list[NDArray[Any]] = []
    positions: list[NDArray[Any]] = []
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
    doutput: NDArray[Any],
    out_positions: NDArray[Any] | None = None,
    dnode_features: NDArray[Any] | None = None,
    dedge_features: NDArray[Any] | None = None,
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
    made: list[NDArray[Any] | None] = []
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
    graph: GnnCscGraph, table: NDArray[Any], rows: NDArray[Any], operation: Operation
) -> tuple[NDArray[Any], NDArray[Any]]:
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


def _scatter_extreme(result: NDArray[Any], gradient: NDArray[Any], positions: NDArray[Any]) -> None:
    destination, feature = np.nonzero(positions >= 0)
    chosen = positions[destination, feature]
    np.add.at(result, (chosen, feature), gradient[destination, feature])


def _edge_scale(graph: GnnCscGraph, operation: Operation) -> NDArray[Any]:
    degrees = np.diff(graph.offsets)[graph.destinations]
    return 1 / degrees if operation == "mean" else np.ones(graph.edge_count)
