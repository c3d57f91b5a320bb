"""Scaled dot-product attention, forward and backward.

cuDNN recognizes the matrix products and the softmax of the flash attention papers in the graph and
carries them out as one kernel; so the methods here only add those operations. What the pattern may
hold beside them, and in which order, is cuDNN's: scale, bias, alibi, padding, causal mask, window,
softmax, dropout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from ...raw import cudnnDataType_t
from ..tensor import Tensor
from .pointwise import PointwiseOperations
from .reductions import ReductionOperations
from .shapes import ShapeOperations

__all__ = ["AttentionOperations", "Mask"]

_NEVER = -math.inf


@dataclass(frozen=True)
class Mask:
    """Which keys a query may look at, and what is added to its scores.

    Attributes
    ----------
    causal : bool
        No key after the query.
    bottom_right : bool
        For `causal` and `window`: count from the last query and key, not from the first.
    window : int, optional
        At most this many keys back, the query's own place included.
    bias : Tensor, optional
        (b or 1, h or 1, s_q, s_kv), added to the scores.
    seq_len_q, seq_len_kv : Tensor, optional
        (b, 1, 1, 1), int32: what lies beyond is padding.
    """

    causal: bool = False
    bottom_right: bool = False
    window: int | None = None
    bias: Tensor | None = None
    seq_len_q: Tensor | None = None
    seq_len_kv: Tensor | None = None


class AttentionOperations(PointwiseOperations, ReductionOperations, ShapeOperations):
    """Attention, as operations of a graph."""

    def sdpa(
        self,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        attn_scale: float | None = None,
        generate_stats: bool = False,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window_length: int | None = None,
        bias: Tensor | None = None,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        dropout: tuple[float, Tensor, Tensor] | None = None,
        name: str = "sdpa",
    ) -> tuple[Tensor, Tensor | None]:
        """o = softmax(attn_scale * q @ k^T) @ v, by the flash attention pattern.

        Parameters
        ----------
        q : Tensor
            (b, h, s_q, d), of a 16-bit type.
        k, v : Tensor
            (b, h_k, s_kv, d) and (b, h_v, s_kv, d_v); h_k and h_v divide h.
        attn_scale : float, optional
            1 / sqrt(d) by default, where q has dims; else 1.
        generate_stats : bool
            Give the logarithm of the sum of exponentials, for `sdpa_backward`.
        use_causal_mask, use_causal_mask_bottom_right, sliding_window_length, bias
        seq_len_q, seq_len_kv
            See `Mask`; both lengths or none.
        dropout : (probability, seed, offset), optional
            Seed and offset are int64 tensors of one element.

        Returns
        -------
        o : Tensor
            (b, h, s_q, d_v).
        stats : Tensor or None
            (b, h, s_q, 1), float32.
        """
        mask = Mask(
            use_causal_mask or use_causal_mask_bottom_right,
            use_causal_mask_bottom_right,
            sliding_window_length,
            bias,
            seq_len_q,
            seq_len_kv,
        )
        scores = self._scores(q, k, mask, attn_scale, name)
        biggest = self.reduction(scores, "max", axes=(3,), name=self._free_name(f"{name}.max"))
        powers = self.exp(self.sub(scores, biggest), name=self._free_name(f"{name}.exp"))
        total = self.reduction(powers, "add", axes=(3,), name=self._free_name(f"{name}.sum"))
        stats = self.add(biggest, self.log(total), name=self._free_name(f"{name}.stats"))
        stats.data_type = cudnnDataType_t.CUDNN_DATA_FLOAT
        # cuDNN recognizes the pattern by it, also where nobody reads it.
        self.nodes[-1].may_go_unused = True
        p = self.div(powers, total, name=self._free_name(f"{name}.softmax"))
        if dropout is not None:
            p = self._dropped(p, self._score_dims(q, k, name), dropout, name)
        self._follow(p, q)
        o = self.matmul(
            p,
            v,
            m_override=seq_len_q,
            k_override=seq_len_kv,
            name=self._free_name(name),
        )
        if q.dims is not None and q.strides is not None and v.dims is not None:
            self._like(o, q, v.dims[-1])
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
        attn_scale: float | None = None,
        use_causal_mask: bool = False,
        use_causal_mask_bottom_right: bool = False,
        sliding_window_length: int | None = None,
        bias: Tensor | None = None,
        seq_len_q: Tensor | None = None,
        seq_len_kv: Tensor | None = None,
        name: str = "sdpa_backward",
    ) -> tuple[Tensor, Tensor, Tensor]:
        """The gradients of `sdpa`: dq, dk, dv, from its result, `stats` and the gradient dO."""
        mask = Mask(
            use_causal_mask or use_causal_mask_bottom_right,
            use_causal_mask_bottom_right,
            sliding_window_length,
            bias,
            seq_len_q,
            seq_len_kv,
        )

        def named(part: str) -> str:
            return self._free_name(f"{name}.{part}")

        row = self.reduction(self.mul(dO, o), "add", axes=(3,), name=named("row"))
        scores = self._scores(q, k, mask, attn_scale, name)
        p = self.exp(self.sub(scores, stats), name=named("p"))
        p_half = self._follow(self.identity(p, name=named("p_half")), q)
        dv = self.matmul(
            self._turned(p_half, named("p_transposed")),
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
        ds = self.mul(self.sub(dp, row), p, name=named("ds"))
        ds = self.mul(ds, self._scale(q, attn_scale), name=named("ds_scaled"))
        self._follow(ds, q)
        dq = self.matmul(ds, k, m_override=seq_len_q, k_override=seq_len_kv, name=named("dq"))
        dk = self.matmul(
            self._turned(ds, named("ds_transposed")),
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

    def _scores(
        self, q: Tensor, k: Tensor, mask: Mask, attn_scale: float | None, name: str
    ) -> Tensor:
        def named(part: str) -> str:
            return self._free_name(f"{name}.{part}")

        scores = self.matmul(
            q,
            k,
            transpose_B=True,
            m_override=mask.seq_len_q,
            n_override=mask.seq_len_kv,
            name=named("scores"),
        )
        scores = self.mul(scores, self._scale(q, attn_scale), name=named("scaled"))
        if mask.bias is not None:
            scores = self.add(scores, mask.bias, name=named("biased"))
        if mask.seq_len_q is not None or mask.seq_len_kv is not None:
            if mask.seq_len_q is None or mask.seq_len_kv is None:
                raise TypeError(f"{name}: seq_len_q and seq_len_kv go together")
            inside = self.logical_and(
                self.cmp_lt(self.gen_index(scores, 2), mask.seq_len_q),
                self.cmp_lt(self.gen_index(scores, 3), mask.seq_len_kv),
            )
            scores = self.binary_select(scores, _NEVER, inside, name=named("padded"))
        if mask.causal:
            row = self._diagonal(scores, q, k, mask)
            allowed = self.cmp_ge(row, self.gen_index(scores, 3))
            scores = self.binary_select(scores, _NEVER, allowed, name=named("causal"))
        if mask.window is not None:
            row = self._diagonal(scores, q, k, mask)
            allowed = self.cmp_gt(
                self.add(self.gen_index(scores, 3), self._integer(mask.window)), row
            )
            scores = self.binary_select(scores, _NEVER, allowed, name=named("window"))
        return scores

    def _diagonal(self, scores: Tensor, q: Tensor, k: Tensor, mask: Mask) -> Tensor:
        """For each score, the last key that its query may look at."""
        row = self._int32(self.gen_index(scores, 2))
        if not mask.bottom_right:
            return row
        if mask.seq_len_q is not None and mask.seq_len_kv is not None:
            moved = self._int32(self.add(row, mask.seq_len_kv))
            return self._int32(self.sub(moved, mask.seq_len_q))
        dims = self._score_dims(q, k, "a mask from the bottom right")
        return self._int32(self.add(row, self._integer(dims[3] - dims[2])))

    def _scale(self, q: Tensor, attn_scale: float | None) -> float:
        if attn_scale is not None:
            return attn_scale
        return 1.0 if q.dims is None else 1 / math.sqrt(q.dims[-1])

    def _integer(self, value: int) -> Tensor:
        return self.tensor_scalar(value, "int32")

    def _int32(self, tensor: Tensor) -> Tensor:
        tensor.data_type = cudnnDataType_t.CUDNN_DATA_INT32
        return tensor

    def _score_dims(self, q: Tensor, k: Tensor, name: str) -> tuple[int, ...]:
        if q.dims is None or k.dims is None:
            raise ValueError(f"{name}: this needs q and k with dims")
        return (*q.dims[:-1], k.dims[2])

    def _dropped(
        self,
        p: Tensor,
        dims: tuple[int, ...],
        dropout: tuple[float, Tensor, Tensor],
        name: str,
    ) -> Tensor:
        probability, seed, offset = dropout
        kept = self.rng(
            dims,
            "bernoulli",
            seed=seed,
            offset=offset,
            probability=1 - probability,
            name=self._free_name(f"{name}.dropout"),
        )
        return self.mul(self.mul(p, kept), 1 / (1 - probability))

    def _per_head(self, gradient: Tensor, q: Tensor, like: Tensor) -> Tensor:
        """The sum over the heads of queries that share one of keys."""
        if q.dims is None or like.dims is None or q.dims[1] == like.dims[1]:
            return gradient
        full, name = gradient.name + ".all_heads", gradient.name
        gradient.name = full
        return self.reduction(gradient, "add", name=name)

    def _turned(self, tensor: Tensor, name: str) -> Tensor:
        """The last two dimensions exchanged, by strides."""
        turned = self.reshape(tensor, name=name)
        self.nodes[-1].options["exchange"] = True
        return turned

    def _follow(self, tensor: Tensor, like: Tensor) -> Tensor:
        """The tensor cores take what has the operands' data type."""
        tensor.data_type = like.data_type or getattr(self, "io_data_type", None)
        return tensor

    def _like(self, o: Tensor, q: Tensor, size: int) -> None:
        """The result is laid out as q is: heads within tokens stay so."""
        from ..strides import packed_like

        if q.dims is not None and q.strides is not None:
            o.strides = packed_like((*q.dims[:-1], size), q.dims, q.strides)
