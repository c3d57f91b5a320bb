"""Softmax and its gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference import softmax_backward, softmax_forward

ALGORITHMS = ("fast", "accurate", "log")
MODES = ("instance", "channel")


@pytest.mark.parametrize("shape", [(3, 5), (2, 3, 4), (2, 3, 4, 5), (2, 3, 2, 1, 3)])
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_against_pytorch(torch, algorithm: str, mode: str, shape: tuple[int, ...]):
    rng = np.random.default_rng(len(shape))
    x, dy = rng.standard_normal(shape) * 3, rng.standard_normal(shape)
    tx = torch.tensor(x, requires_grad=True)
    function = torch.log_softmax if algorithm == "log" else torch.softmax
    flat = tx if mode == "channel" else tx.flatten(1)
    ty = function(flat, 1).reshape(shape)
    ty.backward(torch.tensor(dy))
    y = softmax_forward(x, algorithm=algorithm, mode=mode)
    dx = softmax_backward(y=y, dy=dy, algorithm=algorithm, mode=mode)
    # Both evaluate in float64; sums of up to 60 terms.
    np.testing.assert_allclose(y, ty.detach().numpy(), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(dx, tx.grad.numpy(), rtol=1e-12, atol=1e-14)


def test_only_fast_overflows():
    x = np.array([[1000.0, 1000.0]])
    assert softmax_forward(x, algorithm="accurate").tolist() == [[0.5, 0.5]]
    np.testing.assert_allclose(softmax_forward(x, algorithm="log"), -np.log([[2.0, 2.0]]))
    assert np.isnan(softmax_forward(x, algorithm="fast")).all()


def test_integers_are_rounded_before_the_sum_where_nothing_is_added():
    x, y = np.array([[-5, 6]], np.int8), np.array([[5, 12]], np.int8)
    assert softmax_forward(x, algorithm="fast").tolist() == [[0, 0]]  # 127 of 403
    assert softmax_forward(x, algorithm="fast", beta=0.5, y=y).tolist() == [[3, 7]]
    assert softmax_forward(x, algorithm="fast", keep_powers=False).tolist() == [[0, 1]]
