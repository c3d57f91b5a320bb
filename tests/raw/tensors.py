"""A tensor descriptor of four dimensions, set and read through raw."""

from __future__ import annotations

from ctypes import c_int
from typing import Any

from cudnn_ctypes import raw


def set_4d(descriptor: Any, *shape: Any) -> Any:
    return raw.cudnnSetTensor4dDescriptor(
        descriptor, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, *shape
    )


def dimensions(descriptor: Any) -> list[int]:
    data_type, count, dims, strides = c_int(-1), c_int(-1), (c_int * 8)(), (c_int * 8)()
    raw.cudnnGetTensorNdDescriptor(descriptor, 8, data_type, count, dims, strides)
    return dims[: count.value]
