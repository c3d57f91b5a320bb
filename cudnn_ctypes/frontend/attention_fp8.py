"""The attention methods of a `pygraph` for operands of 8 bits, with their scales."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .attention_options import (
    TOP_LEFT,
    AttentionOptions,
    band,
    of_unified,
    padding,
    wants_stats,
)
from .enums import attention_implementation, data_type, diagonal_alignment
from .tensors import tensor

__all__ = ["Fp8AttentionMethods"]

_NOT_SET = data_type.NOT_SET
_Modifier = Callable[[Any, tensor], tensor]


class Fp8AttentionMethods(AttentionOptions):
    """`sdpa` with one scale for each tensor, or one for each block of 32 (mxfp8)."""

    def sdpa_fp8(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        descale_s: tensor,
        scale_s: tensor,
        scale_o: tensor,
        is_inference: bool | None = None,
        attn_scale: float | tensor | None = None,
        bias: tensor | None = None,
        use_alibi_mask: bool = False,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window: int | None = None,
        diagonal_alignment: diagonal_alignment = TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        dropout: Any = None,
        rng_dump: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        fn: _Modifier | None = None,
        generate_stats: bool | None = None,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
        implementation: attention_implementation = attention_implementation.AUTO,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
        out_dims: Any = None,
    ) -> list[Any]:
        """[O, Stats, Amax_S, Amax_O]: `sdpa` of fp8 operands with their scales.

        `fn`, `score_max` and `score_sum_exp` are refused: cuDNN computes them wrong for 8 bits (see
        ``Graph.sdpa_fp8``).
        """
        options = {
            **band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                sliding_window or left_bound,
                right_bound,
                diagonal_alignment,
            ),
            **padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "generate_stats": wants_stats(is_inference, generate_stats),
            "bias": bias,
            "use_alibi_mask": use_alibi_mask,
            "dropout": dropout,
            "rng_dump": rng_dump,
            "paged_attention_k_table": paged_attention_k_table,
            "paged_attention_v_table": paged_attention_v_table,
            "paged_attention_max_seq_len_kv": paged_attention_max_seq_len_kv,
            "fn": fn,
            "score_max": score_max,
            "score_sum_exp": score_sum_exp,
            "sink_token": sink_token,
            "cu_seq_len_q": cu_seq_len_q,
            "cu_seq_len_kv": cu_seq_len_kv,
            "stats_use_log2": stats_use_log2,
            **of_unified(implementation, unfuse_fma),
        }
        operands = (q, k, v, descale_q, descale_k, descale_v, descale_s, scale_s, scale_o)
        ports = "O Stats Amax_S Amax_O"
        return self._attend("sdpa_fp8", ports, operands, options, compute_data_type, name, out_dims)

    def sdpa_fp8_backward(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        o: tensor,
        dO: tensor,
        stats: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        descale_o: tensor,
        descale_dO: tensor,
        descale_s: tensor,
        descale_dP: tensor,
        scale_s: tensor,
        scale_dQ: tensor,
        scale_dK: tensor,
        scale_dV: tensor,
        scale_dP: tensor,
        attn_scale: float | tensor | None = None,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        diagonal_alignment: diagonal_alignment = TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        use_deterministic_algorithm: bool = False,
        dropout: Any = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        out_dims: Any = None,
    ) -> list[Any]:
        """[dQ, dK, dV, amax_dQ, amax_dK, amax_dV, amax_dP]: the gradients of `sdpa_fp8`."""
        options = {
            **band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                left_bound,
                right_bound,
                diagonal_alignment,
            ),
            **padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "use_deterministic_algorithm": use_deterministic_algorithm,
            "dropout": dropout,
            "sink_token": sink_token,
            "dSink_token": dSink_token,
        }
        scales: tuple[tensor, ...] = (
            descale_q,
            descale_k,
            descale_v,
            descale_o,
            descale_dO,
            descale_s,
            descale_dP,
        )
        scales += (scale_s, scale_dQ, scale_dK, scale_dV, scale_dP)
        ports = "dQ dK dV amax_dQ amax_dK amax_dV amax_dP"
        operands = (q, k, v, o, dO, stats, *scales)
        return self._attend(
            "sdpa_fp8_backward", ports, operands, options, compute_data_type, name, out_dims
        )

    def sdpa_mxfp8(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        descale_q: tensor,
        descale_k: tensor,
        descale_v: tensor,
        attn_scale: float | tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        diagonal_alignment: diagonal_alignment = TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        generate_stats: bool | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
        implementation: attention_implementation = attention_implementation.AUTO,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        out_dims: Any = None,
    ) -> list[Any]:
        """[O, Stats, Amax_O]: `sdpa` of fp8 operands with a scale for each block of 32."""
        if generate_stats is None:
            raise TypeError("sdpa_mxfp8: generate_stats is missing")
        options = {
            **band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                diagonal_band_left_bound,
                diagonal_band_right_bound,
                diagonal_alignment,
            ),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "generate_stats": bool(generate_stats),
            "sink_token": sink_token,
            **padding(use_padding_mask, seq_len_q, seq_len_kv),
            "cu_seq_len_q": cu_seq_len_q,
            "cu_seq_len_kv": cu_seq_len_kv,
            "paged_attention_k_table": paged_attention_k_table,
            "paged_attention_v_table": paged_attention_v_table,
            "paged_attention_max_seq_len_kv": paged_attention_max_seq_len_kv,
            **of_unified(implementation, unfuse_fma),
        }
        operands = (q, k, v, descale_q, descale_k, descale_v)
        ports = "O Stats Amax_O"
        return self._attend(
            "sdpa_mxfp8", ports, operands, options, compute_data_type, name, out_dims
        )

    def sdpa_mxfp8_backward(
        self,
        q: tensor,
        q_T: tensor,
        k: tensor,
        k_T: tensor,
        v: tensor,
        o_f16: tensor,
        dO_f16: tensor,
        dO: tensor,
        dO_T: tensor,
        stats: tensor,
        descale_q: tensor,
        descale_q_T: tensor,
        descale_k: tensor,
        descale_k_T: tensor,
        descale_v: tensor,
        descale_dO: tensor,
        descale_dO_T: tensor,
        attn_scale: float | tensor | None = None,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        diagonal_alignment: diagonal_alignment = TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        use_deterministic_algorithm: bool = False,
        dropout: Any = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        out_dims: Any = None,
    ) -> list[Any]:
        """[dQ, dK, dV, amax_dQ, amax_dK, amax_dV]: the gradients of `sdpa_mxfp8`."""
        options = {
            **band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                left_bound,
                right_bound,
                diagonal_alignment,
            ),
            **padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "use_deterministic_algorithm": use_deterministic_algorithm,
            "dropout": dropout,
            "sink_token": sink_token,
            "dSink_token": dSink_token,
        }
        operands: tuple[tensor, ...]
        operands = (q, q_T, k, k_T, v, o_f16, dO_f16, dO, dO_T, stats, descale_q, descale_q_T)
        operands += (descale_k, descale_k_T, descale_v, descale_dO, descale_dO_T)
        ports = "dQ dK dV amax_dQ amax_dK amax_dV"
        return self._attend(
            "sdpa_mxfp8_backward", ports, operands, options, compute_data_type, name, out_dims
        )
