"""Exercises of lesson 5: pooling and softmax."""

import numpy as np
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

rng = np.random.default_rng(5)
IMAGE = rng.permutation(48).astype("f4").reshape(1, 2, 4, 6)
SCORES = rng.standard_normal((5, 3)).astype("f4")
LABELS = np.array([0, 2, 1, 1, 0])
SPREAD = np.array([[0, 1, 2, -200], [3, 0, 0, 1]], "float32")


def blocks(image):
    n, c, h, w = image.shape
    return image.reshape(n, c, h // 2, 2, w // 2, 2)


def winners(image):
    largest = blocks(image).max(axis=(3, 5), keepdims=True)
    return (blocks(image) == largest).astype("f4").reshape(image.shape)


def log_softmax(x):
    x = x.astype("f8") - x.max(axis=-1, keepdims=True)
    return x - np.log(np.exp(x).sum(axis=-1, keepdims=True))


def loss_gradient(scores, labels):
    return np.exp(log_softmax(scores)) - np.eye(scores.shape[1])[labels]


lesson = Lesson(
    Exercise(
        "log_softmax",
        10,
        cases=[(SPREAD,), (SPREAD + np.float32(1000),), (SPREAD - np.float32(1000),)],
        expected=log_softmax,
        mistakes={
            "probabilities that were rounded to 0 have no logarithm": (
                lambda x: np.log(np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True))
            ),
            "these are probabilities, not their logarithms": lambda x: np.exp(log_softmax(x)),
            "the sum goes over the first axis": lambda x: log_softmax(x.T).T,
        },
    ),
    Exercise(
        "winners",
        10,
        cases=[(IMAGE,)],
        expected=winners,
        calls=["cudnnPoolingForward", "cudnnPoolingBackward"],
        mistakes={
            "each pixel got its share: this is the mean, not the maximum": (
                lambda image: np.full_like(image, 0.25)
            ),
            "dy was y; to mark the places it must be 1": lambda image: image * winners(image),
        },
    ),
    Exercise(
        "loss_gradient",
        15,
        cases=[(SCORES, LABELS)],
        expected=loss_gradient,
        calls=["cudnnSoftmaxForward", "cudnnSoftmaxBackward"],
        mistakes={
            "these are the probabilities: the label is not subtracted": (
                lambda scores, labels: np.exp(log_softmax(scores))
            ),
            "the sign is wrong: the loss is minus the logarithm": (
                lambda scores, labels: -loss_gradient(scores, labels)
            ),
            "this is the mean over the samples; the loss is their sum": (
                lambda scores, labels: loss_gradient(scores, labels) / len(labels)
            ),
        },
    ),
)
check = lesson.check
