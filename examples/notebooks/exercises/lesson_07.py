"""Exercises of lesson 7: the weight space of recurrent networks."""

import numpy as np
from cudnn_ctypes import Handle, RNNDescriptor, RNNWeights
from cudnn_ctypes.evidence.exercises import Exercise, Lesson

rng = np.random.default_rng(7)
X, H = rng.standard_normal((2, 3)), rng.standard_normal((2, 2))
WEIGHTS = {
    f"{kind}_{gate}": rng.standard_normal(shape)
    for gate in ("reset", "update", "new")
    for kind, shape in {"w": (2, 3), "r": (2, 2), "bw": (2,), "br": (2,)}.items()
}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru(w, x, h, *, reset_first=False, kept="h"):
    """A step of a GRU; on request with a usual mistake."""

    def of_input(gate):
        return x @ w[f"w_{gate}"].T + w[f"bw_{gate}"]

    def of_state(gate, state):
        return state @ w[f"r_{gate}"].T + w[f"br_{gate}"]

    r, u = (sigmoid(of_input(gate) + of_state(gate, h)) for gate in ("reset", "update"))
    inner = of_state("new", r * h) if reset_first else r * of_state("new", h)
    new = np.tanh(of_input("new") + inner)
    return (1 - u) * new + u * h if kept == "h" else u * new + (1 - u) * h


def places(place_of):
    """Hold places in the weight space against those of `RNNWeights`."""
    for cell, inputs, hidden in (("lstm", 3, 2), ("gru", 5, 4)):
        with (
            Handle() as handle,
            RNNDescriptor(cell, input_size=inputs, hidden_size=hidden) as rnn,
            RNNWeights(handle, rnn) as weights,
        ):
            for name, tensor in weights[0].items():
                expected = (tensor.ptr - weights.space.ptr) // 4
                found = place_of(handle, rnn, name)
                if found == expected:
                    continue
                why = " (these are bytes; a number has 4)" if found == 4 * expected else ""
                return f"{name} of {cell} begins at number {expected}, not {found}{why}"
    return ""


lesson = Lesson(
    Exercise(
        "count",
        10,
        cases=[(g, i, h) for g in (1, 3, 4) for i, h in ((3, 2), (8, 16), (1, 1))],
        expected=lambda gates, inputs, hidden: gates * hidden * (inputs + hidden + 2),
        mistakes={
            "each gate has two biases": lambda g, i, h: g * h * (i + h + 1),
            "the biases are missing": lambda g, i, h: g * h * (i + h),
        },
    ),
    Exercise("place_of", 10, judge=places, calls=["cudnnGetRNNWeightParams"]),
    Exercise(
        "gru_step",
        20,
        cases=[(WEIGHTS, X, H)],
        expected=gru,
        mistakes={
            "cuDNN resets after the product: r * (R h + b)": (
                lambda w, x, h: gru(w, x, h, reset_first=True)
            ),
            "the update gate keeps the old state, not the new one": (
                lambda w, x, h: gru(w, x, h, kept="new")
            ),
        },
    ),
)
check = lesson.check
