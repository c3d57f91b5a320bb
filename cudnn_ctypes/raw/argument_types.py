"""The argument types with which ``functions.py`` declares parameters, as type checkers read them.

They are stricter than the calls: a plain int where C takes an enum works, but a type checker
refuses it. Import them for annotations of your own. `vocabulary` has what they say of C.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    import ctypes
    from collections.abc import Sequence
    from enum import Enum
    from typing import SupportsFloat, SupportsIndex

    import numpy as np
    from numpy.typing import NDArray

    from .ctypes_support import CudnnEnum, EnumArray, EnumVariable, OpaquePointer
    from .types import cudaGraph_t, cudaStream_t

_T = TypeVar("_T")
_T_co = TypeVar("_T_co", covariant=True)
_C = TypeVar("_C", bound="ctypes._CDataType")
_E = TypeVar("_E", bound="CudnnEnum")


class HasParameter(Protocol[_T_co]):
    """An object of layer 2 or 3 that stands for a C value of type T."""

    @property
    def _as_parameter_(self) -> _T_co: ...


class SupportsDLPack(Protocol):
    """Memory that DLPack exports, declared as in the array API; NumPy's stubs differ from that."""

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...

    def __dlpack_device__(self) -> tuple[Enum, int]: ...


class _Buffer(Protocol):
    """A buffer of cuda.core."""

    @property
    def device_id(self) -> int: ...

    def __dlpack__(self, *args: Any, **kwargs: Any) -> Any: ...


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
# One string literal each: type checkers refuse concatenated strings.

_Int32: TypeAlias = "ctypes.c_int | ctypes.c_int32 | ctypes.c_uint | ctypes.c_uint32"
_Long: TypeAlias = "ctypes.c_long | ctypes.c_ulong | ctypes.c_longlong | ctypes.c_ulonglong"
_Int64: TypeAlias = "_Long | ctypes.c_int64 | ctypes.c_uint64 | ctypes.c_size_t"
_Float: TypeAlias = "ctypes.c_float | ctypes.c_double"
_AnyInt: TypeAlias = "SupportsIndex | _Int32 | _Int64"
Int: TypeAlias = "_AnyInt | _C"
"""An int, of Python, NumPy or ctypes."""
Real: TypeAlias = "SupportsFloat | SupportsIndex | _Float | _C"
EnumValue: TypeAlias = "_E | EnumVariable[_E]"
"""A member, or a variable that holds one."""
Handle: TypeAlias = "_T | HasParameter[_T]"
"""A raw handle of that type, or the object that owns one."""
Callback: TypeAlias = "ctypes._CFunctionType | None"
_Stream: TypeAlias = "SupportsCudaStream | _TorchStream | _StreamWithAddress"
Stream: TypeAlias = "cudaStream_t | _Stream | ctypes.c_void_p | int | None"
CudaGraph: TypeAlias = "cudaGraph_t | ctypes.c_void_p | int | None"

# --- pointers and arrays --------------------------------------------------------------------------
# An out parameter is the ctypes object itself, byref(...) of it, or a pointer to it.

_Reference: TypeAlias = "ctypes._CArgObject | ctypes._Pointer[_C] | ctypes.Array[_C]"
NewHandle: TypeAlias = "_C | _Reference[_C]"
Pointer: TypeAlias = "_C | _Reference[_C] | None"
CallbackPointer: TypeAlias = "Pointer[ctypes._CFunctionType]"
StructPointer: TypeAlias = "_C | HasParameter[_C | None] | _Reference[_C]"
FilledArray: TypeAlias = "_C | _Reference[_C] | None"
_SignedArray: TypeAlias = "NDArray[np.signedinteger[Any]]"
_UnsignedArray: TypeAlias = "NDArray[np.unsignedinteger[Any]]"
FilledIntArray: TypeAlias = "FilledArray[_C] | _SignedArray | _UnsignedArray"
IntArray: TypeAlias = "Sequence[_AnyInt] | NDArray[np.integer[Any]] | FilledArray[_C]"
"""Any sequence of ints, or a ctypes array of C's type."""
_EnumReference: TypeAlias = "ctypes._CArgObject | ctypes._Pointer[EnumVariable[_E]]"
EnumPointer: TypeAlias = "EnumVariable[_E] | EnumArray[_E] | _EnumReference[_E] | None"
EnumArrayOf: TypeAlias = "Sequence[_E] | EnumPointer[_E]"
FilledEnumArray: TypeAlias = "EnumPointer[_E]"

# --- memory ---------------------------------------------------------------------------------------

_Address: TypeAlias = "ctypes.c_void_p | int | None"
_Exporter: TypeAlias = "SupportsCudaArrayInterface | SupportsDLPack | _Buffer"
DeviceMemory: TypeAlias = "_Exporter | HasParameter[_Address] | _Address"
"""A tensor or buffer on the GPU, or its address."""
_CData: TypeAlias = "ctypes._CDataType | ctypes._CArgObject"
HostMemory: TypeAlias = "_CData | NDArray[Any] | HasParameter[OpaquePointer] | bytes | None"
_Byte: TypeAlias = "ctypes.c_int8 | ctypes.c_uint8"
_CNumber: TypeAlias = "_Float | _Byte | _Int32 | _Int64 | ctypes._CArgObject | ctypes.Array[Any]"
HostScalar: TypeAlias = "float | _CNumber | np.number[Any] | NDArray[Any] | ctypes.c_void_p | None"
"""One number on the host."""
Labelled: TypeAlias = "HostMemory | DeviceMemory"

# --- what a parameter is for C ------------------------------------------------------------------

Out: TypeAlias = Annotated[_T, "written by the call"]
InOut: TypeAlias = Annotated[_T, "read and written by the call"]
Mutable: TypeAlias = Annotated[_T, "input that C does not declare const"]
Const: TypeAlias = Annotated[_T, "declared const by C"]
NotNull: TypeAlias = Annotated[_T, "refused where it is NULL"]
Nullable: TypeAlias = "_T | None"
"""A descriptor, or None where C may take NULL."""
MayBeUnset: TypeAlias = Annotated[_T, "a descriptor that need not be set"]
Factor: TypeAlias = Annotated[_T, "a factor of a number of elements"]
Extent: TypeAlias = Annotated[_T, "added to a tensor's size"]
Padding: TypeAlias = Annotated[_T, "of the type of the memory that it fills"]
