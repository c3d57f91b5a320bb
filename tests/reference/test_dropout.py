"""Dropout: masks that repeat, their statistics, and the two passes."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference.dropout import Position, draw_mask, dropout_backward, dropout_forward


def test_masks_drawn_one_after_the_other_continue_the_stream():
    whole, _ = draw_mask(Position(7), 24, 0.5)
    first, after = draw_mask(Position(7), 16, 0.5)
    second, _ = draw_mask(after, 8, 0.5)
    np.testing.assert_array_equal(whole, np.concatenate([first, second]))
    # A draw that ends within a block leaves the rest of it unused.
    assert draw_mask(Position(7), 5, 0.5)[1] == Position(7, 2)


def test_the_words_are_those_of_numpys_philox():
    words = np.random.Generator(np.random.Philox(key=2**63 + 5, counter=0)).random(100)
    mask, _ = draw_mask(Position(2**63 + 5), 100, 0.25)
    np.testing.assert_array_equal(mask, words >= 0.25)


@pytest.mark.parametrize("rate", [0.1, 0.5, 0.9])
def test_the_kept_share_is_that_of_a_fair_draw(rate: float):
    count = 200_000
    mask, _ = draw_mask(Position(1), count, rate)
    deviation = np.sqrt(rate * (1 - rate) / count)
    assert abs(mask.mean() - (1 - rate)) < 4 * deviation
    # Neighbours are independent: the share of pairs that are both kept is the square.
    pairs = (mask[1:] & mask[:-1]).mean()
    assert abs(pairs - (1 - rate) ** 2) < 8 * deviation


def test_backward_is_the_gradient_of_forward():
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((2, 3, 4, 5))
    mask = draw_mask(Position(3), x.size, 0.4)[0].reshape(x.shape)
    dx = dropout_backward(0.4, dy=dy, mask=mask)
    step = rng.standard_normal(x.shape)
    difference = np.sum(dy * (dropout_forward(x + step, mask, 0.4) - dropout_forward(x, mask, 0.4)))
    np.testing.assert_allclose(difference, np.sum(dx * step), rtol=1e-12)
