"""Attention as one operation: its masks by small examples."""

from __future__ import annotations

import numpy as np

from cudnn_ctypes.reference.graph import AttentionMask, sdpa, unpacked_blocks

RNG = np.random.default_rng(6)
Q = RNG.standard_normal((2, 4, 5, 8))
K, V = RNG.standard_normal((2, 2, 7, 8)), RNG.standard_normal((2, 2, 7, 6))
LENGTHS = AttentionMask(np.array([5, 3]).reshape(2, 1, 1, 1), np.array([4, 7]).reshape(2, 1, 1, 1))


def test_what_padding_holds_is_not_looked_at() -> None:
    k, v = K.copy(), V.copy()
    k[0, :, 4:] = np.nan
    v[0, :, 4:] = 1e300
    np.testing.assert_array_equal(sdpa(Q, k, v, 1.0, LENGTHS)[0], sdpa(Q, K, V, 1.0, LENGTHS)[0])


def test_a_bit_for_each_block() -> None:
    bits = np.array([[[[0b00000101]], [[0b10000000]]]]).reshape(1, 2, 1, 1)
    blocks = unpacked_blocks(bits)
    assert blocks.shape == (1, 2, 128, 1024)
    assert list(blocks[0, 0, 0, ::128]) == [True, False, True, *[False] * 5]
    assert list(blocks[0, 1, 127, 64::128]) == [*[False] * 7, True]
    mask = AttentionMask(blocks=blocks)
    scores = mask.apply(np.zeros((1, 2, 3, 300)))
    assert np.all(np.isfinite(scores[0, 0]) == ((np.arange(300) < 128) | (np.arange(300) >= 256)))
    assert not np.isfinite(scores[0, 1]).any()
