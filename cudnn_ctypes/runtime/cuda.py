"""The GPU's side of the runtime, and the gate to CUDA Python, which is loaded when first needed.

Nothing else in the package imports them. Every way of failing (not installed, no driver, no GPU)
becomes a ``NoDeviceError`` that says what to do.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from typing import Any

from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.raw import mode
from cudnn_ctypes.raw.dlpack import request_capsule
from cudnn_ctypes.raw.spaces import GpuSpace

from .allocation import OutOfDeviceMemoryError, readable, trim_all
from .interface import Runtime
from .stream import LEGACY_DEFAULT, PER_THREAD_DEFAULT, as_stream_pointer


class CudaError(RuntimeError):
    """A function of CUDA failed; `code` is its status.

    That is a ``CUresult`` of the driver, or the ``cudaError_t`` or ``cublasStatus_t`` of
    `cudnn_ctypes.cudart` or `cudnn_ctypes.cublas`.
    """

    def __init__(self, function: str, code: Any, text: str) -> None:
        self.function = function
        self.code = code
        super().__init__(f"{function}: {text}")


@functools.cache
def driver() -> Any:
    """The module ``cuda.bindings.driver``, after ``cuInit``.

    Raises NoDeviceError if it is not installed, or there is no driver or no GPU.
    """
    try:
        module: Any = importlib.import_module("cuda.bindings.driver")
        (status,) = module.cuInit(0)
        failure = None if int(status) == 0 else status.name
        if failure is None:
            status, count = module.cuDeviceGetCount()
            failure = "cuDeviceGetCount found none" if int(status) == 0 and count == 0 else None
    except (ImportError, OSError, RuntimeError) as error:  # RuntimeError: no libcuda
        raise _no_device(str(error)) from error
    if failure is not None:
        raise _no_device(failure)
    return module


def _no_device(reason: str) -> NoDeviceError:
    return NoDeviceError(
        f"no CUDA device or driver found ({reason}); to run without a GPU call "
        f"cudnn_ctypes.use_reference_device() or set {mode.ENVIRONMENT_VARIABLE}=reference"
    )


@functools.cache
def core() -> Any:
    """The package ``cuda.core``; as for `driver`, there is a GPU when this returns."""
    driver()
    return importlib.import_module("cuda.core")


@functools.cache
def runtime() -> Any:
    """The module ``cuda.bindings.runtime``; as for `driver`, there is a GPU when this returns."""
    driver()
    return importlib.import_module("cuda.bindings.runtime")


@functools.cache
def first_capability() -> int:
    """Compute capability of the first GPU of this machine, as 90; 0 if there is none."""
    try:
        names = driver().CUdevice_attribute
        major, minor = (
            call("cuDeviceGetAttribute", attribute, 0)
            for attribute in (
                names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
                names.CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )
        )
    except NoDeviceError:
        return 0
    return 10 * int(major) + int(minor)


def call(function: str, *arguments: Any) -> Any:
    """Call a driver function by name; return its one result, a tuple of several, or None.

    Raises CudaError if it returns anything but ``CUDA_SUCCESS``.
    """
    api = driver()
    status, *results = getattr(api, function)(*arguments)
    if int(status) != 0:
        _, text = api.cuGetErrorString(status)
        description = text.decode() if text else "unknown error"
        raise CudaError(function, status, f"{status.name} ({description})")
    if not results:
        return None
    return results[0] if len(results) == 1 else tuple(results)


def is_current(ordinal: int) -> bool:
    """Whether a context of this device is current in the calling thread."""
    status, device = driver().cuCtxGetDevice()
    return int(status) == 0 and int(device) == ordinal


_as_it_is = nullcontext()


def on(ordinal: int) -> AbstractContextManager[Any]:
    """Like `current_context`, without asking cuda.core for the device where it is current."""
    return _as_it_is if is_current(ordinal) else current_context(ordinal)


def is_capturing(stream: int) -> bool:
    """Whether work on a stream is captured in a CUDA graph, or nobody can tell."""
    status, capture = driver().cuStreamIsCapturing(stream)
    return int(status) != 0 or int(capture) != 0


def current_ordinal() -> int:
    """Ordinal of the calling thread's current device, with a context; device 0 if there is none."""
    status, device = driver().cuCtxGetDevice()
    if int(status) == 0:
        return int(device)
    with current_context() as made:
        return int(made.device_id)


