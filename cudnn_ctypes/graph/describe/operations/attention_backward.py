"""The gradients of scaled dot-product attention: FlashAttention-2 (Dao, 2023)."""

from __future__ import annotations

from dataclasses import replace

from .... import raw
from ....raw import cudnnDataType_t
from ..tensor import Tensor
from .attention import AttentionOperations, score_dims, softmax_scale
from .attention_checks import AttentionCheck
from .attention_scores import Dropout, ScoreModifier

__all__ = ["AttentionBackwardOperations"]

_INT32 = cudnnDataType_t.CUDNN_DATA_INT32


class AttentionBackwardOperations(AttentionOperations):
    """Attention's backward pass, as operations of a graph."""

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
        score_mod: ScoreModifier | None = None,
        score_mod_bprop: ScoreModifier | None = None,
        name: str = "sdpa_backward",
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of `sdpa`: dq, dk, dv, from its result, `stats` and the gradient dO.

        Parameters
        ----------
        q, k, v, attn_scale, bias, dropout, …
            As `sdpa` had them, but a bias with a row for each query, alibi with a bound to the
            right only, and a sink without dropout: else cuDNN's gradients are wrong (seen up to
            9.19). Of a dropout by (mask, scale, 1 / scale) the last is not needed, and leaves the
            graph.
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
        score_mod : function, optional
            As `sdpa` had it.
        score_mod_bprop : function, optional
            Its derivative: called with the graph and the gradient of what `score_mod` returned;
            returns that of what `score_mod` was called with. What only sets scores to -inf, where
            the gradient is 0 anyway, needs none.

        Returns
        -------
        dq, dk, dv : Tensor
            Like q, k, v.

        Notes
        -----
        Some tensors lie in the workspace: the sums of dO * o, and without
        `use_deterministic_algorithm` and `dBias` dq in float32. For cuDNN up to 9.15.0, where s_kv
        is no multiple of 128, also lengths of the sequences, as NVIDIA's front end has them there.
        """
        check = AttentionCheck(f"sdpa_backward {name!r}")
        check.flags(use_deterministic_algorithm=use_deterministic_algorithm)
        named = self._names(name)
        check.gradients(q, k, v, o, dO, stats)
        if (sink_token is None) != (dSink_token is None):
            raise TypeError(f"{check.operation}: sink_token and dSink_token go together")
        if dBias is not None and bias is None:
            raise TypeError(f"{check.operation}: dBias without bias")
        dims = score_dims(q, k, v)
        assert dims is not None
        if sink_token is not None and dropout is not None:
            check.refuse("cuDNN gives a wrong gradient of a sink where there is dropout")
        given = seq_len_q, seq_len_kv
        if seq_len_q is None and seq_len_kv is None and dims[3] % 128 and _wants_lengths():
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
            window=sliding_window_length,
            left=diagonal_band_left_bound,
            right=diagonal_band_right_bound,
            bias=bias,
            alibi=use_alibi_mask,
            lengths=(seq_len_q, seq_len_kv),
        )
        # Lengths that are there for cuDNN's sake mask nothing.
        wanted = replace(mask, seq_len_q=given[0], seq_len_kv=given[1])
        check.modified(score_mod, wanted)
        if score_mod_bprop is not None and score_mod is None:
            raise TypeError(f"{check.operation}: score_mod_bprop without score_mod")
        check.modified(score_mod_bprop, wanted, "score_mod_bprop")
        if bias is not None and bias.dims is not None and bias.dims[2] != dims[2]:
            check.refuse(
                f"cuDNN gives wrong gradients for bias {bias.name!r} {bias.dims}, one row for all "
                f"{dims[2]} queries: store it for each query"
            )
        if mask.alibi and mask.right is None:
            check.refuse("with alibi cuDNN gives NaN in dq, unless there is a causal mask")
        kept: Tensor | None = None
        drop_scale: Tensor | float = 1.0
        keep, by_mask = 1.0, False
        if dropout is None and rng_dump is not None:
            raise TypeError(f"{check.operation}: rng_dump without dropout")
        if dropout is not None:
            self._check_dropout(check, dropout, dims, rng_dump)
            kept, drop_scale = self._kept(dropout, dims, rng_dump, name)
            by_mask = isinstance(dropout[0], Tensor)
            # By a seed, cuDNN wants the sums of dO * o and then ds scaled. By a mask its kernels
            # forget the first; to scale dp is the same.
            keep = 1.0 if by_mask else 1 - dropout[0]

        row = self.reduction(self.mul(dO, o), "add", axes=(3,), name=named("row"))
        if sink_token is not None:
            # cuDNN's kernel negates the sum itself.
            share = self.mul(self.exp(self.sub(sink_token, stats)), row)
            self._into(self.reduction(share, "add", axes=(0, 2)), dSink_token)
        # cuDNN wants this product even with 1.
        row = self._as_scratch(self.mul(row, keep, name=named("rows")), (*dims[:3], 1))
        scale = self._one_scale(q, attn_scale)
        scores = self._scores(q, k, mask, [scale], dims, name, score_mod)
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
        if kept is not None and by_mask:
            dp = self.mul(dp, drop_scale)
        ds = self.mul(self.sub(dp, row), p, name=named("ds"))
        if kept is not None and not by_mask:
            ds = self.mul(ds, drop_scale, name=named("ds_dropped"))
        if dBias is not None:
            self._bias_gradient(check, ds, bias, dBias, dims)
        ds = self._modified(ds, score_mod_bprop, "score_mod_bprop", name)
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

    def _one_scale(self, q: Tensor, attn_scale: Tensor | float | None) -> Tensor:
        """The scale of the scores as one tensor for all its uses."""
        scale = softmax_scale(q, attn_scale)
        return scale if isinstance(scale, Tensor) else self.tensor_scalar(scale)

    def _bias_gradient(
        self,
        check: AttentionCheck,
        ds: Tensor,
        bias: Tensor | None,
        gradient: Tensor,
        dims: tuple[int, ...],
    ) -> None:
        if bias is not None and bias.dims is not None:
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


def _wants_lengths() -> bool:
    return raw.load().version <= 91500
