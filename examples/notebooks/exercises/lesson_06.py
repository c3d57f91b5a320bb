"""Exercises of lesson 6: batch normalization."""

import numpy as np
from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    batch_normalization_forward_training,
)
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

rng = np.random.default_rng(6)
X = rng.standard_normal((2, 3, 4, 5)).astype("f4")
W, B = rng.standard_normal((3, 2, 3, 3)).astype("f4"), rng.standard_normal(3).astype("f4")
SCALE, BIAS, MEAN = rng.standard_normal((3, 3)).astype("f4")
VARIANCE = rng.uniform(0.5, 4, 3).astype("f4")
EPSILON = 1e-5


def normalize(x, scale, bias, mean, variance):
    scale, bias, mean, variance = (each.reshape(-1, 1, 1) for each in (scale, bias, mean, variance))
    return scale * (x - mean) / np.sqrt(variance + EPSILON) + bias


def folded(w, b, scale, bias, mean, variance):
    factor = scale / np.sqrt(variance + EPSILON)
    return w * factor.reshape(-1, 1, 1, 1), (b - mean) * factor + bias


def plain_mean(factor):
    """Train with the factors, and hold the running mean against the mean of the batches."""
    shape = (1, 3, 1, 1)
    scale, bias, mean, variance = (
        DeviceTensor.full(shape, value, "float32") for value in (1, 0, -7, 1)
    )
    seen = []
    with Handle() as handle:
        for n in range(6):
            x = rng.standard_normal((4, 3, 2, 2)).astype("f4") + 10
            seen.append(x.mean())
            batch_normalization_forward_training(
                handle,
                DeviceTensor.from_numpy(x),
                scale,
                bias,
                average_factor=factor(n),
                running_mean=mean,
                running_variance=variance,
            )
            found, wanted = mean.numpy().mean(), np.mean(seen)
            if abs(found - wanted) > 1e-3:
                why = (
                    "what was there before still counts; the first factor must be 1"
                    if n == 0
                    else "later batches count more, or less, than earlier ones"
                )
                return f"after batch {n} it is {found:.3f}, the mean {wanted:.3f}: {why}"
    return ""


lesson = Lesson(
    Exercise("factor", 10, judge=plain_mean),
    Exercise(
        "normalize",
        10,
        cases=[(X, SCALE, BIAS, MEAN, VARIANCE)],
        expected=normalize,
        calls=["cudnnBatchNormalizationForwardInference"],
        mistakes={
            "scale and bias are exchanged": lambda x, s, b, m, v: normalize(x, b, s, m, v),
            "the order is scale, bias, mean, variance": lambda x, s, b, m, v: normalize(
                x, m, v, s, b
            ),
            "the variance is wanted, not the standard deviation": (
                lambda x, s, b, m, v: normalize(x, s, b, m, np.sqrt(v))
            ),
            "the variance is wanted, not its inverse": (
                lambda x, s, b, m, v: normalize(x, s, b, m, 1 / v)
            ),
            "mean and variance are not used: that of this batch was taken": (
                lambda x, s, b, m, v: normalize(x, s, b, x.mean((0, 2, 3)), x.var((0, 2, 3)))
            ),
        },
    ),
    Exercise(
        "folded",
        20,
        cases=[(W, B, SCALE, BIAS, MEAN, VARIANCE)],
        expected=folded,
        mistakes={
            "the filters belong to the first axis of w": (
                lambda w, b, s, *others: w * s.reshape(1, 1, -1, 1)
            ),
            "the bias is scaled, too": (
                lambda w, b, s, bias, m, v: (b - m) * s / np.sqrt(v + EPSILON)
            ),
            "the mean is not subtracted": (
                lambda w, b, s, bias, m, v: b * s / np.sqrt(v + EPSILON) + bias
            ),
            "b goes through the normalization as well: subtract the mean from it": (
                lambda w, b, s, bias, m, v: b + bias - m * s / np.sqrt(v + EPSILON)
            ),
        },
    ),
)
check = lesson.check
