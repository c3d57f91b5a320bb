"""Attention as one operation of cuDNN's, not as the pattern of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from ..node import Kind, Node, Result
from ..tensor import Tensor
from .attention import softmax_scale
from .attention_checks import AttentionCheck
from .base import Operations

__all__ = ["SDPA_BACKWARD", "SDPA_FORWARD", "UnifiedAttentionOperations"]

_LARGEST = (1 << 31) - 1  # of 2**31 heads cuDNN 9.28 makes 0 and divides by it


def _check_operands(node: Node) -> None:
    for port in "qkv":
        tensor = node.inputs[port]
        if tensor.rank != 4:
            node.refuse(
                f"{port} {tensor.name!r} {tensor.dims} must be (batch, heads, tokens, head size)"
            )
        if max(tensor.dims) > _LARGEST:
            node.refuse(f"{port} {tensor.name!r} {tensor.dims}: a size must fit in 32 bits")


def _infer_forward(node: Node) -> Mapping[str, Result]:
    _check_operands(node)
    q, v = node.inputs["q"], node.inputs["v"]
    results = {"o": Result((*q.dims[:3], v.dims[3]), q, q.data_type)}
    if "stats" in node.outputs:
        results["stats"] = Result((*q.dims[:3], 1), None, "compute")
    return results


def _infer_backward(node: Node) -> Mapping[str, Result]:
    _check_operands(node)
    results = {}
    for name in ("q", "k", "v"):
        like = node.inputs[name]
        results[f"d{name}"] = Result(like.dims, like, like.data_type)
    return results


SDPA_FORWARD = Kind(
    "operation_sdpa_fwd",
    {
        "q": "qdesc",
        "k": "kdesc",
        "v": "vdesc",
        "scale": "scaledesc",
        "block_mask": "block_mask_desc",
        "page_table_k": "page_table_kdesc",
        "page_table_v": "page_table_vdesc",
        "seq_len_q": "seq_len_qdesc",
        "seq_len_kv": "seq_len_kvdesc",
    },
    {"o": "odesc", "stats": "statsdesc"},
    _infer_forward,
    optional=frozenset(
        {
            "scale",
            "block_mask",
            "page_table_k",
            "page_table_v",
            "seq_len_q",
            "seq_len_kv",
        }
    ),
    options={"unfuse_fma": "unfuse_fma"},
)
SDPA_BACKWARD = Kind(
    "operation_sdpa_bwd",
    {
        "q": "qdesc",
        "k": "kdesc",
        "v": "vdesc",
        "o": "odesc",
        "dO": "doddesc",
        "stats": "statsdesc",
        "scale": "scaledesc",
        "seq_len_q": "seq_len_qdesc",
        "seq_len_kv": "seq_len_kvdesc",
    },
    {"dq": "dqdesc", "dk": "dkdesc", "dv": "dvdesc"},
    _infer_backward,
    optional=frozenset({"scale", "seq_len_q", "seq_len_kv"}),
)


class UnifiedAttentionOperations(Operations):
    """Attention as one operation of a graph."""

    def sdpa_unified(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        attn_scale: Tensor | float | None = None,
        generate_stats: bool = False,
        block_mask: Tensor | None = None,
        paged_attention_k_table: Tensor | None = None,
        paged_attention_v_table: Tensor | None = None,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        unfuse_fma: bool = False,
        name: str = "sdpa_unified",
    ) -> tuple[Tensor, Tensor | None]:
        """`sdpa` as one operation, without masks within the sequences. cuDNN 9.13.

        ``CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR``.

        Parameters
        ----------
        q, k, v, attn_scale, generate_stats
            As for `sdpa`.
        block_mask : Tensor, optional
            (b, h, …, …), uint8: bits for the blocks of scores that take part. cuDNN 9.14; GPUs from
            Blackwell on.
        paged_attention_k_table, paged_attention_v_table, seq_len_q, seq_len_kv : Tensor, optional
            As for `sdpa`. cuDNN 9.15.
        unfuse_fma : bool
            Round the products of the softmax before they are added, on GPUs from Blackwell on.
            cuDNN 9.21.

        Returns
        -------
        o : Tensor
            (b, h, s_q, d_v).
        stats : Tensor or None
            (b, h, s_q, 1), float32.
        """
        check = AttentionCheck(f"sdpa_unified {name!r}")
        check.flags(generate_stats=generate_stats, unfuse_fma=unfuse_fma)
        tables = (paged_attention_k_table, paged_attention_v_table)
        check.operands(q, k, v, paged=any(each is not None for each in tables))
        lengths = {"seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv}
        check.lengths(lengths, q.dims[0] if q.dims else None)
        operands = {
            "q": q,
            "k": k,
            "v": v,
            "scale": softmax_scale(q, attn_scale),
            "block_mask": block_mask,
            "page_table_k": paged_attention_k_table,
            "page_table_v": paged_attention_v_table,
            **lengths,
        }
        outputs = ("o", "stats") if generate_stats else ("o",)
        options = {"unfuse_fma": True} if unfuse_fma else {}
        results = self._add(
            SDPA_FORWARD, "sdpa_unified", operands, options, outputs=outputs, name=name
        )
        return results["o"], results.get("stats")

    def sdpa_unified_backward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        o: Tensor,
        dO: Tensor,
        stats: Tensor,
        *,
        attn_scale: Tensor | float | None = None,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        name: str = "sdpa_unified_backward",
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of `sdpa_unified`: dq, dk, dv. cuDNN 9.17; for an H200 9.28.

        ``CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR``.

        Parameters
        ----------
        q, k, v, o, dO, stats, …
            As for `sdpa_backward`.
        """
        check = AttentionCheck(f"sdpa_unified_backward {name!r}")
        check.gradients(q, k, v, o, dO, stats)
        lengths = {"seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv}
        check.lengths(lengths, q.dims[0] if q.dims else None)
        operands = {
            "q": q,
            "k": k,
            "v": v,
            "o": o,
            "dO": dO,
            "stats": stats,
            "scale": softmax_scale(q, attn_scale),
            **lengths,
        }
        results = self._add(SDPA_BACKWARD, "sdpa_unified_backward", operands, name=name)
        return results["dq"], results["dk"], results["dv"]
