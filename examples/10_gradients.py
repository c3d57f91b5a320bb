"""Gradients checked by finite differences: convolution, activation, pooling, softmax, batch norm.

A backward function gives dx, the gradient of the loss L = sum(y * dy) by x. Whether it is right can
be measured with the forward function alone: along any direction d,

    (L(x + h d) - L(x - h d)) / 2h   must be   sum(dx * d)   to within h squared,

in float64, where rounding leaves room for a small h.
"""

from collections.abc import Callable

import numpy as np

from cudnn_ctypes import (
    ActivationDescriptor,
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    PoolingDescriptor,
    activation_backward,
    activation_forward,
    batch_normalization_backward,
    batch_normalization_forward_training,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
    pooling_backward,
    pooling_forward,
    softmax_backward,
    softmax_forward,
)

rng = np.random.default_rng(0)
Function = Callable[[DeviceTensor], DeviceTensor]
Gradient = Callable[[DeviceTensor, DeviceTensor, DeviceTensor], DeviceTensor]


def on_device(array: np.ndarray) -> DeviceTensor:
    return DeviceTensor.from_numpy(array)


def check(name: str, forward: Function, backward: Gradient, at: np.ndarray) -> None:
    """Compare backward(x, y, dy) with the slope of forward along a direction."""
    y = forward(on_device(at))
    dy, direction = rng.standard_normal(y.shape), rng.standard_normal(at.shape)
    gradient = backward(on_device(at), y, on_device(dy)).numpy()
    expected = float((gradient * direction).sum())
    errors: list[float] = []
    for h in (1e-2, 1e-4):
        near = (forward(on_device(at + sign * h * direction)).numpy() for sign in (1, -1))
        ahead, behind = (float((y_near * dy).sum()) for y_near in near)
        errors.append(abs((ahead - behind) / (2 * h) - expected) / float(np.linalg.norm(gradient)))
    print(f"{name:20} {expected:9.4f} {errors[0]:18.0e} {errors[1]:18.0e}")
    assert errors[1] < 1e-6


x = rng.standard_normal((2, 3, 6, 6))
w = rng.standard_normal((4, 3, 3, 3))
scale, bias = rng.uniform(0.5, 2, (1, 3, 1, 1)), rng.standard_normal((1, 3, 1, 1))

with (
    Handle() as cudnn,
    ConvolutionDescriptor(padding=1, stride=2, compute_data_type="float64") as conv,
    ActivationDescriptor("tanh") as tanh,
    PoolingDescriptor(3, padding=1, stride=2, mode="average_count_exclude_padding") as mean,
):
    print(cudnn)
    print(f"{'':20} {'gradient':>9} {'off, h = 1e-2':>18} {'off, h = 1e-4':>18}")
    check(
        "convolution, by x",
        lambda x: convolution_forward(cudnn, x, on_device(w), conv),
        lambda x, y, dy: convolution_backward_data(
            cudnn, conv, w=on_device(w), dy=dy, dx_shape=x.shape
        ),
        x,
    )
    check(
        "convolution, by w",
        lambda w: convolution_forward(cudnn, on_device(x), w, conv),
        lambda w, y, dy: convolution_backward_filter(
            cudnn, conv, x=on_device(x), dy=dy, dw_shape=w.shape
        ),
        w,
    )
    check(
        "mean pooling",
        lambda x: pooling_forward(cudnn, x, mean),
        lambda x, y, dy: pooling_backward(cudnn, mean, y=y, dy=dy, x=x),
        x,
    )
    print("these are linear in what is changed, so a large h is as good as a small one; not so")
    check(
        "tanh",
        lambda x: activation_forward(cudnn, x, tanh),
        lambda x, y, dy: activation_backward(cudnn, tanh, y=y, dy=dy, x=x),
        x,
    )
    check(
        "softmax",
        lambda x: softmax_forward(cudnn, x),
        lambda x, y, dy: softmax_backward(cudnn, y=y, dy=dy),
        x,
    )
    parameters = on_device(scale), on_device(bias)
    check(
        "batch normalization",
        lambda x: batch_normalization_forward_training(cudnn, x, *parameters, average_factor=1).y,
        lambda x, y, dy: batch_normalization_backward(cudnn, x=x, dy=dy, scale=parameters[0]).dx,
        x,
    )
