"""``LRNDescriptor``, and LRN and divisive normalization: what is made, given and refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    Handle,
    LRNDescriptor,
    TensorDescriptor,
    raw,
)

X = (2, 6, 4, 5)


@pytest.fixture
def lrn() -> Any:
    with LRNDescriptor(3, alpha=0.7, beta=0.5, k=1.5) as made:
        yield made


def random(seed: int, *shape: int, layout: Any = None, dtype: Any = np.float32) -> DeviceTensor:
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return DeviceTensor.from_numpy(values, layout=layout)


def by_channels(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64) ** 2, ((0, 0), (1, 1), (0, 0), (0, 0)))
    sums = padded[:, :-2] + padded[:, 1:-1] + padded[:, 2:]
    return x / np.sqrt(1.5 + 0.7 / 3 * sums)


def by_space(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64) ** 2, ((0, 0), (0, 0), (1, 1), (1, 1)))
    height, width = x.shape[2:]
    sums = sum(padded[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3))
    return x / np.sqrt(1.5 + 0.7 / 9 * sums)


class TestDescriptor:
    def test_defaults_are_cudnns(self) -> None:
        with LRNDescriptor() as made:
            untouched = raw.cudnnLRNDescriptor_t()
            raw.cudnnCreateLRNDescriptor(untouched)
            from ctypes import c_double, c_uint

            n, alpha, beta, k = c_uint(), c_double(), c_double(), c_double()
            raw.cudnnGetLRNDescriptor(untouched, n, alpha, beta, k)
            raw.cudnnDestroyLRNDescriptor(untouched)
            assert (made.n, made.alpha, made.beta, made.k) == (
                n.value,
                alpha.value,
                beta.value,
                k.value,
            )


class TestCrossChannel:
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_result_is_made_like_x(self, handle: Handle, lrn: Any, layout: str) -> None:
        x = random(0, *X, layout=layout)
        y = cudnn.lrn_cross_channel_forward(handle, x, lrn)
        assert (y.shape, y.layout, y.dtype) == (X, layout, np.float32)
        np.testing.assert_allclose(y.numpy(), by_channels(x.numpy()), rtol=1e-5, atol=1e-6)
        dx = cudnn.lrn_cross_channel_backward(handle, lrn, x=x, y=y, dy=x)
        assert (dx.shape, dx.layout, dx.dtype) == (X, layout, np.float32)

    def test_one_spatial_dimension(self, handle: Handle, lrn: Any) -> None:
        x = random(0, 2, 6, 5)
        y = cudnn.lrn_cross_channel_forward(handle, x, lrn)
        assert y.shape == (2, 6, 5)
        expected = by_channels(x.numpy()[:, :, None])[:, :, 0]
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-6)

    def test_buffers_with_descriptors_and_blending(self, handle: Handle, lrn: Any) -> None:
        x, y = random(0, *X), random(1, *X)
        prior = y.numpy()
        with TensorDescriptor(X) as desc:
            result = cudnn.lrn_cross_channel_forward(
                handle, x.ptr, lrn, y, alpha=2, beta=-1, x_desc=desc, y_desc=desc
            )
        assert result is y
        expected = 2 * by_channels(x.numpy()) - prior
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-5)


class TestDivisive:
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    def test_results_are_made_like_x(self, handle: Handle, lrn: Any, layout: str) -> None:
        x = random(0, *X, layout=layout)
        y = cudnn.divisive_normalization_forward(handle, x, lrn)
        assert (y.shape, y.layout) == (X, layout)
        np.testing.assert_allclose(y.numpy(), by_space(x.numpy()), rtol=1e-5, atol=1e-6)
        dx, dmeans = cudnn.divisive_normalization_backward(handle, lrn, x=x, dy=x)
        assert dx.layout == dmeans.layout == layout
        only = cudnn.divisive_normalization_backward(handle, lrn, x=x, dy=x, with_dmeans=False)
        assert only.dmeans is None
        np.testing.assert_allclose(only.dx.numpy(), dx.numpy(), rtol=1e-5, atol=1e-6)

    def test_given_means_and_temporaries(self, handle: Handle, lrn: Any) -> None:
        x, means = random(0, *X), DeviceTensor.full(X, 0, "float32")
        temp, y = random(1, *X), random(2, *X)
        with DeviceBuffer(x.nbytes) as temp2:
            result = cudnn.divisive_normalization_forward(
                handle, x, lrn, y, means=means, temp=temp, temp2=temp2
            )
            assert result is y
            np.testing.assert_allclose(y.numpy(), by_space(x.numpy()), rtol=1e-5, atol=1e-6)

    def test_one_spatial_dimension_has_a_height_of_one(self, handle: Handle, lrn: Any) -> None:
        x = random(0, 2, 6, 5)
        y = cudnn.divisive_normalization_forward(handle, x, lrn)
        assert y.shape == (2, 6, 5)
        expected = by_space(x.numpy()[:, :, None])[:, :, 0]
        np.testing.assert_allclose(y.numpy(), expected, rtol=1e-5, atol=1e-6)
