"""What an argument may be, in the words in which ``functions.pyi`` declares parameters to checkers.

They describe what is right, not all that works: a plain int where C takes an enum works, and a type
checker refuses it. Import them for annotations of your own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Sequence
    from typing import SupportsFloat, SupportsIndex

    import numpy as np
    from numpy.typing import NDArray

    from .ctypes_support import EnumArray, EnumVariable, OpaquePointer
    from .types import cudaGraph_t, cudaStream_t

__all__ = [
    "Callback",
    "CudaGraph",
    "Descriptor",
    "DeviceMemory",
    "EnumArrayOf",
    "EnumPointer",
    "EnumValue",
    "FilledArray",
    "FilledIntArray",
    "Handle",
    "HasParameter",
    "HostMemory",
    "HostScalar",
    "Int",
    "IntArray",
    "Labelled",
    "NewHandle",
    "Pointer",
    "Real",
    "Stream",
    "StructPointer",
    "SupportsCudaArrayInterface",
    "SupportsCudaStream",
    "SupportsDLPack",
]

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_C = TypeVar("_C", bound="ctypes._CDataType")
_E = TypeVar("_E", bound="CudnnEnum")

if TYPE_CHECKING:
    from .ctypes_support import CudnnEnum


class HasParameter(Protocol[_T_co]):
    """An object of layer 2 or 3 that stands for a C value of type T."""

    @property
    def _as_parameter_(self) -> _T_co: ...


class SupportsDLPack(Protocol):
    """Memory that DLPack exports on a stream: not NumPy's, which has no streams."""

    def __dlpack__(self, *, stream: Any = ...) -> Any: ...

    def __dlpack_device__(self) -> tuple[Any, Any]: ...


class SupportsCudaArrayInterface(Protocol):
    """Device memory of CuPy, Numba, JAX or PyTorch."""

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]: ...


class SupportsCudaStream(Protocol):
    """A stream of cuda.core or CuPy."""

    def __cuda_stream__(self) -> tuple[int, int]: ...


class _TorchStream(Protocol):
    @property
    def cuda_stream(self) -> int: ...


class _StreamWithAddress(Protocol):
    @property
    def ptr(self) -> int: ...


# --- values ---------------------------------------------------------------------------------------

_CInt: TypeAlias = (
    "ctypes.c_int | ctypes.c_int32 | ctypes.c_uint | ctypes.c_uint32 | ctypes.c_long | "
    "ctypes.c_ulong | ctypes.c_int64 | ctypes.c_uint64 | ctypes.c_longlong | ctypes.c_ulonglong | "
    "ctypes.c_size_t"
)
_CReal: TypeAlias = "ctypes.c_float | ctypes.c_double"
Int: TypeAlias = "SupportsIndex | _CInt"
"""An int, of Python, NumPy or ctypes."""
Real: TypeAlias = "SupportsFloat | SupportsIndex | _CReal"
EnumValue: TypeAlias = "_E | EnumVariable[_E]"
"""A member, or a variable that holds one."""
Handle: TypeAlias = "_T | HasParameter[_T]"
"""A raw handle of that type, or the object that owns one."""
Descriptor: TypeAlias = "_T | HasParameter[_T] | None"
Callback: TypeAlias = "ctypes._CFunctionType | None"
Stream: TypeAlias = (
    "cudaStream_t | SupportsCudaStream | _TorchStream | _StreamWithAddress | ctypes.c_void_p | int "
    "| None"
)
CudaGraph: TypeAlias = "cudaGraph_t | ctypes.c_void_p | int | None"

# --- pointers and arrays --------------------------------------------------------------------------
# What C fills is given as the ctypes object itself, as byref(...) of it, or as a pointer to it.

_Reference: TypeAlias = "ctypes._CArgObject | ctypes._Pointer[_C] | ctypes.Array[_C]"
Pointer: TypeAlias = "_C | _Reference[_C] | None"
NewHandle: TypeAlias = "_C | _Reference[_C]"
StructPointer: TypeAlias = "_C | HasParameter[_C | None] | _Reference[_C]"
EnumPointer: TypeAlias = (
    "EnumVariable[_E] | EnumArray[_E] | ctypes._CArgObject | ctypes._Pointer[EnumVariable[_E]] "
    "| None"
)
IntArray: TypeAlias = (
    "Sequence[SupportsIndex | _CInt] | ctypes.Array[_C] | NDArray[np.integer[Any]] | _C "
    "| _Reference[_C] | None"
)
"""Any sequence of ints, or a ctypes array of C's type."""
FilledArray: TypeAlias = "_C | _Reference[_C] | None"
FilledIntArray: TypeAlias = (
    "_C | _Reference[_C] | NDArray[np.signedinteger[Any]] | NDArray[np.unsignedinteger[Any]] | None"
)
EnumArrayOf: TypeAlias = (
    "Sequence[_E] | EnumArray[_E] | EnumVariable[_E] | ctypes._CArgObject "
    "| ctypes.Array[ctypes.c_int]"
)

# --- memory ---------------------------------------------------------------------------------------

DeviceMemory: TypeAlias = (
    "SupportsCudaArrayInterface | SupportsDLPack | HasParameter[ctypes.c_void_p | int | None] "
    "| ctypes.c_void_p | int | None"
)
"""A tensor or buffer on the GPU, or its address."""
HostMemory: TypeAlias = (
    "ctypes._CDataType | ctypes._CArgObject | NDArray[Any] | HasParameter[OpaquePointer] | bytes "
    "| int | None"
)
HostScalar: TypeAlias = (
    "float | _CReal | _CInt | ctypes.c_int8 | ctypes.c_uint8 | ctypes.c_void_p "
    "| ctypes._CArgObject | ctypes.Array[Any] | NDArray[Any] | np.number[Any] | None"
)
"""One number on the host."""
Labelled: TypeAlias = "HostMemory | DeviceMemory"
