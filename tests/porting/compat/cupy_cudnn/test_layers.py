"""High-level functions on the reference device, where NumPy arrays stand in, and with CuPy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, use_reference_device
from cudnn_ctypes.porting.compat import cupy_cudnn as cudnn
from cudnn_ctypes.reference import (
    activation_backward,
    activation_forward,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
    pooling_backward,
    pooling_forward,
    softmax_backward,
    softmax_forward,
)

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")


class Arrays:
    """The kind of arrays that a test runs with."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        if kind == "cupy":
            self.cupy: Any = pytest.importorskip("cupy", reason="CuPy's arrays are tested")

    def of(self, array: Any) -> Any:
        if self.kind == "numpy":
            return array.copy()
        if self.kind == "DeviceTensor":
            return DeviceTensor.from_numpy(array)
        return self.cupy.asarray(array)

    def nan(self, *shape: int, dtype: Any = "float64") -> Any:
        return self.of(np.full(shape, np.nan, dtype))

    def host(self, array: Any) -> Any:
        if self.kind == "numpy":
            assert type(array) is np.ndarray
            return array
        if self.kind == "DeviceTensor":
            assert type(array) is DeviceTensor
            return array.numpy()
        assert type(array) is self.cupy.ndarray
        return self.cupy.asnumpy(array)


@pytest.fixture(
    params=[
        "numpy",
        "DeviceTensor",
        pytest.param("DeviceTensor on the GPU", marks=pytest.mark.gpu),
        pytest.param("cupy", marks=pytest.mark.gpu),
    ]
)
def arrays(request: pytest.FixtureRequest) -> Iterator[Arrays]:
    on_gpu = request.param in ("cupy", "DeviceTensor on the GPU")
    with use_reference_device(not on_gpu):
        yield Arrays(request.param.split(" ")[0])


