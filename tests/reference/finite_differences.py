"""Central differences, the oracle of gradients."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def gradient(loss: Callable[[], float], operand: np.ndarray, *, step: float = 1e-5) -> np.ndarray:
    """The gradient of `loss`, which reads `operand` (float64), by each of its elements.

    For a smooth loss it errs by about step^2 + eps / step, 1e-10 for values of size 1.
    """
    result = np.empty_like(operand)
    for at in np.ndindex(*operand.shape):
        middle = operand[at]
        operand[at] = middle + step
        above = loss()
        operand[at] = middle - step
        below = loss()
        operand[at] = middle
        result[at] = (above - below) / (2 * step)
    return result
