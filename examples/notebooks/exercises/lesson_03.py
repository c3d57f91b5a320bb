"""Exercises of lesson 3: padding, stride and dilation."""

import itertools

import numpy as np
from cudnn_ctypes import (
    ConvolutionDescriptor,
    FilterDescriptor,
    TensorDescriptor,
)
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

SIZES = {20: 6, 21: 6, 22: 6, 23: 7, 26: 8}
BOARD = np.arange(48, dtype="float32").reshape(1, 1, 6, 8)


def size(pixels, window, padding, stride, dilation):
    return (pixels + 2 * padding - dilation * (window - 1) - 1) // stride + 1


def fits(find_window):
    """Hold the three numbers against cuDNN."""
    found = find_window()
    if not isinstance(found, (tuple, list)) or len(found) != 3:
        return "return three numbers: padding, stride, dilation"
    padding, stride, dilation = found
    with ConvolutionDescriptor(padding=padding, stride=stride, dilation=dilation) as conv:
        for pixels, wanted in SIZES.items():
            with (
                TensorDescriptor((1, 1, pixels, pixels)) as x,
                FilterDescriptor((1, 1, 3, 3)) as w,
            ):
                given = conv.output_shape(x, w)[2]
            if given != wanted:
                hint = (
                    "22 pixels give as many as 20, and 23 one more: what is the stride?"
                    if stride != 3
                    else "the stride is right; how far may the window reach?"
                )
                return f"{pixels} pixels give {given}, not {wanted}: {hint}"
    return ""


lesson = Lesson(
    Exercise(
        "output_size",
        10,
        cases=list(itertools.product((7, 8), (1, 3), (0, 1), (1, 2, 3), (1, 2))),
        expected=size,
    ),
    Exercise(
        "every_other",
        10,
        cases=[(BOARD,)],
        expected=lambda image: image[:, :, ::2, ::2],
        calls=["cudnnConvolutionForward"],
        mistakes={
            "it begins with the second pixel: padding moves the first window": (
                lambda image: image[:, :, 1::2, 1::2]
            ),
            "only columns are left out; a stride can be (down, right)": (
                lambda image: image[:, :, :, ::2]
            ),
            "only rows are left out; a stride can be (down, right)": (
                lambda image: image[:, :, ::2]
            ),
            "nothing is left out: the stride is 1": lambda image: image,
        },
    ),
    Exercise("find_window", 15, judge=fits, calls=["cudnnGetConvolution*ForwardOutputDim"]),
)
check = lesson.check
