"""Convolution, then batch normalization, addition and ReLU: in single calls, and in one.

    y = relu(bn(conv(x, w)) + z)         the second half of a residual block, where z is its input

In float16 with channels last, cuDNN has the last three as one call, forward and backward. What lies
between them is neither written to memory nor rounded. What the backward call needs to know of ReLU
is kept in a reserve space.
"""

import numpy as np

from cudnn_ctypes import (
    ConvolutionDescriptor,
    DeviceTensor,
    Handle,
    activation_backward,
    activation_forward,
    add_tensor,
    batch_normalization_backward,
    batch_normalization_backward_ex,
    batch_normalization_forward_training,
    batch_normalization_forward_training_ex,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)

Tensors = dict[str, DeviceTensor]
rng = np.random.default_rng(0)
N, C, H = 16, 8, 6


def half(*shape: int, spread: float = 1) -> DeviceTensor:
    values = np.array(rng.normal(0, spread, shape), "f2")
    return DeviceTensor.from_numpy(values, layout="NHWC")


x, z, dy = (half(N, C, H, H) for _ in range(3))
w = half(C, C, 3, 3, spread=np.sqrt(2 / (9 * C)))
# Scale and bias stay in float32, as the sums over the batch do.
scale = DeviceTensor.from_numpy(np.array(rng.uniform(0.5, 1.5, C), "f4"))
bias = DeviceTensor.from_numpy(np.array(rng.normal(0, 0.5, C), "f4"))


def single_calls(handle: Handle, conv: ConvolutionDescriptor) -> Tensors:
    c = convolution_forward(handle, x, w, conv)
    n = batch_normalization_forward_training(handle, c, scale, bias, average_factor=1)
    add_tensor(handle, z, n.y)  # n.y += z
    y = activation_forward(handle, n.y, "relu")

    dz = activation_backward(handle, "relu", y=y, dy=dy, x=n.y)
    saved = {"saved_mean": n.saved_mean, "saved_inv_variance": n.saved_inv_variance}
    g = batch_normalization_backward(handle, x=c, dy=dz, scale=scale, **saved)
    dx = convolution_backward_data(handle, conv, w=w, dy=g.dx, dx_shape=x.shape)
    dw = convolution_backward_filter(handle, conv, x=x, dy=g.dx, dw_shape=w.shape)
    return {"y": y, "dz": dz, "dx": dx, "dw": dw, "dscale": g.dscale, "dbias": g.dbias}


def fused(handle: Handle, conv: ConvolutionDescriptor) -> Tensors:
    c = convolution_forward(handle, x, w, conv)
    n = batch_normalization_forward_training_ex(
        handle, c, scale, bias, activation="relu", z=z, average_factor=1
    )
    g = batch_normalization_backward_ex(
        handle,
        x=c,
        y=n.y,
        dy=dy,
        scale=scale,
        bias=bias,
        activation="relu",
        with_dz=True,
        saved_mean=n.saved_mean,
        saved_inv_variance=n.saved_inv_variance,
        reserve_space=n.reserve_space,
    )
    dx = convolution_backward_data(handle, conv, w=w, dy=g.dx, dx_shape=x.shape)
    dw = convolution_backward_filter(handle, conv, x=x, dy=g.dx, dw_shape=w.shape)
    print(f"reserve space of {n.reserve_space.nbytes} bytes for {x.size} numbers")
    return {"y": n.y, "dz": g.dz, "dx": dx, "dw": dw, "dscale": g.dscale, "dbias": g.dbias}


with Handle() as cudnn, ConvolutionDescriptor(padding=1) as same:
    print(cudnn)
    one, other = single_calls(cudnn, same), fused(cudnn, same)
    for name, tensor in one.items():
        apart, together = (np.asarray(each.numpy(), "f8") for each in (tensor, other[name]))
        off = float(np.linalg.norm(together - apart) / np.linalg.norm(apart))
        print(f"{name:7} {tensor.shape!s:16} single calls and fused differ by {off:.0e}")
        assert off < 0.05
