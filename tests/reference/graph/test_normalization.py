"""Normalizations against PyTorch, with the axes of every mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes.raw import cudnnBackendNormMode_t as Mode
from cudnn_ctypes.reference.graph import (
    axes_of,
    finalize,
    normalize,
    normalize_backward,
    running,
    statistics,
)

torch = pytest.importorskip("torch")
F = torch.nn.functional

SHAPE = (3, 4, 5, 6)
RNG = np.random.default_rng(8)
X, DY = RNG.standard_normal(SHAPE), RNG.standard_normal(SHAPE)
EPSILON = 1e-2


def _layer(x: Any, s: Any, b: Any) -> Any:
    return F.layer_norm(x, SHAPE[1:], s[0], b[0], EPSILON)


def _instance(x: Any, s: Any, b: Any) -> Any:
    return F.instance_norm(x, weight=s.ravel(), bias=b.ravel(), eps=EPSILON)


def _batch(x: Any, s: Any, b: Any) -> Any:
    return F.batch_norm(x, None, None, s.ravel(), b.ravel(), training=True, eps=EPSILON)


def _rms(x: Any, s: Any, b: Any) -> Any:
    return F.rms_norm(x, SHAPE[1:], s[0], EPSILON) + b


CASES: dict[Mode, tuple[tuple[int, ...], tuple[int, ...], Any]] = {
    Mode.CUDNN_LAYER_NORM: ((1, 4, 5, 6), (1, 2, 3), _layer),
    Mode.CUDNN_INSTANCE_NORM: ((1, 4, 1, 1), (2, 3), _instance),
    Mode.CUDNN_BATCH_NORM: ((1, 4, 1, 1), (0, 2, 3), _batch),
    Mode.CUDNN_RMS_NORM: ((1, 4, 5, 6), (1, 2, 3), _rms),
}


@pytest.mark.parametrize("mode", CASES)
def test_forward_and_backward(mode: Mode) -> None:
    scale_shape, axes, function = CASES[mode]
    scale, bias = RNG.standard_normal(scale_shape), RNG.standard_normal(scale_shape)
    assert axes_of(mode, SHAPE, scale_shape) == axes
    found = statistics(mode, X, axes, EPSILON)
    tensors = [torch.tensor(each, requires_grad=True) for each in (X, scale, bias)]
    y = function(*tensors)
    y.backward(torch.tensor(DY))
    np.testing.assert_allclose(
        normalize(found.centred, found.inv_variance, scale, bias), y.detach().numpy(), atol=1e-12
    )
    gradients = normalize_backward(mode, DY, X, found.mean, found.inv_variance, scale, axes)
    for name, tensor in zip(("dx", "dscale", "dbias"), tensors, strict=True):
        np.testing.assert_allclose(
            getattr(gradients, name), tensor.grad.numpy(), atol=1e-11, err_msg=name
        )


def test_axes_without_a_scale() -> None:
    assert axes_of(Mode.CUDNN_LAYER_NORM, SHAPE, None) == (1, 2, 3)
    assert axes_of(Mode.CUDNN_ADA_LAYER_NORM, SHAPE, (3, 1, 1, 6)) == (3,)
    with pytest.raises(ValueError, match="how many groups"):
        axes_of(Mode.CUDNN_GROUP_NORM, SHAPE, (1, 4, 1, 1))


def test_running_statistics() -> None:
    scale, bias = np.ones((1, 4, 1, 1)), np.zeros((1, 4, 1, 1))
    mean, variance = (torch.tensor(RNG.uniform(1, 2, 4)) for _ in range(2))
    before = [each.numpy().reshape(1, 4, 1, 1).copy() for each in (mean, variance)]
    y = F.batch_norm(torch.tensor(X), mean, variance, training=True, momentum=0.3, eps=EPSILON)
    axes = (0, 2, 3)
    found = finalize(
        X.sum(axes, keepdims=True),
        (X**2).sum(axes, keepdims=True),
        scale,
        bias,
        X.size // 4,
        EPSILON,
    )
    np.testing.assert_allclose(X * found.eq_scale + found.eq_bias, y.numpy(), atol=1e-12)
    for previous, current, after in zip(
        before, (found.mean, found.unbiased), (mean, variance), strict=True
    ):
        np.testing.assert_allclose(running(previous, current, 0.3).ravel(), after.numpy())
