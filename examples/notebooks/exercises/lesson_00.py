"""Exercises of lesson 0: words and calls."""

import numpy as np
from cudnn_ctypes import DeviceTensor, raw
from cudnn_ctypes.evidence.exercises import Exercise, Lesson, raised

IMAGE = np.array([[-1, 2], [3, -4]], "float32").reshape(1, 1, 2, 2)
SCORES = np.array([[-2, -1, 0], [1, 2, 3]], "float32").reshape(1, 2, 1, 3)


class Steps:
    """The steps of y = relu(x), which are carried out in any order."""

    def __init__(self):
        self.handle = raw.cudnnHandle_t()
        self.of_image = raw.cudnnTensorDescriptor_t()
        self.relu = raw.cudnnActivationDescriptor_t()
        self.memory = {}
        self.by_name = {
            "create the handle": lambda: raw.cudnnCreate(self.handle),
            "create the descriptors": self.create,
            "set the descriptors": self.describe,
            "allocate x and y": self.allocate,
            "launch": self.launch,
            "copy y to the host": self.copy,
            "destroy the descriptors": self.destroy,
            "destroy the handle": lambda: raw.cudnnDestroy(self.handle),
        }

    def create(self):
        raw.cudnnCreateTensorDescriptor(self.of_image)
        raw.cudnnCreateActivationDescriptor(self.relu)

    def describe(self):
        raw.cudnnSetTensor4dDescriptor(
            self.of_image, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 1, 1, 2, 2
        )
        raw.cudnnSetActivationDescriptor(self.relu, raw.CUDNN_ACTIVATION_RELU, 0, 0.0)

    def allocate(self):
        self.memory["x"] = DeviceTensor.from_numpy(IMAGE)
        self.memory["y"] = DeviceTensor.zeros(IMAGE.shape, "float32")

    def launch(self):
        x, y, desc = self.memory["x"], self.memory["y"], self.of_image
        raw.cudnnActivationForward(self.handle, self.relu, 1.0, desc, x, 0.0, desc, y)

    def copy(self):
        self.memory["host"] = self.memory["y"].numpy()

    def destroy(self):
        raw.cudnnDestroyActivationDescriptor(self.relu)
        raw.cudnnDestroyTensorDescriptor(self.of_image)


def carried_out(order):
    """What goes wrong when the steps are carried out one by one."""
    names, steps = order(), Steps()
    if not isinstance(names, (list, tuple)):
        return "return the list of the steps"
    if sorted(map(str, names)) != sorted(steps.by_name):
        return "each step must be there once, with its words unchanged"
    for number, name in enumerate(names, 1):
        try:
            steps.by_name[name]()
        except KeyError as missing:
            return f"step {number}, {name}: {missing.args[0]} has no memory yet"
        except Exception as error:
            return f"step {number}, {name}: {raised(error, order)}"
    if not np.array_equal(steps.memory["host"], np.maximum(IMAGE, 0)):
        return "y was copied before it was computed"
    return ""


lesson = Lesson(
    Exercise("order", 5, judge=carried_out, calls=["cudnnActivationForward"]),
    Exercise(
        "relu_of",
        10,
        cases=[(IMAGE,), (SCORES,)],
        expected=lambda values: np.maximum(values, 0),
        calls=["cudnnActivationForward"],
        mistakes={
            "this is sigmoid; the mode of the descriptor says which function": (
                lambda values: 1 / (1 + np.exp(-values))
            ),
            "this is tanh; the mode of the descriptor says which function": np.tanh,
            "x comes back as it was: was y read, or x?": lambda values: values,
        },
    ),
    Exercise(
        "sigmoid_of",
        15,
        cases=[(SCORES,)],
        expected=lambda values: 1 / (1 + np.exp(-values)),
        calls=["cudnnActivationForward"],
        closes=True,
    ),
)
check = lesson.check
