"""Softmax through layer 2: known numbers, operands of all kinds, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    TensorDescriptor,
    raw,
    softmax_backward,
    softmax_forward,
)
from cudnn_ctypes.errors import NotSupportedError

SCORES = np.array([[0.0, np.log(2), np.log(5)], [1.0, 1.0, 1.0]], np.float32)
SHARES = np.array([[1, 2, 5], [8 / 3, 8 / 3, 8 / 3]]) / 8


def tensor(array: np.ndarray, **how: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(array, **how)


def test_known_numbers(handle: Handle) -> None:
    with tensor(SCORES) as x:
        for algorithm in ("fast", "accurate", raw.CUDNN_SOFTMAX_FAST):
            y = softmax_forward(handle, x, algorithm=algorithm)
            assert y.shape == (2, 3)
            np.testing.assert_allclose(y.numpy(), SHARES, rtol=1e-6)
        y = softmax_forward(handle, x, algorithm="log")
        np.testing.assert_allclose(y.numpy(), np.log(SHARES), rtol=1e-6)


def test_the_gradient_of_cross_entropy(handle: Handle) -> None:
    # With the loss -log(y[target]) the gradient of the scores is y - onehot(target).
    target = np.eye(3, dtype=np.float32)[[2, 0]]
    with tensor(SCORES) as x, tensor(-target) as dy:
        log_y = softmax_forward(handle, x, algorithm="log")
        dx = softmax_backward(handle, y=log_y, dy=dy, algorithm="log").numpy()
        np.testing.assert_allclose(dx, SHARES - target, atol=1e-6)
        y = softmax_forward(handle, x)
        with tensor((-target / SHARES).astype(np.float32)) as by_y:
            np.testing.assert_allclose(
                softmax_backward(handle, y=y, dy=by_y).numpy(), SHARES - target, atol=1e-6
            )


def test_modes(handle: Handle) -> None:
    values = np.random.default_rng(0).standard_normal((2, 3, 4, 5)).astype(np.float32)
    for layout in ("NCHW", "NHWC"):
        with tensor(values, layout=layout) as x:
            channel = softmax_forward(handle, x)
            assert channel.layout == layout
            np.testing.assert_allclose(channel.numpy().sum(axis=1), 1, rtol=1e-5)
            instance = softmax_forward(handle, x, mode="instance").numpy()
            np.testing.assert_allclose(instance.sum(axis=(1, 2, 3)), 1, rtol=1e-5)


def test_large_scores(handle: Handle) -> None:
    with tensor(np.array([[1000.0, 1000.0]], np.float32)) as x:
        np.testing.assert_allclose(softmax_forward(handle, x).numpy(), [[0.5, 0.5]])
        log_y = softmax_forward(handle, x, algorithm="log").numpy()
        np.testing.assert_allclose(log_y, [[-np.log(2), -np.log(2)]], rtol=1e-4)


def test_fast_overflows(handle: Handle) -> None:
    with tensor(np.array([[1000.0, 1000.0]], np.float32)) as x:
        assert np.isnan(softmax_forward(handle, x, algorithm="fast").numpy()).all()


def test_in_place(handle: Handle) -> None:
    with tensor(SCORES) as x, tensor(np.ones((2, 3), np.float32)) as dy:
        assert softmax_forward(handle, x, x) is x
        np.testing.assert_allclose(x.numpy(), SHARES, rtol=1e-6)
        assert softmax_backward(handle, y=x, dy=dy, dx=dy) is dy
        np.testing.assert_allclose(dy.numpy(), np.zeros((2, 3)), atol=1e-6)


def test_wrong_input(reference_handle: Handle) -> None:
    handle, x = reference_handle, tensor(SCORES)
    with pytest.raises(ValueError, match=r"^algorithm: .*did you mean 'accurate'"):
        softmax_forward(handle, x, algorithm="acurate")
    with pytest.raises(TypeError, match=r"^mode: expected a cudnnSoftmaxMode_t"):
        softmax_forward(handle, x, mode=raw.CUDNN_SOFTMAX_LOG)
    with pytest.raises(ValueError, match=r"^y: expected shape \(2, 3, 1, 1\)"):
        softmax_forward(handle, x, tensor(SCORES.T.copy()))
    with pytest.raises(ValueError, match=r"^y: needed with beta"):
        softmax_forward(handle, x, beta=1)
    with pytest.raises(ValueError, match=r"^dy: expected the type of y"):
        softmax_backward(handle, y=x, dy=tensor(SCORES.astype(np.float64)))
    with pytest.raises(ValueError, match=r"^dx: expected shape"):
        softmax_backward(handle, y=x, dy=x, dx=tensor(SCORES.T.copy()))
    with pytest.raises(TypeError, match=r"^dy: host memory"):
        softmax_backward(handle, y=x, dy=SCORES)
    with pytest.raises(NotSupportedError):
        softmax_forward(handle, tensor(np.ones((1, 2), np.int32)))
    larger = TensorDescriptor((2, 3, 2, 1))
    with larger, pytest.raises(ValueError, match=r"^x: 24 bytes are too small"):
        softmax_forward(handle, x, x_desc=larger)


def test_layouts_of_which_cudnn_makes_something_else(reference_handle: Handle) -> None:
    values = np.zeros((2, 3, 2, 2, 2))
    with (
        DeviceTensor.from_numpy(values, layout="NHWC") as x,
        pytest.raises(ValueError, match=r"^x: .* needs NCHW"),
    ):
        softmax_forward(reference_handle, x)
    with (
        DeviceTensor.from_numpy(values[:, :, 0, 0, 0], strides=(4, 1)) as x,
        pytest.raises(ValueError, match=r"^x: .* without gaps"),
    ):
        softmax_forward(reference_handle, x, mode="instance")
