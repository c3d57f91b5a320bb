"""The affine maps of recurrent cells, for all gates at once, and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .blas import product
from .rnn_network import RecurrentWeights

__all__ = ["affine", "affine_input", "outer_sum", "through_input"]

Array = NDArray[Any]


def affine(x: Array, matrices: Array, bias: Array | None) -> Array:
    """(..., gates, hidden): every gate's matrix times x, plus its bias."""
    gates, hidden, size = matrices.shape
    rows = product(x.reshape(-1, size), matrices.reshape(gates * hidden, size).T)
    result: Array = rows.reshape(*x.shape[:-1], gates, hidden)
    return result if bias is None else result + bias


def affine_input(x: Array, weights: RecurrentWeights, gates: int) -> Array:
    """a of all gates: W x + b_W, or x itself for each of them if the input is skipped."""
    if weights.w is not None:
        return affine(x, weights.w, weights.bw)
    skipped = np.repeat(x[..., None, :], gates, axis=-2)
    return skipped if weights.bw is None else skipped + weights.bw


def through_input(by_input: Array, matrices: Array | None) -> Array:
    """(T, B, size), the gradient by x: the sum over the gates of W^T da, or of da itself."""
    if matrices is None:
        skipped: Array = by_input.sum(axis=2)
        return skipped
    flat = matrices.reshape(-1, matrices.shape[-1])
    return product(by_input.reshape(-1, len(flat)), flat).reshape(*by_input.shape[:2], -1)


def outer_sum(gradients: Array, read: Array) -> Array:
    """The sum over all steps and sequences of gradient * read^T; (..., rows, size)."""
    rows = gradients.shape[2:]
    flat = gradients.reshape(-1, int(np.prod(rows)))
    return product(flat.T, read.reshape(len(flat), -1)).reshape(*rows, read.shape[-1])
