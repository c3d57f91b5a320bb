"""Steps of each family of layers and tensor functions leave no memory behind."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceTensor, Handle

from .leaks import check_no_memory_is_left

Step = Callable[[], Any]
SHAPE = (2, 4, 6, 6)


def normal(*shape: int) -> DeviceTensor:
    rng = np.random.default_rng(shape)
    return DeviceTensor.from_numpy(rng.standard_normal(shape).astype(np.float32))


def activation(handle: Handle) -> Step:
    x = normal(*SHAPE)

    def step() -> None:
        with (
            cudnn.ActivationDescriptor("swish", swish_beta=0.5) as how,
            cudnn.activation_forward(handle, x, how) as y,
        ):
            cudnn.activation_backward(handle, how, y=y, dy=x, x=x).close()

    return step


def softmax(handle: Handle) -> Step:
    x = normal(*SHAPE)

    def step() -> None:
        with cudnn.softmax_forward(handle, x) as y:
            cudnn.softmax_backward(handle, y=y, dy=x).close()

    return step


def pooling(handle: Handle) -> Step:
    x = normal(*SHAPE)

    def step() -> None:
        with (
            cudnn.PoolingDescriptor(2) as how,
            cudnn.pooling_forward(handle, x, how) as y,
        ):
            cudnn.pooling_backward(handle, how, y=y, dy=y, x=x).close()

    return step


def local_normalization(handle: Handle) -> Step:
    x = normal(*SHAPE)

    def step() -> None:
        with cudnn.LRNDescriptor() as how:
            with cudnn.lrn_cross_channel_forward(handle, x, how) as y:
                cudnn.lrn_cross_channel_backward(handle, how, x=y, y=x, dy=x).close()
            cudnn.divisive_normalization_forward(handle, x, how).close()
            for gradient in cudnn.divisive_normalization_backward(handle, how, x=x, dy=x):
                if gradient is not None:
                    gradient.close()

    return step


def spatial_transformer(handle: Handle) -> Step:
    x, theta = normal(*SHAPE), normal(2, 2, 3)

    def step() -> None:
        with (
            cudnn.SpatialTransformerDescriptor(SHAPE) as how,
            cudnn.spatial_tf_grid_generator_forward(handle, theta, how) as grid,
            cudnn.spatial_tf_sampler_forward(handle, x, grid, how) as y,
        ):
            dx, dgrid = cudnn.spatial_tf_sampler_backward(handle, how, x=x, dy=y, grid=grid)
            with dx, dgrid:
                cudnn.spatial_tf_grid_generator_backward(handle, how, dgrid=dgrid).close()

    return step


def batch_normalization(handle: Handle) -> Step:
    x, scale, bias = normal(*SHAPE), normal(1, 4, 1, 1), normal(1, 4, 1, 1)

    def step() -> None:
        made = cudnn.batch_normalization_forward_training(handle, x, scale, bias, average_factor=1)
        gradients = cudnn.batch_normalization_backward(handle, x=x, dy=x, scale=scale)
        for tensor in (*vars_of(made), *vars_of(gradients)):
            tensor.close()

    return step


def vars_of(result: Any) -> list[DeviceTensor]:
    """The tensors that a result holds."""
    values = result if isinstance(result, tuple) else vars(result).values()
    return [value for value in values if isinstance(value, DeviceTensor)]


def transforms(handle: Handle) -> Step:
    x, w = normal(*SHAPE), normal(4, 4, 2, 2)
    none = (0, 0, 0, 0)

    def step() -> None:
        cudnn.transform_tensor(handle, x, data_type="float16").close()
        with cudnn.TensorTransformDescriptor(none, (0, 0, 2, 2), fold=(2, 2)) as how:
            cudnn.transform_tensor_ex(handle, x, how).close()
        with cudnn.TensorTransformDescriptor(none, none, fold=(2, 2)) as how:
            cudnn.transform_filter(handle, w, how).close()

    return step


def tensor_operations(handle: Handle) -> Step:
    x, bias = normal(*SHAPE), normal(1, 4, 1, 1)

    def step() -> None:
        with cudnn.op_tensor(handle, x, bias, "add") as y:
            cudnn.add_tensor(handle, bias, y)
            cudnn.scale_tensor(handle, y, 0.5)
            cudnn.set_tensor(handle, y, 1)
        with cudnn.ReduceTensorDescriptor("max", indices=True) as how:
            made = cudnn.reduce_tensor(handle, x, how, c_shape=(1, 4, 1, 1))
            made.c.close()
            made.indices.close()

    return step


FAMILIES = (
    activation,
    softmax,
    pooling,
    local_normalization,
    spatial_transformer,
    batch_normalization,
    transforms,
    tensor_operations,
)


@pytest.mark.thinned(12)
@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.__name__)
def test_steps_leave_no_memory(handle: Handle, family: Callable[..., Step]) -> None:
    """Host memory, and on a GPU device memory; nothing is forgotten, which would warn."""
    check_no_memory_is_left(family(handle), handle)
