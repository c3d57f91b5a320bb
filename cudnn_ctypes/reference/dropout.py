"""Dropout in plain NumPy: reproducible random masks, forward and backward.

Every element of x is dropped with probability `rate`; the kept ones are scaled so that the
expected value stays, and backward applies the same mask to the gradient:

    y = mask * x / (1 - rate)            dx = mask * dy / (1 - rate)

The masks come from a counter-based generator, Philox-4x64-10 as `numpy.random.Philox` has it. Word
k of a stream depends only on the key and on k, so a mask is repeated by going back to the position
at which it was drawn. The key is cuDNN's seed. cuDNN's own generators are not reproduced: a mask
drawn here is another one than a GPU draws from the same seed.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .arithmetic import kept
from .tiles import Array, tiled

_WORDS = 4  # of 64 bits, in one block of Philox


class Position(NamedTuple):
    """A place in the stream of random words: the next block to be used under a key."""

    key: int
    block: int = 0


def draw_mask(position: Position, count: int, rate: float) -> tuple[NDArray[np.bool_], Position]:
    """A mask of `count` elements, True where one is kept, and the position behind it.

    Element k is kept if word k, its upper 53 bits as a number from 0 to 1, is at least `rate`.
    """
    stream = np.random.Philox(key=position.key, counter=position.block)
    uniform = (stream.random_raw(count) >> np.uint64(11)) * 2.0**-53
    return uniform >= rate, position._replace(block=position.block + math.ceil(count / _WORDS))


def factor(rate: float) -> float:
    """The factor of kept elements: 1 / (1 - rate); 0 if none is kept."""
    return 0.0 if rate >= 1 else 1 / (1 - rate)


def dropout_forward(
    x: Array, mask: NDArray[np.bool_], rate: float, *, compute_dtype: DTypeLike = np.float64
) -> Array:
    """y: `cudnnDropoutForward` with a mask of the shape of x. The result has the dtype of x."""
    if mask.shape != x.shape:
        raise ValueError(f"mask must have shape {x.shape}, got {mask.shape}")
    dtype = np.dtype(compute_dtype)
    scale = np.asarray(factor(rate), dtype)

    def formula(x: Array, mask: NDArray[np.bool_]) -> Array:
        scaled: Array = kept(x.astype(dtype), mask) * scale
        return scaled.astype(x.dtype)

    return tiled(formula, x, mask)


def dropout_backward(
    rate: float, *, dy: Array, mask: NDArray[np.bool_], compute_dtype: DTypeLike = np.float64
) -> Array:
    """dx: `cudnnDropoutBackward`. The map is linear and symmetric: its own gradient."""
    if mask.shape != dy.shape:
        raise ValueError(f"mask must have shape {dy.shape}, got {mask.shape}")
    return dropout_forward(dy, mask, rate, compute_dtype=compute_dtype)
