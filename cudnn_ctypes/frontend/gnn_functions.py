"""cuDNN's aggregation over graphs of nodes by the front end's names, its struct spelled out.

`stream` and all memory are addresses, or anything that layer 1 takes as device memory; 0 where
there is none. Data types, activations and aggregations are C's numbers, as in the front end, or
members of ``data_type``, ``gnn_activation_op`` and ``gnn_agg_op``. They raise what layer 1 raises;
``cudnn_ctypes.gnn_agg_simple_forward`` and its kin allocate results and check shapes.
"""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from .causal_functions import c_argument
from .gnn_arguments import csc_graph, enumerator, memory

__all__ = [
    "gnn_agg_simple_backward",
    "gnn_agg_simple_forward",
]


def gnn_agg_simple_forward(
    stream: Any,
    csc_offsets: Any,
    csc_indices: Any,
    map_csc_to_coo: Any,
    n_src_nodes: int,
    n_dst_nodes: int,
    n_indices: int,
    idx_type: Any,
    node_features: Any,
    edge_features: Any,
    concat_features: Any,
    output: Any,
    out_positions: Any,
    node_feat_dim: int,
    edge_feat_dim: int,
    concat_feat_dim: int,
    data_type: Any,
    agg_op: Any,
) -> None:
    """``cudnnGnnAggSimpleForward``: the neighbours' features of each node, aggregated."""
    graph = csc_graph(
        csc_offsets, csc_indices, map_csc_to_coo, n_src_nodes, n_dst_nodes, n_indices, idx_type
    )
    arguments: list[Any] = [
        memory(stream),
        ctypes.byref(graph),
        *map(memory, (node_features, edge_features, concat_features, output, out_positions)),
        node_feat_dim,
        edge_feat_dim,
        concat_feat_dim,
        c_argument("dataType", data_type),
        enumerator(raw.cudnnGnnAggOp_t, agg_op),
    ]
    raw.cudnnGnnAggSimpleForward(*arguments)


def gnn_agg_simple_backward(
    stream: Any,
    csc_offsets: Any,
    csc_indices: Any,
    map_csc_to_coo: Any,
    n_src_nodes: int,
    n_dst_nodes: int,
    n_indices: int,
    idx_type: Any,
    grad_output: Any,
    out_positions: Any,
    grad_node_features: Any,
    grad_edge_features: Any,
    grad_concat_features: Any,
    node_feat_dim: int,
    edge_feat_dim: int,
    concat_feat_dim: int,
    data_type: Any,
    agg_op: Any,
) -> None:
    """``cudnnGnnAggSimpleBackward``: gradients, added to those of nodes and edges."""
    graph = csc_graph(
        csc_offsets, csc_indices, map_csc_to_coo, n_src_nodes, n_dst_nodes, n_indices, idx_type
    )
    gradients = (grad_node_features, grad_edge_features, grad_concat_features)
    arguments: list[Any] = [
        memory(stream),
        ctypes.byref(graph),
        *map(memory, (grad_output, out_positions, *gradients)),
        node_feat_dim,
        edge_feat_dim,
        concat_feat_dim,
        c_argument("dataType", data_type),
        enumerator(raw.cudnnGnnAggOp_t, agg_op),
    ]
    raw.cudnnGnnAggSimpleBackward(*arguments)
