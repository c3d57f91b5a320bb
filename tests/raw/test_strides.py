"""Strides by the order of dimensions."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from cudnn_ctypes.raw.strides import axis_order, broadcast, packed


@pytest.mark.parametrize("order", list(itertools.permutations(range(4))))
def test_packed_strides_are_those_of_a_transposed_numpy_array(order: tuple[int, ...]) -> None:
    dims = (2, 3, 5, 7)
    array = np.empty([dims[axis] for axis in order], np.int8)
    expected = array.transpose([order.index(axis) for axis in range(4)]).strides
    assert packed(dims, order) == expected
    assert axis_order(dims, expected) == order


def test_broadcast_refuses_other_ranks() -> None:
    assert broadcast((2, 3), (3,)) is None
