"""Attention (Vaswani et al., 2017) and what surrounds it: masks, band matrices, pages, rotation.

o = softmax(scale * q @ k^T) @ v. Heads of queries may share heads of keys and values.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...raw.enums import cudnnPointwiseMode_t
from ..blas import product
from ..tiles import Array
from .matmul import stretch
from .pointwise import pointwise


@dataclass(frozen=True)
class Softmax:
    """The softmax of rows, and statistics of each row: (…, 1).

    `stats` is the logarithm of `sum_exp` times exp(maximum), the sum of exponentials.
    """

    y: Array
    stats: Array
    maximum: Array
    sum_exp: Array


def softmax(x: Array, sink: Array | None = None) -> Softmax:
    """exp(x) / sum of exp(x), along the last dimension.

    Parameters
    ----------
    sink
        An additional score per row, which only enters the sum.
    """
    maximum = x.max(-1, keepdims=True)
    if sink is not None:
        maximum = np.maximum(maximum, sink)
    with np.errstate(all="ignore"):
        powers = np.exp(x - maximum)
        total = powers.sum(-1, keepdims=True)
        if sink is not None:
            total = total + np.exp(sink - maximum)
        return Softmax(powers / total, maximum + np.log(total), maximum, total)


def diagonal_band_mask(
    x: Array,
    fill: Array,
    *,
    comparison: cudnnPointwiseMode_t = cudnnPointwiseMode_t.CUDNN_POINTWISE_CMP_GE,
    left_bound: Array | None = None,
    right_shift: Array | None = None,
    seq_len_q: Array | None = None,
    seq_len_kv: Array | None = None,
) -> Array:
    """`x` (b, h, s_q, s_kv) on one side of a diagonal, `fill` on the other.

    Row i keeps the columns j where  i + right_shift  compares so with j, not less for a causal
    mask; or with a left bound, where  j + left_bound  compares so with i, greater for the left end
    of a window. With both lengths, (b, 1, 1, 1), the diagonal ends at the last query and key: i
    counts from seq_len_kv - seq_len_q.
    """
    row, column = np.arange(x.shape[-2])[:, None], np.arange(x.shape[-1])
    if seq_len_q is not None and seq_len_kv is not None:
        row = row + (seq_len_kv - seq_len_q)
    if right_shift is not None:
        row = row + right_shift
    if left_bound is not None:
        return np.where(pointwise(comparison, column + left_bound, row), x, fill)
    return np.where(pointwise(comparison, row, column), x, fill)


def _diagonals(rows: int, bands: int, lower: int) -> tuple[Array, Array]:
    """Row i and column i + k - lower of place (i, k) in a matrix of diagonals."""
    row, band = np.indices((rows, bands))
    return row, row + band - lower


def expand_band_matrix(x: Array, columns: int, lower: int, pad: float = 0.0) -> Array:
    """A matrix (…, rows, columns) from its diagonals (…, rows, bands), `pad` elsewhere.

    Diagonal k of x holds the elements with  column - row = k - lower.
    """
    row, column = _diagonals(x.shape[-2], x.shape[-1], lower)
    inside = (column >= 0) & (column < columns)
    y = np.full((*x.shape[:-1], columns), pad)
    y[..., row[inside], column[inside]] = x[..., inside]
    return y


def contract_band_matrix(x: Array, bands: int, lower: int, pad: float = 0.0) -> Array:
    """The diagonals (…, rows, bands) of a matrix: the way back of `expand_band_matrix`."""
    row, column = _diagonals(x.shape[-2], bands, lower)
    inside = (column >= 0) & (column < x.shape[-1])
    y = np.full((*x.shape[:-1], bands), pad)
    y[..., inside] = x[..., row[inside], column[inside]]
    return y


def load_pages(container: Array, page_table: Array, seq_len: Array, length: int) -> Array:
    """The keys or values of each sequence, from pages of memory.

    Parameters
    ----------
    container
        (pages, h, page size, d).
    page_table
        (b, 1, pages of one sequence, 1): which page holds each part.
    seq_len
        (b, 1, 1, 1); pages beyond it are not read.

    Returns
    -------
    ndarray
        (b, h, length, d), zero beyond `seq_len`.
    """
    batch, heads, size, width = len(page_table), *container.shape[1:]
    y = np.zeros((batch, heads, length, width))
    for sequence in range(batch):
        for start in range(0, min(int(seq_len[sequence].item()), length), size):
            page = int(page_table[sequence].ravel()[start // size])
            stop = min(start + size, length, int(seq_len[sequence].item()))
            y[sequence, :, start:stop] = container[page, :, : stop - start]
    return y


def _turned(x: Array) -> Array:
    """Each pair of halves (a, b) by a quarter turn: (-b, a)."""
    first, second = np.split(x, 2, -1)
    return np.concatenate([-second, first], -1)


def rope(x: Array, angles: Array, *, rope_dim: int | None = None, scale: float = 1.0) -> Array:
    """Rotary position embedding (Su et al., 2021) of the first `rope_dim` of the last dimension.

    Element i and element i + rope_dim / 2 of a head are turned by their angles:
    y = x * cos(angles) + turned(x) * sin(angles).
    """
    size = rope_dim or min(x.shape[-1], angles.shape[-1])
    turning, rest = x[..., :size], x[..., size:]
    angles = angles[..., :size]
    turned = turning * np.cos(angles) + _turned(turning) * np.sin(angles)
    y: Array = np.concatenate([turned, rest], -1) * scale
    return y


def rope_backward(
    dy: Array, angles: Array, *, rope_dim: int | None = None, scale: float = 1.0
) -> Array:
    """The gradient of `rope`: the turn back."""
    size = rope_dim or min(dy.shape[-1], angles.shape[-1])
    turning, rest = dy[..., :size], dy[..., size:]
    angles = angles[..., :size]
    turned = turning * np.cos(angles) - _turned(turning * np.sin(angles))
    dx: Array = np.concatenate([turned, rest], -1) * scale
    return dx


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
