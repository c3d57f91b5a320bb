"""Device, pinned and managed memory: allocation, places, and pointers into it."""

from __future__ import annotations

import ctypes
from ctypes import c_size_t, c_void_p
from dataclasses import replace
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray

from ...raw.ctypes_support import OpaquePointer
from ...raw.memory import memory_pointer, on_gpu
from ...raw.typed_memory import by_class
from ...runtime import copy
from ...runtime.watching import tell_allocated, tell_freed
from .function import Int, OutPointer, OutSize, Size, Stream, enum_kind, runtime_function, store
from .sides import REFERENCE, Use, fail, gpu_call, side
from .types import cudaError_t, cudaHostAllocDefault, cudaMemAttachGlobal, cudaMemcpyKind

__all__ = [
    "DevicePointer",
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaHostAlloc",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
    "cudaMemcpyAsync",
    "cudaMemset",
    "cudaMemset2D",
    "cudaMemsetAsync",
]


def device_address(function: str, name: str, value: Any, nbytes: int, use: Use) -> int:
    """The address of the device memory in the argument `name`, of at least `nbytes` bytes.

    Raises TypeError if the argument is an object of the host. Raises ValueError if it is an object
    with fewer bytes. Raises CudaError on the reference device, if the memory is not allocated.
    """
    if getattr(value, "_obj", None) is not None:
        raise TypeError(f"{function}: {name}: byref(...) is host memory; device memory is wanted")
    try:
        address = memory_pointer(value, name) or 0
    except (TypeError, ValueError) as error:
        raise type(error)(f"{function}: {str(error).partition(';')[0]}") from None
    _check_size(function, name, by_class.of(value).nbytes(value), nbytes, use)
    side().check_device(function, name, address, nbytes, use)
    return address


def host_address(
    function: str, name: str, value: Any, nbytes: int, use: Use, *, rows: bool = False
) -> int:
    """The address of the host memory in the argument `name`, of at least `nbytes` bytes.

    With `rows`, an array may be the left part of a wider array, whose rows are further apart.

    Raises TypeError if the argument is device memory, or no memory. Raises ValueError if the memory
    is too small, read-only but written, or not contiguous. Raises CudaError on the reference
    device, if an address is not in the host's memory.
    """
    address, size = _host(f"{function}: {name}", value, use, rows)
    _check_size(function, name, size, nbytes, use)
    if size is None:
        side().check_host(function, name, address, nbytes, use)
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


def _allocate(function: str, pointer: Any, size: int, *flags: int) -> None:
    """Fill `pointer` with the address of new memory; NULL if the size is 0."""
    if size == 0 and function == "cudaMallocManaged":
        fail(function, cudaError_t.cudaErrorInvalidValue, "size is 0")
    address = int(gpu_call(function, size, *flags)) if size else 0
    store(pointer, address, c_void_p, function)
    tell_allocated(address, size)


def _free(function: str, pointer: Any, *stream: int, name: str = "devPtr") -> None:
    """Free memory on the device that allocated it."""
    address = memory_pointer(pointer, f"{function}: {name}") or 0
    owner = REFERENCE if address in REFERENCE.allocated else side()
    tell_freed(address)
    owner.call(function, address, *stream)


@runtime_function
def cudaMalloc(devPtr: OutPointer, size: Size) -> None:
    """Allocate `size` bytes of device memory: ``cudaMalloc(byref(pointer), size)``."""
    _allocate("cudaMalloc", devPtr, size)


@runtime_function
def cudaMallocManaged(devPtr: OutPointer, size: Size, flags: Int = cudaMemAttachGlobal) -> None:
    """Allocate memory that the device and the host may access."""
    _allocate("cudaMallocManaged", devPtr, size, flags)


@runtime_function
def cudaMallocHost(ptr: OutPointer, size: Size) -> None:
    """Allocate page-locked host memory; ``DevicePointer.array`` shows it to NumPy."""
    _allocate("cudaMallocHost", ptr, size)


@runtime_function
def cudaHostAlloc(pHost: OutPointer, size: Size, flags: Int = cudaHostAllocDefault) -> None:
    """Allocate page-locked host memory, with flags."""
    _allocate("cudaHostAlloc", pHost, size, flags)


@runtime_function
def cudaMallocAsync(devPtr: OutPointer, size: Size, hStream: Stream) -> None:
    """Allocate device memory in the order of a stream."""
    _allocate("cudaMallocAsync", devPtr, size, hStream)


@runtime_function
def cudaMallocPitch(devPtr: OutPointer, pitch: OutSize, width: Size, height: Size) -> None:
    """Allocate rows of `width` bytes; `pitch` receives the bytes from one row to the next."""
    address, step = gpu_call("cudaMallocPitch", width, height)
    store(devPtr, address, c_void_p, "devPtr")
    store(pitch, step, c_size_t, "pitch")
    tell_allocated(int(address), int(step) * height)


