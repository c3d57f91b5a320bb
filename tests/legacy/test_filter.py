"""``FilterDescriptor`` against what was set, and the library itself."""

from __future__ import annotations

import pytest

from cudnn_ctypes import FilterDescriptor, raw
from cudnn_ctypes.runtime import DeviceTensor


def test_four_dimensions_read_back() -> None:
    with FilterDescriptor((2, 3, 4, 5), "float64", layout="NHWC") as w:
        assert w.get_4d() == {
            "data_type": raw.CUDNN_DATA_DOUBLE,
            "layout": raw.CUDNN_TENSOR_NHWC,
            "k": 2,
            "c": 3,
            "h": 4,
            "w": 5,
        }


class TestOfATensor:
    def test_gaps_are_refused(self, reference_device: None) -> None:
        tensor = DeviceTensor.empty((8, 4, 3, 3), "float32", strides=(72, 18, 6, 2))
        with tensor, pytest.raises(ValueError, match="dense"):
            FilterDescriptor.of(tensor)
