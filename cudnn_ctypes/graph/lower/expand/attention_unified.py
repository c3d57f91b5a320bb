"""Attention as cuDNN's own operation for it."""

from __future__ import annotations

from ...describe.node import Node
from ...describe.operations.attention_unified import (
    SDPA_OPERATION,
    SDPA_OPERATION_BACKWARD,
    SDPA_UNIFIED,
)
from .builder import Builder

__all__ = ["expand_sdpa_unified"]

_NAMES = {"paged_attention_k_table": "page_table_k", "paged_attention_v_table": "page_table_v"}


def expand_sdpa_unified(g: Builder, node: Node) -> None:
    """One operation, with the scale as an operand."""
    forward = node.kind is SDPA_UNIFIED
    operands = {_NAMES.get(port, port): tensor for port, tensor in node.inputs.items()}
    operands.pop("attn_scale", None)
    operands["scale"] = g.softmax_scale(node)
    g.append(
        SDPA_OPERATION if forward else SDPA_OPERATION_BACKWARD,
        node.operation,
        operands,
        {"unfuse_fma": True} if "unfuse_fma" in node.options else {},
        node.outputs,
    )
