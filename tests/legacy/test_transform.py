"""Padding, cropping, folding and other element-wise operations through layer 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import reference
from cudnn_ctypes.errors import BadParamError, NotSupportedError

ZEROS = (0, 0, 0, 0)
X = np.arange(1.0, 2 * 3 * 4 * 6 + 1, dtype=np.float32).reshape(2, 3, 4, 6)


def tensor(array: np.ndarray, **how: Any) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.from_numpy(np.ascontiguousarray(array), **how)


class TestDescriptor:
    def test_nothing_left(self, handle: cudnn.Handle) -> None:
        with (
            cudnn.TensorTransformDescriptor((0, 0, -4, 0)) as transform,
            cudnn.TensorDescriptor((2, 3, 4, 5)) as x_desc,
            pytest.raises(BadParamError),
        ):
            transform.destination(x_desc)


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("channels", [4, 5])
def test_unfolding_of_channels_inside(handle: cudnn.Handle, channels: int, layout: str) -> None:
    x = np.random.default_rng(channels).standard_normal((2, channels, 4, 5)).astype(np.float32)
    expected = reference.transform_tensor(
        x, reference.TensorTransform((0,) * 4, (0,) * 4, (1, 2), "unfold")
    )
    with (
        cudnn.DeviceTensor.from_numpy(x, layout="NHWC") as there,
        cudnn.TensorTransformDescriptor(
            (0,) * 4, fold=(1, 2), direction="unfold", layout=layout
        ) as unfold,
        cudnn.transform_tensor_ex(handle, there, unfold) as y,
    ):
        np.testing.assert_array_equal(y.numpy(), expected)


def test_no_other_integers(handle: cudnn.Handle) -> None:
    with tensor(X.astype(np.int32)) as x:
        for call in (
            lambda: cudnn.transform_tensor(handle, x, layout="NHWC"),
            lambda: cudnn.set_tensor(handle, x, 3),
            lambda: cudnn.scale_tensor(handle, x, 3),
        ):
            with pytest.raises(NotSupportedError):
                call()
