"""Batch normalization of layer 2: what is made, given and refused; numbers are tested elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import (
    ActivationDescriptor,
    BadParamError,
    DeviceTensor,
    Handle,
    NotSupportedError,
    TensorDescriptor,
    raw,
)

X, C = (3, 4, 5, 2), 4
EPSILON = 1e-3


def random(seed: int, *shape: int, dtype: Any = np.float32, layout: Any = None) -> DeviceTensor:
    values = np.random.default_rng(seed).standard_normal(shape).astype(dtype)
    return DeviceTensor.from_numpy(values, layout=layout)


def nan(*shape: int, dtype: str = "float32", **options: Any) -> DeviceTensor:
    return DeviceTensor.full(shape, np.nan, dtype, **options)


def normalized(x: np.ndarray, axes: tuple[int, ...] = (0, 2, 3)) -> np.ndarray:
    x = x.astype(np.float64)
    deviation = np.sqrt(x.var(axes, keepdims=True) + EPSILON)
    return (x - x.mean(axes, keepdims=True)) / deviation


class TestDerivedDescriptors:
    @pytest.mark.parametrize("data_type", ["float32", "float64", "float16", "bfloat16"])
    @pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
    @pytest.mark.parametrize("shape", [(3, 4, 5, 2), (3, 4, 5, 2, 6)])
    def test_shapes_and_types(self, shape: Any, layout: str, data_type: str) -> None:
        per_channel = (1, 4, *(1,) * (len(shape) - 2))
        wanted_type = "FLOAT" if data_type != "float64" else "DOUBLE"
        with TensorDescriptor(shape, data_type, layout=layout) as x_desc:
            for mode, wanted in (
                ("per_activation", (1, *shape[1:])),
                ("spatial", per_channel),
                ("spatial_persistent", per_channel),
            ):
                with cudnn.derive_bn_tensor_descriptor(x_desc, mode) as derived:
                    assert (derived.shape, derived.layout) == (wanted, "NCHW")
                    assert derived.data_type.name == f"CUDNN_DATA_{wanted_type}"
            for mode, wanted in (
                ("per_activation", (1, *shape[1:])),
                ("per_channel", per_channel),
            ):
                both = cudnn.derive_norm_tensor_descriptor(x_desc, mode)
                assert both[0] == both[1]
                assert both[0].shape == wanted
                for derived in both:
                    derived.close()

    def test_refusals(self) -> None:
        with TensorDescriptor() as unset, TensorDescriptor(X) as x_desc:
            with pytest.raises(BadParamError):
                cudnn.derive_bn_tensor_descriptor(unset)
            with pytest.raises(NotSupportedError):
                cudnn.derive_norm_tensor_descriptor(x_desc, groups=2)
            with pytest.raises(ValueError, match=r"^mode: expected one of 'per_activation'"):
                cudnn.derive_bn_tensor_descriptor(x_desc, "layer")
            with pytest.raises(TypeError, match=r"^mode: expected a cudnnNormMode_t"):
                cudnn.derive_norm_tensor_descriptor(x_desc, raw.CUDNN_BATCHNORM_SPATIAL)


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

    def test_nothing_is_saved(self, handle: Handle) -> None:
        x, scale = random(0, *X), random(1, C)
        forward = cudnn.batch_normalization_forward_training(
            handle, x, scale, scale, save=False, average_factor=1
        )
        assert forward.saved_mean is None
        assert forward.saved_inv_variance is None

    def test_parameters_in_their_full_shape(self, handle: Handle) -> None:
        x, scale = random(0, *X), random(1, 1, C, 1, 1)
        forward = cudnn.batch_normalization_forward_training(
            handle, x, scale, scale, average_factor=1
        )
        assert forward.saved_mean.shape == (1, C, 1, 1)

    def test_inference_in_place(self, handle: Handle) -> None:
        x, one = random(0, *X), DeviceTensor.full((C,), 1, "float32")
        values = x.numpy()
        y = cudnn.batch_normalization_forward_inference(
            handle, x, one, one, one, one, x, epsilon=0.0
        )
        assert y is x
        np.testing.assert_allclose(x.numpy(), values, rtol=1e-5, atol=1e-6)


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