@contextmanager
def current_context(device: Any = None) -> Iterator[Any]:
    """Have a context of `device` current in this thread; yields the ``cuda.core.Device``.

    A context of the right device that is current already (a green context, say) stays. Another
    device's is put back at the end, so that the caller's current device does not change. Without
    any, the primary context is made current and stays, as the CUDA runtime does.

    - `device`: the current one, or device 0, if left out.
    """
    target = core().Device(device)
    previous = call("cuCtxGetCurrent")
    if int(previous) == 0:
        target.set_current()
        yield target
    elif int(call("cuCtxGetDevice")) == target.device_id:
        yield target
    else:
        target.set_current()
        try:
            yield target
        finally:
            call("cuCtxSetCurrent", previous)


def as_core_stream(stream: Any, device: Any) -> Any:
    """`stream` as a ``cuda.core.Stream``; `device` is the ``cuda.core.Device`` for the default."""
    core_ = core()
    if isinstance(stream, core_.Stream):
        return stream
    pointer = as_stream_pointer(stream)
    if pointer in (0, LEGACY_DEFAULT):
        # cuda.core before 1.0 does not export the constant.
        return getattr(core_, "LEGACY_DEFAULT_STREAM", device.default_stream)
    return core_.Stream.from_handle(pointer)


def order(*, before: int, after: int) -> None:
    """Have stream `after` wait for the work that is on stream `before` now; the host does not wait.

    Both are addresses on the current device. Nothing is done where they are the same stream.
    """
    if (before or LEGACY_DEFAULT) == (after or LEGACY_DEFAULT):
        return
    disable_timing = driver().CUevent_flags.CU_EVENT_DISABLE_TIMING
    event = call("cuEventCreate", int(disable_timing))
    try:
        call("cuEventRecord", event, before)
        call("cuStreamWaitEvent", after, event, 0)
    finally:
        call("cuEventDestroy", event)  # takes effect once the event has completed


# --- the GPU's side of the runtime --------------------------------------------------------------


