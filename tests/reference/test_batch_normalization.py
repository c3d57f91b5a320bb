"""Batch normalization and its gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import reference as ref
from tests.legacy.normalizations import FAMILIES, expected, random_operands, random_problem


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("seed", range(12))
def test_against_pytorch(torch, seed, family):
    """What the random problems take for exact; those of one activation are channels there."""
    problem = random_problem("float64", family, seed)
    given = random_operands(problem)
    exact, _ = expected(problem, given)
    shape = (problem.shape[0], -1) if problem.mode == "per_activation" else problem.shape
    x, z = (torch.from_numpy(given[n]).reshape(shape).requires_grad_() for n in ("x", "z"))
    scale, bias = (torch.from_numpy(given[n].ravel()).requires_grad_() for n in ("scale", "bias"))
    mean, variance = (torch.from_numpy(given[n].flatten()) for n in ("mean", "variance"))
    normalize = torch.nn.functional.batch_norm
    inferred = normalize(x, mean, variance, scale, bias, eps=problem.epsilon)
    how = {"training": True, "momentum": problem.average_factor, "eps": problem.epsilon}
    y = normalize(x, mean, variance, scale, bias, **how)
    y = y + z if problem.adds else y
    y = torch.relu(y) if problem.fused else y
    y.backward(torch.from_numpy(given["dy"]).reshape(shape))

    def blended(found, prior, alpha, beta):
        found = alpha * found.detach().numpy().ravel()
        return found + beta * given[prior].ravel() if beta else found

    data, param = (problem.alpha, problem.beta), (problem.alpha_param, problem.beta_param)
    wanted = {
        "y": blended(y, "prior_y", *data),
        "inference": blended(inferred, "prior_y", *data),
        "dx": blended(x.grad, "prior_dx", *data),
        "dscale": blended(scale.grad, "prior_dscale", *param),
        "dbias": blended(bias.grad, "prior_dbias", *param),
        "running_mean": mean.numpy(),
        "running_variance": variance.numpy(),
        "saved_mean": given["x"].mean(problem.axes).ravel(),
        "saved_inv_variance": (given["x"].var(problem.axes) + problem.epsilon).ravel() ** -0.5,
    }
    if problem.adds:
        wanted["dz"] = z.grad.numpy().ravel()
    for name, values in wanted.items():  # float64 on both sides
        np.testing.assert_allclose(
            exact[name].ravel(), values, rtol=1e-9, atol=1e-10, err_msg=f"{name} of {problem}"
        )


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
