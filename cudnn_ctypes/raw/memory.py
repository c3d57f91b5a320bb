"""The device address in a user's memory object.

Streams are not ordered here: as in C, the caller of a raw function must have queued the work that
produces the memory on the same stream, or waited for it.
"""

from __future__ import annotations

import ctypes
import enum
import numbers
from typing import Any

from ..errors import ClosedError
from . import mode
from .ctypes_support import OpaquePointer
from .dlpack import DLDeviceType, device_of, managed_tensor, request_capsule
from .spaces import host_memory, type_name
from .torch_forms import is_tensor, unreadable
from .values import described, parameter_of

_HIGHEST_ADDRESS = (1 << 64) - 1
_CDATA: Any = ctypes.Structure.__base__  # the common base of all ctypes objects


def memory_pointer(value: Any, name: object = "memory") -> int | None:
    """The device address of `value`, which is an argument called `name`.

    - `value`: None (NULL), an address as int or ``c_void_p``, a ``DeviceBuffer`` or
      ``DeviceTensor``, any object whose ``_as_parameter_`` is one of these, a PyTorch tensor, or an
      object with ``__cuda_array_interface__`` or ``__dlpack__`` on a CUDA device. While the
      reference device is active, host memory by ``__dlpack__`` takes the place of CUDA memory;
      NumPy arrays are refused there too, so that a program behaves as it will on a GPU.
    - `name`: the parameter's name, for messages.

    Returns the address of the first element; None is NULL.

    Raises TypeError if `value` is host memory, or not memory at all; for a tensor of PyTorch whose
    elements are not what lies in memory (sparse, nested, negated when read). Raises ValueError if
    an address does not fit in 64 bits. Raises ClosedError if `value` is closed.
    """
    # A PyTorch tensor is the usual case; testing it after the others takes ten times as long.
    if is_tensor(value) or mode.runtime.has_likeness(value):
        return _from_torch(value, name)
    # Memory of this package; NumPy's array.ctypes has the same attribute.
    try:
        parameter = getattr(value, "_as_parameter_", None)
    except ClosedError as error:
        raise ClosedError(f"{name}: {error}") from None
    if parameter.__class__ is ctypes.c_void_p and not type(value).__module__.startswith("numpy"):
        return parameter.value
    if value is None:
        return None
    if isinstance(value, int):
        return _address(value, name)
    if isinstance(value, _CDATA):
        return _from_ctypes(value, name)
    if isinstance(value, type):
        raise _no_memory(value, name)
    package = type(value).__module__.partition(".")[0]
    if package == "numpy":
        return _from_numpy(value, name)
    if parameter is not None:
        if isinstance(parameter, OpaquePointer):
            raise TypeError(f"{name}: expected device memory, got {described(value)}")
        try:
            parameter = parameter_of(parameter)
        except TypeError:
            raise _no_memory(value, name) from None
        return memory_pointer(parameter, name)
    if package == "torch" and hasattr(value, "data_ptr"):  # a storage
        return _from_torch(value, name)
    interface = mode.runtime.cuda_array_interface(value)
    if interface is not None:
        return _from_interface(value, interface, name)
    if hasattr(value, "__dlpack__"):
        return _from_dlpack(value, name)
    if package in ("cuda", "cupy") and hasattr(value, "__int__"):
        return int(value)  # CUdeviceptr, cupy.cuda.MemoryPointer
    if _is_host_memory(value):
        raise host_memory(value, name)
    raise _no_memory(value, name)


def on_gpu(value: Any) -> bool:
    """Whether an object reports GPU memory, which the host must not read."""
    on_host = getattr(value, "on_host", None)
    if on_host is not None:
        return not on_host
    return bool(getattr(value, "is_cuda", False)) or hasattr(value, "__cuda_array_interface__")


def _address(value: int, name: object) -> int:
    if isinstance(value, (bool, enum.Enum)):
        raise TypeError(f"{name}: expected device memory, got {described(value)}")
    if not 0 <= value <= _HIGHEST_ADDRESS:
        raise ValueError(f"{name}: {value} is no 64-bit address")
    return value


def _from_ctypes(value: Any, name: object) -> int | None:
    if isinstance(value, ctypes.c_void_p):
        return value.value
    if isinstance(value, ctypes._Pointer) and not isinstance(value, OpaquePointer):
        return ctypes.cast(value, ctypes.c_void_p).value
    if isinstance(value, OpaquePointer):
        raise TypeError(f"{name}: expected device memory, got {described(value)}")
    raise host_memory(value, name)


def _from_numpy(value: Any, name: object) -> int:
    if isinstance(value, numbers.Integral):  # numpy.uint64(address)
        return _address(int(value), name)
    raise host_memory(value, name)


def _from_torch(value: Any, name: object) -> int:
    if not mode.runtime.has(value):
        raise mode.runtime.refused(value, name, f"torch device '{value.device}'")
    if why := unreadable(value):
        raise TypeError(f"{name}: {why}")
    return int(value.data_ptr())


def _from_interface(value: object, interface: Any, name: object) -> int:
    try:
        return int(interface["data"][0])
    except (KeyError, TypeError, IndexError, ValueError):
        raise TypeError(
            f"{name}: the __cuda_array_interface__ of this {type_name(value)} has no address in "
            f"'data': {interface!r}"
        ) from None


def _from_dlpack(value: Any, name: object) -> int:
    try:
        device_type, _ = device_of(value)
        if device_type not in mode.runtime.dlpack_devices:
            raise mode.runtime.refused(value, name, f"DLPack device type {device_type}")
        capsule = request_capsule(value, None if device_type == DLDeviceType.CPU else -1)
        # The object keeps the memory alive during the call, not this capsule.
        address: int = managed_tensor(capsule).dl_tensor.address
    except BufferError as error:
        raise TypeError(f"{name}: {error}") from None
    return address


def _is_host_memory(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return True
    try:
        memoryview(value)  # type: ignore[arg-type]
    except TypeError:
        return False
    return True


def _no_memory(value: object, name: object) -> TypeError:
    return TypeError(
        f"{name}: expected device memory (a DeviceBuffer, a DeviceTensor, an object with "
        f"__cuda_array_interface__ or __dlpack__, an address, or None), got {described(value)}"
    )
