"""The error function and the normal distribution, as the standard library computes them."""

from __future__ import annotations

import math

import numpy as np

from cudnn_ctypes.reference.graph.erf import erf, normal


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


def test_float32_is_right_to_a_few_units_in_its_last_place() -> None:
    rng = np.random.default_rng(1)
    small = rng.choice((-1.0, 1.0), 20_000) * 10 ** rng.uniform(-30, 1, 20_000)
    x = np.concatenate([rng.uniform(-9, 9, 40_000), small]).astype(np.float32)
    of_x = x.astype(np.float64)
    assert erf(x).dtype == normal(x).dtype == np.float32
    exact = np.array([math.erf(each) for each in of_x])
    assert (np.abs(erf(x) - exact) <= 4 * np.spacing(np.abs(exact.astype(np.float32)))).all()
    exact = np.array([0.5 * math.erfc(-each / math.sqrt(2)) for each in of_x])
    np.testing.assert_allclose(normal(x), exact, rtol=1e-6, atol=2e-19)
    special = np.array([math.nan, math.inf, -math.inf, -0.0], np.float32)
    np.testing.assert_array_equal(erf(special), np.array([math.nan, 1, -1, 0], np.float32))
    assert math.copysign(1, erf(special)[3]) == -1
    assert (np.isnan(normal(special)) == [True, False, False, False]).all()
    np.testing.assert_allclose(normal(special)[1:], [1, 0, 0.5], atol=1e-18)
