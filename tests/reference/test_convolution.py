"""Forward and the three gradients, against PyTorch.

Most operands are small whole numbers: every order of summation then gives the same result, and the
comparisons are exact. Tolerances elsewhere are stated where they are used.
"""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import reference as ref

from .naive import integers, random_config

MODES = ("cross_correlation", "convolution")
IMAGE = np.arange(1.0, 17.0).reshape(1, 1, 4, 4)
KERNEL = np.arange(1.0, 10.0).reshape(1, 1, 3, 3)


def test_convolution_is_cross_correlation_with_the_filter_reversed():
    reversed_kernel = KERNEL[:, :, ::-1, ::-1]
    y = ref.convolution_forward(IMAGE, KERNEL, padding=(1, 1), mode="convolution")
    np.testing.assert_array_equal(
        y, ref.convolution_forward(IMAGE, reversed_kernel, padding=(1, 1))
    )


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_against_pytorch(torch, spatial: int, mode: str):
    rng = np.random.default_rng(10 + spatial)
    operation = [torch.conv1d, torch.conv2d, torch.conv3d][spatial - 1]
    axes = tuple(range(2, 2 + spatial))
    for _ in range(25):
        config = random_config(rng, spatial)
        x, w, dy = (integers(rng, s) for s in (config.x_shape, config.w_shape, config.y_shape))
        tx, tw = torch.tensor(x, requires_grad=True), torch.tensor(w, requires_grad=True)
        flipped = torch.flip(tw, axes) if mode == "convolution" else tw
        ty = operation(tx, flipped, **config.options)
        ty.backward(torch.tensor(dy))
        options = {**config.options, "mode": mode}
        y = ref.convolution_forward(x, w, **options)
        dx = ref.convolution_backward_data(w=w, dy=dy, dx_shape=x.shape, **options)
        dw = ref.convolution_backward_filter(x=x, dy=dy, dw_shape=w.shape, **options)
        np.testing.assert_array_equal(y, ty.detach().numpy(), err_msg=str(config))
        np.testing.assert_array_equal(dx, tx.grad.numpy(), err_msg=str(config))
        np.testing.assert_array_equal(dw, tw.grad.numpy(), err_msg=str(config))
