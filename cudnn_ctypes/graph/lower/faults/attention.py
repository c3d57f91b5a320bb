"""Attention that cuDNN computes wrong: what we measured, and what NVIDIA tells of.

NVIDIA's front end 1.32 refuses graphs for reasons that are faults of cuDNN's; its conditions stand
here in our own words. Limits of what a version supports do not: cuDNN says them itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from ....dtypes import element_bits
from ....raw import cudnnDataType_t
from ....raw.faults.rows import rows
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


def _scores_with_spaced_keys(node: Node) -> str:
    """In 16 bits pairs are read where every step but that of 1, not of the keys, is even.

    Of a single key only whole operands are read so.
    """
    dims = score_dims(node) or (1, 1, 1, 1)
    alike = range(2 if dims[3] > 1 else 0, 4)
    for each in _operands_of_scores(node):
        shape, strides = each.dims or (), each.strides or ()
        last = 3 if dims[2] * dims[3] > 1 else None  # the step of the keys, also of one
        steps = [strides[axis] for axis in range(4) if axis == last or shape[axis] != 1]
        pairs = all(step == 1 or step % 2 == 0 for step in steps)
        spaced = all(shape[axis] == dims[axis] for axis in alike) and strides[3] != 1
        if spaced and pairs and element_bits(each.data_type) == 16:
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


def _fills_no_tile(node: Node) -> bool:
    return (score_dims(node) or (0,))[-1] % 64 != 0


def _long(node: Node) -> bool:
    mask, dims = mask_of(node), score_dims(node)
    return mask.left is mask.right is None and dims is not None and dims[3] > _LONG


def _is_packed(node: Node) -> bool:
    return any(each.ragged_offset is not None for each in (*node.operands, *node.results))


def _told(where: Callable[[Node], bool]) -> Callable[[Node], str]:
    """Rows of reports of others that are right here in the versions tried."""
    return lambda node: ", which others tell of" if where(node) else ""


def _in_a_call(where: Callable[[Node], str], operations: str) -> Callable[[Graph], str]:
    def of_a_graph(graph: Graph) -> str:
        nodes = graph.as_written(*operations.split())
        return next((f"{node}{told}" for node in nodes if (told := where(node))), "")

    return of_a_graph


_WHERE: dict[str, Callable[[Node], str]] = {
    "strided statistics of attention": _strided_statistics,
    "gradient of queries in 8 bits": _part_of_a_tile,
    "gradient of a sink with dropout": _sink_with_dropout,
    "gradient of one row of bias": _one_row_of_bias,
    "gradient without bounds": unbounded,
    "one query with alibi, rng_dump or a sink": one_query,
    "modifier with spaced keys": _scores_with_spaced_keys,
    "pages of one query with alibi": _pages_of_one_query_with_alibi,
    "scale of attention that is not positive": _scale_that_is_not_positive,
    "pages that fill no tile": _pages_that_fill_no_tile,
    "pages of 8 bits": _pages,
    "sequence without keys": _lengths,
    "sequence without keys in 8 bits": _lengths,
    "gradient of a sequence without queries": _lengths,
    "gradient of packed sequences with large heads": _packed_large_heads,
    "gradient of bias with a modifier": _gradient_beside_the_scores,
    "packed statistics of one query": _packed_statistics_of_one_query,
    "band of attention in 8 bits": _band_by_length,
    "gradient of tokens that fill no tile": _told(_fills_no_tile),
    "gradient of short packed sequences": _told(lambda n: mask_of(n).right == 0 and _is_packed(n)),
    "unmasked attention of many keys in a CUDA graph": _told(_long),
    "dropout of attention": _told(lambda node: "dropout_probability" in node.options),
    "gradient with a bias for a part of a tile": _told(
        lambda node: "bias" in node.inputs and _fills_no_tile(node)
    ),
    "attention of 9.10": lambda node: " in these versions",
    "8-bit attention of 9.10": lambda node: " in these versions",
    "window of attention without a right bound": _window_without_a_right_bound,
    "sink of packed sequences": _packed_with("sink_token"),
    "strided statistics of attention's forward pass": _strided_statistics,
    "statistics of attention in 16 bits": _statistics_in_16_bits,
    "block mask of unified attention": _block_mask,
    "gradient of bias of packed sequences": _packed_with("dBias"),
    "uneven heads of deterministic gradients": uneven_heads,
    "uneven heads in attention's backward pass": _uneven_heads,
}
ATTENTION = rows(
    Path(__file__).with_name("attention.json"),
    _WHERE,
    _in_a_call,
    # Where the lowering takes another form.
    {
        "gradient without bounds": UNBOUNDED,
        "one query with alibi, rng_dump or a sink": ONE_QUERY,
        "pages of one query with alibi": ONE_QUERY,
        "uneven heads of deterministic gradients": UNEVEN,
    },
)
