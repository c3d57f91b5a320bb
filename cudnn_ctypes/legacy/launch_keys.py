"""What a launch looks at in its arguments: their part of its key, and where memory is.

Two calls with equal keys launch the same C functions with the same arguments, but for addresses. A
part is all that an operation may learn of an argument, but for the address of its memory.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from ctypes import c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..device import DeviceBuffer, DeviceTensor, as_tensor, pytorch
from ..device.buffer import check_reachable
from ..raw import mode, records
from ..raw.ctypes_support import CudnnEnum
from .descriptor import Descriptor

__all__ = ["Look", "NoKey", "is_foreign", "look"]

_LOWEST_ADDRESS = 1 << 32  # of device memory; smaller ints are numbers

Look = tuple[Any, Any]
"""Part of the key, and the address of memory: a ``c_void_p``, or None where it is no memory."""


class NoKey(Exception):
    """An argument that may decide how an operation is launched, and that nothing stands for."""


def _at_number(value: Any) -> Look:
    return (type(value), value), None


def _at_float(value: float) -> Look:
    # 0.0 equals -0.0, and NaN does not equal itself.
    return (float, value if value and value == value else repr(value)), None


def _at_int(value: int) -> Look:
    if value >= _LOWEST_ADDRESS:
        return "address", c_void_p(value)
    return (int, value), None


def _at_address(value: ctypes.c_void_p) -> Look:
    return "address" if value.value else "NULL", value


def _at_sequence(value: Sequence[Any]) -> Look:
    if set(map(type, value)) == {int}:  # the usual case: lengths, labels
        return (type(value), *value), None
    return (type(value), *[look(each)[0] for each in value]), None


def _at_array(value: NDArray[Any]) -> Look:
    """Of the host: numbers that C reads at once."""
    if value.dtype.hasobject:
        raise NoKey
    return (value.dtype.str, value.shape, value.tobytes()), None


def _at_device_tensor(value: DeviceTensor) -> Look:
    memory = value._memory
    if memory is None or value._whole is not None or type(memory) is DeviceBuffer:
        memory = value._open()  # ClosedError
    on_host = memory.on_host
    if on_host != mode.reference_device_active:
        check_reachable(memory)
    pointer = c_void_p(memory.ptr + value._offset if value._nbytes else 0)
    where = -1 if on_host else memory.device_id
    kind = value._data_type._value_
    return (kind, value._shape, value._strides, where, value._readonly), pointer


def _at_buffer(value: DeviceBuffer) -> Look:
    root = value._root()  # ClosedError
    on_host = root.on_host
    if on_host != mode.reference_device_active:
        check_reachable(value)
    nbytes = value._nbytes
    pointer = c_void_p(root.ptr + value._offset if nbytes else 0)
    return ("buffer", nbytes, -1 if on_host else root.device_id), pointer


def _at_torch(value: Any) -> Look:
    seen_as = value.requires_grad, value.is_neg(), value.is_conj()
    part = value.dtype, value.shape, value.stride(), value.device, seen_as
    return part, c_void_p(value.data_ptr())


def _at_descriptor(value: Descriptor[Any]) -> Look:
    address = bytes(value._as_parameter_)
    place = records.cache.get(address)
    held = None if place is None else place.record
    if held is None and (held := records.record(value)) is None:
        raise NoKey
    return (address, id(held)), None


def _at_descriptors(value: Any) -> Look:
    return (type(value), *[_at_descriptor(each)[0] for each in value.descriptors]), None


def _at_foreign(value: Any, launcher: Any) -> Look:
    """Memory of a library that speaks DLPack or ``__cuda_array_interface__``."""
    try:
        tensor = as_tensor(value, stream=launcher.stream)
    except Exception:  # said again, with the argument's name, by the operation itself
        raise NoKey from None
    part, pointer = _at_device_tensor(tensor)
    pointer.tensor = tensor  # what the exporter lends is held until the launch
    return ("foreign", part), pointer


def _at_unknown(value: Any) -> Look:
    raise NoKey


_LOOKS: dict[type, Callable[..., Look]] = {
    type(None): lambda value: (None, None),
    str: lambda value: (value, None),
    bool: _at_number,
    float: _at_float,
    int: _at_int,
    tuple: _at_sequence,
    list: _at_sequence,
    c_void_p: _at_address,
    DeviceTensor: _at_device_tensor,
    DeviceBuffer: _at_buffer,
    np.ndarray: _at_array,
}


def look(value: Any, launcher: Any = None) -> Look:
    """The part of the key that an argument is, and its address if it is memory.

    Parameters
    ----------
    launcher : Handle or StreamLauncher, optional
        Its stream waits for what another library has under way with its memory.

    Raises
    ------
    NoKey
        If nothing stands for it; ClosedError if it is closed.
    """
    kind = type(value)
    at = _LOOKS.get(kind) or _classified(kind)
    return _at_foreign(value, launcher) if at is _at_foreign else at(value)


def is_foreign(value: Any) -> bool:
    """Whether it is a tensor whose memory its library lends for one call."""
    return _LOOKS.get(type(value)) is _at_foreign


def _classified(kind: type) -> Callable[..., Look]:
    at: Callable[..., Look] = _at_unknown
    if hasattr(kind, "_look"):  # it says itself
        at = kind._look
    elif pytorch.is_torch(kind):
        at = _at_torch
    elif hasattr(kind, "descriptors"):  # also those that it refers to
        at = _at_descriptors
    elif issubclass(kind, Descriptor):
        at = _at_descriptor
    elif issubclass(kind, (CudnnEnum, np.generic, np.dtype, type)) or _is_frozen(kind):
        at = _at_number
    elif hasattr(kind, "__dlpack__") or hasattr(kind, "__cuda_array_interface__"):
        at = _at_foreign
    _LOOKS[kind] = at
    return at


def _is_frozen(kind: type) -> bool:
    """Whether its instances are plain data: an ``AlgorithmRow``, say."""
    parameters = getattr(kind, "__dataclass_params__", None)
    return bool(parameters and parameters.frozen)
