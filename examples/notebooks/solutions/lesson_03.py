"""Solutions of lesson 3: padding, stride and dilation."""

import numpy as np
from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    convolution_forward,
    use_reference_device,
)

use_reference_device()


def output_size(size, window, padding, stride, dilation):
    """What counts is the span of the window, not the number of its taps."""
    span = dilation * (window - 1) + 1
    return (size + 2 * padding - span) // stride + 1


def every_other(image):
    """A filter of one tap copies; the stride skips."""
    w = DeviceTensor.from_numpy(np.ones((1, 1, 1, 1), "float32"))
    with Handle() as handle, ConvolutionDescriptor(stride=2) as conv:
        return convolution_forward(
            handle, DeviceTensor.from_numpy(image), w, conv
        ).numpy()


def find_window():
    """Three sizes in a row give the same, so the stride is 3.

    Then 20 + 2 * padding - span is 15. With padding 0 the span is 5: that of 3 taps
    with dilation 2.
    """
    return 0, 3, 2
