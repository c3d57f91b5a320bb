"""LeNet learns handwritten digits: every number that is computed is computed by a cuDNN call.

The network is LeCun's of 1998, made smaller for images of 8 x 8 pixels:

    image        1 x 8 x 8
    conv 3x3    12 x 8 x 8   bias, ReLU, max pooling  ->  12 x 4 x 4
    conv 3x3    24 x 4 x 4   bias, ReLU, max pooling  ->  24 x 2 x 2
    conv 2x2    64 x 1 x 1   bias, ReLU               a fully connected layer is a convolution
    conv 1x1    10 x 1 x 1   bias, log-softmax        whose filters are as large as the image

Each layer keeps what its backward pass needs. The loss is the cross entropy -log y[label]; its
gradient goes back through `softmax_backward`. A step of gradient descent with momentum is two more
calls per parameter: velocity = momentum * velocity - rate * gradient, and parameter += velocity.
"""

from __future__ import annotations

import time
from typing import Any, cast

import numpy as np
from sklearn.datasets import load_digits

from cudnn_ctypes import (
    ActivationDescriptor,
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    OpTensorDescriptor,
    PoolingDescriptor,
    ReduceTensorDescriptor,
    activation_backward,
    activation_forward,
    add_tensor,
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
    op_tensor,
    pooling_backward,
    pooling_forward,
    reduce_tensor,
    softmax_backward,
    softmax_forward,
)

EPOCHS, BATCH, RATE, MOMENTUM = 12, 48, 0.03, 0.9
rng = np.random.default_rng(0)


class Convolution:
    """y = conv(x, w) + b, with its gradients and their velocities."""

    def __init__(self, channels: int, filters: int, size: int, padding: int) -> None:
        self.descriptor = ConvolutionDescriptor(padding=padding)
        w = rng.normal(0, np.sqrt(2 / (channels * size**2)), (filters, channels, size, size))
        self.w = DeviceTensor.from_numpy(w.astype(np.float32))
        self.b = DeviceTensor.zeros((1, filters, 1, 1), "float32")
        self.velocities = [DeviceTensor.zeros(p.shape, "float32") for p in (self.w, self.b)]

    def forward(self, handle: Handle, x: DeviceTensor) -> DeviceTensor:
        self.x = x
        y = convolution_forward(handle, x, self.w, self.descriptor)
        return add_tensor(handle, self.b, y)  # b is broadcast over images and pixels

    def backward(self, handle: Handle, dy: DeviceTensor) -> DeviceTensor:
        dw = convolution_backward_filter(
            handle, self.descriptor, x=self.x, dy=dy, dw_shape=self.w.shape
        )
        db = convolution_backward_bias(
            handle, dy=dy, db=DeviceTensor.empty(self.b.shape, "float32")
        )
        dx = convolution_backward_data(
            handle, self.descriptor, w=self.w, dy=dy, dx_shape=self.x.shape
        )
        for parameter, velocity, gradient in zip(
            (self.w, self.b), self.velocities, (dw, db), strict=True
        ):
            op_tensor(handle, velocity, gradient, plus, velocity, alpha1=MOMENTUM, alpha2=-RATE)
            add_tensor(handle, velocity, parameter)
        return dx


class ReLU:
    """y = max(x, 0)"""

    def __init__(self) -> None:
        self.descriptor = ActivationDescriptor("relu")

    def forward(self, handle: Handle, x: DeviceTensor) -> DeviceTensor:
        self.x, self.y = x, activation_forward(handle, x, self.descriptor)
        return self.y

    def backward(self, handle: Handle, dy: DeviceTensor) -> DeviceTensor:
        return activation_backward(handle, self.descriptor, y=self.y, dy=dy, x=self.x)


class MaxPooling:
    """The largest of each block of 2 x 2 pixels."""

    def __init__(self) -> None:
        self.descriptor = PoolingDescriptor(2)

    def forward(self, handle: Handle, x: DeviceTensor) -> DeviceTensor:
        self.x, self.y = x, pooling_forward(handle, x, self.descriptor)
        return self.y

    def backward(self, handle: Handle, dy: DeviceTensor) -> DeviceTensor:
        return pooling_backward(handle, self.descriptor, y=self.y, dy=dy, x=self.x)


def log_probabilities(handle: Handle, x: DeviceTensor) -> DeviceTensor:
    """The network's answer for images (N, 1, 8, 8): (N, 10, 1, 1)."""
    for layer in layers:
        x = layer.forward(handle, x)
    return softmax_forward(handle, x, algorithm="log")


def train(handle: Handle, images: np.ndarray, targets: np.ndarray) -> float:
    """One step; `targets` is one where the label is. Returns the mean cross entropy."""
    with (
        DeviceTensor.from_numpy(images) as x,
        DeviceTensor.from_numpy(-targets / len(images)) as gradient,
        log_probabilities(handle, x) as log_y,
        op_tensor(handle, log_y, gradient, "mul") as terms,
        reduce_tensor(handle, terms, "add", c_shape=(1, 1, 1, 1)).c as loss,
    ):
        # The loss is sum(gradient * log_y), so `gradient` is its gradient with respect to log_y.
        back = softmax_backward(handle, y=log_y, dy=gradient, algorithm="log")
        for layer in reversed(layers):
            back = layer.backward(handle, back)
        return float(loss.numpy().item())


def accuracy(handle: Handle, images: np.ndarray, labels: np.ndarray) -> float:
    """Share of the images whose most probable digit is the right one."""
    with DeviceTensor.from_numpy(images) as x, log_probabilities(handle, x) as log_y:
        best = reduce_tensor(handle, log_y, largest, c_shape=(len(images), 1, 1, 1))
        with best.c, best.indices as digits:
            return float((digits.numpy().ravel() == labels).mean())


data = cast(Any, load_digits())  # scikit-learn leaves its type open
order = rng.permutation(len(data.images))
images: np.ndarray = (data.images[order, None] / 16).astype(np.float32)
labels: np.ndarray = data.target[order]
targets = np.eye(10, dtype=np.float32)[labels][:, :, None, None]
count = 1437  # four fifths train, the rest tests

layers: list[Convolution | ReLU | MaxPooling] = [
    Convolution(1, 12, size=3, padding=1),
    ReLU(),
    MaxPooling(),
    Convolution(12, 24, size=3, padding=1),
    ReLU(),
    MaxPooling(),
    Convolution(24, 64, size=2, padding=0),
    ReLU(),
    Convolution(64, 10, size=1, padding=0),
]
plus, largest = OpTensorDescriptor("add"), ReduceTensorDescriptor("max", indices=True)

start = time.perf_counter()
with Handle() as handle:
    print(handle)
    tested = 0.0
    for epoch in range(EPOCHS):
        shuffled = rng.permutation(count)
        batches = [shuffled[i : i + BATCH] for i in range(0, count, BATCH)]
        losses = [train(handle, images[batch], targets[batch]) for batch in batches]
        tested = accuracy(handle, images[count:], labels[count:])
        print(f"epoch {epoch + 1:2}: loss {np.mean(losses):.4f}, test accuracy {tested:.1%}")
    assert tested > 0.95, tested
print(f"{time.perf_counter() - start:.1f} s")

for descriptor in (plus, largest, *(layer.descriptor for layer in layers)):
    descriptor.close()
