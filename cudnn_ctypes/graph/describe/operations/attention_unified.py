"""Attention as one operation of cuDNN's, not as the pattern of its parts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ..node import Kind, Node, Result, ports
from ..tensor import Tensor
from .attention import (
    Dropout,
    ScoreModifier,
    attention_arguments,
    band_options,
    dropout_options,
    forward_results,
)
from .attention_checks import AttentionCheck, check_mask
from .base import operation

_LARGEST = (1 << 31) - 1  # of 2**31 heads cuDNN 9.28 makes 0 and divides by it


def _infer_operation(node: Node) -> Mapping[str, Result]:
    q, v = node.inputs["q"], node.inputs["v"]
    return {
        "o": Result((*q.dims[:3], v.dims[3]), q, q.data_type),
        "stats": Result((*q.dims[:3], 1), None, "compute"),
    }


def _infer_operation_backward(node: Node) -> Mapping[str, Result]:
    gradients = {name: node.inputs[name] for name in ("q", "k", "v")}
    return {f"d{name}": Result(like.dims, like, like.data_type) for name, like in gradients.items()}


_SCALE_AND_LENGTHS = {
    "scale?": "scaledesc",
    "seq_len_q?": "seq_len_qdesc",
    "seq_len_kv?": "seq_len_kvdesc",
    "cu_seq_len_q?": "cu_seq_len_qdesc",
    "cu_seq_len_kv?": "cu_seq_len_kvdesc",
}

SDPA_OPERATION = Kind(
    "operation_sdpa_fwd",
    {
        "q": "qdesc",
        "k": "kdesc",
        "v": "vdesc",
        "block_mask?": "block_mask_desc",
        "page_table_k?": "page_table_kdesc",
        "page_table_v?": "page_table_vdesc",
        "dropout_seed?": "dropout_seed_desc",
        "dropout_offset?": "dropout_offset_desc",
        **_SCALE_AND_LENGTHS,
    },
    {"o": "odesc", "stats": "statsdesc", "rng_dump": "dropout_rng_dump_desc"},
    _infer_operation,
    options={"unfuse_fma": "unfuse_fma", "dropout_probability": "dropout_probability"},
    subgraphs=frozenset({"score_mod", "softmax"}),
    held_graphs={"score_mod": "subgraph"},
    held_operations={"softmax": "softmax_desc"},
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
        **_SCALE_AND_LENGTHS,
    },
    {"dq": "dqdesc", "dk": "dkdesc", "dv": "dvdesc"},
    _infer_operation_backward,
    options={
        "max_total_seq_len_q": "max_total_seq_len_q",
        "max_total_seq_len_kv": "max_total_seq_len_kv",
    },
)


def _check_sizes(node: Node) -> None:
    for port in "qkv":
        tensor = node.inputs[port]
        if max(tensor.dims) > _LARGEST:
            node.refuse(f"{port} {tensor.name!r} {tensor.dims}: a size must fit in 32 bits")


def _check_forward(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.forward(node)
    check_mask(node, check)
    check.softmax_parts(node, alone=False)


def _infer_forward(node: Node) -> Mapping[str, Result]:
    _check_forward(node)
    _check_sizes(node)
    return forward_results(node, "compute", node.inputs["q"].data_type)


def _check_backward(node: Node) -> None:
    check = AttentionCheck(str(node))
    check.gradients(node)
    q = node.inputs["q"]
    check.lengths(node, q.dims[0] if q.dims else None)


def _infer_backward(node: Node) -> Mapping[str, Result]:
    _check_backward(node)
    _check_sizes(node)
    return _infer_operation_backward(node)


SDPA_UNIFIED = Kind(
    "",
    ports(
        "q k v block_mask? bias? sink_token? dropout_seed? dropout_offset? "
        "paged_attention_k_table? paged_attention_v_table? attn_scale? seq_len_q? seq_len_kv? "
        "cu_seq_len_q? cu_seq_len_kv?"
    ),
    ports("o stats rng_dump score_max score_sum_exp"),
    _infer_forward,
    own_options={
        "attn_scale": float,
        "use_alibi_mask": bool,
        "unfuse_fma": bool,
        **band_options,
        **dropout_options,
        "paged_attention_max_seq_len_kv": int,
    },
    check=_check_forward,
    subgraphs=frozenset({"score_mod"}),
)
SDPA_UNIFIED_BACKWARD = Kind(
    "",
    ports("q k v o dO stats attn_scale? seq_len_q? seq_len_kv? cu_seq_len_q? cu_seq_len_kv?"),
    ports("dq dk dv"),
    _infer_backward,
    own_options={"attn_scale": float, "max_total_seq_len_q": int, "max_total_seq_len_kv": int},
    check=_check_backward,
)


@operation(SDPA_UNIFIED, returns=("o", "stats?"), computes=False, prepare=attention_arguments)
def sdpa_unified(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    *,
    attn_scale: Tensor | float | None = None,
    generate_stats: bool = False,
    bias: Tensor | None = None,
    block_mask: Tensor | None = None,
    use_alibi_mask: bool = False,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    cu_seq_len_q: Tensor | None = None,
    cu_seq_len_kv: Tensor | None = None,
    use_causal_mask: bool = False,
    use_causal_mask_bottom_right: bool = False,
    sliding_window_length: int | None = None,
    diagonal_alignment: str = "top_left",
    diagonal_band_left_bound: int | None = None,
    diagonal_band_right_bound: int | None = None,
    dropout: Dropout | None = None,
    rng_dump: Tensor | None = None,
    paged_attention_k_table: Tensor | None = None,
    paged_attention_v_table: Tensor | None = None,
    paged_attention_max_seq_len_kv: int | None = None,
    sink_token: Tensor | None = None,
    score_mod: ScoreModifier | None = None,
    score_max: Tensor | None = None,
    score_sum_exp: Tensor | None = None,
    unfuse_fma: bool = False,
) -> Mapping[str, Any]:
    """`sdpa` as one operation, which holds what modifies and masks its scores. cuDNN 9.13.

    ``CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR``.

    Parameters
    ----------
    q, k, v, attn_scale, generate_stats
        As for `sdpa`.
    bias, use_alibi_mask, use_causal_mask, …, sink_token, score_mod, score_max, score_sum_exp
        As for `sdpa`; score_max and score_sum_exp also together with stats. cuDNN 9.21.
    block_mask : Tensor, optional
        (b, h, …, …), uint8: bits for the blocks of scores that take part. cuDNN 9.14; GPUs from
        Blackwell on.
    paged_attention_k_table, paged_attention_v_table, seq_len_q, seq_len_kv : Tensor, optional
        As for `sdpa`. cuDNN 9.15.
    cu_seq_len_q, cu_seq_len_kv : Tensor, optional
        (b + 1, 1, 1, 1), int32, in place of seq_len_q and seq_len_kv: for each sequence the sum
        of the lengths before it, then that of all. cuDNN 9.24; one of each kind, 9.25.
    dropout : (probability, seed, offset), optional
        As for `sdpa`, but not by a mask. cuDNN 9.22.
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
    if isinstance(dropout, (tuple, list)) and dropout and isinstance(dropout[0], Tensor):
        raise ValueError("sdpa_unified: dropout by a mask: only `sdpa` has it")
    return {}


@operation(
    SDPA_UNIFIED_BACKWARD, returns=("dq", "dk", "dv"), computes=False, prepare=attention_arguments
)
def sdpa_unified_backward(
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
    cu_seq_len_q: Tensor | None = None,
    cu_seq_len_kv: Tensor | None = None,
    max_total_seq_len_q: int | None = None,
    max_total_seq_len_kv: int | None = None,
) -> None:
    """The gradients of `sdpa_unified`: dq, dk, dv. cuDNN 9.17; for an H200 9.28.

    ``CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR``.

    Parameters
    ----------
    q, k, v, o, dO, stats, …
        As for `sdpa_backward`.
    cu_seq_len_q, cu_seq_len_kv : Tensor, optional
        As for `sdpa_unified`. cuDNN 9.28.
    max_total_seq_len_q, max_total_seq_len_kv : int, optional
        With packed sequences, how many tokens all of them have at most: for less workspace.
        cuDNN 9.21.

    Returns
    -------
    dq, dk, dv : Tensor
        Like q, k, v.
    """
