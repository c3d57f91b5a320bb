"""A small convolutional network learns handwritten digits, with the convolution family alone.

    hidden = relu(conv(image, w1) + b1)        16 filters of 3x3
    scores = conv(hidden, w2) + b2             10 filters of 8x8: a fully connected layer

Forward passes are fused convolutions, all gradients with respect to data, filters and biases come
from cuDNN. The gradient of ReLU and the softmax at the end are no convolutions; NumPy does them.
"""

from typing import Any, cast

import numpy as np
from sklearn.datasets import load_digits

from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    convolution_backward_bias,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_bias_activation_forward,
)

rng = np.random.default_rng(0)
digits = cast(Any, load_digits())  # scikit-learn leaves its type open
order = rng.permutation(len(digits.images))
images: np.ndarray = (digits.images[order, None] / 16).astype(np.float32)
labels: np.ndarray = digits.target[order]
train, test = slice(0, 1437), slice(1437, None)

parameters: dict[str, np.ndarray] = {
    "w1": rng.normal(0, np.sqrt(2 / 9), (16, 1, 3, 3)).astype(np.float32),
    "b1": np.zeros(16, np.float32),
    "w2": rng.normal(0, np.sqrt(1 / 1024), (10, 16, 8, 8)).astype(np.float32),
    "b2": np.zeros(10, np.float32),
}
velocity = {name: np.zeros_like(value) for name, value in parameters.items()}
batch_size, learning_rate, momentum = 64, 0.05, 0.9
same, valid = ConvolutionDescriptor(padding=1), ConvolutionDescriptor()


def forward(handle: Handle, x: DeviceTensor) -> tuple[DeviceTensor, DeviceTensor]:
    """Hidden features (N, 16, 8, 8) and scores (N, 10, 1, 1)."""
    w1, b1, w2, b2 = (DeviceTensor.from_numpy(parameters[n]) for n in ("w1", "b1", "w2", "b2"))
    with w1, b1, w2, b2:
        hidden = convolution_bias_activation_forward(handle, x, w1, same, b1, "relu")
        scores = convolution_bias_activation_forward(handle, hidden, w2, valid, b2, "identity")
    return hidden, scores


def loss_and_gradient(scores: np.ndarray, target: np.ndarray) -> tuple[float, np.ndarray]:
    """Mean cross entropy of the softmax, and its gradient with respect to the scores."""
    rows = np.arange(len(target))
    exponentials = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities = exponentials / exponentials.sum(axis=1, keepdims=True)
    gradient = probabilities.copy()
    gradient[rows, target] -= 1
    return float(-np.log(probabilities[rows, target]).mean()), gradient / len(target)


def step(handle: Handle, batch: np.ndarray, target: np.ndarray) -> float:
    """One step of gradient descent with momentum; returns the loss."""
    with DeviceTensor.from_numpy(batch) as x:
        hidden, scores = forward(handle, x)
        loss, dscores = loss_and_gradient(scores.numpy()[:, :, 0, 0], target)
        dy = DeviceTensor.from_numpy(dscores[:, :, None, None].astype(np.float32))
        w2 = DeviceTensor.from_numpy(parameters["w2"])
        with hidden, scores, dy, w2:
            dhidden = convolution_backward_data(handle, valid, w=w2, dy=dy, dx_shape=hidden.shape)
            with dhidden:
                # ReLU passes the gradient on where its output is positive.
                masked = dhidden.numpy() * (hidden.numpy() > 0)
            with DeviceTensor.from_numpy(masked) as dh:
                gradients = {
                    "w2": convolution_backward_filter(
                        handle, valid, x=hidden, dy=dy, dw_shape=parameters["w2"].shape
                    ),
                    "b2": convolution_backward_bias(handle, dy=dy),
                    "w1": convolution_backward_filter(
                        handle, same, x=x, dy=dh, dw_shape=parameters["w1"].shape
                    ),
                    "b1": convolution_backward_bias(handle, dy=dh),
                }
    for name, gradient in gradients.items():
        with gradient:
            velocity[name] = momentum * velocity[name] - learning_rate * gradient.numpy()
        parameters[name] += velocity[name]
    return loss


def accuracy(handle: Handle) -> float:
    """Share of the test images whose largest score is the right one."""
    with DeviceTensor.from_numpy(images[test]) as x:
        hidden, scores = forward(handle, x)
        with hidden, scores:
            return float((scores.numpy()[:, :, 0, 0].argmax(axis=1) == labels[test]).mean())


with Handle() as handle, same, valid:
    print(handle)
    losses: list[float] = []
    for epoch in range(4):
        starts = range(0, train.stop - batch_size + 1, batch_size)
        epoch_losses = [
            step(handle, images[i : i + batch_size], labels[i : i + batch_size]) for i in starts
        ]
        losses.append(float(np.mean(epoch_losses)))
        print(f"epoch {epoch}: loss {losses[-1]:.4f}, test accuracy {accuracy(handle):.1%}")
    assert losses[-1] < 0.3 * losses[0]
