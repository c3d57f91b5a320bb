"""Exercises of lesson 2: convolution."""

import numpy as np
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

rng = np.random.default_rng(2)
PICTURE = rng.standard_normal((1, 1, 5, 6)).astype("f4")
COLOUR = rng.standard_normal((2, 3, 5, 6)).astype("f4")


def edges(picture):
    around = np.pad(picture, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return around[..., 1:-1, 2:] - around[..., 1:-1, :-2]


def lower_minus_upper(picture):
    return edges(picture.swapaxes(2, 3)).swapaxes(2, 3)


def box(colour):
    around = np.pad(colour, ((0, 0), (0, 0), (1, 1), (1, 1)))
    return np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3)).mean((4, 5))


lesson = Lesson(
    Exercise(
        "edges",
        10,
        cases=[(PICTURE,)],
        expected=edges,
        calls=["cudnnConvolutionForward"],
        mistakes={
            "the sign is wrong: cuDNN does not turn the filter": lambda x: -edges(x),
            "these are horizontal edges: lower minus upper pixel": lower_minus_upper,
            "these are horizontal edges: upper minus lower pixel": (
                lambda x: -lower_minus_upper(x)
            ),
            "the border of zeros is missing: padding=1": lambda x: edges(x)[:, :, 1:-1, 1:-1],
        },
    ),
    Exercise(
        "grey",
        10,
        cases=[(COLOUR,)],
        expected=lambda colour: colour.mean(axis=1, keepdims=True),
        calls=["cudnnConvolutionForward"],
        mistakes={
            "this is the sum of the channels, not their mean": (
                lambda colour: colour.sum(axis=1, keepdims=True)
            ),
            "this is the first channel alone": lambda colour: colour[:, :1],
            "the image grows by two: a filter of 1 x 1 needs no padding": (
                lambda colour: np.pad(
                    colour.mean(axis=1, keepdims=True), ((0, 0), (0, 0), (1, 1), (1, 1))
                )
            ),
        },
    ),
    Exercise(
        "blur_each",
        15,
        cases=[(COLOUR,)],
        expected=box,
        calls=["cudnnConvolutionForward"],
        mistakes={
            "the channels are summed: each filter has numbers for all channels": (
                lambda colour: box(colour).sum(axis=1, keepdims=True).repeat(3, axis=1)
            ),
            "the channels are summed to one": (
                lambda colour: box(colour).sum(axis=1, keepdims=True)
            ),
            "this is the sum of 9 pixels, not their mean": lambda colour: 9 * box(colour),
        },
    ),
)
check = lesson.check
