"""``FilterDescriptor`` against what was set, and the library itself."""

from __future__ import annotations

import pytest

from cudnn_ctypes import FilterDescriptor
from cudnn_ctypes.runtime import DeviceTensor


class TestOfATensor:
    def test_gaps_are_refused(self, reference_device: None) -> None:
        tensor = DeviceTensor.empty((8, 4, 3, 3), "float32", strides=(72, 18, 6, 2))
        with tensor, pytest.raises(ValueError, match="dense"):
            FilterDescriptor.of(tensor)
