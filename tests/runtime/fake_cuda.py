"""A CUDA driver and a cuda.core made of host memory, which write down what they are asked.

They have just what ``cudnn_ctypes.runtime`` uses. Streams do nothing, but every call with a stream
is logged, so that tests can look at the order that was asked for.
"""

from __future__ import annotations

import ctypes
import enum
import types
from typing import Any


class Status(enum.IntEnum):
    CUDA_SUCCESS = 0
    CUDA_ERROR_OUT_OF_MEMORY = 2
    CUDA_ERROR_INVALID_CONTEXT = 201


class FakeStream:
    def __init__(self, handle: int) -> None:
        self._handle = handle
        self.closed = False

    @staticmethod
    def from_handle(handle: int) -> FakeStream:
        return FakeStream(handle)

    def __cuda_stream__(self) -> tuple[int, int]:
        return 0, self._handle

    def record(self, event: Any = None, options: Any = None) -> Any:
        if event is None:
            assert options.enable_timing
            event = FakeEvent()
        event.stream = self._handle
        return event


class FakeEvent:
    is_done = True
    synchronized = False

    def sync(self) -> None:
        self.synchronized = True

    def close(self) -> None:
        del self.stream

    def __sub__(self, other: FakeEvent) -> float:
        assert self.synchronized
        assert other.synchronized
        return 1.5


class FakeBuffer:
    def __init__(self, cuda: FakeCuda, size: int, stream: FakeStream) -> None:
        self._cuda, self._size, self._stream = cuda, size, stream
        self._block = ctypes.create_string_buffer(b"\xa5" * (size + 512), size + 512)
        address = ctypes.addressof(self._block)
        self.handle = address + -address % 256
        cuda.used += size

    def close(self, stream: FakeStream | None = None) -> None:
        assert self._cuda.context is not None, "cuMemFreeAsync needs a context"
        if self.handle:
            self._cuda.log.append(("free", (stream or self._stream)._handle))
            self._cuda.used -= self._size
            self.handle = 0


