"""Local response and divisive normalization, against loops and finite differences."""

from __future__ import annotations

import inspect
import itertools

import numpy as np
import pytest

from cudnn_ctypes import LRNDescriptor
from cudnn_ctypes import reference as ref

from .finite_differences import gradient

OPTIONS = {"n": 3, "lrn_alpha": 0.7, "lrn_beta": 0.6, "k": 1.3}


def random(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


def window(center, n, size):
    """The documented window: (n - 1) // 2 elements back, the rest ahead, inside of the array."""
    back = (n - 1) // 2
    return range(max(0, center - back), min(size, center + n - back))


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 16])
def test_against_loops(n):
    x = random(0, 2, 6, 3)
    y = ref.lrn_cross_channel_forward(x, n=n, lrn_alpha=0.7, lrn_beta=0.6, k=1.3)
    for i, c, p in np.ndindex(*x.shape):
        energy = 1.3 + 0.7 / n * sum(x[i, j, p] ** 2 for j in window(c, n, 6))
        assert y[i, c, p] == pytest.approx(x[i, c, p] / energy**0.6, rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 4, 5, 16])
@pytest.mark.parametrize("shape", [(2, 6, 2, 2), (1, 3, 2), (2, 1, 3)], ids=str)
def test_gradient(shape, n):
    x, dy = random(3, *shape), random(4, *shape)
    options = {**OPTIONS, "n": n}
    y = ref.lrn_cross_channel_forward(x, **options)
    dx = ref.lrn_cross_channel_backward(x=x, y=y, dy=dy, **options)

    def loss():
        return float((ref.lrn_cross_channel_forward(x, **options) * dy).sum())

    np.testing.assert_allclose(dx, gradient(loss, x), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("sizes", [(5,), (4, 6), (3, 4, 2)], ids=str)
def test_divisive_against_loops(sizes, n):
    x, means = random(5, 2, 2, *sizes), random(6, 2, 2, *sizes)
    y = ref.divisive_normalization_forward(x, means, n=n, lrn_alpha=0.7, lrn_beta=0.6, k=1.3)
    for at in np.ndindex(*x.shape):
        around = itertools.product(*(window(c, n, s) for c, s in zip(at[2:], sizes, strict=True)))
        squares = sum((x[(*at[:2], *place)] - means[at]) ** 2 for place in around)
        s = 1.3 + 0.7 / n ** len(sizes) * squares
        assert y[at] == pytest.approx(x[at] / s**0.6, rel=1e-13)


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("sizes", [(5,), (3, 4), (2, 3, 2)], ids=str)
def test_divisive_gradients(sizes, n):
    """With an even window dx is not the gradient, as in cuDNN."""
    x, means, dy = (random(seed, 1, 2, *sizes) for seed in (10, 11, 12))
    options = {**OPTIONS, "n": n}
    dx, dmeans = ref.divisive_normalization_backward(x=x, dy=dy, means=means, **options)

    def loss():
        return float((ref.divisive_normalization_forward(x, means, **options) * dy).sum())

    if n % 2:
        np.testing.assert_allclose(dx, gradient(loss, x), rtol=1e-7, atol=1e-8)
    np.testing.assert_allclose(dmeans, gradient(loss, means), rtol=1e-7, atol=1e-8)


@pytest.mark.parametrize("kind", ["lrn_cross_channel", "divisive_normalization"])
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_options_left_out_are_those_of_a_descriptor(kind, direction):
    defaults = inspect.signature(getattr(ref, f"{kind}_{direction}")).parameters
    with LRNDescriptor() as descriptor:
        wanted = descriptor.n, descriptor.alpha, descriptor.beta, descriptor.k
    assert wanted == tuple(defaults[name].default for name in OPTIONS)
