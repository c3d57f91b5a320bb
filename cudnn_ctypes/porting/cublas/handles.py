"""Functions of handles: creation, stream, pointer mode, version."""

from __future__ import annotations

import itertools
from ctypes import c_int, c_void_p
from dataclasses import dataclass
from typing import Any

from ...raw import mode
from ...raw.types import cudaStream_t
from ..cudart.function import place, store
from ..cudart.streams import stream_address
from .function import cublas_function, fail, gpu_call
from .types import cublasHandle_t, cublasMath_t, cublasPointerMode_t, cublasStatus_t

__all__ = [
    "State",
    "cublasCreate",
    "cublasDestroy",
    "cublasGetPointerMode",
    "cublasGetStream",
    "cublasGetVersion",
    "cublasSetMathMode",
    "cublasSetPointerMode",
    "cublasSetStream",
    "state_of",
]


@dataclass(slots=True)
class State:
    """The state of a handle."""

    address: int
    on_host: bool
    stream: int = 0
    scalars_on_device: bool = False


_handles: dict[int, State] = {}
# Addresses of the reference device's handles; no memory has them.
_addresses = itertools.count(0x7FFF_1000_0000_0010, 16)

_INITIALIZED = cublasStatus_t.CUBLAS_STATUS_NOT_INITIALIZED


def state_of(function: str, handle: Any) -> State:
    """The state of a handle; a handle of another library gets cuBLAS's defaults.

    Raises
    ------
    TypeError
        If `handle` is no handle of cuBLAS.
    CudaError
        If `handle` is NULL or destroyed.
    """
    if not isinstance(handle, cublasHandle_t):
        raise TypeError(f"{function}: handle: expected a cublasHandle_t, got {handle!r}")
    state = _handles.get(handle.value or 0)
    if state is not None:
        return state
    if not handle.value or mode.reference_device_active:
        fail(function, _INITIALIZED, "handle: it was not created by cublasCreate, or is destroyed")
    return State(handle.value, on_host=False)


@cublas_function
def cublasCreate(handle: Any) -> None:
    """Create a handle: ``cublasCreate(byref(handle))``."""
    address = place(handle, cublasHandle_t, "cublasCreate: handle")
    if mode.reference_device_active:
        store(handle, next(_addresses), cublasHandle_t, "handle")
    else:
        gpu_call("cublasCreate", c_void_p(address))
    value = c_void_p.from_address(address).value or 0
    _handles[value] = State(value, on_host=mode.reference_device_active)


@cublas_function
def cublasDestroy(handle: Any) -> None:
    """Destroy a handle."""
    state = state_of("cublasDestroy", handle)
    if not state.on_host:
        gpu_call("cublasDestroy", c_void_p(state.address))
    _handles.pop(state.address, None)


@cublas_function
def cublasSetStream(handle: Any, streamId: Any) -> None:
    """Set the stream of a handle's work."""
    state = state_of("cublasSetStream", handle)
    stream = stream_address("cublasSetStream", streamId, "streamId")
    if not state.on_host:
        gpu_call("cublasSetStream", c_void_p(state.address), c_void_p(stream))
    state.stream = stream


@cublas_function
def cublasGetStream(handle: Any, streamId: Any) -> None:
    """Fill a ``cudaStream_t`` with the stream of a handle."""
    state = state_of("cublasGetStream", handle)
    address = place(streamId, cudaStream_t, "cublasGetStream: streamId")
    if state.on_host:
        store(streamId, state.stream, cudaStream_t, "streamId")
    else:
        gpu_call("cublasGetStream", c_void_p(state.address), c_void_p(address))


@cublas_function
def cublasSetPointerMode(handle: Any, mode: int) -> None:
    """Set whether alpha, beta and result are on the host (the default) or on the device."""
    state = state_of("cublasSetPointerMode", handle)
    chosen = _member("cublasSetPointerMode", cublasPointerMode_t, mode)
    if not state.on_host:
        gpu_call("cublasSetPointerMode", c_void_p(state.address), c_int(chosen))
    state.scalars_on_device = chosen == cublasPointerMode_t.CUBLAS_POINTER_MODE_DEVICE


@cublas_function
def cublasGetPointerMode(handle: Any, mode: Any) -> None:
    """Fill a ``cublasPointerMode_t()`` or ``c_int`` with the handle's pointer mode."""
    state = state_of("cublasGetPointerMode", handle)
    store(mode, int(state.scalars_on_device), c_int, "cublasGetPointerMode: mode")


@cublas_function
def cublasSetMathMode(handle: Any, mode: int) -> None:
    """Set the allowed arithmetic; no effect on the reference device."""
    state = state_of("cublasSetMathMode", handle)
    chosen = _member("cublasSetMathMode", cublasMath_t, mode)
    if not state.on_host:
        gpu_call("cublasSetMathMode", c_void_p(state.address), c_int(chosen))


@cublas_function
def cublasGetVersion(handle: Any, version: Any) -> None:
    """Fill a ``c_int`` with the version of cuBLAS, 120903 for 12.9.3; 0 on the reference device."""
    state = state_of("cublasGetVersion", handle)
    address = place(version, c_int, "cublasGetVersion: version")
    if state.on_host:
        store(version, 0, c_int, "version")
    else:
        gpu_call("cublasGetVersion", c_void_p(state.address), c_void_p(address))


def _member(function: str, enum: Any, value: Any) -> Any:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{function}: mode: expected a {enum.__name__}, got {value!r}")
    member = enum(value)
    if not member.known:
        fail(function, cublasStatus_t.CUBLAS_STATUS_INVALID_VALUE, f"mode is {value}")
    return member
