"""Reductions and matrix products: what cuDNN's descriptors refuse is defined here all the same."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.reference.graph import channel_statistics, matmul, reduce
from cudnn_ctypes.reference.graph.erf import erf, normal

RNG = np.random.default_rng(2)


@pytest.mark.parametrize(
    ("mode", "function"),
    [
        (raw.CUDNN_REDUCE_TENSOR_AVG, lambda row: sum(row) / len(row)),
        (raw.CUDNN_REDUCE_TENSOR_NORM1, lambda row: sum(abs(each) for each in row)),
        (raw.CUDNN_REDUCE_TENSOR_NORM2, lambda row: sum(each**2 for each in row) ** 0.5),
        (raw.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS, lambda row: np.prod([e for e in row if e])),
        (raw.CUDNN_REDUCE_TENSOR_AMAX, lambda row: max(abs(each) for each in row)),
    ],
)
def test_rows(mode: Any, function: Any) -> None:
    x = RNG.standard_normal((3, 5))
    x[1, 2] = 0
    found = reduce(mode, x, (3, 1))
    np.testing.assert_allclose(found[:, 0], [function(row) for row in x], rtol=1e-12)


def test_every_mode_is_there() -> None:
    x = RNG.standard_normal((2, 6))
    for mode in raw.cudnnReduceTensorOp_t:
        assert reduce(mode, x, (1, 3)).shape == (1, 3)


def test_statistics() -> None:
    x = RNG.standard_normal((2, 3, 4, 5))
    total, squares = channel_statistics(x)
    for channel in range(3):
        np.testing.assert_allclose(total[0, channel, 0, 0], x[:, channel].sum())
        np.testing.assert_allclose(squares[0, channel, 0, 0], np.square(x[:, channel]).sum())


def test_operands_serve_several_batches() -> None:
    a, b = RNG.standard_normal((2, 6, 4, 5)), RNG.standard_normal((1, 3, 5, 7))
    found = matmul(a, b)
    for batch, head in np.ndindex(2, 6):
        np.testing.assert_allclose(found[batch, head], a[batch, head] @ b[0, head // 2])


def test_what_lies_beyond_k_is_not_looked_at() -> None:
    a, b = RNG.standard_normal((1, 2, 4)), RNG.standard_normal((1, 4, 3))
    exact = a[..., :2] @ b[:, :2]
    a[..., 2:], b[:, 2:] = np.nan, np.nan
    np.testing.assert_allclose(matmul(a, b, k=np.array([[[2]]])), exact)


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
