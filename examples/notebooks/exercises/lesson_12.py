"""Exercises of lesson 12: errors and the trace."""

import numpy as np
from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    activation_forward,
    convolution_forward,
)
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

SMALL = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
OTHER = np.arange(6, dtype="float32").reshape(2, 3, 1, 1)


def first_bad(find_call):
    """Run networks that end in NaN, and hold the answer against the known places."""
    with Handle() as handle, ConvolutionDescriptor(padding=1) as conv:

        def network(size, weight):
            x = DeviceTensor.from_numpy(np.full((1, 1, 4, 4), size, "float32"))
            w = DeviceTensor.from_numpy(np.full((1, 1, 3, 3), weight, "float32"))
            for _ in range(3):
                x = activation_forward(handle, x, "relu")
                x = convolution_forward(handle, x, w, conv)
            activation_forward(handle, x, "tanh")

        cases = {
            (3e38, 2.0): "cudnnConvolutionForward",
            (np.nan, 1.0): "cudnnActivationForward",
            (1.0, 1.0): None,
        }
        for given, expected in cases.items():
            found = find_call(lambda given=given: network(*given))
            if found != expected:
                return f"of a network that begins with {given[0]:g} it says {found}, not {expected}"
    return ""


lesson = Lesson(
    Exercise(
        "halve",
        10,
        cases=[(SMALL,), (OTHER,)],
        expected=lambda values: values / 2,
        calls=["cudnnScaleTensor"],
    ),
    Exercise("find_call", 10, judge=first_bad, calls=["cudnnConvolutionForward"]),
    Exercise(
        "doubled",
        20,
        cases=[(SMALL,), (OTHER,)],
        expected=lambda values: 2 * values,
        calls=["cudnnAddTensor"],
        closes=True,
        mistakes={
            "beta is 0: what was in y is lost, so this is x once": lambda values: values,
        },
    ),
)
check = lesson.check
