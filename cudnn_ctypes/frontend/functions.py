"""cuDNN's aggregation over graphs of nodes by the front end's names, its struct spelled out.

`stream` and all memory are addresses, or anything that layer 1 takes as device memory; 0 where
there is none. Data types, activations and aggregations are C's numbers, as in the front end, or
members of ``data_type``, ``gnn_activation_op`` and ``gnn_agg_op``. They raise what layer 1 raises;
``cudnn_ctypes.gnn_agg_simple_forward`` and its kin allocate results and check shapes.
"""

from __future__ import annotations

import ctypes
import inspect
from collections.abc import Callable
from typing import Any, TypeAlias

from .. import raw
from ..arguments import c_integer
from ..raw.memory import memory_pointer
from .c_members import c_data_type, c_member
from .enums import Named

__all__ = [
    "b2b_causal_conv1d_backward",
    "b2b_causal_conv1d_forward",
    "c_argument",
    "causal_conv1d_backward",
    "causal_conv1d_forward",
    "causal_conv1d_nwh_backward",
    "causal_conv1d_nwh_forward",
    "csc_graph",
    "enumerator",
    "fft_causal_conv1d_backward",
    "fft_causal_conv1d_forward",
    "gnn_agg_simple_backward",
    "gnn_agg_simple_forward",
    "gnn_mha_gat_backward",
    "gnn_mha_gat_forward",
    "gnn_mha_gat_v2_backward",
    "gnn_mha_gat_v2_forward",
    "long_fft_causal_conv1d_backward",
    "long_fft_causal_conv1d_forward",
    "long_fft_causal_conv1d_get_buffer_sizes",
    "memory",
    "mha_params",
    "set_reverse",
    "type_or_like",
]


def memory(value: Any) -> Any:
    """The address as layer 1 takes it: None for 0."""
    return None if type(value) is int and value == 0 else value


def csc_graph(
    offsets: Any, indices: Any, rows: Any, sources: int, destinations: int, edges: int, kind: Any
) -> raw.cudnnGnnCscGraph_t:
    """The struct of a graph of nodes, from the addresses of its arrays and its sizes."""
    return raw.cudnnGnnCscGraph_t(
        cscOffsets=memory_pointer(offsets, "cscOffsets") or None,
        cscIndices=memory_pointer(indices, "cscIndices") or None,
        mapCscToCoo=memory_pointer(rows, "mapCscToCoo") or None,
        nSrcNodes=c_integer("nSrcNodes", sources, ctypes.c_int64),
        nDstNodes=c_integer("nDstNodes", destinations, ctypes.c_int64),
        nIndices=c_integer("nIndices", edges, ctypes.c_int64),
        idxType=c_argument("idxType", kind),
    )


def set_reverse(graph: raw.cudnnGnnCscGraph_t, offsets: Any, rows: Any) -> None:
    """Give the struct the graph in reverse, for gradients in a fixed order."""
    graph.cscRevOffsets = memory_pointer(offsets, "cscRevOffsets") or None
    graph.mapRevToCoo = memory_pointer(rows, "mapRevToCoo") or None


def mha_params(activation: Any, alpha: float, heads: int, concat: bool) -> raw.cudnnGnnMhaParams_t:
    """The struct of what attention is told."""
    kind = enumerator(raw.cudnnGnnActivationOp_t, activation)
    return raw.cudnnGnnMhaParams_t(kind, alpha, heads, int(concat))


def enumerator(cls: Any, value: Any) -> Any:
    """An enumerator of C's, from its number or a member of the front end."""
    return c_member(value) if isinstance(value, Named) else cls(value)


def type_or_like(given: Any, data_type: Any) -> Any:
    """A data type; that of the features for -1."""
    return c_argument("dataType", data_type if given == -1 else given)


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


# cuDNN's causal convolutions by the front end's names: C's functions with C's arguments.
#
# All arguments go by their place, in the order of the C function: the address of the stream, memory
# (an address, or anything that layer 1 takes as device memory; 0 where there is none), sizes, then
# data types and activations. These are C's numbers, as in the front end, or a ``data_type``. They
# raise what layer 1 raises; ``cudnn_ctypes.causal_convolution_forward`` and its kin allocate
# results and check shapes.


