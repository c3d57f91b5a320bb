"""Copy, add, set, scale and element-wise operations through layer 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    op_tensor,
    raw,
    scale_tensor,
    set_tensor,
    transform_tensor,
)
from cudnn_ctypes.errors import NotSupportedError

A = np.random.default_rng(0).integers(-9, 10, (2, 3, 4, 5)).astype(np.float32)


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

    def test_no_other_integers(self, handle: Handle) -> None:
        with tensor(A.astype(np.int32)) as x:
            for call in (
                lambda: transform_tensor(handle, x, layout="NHWC"),
                lambda: set_tensor(handle, x, 3),
                lambda: scale_tensor(handle, x, 3),
            ):
                with pytest.raises(NotSupportedError):
                    call()
