"""Backward data by folding: against the direct way, and against descriptors cuDNN returned."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes import reference as ref

from .naive import integers, random_config

# Read back from the descriptors that cudnnGetFoldedConvBackwardDataDescriptors of cuDNN 9.19
# filled on an H200: (x, w, padding, stride), then the folded w, dy and dx, the new
# padding, and pad_before/pad_after of the transforms of w, dy and dx, and back.
MEASURED = [
    (
        ((2, 3, 8, 8), (4, 3, 3, 3), (1, 1), (2, 2)),
        ((8, 16, 2, 2), (2, 8, 5, 5), (2, 16, 4, 4), (1, 1)),
        ((0, 0, 1, 1), (4, 1, 0, 0), (0, 4, 1, 1), (0, 1, 0, 0), (0, -1, 0, 0)),
    ),
    (
        ((1, 2, 7, 9), (3, 2, 5, 3), (2, 0), (2, 3)),
        ((8, 12, 3, 1), (1, 8, 4, 3), (1, 12, 4, 3), (1, 0)),
        ((0, 0, 0, 0), (5, 0, 1, 0), (0, 5, 0, 0), (0, 0, 0, 0), (0, 0, -1, 0)),
    ),
    (
        ((2, 2, 9, 6), (2, 2, 3, 3), (1, 1), (2, 1)),
        ((8, 8, 2, 3), (2, 8, 6, 6), (2, 8, 5, 6), (1, 1)),
        ((0, 0, 1, 0), (6, 2, 0, 0), (0, 6, 1, 0), (0, 2, 0, 0), (0, -2, -1, 0)),
    ),
    (
        ((1, 2, 6, 6), (2, 2, 3, 3), (1, 1), (1, 1)),
        ((8, 8, 3, 3), (1, 8, 6, 6), (1, 8, 6, 6), (1, 1)),
        ((0, 0, 0, 0), (6, 6, 0, 0), (0, 6, 0, 0), (0, 6, 0, 0), (0, -6, 0, 0)),
    ),
    (
        ((1, 2, 8, 7), (3, 2, 1, 1), (0, 0), (2, 2)),
        ((8, 8, 1, 1), (1, 8, 4, 4), (1, 8, 4, 4), (0, 0)),
        ((0, 0, 0, 0), (5, 0, 1, 1), (0, 5, 0, 0), (0, 0, 0, 0), (0, 0, 0, -1)),
    ),
    (
        ((1, 1, 11, 10), (1, 1, 4, 4), (0, 0), (3, 3)),
        ((8, 9, 2, 2), (1, 8, 3, 3), (1, 9, 4, 4), (0, 0)),
        ((0, 0, 0, 0), (7, 0, 2, 2), (0, 7, 0, 0), (0, 0, 0, 0), (0, 0, -1, -2)),
    ),
    (
        ((1, 3, 7, 7), (2, 3, 2, 2), (0, 1), (2, 2)),
        ((8, 16, 1, 2), (1, 8, 3, 5), (1, 16, 3, 4), (0, 1)),
        ((0, 0, 0, 1), (6, 1, 0, 1), (0, 6, 0, 1), (0, 1, -1, 0), (0, -1, 1, -1)),
    ),
    (
        ((1, 64, 16, 16), (64, 64, 3, 3), (1, 1), (2, 2)),
        ((64, 256, 2, 2), (1, 64, 9, 9), (1, 256, 8, 8), (1, 1)),
        ((0, 0, 1, 1), (0, 0, 0, 0), (0, 0, 1, 1), (0, 0, 0, 0), (0, 0, 0, 0)),
    ),
    (
        ((1, 2, 10, 11), (2, 2, 3, 4), (0, 3), (2, 2)),
        ((8, 8, 2, 3), (1, 8, 4, 8), (1, 8, 5, 6), (0, 2)),
        ((0, 0, 0, 1), (6, 0, 1, 1), (0, 6, 0, 1), (0, 0, 0, 0), (0, 0, 0, -1)),
    ),
    (
        ((1, 1, 13, 12), (1, 1, 5, 5), (4, 3), (4, 3)),
        ((8, 12, 2, 2), (1, 8, 5, 5), (1, 12, 4, 4), (1, 1)),
        ((0, 0, 0, 0), (7, 0, 3, 1), (0, 7, 0, 0), (0, 0, 0, 0), (0, 0, -3, 0)),
    ),
]


@pytest.mark.parametrize(("problem", "shapes", "pads"), MEASURED)
def test_descriptors_as_measured(problem, shapes, pads):
    x_shape, w_shape, padding, stride = problem
    folded = ref.folded_backward_data(w_shape, x_shape, padding=padding, stride=stride)
    assert (folded.w_shape, folded.dy_shape, folded.dx_shape, folded.padding) == shapes
    zeros = (0, 0, 0, 0)
    assert folded.fold_w == ref.TensorTransform(pads[0], pads[1], stride)
    assert folded.pad_dy == ref.TensorTransform(zeros, pads[2], (0, 0))
    assert folded.fold_dx == ref.TensorTransform(zeros, pads[3], stride)
    assert folded.unfold_dx == ref.TensorTransform(zeros, pads[4], stride, "unfold")


def random_problem(rng: np.random.Generator, spatial: int):
    config = random_config(rng, spatial)
    channels = config.x_shape[1]
    w_shape = (config.w_shape[0], channels, *config.w_shape[2:])
    config = config._replace(w_shape=w_shape, dilation=(1,) * spatial, groups=1)
    return config, {"padding": config.padding, "stride": config.stride}


@pytest.mark.parametrize("spatial", [1, 2, 3])
def test_folded_equals_direct(spatial):
    rng = np.random.default_rng(spatial)
    for _ in range(40):
        config, options = random_problem(rng, spatial)
        w, dy = integers(rng, config.w_shape), integers(rng, config.y_shape)
        direct = ref.convolution_backward_data(w=w, dy=dy, dx_shape=config.x_shape, **options)
        folded = ref.folded_backward_data(config.w_shape, config.x_shape, **options)
        dx = ref.convolution_backward_data(
            w=ref.transform_tensor(w, folded.fold_w),
            dy=ref.transform_tensor(dy, folded.pad_dy),
            dx_shape=folded.dx_shape,
            padding=folded.padding,
        )
        unfolded = ref.transform_tensor(dx, folded.unfold_dx)
        np.testing.assert_array_equal(unfolded, direct, err_msg=str(config))


def test_order_of_folded_channels_as_measured():
    # cuDNN 9.19 on an H200: the folded channels of pixel (0, 0), and of tap (0, 0) of filter 0.
    x = np.arange(1, 385).reshape(2, 3, 8, 8)
    folded = ref.folded_backward_data((4, 3, 3, 3), x.shape, padding=(1, 1), stride=(2, 2))
    image = ref.transform_tensor(x, folded.fold_dx)
    assert image[0, :, 0, 0].tolist() == [1, 65, 129, 2, 66, 130, 9, 73, 137, 10, 74, 138, *[0] * 4]
    kept = [3, 67, 131, 4, 68, 132, 11, 75, 139, 12, 76, 140]
    assert image[0, :, 0, 1].tolist() == [*kept, *[0] * 4]
    w = ref.transform_tensor(np.arange(1, 109).reshape(4, 3, 3, 3), folded.fold_w)
    assert w[0, :, 0, 0].tolist() == [0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 10, 19, 0, 0, 0, 0]
    assert w[0, :, 1, 1].tolist() == [5, 14, 23, 6, 15, 24, 8, 17, 26, 9, 18, 27, 0, 0, 0, 0]
    back = ref.transform_tensor(np.arange(1, 513).reshape(2, 16, 4, 4), folded.unfold_dx)
    assert back[0, 0, :2, :4].tolist() == [[1, 49, 2, 50], [97, 145, 98, 146]]
    assert back.max() == 448
