"""Scaled dot-product attention as one operation (Vaswani et al., 2017), and its gradients.

o = softmax(scale * q @ k^T) @ v. Heads of queries may share heads of keys and values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..blas import product
from ..tiles import Array
from .attention import softmax
from .matmul import stretch

BLOCK = 128  # queries, and keys, to which one bit of a block mask applies


@dataclass(frozen=True)
class AttentionMask:
    """The mask of scores: tokens within the lengths, and blocks that are set.

    `seq_len_q` and `seq_len_kv` are (b, 1, 1, 1), `blocks` is bool, (b, h, queries, keys) or
    larger.
    """

    seq_len_q: Array | None = None
    seq_len_kv: Array | None = None
    blocks: Array | None = None

    def apply(self, scores: Array) -> Array:
        """`scores` (b, h, s_q, s_kv), -inf where they take no part."""
        queries, keys = scores.shape[2:]
        if self.seq_len_q is not None:
            scores = np.where(np.arange(queries)[:, None] < self.seq_len_q, scores, -np.inf)
        if self.seq_len_kv is not None:
            scores = np.where(np.arange(keys) < self.seq_len_kv, scores, -np.inf)
        if self.blocks is not None:
            scores = np.where(self.blocks[..., :queries, :keys], scores, -np.inf)
        return scores


def unpacked_blocks(block_mask: Array) -> Array:
    """A block mask, (b, h, blocks of queries, blocks of keys / 8), as one bool for each score.

    Each byte holds eight blocks of keys, the first in its lowest bit.
    """
    bits = np.unpackbits(block_mask.astype(np.uint8), axis=-1, bitorder="little").astype(bool)
    return np.repeat(np.repeat(bits, BLOCK, 2), BLOCK, 3)


def _scores(
    q: Array,
    k: Array,
    scale: float,
    mask: AttentionMask,
    modify: Callable[[Array], Array] = lambda scores: scores,
) -> Array:
    k = stretch(k, q.shape[:2])
    return mask.apply(modify(scale * product(q, k.swapaxes(2, 3))))


class Attended(NamedTuple):
    """o (b, h, s_q, d_v), and of each query (b, h, s_q, 1): the logarithm of the sum of its
    exponentials, its largest score, and the sum of exponentials of scores less that.
    """

    o: Array
    stats: Array
    maximum: Array
    sum_exp: Array


def sdpa(
    q: Array,
    k: Array,
    v: Array,
    scale: float,
    mask: AttentionMask,
    *,
    modify: Callable[[Array], Array] = lambda scores: scores,
    sink: Array | None = None,
    kept: Array | float = 1.0,
) -> Attended:
    """Attention; queries without a score get zeros and -inf.

    Parameters
    ----------
    modify
        A function of the scaled scores, applied before the mask.
    sink
        (1, h, 1, 1): an additional score per query, without a value.
    kept
        Dropout factors of the softmax, (b, h, s_q, s_kv).
    """
    found = softmax(_scores(q, k, scale, mask, modify), sink)
    some = np.isfinite(found.maximum)
    p = np.where(some, found.y, 0) * kept
    stats = np.where(some, found.stats, -np.inf)
    return Attended(product(p, stretch(v, q.shape[:2])), stats, found.maximum, found.sum_exp)


def sdpa_backward(
    q: Array,
    k: Array,
    v: Array,
    o: Array,
    do: Array,
    stats: Array,
    scale: float,
    mask: AttentionMask,
) -> tuple[Array, Array, Array]:
    """dq, dk and dv, from the result, its statistics and its gradient (Dao et al., 2022)."""
    scores = _scores(q, k, scale, mask)
    with np.errstate(all="ignore"):
        p = np.where(np.isfinite(scores), np.exp(scores - stats), 0)
    all_k, all_v = stretch(k, q.shape[:2]), stretch(v, q.shape[:2])
    inside = np.isfinite(scores).any(3, keepdims=True)
    do = np.where(inside, do, 0)
    row = np.where(inside, (do * o).sum(3, keepdims=True), 0)
    ds = scale * p * (product(do, all_v.swapaxes(2, 3)) - row)
    dk, dv = product(ds.swapaxes(2, 3), q), product(p.swapaxes(2, 3), do)
    return product(ds, all_k), _per_head(dk, k.shape[1]), _per_head(dv, v.shape[1])


def _per_head(gradient: Array, heads: int) -> Array:
    """The sum over the heads of queries that share one of keys."""
    batch, all_heads, tokens, size = gradient.shape
    found: Array = gradient.reshape(batch, heads, all_heads // heads, tokens, size).sum(2)
    return found
