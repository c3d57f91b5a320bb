"""Views of memory, pages, scales in blocks: small examples that can be followed by hand."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.reference.graph import block_axis, dequantize, load_pages, reshape


def test_a_view_of_the_same_memory_and_a_copy_by_rows() -> None:
    x = np.arange(6).reshape(2, 3)
    turned = reshape(x, (1, 2), (3, 2), (2, 1))  # x lies by columns
    np.testing.assert_array_equal(turned, x.T)
    logical = raw.cudnnBackendReshapeMode_t.CUDNN_RESHAPE_LOGICAL
    np.testing.assert_array_equal(
        reshape(x, (1, 2), (3, 2), (2, 1), logical), [[0, 1], [2, 3], [4, 5]]
    )
    wide = reshape(x, (4, 1), (6,), (1,))  # there is a gap after each row: no view
    np.testing.assert_array_equal(wide, np.arange(6))


def test_pages() -> None:
    container = np.arange(12.0).reshape(3, 1, 2, 2)
    table = np.array([[2, 0], [1, 2]]).reshape(2, 1, 2, 1)
    lengths = np.array([3, 1]).reshape(2, 1, 1, 1)
    found = load_pages(container, table, lengths, 4)
    np.testing.assert_array_equal(found[0, 0], [[8, 9], [10, 11], [0, 1], [0, 0]])
    np.testing.assert_array_equal(found[1, 0], [[4, 5], [0, 0], [0, 0], [0, 0]])


def test_pages_beyond_a_sequence_are_not_read() -> None:
    table = np.array([[0, 99]]).reshape(1, 1, 2, 1)
    found = load_pages(np.ones((1, 1, 2, 1)), table, np.full((1, 1, 1, 1), 2), 4)
    np.testing.assert_array_equal(found.ravel(), [1, 1, 0, 0])


def test_blocks_of_two_dimensions() -> None:
    scale = np.array([[1.0, 10.0], [100.0, 1000.0]])
    found = dequantize(np.ones((4, 6)), scale, (2, 3))
    np.testing.assert_array_equal(found, np.kron(scale, np.ones((2, 3))))


def test_the_axis_of_the_blocks() -> None:
    assert block_axis((4, 64, 64), (4, 64, 2), 32) == 2
    assert block_axis((4, 64, 64), (4, 2, 64), 32) == 1
    assert block_axis((1, 100, 64), (1, 128, 4), 32) == 2  # padded to tiles
    with pytest.raises(ValueError, match="no axis with one for each block of 32"):
        block_axis((4, 64), (4, 64), 32)
