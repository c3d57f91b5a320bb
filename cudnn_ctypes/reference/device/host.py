"""The reference device's side of the runtime: host memory, on which work is done at once."""

from __future__ import annotations

import ctypes
import time
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from ...raw import host_blocks, mode
from ...raw.dlpack import request_capsule
from ...raw.spaces import HostSpace
from ...runtime.allocation import OutOfDeviceMemoryError, readable
from ...runtime.device import ReferenceDevice
from ...runtime.interface import Runtime


class HostRuntime(HostSpace, Runtime):
    """One device, number 0, whose streams all are in order."""

    def device_count(self) -> int:
        return 1

    def current_device(self) -> ReferenceDevice:
        gpu = mode.reference_gpu
        if gpu is None:
            return ReferenceDevice()
        from ...absent_gpu.properties import compute_capability

        name = f"{ReferenceDevice.name}, standing for {gpu['deviceName']}"
        return ReferenceDevice(
            name, stands_for=gpu["deviceName"], compute_capability=compute_capability(gpu)
        )

    def current_ordinal(self) -> int:
        return 0

    def make_current(self, ordinal: int) -> ReferenceDevice:
        return self.current_device()

    def checked_ordinal(self, ordinal: int) -> int:
        if ordinal != 0:
            raise ValueError(f"device={ordinal!r}: the reference device is one device, number 0")
        return ordinal

    def on(self, ordinal: int) -> AbstractContextManager[Any]:
        return nullcontext()

    def place(self, ordinal: int) -> str:
        return "the reference device"

    def ordinal_of(self, tensor: Any) -> int:
        return 0

    def source(self, ordinal: int, stream: Any, memory_resource: Any) -> _HostSource:
        if memory_resource is not None:
            raise ValueError("memory_resource: the reference device's memory is host memory")
        return _SOURCE

    def write(
        self, ordinal: int, address: int, host: int, nbytes: int, stream: int, *, wait: bool = True
    ) -> None:
        ctypes.memmove(address, host, nbytes)
        host_blocks.written(address, nbytes)

    def read(self, ordinal: int, host: int, address: int, nbytes: int, stream: int) -> None:
        ctypes.memmove(host, address, nbytes)

    def copy(self, ordinal: int, target: int, origin: int, nbytes: int, stream: int) -> None:
        ctypes.memmove(target, origin, nbytes)
        host_blocks.copied(target, origin, nbytes)

    def fill(self, ordinal: int, address: int, pattern: bytes, nbytes: int, stream: int) -> None:
        block: Any = (ctypes.c_char * nbytes).from_address(address)
        kind = f"V{len(pattern)}"
        np.frombuffer(block, kind)[...] = np.frombuffer(pattern, kind)
        host_blocks.written(address, nbytes)

    def block_at(self, address: int) -> tuple[object, int, int] | None:
        block = host_blocks.find(address)
        return None if block is None else (block, block.address, block.nbytes)

    def request_capsule(self, tensor: Any, ordinal: int, stream: Any) -> Any:
        return request_capsule(tensor, None)

    def hand_over(self, ordinal: int, own: int, consumer: int | None) -> None:
        if consumer not in (None, -1):
            raise ValueError(f"stream={consumer}: there are no streams on the reference device")

    def current_stream(self, library: str) -> None:
        return None

    def synchronize(self, device: Any, stream: int | None) -> None:
        pass

    def is_capturing(self, stream: int) -> bool:
        return False

    def record(self, stream: Any, event: Any = None) -> _HostEvent:
        return _HostEvent()

    def elapsed_ms(self, start: Any, end: Any) -> float:
        return 1e3 * float(end.seconds - start.seconds)


class _HostEvent:
    """A moment of the host's clock."""

    is_done = True

    def __init__(self) -> None:
        self.seconds: float = time.perf_counter()

    def sync(self) -> None:
        pass

    def close(self) -> None:
        pass


class _HostSource:
    """Blocks of host memory. None is kept for the next work: its use after it is freed is found."""

    keeps = False

    def allocate(self, nbytes: int) -> tuple[host_blocks.Block, int]:
        block = new_block(nbytes)
        return block, block.address

    def free(self, memory: host_blocks.Block, stream: Any = None) -> None:
        memory.free()


def new_block(nbytes: int) -> host_blocks.Block:
    """A block of host memory; OutOfDeviceMemoryError if there is not enough."""
    try:
        return host_blocks.Block(nbytes)
    except (MemoryError, OSError, OverflowError, ValueError) as error:  # the last: beyond any array
        free = host_blocks.free_memory()
        raise OutOfDeviceMemoryError(
            f"asked for {readable(nbytes)} on the reference device; {readable(free)} of host "
            f"memory are free"
        ) from error


_SOURCE = _HostSource()

HOST = HostRuntime()
