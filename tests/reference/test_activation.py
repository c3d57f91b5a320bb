"""Activations and their gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.reference import activate, activation_backward, activation_forward

# The function and a coefficient for it.
CASES = [("identity", 0.0), ("relu", 0.0), ("sigmoid", 0.0), ("tanh", 0.0), ("clipped_relu", 0.7)]
CASES += [("elu", 1.0), ("elu", 0.3), ("swish", 1.0), ("swish", 1.7)]


def away_from_kinks(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Values with no element within 1e-3 of 0 and 0.7, where relu and clipped relu bend."""
    x = rng.standard_normal(shape) * 2
    return np.where((abs(x) < 1e-3) | (abs(x - 0.7) < 1e-3), 0.5, x)


@pytest.mark.parametrize(("activation", "coefficient"), CASES)
def test_against_pytorch(torch, activation: str, coefficient: float):
    functional = torch.nn.functional
    functions = {
        "identity": lambda t: t * 1,
        "relu": functional.relu,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "clipped_relu": lambda t: functional.hardtanh(t, 0.0, coefficient),
        "elu": lambda t: functional.elu(t, coefficient),
        "swish": lambda t: t * torch.sigmoid(coefficient * t),
    }
    rng = np.random.default_rng(0)
    x = np.concatenate([away_from_kinks(rng, (300,)), [-1000, -80, 80, 1000]])
    dy = rng.standard_normal(x.shape)
    tx = torch.tensor(x, requires_grad=True)
    ty = functions[activation](tx)
    ty.backward(torch.tensor(dy))
    with np.errstate(all="raise", under="ignore"):
        y = activation_forward(x, activation, coefficient)
        dx = activation_backward(activation, coefficient, y=y, dy=dy, x=x)
    # Both evaluate the formula in float64, each with a few roundings.
    np.testing.assert_allclose(y, ty.detach().numpy(), rtol=1e-13, atol=1e-14)
    np.testing.assert_allclose(dx, tx.grad.numpy(), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("activation", ["relu", "clipped_relu"])
def test_nan_becomes_0_if_it_is_not_propagated(activation: str):
    x = np.array([np.nan, 0.5])
    assert activate(x, activation, 1.0, propagate_nan=False).tolist() == [0.0, 0.5]
    assert activation_forward(x, activation, 1.0, propagate_nan=False).tolist() == [0.0, 0.5]
    assert np.isnan(activate(x, activation, 1.0)[0])
    assert np.isnan(activation_forward(x, activation, 1.0)[0])
