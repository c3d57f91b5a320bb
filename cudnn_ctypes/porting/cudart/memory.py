"""Functions that allocate and free memory."""

from __future__ import annotations

from ctypes import c_size_t, c_void_p
from typing import Any

from ...raw import host_blocks, mode
from ...raw.memory import memory_pointer
from ...runtime import blocks
from ...runtime.watching import tell_allocated, tell_freed
from .function import fail, gpu_call, place, runtime_function, store
from .places import Allocated, allocated, count
from .streams import stream_address
from .types import cudaError_t, cudaHostAllocDefault, cudaMemAttachGlobal

__all__ = [
    "cudaFree",
    "cudaFreeAsync",
    "cudaFreeHost",
    "cudaHostAlloc",
    "cudaMalloc",
    "cudaMallocAsync",
    "cudaMallocHost",
    "cudaMallocManaged",
    "cudaMallocPitch",
    "free_all",
]

_PITCH = 512  # bytes; rows of cudaMallocPitch begin at multiples of it


def _allocate(function: str, pointer: Any, size: Any, *flags: int, name: str = "devPtr") -> None:
    """Fill `pointer` with the address of new memory; NULL if the size is 0."""
    size = count(function, "size", size)
    place(pointer, c_void_p, f"{function}: {name}")  # nothing is allocated for a wrong argument
    if size == 0 and function == "cudaMallocManaged":
        fail(function, cudaError_t.cudaErrorInvalidValue, "size is 0")
    if size == 0:
        address = 0
    elif mode.reference_device_active:
        address = _host_block(function, size)
    else:
        address = int(gpu_call(function, size, *flags))
    store(pointer, address, c_void_p, name)
    tell_allocated(address, size)


def _host_block(function: str, size: int) -> int:
    try:
        block = blocks.host_memory(size)
    except blocks.OutOfDeviceMemoryError as error:
        fail(function, cudaError_t.cudaErrorMemoryAllocation, str(error))
    entry = allocated[block.address] = Allocated(block, function)
    if entry.for_host:  # the host's own writes are not seen
        block.mark(0, size)
    return block.address


def _free(function: str, pointer: Any, gave: set[str], name: str = "devPtr") -> None:
    """Free memory that one of the functions named in `gave` allocated."""
    address = memory_pointer(pointer, f"{function}: {name}") or 0
    entry = allocated.get(address)
    if entry is None and not mode.reference_device_active:
        tell_freed(address)
        gpu_call(function, address)
        return
    if not address:
        return
    invalid = cudaError_t.cudaErrorInvalidValue
    if entry is None:
        block = host_blocks.find(address)
        what = f"nobody's memory: {address:#x}" if block is None else str(block)
        wrong = "was freed before" if block and block.freed_at else "is not what was allocated"
        if block and not block.freed_at and block.address in allocated:
            wrong = f"lies {address - block.address} bytes behind the start"
        fail(function, invalid, f"{name} {wrong}: {what}")
    if entry.function not in gave:
        fail(function, invalid, f"{name} is memory of {entry.function}: {entry.block}")
    del allocated[address]
    tell_freed(address)
    entry.block.free()


_DEVICE = {"cudaMalloc", "cudaMallocAsync", "cudaMallocManaged", "cudaMallocPitch"}


@runtime_function
def cudaMalloc(devPtr: Any, size: int) -> None:
    """Allocate `size` bytes of device memory: ``cudaMalloc(byref(pointer), size)``."""
    _allocate("cudaMalloc", devPtr, size)


@runtime_function
def cudaMallocManaged(devPtr: Any, size: int, flags: int = cudaMemAttachGlobal) -> None:
    """Allocate memory that the device and the host may access."""
    _allocate("cudaMallocManaged", devPtr, size, int(flags))


@runtime_function
def cudaMallocHost(ptr: Any, size: int) -> None:
    """Allocate page-locked host memory; ``DevicePointer.array`` shows it to NumPy."""
    _allocate("cudaMallocHost", ptr, size, name="ptr")


@runtime_function
def cudaHostAlloc(pHost: Any, size: int, flags: int = cudaHostAllocDefault) -> None:
    """Allocate page-locked host memory, with flags."""
    flags = count("cudaHostAlloc", "flags", flags)
    _allocate("cudaHostAlloc", pHost, size, flags, name="pHost")


@runtime_function
def cudaMallocAsync(devPtr: Any, size: int, hStream: Any) -> None:
    """Allocate device memory in the order of a stream."""
    stream = stream_address("cudaMallocAsync", hStream, "hStream")
    _allocate("cudaMallocAsync", devPtr, size, stream)


@runtime_function
def cudaMallocPitch(devPtr: Any, pitch: Any, width: int, height: int) -> None:
    """Allocate rows of `width` bytes; `pitch` receives the bytes from one row to the next."""
    name = "cudaMallocPitch"
    width, height = count(name, "width", width), count(name, "height", height)
    place(devPtr, c_void_p, f"{name}: devPtr")
    place(pitch, c_size_t, f"{name}: pitch")
    if not mode.reference_device_active:
        address, step = gpu_call(name, width, height)
    else:
        step = -(-width // _PITCH) * _PITCH
        address = _host_block(name, step * height) if step * height else 0
    store(devPtr, int(address), c_void_p, "devPtr")
    store(pitch, int(step), c_size_t, "pitch")
    tell_allocated(int(address), int(step) * height)


@runtime_function
def cudaFree(devPtr: Any) -> None:
    """Free device memory by its address; NULL is ignored."""
    _free("cudaFree", devPtr, _DEVICE)


@runtime_function
def cudaFreeAsync(devPtr: Any, hStream: Any) -> None:
    """Free device memory in the order of a stream."""
    if mode.reference_device_active:
        stream_address("cudaFreeAsync", hStream, "hStream")
        _free("cudaFreeAsync", devPtr, _DEVICE)
    else:
        address = memory_pointer(devPtr, "cudaFreeAsync: devPtr") or 0
        gpu_call("cudaFreeAsync", address, stream_address("cudaFreeAsync", hStream, "hStream"))


@runtime_function
def cudaFreeHost(ptr: Any) -> None:
    """Free page-locked host memory; NULL is ignored."""
    _free("cudaFreeHost", ptr, {"cudaMallocHost", "cudaHostAlloc"}, "ptr")


def free_all() -> None:
    """Free all memory that these functions allocated on the reference device."""
    while allocated:
        allocated.popitem()[1].block.free()
