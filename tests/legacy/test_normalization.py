"""Batch normalization of layer 2: what is made, given and refused; numbers are tested elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import ActivationDescriptor, DeviceTensor, Handle, TensorDescriptor

X, C = (3, 4, 5, 2), 4


def random(seed: int, *shape: int, dtype: Any = np.float32, layout: Any = None) -> DeviceTensor:
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return DeviceTensor.from_numpy(values, layout=layout)


def nan(*shape: int, dtype: str = "float32", **options: Any) -> DeviceTensor:
    return DeviceTensor.full(shape, np.nan, dtype, **options)


class TestWhatIsMade:
    def test_training(self, handle: Handle) -> None:
        x, dy = random(0, *X, layout="NHWC"), random(1, *X, layout="NHWC")
        scale, bias = random(2, C), random(3, C)
        forward = cudnn.batch_normalization_forward_training(
            handle, x, scale, bias, average_factor=1
        )
        assert forward.y.shape == X
        assert forward.y.layout == "NHWC"
        assert forward.saved_mean.shape == forward.saved_inv_variance.shape == (C,)
        assert forward.reserve_space is None
        back = cudnn.batch_normalization_backward(handle, x=x, dy=dy, scale=scale)
        assert back.dx.layout == "NHWC"
        assert (back.dscale.shape, back.dbias.shape, back.dz) == ((C,), (C,), None)
        np.testing.assert_allclose(back.dbias.numpy(), dy.numpy().sum((0, 2, 3)), rtol=1e-5)


class TestFused:
    @pytest.mark.parametrize("adds", [False, True])
    def test_sizes(self, handle: Handle, adds: bool) -> None:
        with (
            TensorDescriptor(X, "float16", layout="NHWC") as x_desc,
            ActivationDescriptor("relu") as relu,
        ):
            sizes = cudnn.batch_normalization_ex_sizes(handle, x_desc, activation=relu, adds=adds)
            if adds:  # else cuDNN has no reserve space
                assert sizes.reserve_space >= 15
            assert min(sizes[:2]) > 0
            others = cudnn.normalization_sizes(
                handle, x_desc, algorithm="persist", activation="relu", adds=adds
            )
            assert others == sizes
