"""Solutions of lesson 1: descriptors and layouts."""

import numpy as np
from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    TensorDescriptor,
    transform_tensor,
    use_reference_device,
)

use_reference_device()
handle = Handle()


def strides_of(shape):
    """The innermost axis has stride 1, the others the product of what is inside."""
    n, c, _, w = shape
    return (1, n, w * c * n, c * n)


def memory_of(values):
    """y has the shape of x, and the strides of NHWC. `row` is its memory."""
    _, c, h, w = values.shape
    row = DeviceTensor.empty((values.size,), "float32")
    with TensorDescriptor(values.shape, strides=(h * w * c, 1, w * c, c)) as of_y:
        transform_tensor(handle, DeviceTensor.from_numpy(values), row.ptr, y_desc=of_y)
    return row.numpy()


def turned(plane):
    """The strides of the last two axes are exchanged: one column on is w numbers on."""
    _, _, h, w = plane.shape
    x = DeviceTensor.from_numpy(plane)
    y = DeviceTensor.empty((1, 1, w, h), "float32")
    with TensorDescriptor((1, 1, w, h), strides=(h * w, h * w, 1, w)) as of_x:
        return np.array(transform_tensor(handle, x.ptr, y, x_desc=of_x).numpy())
