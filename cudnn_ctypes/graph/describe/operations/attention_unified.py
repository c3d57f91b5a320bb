"""Attention as one operation of cuDNN's, not as the pattern of its parts."""

from __future__ import annotations

from collections.abc import Mapping

from ..node import Kind, Node, Result
from ..tensor import Tensor
from .attention import AttentionOperations
from .attention_checks import AttentionCheck

__all__ = [
    "SDPA_OPERATION",
    "SDPA_OPERATION_BACKWARD",
    "SDPA_UNIFIED",
    "SDPA_UNIFIED_BACKWARD",
    "UnifiedAttentionOperations",
]

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


def _check_forward(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.forward(node)
    q = node.inputs["q"]
    lengths = {name: node.inputs.get(name) for name in ("seq_len_q", "seq_len_kv")}
    check.lengths(lengths, q.dims[0] if q.dims else None)


def _infer_forward(node: Node) -> Mapping[str, Result]:
    _check_operands(node)
    if node.kind.check is not None:
        node.kind.check(node)
    q, v = node.inputs["q"], node.inputs["v"]
    results = {"o": Result((*q.dims[:3], v.dims[3]), q, q.data_type)}
    if "stats" in node.outputs:
        results["stats"] = Result((*q.dims[:3], 1), None, "compute")
    return results


def _check_backward(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.gradients(*(node.inputs[port] for port in ("q", "k", "v", "o", "dO", "stats")))
    lengths = {name: node.inputs.get(name) for name in ("seq_len_q", "seq_len_kv")}
    q = node.inputs["q"]
    check.lengths(lengths, q.dims[0] if q.dims else None)


def _infer_backward(node: Node) -> Mapping[str, Result]:
    _check_operands(node)
    if node.kind.check is not None:
        node.kind.check(node)
    results = {}
    for name in ("q", "k", "v"):
        like = node.inputs[name]
        results[f"d{name}"] = Result(like.dims, like, like.data_type)
    return results


SDPA_OPERATION = Kind(
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
SDPA_OPERATION_BACKWARD = Kind(
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


_OPTIONAL = ("attn_scale", "seq_len_q", "seq_len_kv")
_PAGES = ("paged_attention_k_table", "paged_attention_v_table")
SDPA_UNIFIED = Kind(
    "",
    dict.fromkeys(("q", "k", "v", "block_mask", *_PAGES, *_OPTIONAL), ""),
    dict.fromkeys(("o", "stats"), ""),
    _infer_forward,
    optional=frozenset({"block_mask", *_PAGES, *_OPTIONAL}),
    own_options={"attn_scale": float, "unfuse_fma": bool},
    check=_check_forward,
)
SDPA_UNIFIED_BACKWARD = Kind(
    "",
    dict.fromkeys(("q", "k", "v", "o", "dO", "stats", *_OPTIONAL), ""),
    dict.fromkeys(("dq", "dk", "dv"), ""),
    _infer_backward,
    optional=frozenset(_OPTIONAL),
    own_options={"attn_scale": float},
    check=_check_backward,
)


class UnifiedAttentionOperations(AttentionOperations):
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
        name: str = "",
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
        results = self._attention(
            SDPA_UNIFIED,
            "sdpa_unified",
            {
                "q": q,
                "k": k,
                "v": v,
                "block_mask": block_mask,
                "paged_attention_k_table": paged_attention_k_table,
                "paged_attention_v_table": paged_attention_v_table,
                "seq_len_q": seq_len_q,
                "seq_len_kv": seq_len_kv,
            },
            {"attn_scale": attn_scale, "unfuse_fma": unfuse_fma},
            ("o", "stats"),
            {},
            name,
            generate_stats=generate_stats,
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
        name: str = "",
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of `sdpa_unified`: dq, dk, dv. cuDNN 9.17; for an H200 9.28.

        ``CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR``.

        Parameters
        ----------
        q, k, v, o, dO, stats, …
            As for `sdpa_backward`.
        """
        operands = {
            "q": q,
            "k": k,
            "v": v,
            "o": o,
            "dO": dO,
            "stats": stats,
            "seq_len_q": seq_len_q,
            "seq_len_kv": seq_len_kv,
        }
        results = self._attention(
            SDPA_UNIFIED_BACKWARD,
            "sdpa_unified_backward",
            operands,
            {"attn_scale": attn_scale},
            ("dq", "dk", "dv"),
            {},
            name,
        )
        return results["dq"], results["dk"], results["dv"]
