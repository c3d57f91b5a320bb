"""``LRNDescriptor``, and LRN and divisive normalization: what is made, given and refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, LRNDescriptor

X = (2, 6, 4, 5)


@pytest.fixture
def lrn() -> Any:
    with LRNDescriptor(3, alpha=0.7, beta=0.5, k=1.5) as made:
        yield made


def random(seed: int, *shape: int, layout: Any = None, dtype: Any = np.float32) -> DeviceTensor:
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return DeviceTensor.from_numpy(values, layout=layout)


def by_space(x: np.ndarray) -> np.ndarray:
    padded = np.pad(x.astype(np.float64) ** 2, ((0, 0), (0, 0), (1, 1), (1, 1)))
    height, width = x.shape[2:]
    sums = sum(padded[:, :, i : i + height, j : j + width] for i in range(3) for j in range(3))
    return x / np.sqrt(1.5 + 0.7 / 9 * sums)


class TestDivisive:
    def test_given_means_and_temporaries(self, handle: Handle, lrn: Any) -> None:
        x, means = random(0, *X), DeviceTensor.full(X, 0, "float32")
        temp, y = random(1, *X), random(2, *X)
        with DeviceBuffer(x.nbytes) as temp2:
            result = cudnn.divisive_normalization_forward(
                handle, x, lrn, y, means=means, temp=temp, temp2=temp2
            )
            assert result is y
            np.testing.assert_allclose(y.numpy(), by_space(x.numpy()), rtol=1e-5, atol=1e-6)
