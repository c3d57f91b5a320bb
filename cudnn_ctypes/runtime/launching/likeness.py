"""Reading a launch's arguments: their part of its key, and the address of memory.

Two calls with equal keys launch the same C functions with the same arguments, but for addresses: of
memory, and of descriptors, which C is given as the call has them. A part is all that an operation
may learn of an argument besides.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from ctypes import c_void_p
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.raw import mode, records
from cudnn_ctypes.raw.ctypes_support import CudnnEnum
from cudnn_ctypes.raw.process import Bounded
from cudnn_ctypes.raw.records import tokens

from .. import pytorch
from ..buffer import DeviceBuffer
from ..tensor import DeviceTensor, as_tensor

ALIGNMENT = 16
"""Alignment of addresses in bytes that cuDNN's kernels for fused operations ask about."""

LOWEST_ADDRESS = 1 << 32
"""Lowest address of device memory; smaller ints are numbers."""

Look = tuple[Any, Any]
"""Part of the key, and what C is given that the part does not say: a ``c_void_p`` for memory, a
descriptor's pointer or a list of them, or None."""


_ADDRESS, _NULL = object(), object()


class NoKey(Exception):
    """An argument that may decide how an operation is launched, and that nothing stands for."""


class Plans(dict[Any, Any]):
    """Prepared launches by their keys (see `forms`), None for others; the least recently used go.

    Half of them are here; once these are full they become `older`. Those of the older ones that
    are used come back, and the others go when the next half is full. So a launch notes nothing.
    """

    __slots__ = ("older",)
    MOST = 24576

    def __init__(self) -> None:
        self.older: dict[Any, Any] = {}

    def __missing__(self, key: Any) -> Any:
        found = self.older.pop(key, None)
        if found is not None:
            self.keep(key, found)
        return found

    def keep(self, key: Any, found: Any) -> None:
        """Have a launch found by this key; the first of `found` is its plan."""
        if len(self) >= self.MOST // 2:
            self.older = dict(self)
            super().clear()
        self[key] = found
        # What launches look at lies between what their first ones left behind. Many launches in
        # turn take less time where it lies together.
        if len(self) >= _MANY and not len(self) % _MANY:
            everything = [*self.items()]
            super().clear()
            self.update([(_copied(key), found[0].copied(found)) for key, found in everything])

    def clear(self) -> None:
        super().clear()
        self.older = {}


_MANY = 1024


