"""The attention methods of a `pygraph`: the front end's options in layer 3's terms."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .describing import Described
from .enums import attention_implementation, c_data_type, data_type, diagonal_alignment, named
from .errors import not_supported
from .tensors import tensor

__all__ = ["AttentionMethods"]

_NOT_SET = data_type.NOT_SET
_TOP_LEFT = diagonal_alignment.TOP_LEFT
_alignment = diagonal_alignment
_Modifier = Callable[[Any, tensor], tensor]


class AttentionMethods(Described):
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
        diagonal_alignment: diagonal_alignment = _TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        dropout: Any = None,
        rng_dump: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        score_mod: _Modifier | None = None,
        generate_stats: bool | None = None,
        implementation: attention_implementation = attention_implementation.AUTO,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
    ) -> list[Any]:
        """[O, Stats]: softmax(attn_scale * q @ k^T) @ v; Stats is None if not generated.

        Parameters
        ----------
        q, k, v : tensor
            (b, h, s, d); the heads of k and v divide those of q.
        is_inference, generate_stats : bool
            One of them must be given, and is the opposite of the other.
        dropout : (probability, seed, offset) or (mask, scale)
        """
        named(attention_implementation, implementation, "implementation")
        options = {
            **_band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                sliding_window_length or diagonal_band_left_bound,
                diagonal_band_right_bound,
                diagonal_alignment,
            ),
            **_padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "generate_stats": _wants_stats(is_inference, generate_stats),
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
        }
        return self._attend("sdpa", "O Stats", (q, k, v), options, compute_data_type, name)

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
        diagonal_alignment: diagonal_alignment = _TOP_LEFT,
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
    ) -> list[Any]:
        """[dQ, dK, dV]: the gradients of `sdpa`, from its results and the gradient `dO`."""
        options = {
            **_band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                sliding_window_length or diagonal_band_left_bound,
                diagonal_band_right_bound,
                diagonal_alignment,
            ),
            **_padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "bias": bias,
            "dBias": dBias,
            "use_alibi_mask": use_alibi_mask,
            "max_total_seq_len_q": max_total_seq_len_q,
            "max_total_seq_len_kv": max_total_seq_len_kv,
            "dropout": dropout,
            "rng_dump": rng_dump,
            "use_deterministic_algorithm": use_deterministic_algorithm,
            "score_mod": score_mod,
            "score_mod_bprop": score_mod_bprop,
            "sink_token": sink_token,
            "dSink_token": dSink_token,
        }
        operands = (q, k, v, o, dO, stats)
        return self._attend("sdpa_backward", "dQ dK dV", operands, options, compute_data_type, name)

    scaled_dot_product_flash_attention = sdpa
    scaled_dot_product_flash_attention_backward = sdpa_backward

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
        diagonal_alignment: diagonal_alignment = _TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        dropout: Any = None,
        rng_dump: tensor | None = None,
        paged_attention_k_table: tensor | None = None,
        paged_attention_v_table: tensor | None = None,
        paged_attention_max_seq_len_kv: int | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        fn: _Modifier | None = None,
        generate_stats: bool | None = None,
        score_max: tensor | None = None,
        score_sum_exp: tensor | None = None,
        sink_token: tensor | None = None,
    ) -> list[Any]:
        """[O, Stats, Amax_S, Amax_O]: `sdpa` of fp8 operands with their scales."""
        options = {
            **_band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                sliding_window or left_bound,
                right_bound,
                diagonal_alignment,
            ),
            **_padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "generate_stats": _wants_stats(is_inference, generate_stats),
            "bias": bias,
            "use_alibi_mask": use_alibi_mask,
            "dropout": dropout,
            "rng_dump": rng_dump,
            "paged_attention_k_table": paged_attention_k_table,
            "paged_attention_v_table": paged_attention_v_table,
            "paged_attention_max_seq_len_kv": paged_attention_max_seq_len_kv,
            "score_mod": fn,
            "score_max": score_max,
            "score_sum_exp": score_sum_exp,
            "sink_token": sink_token,
        }
        operands = (q, k, v, descale_q, descale_k, descale_v, descale_s, scale_s, scale_o)
        ports = "O Stats Amax_S Amax_O"
        return self._attend("sdpa_fp8", ports, operands, options, compute_data_type, name)

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
        diagonal_alignment: diagonal_alignment = _TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        use_deterministic_algorithm: bool = False,
        dropout: Any = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
    ) -> list[Any]:
        """[dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV, Amax_dP]: the gradients of `sdpa_fp8`."""
        options = {
            **_band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                left_bound,
                right_bound,
                diagonal_alignment,
            ),
            **_padding(use_padding_mask, seq_len_q, seq_len_kv),
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
        ports = "dQ dK dV Amax_dQ Amax_dK Amax_dV Amax_dP"
        operands = (q, k, v, o, dO, stats, *scales)
        return self._attend("sdpa_fp8_backward", ports, operands, options, compute_data_type, name)

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
        diagonal_alignment: diagonal_alignment = _TOP_LEFT,
        diagonal_band_left_bound: int | None = None,
        diagonal_band_right_bound: int | None = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        generate_stats: bool | None = None,
        sink_token: tensor | None = None,
        unfuse_fma: bool = False,
    ) -> list[Any]:
        """[O, Stats, Amax_O]: `sdpa` of fp8 operands with a scale for each block of 32."""
        if generate_stats is None:
            raise TypeError("sdpa_mxfp8: generate_stats is missing")
        options = {
            **_band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                diagonal_band_left_bound,
                diagonal_band_right_bound,
                diagonal_alignment,
            ),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "generate_stats": bool(generate_stats),
            "sink_token": sink_token,
        }
        operands = (q, k, v, descale_q, descale_k, descale_v)
        ports = "O Stats Amax_O"
        return self._attend("sdpa_mxfp8", ports, operands, options, compute_data_type, name)

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
        diagonal_alignment: diagonal_alignment = _TOP_LEFT,
        left_bound: int | None = None,
        right_bound: int | None = None,
        use_deterministic_algorithm: bool = False,
        dropout: Any = None,
        compute_data_type: Any = _NOT_SET,
        name: str = "",
        sink_token: tensor | None = None,
        dSink_token: tensor | None = None,
    ) -> list[Any]:
        """[dQ, dK, dV, Amax_dQ, Amax_dK, Amax_dV]: the gradients of `sdpa_mxfp8`."""
        options = {
            **_band(
                use_causal_mask,
                use_causal_mask_bottom_right,
                left_bound,
                right_bound,
                diagonal_alignment,
            ),
            **_padding(use_padding_mask, seq_len_q, seq_len_kv),
            "attn_scale": 1.0 if attn_scale is None else attn_scale,
            "use_deterministic_algorithm": use_deterministic_algorithm,
            "dropout": dropout,
            "sink_token": sink_token,
            "dSink_token": dSink_token,
        }
        operands: tuple[tensor, ...]
        operands = (q, q_T, k, k_T, v, o_f16, dO_f16, dO, dO_T, stats, descale_q, descale_q_T)
        operands += (descale_k, descale_k_T, descale_v, descale_dO, descale_dO_T)
        ports = "dQ dK dV Amax_dQ Amax_dK Amax_dV"
        return self._attend(
            "sdpa_mxfp8_backward", ports, operands, options, compute_data_type, name
        )

    def _attend(
        self,
        operation: str,
        ports: str,
        operands: tuple[tensor, ...],
        options: dict[str, Any],
        compute_data_type: Any,
        name: str,
    ) -> list[Any]:
        """Have layer 3 add the operations; an option that it lacks is refused by its name."""
        method = getattr(self._graph, operation, None)
        if method is None:
            raise not_supported(f"pygraph.{operation}", "this attention is not carried out here")
        known = inspect.signature(method).parameters
        precision = c_data_type(compute_data_type)
        if precision not in (None, self._graph.compute_data_type):
            options["compute_data_type"] = precision
        wanted = {
            key: value for key, value in options.items() if value is not None and value is not False
        }
        lacking = [key for key in wanted if key not in known]
        if lacking:
            raise not_supported(
                f"pygraph.{operation}", f"not carried out here: {', '.join(lacking)}"
            )
        return self._described(operation, ports, *operands, name=name, **wanted)


def _wants_stats(is_inference: bool | None, generate_stats: bool | None) -> bool:
    if generate_stats is not None:
        return bool(generate_stats)
    if is_inference is None:
        raise ValueError("sdpa: give generate_stats, or is_inference")
    return not is_inference


def _padding(wanted: bool, seq_len_q: Any, seq_len_kv: Any) -> dict[str, Any]:
    given = seq_len_q is not None and seq_len_kv is not None
    if wanted and not given:
        raise ValueError("use_padding_mask needs seq_len_q and seq_len_kv")
    if not wanted and (seq_len_q is not None or seq_len_kv is not None):
        raise ValueError("seq_len_q and seq_len_kv need use_padding_mask=True")
    return {"seq_len_q": seq_len_q, "seq_len_kv": seq_len_kv} if wanted else {}


def _band(
    causal: bool, bottom_right: bool, left: int | None, right: int | None, alignment: Any
) -> dict[str, Any]:
    """The mask around the diagonal: from which corner, how far to the left and to the right."""
    corner = named(_alignment, alignment, "diagonal_alignment")
    if causal and bottom_right:
        raise ValueError("use_causal_mask and use_causal_mask_bottom_right exclude each other")
    if causal or bottom_right:
        corner = _alignment.BOTTOM_RIGHT if bottom_right else _TOP_LEFT
        right = 0
    return {
        "diagonal_band_left_bound": left,
        "diagonal_band_right_bound": right,
        "diagonal_alignment": None if corner is _TOP_LEFT else "bottom_right",
    }
