"""The fused operations against PyTorch, and against batch normalization itself."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.reference import batch_normalization_forward_training
from cudnn_ctypes.reference import fused_operations as fused


def normal(seed: int, *shape: int) -> np.ndarray:
    return np.random.default_rng([seed, *shape]).standard_normal(shape)


OPTIONS = {"padding": (1, 1), "stride": (2, 1)}


@pytest.mark.parametrize("activation", ["identity", "relu"])
def test_against_pytorch(torch: Any, activation: Any) -> None:
    x, w = normal(1, 2, 4, 6, 5), normal(2, 3, 4, 3, 3)
    scale, bias = normal(3, 1, 4, 1, 1), normal(4, 1, 4, 1, 1)
    filters = torch.tensor(w, requires_grad=True)
    a = torch.tensor(x) * torch.tensor(scale) + torch.tensor(bias)
    a = torch.relu(a) if activation == "relu" else a
    y = torch.nn.functional.conv2d(a, filters, padding=(1, 1), stride=(2, 1))
    made = fused.scale_bias_activation_convolution(x, w, scale, bias, activation, options=OPTIONS)
    np.testing.assert_allclose(made.y, y.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(made.y_sum.ravel(), y.sum((0, 2, 3)).detach().numpy(), atol=1e-11)
    squares = (y * y).sum((0, 2, 3)).detach().numpy()
    np.testing.assert_allclose(made.y_sqsum.ravel(), squares, atol=1e-11)
    dy = normal(5, *y.shape)
    y.backward(torch.tensor(dy))
    dw = fused.scale_bias_activation_backward_filter(
        x=x, dy=dy, dw_shape=w.shape, scale=scale, bias=bias, activation=activation, options=OPTIONS
    )
    np.testing.assert_allclose(dw, filters.grad.numpy(), atol=1e-12)


def test_is_batch_normalization_in_steps() -> None:
    """Convolution, statistics, finalization, affine: the same as to normalize y."""
    x, w = normal(17, 4, 2, 5, 5), normal(18, 3, 2, 3, 3)
    gamma, beta = normal(19, 1, 3, 1, 1), normal(20, 1, 3, 1, 1)
    means, variances = normal(21, 1, 3, 1, 1), abs(normal(22, 1, 3, 1, 1))
    y, y_sum, y_sqsum = fused.scale_bias_activation_convolution(x, w)
    settings = {"epsilon": 1e-3, "average_factor": 0.3}
    running = {"running_mean": means, "running_variance": variances}
    expected = batch_normalization_forward_training(y, gamma, beta, **settings, **running)
    count = y.size // 3
    made = fused.finalize_statistics_training(
        y_sum, y_sqsum, count, gamma, beta, **settings, **running
    )
    np.testing.assert_allclose(
        fused.affine_activation(y, made.scale, made.bias), expected.y, atol=1e-12
    )
    np.testing.assert_allclose(made.saved_mean, expected.saved_mean, atol=1e-12)
    np.testing.assert_allclose(made.saved_inv_variance, expected.saved_inv_variance, atol=1e-12)
    np.testing.assert_allclose(made.running_mean, expected.running_mean, atol=1e-12)
    np.testing.assert_allclose(made.running_variance, expected.running_variance, atol=1e-12)
    alone = fused.finalize_statistics_training(
        y_sum, y_sqsum, count, gamma, beta, average_factor=1.0
    )
    assert alone.running_mean is None
    assert alone.running_variance is None


def test_inference(torch: Any) -> None:
    y, gamma, beta = normal(23, 2, 3, 4, 4), normal(24, 1, 3, 1, 1), normal(25, 1, 3, 1, 1)
    mean, variance = normal(26, 1, 3, 1, 1), abs(normal(27, 1, 3, 1, 1))
    scale, bias = fused.finalize_statistics_inference(gamma, beta, mean, variance, epsilon=1e-3)
    expected = torch.nn.functional.batch_norm(
        *(torch.tensor(a) for a in (y, mean.ravel(), variance.ravel())),
        *(torch.tensor(a.ravel()) for a in (gamma, beta)),
        eps=1e-3,
    )
    np.testing.assert_allclose(
        fused.affine_activation(y, scale, bias), expected.numpy(), atol=1e-12
    )
