"""Solutions of lesson 2: convolution."""

import numpy as np
from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    convolution_forward,
    use_reference_device,
)

use_reference_device()
handle = Handle()


def convolve(image, filters, **options):
    x, w = DeviceTensor.from_numpy(image), DeviceTensor.from_numpy(filters)
    with ConvolutionDescriptor(**{"padding": 1, **options}) as conv:
        return convolution_forward(handle, x, w, conv).numpy()


def edges(picture):
    """The filter lies on the image as it is written: its right column is right."""
    filters = np.zeros((1, 1, 3, 3), "float32")
    filters[0, 0, 1] = [-1, 0, 1]
    return convolve(picture, filters)


def grey(colour):
    """One filter of 1 x 1 with a third for each channel: channels are summed."""
    return convolve(colour, np.full((1, 3, 1, 1), 1 / 3, "float32"), padding=0)


def blur_each(colour):
    """Three filters, each of which is 0 for the channels of the others."""
    filters = np.zeros((3, 3, 3, 3), "float32")
    for channel in range(3):
        filters[channel, channel] = 1 / 9
    return convolve(colour, filters)
