"""Exercises of lesson 4: gradients."""

import numpy as np
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

rng = np.random.default_rng(4)
X, DIRECTION = rng.standard_normal((2, 2, 3, 5, 6))
W, DY = rng.standard_normal((4, 3, 3, 3)), rng.standard_normal((2, 4, 5, 6))


def correlate(x, w):
    """A convolution of 3 x 3 with padding 1."""
    around = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))
    return np.einsum("nchwrs,kcrs->nkhw", windows, w)


def of_input(w, dy):
    """Each dx from the dy whose windows have read it: the turned filter over dy."""
    return correlate(dy, w[:, :, ::-1, ::-1].swapaxes(0, 1))


lesson = Lesson(
    Exercise(
        "bias_gradient",
        5,
        cases=[(DY,)],
        expected=lambda dy: dy.sum(axis=(0, 2, 3)),
        mistakes={
            "this is the mean; a mean belongs to the loss": lambda dy: dy.mean((0, 2, 3)),
            "the images are not summed": lambda dy: dy.sum(axis=(2, 3)),
            "this sums channels, too: a bias belongs to one channel": np.sum,
            "this is a sum for each image, not for each channel": lambda dy: dy.sum((1, 2, 3)),
        },
    ),
    Exercise(
        "input_gradient",
        10,
        cases=[(W, DY)],
        expected=of_input,
        calls=["cudnnConvolutionBackwardData"],
        mistakes={
            "the filter is turned twice: backward data does so by itself": (
                lambda w, dy: of_input(w[:, :, ::-1, ::-1], dy)
            ),
            "the gradient of a filter of ones: w is not used": (
                lambda w, dy: of_input(np.ones_like(w), dy)
            ),
        },
    ),
    Exercise(
        "slope",
        15,
        cases=[(X, W, DY, DIRECTION)],
        expected=lambda x, w, dy, direction: (of_input(w, dy) * direction).sum(),
        calls=["cudnnConvolutionForward"] * 2,
        tolerance=1e-5,
        mistakes={
            "the two points are 2 h apart, not h": (
                lambda x, w, dy, direction: 2 * (of_input(w, dy) * direction).sum()
            ),
            "dy is not used: the loss is sum(dy * y)": (
                lambda x, w, dy, direction: correlate(direction, w).sum()
            ),
        },
    ),
)
check = lesson.check
