"""Tensors of other libraries, by DLPack and ``__cuda_array_interface__``.

Nothing is copied. An export keeps our memory alive until the other library lets go of it; an import
keeps theirs.
"""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

import numpy as np

from cudnn_ctypes.dtypes import as_data_type, element_bits, storage_bytes
from cudnn_ctypes.raw import host_blocks, mode
from cudnn_ctypes.raw.dlpack import (
    READ_ONLY,
    SUBBYTE_PADDED,
    DLDataType,
    DLDataTypeCode,
    DLDevice,
    DLManagedTensorVersioned,
    DLTensor,
    device_of,
    managed_tensor,
    request_capsule,
)
from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.raw.strides import extent
from cudnn_ctypes.raw.torch_forms import unreadable
from cudnn_ctypes.raw.values import described
from cudnn_ctypes.resource import Uncopied

from . import cuda
from .allocation import Allocation
from .interface import Runtime
from .layout import Shape
from .stream import as_stream_pointer


class Borrowed(Uncopied):
    """Memory of another library, kept alive by `keeper` (a capsule or the object itself)."""

    def __init__(
        self, ptr: int, nbytes: int, device_id: int, runtime: Runtime, stream: Any, keeper: Any
    ) -> None:
        self.ptr = ptr
        self.nbytes = nbytes
        self.device_id = device_id
        self.runtime = runtime
        self.stream: int = 0 if stream is None else as_stream_pointer(stream)
        self._keeper = (keeper, stream)

    @property
    def on_host(self) -> bool:
        """True for memory of the reference device."""
        return self.runtime.on_host

    @property
    def allocation(self) -> Borrowed:
        """Itself: what keeps the memory alive."""
        return self


class Imported(NamedTuple):
    """A tensor of another library: its memory, and how to read it."""

    memory: Borrowed
    shape: Shape
    strides: Shape
    data_type: cudnnDataType_t
    readonly: bool


def _c_strides(shape: Shape) -> Shape:
    strides = [1] * len(shape)
    for axis in range(len(shape) - 1, 0, -1):
        strides[axis - 1] = strides[axis] * max(shape[axis], 1)
    return tuple(strides)


def _not_negative(strides: Shape) -> Shape:
    if any(stride < 0 for stride in strides):
        raise BufferError(f"negative strides {strides} are not supported; copy the tensor first")
    return strides


# --- DLPack ---

# cuDNN's types to DLPack's (code, bits).
_CODES: dict[cudnnDataType_t, tuple[DLDataTypeCode, int]] = {
    as_data_type(name): (code, bits)
    for name, code, bits in (
        ("float16", DLDataTypeCode.FLOAT, 16),
        ("float32", DLDataTypeCode.FLOAT, 32),
        ("float64", DLDataTypeCode.FLOAT, 64),
        ("bfloat16", DLDataTypeCode.BFLOAT, 16),
        ("fp8_e4m3", DLDataTypeCode.FLOAT8_E4M3FN, 8),
        ("fp8_e5m2", DLDataTypeCode.FLOAT8_E5M2, 8),
        ("fp8_e8m0", DLDataTypeCode.FLOAT8_E8M0FNU, 8),
        ("fp4_e2m1", DLDataTypeCode.FLOAT4_E2M1FN, 4),
        ("int4", DLDataTypeCode.INT, 4),
        ("int8", DLDataTypeCode.INT, 8),
        ("int32", DLDataTypeCode.INT, 32),
        ("int64", DLDataTypeCode.INT, 64),
        ("uint4", DLDataTypeCode.UINT, 4),
        ("uint8", DLDataTypeCode.UINT, 8),
        ("uint32", DLDataTypeCode.UINT, 32),
        ("bool", DLDataTypeCode.BOOL, 8),
        ("boolean", DLDataTypeCode.BOOL, 1),
        ("complex64", DLDataTypeCode.COMPLEX, 64),
        ("complex128", DLDataTypeCode.COMPLEX, 128),
        # Vectors are exported as a last dimension.
        ("int8x4", DLDataTypeCode.INT, 8),
        ("int8x32", DLDataTypeCode.INT, 8),
        ("uint8x4", DLDataTypeCode.UINT, 8),
    )
}
_DATA_TYPES = {(int(code), bits): data_type for data_type, (code, bits) in reversed(_CODES.items())}


# Stands in for the NULL of an empty tensor, which NumPy 1 does not take.
_NOWHERE = 256


class _Exported:
    """Base of the array behind a capsule; it keeps the owner of the memory alive."""

    def __init__(self, owner: Any, interface: dict[str, Any]) -> None:
        self.owner = owner
        self.__array_interface__ = interface


