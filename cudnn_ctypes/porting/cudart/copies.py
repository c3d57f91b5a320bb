"""Functions that copy and fill memory.

Host memory may be a NumPy array, a ctypes object, ``byref`` of one, bytes or an address. Device
memory may be any object that `cudnn_ctypes.raw` accepts as device memory.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from ...arguments import integer
from ...raw.memory import memory_pointer, on_gpu
from .function import runtime_function
from .memory import count, device_address, host_address
from .sides import Use, fail, gpu_call, side
from .streams import stream_address
from .types import cudaError_t, cudaMemcpyKind

__all__ = [
    "cudaMemcpy",
    "cudaMemcpy2D",
    "cudaMemcpy2DAsync",
    "cudaMemcpyAsync",
    "cudaMemset",
    "cudaMemset2D",
    "cudaMemsetAsync",
]

_DEVICE_SIDES = {
    cudaMemcpyKind.cudaMemcpyHostToHost: (),
    cudaMemcpyKind.cudaMemcpyHostToDevice: ("dst",),
    cudaMemcpyKind.cudaMemcpyDeviceToHost: ("src",),
    cudaMemcpyKind.cudaMemcpyDeviceToDevice: ("dst", "src"),
}


@runtime_function
def cudaMemcpy(dst: Any, src: Any, count: int, kind: int) -> None:
    """Copy `count` bytes between or within host and device; return after the copy."""
    _copy("cudaMemcpy", dst, src, count, kind)


@runtime_function
def cudaMemcpyAsync(dst: Any, src: Any, count: int, kind: int, stream: Any = None) -> None:
    """Copy `count` bytes in stream order; host memory must exist until the copy is done."""
    address = stream_address("cudaMemcpyAsync", stream)
    _copy("cudaMemcpyAsync", dst, src, count, kind, address)


@runtime_function
def cudaMemcpy2D(
    dst: Any, dpitch: int, src: Any, spitch: int, width: int, height: int, kind: int
) -> None:
    """Copy `height` rows of `width` bytes, whose starts are `dpitch` and `spitch` bytes apart."""
    _copy_rows("cudaMemcpy2D", (dst, src), (dpitch, spitch), (width, height), kind)


@runtime_function
def cudaMemcpy2DAsync(
    dst: Any,
    dpitch: int,
    src: Any,
    spitch: int,
    width: int,
    height: int,
    kind: int,
    stream: Any = None,
) -> None:
    """Copy `height` rows of `width` bytes in stream order; see ``cudaMemcpy2D``."""
    address = stream_address("cudaMemcpy2DAsync", stream)
    _copy_rows("cudaMemcpy2DAsync", (dst, src), (dpitch, spitch), (width, height), kind, address)


@runtime_function
def cudaMemset(devPtr: Any, value: int, count: int) -> None:
    """Set `count` bytes, not elements, to the byte `value`."""
    _fill("cudaMemset", devPtr, value, count)


@runtime_function
def cudaMemsetAsync(devPtr: Any, value: int, count: int, stream: Any = None) -> None:
    """Set `count` bytes to the byte `value` in stream order."""
    _fill("cudaMemsetAsync", devPtr, value, count, stream_address("cudaMemsetAsync", stream))


@runtime_function
def cudaMemset2D(devPtr: Any, pitch: int, value: int, width: int, height: int) -> None:
    """Set `height` rows of `width` bytes, whose starts are `pitch` bytes apart, to `value`."""
    function = "cudaMemset2D"
    pitch, nbytes = _rows(function, "pitch", pitch, (width, height))
    address = device_address(function, "devPtr", devPtr, nbytes, "write")
    gpu_call(function, address, pitch, _byte(function, value), width, height)


def _copy(function: str, dst: Any, src: Any, nbytes: int, kind: int, *stream: int) -> None:
    nbytes = count(function, "count", nbytes)
    direction = _direction(function, kind)
    destination = _side(function, "dst", dst, nbytes, direction, "write")
    origin = _side(function, "src", src, nbytes, direction, "read")
    gpu_call(function, destination, origin, nbytes, direction, *stream)


def _copy_rows(
    function: str,
    memory: tuple[Any, Any],
    pitches: tuple[int, int],
    extent: tuple[int, int],
    kind: int,
    *stream: int,
) -> None:
    direction = _direction(function, kind)
    dpitch, to_size = _rows(function, "dpitch", pitches[0], extent)
    spitch, from_size = _rows(function, "spitch", pitches[1], extent)
    to = _side(function, "dst", memory[0], to_size, direction, "write", rows=True)
    origin = _side(function, "src", memory[1], from_size, direction, "read", rows=True)
    gpu_call(function, to, dpitch, origin, spitch, *extent, direction, *stream)


def _rows(function: str, name: str, pitch: Any, extent: tuple[Any, Any]) -> tuple[int, int]:
    """The pitch, and the bytes from the first row's start to the last row's end."""
    pitch = count(function, name, pitch)
    width, height = count(function, "width", extent[0]), count(function, "height", extent[1])
    side().check_pitch(function, name, pitch, width)
    return pitch, (height - 1) * pitch + width if width and height else 0


def _fill(function: str, memory: Any, value: Any, nbytes: Any, *stream: int) -> None:
    nbytes = count(function, "count", nbytes)
    byte = _byte(function, value)
    address = device_address(function, "devPtr", memory, nbytes, "write")
    gpu_call(function, address, byte, nbytes, *stream)


def _byte(function: str, value: Any) -> int:
    """The lowest byte of an int, to which memset sets memory."""
    return integer(f"{function}: value", value) & 0xFF


def _direction(function: str, kind: Any) -> cudaMemcpyKind:
    if isinstance(kind, bool) or not isinstance(kind, int):
        raise TypeError(f"{function}: kind: expected a cudaMemcpyKind, got {kind!r}")
    direction = cudaMemcpyKind(int(kind))
    if not direction.known:
        code = cudaError_t.cudaErrorInvalidMemcpyDirection
        fail(function, code, f"kind: {kind!r} is no cudaMemcpyKind")
    return direction


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
