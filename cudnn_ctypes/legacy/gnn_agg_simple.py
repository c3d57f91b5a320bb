"""GNN aggregation of features over the neighbours of each node.

These functions of cuDNN 9.26 and later take a stream instead of a handle; an older library gives a
``SymbolNotFoundError`` that names both versions. They need a GPU of compute capability 8.0.
Operands are dense tensors; results are made where none are given.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .. import raw
from ..device import DeviceTensor
from .dense_operands import DenseOperands, as_given
from .enumerators import enumerator
from .gnn_csc_graph import GnnCscGraph
from .operands import expect

__all__ = [
    "GnnAggSimpleGradients",
    "GnnAggSimpleResult",
    "gnn_agg_simple_backward",
    "gnn_agg_simple_forward",
]


class GnnAggSimpleResult(NamedTuple):
    """`output` (destinations, features), and for max and min `positions`, else None."""

    output: Any
    positions: Any


class GnnAggSimpleGradients(NamedTuple):
    """Gradients of features of nodes, of edges, and of those passed on; None where there are no."""

    dnodes: Any
    dedges: Any
    dpassed: Any


def gnn_agg_simple_forward(
    graph: GnnCscGraph,
    nodes: Any = None,
    edges: Any = None,
    passed: Any = None,
    output: Any = None,
    positions: Any = None,
    *,
    operation: Any = "sum",
    stream: Any = None,
) -> GnnAggSimpleResult:
    """For each destination its sources' features and its edges', aggregated, and its own.

    Follows ``cudnnGnnAggSimpleForward``.

    Parameters
    ----------
    graph : GnnCscGraph
    nodes : tensor, optional
        (sources, features); float32, float16 or bfloat16. `nodes` or `edges` must be given.
    edges : tensor, optional
        (edges, features).
    passed : tensor, optional
        (destinations, features); appended to the output as they are.
    output : tensor, optional
        (destinations, features of nodes + edges + passed). Left out: made.
    positions : tensor, optional
        (destinations, features of nodes + edges), of the graph's index type: where max and min
        come from, for the backward pass. Left out: made.
    operation : cudnnGnnAggOp_t or str
        "sum", "mean", "max" or "min".
    stream : stream, optional
        Left out: the legacy default stream.

    Returns
    -------
    GnnAggSimpleResult

    Raises
    ------
    TypeError
        If an operand is host memory, has no shape, or is of another type.
    ValueError
        If shapes do not fit; the message names the argument.
    NotSupportedError
        If the GPU is too old, or the type is not supported.
    SymbolNotFoundError
        If the loaded library is older than cuDNN 9.26.
    """
    expect("graph", graph, GnnCscGraph)
    kind = enumerator(raw.cudnnGnnAggOp_t, operation, "operation")
    with DenseOperands(stream) as operands:
        tables = _tables(operands, graph, nodes, edges, passed)
        data_type = next(table.data_type for table in tables if table is not None)
        widths = [0 if table is None else table.shape[1] for table in tables]
        rows = graph.destination_count
        result = operands.result("output", output, (rows, sum(widths)), data_type)
        chosen = _positions(operands, graph, kind, positions, sum(widths[:2]))
        launch: Callable[..., object] = raw.cudnnGnnAggSimpleForward
        launch(stream, graph, *tables, result, chosen, *widths, data_type, kind)
    return GnnAggSimpleResult(*as_given((output, positions), (result, chosen)))


def gnn_agg_simple_backward(
    graph: GnnCscGraph,
    doutput: Any,
    positions: Any = None,
    dnodes: Any = None,
    dedges: Any = None,
    dpassed: Any = None,
    *,
    node_features: int = 0,
    edge_features: int = 0,
    operation: Any = "sum",
    stream: Any = None,
) -> GnnAggSimpleGradients:
    """The gradients of what `gnn_agg_simple_forward` takes; follows ``cudnnGnnAggSimpleBackward``.

    Parameters
    ----------
    doutput : tensor
        Gradient of the output.
    positions : tensor, optional
        As the forward pass gave them; needed for max and min.
    dnodes, dedges : tensor, optional
        The gradients are added to what they hold, by atomic additions in no fixed order. Left
        out: made, of zeros.
    dpassed : tensor, optional
        Left out: made.
    node_features, edge_features : int
        How many columns of the output come from nodes, and from edges; the others were passed on.

    The other parameters, and the errors, are those of `gnn_agg_simple_forward`.
    """
    expect("graph", graph, GnnCscGraph)
    kind = enumerator(raw.cudnnGnnAggOp_t, operation, "operation")
    with DenseOperands(stream) as operands:
        given = operands.imported("doutput", doutput)
        rows = graph.destination_count
        if given.ndim != 2 or given.shape[1] < node_features + edge_features:
            raise ValueError(
                f"doutput: expected ({rows}, {node_features + edge_features} or more), got "
                f"{given.shape}"
            )
        data_type, width = given.data_type, given.shape[1]
        operands.tensor("doutput", given, (rows, width), data_type)
        aggregated = node_features + edge_features
        if kind in _EXTREMES and positions is None:
            raise ValueError(f"positions: needed for {operation!r}")
        chosen = _positions(operands, graph, kind, positions, aggregated)
        widths = (node_features, edge_features, width - aggregated)
        counts = (graph.source_count, graph.edge_count, rows)
        results: list[DeviceTensor | None] = []
        for name, value, count, size in zip(
            ("dnodes", "dedges", "dpassed"), (dnodes, dedges, dpassed), counts, widths, strict=True
        ):
            if size == 0 and value is not None:
                raise ValueError(f"{name}: given, but it has no features")
            shape = (count, size)
            results.append(
                operands.result(name, value, shape, data_type, zeros=True) if size else None
            )
        launch: Callable[..., object] = raw.cudnnGnnAggSimpleBackward
        launch(stream, graph, given, chosen, *results, *widths, data_type, kind)
    return GnnAggSimpleGradients(*as_given((dnodes, dedges, dpassed), tuple(results)))


_EXTREMES = (raw.CUDNN_GNN_AGG_MAX, raw.CUDNN_GNN_AGG_MIN)


def _tables(
    operands: DenseOperands, graph: GnnCscGraph, nodes: Any, edges: Any, passed: Any
) -> list[DeviceTensor | None]:
    """Features of nodes, edges and destinations, all of one type."""
    if nodes is None and edges is None:
        raise ValueError("nodes: expected a tensor, or edges")
    counts = (graph.source_count, graph.edge_count, graph.destination_count)
    tables: list[DeviceTensor | None] = []
    data_type: raw.cudnnDataType_t | None = None
    for name, value, count in zip(
        ("nodes", "edges", "passed"), (nodes, edges, passed), counts, strict=True
    ):
        if value is None:
            tables.append(None)
            continue
        table = operands.imported(name, value)
        data_type = table.data_type if data_type is None else data_type
        if table.ndim != 2 or table.shape[1] == 0:
            raise ValueError(f"{name}: expected ({count}, features), got {table.shape}")
        tables.append(operands.tensor(name, table, (count, table.shape[1]), data_type))
    return tables


def _positions(
    operands: DenseOperands,
    graph: GnnCscGraph,
    kind: raw.cudnnGnnAggOp_t,
    positions: Any,
    width: int,
) -> DeviceTensor | None:
    if kind not in _EXTREMES:
        if positions is not None:
            raise ValueError("positions: only for max and min")
        return None
    shape = (graph.destination_count, width)
    return operands.result("positions", positions, shape, graph.index_type)
