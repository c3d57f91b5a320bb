"""Batch normalization and its gradients, against PyTorch and finite differences."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import reference as ref

from .finite_differences import gradient

MODES = ("per_activation", "spatial")
SHAPES = ((4, 3, 2, 5), (3, 2, 2, 3, 2), (5, 4), (6, 2, 3))


def operands(shape, mode, seed=0, dtype=np.float64):
    """x, scale, bias, z, dy; means differ between the parameters, as do deviations."""
    rng = np.random.default_rng(seed)
    per = ref.batch_normalization_parameter_shape(shape, mode)
    x = rng.uniform(0.5, 2, per) * rng.standard_normal(shape) + rng.standard_normal(per)
    arrays = (x, *rng.standard_normal((2, *per)), *rng.standard_normal((2, *shape)))
    return [array.astype(dtype) for array in arrays]


def as_torch(torch, array, mode):
    """`array` as PyTorch sees it: per activation, every activation is a channel of its own."""
    tensor = torch.from_numpy(array.copy())
    if mode == "per_activation":
        return tensor.reshape(array.shape[0], -1)
    return tensor


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("mode", MODES)
def test_training_against_pytorch(torch, mode, shape):
    x, scale, bias, _, dy = operands(shape, mode)
    mean, variance = np.random.default_rng(1).uniform(0.5, 2, (2, *scale.shape))
    result = ref.batch_normalization_forward_training(
        x,
        scale,
        bias,
        mode=mode,
        epsilon=1e-3,
        average_factor=0.3,
        running_mean=mean,
        running_variance=variance,
    )
    gradients = ref.batch_normalization_backward(x=x, dy=dy, scale=scale, mode=mode, epsilon=1e-3)

    tx, tdy = as_torch(torch, x, mode).requires_grad_(), as_torch(torch, dy, mode)
    tscale, tbias = (torch.from_numpy(a.reshape(-1)).requires_grad_() for a in (scale, bias))
    tmean, tvariance = (torch.from_numpy(a.reshape(-1).copy()) for a in (mean, variance))
    ty = torch.nn.functional.batch_norm(
        tx, tmean, tvariance, tscale, tbias, training=True, momentum=0.3, eps=1e-3
    )
    ty.backward(tdy)
    # Both in float64; at most 72 terms in a sum.
    for ours, theirs in [
        (result.y, ty),
        (result.running_mean, tmean),
        (result.running_variance, tvariance),
        (gradients.dx, tx.grad),
        (gradients.dscale, tscale.grad),
        (gradients.dbias, tbias.grad),
    ]:
        np.testing.assert_allclose(
            ours.reshape(-1), theirs.detach().numpy().reshape(-1), rtol=1e-10, atol=1e-12
        )
    axes = (0,) if mode == "per_activation" else (0, *range(2, x.ndim))
    np.testing.assert_allclose(
        result.saved_mean, x.mean(axes, keepdims=True), rtol=1e-12, atol=1e-14
    )
    deviation = np.sqrt(x.var(axes, keepdims=True) + 1e-3)
    np.testing.assert_allclose(result.saved_inv_variance, 1 / deviation, rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_inference_against_pytorch(torch, mode):
    x, scale, bias, *_ = operands((4, 3, 2, 5), mode)
    mean, variance = np.random.default_rng(2).uniform(0.5, 2, (2, *scale.shape))
    y = ref.batch_normalization_forward_inference(
        x, scale, bias, mean, variance, mode=mode, epsilon=1e-2
    )
    flat = [torch.from_numpy(a.reshape(-1)) for a in (mean, variance, scale, bias)]
    expected = torch.nn.functional.batch_norm(as_torch(torch, x, mode), *flat, eps=1e-2)
    np.testing.assert_allclose(y.reshape(-1), expected.numpy().reshape(-1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("saved", [True, False], ids=["saved", "recomputed"])
@pytest.mark.parametrize("fused", ["plain", "relu", "add_relu"])
@pytest.mark.parametrize("mode", MODES)
def test_gradients_against_finite_differences(mode, fused, saved):
    x, scale, bias, z, dy = operands((3, 2, 2, 2), mode, seed=3)
    options = {"mode": mode, "relu": fused != "plain", "z": z if fused == "add_relu" else None}

    def loss() -> float:
        y = ref.batch_normalization_forward_training(x, scale, bias, average_factor=1, **options).y
        return float((y * dy).sum())

    forward = ref.batch_normalization_forward_training(x, scale, bias, average_factor=1, **options)
    statistics = (
        {"saved_mean": forward.saved_mean, "saved_inv_variance": forward.saved_inv_variance}
        if saved
        else {}
    )
    result = ref.batch_normalization_backward(
        x=x, dy=dy, scale=scale, mode=mode, mask=forward.mask, **statistics
    )
    # No argument of ReLU lies within the step of its kink, so the loss is smooth there; per
    # activation a variance of 3 values may be small, which makes its third derivative large.
    for ours, operand in [
        (result.dx, x),
        (result.dscale, scale),
        (result.dbias, bias),
        (result.dz, z),
    ]:
        if operand is not z or fused == "add_relu":
            np.testing.assert_allclose(ours, gradient(loss, operand), rtol=1e-6, atol=1e-7)


def test_the_averages_of_1_over_n_are_plain_ones():
    rng = np.random.default_rng(5)
    mean, variance = np.full((1, 3, 1, 1), 7.0), np.full((1, 3, 1, 1), 7.0)
    scale, bias = np.ones((1, 3, 1, 1)), np.zeros((1, 3, 1, 1))
    batches = rng.standard_normal((4, 2, 3, 4, 4))
    for n, batch in enumerate(batches):  # with the first factor, 1, the 7 is gone
        result = ref.batch_normalization_forward_training(
            batch,
            scale,
            bias,
            average_factor=1 / (1 + n),
            running_mean=mean,
            running_variance=variance,
        )
        mean, variance = result.running_mean, result.running_variance
    np.testing.assert_allclose(mean[0, :, 0, 0], batches.mean((0, 1, 3, 4)), rtol=1e-10)
    samples = batches.var((1, 3, 4), ddof=1).mean(0)
    np.testing.assert_allclose(variance[0, :, 0, 0], samples, rtol=1e-10)
