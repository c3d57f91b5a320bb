"""A residual block, forward and backward, each step a call, and all gradients checked.

    h = relu(bn1(conv(x, w1)))
    y = relu(bn2(conv(h, w2)) + x)

x goes two ways, through the convolutions and past them, and so does its gradient come back. In
float64, where finite differences of the loss can check it.
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
    batch_normalization_forward_training,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
)

Arrays = dict[str, np.ndarray]
rng = np.random.default_rng(0)
images, channels, size = 16, 8, 6
shape, w_shape = (images, channels, size, size), (channels, channels, 3, 3)


def random_parameters() -> Arrays:
    """Two filters, and for each batch normalization a scale and a bias per channel."""
    spread = np.sqrt(2 / (9 * channels))
    return {
        "w1": rng.normal(0, spread, w_shape),
        "scale1": rng.uniform(0.5, 1.5, channels),
        "bias1": rng.normal(0, 0.5, channels),
        "w2": rng.normal(0, spread, w_shape),
        "scale2": rng.uniform(0.5, 1.5, channels),
        "bias2": rng.normal(0, 0.5, channels),
    }


def step_by_step(
    handle: Handle, conv: ConvolutionDescriptor, x: np.ndarray, values: Arrays, dy: np.ndarray
) -> tuple[np.ndarray, Arrays]:
    """y and all gradients of sum(y * dy), in float64 with channels second."""
    x_ = DeviceTensor.from_numpy(x)
    p = {name: DeviceTensor.from_numpy(value) for name, value in values.items()}

    c1 = convolution_forward(handle, x_, p["w1"], conv)
    n1 = batch_normalization_forward_training(handle, c1, p["scale1"], p["bias1"], average_factor=1)
    h = activation_forward(handle, n1.y, "relu")
    c2 = convolution_forward(handle, h, p["w2"], conv)
    n2 = batch_normalization_forward_training(handle, c2, p["scale2"], p["bias2"], average_factor=1)
    add_tensor(handle, x_, n2.y)  # n2.y += x
    y = activation_forward(handle, n2.y, "relu")

    # Backward: every call once more, in reverse order. The mean and the variance that the
    # normalizations computed are used again.
    d_sum = activation_backward(handle, "relu", y=y, dy=DeviceTensor.from_numpy(dy), x=n2.y)
    saved = {"saved_mean": n2.saved_mean, "saved_inv_variance": n2.saved_inv_variance}
    g2 = batch_normalization_backward(handle, x=c2, dy=d_sum, scale=p["scale2"], **saved)
    dw2 = convolution_backward_filter(handle, conv, x=h, dy=g2.dx, dw_shape=w_shape)
    dh = convolution_backward_data(handle, conv, w=p["w2"], dy=g2.dx, dx_shape=shape)
    d_n1 = activation_backward(handle, "relu", y=h, dy=dh, x=n1.y)
    saved = {"saved_mean": n1.saved_mean, "saved_inv_variance": n1.saved_inv_variance}
    g1 = batch_normalization_backward(handle, x=c1, dy=d_n1, scale=p["scale1"], **saved)
    dw1 = convolution_backward_filter(handle, conv, x=x_, dy=g1.dx, dw_shape=w_shape)
    # x went two ways. With beta = 1 the gradient of the long one is added to that of the short one.
    dx = convolution_backward_data(handle, conv, w=p["w1"], dy=g1.dx, dx=d_sum, beta=1)

    gradients = {"x": dx, "w1": dw1, "scale1": g1.dscale, "bias1": g1.dbias}
    gradients |= {"w2": dw2, "scale2": g2.dscale, "bias2": g2.dbias}
    return y.numpy(), {name: gradient.numpy() for name, gradient in gradients.items()}


def check_gradients(handle: Handle, conv: ConvolutionDescriptor) -> None:
    """Along a random direction, the loss must change as the gradient says."""
    values = {"x": rng.standard_normal(shape), **random_parameters()}
    dy = rng.standard_normal(shape)

    def loss(changed: Arrays) -> float:
        y, _ = step_by_step(handle, conv, changed["x"], changed, dy)
        return float((y * dy).sum())

    _, gradients = step_by_step(handle, conv, values["x"], values, dy)
    print("gradient    along a direction    finite differences")
    for name, gradient in gradients.items():
        direction, step = rng.standard_normal(gradient.shape), 1e-6
        ahead, behind = (
            loss({**values, name: values[name] + sign * step * direction}) for sign in (1, -1)
        )
        slope, expected = (ahead - behind) / (2 * step), float((gradient * direction).sum())
        print(f"{'d' + name:8} {expected:20.8f} {slope:21.8f}")
        assert abs(slope - expected) < 1e-5 * float(np.linalg.norm(gradient))


with (
    Handle() as cudnn,
    # Products are summed in float64 for float64.
    ConvolutionDescriptor(padding=1, compute_data_type="float64") as same,
):
    print(cudnn)
    check_gradients(cudnn, same)