def random(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


@pytest.mark.parametrize(
    ("mode", "coef", "name"),
    [("SIGMOID", 0.0, "sigmoid"), ("RELU", 0.0, "relu"), ("ELU", 0.75, "elu")],
)
def test_activation(arrays: Arrays, mode: str, coef: float, name: Any) -> None:
    x, gy = random(0, 3, 4, 5), random(1, 3, 4, 5)
    number = getattr(cudnn, f"CUDNN_ACTIVATION_{mode}")
    y = cudnn.activation_forward(arrays.of(x), number, coef)
    expected = activation_forward(x, name, coef)
    np.testing.assert_allclose(arrays.host(y), expected, atol=1e-14)
    gx = cudnn.activation_backward(arrays.of(x), y, arrays.of(gy), number, coef)
    gradient = activation_backward(name, coef, y=expected, dy=gy, x=x)
    np.testing.assert_allclose(arrays.host(gx), gradient, atol=1e-13)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_softmax(arrays: Arrays, axis: int) -> None:
    x, gy = random(0, 3, 4, 5), random(1, 3, 4, 5)
    y = cudnn.softmax_forward(arrays.of(x), axis, cudnn.CUDNN_SOFTMAX_LOG)
    last = np.moveaxis(x, axis, 1)[..., None]
    soft = softmax_forward(last, algorithm="log")
    np.testing.assert_allclose(arrays.host(y), np.moveaxis(soft[..., 0], 1, axis), atol=1e-14)
    gx = cudnn.softmax_backward(y, arrays.of(gy), axis, cudnn.CUDNN_SOFTMAX_LOG)
    gradient = softmax_backward(y=soft, dy=np.moveaxis(gy, axis, 1)[..., None], algorithm="log")
    np.testing.assert_allclose(arrays.host(gx), np.moveaxis(gradient[..., 0], 1, axis), atol=1e-13)


@pytest.mark.parametrize("sizes", [(6, 5), (4, 3, 5)], ids=["2d", "3d"])
def test_pooling(arrays: Arrays, sizes: tuple[int, ...]) -> None:
    ndim = len(sizes)
    geometry: Any = {"window": (2,) * ndim, "stride": (2,) * ndim, "padding": (1,) * ndim}
    x = random(0, 2, 3, *sizes)
    expected = pooling_forward(x, mode="max", **geometry)
    gy, y, device_x = random(1, *expected.shape), arrays.nan(*expected.shape), arrays.of(x)
    options = tuple(geometry.values()), cudnn.CUDNN_POOLING_MAX
    assert cudnn.pooling_forward(device_x, y, *options[0], options[1]) is y
    np.testing.assert_allclose(arrays.host(y), expected, atol=0)
    gx = cudnn.pooling_backward(device_x, y, arrays.of(gy), *options[0], options[1])
    gradient = pooling_backward(x=x, dy=gy, mode="max", **geometry)
    np.testing.assert_allclose(arrays.host(gx), gradient, atol=1e-14)


class TestConvolution:
    pad, stride, dilation, groups = (1, 2), (2, 1), (1, 2), 2
    x, w, b = random(0, 2, 4, 9, 11), random(1, 6, 2, 3, 3), random(2, 6)

    @property
    def geometry(self) -> Any:
        names = ("padding", "stride", "dilation", "groups")
        return dict(zip(names, self.options, strict=True))

    @property
    def options(self) -> tuple[Any, ...]:
        return self.pad, self.stride, self.dilation, self.groups

    @pytest.mark.parametrize("auto_tune", [False, True])
    def test_forward(self, arrays: Arrays, auto_tune: bool) -> None:
        expected = convolution_forward(self.x, self.w, **self.geometry)
        for b in (None, self.b):
            y = arrays.nan(*expected.shape)
            cudnn.convolution_forward(
                arrays.of(self.x),
                arrays.of(self.w),
                None if b is None else arrays.of(b),
                y,
                *self.options,
                auto_tune=auto_tune,
                tensor_core="auto",
            )
            with_bias = expected if b is None else expected + b[:, None, None]
            np.testing.assert_allclose(arrays.host(y), with_bias, atol=1e-12)

    @pytest.mark.parametrize("deterministic", [False, True])
    def test_gradients(self, arrays: Arrays, deterministic: bool) -> None:
        shape = convolution_forward(self.x, self.w, **self.geometry).shape
        gy = random(3, *shape)
        how = {"deterministic": deterministic, "auto_tune": False, "tensor_core": "never"}
        gw, gx = arrays.nan(*self.w.shape), arrays.nan(*self.x.shape)
        device_gy = arrays.of(gy)
        cudnn.convolution_backward_filter(arrays.of(self.x), device_gy, gw, *self.options, **how)
        expected = convolution_backward_filter(
            x=self.x, dy=gy, dw_shape=self.w.shape, **self.geometry
        )
        np.testing.assert_allclose(arrays.host(gw), expected, atol=1e-11)
        cudnn.convolution_backward_data(
            arrays.of(self.w), device_gy, None, gx, *self.options, **how
        )
        expected = convolution_backward_data(
            w=self.w, dy=gy, dx_shape=self.x.shape, **self.geometry
        )
        np.testing.assert_allclose(arrays.host(gx), expected, atol=1e-11)

    def test_three_dimensions(self, arrays: Arrays) -> None:
        x, w = random(0, 1, 2, 5, 4, 6), random(1, 3, 2, 2, 2, 2)
        expected = convolution_forward(x, w)
        y, ones = arrays.nan(*expected.shape), (1, 1, 1)
        how = {"auto_tune": False, "tensor_core": "auto"}
        device = arrays.of(x), arrays.of(w)
        cudnn.convolution_forward(*device, None, y, (0, 0, 0), ones, ones, 1, **how)
        np.testing.assert_allclose(arrays.host(y), expected, atol=1e-12)

    def test_channels_last(self, arrays: Arrays) -> None:
        """Both arrays lie in the order N, H, W, C; the bias is per channel all the same."""
        x, w, b = random(0, 2, 4, 6, 7), random(1, 3, 4, 3, 3), random(2, 3)
        expected = convolution_forward(x, w) + b[:, None, None]
        last = [np.ascontiguousarray(each.transpose(0, 2, 3, 1)) for each in (x, w, expected)]
        dtype, nhwc, ones = "float32", cudnn.CUDNN_TENSOR_NHWC, (1, 1)
        y = arrays.nan(*last[2].shape, dtype=dtype)
        device_x, device_w, device_b = (
            arrays.of(each.astype(dtype)) for each in (last[0], last[1], b)
        )
        how = {"auto_tune": False, "tensor_core": "auto", "d_layout": nhwc, "w_layout": nhwc}
        cudnn.convolution_forward(device_x, device_w, device_b, y, (0, 0), ones, ones, 1, **how)
        np.testing.assert_allclose(arrays.host(y), last[2], atol=0.05)  # TF32 on the GPU

    def test_a_transposed_convolution_with_its_bias(self, arrays: Arrays) -> None:
        x, w, b = random(0, 2, 3, 4, 5), random(1, 3, 2, 3, 3), random(2, 2)
        geometry: Any = {"padding": (1, 1), "stride": (2, 2)}
        y = arrays.nan(2, 2, 7, 9)
        how = {"deterministic": False, "auto_tune": True, "tensor_core": "auto"}
        given = arrays.of(w), arrays.of(x), arrays.of(b), y
        cudnn.convolution_backward_data(*given, (1, 1), (2, 2), (1, 1), 1, **how)
        expected = convolution_backward_data(w=w, dy=x, dx_shape=(2, 2, 7, 9), **geometry)
        np.testing.assert_allclose(arrays.host(y), expected + b[:, None, None], atol=1e-12)

    def test_shapes_that_do_not_fit(self, arrays: Arrays) -> None:
        y = arrays.nan(2, 6, 4, 11)
        how = {"auto_tune": False, "tensor_core": "auto"}
        device = arrays.of(self.x), arrays.of(self.w)
        with pytest.raises(cudnn.CuDNNError, match="BAD_PARAM") as error:
            cudnn.convolution_forward(*device, None, y, *self.options, **how)
        assert error.value.status == 3
        with pytest.raises(ValueError, match="must be either of"):
            cudnn.convolution_forward(*device, None, y, *self.options, auto_tune=0, tensor_core="x")

    def test_too_little_workspace(self, arrays: Arrays, monkeypatch: Any) -> None:
        """A limit that no algorithm keeps; the default comes back."""
        assert cudnn.get_max_workspace_size() == 8 * 1024 * 1024
        monkeypatch.setattr(
            "cudnn_ctypes.porting.compat.cupy_cudnn.convolutions._max_workspace_size", -1
        )
        assert cudnn.get_max_workspace_size() == -1
        y = arrays.nan(2, 6, 5, 11)
        how = {"auto_tune": False, "tensor_core": "auto"}
        device = arrays.of(self.x), arrays.of(self.w)
        with pytest.raises(RuntimeError, match="available with workspace size less equal -1"):
            cudnn.convolution_forward(*device, None, y, *self.options, **how)


@pytest.mark.parametrize("for_images", [False, True])
def test_batch_normalization(arrays: Arrays, for_images: bool) -> None:
    shape = (4, 3, 5, 6) if for_images else (8, 3)
    axes = (0, 2, 3) if for_images else (0,)
    sizes = (1, 3, 1, 1) if for_images else (3,)
    mode = cudnn.CUDNN_BATCHNORM_SPATIAL if for_images else cudnn.CUDNN_BATCHNORM_PER_ACTIVATION
    x, gy = 2 * random(0, *shape) + 1, random(1, *shape)
    gamma, beta = random(2, *sizes), random(3, *sizes)
    mean, var = random(4, *sizes), random(5, *sizes) ** 2
    running = arrays.of(mean), arrays.of(var)
    device_x = arrays.of(x)
    given = device_x, arrays.of(gamma), arrays.of(beta), *running
    options = (for_images, mode, False)
    y, saved_mean, saved_inv_std = cudnn.batch_normalization_forward_training(
        *given, None, None, 1e-5, 0.9, *options
    )
    batch_mean, batch_var = (f(x, axis=axes).reshape(sizes) for f in (np.mean, np.var))
    inv_std = 1 / np.sqrt(batch_var + 1e-5)
    normal = (x - batch_mean) * inv_std
    np.testing.assert_allclose(arrays.host(y), gamma * normal + beta, atol=1e-12)
    np.testing.assert_allclose(arrays.host(saved_mean).reshape(sizes), batch_mean, atol=1e-13)
    np.testing.assert_allclose(arrays.host(saved_inv_std).reshape(sizes), inv_std, atol=1e-12)
    count = x.size // 3
    unbiased = batch_var * count / (count - 1)
    np.testing.assert_allclose(arrays.host(running[0]), 0.9 * mean + 0.1 * batch_mean, atol=1e-13)
    np.testing.assert_allclose(arrays.host(running[1]), 0.9 * var + 0.1 * unbiased, atol=1e-12)

    gx, ggamma, gbeta = cudnn.batch_normalization_backward(
        device_x, given[1], arrays.of(gy), saved_mean, saved_inv_std, 1e-5, *options
    )
    dgamma = (gy * normal).sum(axis=axes).reshape(sizes)
    dbeta = gy.sum(axis=axes).reshape(sizes)
    dx = gamma * inv_std * (gy - dbeta / count - normal * dgamma / count)
    np.testing.assert_allclose(arrays.host(gx), dx, atol=1e-11)
    np.testing.assert_allclose(arrays.host(ggamma).reshape(sizes), dgamma, atol=1e-11)
    np.testing.assert_allclose(arrays.host(gbeta).reshape(sizes), dbeta, atol=1e-11)

    y = cudnn.batch_normalization_forward_inference(
        *given[:3], arrays.of(mean), arrays.of(var), 1e-5, for_images, mode
    )
    expected = gamma * (x - mean) / np.sqrt(var + 1e-5) + beta
    np.testing.assert_allclose(arrays.host(y), expected, atol=1e-12)


def test_batch_normalization_of_halves_with_a_reserve_space(arrays: Arrays) -> None:
    """NHWC, four channels: parameters are float, and given as halves are cast and cast back."""
    shape = (2, 3, 5, 4)
    x, gy = random(0, *shape).astype(np.float16), random(1, *shape).astype(np.float16)
    ones, zeros = np.ones(4, np.float16), np.zeros(4, np.float16)
    running = arrays.of(zeros), arrays.of(ones)
    device_x, gamma = arrays.of(x), arrays.of(ones)
    mode, nhwc = cudnn.CUDNN_BATCHNORM_SPATIAL_PERSISTENT, cudnn.CUDNN_TENSOR_NHWC
    if arrays.kind == "DeviceTensor":
        given = device_x, gamma, gamma, gamma, gamma, None, None
        with pytest.raises(TypeError, match="expected a DeviceTensor of float32, got float16"):
            cudnn.batch_normalization_forward_training_ex(
                *given, 1e-5, 0.5, True, mode, False, nhwc
            )
        return
    reserve, y, mean, inv_std = cudnn.batch_normalization_forward_training_ex(
        *(device_x, gamma, arrays.of(zeros), *running, None, None),
        *(1e-5, 0.5, True, mode, False, nhwc),
    )
    wide = x.astype(np.float64)
    batch_mean, batch_var = (f(wide, axis=(0, 1, 2)) for f in (np.mean, np.var))
    normal = (wide - batch_mean) / np.sqrt(batch_var + 1e-5)
    np.testing.assert_allclose(arrays.host(y), normal, atol=4e-3)
    assert arrays.host(running[0]).dtype == np.float16
    np.testing.assert_allclose(arrays.host(running[0]), batch_mean / 2, atol=2e-3)
    gx, ggamma, gbeta = cudnn.batch_normalization_backward(
        *(device_x, gamma, arrays.of(gy), mean, inv_std, 1e-5, True, mode, False, nhwc),
        reserve_space=reserve,
    )
    dbeta = gy.astype(np.float64).sum(axis=(0, 1, 2))
    np.testing.assert_allclose(arrays.host(gbeta), dbeta, rtol=0, atol=2e-2)
    dgamma = (gy * normal).sum(axis=(0, 1, 2))
    np.testing.assert_allclose(arrays.host(ggamma), dgamma, rtol=0, atol=3e-2)
    count = x.size // 4
    dx = (gy - dbeta / count - normal * dgamma / count) / np.sqrt(batch_var + 1e-5)
    np.testing.assert_allclose(arrays.host(gx), dx, atol=1e-2)


def test_dropout(arrays: Arrays) -> None:
    x = np.ones((40, 50), np.float32)
    states = cudnn.DropoutStates(None, 7)
    reserve, y = states.forward(None, arrays.of(x), 0.25)
    host = arrays.host(y)
    np.testing.assert_allclose(np.unique(host), [0, 4 / 3], rtol=1e-6)
    assert abs((host == 0).mean() - 0.25) < 0.05  # 5 standard deviations
    dx = states.backward(None, arrays.of(2 * x), 0.25, reserve)
    np.testing.assert_allclose(arrays.host(dx), 2 * host)
    _, other = states.forward(cudnn.get_handle(), arrays.of(x), 0.25)
    assert (arrays.host(other) != host).any()


def test_ctc_loss(arrays: Arrays) -> None:
    torch = pytest.importorskip("torch", reason="PyTorch (CPU) is the oracle of this test")
    probs = random(0, 6, 2, 4).astype(np.float32)
    soft = np.exp(probs) / np.exp(probs).sum(axis=2, keepdims=True)
    labels, lengths = np.array([1, 2, 3], np.int32), np.array([2, 1], np.int32)
    steps = np.array([6, 6], np.int32)
    algo = cudnn.CUDNN_CTC_LOSS_ALGO_DETERMINISTIC
    loss, gradients = cudnn.ctc_loss(arrays.of(soft), labels, lengths, steps, algo)
    logits = torch.from_numpy(probs).requires_grad_()
    targets = [torch.from_numpy(each) for each in (labels, steps, lengths)]
    expected = torch.nn.functional.ctc_loss(logits.log_softmax(2), *targets, reduction="none")
    np.testing.assert_allclose(arrays.host(loss), expected.detach().numpy(), rtol=1e-5)
    assert arrays.host(gradients).shape == probs.shape


def test_arrays_that_cannot_be_used(arrays: Arrays) -> None:
    with pytest.raises(TypeError, match=r"x: expected an array of CuPy.*, got list"):
        cudnn.activation_forward([1.0], 0)
    if arrays.kind == "cupy":
        with pytest.raises(TypeError, match="x: expected an array of CuPy, got ndarray"):
            cudnn.activation_forward(np.ones((2, 3)), 0)
    with pytest.raises(TypeError, match="Dtype int32 is not supported in cuDNN"):
        cudnn.activation_forward(arrays.of(np.ones((2, 3), np.int32)), 0)
    with pytest.raises(ValueError, match="must be of same length"):
        cudnn.create_pooling_descriptor((2, 2), (2,), (1, 1), 0)


def test_tensors_that_are_not_dense() -> None:
    with use_reference_device():
        turned = DeviceTensor.from_numpy(np.ones((2, 3, 4, 5)), layout="NHWC")
        with pytest.raises(ValueError, match="x: expected a tensor that is dense in C's order"):
            cudnn.activation_forward(turned, 0)
