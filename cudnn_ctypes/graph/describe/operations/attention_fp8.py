"""Attention on 8-bit floating-point numbers, with a scale for each tensor.

A tensor t is stored as t * scale_t, and descale_t = 1 / scale_t gives it back. From amax, the
largest magnitude of a result before its scale, the scale of the next time is chosen (Micikevicius
et al.: FP8 formats for deep learning; 2022). In between, s is the softmax and dP the gradient of
the scores. All scales and maxima are (1, 1, 1, 1), float32.
"""

from __future__ import annotations

from ....raw import cudnnDataType_t
from ....strides import packed
from ..tensor import Tensor
from .attention import score_dims, softmax_scale
from .attention_backward import AttentionBackwardOperations
from .attention_checks import AttentionCheck

__all__ = ["Fp8AttentionOperations"]

_FLOAT = cudnnDataType_t.CUDNN_DATA_FLOAT


class Fp8AttentionOperations(AttentionBackwardOperations):
    """Attention on 8-bit numbers, as operations of a graph."""

    def sdpa_fp8(
        self,
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
        name: str = "sdpa_fp8",
    ) -> tuple[Tensor, Tensor | None, Tensor, Tensor]:
        """`sdpa` on fp8_e4m3 or fp8_e5m2. cuDNN 9.1, from Hopper on.

        Parameters
        ----------
        q, k, v : Tensor
            (b, h, s_q, d), (b, h_k, s_kv, d), (b, h_v, s_kv, d_v); d a multiple of 16.
        descale_q, descale_k, descale_v, descale_s, scale_s, scale_o : Tensor
            (1, 1, 1, 1), float32.
        attn_scale, seq_len_q, …
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
        check = AttentionCheck(f"sdpa_fp8 {name!r}")
        check.flags(generate_stats=generate_stats)
        check.operands(q, k, v)
        check.fp8({"q": q, "k": k, "v": v}, self.io_data_type)
        dims = score_dims(q, k, v)
        mask = self._mask(
            check,
            dims,
            causal=use_causal_mask,
            causal_bottom_right=use_causal_mask_bottom_right,
            alignment=diagonal_alignment,
            window=sliding_window_length,
            left=diagonal_band_left_bound,
            right=diagonal_band_right_bound,
            lengths=(seq_len_q, seq_len_kv),
        )
        named = self._names(name)
        factors = [softmax_scale(q, attn_scale), descale_q, descale_k]
        scores = self._scores(q, k, mask, factors, dims, name)
        p, stats = self._softmax(scores, None, name)
        amax_s = self._amax(p, named("amax_s"))
        s = self._follow(self.mul(p, scale_s, name=named("s")), q)
        o = self.matmul(s, v, m_override=seq_len_q, k_override=seq_len_kv, name=named("o_by_scale"))
        o = self.mul(self.mul(o, descale_s), descale_v, name=named("o_exact"))
        amax_o = self._amax(o, named("amax_o"))
        o = self._follow(self.mul(o, scale_o, name=self._free_name(name)), q)
        self._laid_out_like(o, q, v)
        return o, stats if generate_stats else None, amax_s, amax_o

    def sdpa_fp8_backward(
        self,
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
        name: str = "sdpa_fp8_backward",
    ) -> tuple[Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor]:
        """The gradients of `sdpa_fp8`. cuDNN 9.1, from Hopper on; there d and d_v must be 128.

        Parameters
        ----------
        q, k, v, o, dO : Tensor
            fp8_e4m3 or fp8_e5m2; dO (b, h, s_q, d_v) may have the other type.
        stats : Tensor
            (b, h, s_q, 1), float32, packed as in C.
        descale_q, …, scale_dP : Tensor
            (1, 1, 1, 1), float32.

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
        check = AttentionCheck(f"sdpa_fp8_backward {name!r}")
        check.gradients(q, k, v, o, dO, stats)
        check.same_heads(q, k, v)
        check.fp8({"q": q, "k": k, "v": v, "o": o, "dO": dO}, self.io_data_type)
        dims = score_dims(q, k, v)
        mask = self._mask(
            check,
            dims,
            causal=use_causal_mask,
            causal_bottom_right=use_causal_mask_bottom_right,
            alignment=diagonal_alignment,
            left=diagonal_band_left_bound,
            right=diagonal_band_right_bound,
            lengths=(seq_len_q, seq_len_kv),
        )
        named = self._names(name)
        scale = self._one_scale(q, attn_scale)

        def result(product: Tensor, first: Tensor, second: Tensor, by: Tensor, part: str) -> Tensor:
            exact = self.mul(self.mul(product, first), second, name=named(f"{part}_exact"))
            maxima[part] = self._amax(exact, named(f"amax_{part}"))
            return self._follow(self.mul(exact, by, name=named(part)), dO)

        maxima: dict[str, Tensor] = {}
        assert dims is not None
        row = self.reduction(self.mul(dO, o), "add", axes=(3,), name=named("row"))
        # cuDNN takes these strides for those of its own memory, which is packed.
        for factor in (descale_dO, descale_o):
            row.strides = packed((*dims[:3], 1))
            row = self.mul(row, factor)
        row.strides = packed((*dims[:3], 1))
        scores = self._scores(q, k, mask, [scale, descale_q, descale_k], dims, name)
        p = self.exp(self.sub(scores, stats), name=named("p"))
        s = self._follow(self.mul(p, scale_s, name=named("s")), q)
        dv = self.matmul(
            self._follow(self._turned(s, named("s_transposed")), q),
            dO,
            m_override=seq_len_kv,
            k_override=seq_len_q,
        )
        dv = result(dv, descale_s, descale_dO, scale_dV, "dV")
        dp = self.matmul(
            dO, v, transpose_B=True, m_override=seq_len_q, n_override=seq_len_kv, name=named("dp")
        )
        dp = self.mul(self.mul(dp, descale_dO), descale_v)
        ds = self.mul(self.mul(self.sub(dp, row), p), scale, name=named("ds"))
        maxima["dP"] = self._amax(ds, named("amax_dP"))
        ds = self._follow(self.mul(ds, scale_dP, name=named("ds_scaled")), dO)
        dq = self.matmul(
            ds,
            self._turned(k, named("k"), back=True),
            m_override=seq_len_q,
            k_override=seq_len_kv,
        )
        dq = result(dq, descale_dP, descale_k, scale_dQ, "dQ")
        dk = self.matmul(
            self._follow(self._turned(ds, named("ds_transposed")), dO),
            q,
            m_override=seq_len_kv,
            k_override=seq_len_q,
        )
        dk = result(dk, descale_dP, descale_q, scale_dK, "dK")
        for gradient, like in ((dq, q), (dk, k), (dv, v)):
            gradient.dims, gradient.strides = like.dims, like.strides
        return dq, dk, dv, maxima["dQ"], maxima["dK"], maxima["dV"], maxima["dP"]

    def _amax(self, tensor: Tensor, name: str) -> Tensor:
        largest = self.reduction(tensor, "amax", axes=(0, 1, 2, 3), name=name)
        largest.data_type = _FLOAT
        return largest
