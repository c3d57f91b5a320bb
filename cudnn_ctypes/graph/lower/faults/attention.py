"""Attention that cuDNN computes wrong: what we measured, and what NVIDIA tells of.

NVIDIA's front end 1.32 refuses graphs for reasons that are faults of cuDNN's; its conditions stand
here in our own words. Limits of what a version supports do not: cuDNN says them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from ....raw import cudnnDataType_t
from ....raw.faults import Effect, Evidence, Fault, Range, measured, reported, row
from ....raw.library import version_text
from ....raw.strides import packed
from ...describe.node import Node
from ...describe.operations.attention_checks import is_paged, mask_of, score_dims
from ...describe.tensor import Tensor
from ..expand.attention import (
    ONE_QUERY,
    UNBOUNDED,
    UNEVEN,
    one_query,
    scale_of,
    unbounded,
    uneven_heads,
)
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


def _packed_statistics_of_one_query(node: Node) -> str:
    """Packed statistics of one query, of several heads that share a head of keys."""
    heads = [node.inputs[name].dims[1] for name in "qk"]
    if "sink_token" in node.inputs or node.inputs["q"].dims[2] != 1 or heads[0] <= heads[1]:
        return ""
    for port in ("stats", "score_max", "score_sum_exp"):
        each = node.outputs.get(port)
        if each is not None and each.ragged_offset is not None:
            shared = f"of {heads[0]} heads for {heads[1]} of k"
            return f": packed {port} {each.name!r} of one query, {shared}"
    return ""


def _scale_that_is_not_positive(node: Node) -> str:
    """A maximum of scores before their scale; other kernels take that of the scores themselves."""
    mask, bounds = mask_of(node), ("seq_len_kv", "cu_seq_len_kv", "bias")
    others = mask.alibi or any(name in node.inputs for name in bounds)
    if scale_of(node) > 0 or others or None not in (mask.left, mask.right):
        return ""
    return f" with attn_scale {scale_of(node)}"


def _pages_that_fill_no_tile(node: Node) -> str:
    dims = score_dims(node)
    if not is_paged(node) or dims is None or not dims[3] % 128:
        return ""
    return f" with pages for {dims[3]} keys"


def _operands_of_scores(node: Node) -> Iterator[Tensor]:
    """Tensors that the operations of a modifier read from memory."""
    modifier = node.subgraphs.get("score_mod")
    for each in modifier.nodes if modifier is not None else ():
        yield from (t for t in each.operands if not (t.virtual or t.by_value))


def _number_of_each_sequence(node: Node) -> str:
    dims = score_dims(node)
    for each in _operands_of_scores(node):
        batch, _, *rows = each.dims or ()
        if dims and batch > 1 and rows == [1, 1] and dims[3] > 1:
            return f": {each.name!r} {each.dims} in scores of {dims}"
    return ""


def _scores_with_spaced_keys(node: Node) -> str:
    dims = score_dims(node)
    for each in _operands_of_scores(node):
        if dims and (each.dims or ())[3] == dims[3] and (each.strides or ())[3] != 1:
            return f": {each.name!r} {each.dims} with strides {each.strides}"
    return ""


def _pages_of_one_query_with_alibi(node: Node) -> str:
    heads, alibi = [node.inputs[name].dims[1] for name in "qk"], mask_of(node).alibi
    shared = is_paged(node) and heads[0] > heads[1]
    return one_query(node) if shared and alibi else ""


def _pages(node: Node) -> str:
    return " with pages" if is_paged(node) else ""


def _lengths(node: Node) -> str:
    found = {"seq_len_kv", "cu_seq_len_kv"} & node.inputs.keys()
    return f" with {found.pop()}" if found else ""


def _gradient_beside_the_scores(node: Node) -> str:
    """The part between the gradient of the scores and that of the bias, or of the keys."""
    modified = "score_mod_bprop" in node.subgraphs
    if modified and "dBias" in node.outputs:
        return " with dBias and score_mod_bprop"
    if scale_of(node) == 0 and (modified or "dBias" in node.outputs):
        return f" with attn_scale 0 and {'score_mod' if modified else 'dBias'}"
    return ""


def _packed_large_heads(node: Node) -> str:
    size = max(node.inputs[name].dims[3] for name in "qv")
    ragged = any(node.inputs[name].ragged_offset is not None for name in "qk")
    return f" with ragged offsets and heads of {size} elements" if ragged and size > 128 else ""


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
        found = _is_packed(node) and name in {**node.inputs, **node.outputs}
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
    evidence: tuple[Evidence, ...] = (),
) -> Fault:
    until = "" if at.repaired is None else f", repaired in {version_text(at.repaired)}"
    fault = fault or f"NVIDIA tells of a fault in cuDNN {version_text(at.since)}{until}"
    seen_by = reported("NVIDIA's front end 1.32", seen)
    return _row(name, operations, effect, fault, where, at, *evidence, seen_by, remedy=remedy)


def _not_seen(
    tracker: str,
    operations: str,
    effect: Effect,
    name: str,
    where: Callable[[Node], bool],
    at: Range,
    seen: str = "",
) -> Fault:
    """A report of others that is right here in the versions tried."""
    return _row(
        name,
        operations,
        effect,
        "others tell of a fault",
        lambda node: ", which others tell of" if where(node) else "",
        at,
        reported(tracker, seen, tried="9.14, 9.19"),
    )


def _long(node: Node) -> bool:
    mask, dims = mask_of(node), score_dims(node)
    return mask.left is mask.right is None and dims is not None and dims[3] > _LONG


def _is_packed(node: Node) -> bool:
    return any(each.ragged_offset is not None for each in (*node.operands, *node.results))


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
        "gradient without bounds",
        "sdpa_backward sdpa_fp8_backward",
        "NaN",
        "cuDNN gives NaN in gradients, or in 8 bits wrong maxima",
        unbounded,
        UNBOUNDED,
        measured(
            "9.14, 9.19",
            "What lies behind the last key or query counts: with a scale below 0 or of 0, with "
            "alibi, and where the logarithm of the sum of exponentials is below -88 with a rest "
            "of 64 keys of 128, of any with a modifier (2 of 2), or with one query. Of 8 bits "
            "amax_dK, amax_dP and amax_dV are too large where the keys fill no tile of 128. With "
            "lengths, with a right bound or with both bounds all are right; so are 16 bits of 9.14 "
            "and, with alibi, 9.27.",
            "57 of 220 graphs",
        ),
        reported("pytorch 196678", "dq, with a mask as bias; 9.19.0, 9.20.0."),
        reported("cudnn-frontend 628", "dq, without bias; before 9.26."),
        reported("cudnn-frontend 1072", "dk and dv of one query; 9.25.1, 9.26.0."),
        reported("trl 7181", "Preference training with 704 tokens; 9.20.0."),
        form="with the lengths of all tokens",
    ),
    _row(
        "one query with alibi, rng_dump or a sink",
        "sdpa",
        "wrong numbers",
        "cuDNN forgets them, or gives NaN for a sink far above the scores",
        one_query,
        ONE_QUERY,
        measured(
            "9.14, 9.19",
            "The kernel of engine 1 for more than 256 keys, paged or not; with a bound, with alibi "
            "as bias and in engine 2 it is right. A sink of 200 with statistics: 2 of 2.",
            "11 of 17 graphs",
        ),
        form="with a right bound behind the last key",
    ),
    _row(
        "modifier with a number for each sequence",
        "sdpa",
        "wrong numbers",
        "cuDNN takes the numbers of another sequence",
        _number_of_each_sequence,
        Range(91900),
        measured(
            "9.19, 9.28",
            "(b, h, 1, 1) and (b, 1, 1, 1), with two sequences or more; where softmax is the same "
            "with any number, none shows it. Operands for all sequences, or whole along queries or "
            "keys, are right: 457 plans. H100.",
            "22 of 29 graphs",
        ),
        remedy="give the operand whole along queries",
    ),
    _row(
        "modifier with spaced keys",
        "sdpa",
        "loses the CUDA context",
        "cuDNN takes the numbers of a row to lie beside each other, and reads beyond the end",
        _scores_with_spaced_keys,
        Range(91400),
        measured("9.19, 9.28", "In 9.14 right where asked; H100.", "6 of 16 graphs"),
        remedy="store the operand with its keys beside each other",
    ),
    _row(
        "pages of one query with alibi",
        "sdpa",
        "wrong numbers",
        "it gives wrong numbers for all but one of the heads that share a head of keys",
        _pages_of_one_query_with_alibi,
        ONE_QUERY,
        measured(
            "9.19",
            "Of 2,048 keys, 1,024 of them valid, with and without a bound; with alibi as bias, and "
            "with a head of keys for each, it is right.",
            "1 of 1 graph",
        ),
        remedy="give alibi as a bias",
        engines=(1,),
    ),
    _row(
        "scale of attention that is not positive",
        "sdpa sdpa_unified",
        "NaN",
        "it gives NaN",
        _scale_that_is_not_positive,
        Range(91400),
        measured(
            "9.14, 9.19",
            "Engine 2 of sdpa, 9 of unified attention and 5 of 9.14's; engine 1 is right, and so "
            "are all with lengths, two bounds, a bias or alibi, and in 9.19 with a modifier. A "
            "negative scale as a tensor was not tried.",
            "41 of 47 graphs",
        ),
        remedy="negate q, or give the lengths of all tokens",
        engines=(2, 5, 9),
    ),
    _row(
        "pages that fill no tile",
        "sdpa sdpa_unified",
        "leaves the memory",
        "it reads pages beyond the end",
        _pages_that_fill_no_tile,
        Range(91900),
        measured(
            "9.19",
            "Engine 2, of unified attention 9, where what lies there is not a number; with a "
            "multiple of 128 keys 12 of 12 are right, and engine 1 is in 71 of 71.",
            "3 of 26 graphs",
        ),
        remedy="give tables of pages for a multiple of 128 keys",
        engines=(2, 9),
    ),
    _row(
        "pages of 8 bits",
        "sdpa_fp8",
        "leaves the memory",
        "cuDNN reads pages beyond the end",
        _pages,
        Range(91900),
        measured(
            "9.19",
            "With a multiple of 128 keys 21 of 23 are right, with lengths that end within the "
            "last 128 keys not.",
            "33 of 89 graphs",
        ),
        data="what lies in other pages, or behind the last one, is not a number",
    ),
    _row(
        "sequence without keys",
        "sdpa sdpa_unified",
        "NaN",
        "most engines of cuDNN give NaN in o",
        _lengths,
        Range(91400),
        measured(
            "9.14, 9.19",
            "Engine 2, of unified attention 9; engine 1 gives 0 in 73 of 73, and all give 0 for "
            "queries to which a band leaves no key.",
            "156 of 156 graphs",
        ),
        data="a sequence has queries and no keys",
    ),
    _row(
        "sequence without keys in 8 bits",
        "sdpa_fp8",
        "does not end",
        "a kernel of cuDNN may not end",
        _lengths,
        Range(91900),
        measured("9.19", "Batches of 5; the others give 0.", "3 of 32 graphs"),
        data="a sequence has queries and no keys",
    ),
    _row(
        "gradient of a sequence without queries",
        "sdpa_backward",
        "NaN",
        "cuDNN gives NaN in dk and dv",
        _lengths,
        Range(91400, repaired=91900),
        measured("9.14", "Engine 2; engine 1, for some sizes, is right.", "10 of 10 graphs"),
        data="a sequence has keys and no queries",
    ),
    _row(
        "gradient of packed sequences with large heads",
        "sdpa_backward",
        "NaN",
        "cuDNN gives wrong gradients, NaN from element 128 of a head on",
        _packed_large_heads,
        Range(91400, repaired=91900),
        measured(
            "9.14",
            "Heads of 136 and 192 elements; one graph had a sequence without queries, too.",
            "4 of 4 graphs",
        ),
        remedy="store the sequences one beneath the other, and say their lengths",
    ),
    _row(
        "gradient of bias with a modifier",
        "sdpa_backward",
        "wrong numbers",
        "cuDNN gives a wrong dBias, or NaN in dk",
        _gradient_beside_the_scores,
        Range(91400),
        measured(
            "9.14, 9.19",
            "dBias with a modifier that has a derivative, and with a scale of 0; dk with both.",
            "17 of 28 graphs",
        ),
        remedy="take the gradient of the bias in a graph without the modifier",
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
            "31 of 31 graphs",
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
        Range(91400),
        measured(
            "9.14, 9.19",
            "46 graphs without such a sequence are right, and 9 with one but without a left bound.",
            "12 of 14 graphs",
        ),
        data="a sequence has more queries than keys",
    ),
    _not_seen(
        "cudnn-frontend 160",
        "sdpa_backward",
        "wrong numbers",
        "gradient of tokens that fill no tile",
        lambda node: (score_dims(node) or (0,))[-1] % 64 != 0,
        Range(91200, repaired=91300),
    ),
    _not_seen(
        "Transformer Engine 2186",
        "sdpa_backward",
        "NaN",
        "gradient of short packed sequences",
        lambda node: mask_of(node).right == 0 and _is_packed(node),
        Range(90701, repaired=91800),
        "A part of the workspace is read before it is written.",
    ),
    _not_seen(
        "Transformer Engine 2344",
        "sdpa sdpa_backward",
        "leaves the memory",
        "unmasked attention of many keys in a CUDA graph",
        _long,
        Range(91300, repaired=91401),
    ),
    _not_seen(
        "pytorch 163903",
        "sdpa sdpa_backward",
        "wrong numbers",
        "dropout of attention",
        lambda node: "dropout_probability" in node.options,
        Range(91100, repaired=91400),
    ),
    _not_seen(
        "pytorch 137347",
        "sdpa_backward",
        "wrong numbers",
        "gradient with a bias for a part of a tile",
        lambda node: "bias" in node.inputs and (score_dims(node) or (0,))[-1] % 64 != 0,
        Range(90000, repaired=90500),
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
        evidence=(
            measured("9.14, 9.19", "dSink is NaN where v has heads of 192 elements."),
            reported("Transformer Engine 3249", "dSink is NaN; before 9.26."),
        ),
        remedy="store the sequences one beneath the other, and say their lengths",
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
    _row(
        "uneven heads of deterministic gradients",
        "sdpa_backward",
        "leaves the memory",
        "cuDNN gives wrong gradients, or writes behind the workspace",
        uneven_heads,
        UNEVEN,
        measured(
            "9.19",
            "With lengths, and without use_deterministic_algorithm, all are right.",
            "3 of 14 graphs",
        ),
        form="with the lengths of all tokens",
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
