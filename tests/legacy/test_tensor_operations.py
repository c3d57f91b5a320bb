"""Copy, add, set, scale and element-wise operations through layer 2."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes.errors import NotSupportedError

A = np.random.default_rng(0).integers(-9, 10, (2, 3, 4, 5)).astype(np.float32)


def tensor(array: np.ndarray, **how: Any) -> cudnn.DeviceTensor:
    return cudnn.DeviceTensor.from_numpy(np.ascontiguousarray(array), **how)


class TestTransform:
    def test_no_other_integers(self, handle: cudnn.Handle) -> None:
        with tensor(A.astype(np.int32)) as x:
            for call in (
                lambda: cudnn.transform_tensor(handle, x, layout="NHWC"),
                lambda: cudnn.set_tensor(handle, x, 3),
                lambda: cudnn.scale_tensor(handle, x, 3),
            ):
                with pytest.raises(NotSupportedError):
                    call()
