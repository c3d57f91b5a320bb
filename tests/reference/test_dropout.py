"""Dropout: masks that repeat, their statistics, and the two passes."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference.dropout import (
    Position,
    draw_mask,
    dropout_backward,
    dropout_forward,
    factor,
)


def test_a_mask_depends_on_key_and_position_only():
    mask, after = draw_mask(Position(7), 1001, 0.3)
    again, _ = draw_mask(Position(7), 1001, 0.3)
    np.testing.assert_array_equal(mask, again)
    other_key, _ = draw_mask(Position(8), 1001, 0.3)
    later, _ = draw_mask(after, 1001, 0.3)
    assert (mask != other_key).any()
    assert (mask != later).any()


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


def test_rates_of_zero_and_one():
    x = np.arange(1.0, 9.0)
    everything, _ = draw_mask(Position(1), 8, 0.0)
    nothing, _ = draw_mask(Position(1), 8, 1.0)
    np.testing.assert_array_equal(dropout_forward(x, everything, 0.0), x)
    np.testing.assert_array_equal(dropout_forward(x, nothing, 1.0), 0 * x)
    assert factor(1.0) == 0


def test_kept_elements_are_scaled_and_the_expected_value_stays():
    x = np.full((40, 50, 20), 3.0)
    mask, _ = draw_mask(Position(1), x.size, 0.25)
    y = dropout_forward(x, mask.reshape(x.shape), 0.25)
    assert set(np.unique(y)) == {0.0, 4.0}
    assert abs(y.mean() - 3.0) < 4 * np.sqrt(3 / x.size) * np.sqrt(3)


def test_a_dropped_nan_is_gone():
    mask = np.array([True, False])
    np.testing.assert_array_equal(dropout_forward(np.array([1, np.nan]), mask, 0.5), [2, 0])


def test_backward_is_the_gradient_of_forward():
    rng = np.random.default_rng(0)
    x, dy = rng.standard_normal((2, 3, 4, 5))
    mask = draw_mask(Position(3), x.size, 0.4)[0].reshape(x.shape)
    dx = dropout_backward(0.4, dy=dy, mask=mask)
    step = rng.standard_normal(x.shape)
    difference = np.sum(dy * (dropout_forward(x + step, mask, 0.4) - dropout_forward(x, mask, 0.4)))
    np.testing.assert_allclose(difference, np.sum(dx * step), rtol=1e-12)


def test_against_pytorchs_backward():
    torch = pytest.importorskip("torch", reason="PyTorch (CPU) is the oracle of this test")
    torch.manual_seed(0)
    x = torch.randn(6, 7, dtype=torch.float64, requires_grad=True)
    y = torch.nn.functional.dropout(x, 0.3)
    dy = torch.randn(6, 7, dtype=torch.float64)
    y.backward(dy)
    mask = (y != 0).numpy()
    close = {"rtol": 1e-14}
    np.testing.assert_allclose(dropout_forward(x.detach().numpy(), mask, 0.3), y.detach(), **close)
    np.testing.assert_allclose(dropout_backward(0.3, dy=dy.numpy(), mask=mask), x.grad, **close)


def test_the_dtype_of_the_operand_is_kept_and_computing_in_float32_rounds_the_factor():
    x = np.array([3.0, 5.0], np.float16)
    mask = np.array([True, True])
    y = dropout_forward(x, mask, 0.1, compute_dtype=np.float32)
    assert y.dtype == np.float16
    np.testing.assert_array_equal(
        y, (x.astype(np.float32) * np.float32(1 / 0.9)).astype(np.float16)
    )


def test_a_mask_of_another_shape_is_refused():
    mask = np.ones(3, bool)
    with pytest.raises(ValueError, match=r"mask must have shape \(2,\)"):
        dropout_forward(np.ones(2), mask, 0.5)
    with pytest.raises(ValueError, match=r"mask must have shape \(2,\)"):
        dropout_backward(0.5, dy=np.ones(2), mask=mask)
