"""cuBLAS's types, functions and handles."""

from __future__ import annotations

import ctypes
import functools
import itertools
from collections.abc import Callable
from ctypes import c_int, c_void_p
from dataclasses import dataclass
from typing import Annotated, Any, NoReturn, ParamSpec

from ...errors import LibraryNotFoundError
from ...raw import library, mode
from ...raw.ctypes_support import CudnnEnum, OpaquePointer
from ...raw.types import cudaStream_t
from ...runtime import cuda
from ...runtime.cuda import CudaError
from ..cudart.function import (
    CheckedFunction,
    Kind,
    OutInt,
    OutStream,
    Stream,
    enum_kind,
    out,
    place,
    store,
)

__all__ = [
    "cublasComputeType_t",
    "cublasCreate",
    "cublasDestroy",
    "cublasGemmAlgo_t",
    "cublasGetPointerMode",
    "cublasGetStream",
    "cublasGetVersion",
    "cublasHandle_t",
    "cublasMath_t",
    "cublasOperation_t",
    "cublasPointerMode_t",
    "cublasSetMathMode",
    "cublasSetPointerMode",
    "cublasSetStream",
    "cublasStatus_t",
    "cudaDataType_t",
]


class _cublasContext(ctypes.Structure):
    pass


class cublasHandle_t(OpaquePointer):
    """A handle of cuBLAS; ``cublasCreate`` fills it."""

    _type_ = _cublasContext


class cublasStatus_t(CudnnEnum):
    """The status of a function of cuBLAS; unknown codes keep their number."""

    CUBLAS_STATUS_SUCCESS = 0
    CUBLAS_STATUS_NOT_INITIALIZED = 1
    CUBLAS_STATUS_ALLOC_FAILED = 3
    CUBLAS_STATUS_INVALID_VALUE = 7
    CUBLAS_STATUS_ARCH_MISMATCH = 8
    CUBLAS_STATUS_MAPPING_ERROR = 11
    CUBLAS_STATUS_EXECUTION_FAILED = 13
    CUBLAS_STATUS_INTERNAL_ERROR = 14
    CUBLAS_STATUS_NOT_SUPPORTED = 15
    CUBLAS_STATUS_LICENSE_ERROR = 16


class cublasOperation_t(CudnnEnum):
    """The operation on a matrix before its use: none, transposition or its conjugate."""

    CUBLAS_OP_N = 0
    CUBLAS_OP_T = 1
    CUBLAS_OP_C = 2


class cublasPointerMode_t(CudnnEnum):
    """The memory of the scalars alpha, beta and result: the host's or the device's."""

    CUBLAS_POINTER_MODE_HOST = 0
    CUBLAS_POINTER_MODE_DEVICE = 1


class cublasMath_t(CudnnEnum):
    """The allowed arithmetic; the reference device always computes in the data type."""

    CUBLAS_DEFAULT_MATH = 0
    CUBLAS_TENSOR_OP_MATH = 1
    CUBLAS_PEDANTIC_MATH = 2
    CUBLAS_TF32_TENSOR_OP_MATH = 3


class cudaDataType_t(CudnnEnum):
    """The element types that ``cublasGemmEx`` accepts here."""

    CUDA_R_32F = 0
    CUDA_R_64F = 1
    CUDA_R_16F = 2
    CUDA_R_16BF = 14


class cublasComputeType_t(CudnnEnum):
    """The compute type of ``cublasGemmEx``, which is also the type of alpha and beta."""

    CUBLAS_COMPUTE_16F = 64
    CUBLAS_COMPUTE_32F = 68
    CUBLAS_COMPUTE_64F = 70


class cublasGemmAlgo_t(CudnnEnum):
    """The algorithm of ``cublasGemmEx``."""

    CUBLAS_GEMM_DEFAULT = -1
    CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99


for _enum in (
    cublasStatus_t,
    cublasOperation_t,
    cublasPointerMode_t,
    cublasMath_t,
    cudaDataType_t,
    cublasComputeType_t,
    cublasGemmAlgo_t,
):
    globals().update(_enum.__members__)  # as in C
    __all__ += [*_enum.__members__]


_P = ParamSpec("_P")


class CublasFunction(CheckedFunction[_P, cublasStatus_t]):
    """A function of cuBLAS."""

    success = cublasStatus_t.CUBLAS_STATUS_SUCCESS
    no_device = cublasStatus_t.CUBLAS_STATUS_NOT_INITIALIZED


def cublas_function(body: Callable[_P, None]) -> CublasFunction[_P]:
    """Make a C function of a Python function that raises `CudaError`."""
    return CublasFunction(body)


def fail(function: str, code: cublasStatus_t, reason: str = "") -> NoReturn:
    """Raise the error for a status, with the reason if known."""
    raise CudaError(function, code, f"{code.name}: {reason}" if reason else code.name)


def gpu_call(function: str, *arguments: Any) -> None:
    """Call libcublas with ctypes values.

    Raises CudaError. Raises NoDeviceError. Raises LibraryNotFoundError.
    """
    cuda.driver()
    status = symbol(function)(*arguments)
    if status:
        fail(function, cublasStatus_t(status))


