"""The error function, element by element as the standard library computes it."""

from __future__ import annotations

import math

import numpy as np

from cudnn_ctypes.reference.graph.erf import erf


def test_erf_is_that_of_the_standard_library_to_two_units_in_the_last_place() -> None:
    rng = np.random.default_rng(0)
    sign = rng.choice((-1.0, 1.0), 20_000)
    x = np.concatenate(
        [
            rng.uniform(-7, 7, 40_000),
            sign * 10 ** rng.uniform(-300, 1, 20_000),
            np.arange(-800, 801) / 128 + 1 / 256,  # halfway between points of the grid
            [-6, 6, 0, 5e-324, -1e308],
        ]
    )
    wanted = np.array([math.erf(each) for each in x])
    assert (np.abs(erf(x) - wanted) <= 2 * np.spacing(np.abs(wanted))).all()


def test_erf_of_what_is_no_number() -> None:
    x = np.array([[math.nan, math.inf], [-math.inf, -0.0]])
    y = erf(x)
    np.testing.assert_array_equal(y, [[math.nan, 1], [-1, 0]])
    assert math.copysign(1, y[1, 1]) == -1
