"""Strides by the order of dimensions."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from cudnn_ctypes.raw.strides import axis_order, broadcast, packed, packed_like


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_packed_strides_are_those_of_a_transposed_numpy_array(order: tuple[int, ...]) -> None:
    dims = (2, 3, 5, 7)
    array = np.empty([dims[axis] for axis in order], np.int8)
    expected = array.transpose([order.index(axis) for axis in range(4)]).strides
    assert packed(dims, order) == expected
    assert axis_order(dims, expected) == order


@pytest.mark.parametrize(
    ("dims", "strides"),
    [((4, 1, 5, 6), (30, 1, 6, 1)), ((4, 8, 1, 1), (8, 1, 8, 8)), ((1, 8, 5, 6), (240, 1, 48, 8))],
)
def test_channels_last_stays_channels_last_where_sizes_are_one(
    dims: tuple[int, ...], strides: tuple[int, ...]
) -> None:
    assert packed_like((2, 3, 4, 5), dims, strides)[1] == 1


def test_rows_stay_rows_where_the_width_is_one() -> None:
    assert packed_like((2, 3, 4, 5), (4, 8, 6, 1), (48, 6, 1, 1)) == (60, 20, 5, 1)


def test_broadcast_is_numpys() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        shapes = [tuple(rng.choice([1, 2, 3], size=3)) for _ in range(rng.integers(1, 4))]
        try:
            expected = np.broadcast_shapes(*shapes)
        except ValueError:
            expected = None
        assert broadcast(*shapes) == expected
        assert math.prod(expected or (1,)) >= 1


def test_broadcast_refuses_other_ranks() -> None:
    assert broadcast((2, 3), (3,)) is None
