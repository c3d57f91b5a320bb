"""Attention on 8-bit floating-point numbers, with a scale for each tensor.

A tensor t is stored as t * scale_t, and descale_t = 1 / scale_t gives it back. From amax, the
largest magnitude of a result before its scale, the scale of the next time is chosen (Micikevicius
et al.: FP8 formats for deep learning; 2022). In between, s is the softmax and dP the gradient of
the scores. All scales and maxima are (1, 1, 1, 1), float32.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ....raw import cudnnDataType_t
from ..node import Kind, Node, Result, ports
from ..tensor import Tensor
from .attention import attention_arguments, band_options, forward_results, gradient_of
from .attention_checks import AttentionCheck, check_mask
from .base import Operations, operation

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT
_AMAX = Result((1, 1, 1, 1), None, _FLOAT)


def _check_forward(node: Node) -> None:
    check = AttentionCheck(str(node))
    tensors = {port: node.inputs[port] for port in "qkv"}
    check.forward(node)
    check.fp8(tensors)
    check_mask(node, check)


def _infer_forward(node: Node) -> Mapping[str, Result]:
    _check_forward(node)
    results = forward_results(node, _FLOAT, node.inputs["q"].data_type)
    return {**results, "amax_s": _AMAX, "amax_o": _AMAX}


def _check_backward(node: Node) -> None:
    check = AttentionCheck(str(node))
    tensors = {port: node.inputs[port] for port in ("q", "k", "v", "o", "dO")}
    check.gradients(node)
    check.same_heads(node)
    check.fp8(tensors)
    check_mask(node, check)


def _infer_backward(node: Node) -> Mapping[str, Result]:
    _check_backward(node)
    data_type = node.inputs["dO"].data_type
    results = {f"d{port}": gradient_of(node.inputs[port], data_type) for port in "qkv"}
    return results | dict.fromkeys(("amax_dQ", "amax_dK", "amax_dV", "amax_dP"), _AMAX)


SDPA_FP8 = Kind(
    "",
    ports(
        "q k v descale_q descale_k descale_v descale_s scale_s scale_o attn_scale? seq_len_q? "
        "seq_len_kv? paged_attention_k_table? paged_attention_v_table?"
    ),
    ports("o stats amax_s amax_o"),
    _infer_forward,
    own_options={"attn_scale": float, **band_options, "paged_attention_max_seq_len_kv": int},
    check=_check_forward,
    unread=frozenset({"stats"}),
)
SDPA_FP8_BACKWARD = Kind(
    "",
    ports(
        "q k v o dO stats descale_q descale_k descale_v descale_o descale_dO descale_s descale_dP "
        "scale_s scale_dQ scale_dK scale_dV scale_dP attn_scale? seq_len_q? seq_len_kv?"
    ),
    ports("dq dk dv amax_dQ amax_dK amax_dV amax_dP"),
    _infer_backward,
    own_options={"attn_scale": float, **band_options},
    check=_check_backward,
)


def _fp8_arguments(graph: Operations, kind: Kind, place: str, arguments: dict[str, Any]) -> None:
    operands = {port: arguments[port] for port in "qkv"}
    AttentionCheck(place).fp8(operands, getattr(graph, "io_data_type", None))
    attention_arguments(graph, kind, place, arguments)


@operation(
    SDPA_FP8, returns=("o", "stats?", "amax_s", "amax_o"), computes=False, prepare=_fp8_arguments
)
def sdpa_fp8(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    descale_q: Tensor,
    descale_k: Tensor,
    descale_v: Tensor,
    descale_s: Tensor,
    scale_s: Tensor,
    scale_o: Tensor,
    *,
    attn_scale: Tensor | float | None = None,
    generate_stats: bool = False,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    use_causal_mask: bool = False,
    use_causal_mask_bottom_right: bool = False,
    sliding_window_length: int | None = None,
    diagonal_alignment: str = "top_left",
    diagonal_band_left_bound: int | None = None,
    diagonal_band_right_bound: int | None = None,
    paged_attention_k_table: Tensor | None = None,
    paged_attention_v_table: Tensor | None = None,
    paged_attention_max_seq_len_kv: int | None = None,
) -> None:
    """`sdpa` on fp8_e4m3 or fp8_e5m2. cuDNN 9.1, from Hopper on.

    Parameters
    ----------
    q, k, v : Tensor
        (b, h, s_q, d), (b, h_k, s_kv, d), (b, h_v, s_kv, d_v); d a multiple of 16. With tables
        k and v are pages: (pages, h_k, tokens of a page, d).
    descale_q, descale_k, descale_v, descale_s, scale_s, scale_o : Tensor
        (1, 1, 1, 1), float32.
    attn_scale, seq_len_q, paged_attention_k_table, …
        As for `sdpa`.

    Returns
    -------
    o : Tensor
        (b, h, s_q, d_v), of the type of q.
    stats : Tensor or None
        (b, h, s_q, 1), float32.
    amax_s, amax_o : Tensor
        The largest element of the softmax, and the largest magnitude of o before scale_o. cuDNN
        wants memory for both.

    Notes
    -----
    There is no `score_mod` as in `sdpa`: cuDNN accepts it, but applies it before attn_scale,
    descale_q and descale_k (seen on an H200 with 9.14, 9.19 and 9.28). Nor are there
    `score_max` and `score_sum_exp`: the maxima would come multiplied by log2(e).
    """


@operation(
    SDPA_FP8_BACKWARD,
    returns=tuple(SDPA_FP8_BACKWARD.outputs),
    computes=False,
    prepare=_fp8_arguments,
)
def sdpa_fp8_backward(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    o: Tensor,
    dO: Tensor,
    stats: Tensor,
    descale_q: Tensor,
    descale_k: Tensor,
    descale_v: Tensor,
    descale_o: Tensor,
    descale_dO: Tensor,
    descale_s: Tensor,
    descale_dP: Tensor,
    scale_s: Tensor,
    scale_dQ: Tensor,
    scale_dK: Tensor,
    scale_dV: Tensor,
    scale_dP: Tensor,
    *,
    attn_scale: Tensor | float | None = None,
    seq_len_q: Tensor | None = None,
    seq_len_kv: Tensor | None = None,
    use_causal_mask: bool = False,
    use_causal_mask_bottom_right: bool = False,
    diagonal_alignment: str = "top_left",
    diagonal_band_left_bound: int | None = None,
    diagonal_band_right_bound: int | None = None,
) -> None:
    """The gradients of `sdpa_fp8`. cuDNN 9.1, from Hopper on; there d and d_v must be 128.

    Parameters
    ----------
    q, k, v, o, dO : Tensor
        fp8_e4m3 or fp8_e5m2; dO (b, h, s_q, d_v) may have the other type.
    stats : Tensor
        (b, h, s_q, 1), float32, packed as in C.
    descale_q, descale_k, descale_v, descale_o, descale_dO, descale_s, descale_dP : Tensor
        (1, 1, 1, 1), float32: what each is multiplied with where it is read.
    scale_s, scale_dQ, scale_dK, scale_dV, scale_dP : Tensor
        (1, 1, 1, 1), float32: what each is multiplied with before it is rounded.

    Returns
    -------
    dq, dk, dv : Tensor
        Like q, k, v, of the type of dO.
    amax_dQ, amax_dK, amax_dV, amax_dP : Tensor
        Largest magnitudes before the scales. cuDNN wants memory for all of them.

    Notes
    -----
    q, k and v have the same number of heads.
    """
