"""Attention as one operation, against PyTorch, and its masks by small examples."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference.graph import AttentionMask, sdpa, sdpa_backward, unpacked_blocks

torch = pytest.importorskip("torch")

RNG = np.random.default_rng(6)
Q = RNG.standard_normal((2, 4, 5, 8))
K, V = RNG.standard_normal((2, 2, 7, 8)), RNG.standard_normal((2, 2, 7, 6))
DO = RNG.standard_normal((2, 4, 5, 6))
LENGTHS = AttentionMask(np.array([5, 3]).reshape(2, 1, 1, 1), np.array([4, 7]).reshape(2, 1, 1, 1))


def test_heads_share_keys_and_padding_gives_nothing() -> None:
    tensors = [torch.tensor(each, requires_grad=True) for each in (Q, K, V)]
    q, k, v = tensors[0], *(each.repeat_interleave(2, 1) for each in tensors[1:])
    scores = 0.3 * q @ k.transpose(2, 3)
    scores[0, :, :, 4:] = -np.inf
    exact = scores.softmax(3) @ v
    valid = torch.ones(2, 1, 5, 1, dtype=torch.float64)
    valid[1, :, 3:] = 0
    (exact * valid * torch.tensor(DO)).sum().backward()
    o, stats, *_ = sdpa(Q, K, V, 0.3, LENGTHS)
    np.testing.assert_allclose(o, (exact * valid).detach().numpy(), atol=1e-12)
    inside = np.broadcast_to(valid.numpy() > 0, stats.shape)
    sums = scores.logsumexp(3, keepdim=True).detach().numpy()
    np.testing.assert_allclose(stats[inside], sums[inside])
    assert np.all(stats[~inside] == -np.inf)
    gradients = sdpa_backward(Q, K, V, o, DO, stats, 0.3, LENGTHS)
    for found, tensor in zip(gradients, tensors, strict=True):
        np.testing.assert_allclose(found, tensor.grad.numpy(), atol=1e-12)


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
