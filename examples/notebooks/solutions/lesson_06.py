"""Solutions of lesson 6: batch normalization."""

import numpy as np
from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    batch_normalization_forward_inference,
    use_reference_device,
)

use_reference_device()
handle = Handle()


def factor(n):
    """The first batch replaces what was there, and the second is half of the mean."""
    return 1 / (1 + n)


def normalize(x, scale, bias, mean, variance):
    """Each of the four is a tensor of (1, C, 1, 1), in cuDNN's order."""
    parameters = [
        DeviceTensor.from_numpy(each.reshape(1, -1, 1, 1))
        for each in (scale, bias, mean, variance)
    ]
    x = DeviceTensor.from_numpy(x)
    return batch_normalization_forward_inference(handle, x, *parameters).numpy()


def folded(w, b, scale, bias, mean, variance):
    """scale * (conv + b - mean) / sqrt(variance + epsilon) + bias, sorted by conv."""
    factors = scale / np.sqrt(variance + 1e-5)
    return w * factors.reshape(-1, 1, 1, 1), (b - mean) * factors + bias
