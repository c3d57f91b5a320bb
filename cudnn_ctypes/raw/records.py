"""The records of descriptors by address: read from C once, forgotten when a call may change them.

`descriptors` has one record and one reader for each kind; they are loaded when one is first wanted.
"""

from __future__ import annotations

import ctypes
import dataclasses
import enum
import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

from .ctypes_support import OpaquePointer
from .enums import CUDNN_DATA_DOUBLE
from .tokens import Tokens, unique

__all__ = [
    "NOTHING",
    "Entry",
    "Fitting",
    "cache",
    "data_type_of",
    "deciding_type",
    "forget",
    "note",
    "parts",
    "place",
    "reader",
    "record",
]

Reader = Callable[..., Any]

_readers: dict[type, Reader] = {}


class Fitting(set[Any]):
    """The keys of typed memory that was found to fit a record, and None for addresses.

    Asking whether a tensor of PyTorch is like the one that fitted last is faster than asking for
    its key: by its class, on which device that was, and what compares them.
    """

    kind: Any = None
    on_host: bool = False
    alike: Any = None
    last_key: Any = None


_NOTHING_FITS = Fitting()


class Entry:
    """The place of one descriptor's record, which is None while it is being read.

    `scalar` is the C type of numbers that scale such a tensor: double for DOUBLE, else float.
    `fitting` holds the keys of typed memory that was found to fit. `token` is one number for all
    descriptors with an equal record, None without a record, and once it is forgotten: the owner of
    a descriptor keeps the place, and looks at nothing but its token.

    Who forgets a record takes its place out of the table, so what a reader stores after that is
    lost with the place, and never stale.
    """

    __slots__ = ("fitting", "forgotten", "record", "scalar", "token")

    def __init__(self) -> None:
        self.record: Any = None
        self.scalar: Any = None
        self.token: int | None = None
        self.fitting: Fitting = _NOTHING_FITS
        self.forgotten: bool = False

    def fill(self, record: Any) -> None:
        """Store a record, and what launches want to know of it."""
        data_type = data_type_of(record)
        self.scalar = ctypes.c_double if data_type == CUDNN_DATA_DOUBLE else ctypes.c_float
        if hasattr(record, "data_type"):  # it describes memory
            if len(_fitting) > _MOST_FITTING:
                _fitting.clear()
            self.fitting = _fitting.setdefault(record, Fitting((None,)))
        try:
            self.token = _tokens[record]
        except TypeError:  # not hashable: it holds what was set by labels
            self.token = unique()
        self.record = record
        if self.forgotten:  # by another thread, while it was read
            self.token = None

    def drop(self) -> None:
        """Say that the record is forgotten to those who keep its place."""
        self.forgotten = True
        self.token = None


_MOST_FITTING = 1024
_fitting: dict[Any, Fitting] = {}  # by record
_tokens = Tokens()  # of records


def data_type_of(record: Any) -> Any:
    """The data type of a tensor, or the type that an operation computes in; None if neither."""
    for name in ("data_type", "compute_data_type"):
        if (data_type := getattr(record, name, None)) is not None:
            return data_type
    return None


def deciding_type(types: Sequence[Any]) -> Any:
    """Of the data types that describe a number on the host, the one whose kind of real it has.

    C reads a double if one of them is DOUBLE.
    """
    return CUDNN_DATA_DOUBLE if CUDNN_DATA_DOUBLE in types else types[0]


cache: dict[bytes, Entry] = {}
"""By ``bytes(handle)``, which is ctypes' fastest way to the address that the handle holds."""


def reader(kind: type) -> Callable[[Reader], Reader]:
    """Register the function that reads descriptors of a kind.

    It returns None for one that was never set. Arguments of `record` are passed on to it.
    """

    def register(read: Reader) -> Reader:
        _readers[kind] = read
        return read

    return register


def record(descriptor: Any, *arguments: Any) -> Any:
    """What a descriptor holds.

    Parameters
    ----------
    descriptor
        A handle of layer 1, or an object of layer 2. None is NULL.
    *arguments
        For a dropout descriptor the cuDNN handle, without which C does not tell.

    Returns
    -------
    Tensor, Filter, Convolution, ... or None
        The record of its kind; None for NULL, for a descriptor that was created but never set, and
        for kinds that C does not let be read.

    Raises
    ------
    ClosedError
        If an object of layer 2 is closed.
    TypeError
        If it is no descriptor.
    """
    if descriptor is None:
        return None
    handle = getattr(descriptor, "_as_parameter_", descriptor)
    if not isinstance(handle, OpaquePointer):
        raise TypeError(f"expected a descriptor, got {descriptor!r} ({type(descriptor).__name__})")
    if not handle:
        return None
    known = cache.get(bytes(handle))
    if known is not None and known.record is not None:
        return known.record
    read = _readers.get(type(handle)) or _loaded_readers().get(type(handle))
    if read is None:
        return None
    place = cache.setdefault(bytes(handle), Entry())
    found = read(handle, *arguments)
    if found is None:
        forget(handle)
    else:
        place.fill(found)
    return found


def parts(descriptor: OpaquePointer) -> list[str]:
    """What a descriptor that lives holds, as text for its repr; nothing where nobody can tell."""
    from .guards.unset import MUST_BE_SET

    try:
        held = record(descriptor)
    except Exception:  # a library that lacks the function: a repr does not fail
        return []
    if held is None:
        return ["not set"] if type(descriptor).__name__ in MUST_BE_SET else []
    if not dataclasses.is_dataclass(held):
        return []
    shown = [field.name for field in dataclasses.fields(held) if field.repr]
    return [f"{name}={_text(getattr(held, name))}" for name in shown]


def _text(value: Any) -> str:
    return str(value) if isinstance(value, enum.Enum) else repr(value)


@functools.cache
def _loaded_readers() -> dict[type, Reader]:
    importlib.import_module(".descriptors", __package__)
    return _readers


def place(descriptor: Any) -> Entry:
    """The place of a descriptor's record, for launches; one that knows nothing if there is none."""
    try:
        return cache[bytes(getattr(descriptor, "_as_parameter_", descriptor))]
    except (KeyError, TypeError):
        pass
    try:
        found = record(descriptor)
    except TypeError:  # no descriptor: C's converter refuses it
        return NOTHING
    return NOTHING if found is None else cache.get(_key(descriptor), NOTHING)


NOTHING = Entry()
"""The place of what has no record."""


def _key(descriptor: Any) -> bytes:
    return bytes(getattr(descriptor, "_as_parameter_", descriptor))


def note(descriptor: Any, held: Any) -> None:
    """Store the record of a descriptor that C does not let be read."""
    forget(descriptor)
    cache.setdefault(_key(descriptor), Entry()).fill(held)


def forget(descriptor: Any) -> None:
    """Drop the record of a descriptor that may have changed."""
    if not isinstance(descriptor, OpaquePointer):
        descriptor = getattr(descriptor, "_as_parameter_", None)
        if descriptor is None:
            return
    if (known := cache.pop(bytes(descriptor), None)) is not None:
        known.drop()
