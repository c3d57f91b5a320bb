"""Solutions of lesson 11: workspace and algorithms."""

import numpy as np
from cudnn_ctypes import (
    ConvolutionDescriptor,
    convolution_forward,
    use_reference_device,
)

use_reference_device()


def gemm_workspace(n, c, h, w, r, s, padding):
    """One column for each output, of which there are fewer than pixels without padding.

    The images take turns.
    """
    rows, columns = h + 2 * padding - r + 1, w + 2 * padding - s + 1
    return c * r * s * rows * columns * 4


def columns_of(image, r, s):
    """A row of the matrix holds the same number of each window: a part of the image."""
    _, h, w = image.shape
    down, right = h - r + 1, w - s + 1
    return np.array(
        [
            plane[i : i + down, j : j + right].ravel()
            for plane in image
            for i in range(r)
            for j in range(s)
        ]
    )


def convolve_within(handle, x, w, limit):
    """Winograd's way needs fewer products, and 331,776 bytes: less than the limit."""
    with ConvolutionDescriptor(padding=1) as conv:
        return convolution_forward(handle, x, w, conv, algorithm="winograd_nonfused")
