"""Keys of launches: what an operation may learn of its arguments, but for the address of memory.

Two calls with equal keys launch the same C functions with the same arguments, but for addresses.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from typing import Any

from ..device import DeviceBuffer, DeviceTensor, pytorch
from ..raw import records
from ..raw.ctypes_support import CudnnEnum
from .descriptor import Descriptor

__all__ = ["NoKey", "signature"]

_LOWEST_ADDRESS = 1 << 32  # of device memory; smaller ints are numbers


class NoKey(Exception):
    """An argument that may decide how an operation is launched, and that nothing stands for."""


def _of_number(value: Any) -> Any:
    return type(value), value


def _of_int(value: int) -> Any:
    return "address" if value >= _LOWEST_ADDRESS else (int, value)


def _of_address(value: ctypes.c_void_p) -> Any:
    return "address" if value.value else "NULL"


def _of_sequence(value: Sequence[Any]) -> Any:
    return type(value), tuple(map(signature, value))


def _of_device_tensor(value: DeviceTensor) -> Any:
    memory = value._open()
    where = -1 if memory.on_host else memory.device_id
    return value._data_type, value._shape, value._strides, where, value._readonly


def _of_buffer(value: DeviceBuffer) -> Any:
    return "buffer", value.nbytes, -1 if value.on_host else value.device_id


def _of_torch(value: Any) -> Any:
    return value.dtype, value.shape, value.stride(), value.device, value.requires_grad


def _of_descriptor(value: Descriptor[Any]) -> Any:
    handle = value._as_parameter_
    place = records.cache.get(bytes(handle))
    held = None if place is None else place.record
    if held is None and (held := records.record(handle)) is None:
        raise NoKey
    return bytes(handle), id(held)


def _of_descriptors(value: Any) -> Any:
    return type(value), tuple(map(signature, value.descriptors))


def _of_unknown(value: Any) -> Any:
    raise NoKey


_SIGNATURES: dict[type, Callable[[Any], Any]] = {
    type(None): lambda value: None,
    str: lambda value: value,
    bool: _of_number,
    float: _of_number,
    int: _of_int,
    tuple: _of_sequence,
    list: _of_sequence,
    ctypes.c_void_p: _of_address,
    DeviceTensor: _of_device_tensor,
    DeviceBuffer: _of_buffer,
}


def signature(value: Any) -> Any:
    """The part of the key that an argument is.

    Raises
    ------
    NoKey
        If nothing stands for it; ClosedError if it is closed.
    """
    kind = type(value)
    return (_SIGNATURES.get(kind) or _classified(kind))(value)


def _classified(kind: type) -> Callable[[Any], Any]:
    of: Callable[[Any], Any] = _of_unknown
    if pytorch.is_torch(kind):
        of = _of_torch
    elif issubclass(kind, Descriptor):
        of = _of_descriptor
    elif issubclass(kind, CudnnEnum) or _is_frozen(kind):
        of = _of_number
    elif hasattr(kind, "descriptors"):
        of = _of_descriptors
    _SIGNATURES[kind] = of
    return of


def _is_frozen(kind: type) -> bool:
    """Whether its instances are plain data: an ``AlgorithmRow``, say."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return bool(parameters and parameters.frozen and not hasattr(kind, "descriptors"))
