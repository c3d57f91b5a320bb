"""How a flat array becomes a tensor: the same 24 numbers under several descriptors.

A descriptor says where element (n, c, h, w) lies: at n*sn + c*sc + h*sh + w*sw, counted in elements
from the start, where (sn, sc, sh, sw) are the strides.
"""

import numpy as np

from cudnn_ctypes import TensorDescriptor

flat = np.arange(24, dtype=np.float32)


def picture(descriptor: TensorDescriptor) -> np.ndarray:
    """The flat array as the descriptor sees it; NumPy counts strides in bytes."""
    strides = [stride * flat.itemsize for stride in descriptor.strides]
    return np.lib.stride_tricks.as_strided(flat, descriptor.shape, strides)


def show(title: str, descriptor: TensorDescriptor) -> None:
    print(f"{title}: shape {descriptor.shape}, strides {descriptor.strides}")
    print(np.array2string(picture(descriptor).astype(int)), end="\n\n")


# What a printed array of shape (4, 2, 3) is to cuDNN depends on the names given to its axes: it
# takes at least (N, C), and most functions want (N, C, H, W).
show("4 images of 2 channels and 3 pixels", TensorDescriptor((4, 2, 1, 3)))
show("1 image of 4 channels, 2 rows of 3", TensorDescriptor((1, 4, 2, 3)))
show("4 images of 1 channel, 2 rows of 3", TensorDescriptor((4, 1, 2, 3)))

# The same logical shape, stored channels last. The shape is still written (N, C, H, W): only the
# strides differ, and with them which number is which element.
nchw = TensorDescriptor((2, 3, 2, 2), layout="NCHW")
nhwc = TensorDescriptor((2, 3, 2, 2), layout="NHWC")
show("NCHW", nchw)
show("NHWC", nhwc)
assert picture(nchw)[1, 2, 0, 1] == 1 * 12 + 2 * 4 + 0 * 2 + 1 * 1
assert picture(nhwc)[1, 2, 0, 1] == 1 * 12 + 2 * 1 + 0 * 6 + 1 * 3

# Strides of one's own describe a part of a larger array: every other column here.
show("every other column", TensorDescriptor((1, 4, 2, 2), strides=(24, 6, 3, 2)))