@runtime_function
def cudaFree(devPtr: Any) -> None:
    """Free device memory by its address; NULL is ignored."""
    _free("cudaFree", devPtr)


@runtime_function
def cudaFreeAsync(devPtr: Any, hStream: Stream) -> None:
    """Free device memory in the order of a stream."""
    _free("cudaFreeAsync", devPtr, hStream)


@runtime_function
def cudaFreeHost(ptr: Any) -> None:
    """Free page-locked host memory; NULL is ignored."""
    _free("cudaFreeHost", ptr, name="ptr")


class DevicePointer(ctypes.c_void_p):
    """A pointer of a C program: ``DevicePointer(c_float)`` is ``float *p``.

    ``cudaMalloc(byref(p), nbytes)`` fills it, and functions take it as memory. Adding counts
    elements. ``p[i]`` reads and writes an element in memory that the host may access, allocated by
    ``cudaMallocManaged`` or ``cudaMallocHost``.

    Parameters
    ----------
    ctype : ctypes type
        The element's type. Default: bytes, as for ``void *`` and ``char *``.
    address : int, optional
        The address. Default: NULL.

    Attributes
    ----------
    value : int or None
        The address.
    ctype : ctypes type
        The element's type.

    Examples
    --------
    >>> p = DevicePointer(ctypes.c_float, 0x1000)
    >>> hex((p + 2).value), (p + 2) - p
    ('0x1008', 2)
    """

    ctype: Any = ctypes.c_char

    def __init__(self, ctype: Any = ctypes.c_char, address: Any = None) -> None:
        if not isinstance(ctype, type) or not issubclass(ctype, _CDATA):
            raise TypeError(f"ctype: expected a ctypes type, got {ctype!r}")
        super().__init__(None if address is None else int(address))
        self.ctype = ctype

    def cast(self, ctype: Any) -> DevicePointer:
        """A pointer to another type at the same address: C's ``(T *)p``."""
        return DevicePointer(ctype, self.value)

    def __int__(self) -> int:
        return self.value or 0

    __index__ = __int__

    def __add__(self, count: int) -> DevicePointer:
        if not hasattr(count, "__index__") or isinstance(count, ctypes.c_void_p):
            return NotImplemented
        return DevicePointer(self.ctype, int(self) + int(count) * ctypes.sizeof(self.ctype))

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        """The number of elements between two pointers, or the pointer `other` elements before."""
        if not isinstance(other, DevicePointer):
            return self + -other if hasattr(other, "__index__") else NotImplemented
        if other.ctype is not self.ctype:
            raise TypeError(f"{self!r} and {other!r} point to different types")
        return (int(self) - int(other)) // ctypes.sizeof(self.ctype)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, ctypes.c_void_p):
            return self.value == other.value
        if other is None or isinstance(other, int):
            return int(self) == (other or 0)
        return NotImplemented

    def __lt__(self, other: DevicePointer) -> bool:
        return int(self) < int(other)

    def __le__(self, other: DevicePointer) -> bool:
        return int(self) <= int(other)

    def __hash__(self) -> int:
        return hash(int(self))

    def __repr__(self) -> str:
        address = hex(int(self)) if self.value else "NULL"
        return f"DevicePointer({self.ctype.__name__}, {address})"

    # -- access by the host ----------------------------------------------------------------------

    def array(self, *shape: int) -> NDArray[Any]:
        """The memory as a NumPy array of this shape, if the host may access it.

        Raises CudaError if it is device memory, or not allocated.
        """
        count = int(np.prod(shape, dtype=np.int64))
        size = ctypes.sizeof(self.ctype)
        side().require_host(int(self), max(count, 1) * size)
        memory = (self.ctype * count).from_address(int(self))
        return np.ctypeslib.as_array(memory).reshape(shape)

    def __getitem__(self, index: int) -> Any:
        return self._element(index)[0]

    def __setitem__(self, index: int, value: Any) -> None:
        self._element(index)[0] = value

    def _element(self, index: int) -> Any:
        if not hasattr(index, "__index__"):  # no slices: the memory's end is unknown
            raise TypeError(f"expected an index, got {index!r}; .array(count) gives an array")
        place = int(self + index)
        side().require_host(place, ctypes.sizeof(self.ctype))
        return (self.ctype * 1).from_address(place)


def _take_direction(function: str, name: str, kind: Any) -> cudaMemcpyKind:
    direction: cudaMemcpyKind = _KIND.take(function, name, kind)
    if not direction.known:
        code = cudaError_t.cudaErrorInvalidMemcpyDirection
        fail(function, code, f"kind: {kind!r} is no cudaMemcpyKind")
    return direction


_KIND = enum_kind(cudaMemcpyKind)
Direction = Annotated[int, replace(_KIND, take=_take_direction)]


@runtime_function
def cudaMemcpy(dst: Any, src: Any, count: Size, kind: Direction) -> None:
    """Copy `count` bytes between or within host and device; return after the copy."""
    _copy("cudaMemcpy", dst, src, count, kind)


