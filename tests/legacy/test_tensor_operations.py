"""Copy, add, set, scale and element-wise operations through layer 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceTensor,
    Handle,
    scale_tensor,
    set_tensor,
    transform_tensor,
)
from cudnn_ctypes.errors import NotSupportedError

A = np.random.default_rng(0).integers(-9, 10, (2, 3, 4, 5)).astype(np.float32)


def tensor(array: np.ndarray, **how: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ascontiguousarray(array), **how)


class TestTransform:
    def test_no_other_integers(self, handle: Handle) -> None:
        with tensor(A.astype(np.int32)) as x:
            for call in (
                lambda: transform_tensor(handle, x, layout="NHWC"),
                lambda: set_tensor(handle, x, 3),
                lambda: scale_tensor(handle, x, 3),
            ):
                with pytest.raises(NotSupportedError):
                    call()