def c_argument(name: str, value: Any) -> Any:
    """The argument as layer 1 takes it, by the C name of its parameter.

    Raises
    ------
    TypeError
        If a data type is not one.
    """
    if name.lower().endswith(("datatype", "idxtype", "gradtype", "weighttype")):
        number = isinstance(value, int) and not isinstance(value, raw.cudnnDataType_t)
        return raw.cudnnDataType_t(value) if number else c_data_type(value)
    if name == "activation":
        return raw.cudnnCausalConv1dActivation_t(value)
    return None if type(value) is int and value == 0 else value


Launch: TypeAlias = Callable[..., None]


def _as_in_c(name: str, c_name: str) -> Launch:
    """C's function of this name, with arguments by their place."""
    function = getattr(raw, c_name)
    parameters = inspect.signature(function).parameters
    places = [inspect.Parameter(each, inspect.Parameter.POSITIONAL_ONLY) for each in parameters]
    signature = inspect.Signature(places)

    def launch(*arguments: Any) -> None:
        in_order = signature.bind(*arguments).arguments
        sizes = ("batch", "dim", "seqLen", "kernelSize", "SizeInBytes")
        function(
            *(
                value
                if each.startswith(sizes[:-1]) or each.endswith(sizes[-1])
                else c_argument(each, value)
                for each, value in in_order.items()
            )
        )

    launch.__name__ = launch.__qualname__ = name
    launch.__doc__ = f"``{c_name}``, with its arguments by their place; see the module."
    vars(launch)["__signature__"] = signature
    return launch


causal_conv1d_forward: Launch = _as_in_c("causal_conv1d_forward", "cudnnCausalConv1dForward")
causal_conv1d_backward: Launch = _as_in_c("causal_conv1d_backward", "cudnnCausalConv1dBackward")
causal_conv1d_nwh_forward: Launch = _as_in_c(
    "causal_conv1d_nwh_forward", "cudnnCausalConv1dNwhForward"
)
causal_conv1d_nwh_backward: Launch = _as_in_c(
    "causal_conv1d_nwh_backward", "cudnnCausalConv1dNwhBackward"
)
b2b_causal_conv1d_forward: Launch = _as_in_c(
    "b2b_causal_conv1d_forward", "cudnnB2BCausalConv1dForward"
)
b2b_causal_conv1d_backward: Launch = _as_in_c(
    "b2b_causal_conv1d_backward", "cudnnB2BCausalConv1dBackward"
)
fft_causal_conv1d_forward: Launch = _as_in_c(
    "fft_causal_conv1d_forward", "cudnnFFTCausalConv1dForward"
)
fft_causal_conv1d_backward: Launch = _as_in_c(
    "fft_causal_conv1d_backward", "cudnnFFTCausalConv1dBackward"
)
long_fft_causal_conv1d_forward: Launch = _as_in_c(
    "long_fft_causal_conv1d_forward", "cudnnLongFFTCausalConv1dForward"
)
long_fft_causal_conv1d_backward: Launch = _as_in_c(
    "long_fft_causal_conv1d_backward", "cudnnLongFFTCausalConv1dBackward"
)


def long_fft_causal_conv1d_get_buffer_sizes(
    batch: int, dim: int, seq_len: int, kernel_size: int, data_type: Any, /
) -> tuple[int, int]:
    """Bytes of workspace and of reserve space; ``cudnnLongFFTCausalConv1dGetBufferSizes``."""
    workspace, reserve_space = ctypes.c_size_t(), ctypes.c_size_t()
    raw.cudnnLongFFTCausalConv1dGetBufferSizes(
        batch,
        dim,
        seq_len,
        kernel_size,
        c_argument("dataType", data_type),
        workspace,
        reserve_space,
    )
    return workspace.value, reserve_space.value
