"""What carries the functions of the CUDA runtime out: CUDA Python, or host memory and clocks.

On the reference device memory is watched: a wrong address, a freed pointer or a stream that was
destroyed is refused like on a GPU, with a more detailed message.
"""

from __future__ import annotations

import ctypes
import itertools
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, Literal, NoReturn

from ... import raw
from ...absent_gpu import properties as gpus
from ...raw import host_blocks, mode
from ...raw.host_blocks import Block
from ...reference.device.host import HOST, new_block
from ...reference.device.memory import check_range
from ...reference.device.registry import Refused
from ...runtime import cuda
from ...runtime.allocation import OutOfDeviceMemoryError
from ...runtime.cuda import CudaError
from .types import (
    ATTRIBUTE_MEMBERS,
    MEANINGS,
    PROPERTY_MEMBERS,
    cudaError_t,
    cudaEventDisableTiming,
    cudaMemcpyKind,
)

Use = Literal["read", "write"]

_INVALID = cudaError_t.cudaErrorInvalidValue
_NO_RESOURCE = cudaError_t.cudaErrorInvalidResourceHandle


def fail(function: str, code: cudaError_t, reason: str) -> NoReturn:
    """Raise the error of a status, with a reason."""
    raise CudaError(function, code, f"{code.name} ({MEANINGS[code]}): {reason}")


def side() -> Any:
    """What carries functions out now."""
    return REFERENCE if mode.runtime is HOST else _GPU


def gpu_call(function: str, *arguments: Any) -> Any:
    """Carry a function out; return its result, a tuple of several results, or None.

    Raises CudaError if the call fails; its status is this package's `cudaError_t`. Raises
    NoDeviceError.
    """
    return side().call(function, *arguments)


class _Gpu:
    """CUDA Python, which checks addresses, streams and events itself."""

    def call(self, function: str, *arguments: Any) -> Any:
        api = cuda.runtime()
        given = [
            api.cudaMemcpyKind(int(each)) if isinstance(each, cudaMemcpyKind) else each
            for each in arguments
        ]
        if function == "cudaDeviceGetAttribute":
            given[0] = api.cudaDeviceAttr(int(given[0]))
        status, *results = getattr(api, function)(*given)
        if int(status) != 0:
            code = cudaError_t(int(status))
            meaning = MEANINGS.get(code, "unrecognized error code")
            raise CudaError(function, code, f"{status.name} ({meaning})")
        return results[0] if len(results) == 1 else tuple(results) or None

    def check_device(
        self, function: str, name: str, address: int, nbytes: int, use: Use
    ) -> None: ...

    def check_host(self, function: str, name: str, address: int, nbytes: int, use: Use) -> None: ...

    def check_pitch(self, function: str, name: str, pitch: int, width: int) -> None: ...

    def check_stream(self, function: str, name: str, address: int) -> None: ...

    def check_event(self, function: str, name: str, event: Any) -> None: ...

    def is_device_memory(self, address: int) -> bool:
        return True  # the driver finds out

    def require_host(self, address: int, nbytes: int) -> None:
        attributes = self.call("cudaPointerGetAttributes", address)
        if attributes.type.name == "cudaMemoryTypeDevice":
            _not_for_host("DevicePointer", "memory", hex(address))

    def last_error(self, noted: cudaError_t, *, reset: bool) -> cudaError_t:
        """The thread's last error, of which `noted` is the one before a GPU was found."""
        if noted == cudaError_t.cudaErrorNoDevice:
            return noted
        api = cuda.runtime()
        (status,) = api.cudaPeekAtLastError()
        if reset:
            api.cudaGetLastError()
        return cudaError_t(int(status))


@dataclass(frozen=True, slots=True)
class Allocated:
    """A block of the reference device, and the function that allocated it: "cudaMalloc", ..."""

    block: Block
    function: str

    @property
    def for_host(self) -> bool:
        """Whether the host may access the block."""
        return self.function in ("cudaMallocHost", "cudaHostAlloc", "cudaMallocManaged")


@dataclass(slots=True)
class _Event:
    """An event of the reference device."""

    timed: bool
    recorded: float | None = None  # seconds of the host's clock


