"""Batch normalization and its gradients, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

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