@functools.cache
def symbol(function: str) -> Any:
    """The C function; the newer ``_v2`` function, with a handle, if there are two."""
    found = getattr(_library(), f"{function}_v2", None) or getattr(_library(), function)
    found.restype = ctypes.c_int
    return found


@functools.cache
def _library() -> ctypes.CDLL:
    """The libcublas that belongs to the loaded cuDNN."""
    cudnn = library.load()
    cudnn.load_cuda_libraries()
    soname = f"libcublas.so.{cudnn.cuda_major}"
    try:
        return ctypes.CDLL(soname)  # usually loaded already
    except OSError as error:
        wheel = "nvidia-cublas-cu12" if cudnn.cuda_major == 12 else "nvidia-cublas"
        raise LibraryNotFoundError(f"{error}. Install it: pip install {wheel}") from None


@dataclass(slots=True)
class State:
    """The state of a handle."""

    address: int
    on_host: bool
    """Whether NumPy computes: libcublas does not know the handle."""
    stream: int = 0
    scalars_on_device: bool = False

    def tell(self, function: str, *arguments: Any) -> None:
        """Call a function of libcublas with the handle; nothing happens where it is NumPy's."""
        if not self.on_host:
            gpu_call(function, c_void_p(self.address), *arguments)


_handles: dict[int, State] = {}
# Addresses of the reference device's handles; no memory has them.
_addresses = itertools.count(0x7FFF_1000_0000_0010, 16)


def _take_handle(function: str, name: str, handle: Any) -> State:
    """The state of a handle; a handle of another library gets cuBLAS's defaults."""
    if not isinstance(handle, cublasHandle_t):
        raise TypeError(f"{function}: {name}: expected a cublasHandle_t, got {handle!r}")
    state = _handles.get(handle.value or 0)
    if state is not None:
        return state
    if not handle.value or not mode.runtime.may_live(handle.value, _handles):
        status = cublasStatus_t.CUBLAS_STATUS_NOT_INITIALIZED
        fail(function, status, f"{name}: it was not created by cublasCreate, or is destroyed")
    return State(handle.value, on_host=False)


Handle = Annotated[Any, Kind(c_void_p, _take_handle, handle=cublasHandle_t)]
Mode = Annotated[int, enum_kind(cublasPointerMode_t)]
MathMode = Annotated[int, enum_kind(cublasMath_t)]


@cublas_function
def cublasCreate(handle: Annotated[Any, out(cublasHandle_t)]) -> None:
    """Create a handle: ``cublasCreate(byref(handle))``."""
    made = c_void_p(next(_addresses))
    state = State(0, on_host=mode.runtime.on_host)
    if not state.on_host:
        gpu_call("cublasCreate", ctypes.byref(made))
    state.address = made.value or 0
    _handles[state.address] = state
    store(handle, state.address, cublasHandle_t, "handle")


@cublas_function
def cublasDestroy(handle: Handle) -> None:
    """Destroy a handle."""
    handle.tell("cublasDestroy")
    _handles.pop(handle.address, None)


@cublas_function
def cublasSetStream(handle: Handle, streamId: Stream) -> None:
    """Set the stream of a handle's work."""
    handle.tell("cublasSetStream", c_void_p(streamId))
    handle.stream = streamId


@cublas_function
def cublasGetStream(handle: Handle, streamId: OutStream) -> None:
    """Fill a ``cudaStream_t`` with the stream of a handle."""
    address = place(streamId, cudaStream_t, "streamId")
    store(streamId, handle.stream, cudaStream_t, "streamId")
    handle.tell("cublasGetStream", c_void_p(address))


@cublas_function
def cublasSetPointerMode(handle: Handle, mode: Mode) -> None:
    """Set whether alpha, beta and result are on the host (the default) or on the device."""
    _check_mode("cublasSetPointerMode", mode)
    handle.tell("cublasSetPointerMode", c_int(mode))
    handle.scalars_on_device = mode == cublasPointerMode_t.CUBLAS_POINTER_MODE_DEVICE


@cublas_function
def cublasGetPointerMode(handle: Handle, mode: OutInt) -> None:
    """Fill a ``cublasPointerMode_t()`` or ``c_int`` with the handle's pointer mode."""
    store(mode, int(handle.scalars_on_device), c_int, "mode")


@cublas_function
def cublasSetMathMode(handle: Handle, mode: MathMode) -> None:
    """Set the allowed arithmetic; no effect on the reference device."""
    _check_mode("cublasSetMathMode", mode)
    handle.tell("cublasSetMathMode", c_int(mode))


@cublas_function
def cublasGetVersion(handle: Handle, version: OutInt) -> None:
    """Fill a ``c_int`` with the version of cuBLAS, 120903 for 12.9.3; 0 on the reference device."""
    store(version, 0, c_int, "version")
    handle.tell("cublasGetVersion", c_void_p(place(version, c_int, "version")))


def _check_mode(function: str, mode: Any) -> None:
    if not mode.known:
        fail(function, cublasStatus_t.CUBLAS_STATUS_INVALID_VALUE, f"mode is {int(mode)}")
