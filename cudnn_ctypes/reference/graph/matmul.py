"""Matrix products: with batches that share operands, sizes of their own, and experts."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from ..blas import product
from ..tiles import Array


def stretch(a: Array, batch: Sequence[int]) -> Array:
    """`a` with its leading dimensions repeated to `batch`.

    One of eight heads serves four neighbours if there are two: (0, 0, 0, 0, 1, 1, 1, 1).
    """
    for axis, size in enumerate(batch):
        if a.shape[axis] != size:
            a = np.repeat(a, size // a.shape[axis], axis)
    return a


def matmul(
    a: Array,
    b: Array,
    *,
    m: Array | None = None,
    n: Array | None = None,
    k: Array | None = None,
    padding: float = 0.0,
) -> Array:
    """c = a @ b, the product of the last two dimensions.

    Parameters
    ----------
    a, b
        (…, m, k) and (…, k, n); their batches are equal, or one divides the other.
    m, n, k
        Sizes for each batch, used instead: (b, 1, 1) or (b, 1, 1, 1). The sum has the first k
        products, and elements beyond m and n in the result are `padding`.

    Returns
    -------
    ndarray
        (…, m, n).
    """
    batch = [max(pair) for pair in zip(a.shape[:-2], b.shape[:-2], strict=True)]
    a, b = stretch(a, batch), stretch(b, batch)
    if k is not None:
        inside = np.arange(b.shape[-2])[:, None] < k
        a = np.where(np.swapaxes(inside, -1, -2), a, 0)
        b = np.where(inside, b, 0)
    c = product(a, b)
    if m is not None:
        c = np.where(np.arange(c.shape[-2])[:, None] < m, c, padding)
    if n is not None:
        c = np.where(np.arange(c.shape[-1]) < n, c, padding)
    return c


def _groups(first_token_offset: Array, tokens: int) -> list[slice]:
    """The rows of each expert: from its offset to the next one's."""
    starts = [*first_token_offset.astype(int).ravel(), tokens]
    return [slice(start, stop) for start, stop in itertools.pairwise(starts)]


def grouped_matmul(
    token: Array,
    weight: Array,
    first_token_offset: Array,
    *,
    gather: Array | None = None,
    scatter: Array | None = None,
) -> Array:
    """Each group of rows times the weight of its expert.

    Parameters
    ----------
    token
        (1, rows, k), sorted by expert; with `gather` (1, tokens, k) in any order.
    weight
        (experts, k, n).
    first_token_offset
        (experts, 1, 1): the first row of each expert.
    gather
        The token of each row.
    scatter
        The destination of each row of the result.

    Returns
    -------
    ndarray
        (1, rows, n); rows before the first expert's are zero.
    """
    rows = token[0] if gather is None else token[0, gather.astype(int).ravel()]
    y = np.zeros((len(rows), weight.shape[2]))
    for expert, group in enumerate(_groups(first_token_offset, len(rows))):
        y[group] = rows[group] @ weight[expert]
    if scatter is not None:
        places = scatter.astype(int).ravel()
        y[places] = y.copy()
    return y[None]


def grouped_matmul_backward(doutput: Array, token: Array, first_token_offset: Array) -> Array:
    """The gradient of `grouped_matmul` with respect to weight: (experts, k, n)."""
    groups = _groups(first_token_offset, token.shape[1])
    return np.stack([token[0, group].T @ doutput[0, group] for group in groups])
