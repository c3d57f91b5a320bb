"""Scaled dot-product attention.

cuDNN recognizes the matrix products and the softmax of the flash attention papers in the graph and
carries them out as one kernel; so the method here only adds those operations.
"""

from __future__ import annotations

import math
import numbers

from ....raw.values import described
from ....strides import packed_like
from ..tensor import Tensor
from .attention_checks import AttentionCheck
from .attention_scores import Dropout, Mask, ScoreModifier, ScoreOperations
from .sequences import SequenceOperations

__all__ = ["AttentionOperations", "score_dims", "softmax_scale"]


class AttentionOperations(ScoreOperations, SequenceOperations):
    """Attention, as operations of a graph."""

    def sdpa(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        attn_scale: Tensor | float | None = None,
        generate_stats: bool = False,
        bias: Tensor | None = None,
        use_alibi_mask: bool = False,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
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
        name: str = "sdpa",
    ) -> tuple[Tensor, Tensor | None]:
        """o = softmax(attn_scale * q @ k^T) @ v, by the flash attention pattern.

        Parameters
        ----------
        q : Tensor
            (b, h, s_q, d), of a 16-bit type, d a multiple of 8. For packed sequences of different
            lengths with a `ragged_offset`, (b + 1, 1, 1, 1); so all other operands.
        k, v : Tensor
            (b, h_k, s_kv, d) and (b, h_v, s_kv, d_v); h_k and h_v divide h. With tables they are
            pages: (pages, h_k, tokens of a page, d).
        attn_scale : Tensor or float, optional
            1 / sqrt(d) by default, where q has dims; else 1. A tensor is (1, 1, 1, 1), float32.
        generate_stats : bool
            Give the logarithm of the sum of exponentials, for `sdpa_backward`.
        bias : Tensor, optional
            (b or 1, h or 1, s_q or 1, s_kv), added to the scores.
        use_alibi_mask : bool
            Add the distance from query to key times the slope of the head (see `alibi_slopes`).
        seq_len_q, seq_len_kv : Tensor, optional
            (b, 1, 1, 1), int32 or int64: what lies beyond is padding. Both or none.
        use_causal_mask, use_causal_mask_bottom_right : bool
            No key after the query, counted from the first or from the last of both.
        sliding_window_length : int, optional
            So many keys back, the query's own place included; the same as
            `diagonal_band_left_bound`.
        diagonal_alignment : "top_left" or "bottom_right"
            From where the bounds count.
        diagonal_band_left_bound, diagonal_band_right_bound : int, optional
            Key j for query i only if i - left < j <= i + right.
        dropout : (probability, seed, offset) or (mask, scale), optional
            Seed and offset are int64 tensors of one element (Philox); or a mask of 0 and 1 like the
            scores, (b, h, s_q, s_kv), and a tensor that its kept elements are multiplied with.
        rng_dump : Tensor, optional
            (b, h, s_q, s_kv), float32: receives the mask that seed and offset give.
        paged_attention_k_table, paged_attention_v_table : Tensor, optional
            (b, 1, pages of one sequence, 1), int32: where the pages of each sequence are.
        paged_attention_max_seq_len_kv : int, optional
            s_kv with pages; by default what the pages of one sequence hold.
        sink_token : Tensor, optional
            (1, h, 1, 1), float32: one more score of each head, without a value. cuDNN 9.13.

        score_mod : function, optional
            Called with the graph and the scaled scores, (b, h, s_q, s_kv); adds operations and
            returns their result. Then there is no other mask, but may be a bias, which is added
            after it.
        score_max, score_sum_exp : Tensor, optional
            (b, h, s_q, 1), float32: receive the largest score of each query, and the sum of the
            exponentials of scores less that. Both or none, and in place of `stats`, which are
            score_max + log(score_sum_exp); not with a sink.

        Returns
        -------
        o : Tensor
            (b, h, s_q, d_v).
        stats : Tensor or None
            (b, h, s_q, 1), float32.

        Raises
        ------
        ValueError, TypeError
            If operands do not fit together. What else cuDNN does not take, `Graph.build` tells.
        """
        check = AttentionCheck(f"sdpa {name!r}")
        check.flags(generate_stats=generate_stats)
        tables = (paged_attention_k_table, paged_attention_v_table)
        paged = any(table is not None for table in tables)
        check.operands(q, k, v, paged=paged)
        for port, table in zip(("k", "v"), tables, strict=True):
            if table is not None:
                check.tensor(f"paged_attention_{port}_table", table)
        if paged:
            if seq_len_kv is None:
                raise TypeError(
                    f"{check.operation}: with pages seq_len_q and seq_len_kv are needed"
                )
            k, v = (
                self._unpaged(each, table, seq_len_kv, paged_attention_max_seq_len_kv)
                for each, table in zip((k, v), tables, strict=True)
            )
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
            bias=bias,
            alibi=use_alibi_mask,
            lengths=(seq_len_q, seq_len_kv),
        )
        check.modified(score_mod, mask)
        sink = sink_token is not None
        check.softmax_parts(score_max, score_sum_exp, dims, stats=generate_stats, sink=sink)
        scores = self._scores(q, k, mask, [softmax_scale(q, attn_scale)], dims, name, score_mod)
        p, stats = self._softmax(scores, sink_token, name, score_max, score_sum_exp)
        if dropout is None and rng_dump is not None:
            raise TypeError(f"{check.operation}: rng_dump without dropout")
        if dropout is not None:
            self._check_dropout(check, dropout, dims, rng_dump)
            kept, scale = self._kept(dropout, dims or (), rng_dump, name)
            by_mask = isinstance(dropout[0], Tensor)
            for factor in (scale, kept) if by_mask else (kept, scale):
                p = self.mul(p, factor)
        self._follow(p, q)
        o = self.matmul(
            p, v, m_override=seq_len_q, k_override=seq_len_kv, name=self._free_name(name)
        )
        self._laid_out_like(o, q, v)
        return o, stats if generate_stats else None

    # --- parts -----------------------------------------------------------------------------------

    def _mask(
        self,
        check: AttentionCheck,
        dims: tuple[int, ...] | None,
        *,
        causal: bool,
        causal_bottom_right: bool,
        alignment: str,
        window: int | None = None,
        left: int | None,
        right: int | None,
        bias: Tensor | None = None,
        alibi: bool = False,
        lengths: tuple[Tensor | None, Tensor | None],
    ) -> Mask:
        check.flags(
            use_causal_mask=causal,
            use_causal_mask_bottom_right=causal_bottom_right,
            use_alibi_mask=alibi,
        )
        if not isinstance(alignment, str) or alignment not in ("top_left", "bottom_right"):
            check.refuse(
                f'diagonal_alignment: expected "top_left" or "bottom_right", got {alignment!r}'
            )
        if window is not None:
            if left is not None:
                check.refuse("sliding_window_length and diagonal_band_left_bound are the same")
            left = window
        check.bounds(left, right)
        if causal or causal_bottom_right:
            if right not in (None, 0):
                check.refuse(f"a causal mask has no diagonal_band_right_bound, got {right}")
            right = 0
        given = dict(zip(("seq_len_q", "seq_len_kv"), lengths, strict=True))
        check.lengths(given, dims[0] if dims else None)
        if bias is not None and dims is not None:
            check.bias(bias, dims)
        bottom_right = causal_bottom_right or alignment == "bottom_right"
        if dims is None and (alibi or (bottom_right and lengths[0] is None)):
            check.refuse("this needs q and k with dims")
        return Mask(left, right, bottom_right, bias, alibi, *lengths)

    def _check_dropout(
        self,
        check: AttentionCheck,
        dropout: Dropout,
        dims: tuple[int, ...] | None,
        rng_dump: Tensor | None,
    ) -> None:
        if not isinstance(dropout, (tuple, list)) or not dropout:
            raise TypeError(
                f"{check.operation}: dropout: expected (probability, seed, offset) or "
                f"(mask, scale), got {described(dropout)}"
            )
        first = dropout[0]
        if rng_dump is not None:
            check.tensor("rng_dump", rng_dump)
            if isinstance(first, Tensor):
                check.refuse("rng_dump: there is no random mask where dropout is by a mask")
        if dims is None:
            check.refuse("dropout needs q and k with dims")
        if isinstance(first, Tensor):
            if len(dropout) not in (2, 3):
                check.refuse("a dropout by a mask is (mask, scale)")
            check.same_dims("the dropout mask", first, dims)
            return
        if len(dropout) != 3:
            check.refuse("a dropout by a probability is (probability, seed, offset)")
        if isinstance(first, bool) or not isinstance(first, numbers.Real):
            raise TypeError(
                f"{check.operation}: dropout: expected a probability or a mask first, got "
                f"{described(first)}"
            )
        if not 0 <= float(first) < 1:
            check.refuse(f"a dropout probability is from 0 to below 1, got {first!r}")

    def _unpaged(
        self, pages: Tensor, table: Tensor | None, lengths: Tensor, length: int | None
    ) -> Tensor:
        if table is None:
            return pages
        if length is None:
            assert pages.dims is not None
            assert table.dims is not None
            length = pages.dims[2] * table.dims[2]
        loaded = self.paged_cache_load(pages, table, lengths, length)
        if pages.dims is not None and table.dims is not None:
            loaded.dims = (table.dims[0], pages.dims[1], length, pages.dims[3])
        return loaded

    def _laid_out_like(self, o: Tensor, q: Tensor, v: Tensor) -> None:
        """Heads within tokens stay so."""
        if q.dims is not None and q.strides is not None and v.dims is not None:
            o.strides = packed_like((*q.dims[:-1], v.dims[-1]), q.dims, q.strides)


def score_dims(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, ...] | None:
    length = k.dims[2] if k.dims is not None else v.dims[2] if v.dims is not None else None
    return None if q.dims is None or length is None else (*q.dims[:3], length)


def softmax_scale(q: Tensor, attn_scale: Tensor | float | None) -> Tensor | float:
    if attn_scale is not None:
        return attn_scale
    return 1.0 if q.dims is None else 1 / math.sqrt(q.dims[-1])