def _copied(key: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple([(*part,) if isinstance(part, tuple) else part for part in key])


def _at_float(value: float, launcher: Any) -> Look:
    # 0.0 equals -0.0, and NaN does not equal itself.
    return (float, value if value and value == value else repr(value)), None


def _at_int(value: int, launcher: Any) -> Look:
    if value >= LOWEST_ADDRESS:
        return _ADDRESS, c_void_p(value)
    return (int, value), None


def _at_sequence(value: Sequence[Any], launcher: Any) -> Look:
    if set(map(type, value)) == {int}:  # the usual case: lengths, labels
        return (type(value), *value), None
    return (type(value), *[look(each, launcher)[0] for each in value]), None


def _at_array(value: NDArray[Any], launcher: Any) -> Look:
    """Look at a host array: C reads its numbers at once."""
    if value.dtype.hasobject:
        raise NoKey
    return (value.dtype.str, value.shape, value.tobytes()), None


def _at_own(value: DeviceTensor | DeviceBuffer, launcher: Any) -> Look:
    keyed = value._keyed
    if keyed is None or value._runtime is not mode.runtime:
        keyed = value.keyed()  # ClosedError, or memory that cannot be reached
    return keyed


def _at_torch(value: Any, launcher: Any) -> Look:
    # Who cannot be read is refused by the operation itself, with the argument's name: those that
    # are negated when read alone have the shape and type of tensors that are not.
    try:
        address = value.data_ptr()
        form = value.dtype, value.shape, value.stride(), value.device, value.requires_grad
    except RuntimeError:  # sparse, nested, in torch.func's transformations
        raise NoKey from None
    if value.is_neg() or not (address or value.numel() == 0):
        raise NoKey
    return form, c_void_p(address)


def look_at_descriptors(value: Any, launcher: Any) -> Look:
    """Look at an object with `descriptors`."""
    part: list[Any] = [value.__class__]
    pointers: list[Any] = []
    for descriptor in value.descriptors:
        part.append(descriptor._place.token or token_of(descriptor))
        pointers.append(descriptor._as_parameter_)
    return tuple(part), pointers


def _at_descriptor(value: Any, launcher: Any) -> Look:
    return value._place.token or token_of(value), value._as_parameter_


def token_of(descriptor: Any) -> int:
    """The token of a descriptor's record, which is read now."""
    descriptor._place = records.place(descriptor._as_parameter_)
    token: int | None = descriptor._place.token
    if token is None:
        raise NoKey
    return token


_frozen = tokens()
_frozen_by_id: Bounded[int, tuple[Any, int]] = Bounded()


def _at_frozen(value: Any, launcher: Any) -> Look:
    """Look at plain data, remembered by identity: its hash is computed anew each time."""
    known = _frozen_by_id.get(id(value))
    if known is not None and known[0] is value:
        return known[1], None
    try:
        token = _frozen[type(value), value]
    except TypeError:  # not hashable
        raise NoKey from None
    _frozen_by_id.keep(id(value), (value, token))
    return token, None


def _at_foreign(value: Any, launcher: Any) -> Look:
    """Memory of a library that speaks DLPack or ``__cuda_array_interface__``."""
    try:
        tensor = as_tensor(value, stream=launcher.stream)
    except Exception:  # said again, with the argument's name, by the operation itself
        raise NoKey from None
    token, pointer = tensor.keyed()
    tensor._keyed = None  # or it would keep itself alive
    pointer.tensor = tensor  # type: ignore[attr-defined]  # what is lent is held until the launch
    return ("foreign", token), pointer


def _plain(value: Any, launcher: Any) -> Look:
    return value, None


def _number(value: Any, launcher: Any) -> Look:
    return (value.__class__, value), None


def _unknown(value: Any, launcher: Any) -> Look:
    raise NoKey


_BY_CLASS: dict[type, tuple[str, Callable[..., Look]]] = {
    type(None): ("none", _plain),
    str: ("number", _plain),
    bool: ("number", _number),
    float: ("float", _at_float),
    int: ("int", _at_int),
    tuple: ("other", _at_sequence),
    list: ("other", _at_sequence),
    c_void_p: ("other", lambda value, _: (_ADDRESS if value.value else _NULL, value)),
    DeviceTensor: ("own", _at_own),
    DeviceBuffer: ("own", _at_own),
    np.ndarray: ("other", _at_array),
}


def _reading(kind: type) -> tuple[str, Callable[..., Look]]:
    """How objects of a class are read: see `kinds` and `looks`."""
    if kind in _BY_CLASS:
        return _BY_CLASS[kind]
    if hasattr(kind, "_look"):  # it says itself
        return "other", kind._look
    if pytorch.is_torch(kind):
        return "torch", _at_torch
    if hasattr(kind, "launch_key"):  # a handle, or a stream and its device
        return "other", lambda value, _: (value.launch_key, value._as_parameter_)
    if hasattr(kind, "descriptors"):  # also those that it refers to
        return "other", look_at_descriptors
    if hasattr(kind, "_place"):
        return "descriptor", _at_descriptor
    if issubclass(kind, (CudnnEnum, np.generic, np.dtype, type)):
        return "number", _number
    if getattr(getattr(kind, "__dataclass_params__", None), "frozen", False):
        return "other", _at_frozen
    if hasattr(kind, "__dlpack__") or hasattr(kind, "__cuda_array_interface__"):
        return "foreign", _at_foreign
    return "other", _unknown


_readings: Bounded[type, tuple[str, Callable[..., Look]]] = Bounded(_reading)
looks: Bounded[type, Callable[..., Look]] = Bounded(lambda kind: _readings[kind][1])
"""Functions by class, from an argument and the launcher to its `Look`."""
kinds: Bounded[type, str] = Bounded(lambda kind: _readings[kind][0])
"""How objects of a class are read: memory is "torch", "own" or "foreign" (another library's)."""


def look(value: Any, launcher: Any = None) -> Look:
    """The part of the key that an argument is, and its address if it is memory.

    - `launcher`: its stream waits for what another library has under way with its memory.

    Raises NoKey if nothing stands for it; ClosedError if it is closed.
    """
    return looks[type(value)](value, launcher)


def aligned(at: Iterable[Any]) -> tuple[bool, ...]:
    """True for each address that is a multiple of `ALIGNMENT` bytes."""
    return tuple([(each.value or 0) % ALIGNMENT == 0 for each in at if each.__class__ is c_void_p])


def kind_of_look(value: Any) -> str:
    """The kind of reading that recognizes an argument like this one (see `Form`)."""
    kind = kinds[type(value)]
    if kind == "int" and value >= LOWEST_ADDRESS:
        return "address"
    if kind == "torch":
        plain = not (value.requires_grad or value.dtype.is_complex)
        return kind if plain and value.device.type in ("cuda", "cpu") else "other"
    return "other" if kind == "foreign" else kind
