"""Exercises of lesson 9: a first graph."""

import numpy as np
from cudnn_ctypes import DeviceTensor, Graph, Handle
from cudnn_ctypes.evidence.exercises import Exercise, Lesson, explained

rng = np.random.default_rng(9)
A, B = rng.uniform(-1, 1, (1, 8, 4)), rng.uniform(-1, 1, (1, 4, 16))
A, B, C = A.astype("f2"), B.astype("f2"), rng.uniform(-1, 1, (1, 1, 16)).astype("f2")
IMAGE, W1, W2 = (
    rng.uniform(-1, 1, shape).astype("f2") for shape in ((1, 8, 6, 6), (8, 8, 3, 3), (8, 8, 3, 3))
)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def run(gate):
    """Add the operations to a graph, and hold what it computes against NumPy."""
    x, z = rng.uniform(-3, 3, (2, 1, 4, 8)).astype("f4")
    with Handle() as handle, Graph("gate", io_data_type="float32") as graph:
        of_x, of_z = (graph.tensor((1, 4, 8), name=name) for name in "xz")
        result = gate(graph, of_x, of_z)
        if not hasattr(result, "set_output"):
            return f"return the result's tensor of the graph, not a {type(result).__name__}"
        result.set_output(name="y")
        memory = {"x": DeviceTensor.from_numpy(x), "z": DeviceTensor.from_numpy(z)}
        found = graph.run(memory, handle=handle)["y"].numpy()
    mistakes = {
        "this is a sum, x + sigmoid(z)": x + sigmoid(z),
        "x and z are exchanged": z * sigmoid(x),
        "this is z * sigmoid(z); x is not used": z * sigmoid(z),
    }
    return explained(found, x * sigmoid(z), mistakes=mistakes.items())


def correlate(x, w):
    around = np.pad(x.astype("f8"), ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(around, (3, 3), (2, 3))
    return np.einsum("nchwrs,kcrs->nkhw", windows, w.astype("f8"))


lesson = Lesson(
    Exercise("gate", 10, judge=run, calls=["cudnnBackendExecute"]),
    Exercise(
        "linear",
        10,
        cases=[(A, B, C)],
        expected=lambda a, b, c: a.astype("f8") @ b.astype("f8") + c,
        calls=["cudnnBackendExecute"],
        tolerance=5e-3,
        mistakes={
            "c is missing": lambda a, b, c: a.astype("f8") @ b.astype("f8"),
            "there is a relu too many": (
                lambda a, b, c: np.maximum(a.astype("f8") @ b.astype("f8") + c, 0)
            ),
        },
    ),
    Exercise(
        "two_convolutions",
        20,
        cases=[(IMAGE, W1, W2)],
        expected=lambda image, w1, w2: correlate(correlate(image, w1), w2),
        calls=["cudnnBackendExecute"] * 2,
        tolerance=1e-2,
        mistakes={
            "this is the first convolution alone": lambda image, w1, w2: correlate(image, w1),
            "the filters are exchanged": (
                lambda image, w1, w2: correlate(correlate(image, w2), w1)
            ),
            "the first filters are used twice": (
                lambda image, w1, w2: correlate(correlate(image, w1), w1)
            ),
        },
    ),
)
check = lesson.check
