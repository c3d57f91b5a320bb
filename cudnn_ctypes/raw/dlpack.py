"""The C structures of DLPack 1.x, and functions that read them from a capsule.

The module has ``DLTensor`` and the two managed structures that a capsule named
``dltensor`` or ``dltensor_versioned`` points to. https://dmlc.github.io/dlpack/latest/c_api.html
"""

from __future__ import annotations

import ctypes
import enum
from typing import Any


class DLDeviceType(enum.IntEnum):
    """The kind of device that has the memory."""

    CPU = 1
    CUDA = 2
    CUDA_HOST = 3  # page-locked host memory
    CUDA_MANAGED = 13


ON_CUDA = (DLDeviceType.CUDA, DLDeviceType.CUDA_MANAGED)
"""Device types that count as device memory on a GPU."""

ON_HOST = (DLDeviceType.CPU, DLDeviceType.CUDA_HOST)
"""Device types that count as device memory on the reference device."""


class DLDataTypeCode(enum.IntEnum):
    """The kind of number; its width is ``DLDataType.bits``."""

    INT = 0
    UINT = 1
    FLOAT = 2
    BFLOAT = 4
    COMPLEX = 5
    BOOL = 6
    FLOAT8_E4M3FN = 10
    FLOAT8_E5M2 = 12
    FLOAT8_E8M0FNU = 14
    FLOAT4_E2M1FN = 17


class DLDevice(ctypes.Structure):
    """``DLDevice``: type and ordinal."""

    _fields_ = [("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32)]


class DLDataType(ctypes.Structure):
    """``DLDataType``: code, bits of one lane, lanes of one element."""

    _fields_ = [("code", ctypes.c_uint8), ("bits", ctypes.c_uint8), ("lanes", ctypes.c_uint16)]


class DLTensor(ctypes.Structure):
    """``DLTensor``; strides count elements, and a NULL `strides` means C order."""

    _fields_ = [
        ("data", ctypes.c_void_p),
        ("device", DLDevice),
        ("ndim", ctypes.c_int32),
        ("dtype", DLDataType),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    ]

    @property
    def address(self) -> int:
        """Address of the first element, 0 for NULL."""
        return (self.data or 0) + int(self.byte_offset)


class DLManagedTensor(ctypes.Structure):
    """The structure behind a capsule named ``dltensor``."""

    _fields_ = [
        ("dl_tensor", DLTensor),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    ]


class DLManagedTensorVersioned(ctypes.Structure):
    """The structure behind a capsule named ``dltensor_versioned``."""

    _fields_ = [
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("manager_ctx", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("dl_tensor", DLTensor),
    ]


# Bits of DLManagedTensorVersioned.flags.
READ_ONLY = 1 << 0
SUBBYTE_PADDED = 1 << 2

_NAMES: dict[bytes, type[DLManagedTensor] | type[DLManagedTensorVersioned]] = {
    b"dltensor_versioned": DLManagedTensorVersioned,
    b"dltensor": DLManagedTensor,
}

_is_valid = ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_IsValid", ctypes.pythonapi)
)
_get_pointer = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(
    ("PyCapsule_GetPointer", ctypes.pythonapi)
)


def managed_tensor(capsule: object) -> DLManagedTensor | DLManagedTensorVersioned:
    """The structure that a DLPack capsule points to; valid while the capsule lives.

    The capsule is only borrowed: its name stays, so its own destructor frees the tensor once the
    last reference to the capsule is gone.

    Raises BufferError if `capsule` is no DLPack capsule, has been consumed, or has a newer major
    version than 1.
    """
    for name, structure in _NAMES.items():
        if _is_valid(capsule, name):
            managed = structure.from_address(_get_pointer(capsule, name))
            if isinstance(managed, DLManagedTensorVersioned) and managed.major != 1:
                raise BufferError(
                    f"DLPack version {managed.major}.{managed.minor} is not supported; 1.x is"
                )
            return managed
    raise BufferError(f"expected a DLPack capsule that nobody has consumed, got {capsule!r}")


def request_capsule(exporter: Any, stream: int | None) -> object:
    """The capsule of ``exporter.__dlpack__()``, versioned if the exporter supports it.

    `stream` is the consumer's stream in DLPack's numbering for CUDA: 1 for the legacy default, 2
    for the per-thread default, -1 for no synchronisation; None for host memory.

    Raises BufferError if the exporter's own code raises an error of any class.
    """
    try:
        try:
            return exporter.__dlpack__(stream=stream, max_version=(1, 1))
        except TypeError:  # an exporter from before DLPack 1.0 has no max_version
            return exporter.__dlpack__(stream=stream)
    except Exception as error:
        raise _refused("__dlpack__", exporter, error) from error


def device_of(exporter: Any) -> tuple[int, int]:
    """Type and ordinal of the device on which an exporter's memory is.

    Raises BufferError if the exporter does not tell.
    """
    try:
        device_type, ordinal = exporter.__dlpack_device__()
        return int(device_type), int(ordinal)
    except Exception as error:
        raise _refused("__dlpack_device__", exporter, error) from error


def _refused(method: str, exporter: object, error: Exception) -> BufferError:
    if isinstance(error, BufferError):
        return error
    return BufferError(f"{type(exporter).__name__}.{method}() raised {error!r}")
