"""Exercises of lesson 1: descriptors and layouts."""

import numpy as np
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

PICTURE = np.arange(24, dtype="float32").reshape(1, 4, 2, 3)
PLANE = np.arange(24, dtype="float32").reshape(1, 1, 4, 6)


def strides_in(order):
    """A formula for the strides of a layout, whose axes go from outside to inside."""

    def strides(shape):
        size = dict(zip("nchw", shape, strict=True))
        return tuple(
            int(np.prod([size[inner] for inner in order[order.index(axis) + 1 :]]))
            for axis in "nchw"
        )

    return strides


lesson = Lesson(
    Exercise(
        "strides_of",
        10,
        cases=[((2, 3, 4, 5),), ((1, 4, 2, 3),)],
        expected=strides_in("hwcn"),
        mistakes={
            f"these are the strides of {order.upper()}": strides_in(order)
            for order in ("nchw", "nhwc", "whcn", "hwnc", "chwn", "nwhc", "cwhn")
        },
    ),
    Exercise(
        "memory_of",
        10,
        cases=[(np.arange(48, dtype="f4").reshape(2, 2, 3, 4),), (PICTURE,)],
        expected=lambda values: values.transpose(0, 2, 3, 1).ravel(),
        calls=["cudnnTransformTensor"],
        mistakes={
            "this is the order of NCHW: the numbers were not moved": np.ravel,
            "this is the order of CHWN": lambda values: values.transpose(1, 2, 3, 0).ravel(),
            "this is the order of NWHC: rows and columns are exchanged": (
                lambda values: values.transpose(0, 3, 2, 1).ravel()
            ),
        },
    ),
    Exercise(
        "turned",
        15,
        cases=[(PLANE,)],
        expected=lambda values: values.swapaxes(2, 3),
        calls=["cudnnTransformTensor"],
        mistakes={
            "the numbers keep their order in memory, only the shape has changed": (
                lambda values: values.reshape(1, 1, 6, 4)
            ),
        },
    ),
)
check = lesson.check
