"""alpha * result + beta * what was there, of every formula that has both."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import reference as ref

RNG = np.random.default_rng(40)
X, DY, Y = RNG.standard_normal((3, 2, 4, 5, 5))
W, SMALL = RNG.standard_normal((4, 4, 3, 3)), RNG.standard_normal((2, 4, 3, 3))
GRID, BIAS = RNG.uniform(-1, 1, (2, 3, 3, 2)), RNG.standard_normal((1, 4, 1, 1))
POOL: dict[str, Any] = {"window": (2, 2), "padding": (0, 0), "stride": (2, 2)}
NORM: dict[str, Any] = {"n": 3, "lrn_alpha": 0.7, "lrn_beta": 0.6, "k": 1.3}
BN: dict[str, Any] = {"mode": "spatial", "epsilon": 1e-3}
Formula = Callable[..., Any]

# The name of the result in what is given and, where it is one of several, in what is returned;
# names of the factors, if they are others.
FORMULAS: dict[str, tuple[Formula, str, dict[str, str]]] = {
    "activation": (lambda **k: ref.activation_forward(X, "tanh", **k), "y", {}),
    "activation backward": (
        lambda **k: ref.activation_backward("tanh", y=np.tanh(X), dy=DY, x=X, **k),
        "dx",
        {},
    ),
    "softmax": (lambda **k: ref.softmax_forward(X, **k), "y", {}),
    "softmax backward": (lambda **k: ref.softmax_backward(y=abs(Y), dy=DY, **k), "dx", {}),
    "pooling": (lambda **k: ref.pooling_forward(X, **POOL, **k), "y", {}),
    "pooling backward": (
        lambda **k: ref.pooling_backward(dy=DY[..., :2, :2], x=X, **POOL, **k),
        "dx",
        {},
    ),
    "lrn": (lambda **k: ref.lrn_cross_channel_forward(X, **NORM, **k), "y", {}),
    "lrn backward": (
        lambda **k: ref.lrn_cross_channel_backward(x=X, y=Y, dy=DY, **NORM, **k),
        "dx",
        {},
    ),
    "divisive": (lambda **k: ref.divisive_normalization_forward(X, **NORM, **k), "y", {}),
    **{
        f"divisive backward, {name}": (
            lambda i=i, other=other, **k: ref.divisive_normalization_backward(
                x=X, dy=DY, **NORM, **{other: X}, **k
            )[i],
            name,
            {},
        )
        for i, (name, other) in enumerate((("dx", "dmeans"), ("dmeans", "dx")))
    },
    "sampler": (lambda **k: ref.spatial_tf_sampler_forward(X, GRID, **k), "y", {}),
    "sampler backward, dx": (
        lambda **k: ref.spatial_tf_sampler_backward(x=X, dy=SMALL, grid=GRID, **k)[0],
        "dx",
        {},
    ),
    "sampler backward, dgrid": (
        lambda **k: ref.spatial_tf_sampler_backward(x=X, dy=SMALL, grid=GRID, **k)[1],
        "dgrid",
        {"alpha": "alpha_dgrid", "beta": "beta_dgrid"},
    ),
    "batch normalization": (
        lambda **k: (
            ref.batch_normalization_forward_training(X, BIAS, BIAS, average_factor=1, **BN, **k).y
        ),
        "y",
        {},
    ),
    "batch normalization, inference": (
        lambda **k: ref.batch_normalization_forward_inference(
            X, BIAS, BIAS, BIAS, abs(BIAS), **BN, **k
        ),
        "y",
        {},
    ),
    **{
        f"batch normalization backward, {name}": (
            lambda name=name, other=other, **k: getattr(
                ref.batch_normalization_backward(
                    x=X, dy=DY, scale=BIAS, **BN, **{other: BIAS}, **k
                ),
                name,
            ),
            name,
            {} if name == "dx" else {"alpha": "alpha_param", "beta": "beta_param"},
        )
        for name, other in (("dx", "dbias"), ("dscale", "dbias"), ("dbias", "dscale"))
    },
    "convolution": (lambda **k: ref.convolution_forward(X, W, **k), "y", {}),
    "convolution backward, data": (
        lambda **k: ref.convolution_backward_data(w=W, dy=SMALL, dx_shape=X.shape, **k),
        "dx",
        {},
    ),
    "convolution backward, filter": (
        lambda **k: ref.convolution_backward_filter(x=X, dy=SMALL, dw_shape=W.shape, **k),
        "dw",
        {},
    ),
    "convolution backward, bias": (lambda **k: ref.convolution_backward_bias(dy=DY, **k), "db", {}),
    "reduction": (lambda **k: ref.reduce_tensor(X, (1, 4, 1, 1), "norm2", **k), "c", {}),
}


@pytest.mark.parametrize("formula", FORMULAS)
class TestBlending:
    def test_alpha_and_beta(self, formula: str) -> None:
        call, name, factors = FORMULAS[formula]
        plain = call()
        prior = np.random.default_rng(41).standard_normal(plain.shape)
        kept = prior.copy()
        given = {factors.get("alpha", "alpha"): 0.5, factors.get("beta", "beta"): -2.0}
        blended = call(**given, **{name: prior})
        np.testing.assert_allclose(blended, 0.5 * plain - 2 * prior, rtol=1e-12, atol=1e-13)
        np.testing.assert_array_equal(prior, kept)

    def test_beta_0_does_not_read_the_prior_value(self, formula: str) -> None:
        call, name, _ = FORMULAS[formula]
        plain = call()
        np.testing.assert_array_equal(call(**{name: np.full(plain.shape, np.nan)}), plain)

    def test_beta_reads_the_prior_value(self, formula: str) -> None:
        call, name, factors = FORMULAS[formula]
        beta = {factors.get("beta", "beta"): 1.0}
        assert np.isnan(call(**beta, **{name: np.full(call().shape, np.nan)})).all()
        with pytest.raises(ValueError, match=f"^{name} must be given when beta is not 0"):
            call(**beta)

    def test_a_prior_value_of_another_shape(self, formula: str) -> None:
        call, name, _ = FORMULAS[formula]
        with pytest.raises(ValueError, match=f"^{name} must have shape"):
            call(**{name: np.zeros((1, 2, 3))})