class CudaRuntime(Runtime):
    """GPUs, by cuda.core."""

    def device_count(self) -> int:
        return int(call("cuDeviceGetCount"))

    def current_device(self) -> Any:
        with current_context() as device:
            return device

    def current_ordinal(self) -> int:
        return current_ordinal()

    def make_current(self, ordinal: int) -> Any:
        target = core().Device(ordinal)
        if int(call("cuCtxGetCurrent")) == 0 or int(call("cuCtxGetDevice")) != ordinal:
            target.set_current()
        return target

    def checked_ordinal(self, ordinal: int) -> int:
        return int(core().Device(ordinal).device_id)

    def on(self, ordinal: int) -> AbstractContextManager[Any]:
        return on(ordinal)

    def place(self, ordinal: int) -> str:
        return f"device {ordinal}"

    def ordinal_of(self, tensor: Any) -> int:
        return int(tensor.get_device())

    def source(self, ordinal: int, stream: Any, memory_resource: Any) -> Pool:
        return Pool(ordinal, stream, memory_resource)

    def write(
        self, ordinal: int, address: int, host: int, nbytes: int, stream: int, *, wait: bool = True
    ) -> None:
        with on(ordinal):
            call("cuMemcpyHtoDAsync", address, host, nbytes, stream)
            if wait:
                call("cuStreamSynchronize", stream)

    def read(self, ordinal: int, host: int, address: int, nbytes: int, stream: int) -> None:
        with on(ordinal):
            call("cuMemcpyDtoHAsync", host, address, nbytes, stream)
            call("cuStreamSynchronize", stream)

    def copy(self, ordinal: int, target: int, origin: int, nbytes: int, stream: int) -> None:
        with on(ordinal):
            call("cuMemcpyAsync", target, origin, nbytes, stream)

    def fill(self, ordinal: int, address: int, pattern: bytes, nbytes: int, stream: int) -> None:
        size, value = len(pattern), int.from_bytes(pattern, "little")
        with on(ordinal):
            call(f"cuMemsetD{8 * size}Async", address, value, nbytes // size, stream)

    def block_at(self, address: int) -> tuple[object, int, int] | None:
        try:
            base, size = map(int, call("cuMemGetAddressRange", address))
        except (CudaError, NoDeviceError):  # no address of this GPU
            return None
        return (base, size), base, size

    def request_capsule(self, tensor: Any, ordinal: int, stream: Any) -> Any:
        # Stream 0 is not allowed: the legacy default stream is 1. PyTorch wants the tensor's device
        # to be the current one.
        with on(ordinal):
            return request_capsule(tensor, as_stream_pointer(stream) or LEGACY_DEFAULT)

    def hand_over(self, ordinal: int, own: int, consumer: int | None) -> None:
        if consumer == 0:
            raise ValueError("stream=0 is ambiguous in DLPack: 1 is the legacy default stream")
        if consumer != -1:
            after = LEGACY_DEFAULT if consumer is None else as_stream_pointer(consumer)
            with on(ordinal):
                order(before=own, after=after)

    def current_stream(self, library: str) -> int | None:
        module = sys.modules.get(library)
        if module is None:
            return None
        if library == "cupy":
            return int(module.cuda.get_current_stream().ptr)
        return int(module.cuda.current_stream().cuda_stream)

    def synchronize(self, device: Any, stream: int | None) -> None:
        with current_context(device):
            if stream is None:
                call("cuCtxSynchronize")
            else:
                call("cuStreamSynchronize", stream)

    def is_capturing(self, stream: int) -> bool:
        return is_capturing(stream)

    def record(self, stream: Any, event: Any = None) -> Any:
        with current_context() as device:
            stream = as_core_stream(stream, device)
            if event is not None:
                return stream.record(event)
            options = core().EventOptions
            # Named enable_timing before cuda.core 1.0.
            name = "timing_enabled" if hasattr(options, "timing_enabled") else "enable_timing"
            return stream.record(options=options(**{name: True}))

    def elapsed_ms(self, start: Any, end: Any) -> float:
        start.sync()
        end.sync()
        return float(end - start)


_pools: dict[int, tuple[Any, Any, Any, int]] = {}
"""The device, its memory resource, its legacy default stream and its bytes of memory, by ordinal.

Asking cuda.core for them takes three times as long as an allocation.
"""


class Pool:
    """Memory of a device, from its own pool or a resource that is given, in a stream's order."""

    def __init__(self, ordinal: int, stream: Any, memory_resource: Any) -> None:
        known = _pools.get(ordinal)
        if known is None:
            with current_context(ordinal) as current:
                _, total = call("cuMemGetInfo")
                known = current, current.memory_resource, as_core_stream(None, current), total
                _pools[ordinal] = known
        target, resource, default, total = known
        self._ordinal = ordinal
        self._stream = stream  # it must outlive the memory, in a collected cycle too
        self._resource = resource if memory_resource is None else memory_resource
        # The device's own takes all free memory before it gives up.
        self._largest: int = total if self._resource is resource else sys.maxsize
        pointer = as_stream_pointer(stream)
        on_default = pointer in (0, LEGACY_DEFAULT)
        self._core_stream = default if on_default else as_core_stream(stream, target)
        # The per-thread default stream is another one in each thread.
        self.keeps: bool = pointer != PER_THREAD_DEFAULT

    def allocate(self, nbytes: int) -> tuple[Any, int]:
        memory = None
        if nbytes <= self._largest and is_current(self._ordinal):
            with suppress(Exception):  # said below
                memory = self._resource.allocate(nbytes, stream=self._core_stream)
        if memory is None:
            memory = self._allocate(nbytes)
        return memory, int(memory.handle)

    def _allocate(self, nbytes: int) -> Any:
        """Memory of another device than the current one, or the reason why there is none."""
        resource = self._resource
        with current_context(self._ordinal) as device:
            if nbytes > self._largest:
                raise _out_of_memory(nbytes, device)
            with suppress(Exception):  # said below
                return resource.allocate(nbytes, stream=self._core_stream)
            trim_all()
            try:
                return resource.allocate(nbytes, stream=self._core_stream)
            except Exception as error:  # cuda.core's own class, which it does not export
                if "OUT_OF_MEMORY" not in str(error):
                    raise
                # The pool took all that was free before it gave up, and keeps it from others.
                if hasattr(resource, "handle"):  # not on a device without pools
                    call("cuMemPoolTrimTo", resource.handle, 0)
                raise _out_of_memory(nbytes, device) from error

    def free(self, memory: Any, stream: Any = None) -> None:
        # This may run in a thread without a context, where cuMemFreeAsync would fail.
        if stream is None and is_current(self._ordinal):
            memory.close()
            return
        with current_context(self._ordinal) as device:
            if stream is None:
                memory.close()
            else:
                memory.close(as_core_stream(stream, device))


def _out_of_memory(nbytes: int, device: Any) -> OutOfDeviceMemoryError:
    """The error for memory of the current device."""
    free, total = call("cuMemGetInfo")
    return OutOfDeviceMemoryError(
        f"asked for {readable(nbytes)} on device {device.device_id} ({device.name}); "
        f"{readable(free)} of {readable(total)} are free"
    )


CUDA = CudaRuntime()
if type(mode.runtime) is GpuSpace:
    mode.use(CUDA)
