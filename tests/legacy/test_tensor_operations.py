"""Copy, add, set, scale and element-wise operations through layer 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    OpTensorDescriptor,
    op_tensor,
    raw,
    scale_tensor,
    set_tensor,
    transform_tensor,
)
from cudnn_ctypes.errors import NotSupportedError

A = np.random.default_rng(0).integers(-9, 10, (2, 3, 4, 5)).astype(np.float32)
B = np.random.default_rng(1).integers(-9, 10, (2, 3, 4, 5)).astype(np.float32)


def tensor(array: np.ndarray, **how: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ascontiguousarray(array), **how)


class TestTransform:
    def test_layouts(self, handle: Handle) -> None:
        with tensor(A) as x:
            y = transform_tensor(handle, x, layout="NHWC")
            assert (y.layout, y.shape) == ("NHWC", x.shape)
            np.testing.assert_array_equal(y.numpy(), A)
            back = transform_tensor(handle, y)
            assert back.layout == "NHWC"
            # These enumerators are 0.
            assert transform_tensor(handle, y, layout=raw.CUDNN_TENSOR_NCHW).layout == "NCHW"
            half = y.astype("float16")
            assert op_tensor(handle, half, half, "add").dtype == np.float16
            for wide in (
                transform_tensor(handle, half, data_type=raw.CUDNN_DATA_FLOAT),
                op_tensor(handle, half, half, "add", data_type=raw.CUDNN_DATA_FLOAT),
            ):
                assert wide.dtype == np.float32
            with tensor(np.zeros_like(A), strides=(90, 30, 6, 1)) as strided:
                assert transform_tensor(handle, y, strided, alpha=2) is strided
                np.testing.assert_array_equal(strided.numpy(), 2 * A)

    def test_int8_to_vectors_and_back(self, handle: Handle) -> None:
        values = np.random.default_rng(0).integers(-128, 128, (2, 8, 3, 4)).astype(np.int8)
        with tensor(values) as x:
            y = transform_tensor(handle, x, layout="NCHW_VECT_C4", data_type="int8x4")
            assert y.layout == "NCHW_VECT_C4"
            np.testing.assert_array_equal(y.numpy(), values)
            back = transform_tensor(handle, y, layout="NCHW", data_type="int8")
            np.testing.assert_array_equal(back.numpy(), values)

    def test_no_other_integers(self, handle: Handle) -> None:
        with tensor(A.astype(np.int32)) as x:
            for call in (
                lambda: transform_tensor(handle, x, layout="NHWC"),
                lambda: set_tensor(handle, x, 3),
                lambda: scale_tensor(handle, x, 3),
            ):
                with pytest.raises(NotSupportedError):
                    call()


class TestOpTensor:
    def test_broadcasting(self, handle: Handle) -> None:
        for shape in ((1, 3, 1, 1), (1, 1, 4, 5), (1, 1, 1, 1), (2, 1, 1, 5)):
            part = np.random.default_rng(2).integers(-9, 10, shape).astype(np.float32)
            with tensor(A) as a, tensor(part) as b:
                np.testing.assert_array_equal(
                    op_tensor(handle, a, b, "max").numpy(), np.maximum(A, part)
                )
        with tensor(A) as a, tensor(np.array([1, 2, 3], np.float32)) as b:
            np.testing.assert_array_equal(
                op_tensor(handle, a, b, "add").numpy(), A + np.array([1, 2, 3])[:, None, None]
            )

    @pytest.mark.parametrize("nan", ["propagate_nan", "not_propagate_nan"])
    @pytest.mark.parametrize("op", ["min", "max"])
    def test_nan(self, handle: Handle, op: str, nan: str) -> None:
        first = np.array([[np.nan, 1, 3]], np.float32)
        second = np.array([[2, np.nan, 3]], np.float32)
        described = OpTensorDescriptor(op, nan_propagation=nan)
        with described, tensor(first) as a, tensor(second) as b:
            result = op_tensor(handle, a, b, described).numpy()
        expected = [[np.nan, np.nan, 3]] if nan == "propagate_nan" else [[2, 1, 3]]
        np.testing.assert_array_equal(result, expected)
