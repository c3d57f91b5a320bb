"""The gate to CUDA Python: cuda.core, the driver and the runtime, loaded when first needed.

Nothing else in the package imports them. Every way of failing (not installed, no driver, no GPU)
becomes a ``NoDeviceError`` that says what to do.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.raw import mode

__all__ = [
    "CudaError",
    "call",
    "core",
    "current_context",
    "current_ordinal",
    "driver",
    "is_capturing",
    "is_current",
    "on",
    "runtime",
]


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

    Raises
    ------
    NoDeviceError
        If it is not installed, or there is no driver or no GPU.
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

    Raises
    ------
    CudaError
        If it returns anything but ``CUDA_SUCCESS``.
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

    Parameters
    ----------
    device : cuda.core.Device or int, optional
        The current one, or device 0, if left out.
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
