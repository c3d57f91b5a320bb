"""Random numbers, reproducible by seed and offset.

cuDNN draws from Philox streams in an order that depends on the engine, so its numbers cannot be
reproduced here. These numbers come from NumPy's Philox generator with the seed as its key and the
offset as its counter: equal numbers for equal seed and offset, in the requested distribution.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..tiles import Array


def _generator(seed: int, offset: int) -> np.random.Generator:
    mask = (1 << 64) - 1
    return np.random.Generator(np.random.Philox(key=seed & mask, counter=offset & mask))


def bernoulli(shape: Sequence[int], probability: float, seed: int, offset: int = 0) -> Array:
    """1 with this probability, else 0."""
    return (_generator(seed, offset).random(tuple(shape)) < probability).astype(np.float64)


def uniform(shape: Sequence[int], low: float, high: float, seed: int, offset: int = 0) -> Array:
    """Between `low` and `high`."""
    return _generator(seed, offset).uniform(low, high, tuple(shape))


def normal(shape: Sequence[int], mean: float, spread: float, seed: int, offset: int = 0) -> Array:
    """Normally distributed with this mean and standard deviation."""
    return _generator(seed, offset).normal(mean, spread, tuple(shape))
