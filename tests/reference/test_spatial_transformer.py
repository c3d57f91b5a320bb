"""Grids and sampling, against PyTorch."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import reference as ref


def random(seed, *shape):
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.filterwarnings("ignore:Since version 1.3.0, affine_grid:UserWarning")
@pytest.mark.parametrize("size", [(4, 5), (2, 7)], ids=str)
def test_grid_against_pytorch(torch, size):
    theta, dgrid = random(1, 3, 2, 3), random(2, 3, *size, 2)
    tt = torch.from_numpy(theta.copy()).requires_grad_()
    tgrid = torch.nn.functional.affine_grid(tt, (3, 1, *size), align_corners=True)
    tgrid.backward(torch.from_numpy(dgrid))
    grid = ref.spatial_tf_grid_generator_forward(theta, size)
    np.testing.assert_allclose(grid, tgrid.detach().numpy(), rtol=1e-12, atol=1e-13)
    dtheta = ref.spatial_tf_grid_generator_backward(dgrid=dgrid)
    np.testing.assert_allclose(dtheta, tt.grad.numpy(), rtol=1e-12, atol=1e-13)


@pytest.mark.parametrize("spread", [0.5, 2.0], ids=["inside", "far outside"])
@pytest.mark.parametrize("in_size", [(4, 5), (1, 6)], ids=str)
def test_sampler_against_pytorch(torch, in_size, spread):
    x, grid = random(3, 2, 3, *in_size), spread * random(4, 2, 6, 4, 2)
    dy = random(5, 2, 3, 6, 4)
    tx, tgrid = (torch.from_numpy(a.copy()).requires_grad_() for a in (x, grid))
    ty = torch.nn.functional.grid_sample(tx, tgrid, align_corners=True)
    ty.backward(torch.from_numpy(dy))
    y = ref.spatial_tf_sampler_forward(x, grid)
    dx, dgrid = ref.spatial_tf_sampler_backward(x=x, dy=dy, grid=grid)
    for ours, theirs in [(y, ty.detach()), (dx, tx.grad), (dgrid, tgrid.grad)]:
        np.testing.assert_allclose(ours, theirs.numpy(), rtol=1e-11, atol=1e-12)
