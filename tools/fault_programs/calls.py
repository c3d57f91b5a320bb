"""The smallest programs for faults of C functions: each makes the call, on the GPU."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping

import numpy as np

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    PoolingDescriptor,
    TensorDescriptor,
    pooling_forward,
    raw,
    reference,
)
from cudnn_ctypes.errors import FaultWarning

__all__ = ["CALLS"]


def softmax_between_layouts(handle: Handle) -> bool:
    shape = (2, 6, 3, 4)
    scores = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    with (
        DeviceTensor.from_numpy(scores) as x,
        DeviceTensor.from_numpy(np.zeros_like(scores), layout="NHWC") as y,
        TensorDescriptor(shape) as x_desc,
        TensorDescriptor(shape, layout="NHWC") as y_desc,
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore", FaultWarning)
        options = (raw.CUDNN_SOFTMAX_ACCURATE, raw.CUDNN_SOFTMAX_MODE_INSTANCE)
        raw.cudnnSoftmaxForward(handle, *options, 1.0, x_desc, x, 0.0, y_desc, y)
        handle.synchronize()
        wanted = reference.softmax_forward(scores, mode="instance")
        return bool(np.allclose(y.numpy(), wanted, rtol=1e-4, atol=1e-6))


def largest_of_infinities(handle: Handle) -> bool:
    x = DeviceTensor.from_numpy(np.full((1, 1, 2, 2), -np.inf, np.float32))
    with x, PoolingDescriptor(2) as pooling, pooling_forward(handle, x, pooling) as y:
        return bool(y.numpy()[0, 0, 0, 0] == -np.inf)


CALLS: Mapping[str, Callable[[Handle], bool]] = {
    "largest of infinities below zero": largest_of_infinities,
    "softmax between layouts": softmax_between_layouts,
}
"""By the name of the row; a program returns whether the numbers are right."""
