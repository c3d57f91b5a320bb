"""Attention that cuDNN computes wrong: what we measured, and what NVIDIA tells of.

NVIDIA's front end 1.32 refuses graphs for reasons that are faults of cuDNN's; its conditions stand
here in our own words. Limits of what a version supports do not: cuDNN says them itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....raw import cudnnDataType_t
from ....raw.faults import Effect, Fault, Range, measured, reported, row
from ....raw.library import version_text
from ....strides import packed
from ...describe.node import Node
from ...describe.operations.attention_mask import mask_of, score_dims
from ..expand.attention_scores import alibi_slopes
from .view import Graph

__all__ = ["ATTENTION"]

_AMPERE_ON = (80, 86, 87, 89, 90, 100, 103, 110, 120, 121)
_HOPPER_ON = _AMPERE_ON[4:]
_BLACKWELL = (100, 103)
_LONG = 1024  # keys


# Predicates look at one call of the user's, of the operations that the row names.


def _strided_statistics(node: Node) -> str:
    stats = {**node.inputs, **node.outputs}.get("stats")
    if stats is None or stats.ragged_offset is not None or stats.strides == packed(stats.dims):
        return ""
    return f": stats {stats.name!r} {stats.dims} has strides {stats.strides}"


def _part_of_a_tile(node: Node) -> str:
    """Queries in 8 bits that do not fill the last tile of 16."""
    q = node.inputs["q"]
    return f": q {q.name!r} {q.dims} has {q.dims[2]} queries" if q.dims[2] % 16 else ""


def _sink_with_dropout(node: Node) -> str:
    both = "sink_token" in node.inputs and "dropout_probability" in node.options
    return " with sink_token and a probability of dropout" if both else ""


def _one_row_of_bias(node: Node) -> str:
    bias, queries = node.inputs.get("bias"), node.inputs["q"].dims[2]
    if bias is None or bias.dims[2] == queries:
        return ""
    return f": bias {bias.name!r} {bias.dims} has one row for all {queries} queries"


# What alibi may add to a score before its exponential overflows, less what the scores may be.
_LARGEST = {cudnnDataType_t.CUDNN_DATA_HALF: 8, cudnnDataType_t.CUDNN_DATA_BFLOAT16: 80}
_HALF_TILE = 64


def _alibi_to_both_sides(node: Node) -> str:
    """Alibi without a mask, and keys that fill half of the last tile."""
    mask, dims = mask_of(node), score_dims(node)
    masked = (mask.left, mask.right, mask.seq_len_kv) != (None, None, None)
    if not mask.alibi or masked or dims is None or dims[3] % (2 * _HALF_TILE) != _HALF_TILE:
        return ""
    added = max(alibi_slopes(dims[1])) * _HALF_TILE
    if added <= _LARGEST.get(node.inputs["q"].data_type, math.inf):
        return ""
    return f" with use_alibi_mask, without a mask, and with {dims[3]} keys"


def _packed_statistics_of_one_query(node: Node) -> str:
    """Packed statistics of one query, of several heads that share a head of keys."""
    stats, heads = node.outputs.get("stats"), [node.inputs[name].dims[1] for name in "qk"]
    if stats is None or stats.ragged_offset is None or "sink_token" in node.inputs:
        return ""
    if node.inputs["q"].dims[2] != 1 or heads[0] <= heads[1]:
        return ""
    return f": packed stats {stats.name!r} of one query, of {heads[0]} heads for {heads[1]} of k"


def _band_by_length(node: Node) -> str:
    """A band of keys at the bottom right, of sequences whose lengths the data say."""
    mask = mask_of(node)
    found = mask.bottom_right and mask.left is not None and mask.seq_len_kv is not None
    return " with a left bound, aligned to the bottom right, and with seq_len_kv" if found else ""


def _window_without_a_right_bound(node: Node) -> str:
    mask, dims = mask_of(node), score_dims(node)
    if mask.left is None or mask.right is not None or not dims or dims[3] <= _LONG:
        return ""
    return f" with a left bound, without a right one, and with {dims[3]} keys"


def _packed_with(name: str) -> Callable[[Node], str]:
    """An operand or result, of sequences that lie one after the other."""

    def where(node: Node) -> str:
        ragged = any(each.ragged_offset is not None for each in (*node.operands, *node.results))
        found = ragged and name in {**node.inputs, **node.outputs}
        return f" with {name} and ragged offsets" if found else ""

    return where


def _statistics_in_16_bits(node: Node) -> str:
    stats = node.outputs.get("stats")
    if stats is None or stats.data_type == cudnnDataType_t.CUDNN_DATA_FLOAT:
        return ""
    return f": stats {stats.name!r}"


def _block_mask(node: Node) -> str:
    return " with block_mask" if "block_mask" in node.inputs else ""


def _uneven_heads(node: Node) -> str:
    """Sizes of heads around the pair for which kernels exist."""
    size, of_values = node.inputs["q"].dims[3], node.inputs["v"].dims[3]
    found = 128 < size < 192 and 64 < of_values < 128
    return f": heads of {size} and {of_values} elements" if found else ""


def _row(
    name: str,
    operations: str,
    effect: Effect,
    fault: str,
    where: Callable[[Node], str],
    *facts: Any,
    **more: Any,
) -> Fault:
    def of_a_call(graph: Graph) -> str:
        nodes = graph.as_written(*operations.split())
        return next((f"{node}{told}" for node in nodes if (told := where(node))), "")

    return row(name, operations, effect, fault, of_a_call, *facts, **more)


def _reported(
    name: str,
    operations: str,
    effect: Effect,
    where: Callable[[Node], str],
    seen: str,
    at: Range,
    fault: str = "",
    remedy: str = "",
) -> Fault:
    until = "" if at.repaired is None else f", repaired in {version_text(at.repaired)}"
    fault = fault or f"NVIDIA tells of a fault in cuDNN {version_text(at.since)}{until}"
    seen_by = reported("NVIDIA's front end 1.32", seen)
    return _row(name, operations, effect, fault, where, at, seen_by, remedy=remedy)


ATTENTION = (
    _row(
        "strided statistics of attention",
        "sdpa_backward sdpa_fp8_backward",
        "wrong numbers",
        "it reads them as if they were packed",
        _strided_statistics,
        Range(91400, repaired=92600),
        measured(
            "9.14, 9.19",
            "Engine 1 of 9.14 and engine 7 of 9.19, with all their kernels; the other engine of "
            "each is right, and so are all from 9.26 on.",
        ),
        remedy="pack the statistics as in C, or give them a ragged offset",
        engines=(1, 7),
    ),
    _row(
        "gradient of queries in 8 bits",
        "sdpa_fp8_backward",
        "wrong numbers",
        "cuDNN gives 0 for half of the gradient of the last queries",
        _part_of_a_tile,
        Range(91400, repaired=92700),
        measured(
            "9.14, 9.19",
            "Both data types, all layouts and masks: of s queries the last min(s % 16, 16 - s % "
            "16) have 0 in every second 16 elements; 9.27 is right for s of 8.",
        ),
        remedy="store a multiple of 16 queries, and say by seq_len_q how many count",
    ),
    _row(
        "gradient of a sink with dropout",
        "sdpa_backward",
        "wrong numbers",
        "cuDNN gives 1 - probability times the gradient of the sink",
        _sink_with_dropout,
        Range(91400),
        measured("9.14, 9.19", "All engines; with dropout by a mask it is right."),
        remedy="give a mask for the dropout",
    ),
    _row(
        "gradient of one row of bias",
        "sdpa_backward",
        "wrong numbers",
        "cuDNN gives wrong gradients",
        _one_row_of_bias,
        Range(91400),
        measured("9.14 to 9.19"),
        remedy="store the bias for each query",
    ),
    _row(
        "gradient with alibi to both sides",
        "sdpa_backward",
        "NaN",
        "cuDNN gives NaN in dq",
        _alibi_to_both_sides,
        Range(91900, repaired=92700),
        measured(
            "9.19",
            "Keys that fill half of the last tile of 128 count with their distance, which "
            "overflows float16 where they add more than 8. Other numbers of keys are right, and "
            "so are 9.14, in 24 graphs, and 9.27, in 15.",
            "11 of 111 graphs",
        ),
        remedy="mask keys, or store a multiple of 128",
    ),
    _row(
        "packed statistics of one query",
        "sdpa sdpa_unified",
        "wrong numbers",
        "it writes those of the first head only of all that share a head of keys",
        _packed_statistics_of_one_query,
        Range(91400),
        measured(
            "9.14, 9.19",
            "Engine 1, of unified attention 8, whatever masks, bias and data type; with a sink, "
            "with as many heads of keys, with two queries or unpacked they are right, and so are "
            "all results.",
            "28 of 28 graphs",
        ),
        remedy="store the statistics without ragged_offset",
        engines=(1, 8),
    ),
    _row(
        "band of attention in 8 bits",
        "sdpa_fp8",
        "wrong numbers",
        "cuDNN gives wrong numbers",
        _band_by_length,
        Range(91900),
        measured(
            "9.19",
            "46 graphs without such a sequence are right, and 9 with one but without a left bound.",
            "11 of 13 graphs",
        ),
        data="a sequence has more queries than keys",
    ),
    _reported(
        "attention of 9.10",
        "sdpa sdpa_backward",
        "not named",
        lambda node: " in these versions",
        "Refused in 9.10.0 and 9.10.1 for faults that it does not name.",
        Range(91000, _AMPERE_ON, 91002),
    ),
    _reported(
        "8-bit attention of 9.10",
        "sdpa_fp8 sdpa_fp8_backward",
        "not named",
        lambda node: " in these versions",
        "Refused in 9.10.0, for the gradients because of faults that it does not name.",
        Range(91000, _HOPPER_ON, 91001),
    ),
    _reported(
        "window of attention without a right bound",
        "sdpa sdpa_backward",
        "wrong numbers",
        _window_without_a_right_bound,
        "A fault of 9.14.0 with more than 1024 keys, in both directions.",
        Range(91400, _AMPERE_ON, 91401),
    ),
    _reported(
        "sink of packed sequences",
        "sdpa_backward sdpa_fp8_backward",
        "leaves the memory",
        _packed_with("sink_token"),
        "Before 9.26 the product of dO and o reads beyond the end; sinks are there since 9.13.",
        Range(91300, _AMPERE_ON, 92600),
        fault="NVIDIA tells that cuDNN reads beyond the end of memory",
    ),
    _reported(
        "strided statistics of attention's forward pass",
        "sdpa sdpa_fp8",
        "wrong numbers",
        _strided_statistics,
        "Before 9.12 they are written as if they were packed.",
        Range(90000, _AMPERE_ON, 91200),
        remedy="pack them",
    ),
    _reported(
        "statistics of attention in 16 bits",
        "sdpa sdpa_fp8 sdpa_unified",
        "leaves the memory",
        _statistics_in_16_bits,
        "Float32 is written whatever the type, past the end of memory; 9.28 takes such graphs.",
        Range(90000, _AMPERE_ON),
        fault="NVIDIA tells that cuDNN writes float32 there, beyond the end of the memory",
        remedy="store them in float32",
    ),
    _reported(
        "block mask of unified attention",
        "sdpa_unified",
        "wrong numbers",
        _block_mask,
        "Before 9.26, where the first block of keys is masked, memory is read that nobody set.",
        Range(91400, _BLACKWELL, 92600),
        remedy="take sdpa with a mask of another kind",
    ),
    _reported(
        "gradient of bias of packed sequences",
        "sdpa_backward sdpa_fp8_backward",
        "not named",
        _packed_with("dBias"),
        "Refused until it is repaired.",
        Range(90700, _BLACKWELL),
    ),
    _reported(
        "uneven heads in attention's backward pass",
        "sdpa_backward",
        "not named",
        _uneven_heads,
        "Came with 9.11, went with 9.13, as its release notes (1.14.1) say.",
        Range(91100, (90,), 91300),
        remedy="pad the heads to 192 and 128 elements",
    ),
)
