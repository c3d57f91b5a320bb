"""The records of descriptors by address: read from C once, dropped when a call may change them.

`descriptors` has one record class and one reader per kind; it is imported on first use.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from .ctypes_support import CudnnEnum, OpaquePointer
from .enums import CUDNN_DATA_DOUBLE
from .process import Bounded
from .strides import has_gaps

_numbers = itertools.count(1)


def unique() -> int:
    """A number that was never returned before."""
    return next(_numbers)


def tokens() -> Bounded[Any, int]:
    """A table with the same number for equal values, and another for each other value.

    A value that was dropped gets a new number, never another value's.
    """
    return Bounded(lambda value: unique(), most=32768)


Reader = Callable[..., Any]

_readers: dict[type, Reader] = {}


class Fitting(set[Any]):
    """The keys of typed memory that fitted a record; None stands for plain addresses.

    Comparing a PyTorch tensor with the last one that fitted is faster than computing its key.
    `kind` is the last one's class, `runtime` its device, `alike` the function that compares, and
    `last_key` its key.
    """

    kind: Any = None
    runtime: Any = None
    alike: Any = None
    last_key: Any = None


_NOTHING_FITS = Fitting()


class Entry:
    """The cache entry of a descriptor's record, which is None while it is being read.

    `scalar` is the C type of the tensor's scaling factors: double for DOUBLE, else float.
    `fitting` has the keys of typed memory that fitted. `token` is one number for all descriptors
    with an equal record; it is None without a record, and once the record is dropped. The owner of
    a descriptor keeps the entry and reads only its token.

    Dropping a record removes its entry from the cache. So a record that a reader stores later in
    that entry is lost and never stale.
    """

    __slots__ = ("fitting", "forgotten", "record", "scalar", "token")

    def __init__(self) -> None:
        self.record: Any = None
        self.scalar: Any = None
        self.token: int | None = None
        self.fitting: Fitting = _NOTHING_FITS
        self.forgotten: bool = False

    def fill(self, record: Any) -> None:
        """Store a record, and the values that launches need from it."""
        data_type = data_type_of(record)
        self.scalar = ctypes.c_double if data_type == CUDNN_DATA_DOUBLE else ctypes.c_float
        if hasattr(record, "data_type"):  # it describes memory
            self.fitting = _fitting[record]
        try:
            self.token = _tokens[record]
        except TypeError:  # not hashable: it holds what was set by labels
            self.token = unique()
        self.record = record
        if self.forgotten:  # by another thread, while it was read
            self.token = None

    def drop(self) -> None:
        """Mark the record as dropped for the owners who keep this entry."""
        self.forgotten = True
        self.token = None


_fitting: Bounded[Any, Fitting] = Bounded(lambda record: Fitting((None,)))
_tokens = tokens()  # of records


def data_type_of(record: Any) -> Any:
    """The data type of a tensor's record, or an operation's compute type; None if neither."""
    for name in ("data_type", "compute_data_type"):
        if (data_type := getattr(record, name, None)) is not None:
            return data_type
    return None


def scalar_type(describers: Sequence[Any]) -> Any:
    """The data type by which C reads a host scalar: a double for DOUBLE, else a float.

    None if nothing is known of the records and data types that describe it. Of two tensors C reads
    a double if one is DOUBLE; but for x of another type, where its kernel for dense memory of one
    layout copies x to y, it reads a float (cudnnTransformTensor of cuDNN 9.19).
    """
    types = [each if isinstance(each, CudnnEnum) else data_type_of(each) for each in describers]
    types = [each for each in types if each is not None]
    if CUDNN_DATA_DOUBLE not in types:
        return types[0] if types else None
    if types[0] != CUDNN_DATA_DOUBLE and _are_alike(*describers):
        return types[0]
    return CUDNN_DATA_DOUBLE


def _are_alike(x: Any, y: Any) -> bool:
    """Whether two tensors have the same strides and no gaps, and the kernel for them.

    The channels of four dimensions and more may be inside if there are several, of several pixels.
    Of five dimensions there are several.
    """
    if not (hasattr(x, "strides") and hasattr(y, "strides")):  # the call is refused for its kind
        return False
    if x.shape != y.shape or x.strides != y.strides or has_gaps(x.shape, x.strides):
        return False
    if len(x.shape) > 4 and x.shape[1] == 1:
        return False
    inside = len(x.shape) > 3 and x.strides[1] == 1
    return not inside or (x.shape[1] > 1 and math.prod(x.shape[2:]) > 1)


class Unreadable(Exception):
    """A descriptor that was never set, or that C does not let be read."""


cache: dict[bytes, Entry] = {}
"""Entries by ``bytes(handle)``, which is ctypes' fastest way to a handle's address."""


def reader(kind: type) -> Callable[[Reader], Reader]:
    """Register the function that reads descriptors of a kind.

    It receives the arguments of `record`, and raises `Unreadable` for a descriptor that was never
    set.
    """

    def register(read: Reader) -> Reader:
        _readers[kind] = read
        return read

    return register


def record(descriptor: Any, *arguments: Any) -> Any:
    """The record of a descriptor's values.

    - `descriptor`: a handle of layer 1, or an object of layer 2. None is NULL.
    - `*arguments`: for a dropout descriptor the cuDNN handle, which C needs to read it.

    Returns the record of its kind; None for NULL, for a descriptor that was created but never set,
    and for kinds that C does not let be read.

    Raises ClosedError if an object of layer 2 is closed. Raises TypeError if `descriptor` is no
    descriptor.
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
    try:
        place.fill(found := read(handle, *arguments))
    except Unreadable:
        forget(handle)
        return None
    return found


@functools.cache
def _loaded_readers() -> dict[type, Reader]:
    importlib.import_module(".descriptors", __package__)
    return _readers


def place(descriptor: Any) -> Entry:
    """The cache entry of a descriptor's record, for launches; `NOTHING` without a record."""
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
"""The entry for objects without a record."""


def _key(descriptor: Any) -> bytes:
    return bytes(getattr(descriptor, "_as_parameter_", descriptor))


def note(descriptor: Any, record: Any) -> None:
    """Store the record of a descriptor that C does not let be read."""
    forget(descriptor)
    cache.setdefault(_key(descriptor), Entry()).fill(record)


def forget(descriptor: Any) -> None:
    """Drop the record of a descriptor that may have changed."""
    if not isinstance(descriptor, OpaquePointer):
        descriptor = getattr(descriptor, "_as_parameter_", None)
        if descriptor is None:
            return
    if (known := cache.pop(bytes(descriptor), None)) is not None:
        known.drop()


class Call(NamedTuple):
    """A C call: the function's name, and arguments by the names of their parameters.

    Of the arguments it has descriptors and enumerators at least.
    """

    function: str
    arguments: Mapping[str, Any]

    def record(self, parameter: str) -> Any:
        """The record of a descriptor; None for one that was never set."""
        return record(self.arguments[parameter])
