"""Strides by the order of dimensions."""

from __future__ import annotations

from cudnn_ctypes.raw.strides import broadcast, extent, overlapping


def test_broadcast_refuses_other_ranks() -> None:
    assert broadcast((2, 3), (3,)) is None


def test_elements_that_lie_backwards_take_as_much_memory() -> None:
    assert extent((2, 3), (-5, 1)) == extent((2, 3), (5, -1)) == 8


def test_elements_that_are_not_there_share_no_memory() -> None:
    assert overlapping((2, 1, 1), (0, 0, 1))
    assert not overlapping((2, 1, 0), (0, 0, 1))