class FakeCuda:
    """Two devices; `context` is the ordinal of the device whose context is current, or None."""

    capacity = 1 << 30
    message = "CUDA_ERROR_OUT_OF_MEMORY: not enough"

    def __init__(self) -> None:
        self.log: list[tuple[Any, ...]] = []
        self.context: int | None = None
        self.used = 0
        self.captured: set[int] = set()  # streams whose work goes to a graph
        self._events = 0
        cuda = self

        class Device:
            def __init__(self, ordinal: Any = None) -> None:
                ordinal = (
                    cuda.context if ordinal is None else getattr(ordinal, "device_id", ordinal)
                )
                self.device_id = ordinal or 0
                if self.device_id > 1:
                    raise ValueError("device_id must be within [0, 2)")
                self.name = f"Fake GPU {self.device_id}"
                self.default_stream = FakeStream(1)

            @property
            def memory_resource(self) -> Any:
                return types.SimpleNamespace(allocate=self._allocate, handle=1 + self.device_id)

            def _allocate(self, size: int, *, stream: FakeStream) -> FakeBuffer:
                if cuda.used + size > cuda.capacity:
                    cuda.log.append(("refuse", size))
                    raise RuntimeError(cuda.message)
                cuda.log.append(("allocate", self.device_id, stream._handle))
                return FakeBuffer(cuda, size, stream)

            def set_current(self) -> None:
                cuda.context = self.device_id

        self.core = types.SimpleNamespace(
            Device=Device,
            Stream=FakeStream,
            LEGACY_DEFAULT_STREAM=FakeStream(1),
            # The older spelling: the newer one is what the real cuda.core has.
            EventOptions=types.SimpleNamespace,
        )
        self.driver = self
        self.CUevent_flags = types.SimpleNamespace(CU_EVENT_DISABLE_TIMING=2)
        self.CUpointer_attribute = types.SimpleNamespace(CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL=9)

    def cuGetErrorString(self, status: Status) -> tuple[Status, bytes]:
        return Status.CUDA_SUCCESS, b"a description"

    def cuCtxGetCurrent(self) -> tuple[Status, int]:
        return Status.CUDA_SUCCESS, 0 if self.context is None else 1000 + self.context

    def cuCtxSetCurrent(self, context: int) -> tuple[Status]:
        self.context = context - 1000 if context else None
        return (Status.CUDA_SUCCESS,)

    def cuCtxGetDevice(self) -> tuple[Status, int]:
        if self.context is None:
            return Status.CUDA_ERROR_INVALID_CONTEXT, 0
        return Status.CUDA_SUCCESS, self.context

    def cuCtxSynchronize(self) -> tuple[Status]:
        self.log.append(("synchronize context", self.context))
        return (Status.CUDA_SUCCESS,)

    def cuStreamSynchronize(self, stream: int) -> tuple[Status]:
        self.log.append(("synchronize", stream))
        return (Status.CUDA_SUCCESS,)

    def cuStreamIsCapturing(self, stream: int) -> tuple[Status, int]:
        return Status.CUDA_SUCCESS, int(stream in self.captured)

    def cuMemPoolTrimTo(self, pool: int, kept: int) -> tuple[Status]:
        self.log.append(("trim", pool, kept))
        return (Status.CUDA_SUCCESS,)

    def cuMemGetInfo(self) -> tuple[Status, int, int]:
        return Status.CUDA_SUCCESS, self.capacity - self.used, self.capacity

    def cuMemcpyHtoDAsync(self, target: int, source: int, n: int, stream: int) -> tuple[Status]:
        ctypes.memmove(target, source, n)
        self.log.append(("to device", stream))
        return (Status.CUDA_SUCCESS,)

    def cuMemcpyDtoHAsync(self, target: int, source: int, n: int, stream: int) -> tuple[Status]:
        ctypes.memmove(target, source, n)
        self.log.append(("to host", stream))
        return (Status.CUDA_SUCCESS,)

    def cuMemsetD8Async(self, target: int, byte: int, n: int, stream: int) -> tuple[Status]:
        ctypes.memset(target, byte, n)
        self.log.append(("fill", stream))
        return (Status.CUDA_SUCCESS,)

    def cuMemsetD16Async(self, target: int, value: int, n: int, stream: int) -> tuple[Status]:
        return self._repeat(target, value.to_bytes(2, "little"), n, stream)

    def cuMemsetD32Async(self, target: int, value: int, n: int, stream: int) -> tuple[Status]:
        return self._repeat(target, value.to_bytes(4, "little"), n, stream)

    def _repeat(self, target: int, pattern: bytes, n: int, stream: int) -> tuple[Status]:
        ctypes.memmove(target, pattern * n, len(pattern) * n)
        self.log.append(("fill", stream))
        return (Status.CUDA_SUCCESS,)

    def cuMemcpyAsync(self, target: int, source: int, n: int, stream: int) -> tuple[Status]:
        ctypes.memmove(target, source, n)
        self.log.append(("copy", stream))
        return (Status.CUDA_SUCCESS,)

    def cuEventCreate(self, flags: int) -> tuple[Status, int]:
        self._events += 1
        return Status.CUDA_SUCCESS, self._events

    def cuEventDestroy(self, event: int) -> tuple[Status]:
        self._events -= 1
        return (Status.CUDA_SUCCESS,)

    def cuEventRecord(self, event: int, stream: int) -> tuple[Status]:
        self.log.append(("record", stream))
        return (Status.CUDA_SUCCESS,)

    def cuStreamWaitEvent(self, stream: int, event: int, flags: int) -> tuple[Status]:
        self.log.append(("wait", stream))
        return (Status.CUDA_SUCCESS,)

    def cuPointerGetAttribute(self, attribute: int, pointer: int) -> tuple[Status, int]:
        return Status.CUDA_SUCCESS, 0
