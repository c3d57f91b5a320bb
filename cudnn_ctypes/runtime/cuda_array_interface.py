"""Importing through ``__cuda_array_interface__`` (version 2 or 3)."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudnn_ctypes.dtypes import as_data_type, storage_bytes
from cudnn_ctypes.raw import mode

from . import cuda
from .borrowed import Borrowed, Imported, c_strides, not_negative
from .layout import extent
from .stream import as_stream_pointer, order

__all__ = ["from_cuda_array_interface"]


def from_cuda_array_interface(obj: Any, *, stream: Any = None) -> Imported:
    """Import a tensor from an object with ``__cuda_array_interface__``, for use on `stream`.

    `stream` waits for the stream that the exporter names. Raises as `from_dlpack` does.
    """
    if mode.reference_device_active:
        raise TypeError(
            f"{type(obj).__module__}.{type(obj).__name__} is not in host memory, but the reference "
            f"device is active"
        )
    interface = obj.__cuda_array_interface__
    if interface.get("mask") is not None:
        raise BufferError("a masked array cannot be imported")
    dtype = np.dtype(interface["typestr"])
    data_type = as_data_type(dtype)
    shape = tuple(interface["shape"])
    bytes_per_step = interface.get("strides")
    if bytes_per_step is None:
        strides = c_strides(shape)
    elif any(step % dtype.itemsize for step in bytes_per_step):
        raise BufferError(f"strides of {bytes_per_step} bytes are no multiples of {dtype}")
    else:
        strides = not_negative(tuple(step // dtype.itemsize for step in bytes_per_step))
    ptr, readonly = interface["data"]
    ptr = ptr or 0
    ordinal = _device_of(ptr)
    producer = interface.get("stream")
    if producer is not None:
        with cuda.on(ordinal):
            order(before=as_stream_pointer(producer), after=as_stream_pointer(stream))
    memory = Borrowed(
        ptr,
        storage_bytes(data_type, extent(shape, strides)),
        device_id=ordinal,
        on_host=False,
        stream=stream,
        keeper=obj,
    )
    return Imported(memory, shape, strides, data_type, bool(readonly))


def _device_of(ptr: int) -> int:
    with cuda.current_context() as device:
        if ptr == 0:
            return int(device.device_id)
        attribute = cuda.driver().CUpointer_attribute.CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
        return int(cuda.call("cuPointerGetAttribute", attribute, ptr))
