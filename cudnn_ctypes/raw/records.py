"""The records of descriptors by address: read from C once, forgotten when a call may change them.

`descriptors` has one record and one reader for each kind; they are loaded when one is first wanted.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

from .ctypes_support import OpaquePointer

__all__ = ["Entry", "cache", "forget", "note", "reader", "record"]

Reader = Callable[..., Any]

_readers: dict[type, Reader] = {}


class Entry:
    """The place of one descriptor's record, which is None while it is being read.

    Who forgets a record takes its place out of the table, so what a reader stores after that is
    lost with the place, and never stale.
    """

    __slots__ = ("record",)

    def __init__(self, record: Any = None) -> None:
        self.record = record


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
    if not _readers:
        importlib.import_module(".descriptors", __package__)
    read = _readers.get(type(handle))
    if read is None:
        return None
    place = cache[bytes(handle)] = Entry()
    found = read(handle, *arguments)
    if found is None:
        forget(handle)
    place.record = found
    return found


def note(descriptor: Any, held: Any) -> None:
    """Store the record of a descriptor that C does not let be read."""
    cache[bytes(getattr(descriptor, "_as_parameter_", descriptor))] = Entry(held)


def forget(descriptor: Any) -> None:
    """Drop the record of a descriptor that may have changed."""
    if not isinstance(descriptor, OpaquePointer):
        descriptor = getattr(descriptor, "_as_parameter_", None)
        if descriptor is None:
            return
    cache.pop(bytes(descriptor), None)
