"""Reductions and matrix products: what cuDNN's descriptors refuse is defined here all the same."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.reference.graph import channel_statistics, grouped_matmul, matmul, reduce

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


def test_rows_before_the_first_expert_are_zero() -> None:
    token, weight = RNG.standard_normal((1, 4, 2)), RNG.standard_normal((2, 2, 3))
    y = grouped_matmul(token, weight, np.array([1, 3]))
    np.testing.assert_array_equal(y[0, 0], 0)
    np.testing.assert_allclose(y[0, 1:3], token[0, 1:3] @ weight[0])
    np.testing.assert_allclose(y[0, 3:], token[0, 3:] @ weight[1])
