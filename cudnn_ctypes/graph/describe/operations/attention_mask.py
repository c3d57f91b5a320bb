"""Which keys a query of attention may look at, as its node says."""

from __future__ import annotations

from dataclasses import dataclass

from ..node import Node
from ..tensor import Tensor

__all__ = ["Mask", "is_paged", "mask_of", "score_dims"]


@dataclass(frozen=True)
class Mask:
    """Which keys a query may look at, and what is added to its scores.

    Query i may look at key j if i' - left < j <= i' + right, where i' = i; from the bottom right
    i' = i + s_kv - s_q.

    Attributes
    ----------
    left, right : int, optional
        The band around the diagonal; a causal mask has right = 0.
    bottom_right : bool
        Count from the last query and key, not from the first.
    bias : Tensor, optional
        (b or 1, h or 1, s_q or 1, s_kv), added to the scores.
    alibi : bool
        Add to each score the distance j - i times the slope of its head.
    seq_len_q, seq_len_kv : Tensor, optional
        (b, 1, 1, 1), int32 or int64: what lies beyond is padding.
    """

    left: int | None = None
    right: int | None = None
    bottom_right: bool = False
    bias: Tensor | None = None
    alibi: bool = False
    seq_len_q: Tensor | None = None
    seq_len_kv: Tensor | None = None


def mask_of(node: Node) -> Mask:
    """The mask that the options and operands of a node of attention say."""
    options = node.options
    left, right = (options.get(f"diagonal_band_{side}_bound") for side in ("left", "right"))
    last = bool(options.get("use_causal_mask_bottom_right"))
    return Mask(
        options.get("sliding_window_length") if left is None else left,
        0 if last or options.get("use_causal_mask") else right,
        last or options.get("diagonal_alignment") == "bottom_right",
        node.inputs.get("bias"),
        bool(options.get("use_alibi_mask")),
        node.inputs.get("seq_len_q"),
        node.inputs.get("seq_len_kv"),
    )


def is_paged(node: Node) -> bool:
    """Whether keys or values of a node of attention lie in pages."""
    return any(f"paged_attention_{port}_table" in node.inputs for port in "kv")


def score_dims(node: Node) -> tuple[int, ...] | None:
    """(b, h, s_q, s_kv) of a node of attention; None if the dims of its operands do not say."""
    q = node.inputs["q"]
    for port in "kv":
        tensor, table = node.inputs[port], node.inputs.get(f"paged_attention_{port}_table")
        length = None if tensor.dims is None else tensor.dims[2]
        if table is not None:
            longest = node.options.get("paged_attention_max_seq_len_kv")
            pages = None if length is None or table.dims is None else length * table.dims[2]
            length = pages if longest is None else longest
        if q.dims is not None and length is not None:
            return (*q.dims[:3], length)
    return None