@runtime_function
def cudaMemcpyAsync(
    dst: Any, src: Any, count: Size, kind: Direction, stream: Stream = None
) -> None:
    """Copy `count` bytes in stream order; host memory must exist until the copy is done."""
    _copy("cudaMemcpyAsync", dst, src, count, kind, stream)


@runtime_function
def cudaMemcpy2D(
    dst: Any, dpitch: Size, src: Any, spitch: Size, width: Size, height: Size, kind: Direction
) -> None:
    """Copy `height` rows of `width` bytes, whose starts are `dpitch` and `spitch` bytes apart."""
    _copy_rows("cudaMemcpy2D", (dst, src), (dpitch, spitch), (width, height), kind)


@runtime_function
def cudaMemcpy2DAsync(
    dst: Any,
    dpitch: Size,
    src: Any,
    spitch: Size,
    width: Size,
    height: Size,
    kind: Direction,
    stream: Stream = None,
) -> None:
    """Copy `height` rows of `width` bytes in stream order; see ``cudaMemcpy2D``."""
    _copy_rows("cudaMemcpy2DAsync", (dst, src), (dpitch, spitch), (width, height), kind, stream)


@runtime_function
def cudaMemset(devPtr: Any, value: Int, count: Size) -> None:
    """Set `count` bytes, not elements, to the byte `value`."""
    address = device_address("cudaMemset", "devPtr", devPtr, count, "write")
    gpu_call("cudaMemset", address, value & 0xFF, count)


@runtime_function
def cudaMemsetAsync(devPtr: Any, value: Int, count: Size, stream: Stream = None) -> None:
    """Set `count` bytes to the byte `value` in stream order."""
    address = device_address("cudaMemsetAsync", "devPtr", devPtr, count, "write")
    gpu_call("cudaMemsetAsync", address, value & 0xFF, count, stream)


@runtime_function
def cudaMemset2D(devPtr: Any, pitch: Size, value: Int, width: Size, height: Size) -> None:
    """Set `height` rows of `width` bytes, whose starts are `pitch` bytes apart, to `value`."""
    nbytes = _rows("cudaMemset2D", "pitch", pitch, (width, height))
    address = device_address("cudaMemset2D", "devPtr", devPtr, nbytes, "write")
    gpu_call("cudaMemset2D", address, pitch, value & 0xFF, width, height)


def _copy(function: str, dst: Any, src: Any, nbytes: int, kind: Any, *stream: int) -> None:
    destination = _side(function, "dst", dst, nbytes, kind, "write")
    origin = _side(function, "src", src, nbytes, kind, "read")
    gpu_call(function, destination, origin, nbytes, kind, *stream)


def _copy_rows(
    function: str,
    memory: tuple[Any, Any],
    pitches: tuple[int, int],
    extent: tuple[int, int],
    kind: Any,
    *stream: int,
) -> None:
    to_size = _rows(function, "dpitch", pitches[0], extent)
    from_size = _rows(function, "spitch", pitches[1], extent)
    to = _side(function, "dst", memory[0], to_size, kind, "write", rows=True)
    origin = _side(function, "src", memory[1], from_size, kind, "read", rows=True)
    gpu_call(function, to, pitches[0], origin, pitches[1], *extent, kind, *stream)


def _rows(function: str, name: str, pitch: int, extent: tuple[int, int]) -> int:
    """The bytes from the first row's start to the last row's end."""
    width, height = extent
    side().check_pitch(function, name, pitch, width)
    return (height - 1) * pitch + width if width and height else 0


_DEVICE_SIDES = {
    cudaMemcpyKind.cudaMemcpyHostToHost: (),
    cudaMemcpyKind.cudaMemcpyHostToDevice: ("dst",),
    cudaMemcpyKind.cudaMemcpyDeviceToHost: ("src",),
    cudaMemcpyKind.cudaMemcpyDeviceToDevice: ("dst", "src"),
}


def _side(
    function: str,
    name: str,
    value: Any,
    nbytes: int,
    direction: cudaMemcpyKind,
    use: Use,
    *,
    rows: bool = False,
) -> int:
    """The address of a copy's source or destination."""
    sides = _DEVICE_SIDES.get(direction)
    on_device = _is_device_memory(value) if sides is None else name in sides
    if on_device:
        return device_address(function, name, value, nbytes, use)
    return host_address(function, name, value, nbytes, use, rows=rows)


def _is_device_memory(value: Any) -> bool:
    """Whether an operand of ``cudaMemcpyDefault`` is device memory; True for a GPU's addresses."""
    if isinstance(value, np.ndarray):
        return False
    if isinstance(value, (int, np.integer, ctypes.c_void_p, ctypes._Pointer)):
        return bool(side().is_device_memory(memory_pointer(value) or 0))
    if hasattr(value, "__array_interface__"):
        return False
    return on_gpu(value) or hasattr(value, "_as_parameter_")