class _Reference:
    """Host memory; work is complete when its call returns.

    - `allocated`: the blocks that are not freed, by address.
    """

    def __init__(self) -> None:
        self.allocated: dict[int, Allocated] = {}
        self.streams: set[int] = set()
        self.events: dict[int, _Event] = {}
        # Of streams and events; no memory has them.
        self._addresses = itertools.count(0x7FFF_0000_0000_0010, 16)

    def call(self, function: str, *arguments: Any) -> Any:
        name = function.removesuffix("Async")
        if name in _ALLOCATING:
            return self._allocate(function, arguments[0])
        if name in _FREEING:
            return self._free(function, arguments[0])
        return getattr(self, f"_{name}")(function, *arguments)

    def last_error(self, noted: cudaError_t, *, reset: bool) -> cudaError_t:
        return noted

    # -- checks ----------------------------------------------------------------------------------

    def check_device(self, function: str, name: str, address: int, nbytes: int, use: Use) -> None:
        if not nbytes:
            return
        if not address:
            fail(function, _INVALID, f"{name} is NULL")
        try:
            check_range(address, nbytes, name, use)
        except Refused as error:
            fail(function, _INVALID, error.reason)

    def check_host(self, function: str, name: str, address: int, nbytes: int, use: Use) -> None:
        block = host_blocks.find(address)
        if nbytes and block is not None and not block.freed_at:
            entry = self.allocated.get(block.address)
            if entry is None or not entry.for_host:
                _not_for_host(function, name, str(block))
        self.check_device(function, name, address, nbytes, use)

    def check_pitch(self, function: str, name: str, pitch: int, width: int) -> None:
        if width > pitch:
            reason = f"{name} is {pitch} bytes, and a row has {width}"
            fail(function, cudaError_t.cudaErrorInvalidPitchValue, reason)

    def check_stream(self, function: str, name: str, address: int) -> None:
        if address not in self.streams:
            reason = f"{name}: {address:#x} is no stream, or one that was destroyed"
            fail(function, _NO_RESOURCE, reason)

    def check_event(self, function: str, name: str, event: Any) -> None:
        if event.value not in self.events:
            fail(
                function, _NO_RESOURCE, f"{name}: {event!r} is no event, or one that was destroyed"
            )

    def is_device_memory(self, address: int) -> bool:
        return host_blocks.find(address) is not None

    def require_host(self, address: int, nbytes: int) -> None:
        self.check_host("DevicePointer", "memory", address, nbytes, "write")

    # -- memory ----------------------------------------------------------------------------------

    def _allocate(self, function: str, size: int) -> int:
        try:
            block = new_block(size)
        except OutOfDeviceMemoryError as error:
            fail(function, cudaError_t.cudaErrorMemoryAllocation, str(error))
        entry = self.allocated[block.address] = Allocated(block, function)
        if entry.for_host:  # the host's own writes are not seen
            block.mark(0, size)
        return block.address

    def _cudaMallocPitch(self, function: str, width: int, height: int) -> tuple[int, int]:
        step = -(-width // _PITCH) * _PITCH
        return self._allocate(function, step * height) if step * height else 0, step

    def _free(self, function: str, address: int) -> None:
        if not address:
            return
        entry, name = self.allocated.get(address), _FREEING[function.removesuffix("Async")]
        if entry is None:
            block = host_blocks.find(address)
            what = f"nobody's memory: {address:#x}" if block is None else str(block)
            wrong = "was freed before" if block and block.freed_at else "is not what was allocated"
            if block and not block.freed_at and block.address in self.allocated:
                wrong = f"lies {address - block.address} bytes behind the start"
            fail(function, _INVALID, f"{name} {wrong}: {what}")
        if (entry.function in ("cudaMallocHost", "cudaHostAlloc")) != (name == "ptr"):
            fail(function, _INVALID, f"{name} is memory of {entry.function}: {entry.block}")
        del self.allocated[address]
        entry.block.free()

    def _cudaMemcpy(self, function: str, dst: int, src: int, count: int, *rest: Any) -> None:
        if count:
            HOST.copy(0, dst, src, count, 0)

    def _cudaMemcpy2D(
        self, function: str, dst: int, dpitch: int, src: int, spitch: int, *extent: Any
    ) -> None:
        width, height = extent[:2]
        for row in range(height if width else 0):
            HOST.copy(0, dst + row * dpitch, src + row * spitch, width, 0)

    def _cudaMemset(self, function: str, address: int, byte: int, count: int, *stream: int) -> None:
        if count:
            ctypes.memset(address, byte, count)
            host_blocks.written(address, count)

    def _cudaMemset2D(
        self, function: str, address: int, pitch: int, byte: int, width: int, height: int
    ) -> None:
        for row in range(height):
            self._cudaMemset(function, address + row * pitch, byte, width)

    # -- devices ---------------------------------------------------------------------------------

    def _cudaGetDeviceCount(self, function: str) -> int:
        return 1

    def _cudaGetDevice(self, function: str) -> int:
        return 0

    def _cudaSetDevice(self, function: str, ordinal: int) -> None:
        if ordinal != 0:
            reason = f"device: {ordinal}; the reference device is one device, number 0"
            fail(function, cudaError_t.cudaErrorInvalidDevice, reason)

    def _cudaGetDeviceProperties(self, function: str, ordinal: int) -> SimpleNamespace:
        self._cudaSetDevice(function, ordinal)
        known: Mapping[str, Any] = gpus.reference_gpu()
        values = {member: known.get(name, 0) for member, name in PROPERTY_MEMBERS.items()}
        width = gpus.later_value("memoryBusWidth", known.get("deviceName", ""))
        values["memoryBusWidth"] = known.get("memoryBusWidth", width or 0)
        values["major"], values["minor"] = gpus.compute_capability(dict(known))
        return SimpleNamespace(**values)

    def _cudaDeviceGetAttribute(self, function: str, attribute: int, ordinal: int) -> int:
        member = ATTRIBUTE_MEMBERS.get(attribute, "")
        if not member:
            fail(function, _INVALID, f"attr: the reference device has no attribute {attribute}")
        values = self._cudaGetDeviceProperties(function, ordinal)
        name, _, index = member.partition(" ")
        value = getattr(values, name)
        return int(value[int(index)] if index else value)

    def _cudaDeviceGetStreamPriorityRange(self, function: str) -> tuple[int, int]:
        return 0, 0

    def _nothing(self, function: str, *arguments: Any) -> None:
        pass

    _cudaDeviceSynchronize = _cudaStreamSynchronize = _cudaStreamQuery = _nothing
    _cudaSetDeviceFlags = _cudaProfilerStart = _cudaProfilerStop = _nothing
    _cudaStreamWaitEvent = _cudaEventSynchronize = _cudaEventQuery = _nothing

    def _cudaDeviceReset(self, function: str) -> None:
        while self.allocated:
            self.allocated.popitem()[1].block.free()
        self.streams.clear()
        self.events.clear()

    def _cudaMemGetInfo(self, function: str) -> tuple[int, int]:
        return host_blocks.free_memory(), os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")

    def _cudaRuntimeGetVersion(self, function: str) -> int:
        return int(raw.cudnnGetCudartVersion())

    def _cudaDriverGetVersion(self, function: str) -> int:
        return int(gpus.reference_gpu().get("driverVer", 0))

    # -- streams and events ----------------------------------------------------------------------

    def _cudaStreamCreate(self, function: str, *flags: int) -> int:
        address = next(self._addresses)
        self.streams.add(address)
        return address

    def _cudaStreamDestroy(self, function: str, address: int) -> None:
        if address not in self.streams:
            fail(function, _NO_RESOURCE, "stream: it was not created by cudaStreamCreate")
        self.streams.remove(address)

    def _cudaEventCreate(self, function: str, *flags: int) -> int:
        address = next(self._addresses)
        timed = not any(flag & cudaEventDisableTiming for flag in flags)
        self.events[address] = _Event(timed)
        return address

    _cudaStreamCreateWithFlags: Callable[..., int] = _cudaStreamCreate
    _cudaStreamCreateWithPriority: Callable[..., int] = _cudaStreamCreate
    _cudaEventCreateWithFlags: Callable[..., int] = _cudaEventCreate

    def _cudaEventDestroy(self, function: str, event: int) -> None:
        del self.events[event]

    def _cudaEventRecord(self, function: str, event: int, stream: int) -> None:
        self.events[event].recorded = time.perf_counter()

    def _cudaEventElapsedTime(self, function: str, start: int, end: int) -> float:
        last = self._recorded(function, "end", end)
        return 1e3 * (last - self._recorded(function, "start", start))

    def _recorded(self, function: str, name: str, event: int) -> float:
        """The time at which an event was recorded."""
        point = self.events[event]
        if point.recorded is None or not point.timed:
            why = "was not recorded" if point.timed else "was created with cudaEventDisableTiming"
            fail(function, _NO_RESOURCE, f"{name}: the event {why}")
        return point.recorded


_PITCH = 512  # bytes; rows of cudaMallocPitch begin at multiples of it

_ALLOCATING = {"cudaMalloc", "cudaMallocManaged", "cudaMallocHost", "cudaHostAlloc"}
_FREEING = {"cudaFree": "devPtr", "cudaFreeHost": "ptr"}
"""Functions that free memory, with the name of their parameter."""


def _not_for_host(function: str, name: str, what: str) -> NoReturn:
    reason = f"{name} is device memory, which the host cannot use: {what}; cudaMemcpy copies it"
    fail(function, _INVALID, reason)


_GPU, REFERENCE = _Gpu(), _Reference()
