"""Exercises of lesson 8: attention."""

import numpy as np
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

rng = np.random.default_rng(8)
SCORES = rng.standard_normal((6, 6))
Q, K, V = rng.standard_normal((3, 1, 2, 8, 16)).astype("f2")


def softmax(scores):
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def masked(scores, seen=None):
    seen = np.tri(scores.shape[-1]) if seen is None else seen
    return softmax(np.where(seen > 0, scores, -np.inf))


def attend(q, k, v, seen, scale=16**-0.5):
    q, k, v = (each.astype("f8") for each in (q, k, v))
    return masked(scale * q @ k.swapaxes(-1, -2), seen) @ v


CAUSAL = np.tri(8)


def band(length):
    """Each word sees itself and the words before it, `length` in all."""
    return np.tri(8) - np.tri(8, k=-length)


lesson = Lesson(
    Exercise(
        "masked",
        10,
        cases=[(SCORES,)],
        expected=masked,
        mistakes={
            "each row must sum to 1: mask the scores, not the weights": (
                lambda scores: softmax(scores) * np.tri(len(scores))
            ),
            "a score of 0 is no mask: its weight is exp(0)": (
                lambda scores: softmax(scores * np.tri(len(scores)))
            ),
            "words look at later words, not at earlier ones": (
                lambda scores: masked(scores, np.tri(len(scores)).T)
            ),
            "the mask is missing": softmax,
        },
    ),
    Exercise(
        "attend",
        10,
        cases=[(Q, K, V)],
        expected=lambda q, k, v: attend(q, k, v, CAUSAL),
        calls=["cudnnBackendExecute"],
        tolerance=5e-3,
        mistakes={
            "the causal mask is missing": lambda q, k, v: attend(q, k, v, np.ones((8, 8))),
            "the scale is 1; it must be 1 / sqrt(16)": lambda q, k, v: attend(q, k, v, CAUSAL, 1),
            "the scale is 1 / 16; it must be 1 / sqrt(16)": (
                lambda q, k, v: attend(q, k, v, CAUSAL, 1 / 16)
            ),
            "queries and keys are exchanged": lambda q, k, v: attend(k, q, v, CAUSAL),
        },
    ),
    Exercise(
        "recent",
        15,
        cases=[(Q, K, V, 3), (Q, K, V, 1)],
        expected=lambda q, k, v, length: attend(q, k, v, band(length)),
        calls=["cudnnBackendExecute"],
        tolerance=5e-3,
        mistakes={
            "one word too many is seen: the word itself counts": (
                lambda q, k, v, length: attend(q, k, v, band(length + 1))
            ),
            "all earlier words are seen": lambda q, k, v, length: attend(q, k, v, CAUSAL),
            "this is a band, but later words are seen: the causal mask is missing": (
                lambda q, k, v, length: attend(q, k, v, 1 - np.tri(8, k=-length))
            ),
        },
    ),
)
check = lesson.check