def export_capsule(
    memory: Any,
    ptr: int,
    shape: Shape,
    strides: Shape,
    data_type: cudnnDataType_t,
    *,
    readonly: bool,
    versioned: bool,
) -> object:
    """A DLPack capsule for the tensor at `ptr` in `memory`; strides in single elements.

    NumPy makes it, from an array over that address which nobody reads: its capsules are freed
    correctly by C code, whenever and by whichever thread. Only the device and the type, which
    NumPy does not know, are written into it here. Before NumPy 2.1 they are unversioned, which
    every consumer takes.
    """
    itemsize = (element_bits(data_type) + 7) // 8
    # The unsigned or complex type of that size stands in for types that NumPy does not export.
    stand_in = "<c16" if itemsize == 16 else f"<u{itemsize}"
    owner = memory.allocation
    exported = _Exported(
        owner,
        {
            "version": 3,
            "shape": shape,
            "typestr": stand_in,
            "data": (ptr or _NOWHERE, readonly),
            "strides": tuple(itemsize * stride for stride in strides),
        },
    )
    array = np.asarray(exported)
    capsule = request_capsule(array, None) if versioned else array.__dlpack__()
    if isinstance(owner, Allocation):
        owner.exports.add(exported)
        host_blocks.written(owner.ptr, owner.nbytes)  # by whom it is handed to, for all we know
    managed = managed_tensor(capsule)
    code, bits = _CODES[data_type]
    managed.dl_tensor.data = ptr or None
    managed.dl_tensor.dtype = DLDataType(code, bits, 1)
    managed.dl_tensor.device = DLDevice(memory.runtime.dlpack_devices[0], memory.device_id)
    if isinstance(managed, DLManagedTensorVersioned) and code > DLDataTypeCode.BOOL:
        managed.minor = max(managed.minor, 1)  # the version that brought these codes
    return capsule


def is_masked(obj: Any) -> bool:
    """Whether it is a masked array of NumPy, by a module that takes 20 ms to load."""
    masked = sys.modules.get("numpy.ma")
    return masked is not None and isinstance(obj, masked.MaskedArray)


def from_dlpack(obj: Any, *, stream: Any = None) -> Imported:
    """Import a tensor from an object with ``__dlpack__``, for use on `stream`.

    Raises TypeError if it exports nothing, or is in host memory, or on the reference device in
    device memory; or if cuDNN has no such data type. Raises BufferError if the exporter refuses, or
    its memory cannot be described with element strides.
    """
    if isinstance(obj, type) or is_masked(obj) or not hasattr(obj, "__dlpack__"):
        raise TypeError(f"expected a tensor with __dlpack__, got {described(obj)}")
    if why := unreadable(obj):
        raise BufferError(why)
    device_type, ordinal = device_of(obj)
    if device_type not in mode.runtime.dlpack_devices:
        raise mode.runtime.refused(obj, "", f"DLPack device type {device_type}")
    capsule = mode.runtime.request_capsule(obj, ordinal, stream)
    managed = managed_tensor(capsule)
    flags = managed.flags if isinstance(managed, DLManagedTensorVersioned) else 0
    tensor = managed.dl_tensor
    data_type = _data_type(tensor.dtype)
    if element_bits(data_type) < 8 and flags & SUBBYTE_PADDED:
        raise BufferError("elements of less than a byte are padded here; cuDNN's are packed")
    shape, strides = _shape_and_strides(tensor)
    memory = Borrowed(
        tensor.address,
        storage_bytes(data_type, extent(shape, strides)),
        device_id=ordinal,
        runtime=mode.runtime,
        stream=stream,
        keeper=capsule,
    )
    return Imported(memory, shape, strides, data_type, bool(flags & READ_ONLY))


def _data_type(dtype: DLDataType) -> cudnnDataType_t:
    data_type = _DATA_TYPES.get((dtype.code, dtype.bits)) if dtype.lanes == 1 else None
    if data_type is None:
        raise TypeError(
            f"cuDNN has no data type for DLPack's code {dtype.code} with {dtype.bits} bits and "
            f"{dtype.lanes} lanes"
        )
    return data_type


def _shape_and_strides(tensor: DLTensor) -> tuple[Shape, Shape]:
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    if tensor.strides and tensor.ndim:
        strides = tuple(tensor.strides[: tensor.ndim])
    else:
        strides = _c_strides(shape)
    return shape, _not_negative(strides)


# --- __cuda_array_interface__ ---


def from_cuda_array_interface(obj: Any, *, stream: Any = None) -> Imported:
    """Import a tensor from an object with ``__cuda_array_interface__``, for use on `stream`.

    `stream` waits for the stream that the exporter names. Raises as `from_dlpack` does.
    """
    interface = mode.runtime.cuda_array_interface(obj)
    if interface is None:
        raise mode.runtime.refused(obj, "", "a GPU")
    if interface.get("mask") is not None:
        raise BufferError("a masked array cannot be imported")
    dtype = np.dtype(interface["typestr"])
    data_type = as_data_type(dtype)
    shape = tuple(interface["shape"])
    bytes_per_step = interface.get("strides")
    if bytes_per_step is None:
        strides = _c_strides(shape)
    elif any(step % dtype.itemsize for step in bytes_per_step):
        raise BufferError(f"strides of {bytes_per_step} bytes are no multiples of {dtype}")
    else:
        strides = _not_negative(tuple(step // dtype.itemsize for step in bytes_per_step))
    ptr, readonly = interface["data"]
    ptr = ptr or 0
    ordinal = _device_of(ptr)
    producer = interface.get("stream")
    if producer is not None:
        with cuda.on(ordinal):
            cuda.order(before=as_stream_pointer(producer), after=as_stream_pointer(stream))
    memory = Borrowed(
        ptr,
        storage_bytes(data_type, extent(shape, strides)),
        device_id=ordinal,
        runtime=mode.runtime,
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
