"""Strides by the order of dimensions."""

from __future__ import annotations

from cudnn_ctypes.raw.strides import broadcast


def test_broadcast_refuses_other_ranks() -> None:
    assert broadcast((2, 3), (3,)) is None
