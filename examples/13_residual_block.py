"""A residual block, forward and backward: in single steps, and with what cuDNN fuses.

    h = relu(bn1(conv(x, w1)))
    y = relu(bn2(conv(h, w2)) + x)

In float64 every step is a call of its own, which finite differences of the loss can check. In
float16 with channels last, batch normalization, addition and ReLU are one call, and what the
backward pass needs to know of ReLU lies in a reserve space. The second block then learns to do
what another one does.
"""

from collections.abc import Callable

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


def fused(
    handle: Handle,
    conv: ConvolutionDescriptor,
    x: np.ndarray,
    values: Arrays,
    gradient_of: Callable[[np.ndarray], np.ndarray],
) -> tuple[np.ndarray, Arrays]:
    """The same in float16, channels last; `gradient_of` gives dy for the y that came out."""

    def half(array: np.ndarray) -> DeviceTensor:
        return DeviceTensor.from_numpy(array.astype(np.float16), layout="NHWC")

    x_, w1, w2 = half(x), half(values["w1"]), half(values["w2"])
    # Scale and bias stay in float32, as the sums over the batch do.
    scale1, bias1, scale2, bias2 = (
        DeviceTensor.from_numpy(values[name].astype(np.float32))
        for name in ("scale1", "bias1", "scale2", "bias2")
    )

    c1 = convolution_forward(handle, x_, w1, conv)
    n1 = batch_normalization_forward_training_ex(
        handle, c1, scale1, bias1, activation="relu", average_factor=1
    )
    c2 = convolution_forward(handle, n1.y, w2, conv)
    n2 = batch_normalization_forward_training_ex(
        handle, c2, scale2, bias2, activation="relu", z=x_, average_factor=1
    )

    dy = half(gradient_of(n2.y.numpy().astype(np.float64)))
    g2 = batch_normalization_backward_ex(
        handle,
        x=c2,
        y=n2.y,
        dy=dy,
        scale=scale2,
        bias=bias2,
        activation="relu",
        with_dz=True,
        saved_mean=n2.saved_mean,
        saved_inv_variance=n2.saved_inv_variance,
        reserve_space=n2.reserve_space,
    )
    dw2 = convolution_backward_filter(handle, conv, x=n1.y, dy=g2.dx, dw_shape=w_shape)
    dh = convolution_backward_data(handle, conv, w=w2, dy=g2.dx, dx_shape=shape)
    g1 = batch_normalization_backward_ex(
        handle,
        x=c1,
        y=n1.y,
        dy=dh,
        scale=scale1,
        bias=bias1,
        activation="relu",
        saved_mean=n1.saved_mean,
        saved_inv_variance=n1.saved_inv_variance,
        reserve_space=n1.reserve_space,
    )
    dw1 = convolution_backward_filter(handle, conv, x=x_, dy=g1.dx, dw_shape=w_shape)
    dx = convolution_backward_data(handle, conv, w=w1, dy=g1.dx, dx=g2.dz, beta=1)

    gradients = {"x": dx, "w1": dw1, "scale1": g1.dscale, "bias1": g1.dbias}
    gradients |= {"w2": dw2, "scale2": g2.dscale, "bias2": g2.dbias}
    return n2.y.numpy(), {
        name: gradient.numpy().astype(np.float64) for name, gradient in gradients.items()
    }


def relative(found: np.ndarray, expected: np.ndarray) -> float:
    return float(np.linalg.norm(found - expected) / np.linalg.norm(expected))


def check_gradients(
    handle: Handle, conv64: ConvolutionDescriptor, conv16: ConvolutionDescriptor
) -> None:
    """Along a random direction, the loss must change as the gradient says."""
    values, dy = (
        {"x": rng.standard_normal(shape), **random_parameters()},
        rng.standard_normal(shape),
    )

    def loss(changed: Arrays) -> float:
        y, _ = step_by_step(handle, conv64, changed["x"], changed, dy)
        return float((y * dy).sum())

    y, gradients = step_by_step(handle, conv64, values["x"], values, dy)
    half_y, half_gradients = fused(handle, conv16, values["x"], values, lambda _: dy)
    print(f"{'':8}finite differences     fused, in float16")
    print(f"{'y':8}{'':23}{relative(half_y, y):.0e} off")
    for name, gradient in gradients.items():
        direction, step = rng.standard_normal(gradient.shape), 1e-6
        ahead, behind = (
            loss({**values, name: values[name] + sign * step * direction}) for sign in (1, -1)
        )
        slope, expected = (ahead - behind) / (2 * step), float((gradient * direction).sum())
        off = abs(slope - expected) / float(np.linalg.norm(gradient))
        half = relative(half_gradients[name], gradient)
        print(f"{'d' + name:8}{off:.0e} off             {half:.0e} off")
        assert off < 1e-5
        assert half < 0.05
    assert relative(half_y, y) < 0.01


def learn(
    handle: Handle, conv64: ConvolutionDescriptor, conv16: ConvolutionDescriptor, steps: int = 40
) -> list[float]:
    """The fused block learns what another block does with the same images."""
    x, teacher, values = rng.standard_normal(shape), random_parameters(), random_parameters()
    target, _ = step_by_step(handle, conv64, x, teacher, np.zeros(shape))
    velocity = {name: np.zeros_like(value) for name, value in values.items()}
    losses: list[float] = []

    def gradient_of(y: np.ndarray) -> np.ndarray:
        losses.append(float(((y - target) ** 2).mean()))
        gradient: np.ndarray = (y - target) * (2 / images)  # of the squared error of an image
        return gradient

    for _ in range(steps):
        _, gradients = fused(handle, conv16, x, values, gradient_of)
        for name in values:  # kept in float64; the block rounds them
            velocity[name] = 0.8 * velocity[name] - 0.002 * gradients[name]
            values[name] += velocity[name]
    return losses


with (
    Handle() as handle,
    # Products are summed in float64 for float64, and in float32 for float16.
    ConvolutionDescriptor(padding=1, compute_data_type="float64") as conv64,
    ConvolutionDescriptor(padding=1) as conv16,
):
    print(handle)
    check_gradients(handle, conv64, conv16)
    losses = learn(handle, conv64, conv16)
    print("loss:", " ".join(f"{loss:.3f}" for loss in [*losses[::8], losses[-1]]))
    assert losses[-1] < 0.3 * losses[0]
