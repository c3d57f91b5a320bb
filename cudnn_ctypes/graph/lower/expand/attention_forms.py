"""Forms of attention that cuDNN computes right, in place of those that it computes wrong.

The table of faults has a row for each, which tells of it.
"""

from __future__ import annotations

from dataclasses import replace

from ....raw import cudnnDataType_t
from ....raw.faults import Range
from ...describe.node import Node
from ...describe.operations.attention_checks import Mask, mask_of, score_dims
from .builder import Builder

__all__ = [
    "ONE_QUERY",
    "UNBOUNDED",
    "UNEVEN",
    "form_of",
    "one_query",
    "scale_of",
    "unbounded",
    "uneven_heads",
]

ONE_QUERY = Range(91400)
UNBOUNDED = Range(91400, repaired=92700)
UNEVEN = Range(91400)
TAKEN = True  # not where the faults are measured

_INT32 = cudnnDataType_t.CUDNN_DATA_INT32
_NEEDS_LENGTHS = 91500  # up to this version, gradients where s_kv is no multiple of 128
_LONG = 256  # keys


def form_of(g: Builder, node: Node, dims: tuple[int, ...]) -> Mask:
    """The mask of a node whose scores have `dims`, in the form that cuDNN computes right."""
    mask, version = mask_of(node), g.target.version
    if TAKEN and g.fixed and g.target.capability in ONE_QUERY.capabilities:
        if version in ONE_QUERY and one_query(node):
            return replace(mask, right=dims[3])
        if version in UNBOUNDED and unbounded(node):
            return _with_lengths(g, mask, dims)
        if version in UNEVEN and uneven_heads(node):
            return _with_lengths(g, mask, dims)
    old = version <= _NEEDS_LENGTHS and node.operation == "sdpa_backward" and dims[3] % 128
    return _with_lengths(g, mask, dims) if old and mask.seq_len_q is None else mask


def _with_lengths(g: Builder, mask: Mask, dims: tuple[int, ...]) -> Mask:
    lengths = [
        g.constant((dims[0], 1, 1, 1), [size] * dims[0], _INT32, g.named(name))
        for name, size in (("seq_len_q", dims[2]), ("seq_len_kv", dims[3]))
    ]
    return replace(mask, seq_len_q=lengths[0], seq_len_kv=lengths[1])


def scale_of(node: Node) -> float:
    """The factor of the scores if it is a number, else 1."""
    return float(node.options.get("attn_scale", 1.0))


def one_query(node: Node) -> str:
    """The option that a kernel for one query computes wrong, in words."""
    mask, dims = mask_of(node), score_dims(node)
    if node.operation != "sdpa" or dims is None or dims[2] != 1 or dims[3] <= _LONG:
        return ""
    if mask.left is not None or mask.right is not None:
        return ""
    found = "use_alibi_mask" if mask.alibi else ""
    found = found or ("rng_dump" if "rng_dump" in node.outputs else "")
    found = found or ("sink_token" if "sink_token" in node.inputs else "")
    return f" with {found}, one query and {dims[3]} keys" if found else ""


def uneven_heads(node: Node) -> str:
    """Deterministic gradients of large heads of two sizes, without lengths."""
    size, of_values = node.inputs["q"].dims[3], node.inputs["v"].dims[3]
    dims, mask = score_dims(node), mask_of(node)
    if size <= 128 or size == of_values or dims is None:
        return ""
    if not node.options.get("use_deterministic_algorithm") or mask.seq_len_kv is not None:
        return ""
    return f": heads of {size} and {of_values} elements, {dims[2]} queries and {dims[3]} keys"


def unbounded(node: Node) -> str:
    """Gradients without bounds and lengths, whose last tile holds more than there is."""
    mask, dims = mask_of(node), score_dims(node)
    if dims is None or (mask.left, mask.right, mask.seq_len_kv) != (None, None, None):
        return ""
    if node.operation == "sdpa_fp8_backward":
        return f" with {dims[3]} keys" if dims[3] % 128 else ""
    if node.operation != "sdpa_backward":
        return ""
    if scale_of(node) <= 0:
        return f" with attn_scale {scale_of(node)}"
    if mask.alibi:
        return " with use_alibi_mask"
    return (
        f" with {dims[2]} queries and {dims[3]} keys" if dims[3] % 128 == 64 or dims[2] == 1 else ""
    )
