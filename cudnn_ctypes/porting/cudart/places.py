"""The memory of an argument, with a check that the host or the device may access it.

On a GPU an address is passed on: CUDA checks it. On the reference device it is compared with the
living blocks. A wrong address is refused like on a GPU, with a more detailed message.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...arguments import integer
from ...raw import host_blocks, mode
from ...raw.ctypes_support import OpaquePointer
from ...raw.host_blocks import Block
from ...raw.memory import memory_pointer, on_gpu
from ...raw.typed_memory import by_class
from ...runtime import copy
from .function import fail, gpu_call
from .types import cudaError_t

__all__ = [
    "Allocated",
    "allocated",
    "count",
    "device_address",
    "host_address",
    "require_host",
]

Use = Literal["read", "write"]


@dataclass(frozen=True, slots=True)
class Allocated:
    """A block of the reference device, and the function that allocated it: "cudaMalloc", ..."""

    block: Block
    function: str

    @property
    def for_host(self) -> bool:
        """Whether the host may access the block."""
        return self.function in _FOR_HOST


_FOR_HOST = {"cudaMallocHost", "cudaHostAlloc", "cudaMallocManaged"}

allocated: dict[int, Allocated] = {}
"""The allocated and not freed blocks of the reference device, by address."""


def count(function: str, name: str, value: Any) -> int:
    """A number of bytes or rows, 0 or more."""
    number = integer(f"{function}: {name}", value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"{function}: {name}: expected a number of bytes, got {number}")
    return number


def device_address(function: str, name: str, value: Any, nbytes: int, use: Use) -> int:
    """The address of the device memory in the argument `name`, of at least `nbytes` bytes.

    Raises
    ------
    TypeError
        If the argument is an object of the host.
    ValueError
        If it is an object with fewer bytes.
    CudaError
        On the reference device, if the memory is not allocated.
    """
    if getattr(value, "_obj", None) is not None:
        raise TypeError(f"{function}: {name}: byref(...) is host memory; device memory is wanted")
    try:
        address = memory_pointer(value, name) or 0
    except (TypeError, ValueError) as error:
        raise type(error)(f"{function}: {str(error).partition(';')[0]}") from None
    _check_size(function, name, by_class.of(value).nbytes(value), nbytes, use)
    if mode.reference_device_active and nbytes:
        _check(function, name, address, nbytes, use)
    return address


def host_address(
    function: str, name: str, value: Any, nbytes: int, use: Use, *, rows: bool = False
) -> int:
    """The address of the host memory in the argument `name`, of at least `nbytes` bytes.

    With `rows`, an array may be the left part of a wider array, whose rows are further apart.

    Raises
    ------
    TypeError
        If the argument is device memory, or no memory.
    ValueError
        If the memory is too small, read-only but written, or not contiguous.
    CudaError
        On the reference device, if an address is not in the host's memory.
    """
    address, size = _host(f"{function}: {name}", value, use, rows)
    _check_size(function, name, size, nbytes, use)
    if mode.reference_device_active and nbytes and size is None:
        require_host(address, nbytes, name, use, function)
    return address


def _check_size(function: str, name: str, size: int | None, nbytes: int, use: Use) -> None:
    """Refuse memory of a known size that is too small."""
    if size is not None and size < nbytes:
        done = "read" if use == "read" else "written"
        raise ValueError(f"{function}: {name} has {size} bytes, and {nbytes} are to be {done}")


def _host(name: str, value: Any, use: Use, rows: bool) -> tuple[int, int | None]:
    """Address and size of host memory; the size is None if only the address is known."""
    if isinstance(value, np.ndarray):
        return _array(name, value, use, rows)
    if isinstance(value, (bool, OpaquePointer)):
        raise _no_host_memory(name, value)
    if value is None or isinstance(value, (int, np.integer)):
        return int(value or 0), None
    if isinstance(value, (ctypes.c_void_p, ctypes._Pointer)):
        return ctypes.cast(value, ctypes.c_void_p).value or 0, None
    if getattr(value, "_obj", None) is not None:  # byref(...), perhaps with an offset
        address = ctypes.cast(value, ctypes.c_void_p).value or 0
        end = ctypes.addressof(value._obj) + ctypes.sizeof(value._obj)
        return address, end - address
    if isinstance(value, _CDATA):
        return ctypes.addressof(value), ctypes.sizeof(value)
    if hasattr(value, "__array_interface__") and not on_gpu(value):
        return _array(name, np.asarray(value), use, rows)
    if on_gpu(value) or not hasattr(value, "__len__") or isinstance(value, (str, list, tuple)):
        raise _no_host_memory(name, value)
    try:
        view = memoryview(value)
    except TypeError:
        raise _no_host_memory(name, value) from None
    if use == "write" and view.readonly:
        raise ValueError(f"{name}: a read-only {type(value).__name__} is to be written")
    array = copy.host_bytes(view)
    return array.ctypes.data, array.nbytes


_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects


def _no_host_memory(name: str, value: Any) -> TypeError:
    return TypeError(
        f"{name}: expected host memory (a NumPy array, a ctypes object, byref(...) or an "
        f"address), got {type(value).__name__}"
    )


def _array(name: str, array: np.ndarray[Any, Any], use: Use, rows: bool) -> tuple[int, int]:
    """Address of a NumPy array, and its bytes from the first to the last."""
    if array.dtype.hasobject:
        raise TypeError(f"{name}: an array of dtype {array.dtype} has no bytes to copy")
    if use == "write" and not array.flags.writeable:
        raise ValueError(f"{name}: a read-only array is to be written")
    contiguous = array.flags.c_contiguous or array.flags.f_contiguous
    part = array.ndim == 2 and array.strides[0] > 0 and array.strides[1] == array.itemsize
    if not contiguous and not (rows and part):
        raise ValueError(
            f"{name}: the elements of the array do not lie one behind the other; "
            f"np.ascontiguousarray copies it"
        )
    reach = sum((n - 1) * step for n, step in zip(array.shape, array.strides, strict=True))
    return array.ctypes.data, reach + array.itemsize if array.size else 0


def _check(function: str, name: str, address: int, nbytes: int, use: Use) -> None:
    """Refuse memory that is not allocated on the reference device."""
    from cudnn_ctypes.reference.device.memory import check_range
    from cudnn_ctypes.reference.device.registry import Refused

    if not address:
        fail(function, cudaError_t.cudaErrorInvalidValue, f"{name} is NULL")
    try:
        check_range(address, nbytes, name, use)
    except Refused as error:
        fail(function, cudaError_t.cudaErrorInvalidValue, error.reason)


def require_host(
    address: int, nbytes: int, name: str, use: Use, function: str = "DevicePointer"
) -> None:
    """Refuse memory that the host may not access.

    Raises
    ------
    CudaError
    """
    if not mode.reference_device_active:
        attributes = gpu_call("cudaPointerGetAttributes", address)
        if attributes.type.name == "cudaMemoryTypeDevice":
            fail(function, cudaError_t.cudaErrorInvalidValue, _not_for_host(name, hex(address)))
        return
    block = host_blocks.find(address)
    if block is not None and not block.freed_at:
        entry = allocated.get(block.address)
        if entry is None or not entry.for_host:
            reason = _not_for_host(name, str(block))
            fail(function, cudaError_t.cudaErrorInvalidValue, reason)
    _check(function, name, address, nbytes, use)


def _not_for_host(name: str, what: str) -> str:
    return f"{name} is device memory, which the host cannot use: {what}; cudaMemcpy copies it"
