"""cuDNN's attention on graphs of nodes by the front end's names; see ``gnn_functions``."""

from __future__ import annotations

import ctypes
from typing import Any

from .. import raw
from .causal_functions import c_argument
from .gnn_arguments import csc_graph, memory, mha_params, set_reverse, type_or_like

__all__ = [
    "gnn_mha_gat_backward",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_backward",
    "gnn_mha_gat_v2_forward",
]


def gnn_mha_gat_forward(
    stream: Any,
    csc_offsets: Any,
    csc_indices: Any,
    map_csc_to_coo: Any,
    n_src_nodes: int,
    n_dst_nodes: int,
    n_indices: int,
    idx_type: Any,
    src_features: Any,
    dst_features: Any,
    edge_features: Any,
    attn_weights: Any,
    dropout_mask: Any,
    output: Any,
    sm_scores: Any,
    node_feat_dim: int,
    edge_feat_dim: int,
    activation: Any,
    activation_alpha: float,
    num_heads: int,
    concat_heads: bool,
    data_type: Any,
) -> None:
    """``cudnnGnnMhaGatForward``: attention of each node to its neighbours (GAT)."""
    graph = csc_graph(
        csc_offsets, csc_indices, map_csc_to_coo, n_src_nodes, n_dst_nodes, n_indices, idx_type
    )
    features = (src_features, dst_features, edge_features, attn_weights, dropout_mask)
    arguments: list[Any] = [
        memory(stream),
        ctypes.byref(graph),
        *map(memory, (*features, output, sm_scores)),
        node_feat_dim,
        edge_feat_dim,
        ctypes.byref(mha_params(activation, activation_alpha, num_heads, concat_heads)),
        c_argument("dataType", data_type),
    ]
    raw.cudnnGnnMhaGatForward(*arguments)


def gnn_mha_gat_backward(
    stream: Any,
    csc_offsets: Any,
    csc_indices: Any,
    map_csc_to_coo: Any,
    n_src_nodes: int,
    n_dst_nodes: int,
    n_indices: int,
    idx_type: Any,
    grad_output: Any,
    src_features: Any,
    dst_features: Any,
    edge_features: Any,
    attn_weights: Any,
    sm_scores: Any,
    dropout_mask: Any,
    grad_attention: Any,
    grad_src_features: Any,
    grad_dst_features: Any,
    grad_edge_features: Any,
    grad_weights: Any,
    grad_sm_scores: Any,
    node_feat_dim: int,
    edge_feat_dim: int,
    activation: Any,
    activation_alpha: float,
    num_heads: int,
    concat_heads: bool,
    data_type: Any,
    csc_rev_offsets: Any,
    map_rev_to_coo: Any,
    grad_workspace_features: Any,
    grad_workspace_weights: Any,
    grad_data_type: Any = -1,
    grad_weight_type: Any = -1,
) -> None:
    """``cudnnGnnMhaGatBackward``: the gradients; -1 for their types is `data_type`."""
    graph = csc_graph(
        csc_offsets, csc_indices, map_csc_to_coo, n_src_nodes, n_dst_nodes, n_indices, idx_type
    )
    set_reverse(graph, csc_rev_offsets, map_rev_to_coo)
    features = (src_features, dst_features, edge_features, attn_weights, sm_scores, dropout_mask)
    gradients = (grad_src_features, grad_dst_features, grad_edge_features, grad_weights)
    scratch = (grad_sm_scores, grad_workspace_features, grad_workspace_weights)
    arguments: list[Any] = [
        memory(stream),
        ctypes.byref(graph),
        *map(memory, (grad_output, *features, grad_attention, *gradients, *scratch)),
        node_feat_dim,
        edge_feat_dim,
        ctypes.byref(mha_params(activation, activation_alpha, num_heads, concat_heads)),
        c_argument("dataType", data_type),
        type_or_like(grad_data_type, data_type),
        type_or_like(grad_weight_type, data_type),
    ]
    raw.cudnnGnnMhaGatBackward(*arguments)


def gnn_mha_gat_v2_forward(
    stream: Any,
    csc_offsets: Any,
    csc_indices: Any,
    map_csc_to_coo: Any,
    n_src_nodes: int,
    n_dst_nodes: int,
    n_indices: int,
    idx_type: Any,
    src_features: Any,
    dst_features: Any,
    edge_features: Any,
    attn_weights: Any,
    dropout_mask: Any,
    output: Any,
    sm_scores: Any,
    act_scores: Any,
    node_feat_dim: int,
    activation: Any,
    activation_alpha: float,
    num_heads: int,
    concat_heads: bool,
    data_type: Any,
) -> None:
    """``cudnnGnnMhaGatV2Forward``: attention of each node to its neighbours (GATv2)."""
    graph = csc_graph(
        csc_offsets, csc_indices, map_csc_to_coo, n_src_nodes, n_dst_nodes, n_indices, idx_type
    )
    features = (src_features, dst_features, edge_features, attn_weights, dropout_mask)
    arguments: list[Any] = [
        memory(stream),
        ctypes.byref(graph),
        *map(memory, (*features, output, sm_scores, act_scores)),
        node_feat_dim,
        ctypes.byref(mha_params(activation, activation_alpha, num_heads, concat_heads)),
        c_argument("dataType", data_type),
    ]
    raw.cudnnGnnMhaGatV2Forward(*arguments)


def gnn_mha_gat_v2_backward(
    stream: Any,
    csc_offsets: Any,
    csc_indices: Any,
    map_csc_to_coo: Any,
    n_src_nodes: int,
    n_dst_nodes: int,
    n_indices: int,
    idx_type: Any,
    grad_output: Any,
    src_features: Any,
    dst_features: Any,
    edge_features: Any,
    attn_weights: Any,
    sm_scores: Any,
    act_scores: Any,
    dropout_mask: Any,
    grad_attention: Any,
    grad_src_features: Any,
    grad_dst_features: Any,
    grad_edge_features: Any,
    grad_weights: Any,
    grad_sm_scores: Any,
    node_feat_dim: int,
    activation: Any,
    activation_alpha: float,
    num_heads: int,
    concat_heads: bool,
    data_type: Any,
    csc_rev_offsets: Any,
    map_rev_to_coo: Any,
    grad_workspace_features: Any,
    grad_workspace_weights: Any,
    grad_type: Any = -1,
) -> None:
    """``cudnnGnnMhaGatV2Backward``: the gradients; -1 for their type is `data_type`."""
    graph = csc_graph(
        csc_offsets, csc_indices, map_csc_to_coo, n_src_nodes, n_dst_nodes, n_indices, idx_type
    )
    set_reverse(graph, csc_rev_offsets, map_rev_to_coo)
    features = (src_features, dst_features, edge_features, attn_weights, sm_scores, act_scores)
    gradients = (grad_src_features, grad_dst_features, grad_edge_features, grad_weights)
    scratch = (grad_sm_scores, grad_workspace_features, grad_workspace_weights)
    arguments: list[Any] = [
        memory(stream),
        ctypes.byref(graph),
        *map(memory, (grad_output, *features, dropout_mask, grad_attention)),
        *map(memory, (*gradients, *scratch)),
        node_feat_dim,
        ctypes.byref(mha_params(activation, activation_alpha, num_heads, concat_heads)),
        c_argument("dataType", data_type),
        type_or_like(grad_type, data_type),
    ]
    raw.cudnnGnnMhaGatV2Backward(*arguments)
