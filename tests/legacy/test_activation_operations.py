"""Activations through layer 2: slopes at corners, what is refused, and gaps."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes.errors import BadParamError

X = np.array([-2.0, -0.5, 0.0, 0.5, 2.0, 7.0], np.float32).reshape(1, 6, 1, 1)


def tensor(array: np.ndarray, **how: Any) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.from_numpy(array, **how)


def test_gradients_where_slopes_change(handle: cudnn.Handle) -> None:
    """At its ceiling clipped_relu still has a slope, and elu goes by y (cuDNN 9.14 and 9.19)."""
    ones = np.ones((1, 3, 1, 1), np.float32)
    x = np.array([0, 0.5, 0.6], np.float32).reshape(ones.shape)
    with (
        tensor(ones) as one,
        tensor(x) as at,
        tensor(-x) as below,
        cudnn.ActivationDescriptor("clipped_relu", coef=0.5) as ceiling,
        cudnn.ActivationDescriptor("elu", coef=0.5) as by_y,
    ):
        clipped = cudnn.activation_backward(handle, ceiling, y=one, dy=one, x=at)
        elu = cudnn.activation_backward(handle, by_y, y=one, dy=one, x=below)
    assert clipped.numpy().ravel().tolist() == [0, 1, 0]
    assert elu.numpy().ravel().tolist() == [1, 1, 1]


def test_the_identity_is_for_fused_convolutions(handle: cudnn.Handle) -> None:
    with tensor(X) as x, pytest.raises(BadParamError):
        cudnn.activation_forward(handle, x, "identity")


def test_gaps_are_left_alone(handle: cudnn.Handle) -> None:
    strides = (40, 12, 4, 1)
    values = np.random.default_rng(0).standard_normal((2, 3, 2, 3)).astype(np.float32)
    with cudnn.DeviceBuffer(4 * 100) as memory:
        memory.fill(0xFF)
        y = cudnn.DeviceTensor(memory, values.shape, "float32", strides=strides)
        with tensor(values, strides=strides) as x:
            cudnn.activation_forward(handle, x, "relu", y)
            made = cudnn.activation_forward(handle, x, "relu")
            assert made.strides == strides
        np.testing.assert_array_equal(y.numpy(), np.maximum(values, 0))
        words = memory.copy_to_host().view(np.uint32)
        assert (words == 0xFFFFFFFF).sum() == 100 - values.size
