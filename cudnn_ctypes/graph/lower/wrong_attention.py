"""Attention that cuDNN computes wrong: what rows of `quirks` look for."""

from __future__ import annotations

import math

from ...raw import cudnnDataType_t
from ...strides import packed
from ..describe.operations.attention_mask import mask_of, score_dims
from .expand.attention_scores import alibi_slopes
from .quirk import Graph

__all__ = [
    "differentiates_a_sink_with_dropout",
    "differentiates_alibi_to_both_sides",
    "differentiates_one_row_of_bias",
    "differentiates_part_of_a_tile",
    "leaves_statistics_out",
    "limits_the_last_queries_by_length",
    "reads_strided_statistics",
]


def reads_strided_statistics(graph: Graph) -> str:
    for node in graph.as_written("sdpa_backward", "sdpa_fp8_backward"):
        stats = node.inputs["stats"]
        if stats.ragged_offset is None and stats.strides != packed(stats.dims):
            return (
                f"{node}: stats {stats.name!r} {stats.dims} must be packed as in C, or ragged; its "
                f"strides are {stats.strides}"
            )
    return ""


def differentiates_part_of_a_tile(graph: Graph) -> str:
    """Queries in 8 bits that do not fill the last tile of 16."""
    for node in graph.as_written("sdpa_fp8_backward"):
        q = node.inputs["q"]
        if q.dims[2] % 16:
            return (
                f"{node}: q {q.name!r} {q.dims} has {q.dims[2]} queries; store a multiple of 16, "
                "and say by seq_len_q how many count"
            )
    return ""


def differentiates_a_sink_with_dropout(graph: Graph) -> str:
    for node in graph.as_written("sdpa_backward"):
        if "sink_token" in node.inputs and "dropout_probability" in node.options:
            return f"{node} with sink_token and a probability of dropout; give a mask"
    return ""


def differentiates_one_row_of_bias(graph: Graph) -> str:
    for node in graph.as_written("sdpa_backward"):
        bias, queries = node.inputs.get("bias"), node.inputs["q"].dims[2]
        if bias is not None and bias.dims[2] != queries:
            return (
                f"{node}: bias {bias.name!r} {bias.dims} has one row for all {queries} queries; "
                "store it for each query"
            )
    return ""


# What alibi may add to a score before its exponential overflows, less what the scores may be.
_LARGEST = {cudnnDataType_t.CUDNN_DATA_HALF: 8, cudnnDataType_t.CUDNN_DATA_BFLOAT16: 80}
_HALF_TILE = 64


def differentiates_alibi_to_both_sides(graph: Graph) -> str:
    """Alibi without a mask, and keys that fill half of the last tile."""
    for node in graph.as_written("sdpa_backward"):
        mask, dims = mask_of(node), score_dims(node)
        masked = (mask.left, mask.right, mask.seq_len_kv) != (None, None, None)
        if not mask.alibi or masked or dims is None or dims[3] % (2 * _HALF_TILE) != _HALF_TILE:
            continue
        added = max(alibi_slopes(dims[1])) * _HALF_TILE
        if added > _LARGEST.get(node.inputs["q"].data_type, math.inf):
            return f"{node} with use_alibi_mask, without a mask, and with {dims[3]} keys"
    return ""


def leaves_statistics_out(graph: Graph) -> str:
    """Packed statistics of one query, for several heads that share a head of keys."""
    for node in graph.as_written("sdpa", "sdpa_unified"):
        stats, heads = node.outputs.get("stats"), [node.inputs[name].dims[1] for name in "qk"]
        if stats is None or stats.ragged_offset is None or "sink_token" in node.inputs:
            continue
        if node.inputs["q"].dims[2] == 1 and heads[0] > heads[1]:
            return (
                f"{node}: packed stats {stats.name!r} of one query, of {heads[0]} heads for "
                f"{heads[1]} of k; store them without ragged_offset"
            )
    return ""


def limits_the_last_queries_by_length(graph: Graph) -> str:
    """A band of keys at the bottom right, of sequences whose lengths the data say."""
    for node in graph.as_written("sdpa_fp8"):
        mask = mask_of(node)
        if mask.bottom_right and mask.left is not None and mask.seq_len_kv is not None:
            return f"{node} with a left bound, aligned to the bottom right, and with seq_len_kv"
    return ""
