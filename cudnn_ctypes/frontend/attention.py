"""The attention methods of a `pygraph`, forward and backward."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .attention_fp8 import Fp8AttentionMethods
from .attention_options import TOP_LEFT, band, padding, wants_stats
from .enums import attention_implementation, data_type, diagonal_alignment, named
from .tensors import tensor

__all__ = ["AttentionMethods"]

_NOT_SET = data_type.NOT_SET
_Modifier = Callable[[Any, tensor], tensor]


class AttentionMethods(Fp8AttentionMethods):
    """Scaled dot-product attention, forward and backward.

    Without `attn_scale` the scores are not scaled. `use_padding_mask` goes with `seq_len_q` and
    `seq_len_kv`. A causal mask is a `diagonal_band_right_bound` of 0; `sliding_window_length` is
    another name of `diagonal_band_left_bound`.
    """

    def sdpa(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        is_inference: bool | None = None,
        attn_scale: float | tensor | None = None,
        bias: tensor | None = None,
        block_mask: tensor | None = None,
        use_alibi_mask: bool = False,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window_length: int | None = None,
        diagonal_alignment: diagonal_alignment = TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        dropout: Any = None,
        rng_dump: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        score_mod: _Modifier | None = None,
        generate_stats: bool | None = None,
        implementation: attention_implementation = attention_implementation.AUTO,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
        cu_seq_len_q: tensor | None = None,
        cu_seq_len_kv: tensor | None = None,
        stats_use_log2: bool = False,
        out_dims: Any = None,
    ) -> list[Any]:
        """[O, Stats]: softmax(attn_scale * q @ k^T) @ v; Stats is None if not generated.

        Parameters
        ----------
        q, k, v : tensor
            (b, h, s, d); the heads of k and v divide those of q.
        is_inference, generate_stats : bool
            One of them must be given, and is the opposite of the other.
        dropout : (probability, seed, offset) or (mask, scale)
        implementation : attention_implementation
            UNIFIED is one operation of cuDNN's, without a dropout mask; COMPOSITE is the pattern of
            its parts. AUTO is the latter, unless there is a `block_mask`, or cumulative lengths,
            which only the former takes.
        score_mod : function, optional
            Called with this graph and the scaled scores; returns what takes their place, before the
            bias and the masks.
        score_max, score_sum_exp : tensor, optional
            (b, h, s, 1), FLOAT: receive the two parts of Stats, which is then not generated.
        max_total_seq_len_q, max_total_seq_len_kv : int, optional
            Hints of the front end to its own kernels; they change nothing.
        cu_seq_len_q, cu_seq_len_kv : tensor, optional
            (b + 1, 1, 1, 1), in place of `seq_len_q` and `seq_len_kv`: for each sequence the sum of
            the lengths before it, then that of all. Of UNIFIED alone.
        stats_use_log2
            Layer 3 lacks it, and ``validate`` refuses it.
        unfuse_fma : bool
            Of UNIFIED alone, as in NVIDIA's front end: COMPOSITE has no such choice.
        """
        way = named(attention_implementation, implementation, "implementation")
        unified = way is attention_implementation.UNIFIED
        if way is attention_implementation.AUTO:
            given = (block_mask, cu_seq_len_q, cu_seq_len_kv)
            unified = any(each is not None for each in given)
        options = {
            **padding(use_padding_mask, seq_len_q, seq_len_kv),
            **band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                sliding_window_length or diagonal_band_left_bound,
                diagonal_band_right_bound,
                diagonal_alignment,
            ),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "generate_stats": wants_stats(is_inference, generate_stats),
            "bias": bias,
            "block_mask": block_mask,
            "use_alibi_mask": use_alibi_mask,
            "dropout": dropout,
            "rng_dump": rng_dump,
            "paged_attention_k_table": paged_attention_k_table,
            "paged_attention_v_table": paged_attention_v_table,
            "paged_attention_max_seq_len_kv": paged_attention_max_seq_len_kv,
            "score_mod": score_mod,
            "score_max": score_max,
            "score_sum_exp": score_sum_exp,
            "sink_token": sink_token,
            "cu_seq_len_q": cu_seq_len_q,
            "cu_seq_len_kv": cu_seq_len_kv,
            "stats_use_log2": stats_use_log2,
        }
        if unified:
            options["unfuse_fma"] = unfuse_fma
        operation = "sdpa_unified" if unified else "sdpa"
        operands = (q, k, v)
        return self._attend(
            operation, "O Stats", operands, options, compute_data_type, name, out_dims
        )

    def sdpa_backward(
        self,
        q: tensor,
        k: tensor,
        v: tensor,
        o: tensor,
        dO: tensor,
        stats: tensor,
        attn_scale: float | tensor | None = None,
        bias: tensor | None = None,
        dBias: tensor | None = None,
        use_alibi_mask: bool = False,
        use_padding_mask: bool = False,
        seq_len_q: tensor | None = None,
        seq_len_kv: tensor | None = None,
        max_total_seq_len_q: int | None = None,
        max_total_seq_len_kv: int | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window_length: int | None = None,
        diagonal_alignment: diagonal_alignment = TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        dropout: Any = None,
        rng_dump: tensor | None = None,
        use_deterministic_algorithm: bool = False,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        score_mod: _Modifier | None = None,
        score_mod_bprop: _Modifier | None = None,
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
        out_dims: Any = None,
    ) -> list[Any]:
        """[dQ, dK, dV]: the gradients of `sdpa`, from its results and the gradient `dO`.

        `max_total_seq_len_q` and `max_total_seq_len_kv` may be given and change nothing: they are
        the front end's hints on how large its workspace must be. `score_mod_bprop` is called with
        this graph and the gradient of what `score_mod` returned.
        """
        options = {
            **band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                sliding_window_length or diagonal_band_left_bound,
                diagonal_band_right_bound,
                diagonal_alignment,
            ),
            **padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "bias": bias,
            "dBias": dBias,
            "use_alibi_mask": use_alibi_mask,
            "dropout": dropout,
            "rng_dump": rng_dump,
            "use_deterministic_algorithm": use_deterministic_algorithm,
            "score_mod": score_mod,
            "score_mod_bprop": score_mod_bprop,
            "sink_token": sink_token,
            "dSink_token": dSink_token,
        }
        operands = (q, k, v, o, dO, stats)
        return self._attend(
            "sdpa_backward", "dQ dK dV", operands, options, compute_data_type, name, out_dims
        )

    scaled_dot_product_flash_attention = sdpa
    scaled_dot_product_flash_attention_backward = sdpa_backward
