"""Layers on the reference device: what calls of C show beside numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, raw

from ..raw_program import FLOAT, Memory

SUCCESS = raw.CUDNN_STATUS_SUCCESS
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED


@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 3, 4, 7, 1)])
def test_a_spatial_transformer_has_four_dimensions(program, shape):
    theta, grid = Memory((2, 2, 3), values=np.ones((2, 2, 3))), Memory((2, 4, 7, 2))
    call = raw.cudnnSpatialTfGridGeneratorForward.unchecked
    for _ in range(3):  # malloc gives the same address again
        descriptor = raw.cudnnSpatialTransformerDescriptor_t()
        raw.cudnnCreateSpatialTransformerDescriptor(descriptor)
        operands = (program.handle, descriptor, theta.address, grid.address)
        assert call(*operands) == BAD_PARAM, "it was never set"
        raw.cudnnSetSpatialTransformerNdDescriptor(descriptor, 0, FLOAT, len(shape), shape)
        assert call(*operands) == NOT_SUPPORTED
        raw.cudnnSetSpatialTransformerNdDescriptor(descriptor, 0, FLOAT, 4, (2, 3, 4, 7))
        assert call(*operands) == SUCCESS
        raw.cudnnDestroySpatialTransformerDescriptor(descriptor)


@pytest.mark.parametrize("norm", [False, True], ids=["batch", "norm"])
def test_spaces_of_a_fused_normalization(handle: Handle, norm: bool) -> None:
    """A bit for each element, by which the backward pass goes; what a workspace holds is lost."""
    x = DeviceTensor.from_numpy(np.ones((3, 4, 5, 2), np.float16), layout="NHWC")
    scale = DeviceTensor.full((4,), 1, "float32")
    train: Any = cudnn.batch_normalization_forward_training_ex
    back: Any = cudnn.batch_normalization_backward_ex
    how: dict[str, Any] = {"activation": "relu"}
    if norm:
        train, back = cudnn.normalization_forward_training, cudnn.normalization_backward
        how["algorithm"] = "persist"
    with (
        cudnn.TensorDescriptor(x.shape, "float16", layout="NHWC") as desc,
        DeviceBuffer(64) as workspace,
        DeviceBuffer(64) as reserve,
    ):
        sizes: Any = cudnn.normalization_sizes if norm else cudnn.batch_normalization_ex_sizes
        assert tuple(sizes(handle, desc, adds=True, **how)) == (32, 32, 15)
        for buffer in (workspace, reserve):
            buffer.fill(7)
        spaces = {"workspace": workspace, "reserve_space": reserve}
        made = train(handle, x, scale, scale, z=x, average_factor=1, **spaces, **how)
        assert (workspace.copy_to_host()[:32] == 0xA5).all()
        given = {"x": x, "y": made.y, "dy": x, "scale": scale, "bias": scale, "with_dz": True}
        given |= {"saved_mean": made.saved_mean, "saved_inv_variance": made.saved_inv_variance}
        assert (back(handle, **given, reserve_space=reserve, **how).dbias.numpy() == 30).all()
        reserve.fill(0)
        assert not back(handle, **given, reserve_space=reserve, **how).dbias.numpy().any()


@pytest.mark.parametrize("in_place", [False, True])
@pytest.mark.parametrize(
    ("shape", "axes", "exact"),
    [
        ((1, 1, 3, 1), (0, 1, 2, 3), None),
        ((1, 2, 3, 1), (0, 2, 3, 1), [1, 1, 1]),
        ((1, 2, 3, 1), (0, 1, 2, 3), [0, 1, 1]),
        ((2, 2, 3, 1), (3, 0, 1, 2), [0, 1, 1]),
    ],
)
def test_a_softmax_of_integers_keeps_its_powers_unless_channels_are_innermost(
    handle: Handle, shape: Any, axes: Any, exact: Any, in_place: bool
) -> None:
    """cuDNN 9.19 writes exp(-2) = 0.14 as 0 of INT8 into y, and divides it by its sum."""
    values = np.zeros(shape, "int8") - 30
    values[:, 0] = np.array([-2, 0, 2]).reshape(3, 1)
    order = np.empty([shape[axis] for axis in axes], "int8")
    strides = [order.strides[axes.index(axis)] for axis in range(4)]
    memory = DeviceTensor.empty(shape, "int8", strides=strides)
    memory.copy_from(values)
    y = memory if in_place else DeviceTensor.empty(shape, "int8", strides=strides)
    cudnn.softmax_forward(handle, memory, y, algorithm="fast", mode="channel")
    expected = exact or ([1, 1, 1] if in_place else [0, 1, 1])
    assert y.numpy()[0, 0].ravel().tolist() == expected
