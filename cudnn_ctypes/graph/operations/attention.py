"""Scaled dot-product attention, forward and backward.

cuDNN recognizes the matrix products and the softmax of the flash attention papers in the graph and
carries them out as one kernel or a few; so the methods here only add those operations. The backward
pass is that of FlashAttention-2 (Dao, 2023).
"""

from __future__ import annotations

import math

from ... import raw
from ...raw import cudnnDataType_t
from ..tensor import Tensor
from .attention_checks import AttentionCheck
from .attention_scores import Dropout, Mask, ScoreOperations
from .sequences import SequenceOperations

__all__ = ["AttentionOperations"]

_INT32 = cudnnDataType_t.CUDNN_DATA_INT32


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
            (b, 1, 1, 1), int32: what lies beyond is padding. Both or none.
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
        tables = (paged_attention_k_table, paged_attention_v_table)
        check.operands(q, k, v, paged=any(tables))
        if any(tables):
            if seq_len_kv is None:
                raise TypeError(
                    f"{check.operation}: with pages seq_len_q and seq_len_kv are needed"
                )
            k, v = (
                self._unpaged(each, table, seq_len_kv, paged_attention_max_seq_len_kv)
                for each, table in zip((k, v), tables, strict=True)
            )
        dims = _score_dims(q, k, v)
        mask = self._mask(
            check,
            dims,
            causal=use_causal_mask,
            causal_bottom_right=use_causal_mask_bottom_right,
            alignment=diagonal_alignment,
            left=_one_of(check, sliding_window_length, diagonal_band_left_bound),
            right=diagonal_band_right_bound,
            bias=bias,
            alibi=use_alibi_mask,
            lengths=(seq_len_q, seq_len_kv),
        )
        scores = self._scores(q, k, mask, [_scale(q, attn_scale)], dims, name)
        p, stats = self._softmax(scores, sink_token, name)
        if dropout is not None:
            self._check_dropout(check, dropout, dims)
            kept, scale, _ = self._kept(dropout, dims or (), rng_dump, name)
            by_mask = isinstance(dropout[0], Tensor)
            for factor in (scale, kept) if by_mask else (kept, scale):
                p = self.mul(p, factor)
        self._follow(p, q)
        o = self.matmul(
            p, v, m_override=seq_len_q, k_override=seq_len_kv, name=self._free_name(name)
        )
        if q.dims is not None and q.strides is not None and v.dims is not None:
            self._laid_out_like(o, q, v.dims[-1])
        return o, stats if generate_stats else None

    def sdpa_backward(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        o: Tensor,
        dO: Tensor,
        stats: Tensor,
        *,
        attn_scale: Tensor | float | None = None,
        bias: Tensor | None = None,
        dBias: Tensor | None = None,
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
        sink_token: Tensor | None = None,
        dSink_token: Tensor | None = None,
        use_deterministic_algorithm: bool = False,
        name: str = "sdpa_backward",
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of `sdpa`: dq, dk, dv, from its result, `stats` and the gradient dO.

        Parameters
        ----------
        q, k, v, attn_scale, bias, dropout, …
            As `sdpa` had them; a dropout mask as (mask, scale, 1 / scale).
        o, dO : Tensor
            (b, h, s_q, d_v).
        stats : Tensor
            (b, h, s_q, 1), float32; packed as in C, or ragged.
        dBias : Tensor, optional
            Like `bias`: receives its gradient.
        sink_token, dSink_token : Tensor, optional
            (1, h, 1, 1), float32; the second receives the gradient of the first.
        use_deterministic_algorithm : bool
            The same bits each time; the gradients of the scores then lie in the workspace.

        Returns
        -------
        dq, dk, dv : Tensor
            Like q, k, v.

        Notes
        -----
        Some tensors lie in the workspace: the sums of dO * o, and without
        `use_deterministic_algorithm` and `dBias` dq in float32. cuDNN up to 9.15.0 computes wrong
        gradients where s_kv is no multiple of 128, unless the sequences have lengths; so there they
        get some.
        """
        check = AttentionCheck(f"sdpa_backward {name!r}")
        named = self._names(name)
        self._check_backward(check, q, k, v, o, dO, stats)
        dims = _score_dims(q, k, v)
        assert dims is not None
        if seq_len_q is None and seq_len_kv is None and dims[3] % 128 and _confuses_ends():
            seq_len_q, seq_len_kv = (
                self._constant((dims[0], 1, 1, 1), [size] * dims[0], _INT32, named(part))
                for part, size in (("seq_len_q", dims[2]), ("seq_len_kv", dims[3]))
            )
        mask = self._mask(
            check,
            dims,
            causal=use_causal_mask,
            causal_bottom_right=use_causal_mask_bottom_right,
            alignment=diagonal_alignment,
            left=_one_of(check, sliding_window_length, diagonal_band_left_bound),
            right=diagonal_band_right_bound,
            bias=bias,
            alibi=use_alibi_mask,
            lengths=(seq_len_q, seq_len_kv),
        )
        kept: Tensor | None = None
        drop_scale: Tensor | float = 1.0
        keep: Tensor | float = 1.0
        if dropout is not None:
            self._check_dropout(check, dropout, dims)
            kept, drop_scale, keep = self._kept(dropout, dims, rng_dump, name)

        row = self.reduction(self.mul(dO, o), "add", axes=(3,), name=named("row"))
        if (sink_token is None) != (dSink_token is None):
            raise TypeError(f"{check.operation}: sink_token and dSink_token go together")
        if sink_token is not None:
            share = self.mul(self.exp(self.sub(sink_token, stats)), row)
            self._into(self.reduction(share, "add", axes=(0, 2)), dSink_token)
        # cuDNN wants this product even with 1.
        row = self._as_scratch(self.mul(row, keep, name=named("rows")), (*dims[:3], 1))
        scale = _scale(q, attn_scale)
        scores = self._scores(q, k, mask, [scale], dims, name)
        p = self.exp(self.sub(scores, stats), name=named("p"))
        p_dropped = p
        if kept is not None:
            p_dropped = self.mul(self.mul(p, kept), drop_scale, name=named("p_dropped"))
        dv = self.matmul(
            self._follow(self._turned(p_dropped, named("p_transposed")), q),
            dO,
            m_override=seq_len_kv,
            k_override=seq_len_q,
            name=named("dv"),
        )
        dp = self.matmul(
            dO,
            v,
            transpose_B=True,
            m_override=seq_len_q,
            n_override=seq_len_kv,
            name=named("dp"),
        )
        if kept is not None:
            dp = self.mul(dp, kept, name=named("dp_dropped"))
        ds = self.mul(self.sub(dp, row), p, name=named("ds"))
        if kept is not None:
            ds = self.mul(ds, drop_scale, name=named("ds_dropped"))
        if dBias is not None:
            self._bias_gradient(check, ds, bias, dBias, dims)
        ds = self.mul(ds, scale, name=named("ds_scaled"))
        dq = self.matmul(
            ds,
            self._turned(k, named("k"), back=True),
            m_override=seq_len_q,
            k_override=seq_len_kv,
            name=named("dq"),
        )
        if dBias is None and not use_deterministic_algorithm:
            self._as_scratch(dq, (*dims[:3], q.dims[3] if q.dims else 1))
            dq.name = named("dq_sum")
            dq = self.identity(dq, name=named("dq"))
        dk = self.matmul(
            self._follow(self._turned(ds, named("ds_transposed")), q),
            q,
            m_override=seq_len_kv,
            k_override=seq_len_q,
            name=named("dk"),
        )
        dk, dv = self._per_head(dk, q, k), self._per_head(dv, q, v)
        for gradient, like in ((dq, q), (dk, k), (dv, v)):
            gradient.dims, gradient.strides = like.dims, like.strides
        return dq, dk, dv

    # --- parts -----------------------------------------------------------------------------------

    def _mask(
        self,
        check: AttentionCheck,
        dims: tuple[int, ...] | None,
        *,
        causal: bool,
        causal_bottom_right: bool,
        alignment: str,
        left: int | None,
        right: int | None,
        bias: Tensor | None = None,
        alibi: bool = False,
        lengths: tuple[Tensor | None, Tensor | None],
    ) -> Mask:
        if alignment not in ("top_left", "bottom_right"):
            check.refuse(
                f'diagonal_alignment: expected "top_left" or "bottom_right", got {alignment!r}'
            )
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
        self, check: AttentionCheck, dropout: Dropout, dims: tuple[int, ...] | None
    ) -> None:
        first = dropout[0]
        if dims is None:
            check.refuse("dropout needs q and k with dims")
        if isinstance(first, Tensor):
            check.same_dims("the dropout mask", first, dims)
        elif not 0 <= first < 1:
            check.refuse(f"a dropout probability is from 0 to below 1, got {first!r}")

    def _check_backward(
        self,
        check: AttentionCheck,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        o: Tensor,
        dO: Tensor,
        stats: Tensor,
    ) -> None:
        check.operands(q, k, v)
        for port, tensor in (("q", q), ("k", k), ("v", v)):
            if tensor.dims is None:
                check.refuse(f"{port} {tensor.name!r} needs dims")
        assert q.dims is not None
        assert v.dims is not None
        for port, tensor in (("o", o), ("dO", dO)):
            check.heads_within(port, tensor)
            check.same_dims(port, tensor, (*q.dims[:3], v.dims[3]))
        check.same_dims("stats", stats, (*q.dims[:3], 1))
        check.packed_stats(stats)

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

    def _bias_gradient(
        self,
        check: AttentionCheck,
        ds: Tensor,
        bias: Tensor | None,
        gradient: Tensor,
        dims: tuple[int, ...],
    ) -> None:
        if bias is None:
            raise TypeError(f"{check.operation}: dBias without bias")
        if bias.dims is not None:
            check.same_dims("dBias", gradient, bias.dims)
        shape = gradient.dims or dims
        axes = tuple(i for i, size in enumerate(shape) if size == 1 and dims[i] != 1)
        self._into(self.reduction(ds, "add", axes=axes), gradient)

    def _per_head(self, gradient: Tensor, q: Tensor, like: Tensor) -> Tensor:
        """The sum over the heads of queries that share one of keys."""
        if q.dims is None or like.dims is None or q.dims[1] == like.dims[1]:
            return gradient
        name = gradient.name
        gradient.name = name + ".all_heads"
        self._follow(gradient, q)
        return self.reduction(gradient, "add", name=name)

    def _laid_out_like(self, o: Tensor, q: Tensor, size: int) -> None:
        """Heads within tokens stay so."""
        from ..strides import packed_like

        assert q.dims is not None
        assert q.strides is not None
        o.strides = packed_like((*q.dims[:-1], size), q.dims, q.strides)


def _score_dims(q: Tensor, k: Tensor, v: Tensor) -> tuple[int, ...] | None:
    length = k.dims[2] if k.dims is not None else v.dims[2] if v.dims is not None else None
    return None if q.dims is None or length is None else (*q.dims[:3], length)


def _scale(q: Tensor, attn_scale: Tensor | float | None) -> Tensor | float:
    if attn_scale is not None:
        return attn_scale
    return 1.0 if q.dims is None else 1 / math.sqrt(q.dims[-1])


def _one_of(check: AttentionCheck, window: int | None, left: int | None) -> int | None:
    if window is not None and left is not None:
        raise TypeError(
            f"{check.operation}: sliding_window_length and diagonal_band_left_bound are the same"
        )
    return window if left is None else left


def _confuses_ends() -> bool:
    return raw.load().version <= 91500
