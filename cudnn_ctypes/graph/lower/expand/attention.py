"""Scaled dot-product attention as the pattern that cuDNN recognizes.

cuDNN finds the matrix products and the softmax of the flash attention papers in the graph and
carries them out as one kernel.
"""

from __future__ import annotations

from ...describe.node import Node
from ...describe.operations.attention_checks import score_dims
from ...describe.tensor import Tensor
from .attention_forms import form_of
from .attention_scores import add_scores, add_softmax, kept_by_dropout
from .builder import Builder

__all__ = ["expand_sdpa", "has_dropout", "unpaged"]


def has_dropout(node: Node) -> bool:
    return "dropout_mask" in node.inputs or "dropout_probability" in node.options


def expand_sdpa(g: Builder, node: Node) -> None:
    """Two products with the softmax between."""
    dims = score_dims(node)
    assert dims is not None
    mask = form_of(g, node, dims)
    q, (k, v) = node.inputs["q"], (unpaged(g, node, port, dims) for port in "kv")
    p = add_softmax(g, node, add_scores(g, node, k, mask, [g.softmax_scale(node)], dims))
    if has_dropout(node):
        kept, scale = kept_by_dropout(g, node, dims)
        by_mask = "dropout_mask" in node.inputs
        for factor in (scale, kept) if by_mask else (kept, scale):
            p = g.mul(p, factor)
    g.follow(p, q)
    o = g.matmul(p, v, m_override=mask.seq_len_q, k_override=mask.seq_len_kv, name=g.named("o"))
    g.into(o, node.outputs["o"])


def unpaged(g: Builder, node: Node, port: str, dims: tuple[int, ...]) -> Tensor:
    """Keys or values of a node whose scores have `dims`, from their pages if they have some."""
    pages, table = node.inputs[port], node.inputs.get(f"paged_attention_{port}_table")
    if table is None:
        return pages  # type: ignore[no-any-return]
    return g.paged_cache_load(pages, table, node.inputs["seq_len_kv"], dims[3])
