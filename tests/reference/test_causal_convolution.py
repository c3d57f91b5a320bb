"""Causal convolutions and their gradients, against PyTorch and their definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.reference import causal_convolution as direct
from cudnn_ctypes.reference import causal_convolution as fft

# (batch, dim, time, width); widths above the time too.
SHAPES = [(1, 1, 1, 2), (2, 3, 9, 4), (2, 2, 5, 8), (3, 4, 16, 2), (1, 2, 40, 17)]


def normal(rng: np.random.Generator, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape)


def by_torch(
    torch: Any, x: Any, weight: Any, bias: Any = None, activation: str = "identity"
) -> Any:
    """The same by PyTorch's convolution with zeros on the left."""
    width = weight.shape[1]
    padded = torch.nn.functional.pad(x, (width - 1, 0))
    z = torch.nn.functional.conv1d(padded, weight[:, None], bias, groups=weight.shape[0])
    return torch.nn.functional.silu(z) if activation == "silu" else z


@pytest.mark.parametrize("activation", ["identity", "silu"])
@pytest.mark.parametrize("shape", SHAPES)
def test_against_pytorch(torch: Any, shape: tuple[int, ...], activation: Any) -> None:
    batch, dim, time, width = shape
    rng = np.random.default_rng(list(shape))
    x, dy = normal(rng, batch, dim, time), normal(rng, batch, dim, time)
    weight, bias = normal(rng, dim, width), normal(rng, dim)
    leaves = [torch.tensor(array, requires_grad=True) for array in (x, weight, bias)]
    y = by_torch(torch, *leaves, activation)
    y.backward(torch.tensor(dy))
    actual = direct.causal_convolution_forward(x, weight, bias, activation)
    np.testing.assert_allclose(actual, y.detach().numpy(), rtol=1e-12, atol=1e-12)
    gradients = direct.causal_convolution_backward(
        x=x, w=weight, bias=bias, dy=dy, activation=activation
    )
    for one, leaf in zip(gradients, leaves, strict=True):
        np.testing.assert_allclose(one, leaf.grad.numpy(), rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 1, 1, 1), (2, 3, 8, 8), (2, 2, 12, 4), (3, 2, 7, 7)])
def test_fft_is_the_reversed_filter(shape: tuple[int, ...]) -> None:
    batch, dim, time, width = shape
    rng = np.random.default_rng(list(shape))
    x, dy = normal(rng, batch, dim, time), normal(rng, batch, dim, time)
    weight = normal(rng, dim, width)
    expected = direct.causal_convolution_forward(x, weight[:, ::-1])
    np.testing.assert_allclose(fft.fft_causal_convolution_forward(x, weight), expected, atol=1e-12)
    wanted = direct.causal_convolution_backward(x=x, w=weight[:, ::-1], dy=dy)
    actual = fft.fft_causal_convolution_backward(x=x, w=weight, dy=dy)
    np.testing.assert_allclose(actual.dx, wanted.dx, atol=1e-12)
    np.testing.assert_allclose(actual.dw, wanted.dw[:, ::-1], atol=1e-12)


# --- back to back -------------------------------------------------------------------------------


def hyena(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    return (normal(rng, 2, 3, 3, 7), normal(rng, 3, 3, 4), normal(rng, 3, 5), normal(rng, 3))


def named(operands: tuple[np.ndarray, ...]) -> dict[str, np.ndarray]:
    return dict(zip(("x", "w_proj", "w_mixer", "skip_bias"), operands, strict=True))


def test_back_to_back_against_pytorch(torch: Any) -> None:
    rng = np.random.default_rng(9)
    operands = hyena(rng)
    dy = normal(rng, 2, 3, 7)
    leaves = [torch.tensor(array, requires_grad=True) for array in operands]
    x, proj, mixer, skip = leaves
    p = by_torch(torch, x.reshape(2, 9, 7), proj.reshape(9, 4)).reshape(2, 3, 3, 7)
    z = p[:, :, 1] * p[:, :, 2]
    y = by_torch(torch, z, mixer) + skip[:, None] * z
    gated = y * p[:, :, 0]
    gated.backward(torch.tensor(dy))
    actual = direct.back_to_back_convolution_forward(*operands)
    np.testing.assert_allclose(actual.y, y.detach().numpy(), atol=1e-12)
    np.testing.assert_allclose(actual.gated, gated.detach().numpy(), atol=1e-12)
    gradients = direct.back_to_back_convolution_backward(**named(operands), y=actual.y, dgated=dy)
    for one, leaf in zip(gradients, leaves, strict=True):
        np.testing.assert_allclose(one, leaf.grad.numpy(), atol=1e-11)
