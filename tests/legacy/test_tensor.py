"""``TensorDescriptor`` against NumPy's strides and the library itself."""

from __future__ import annotations

from cudnn_ctypes import TensorDescriptor, raw


def test_four_dimensions_read_back() -> None:
    with TensorDescriptor() as x:
        x.set_4d_ex("float16", 2, 3, 5, 7, 211, 67, 11, 1)
        assert x.get_4d() == {
            "data_type": raw.CUDNN_DATA_HALF,
            "n": 2,
            "c": 3,
            "h": 5,
            "w": 7,
            "n_stride": 211,
            "c_stride": 67,
            "h_stride": 11,
            "w_stride": 1,
        }
