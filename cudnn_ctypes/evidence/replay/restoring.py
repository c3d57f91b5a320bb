"""Calls that create equals of descriptors which are older than a recording."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from ... import raw
from ...raw import live
from ...raw.ctypes_support import OpaquePointer
from ...raw.function import Function
from ..session import overhearing
from .allocations import NotReproducible

__all__ = ["creation"]

_Calls = list[tuple[Function, Mapping[str, Any]]]


@contextmanager
def creation(kind: type[OpaquePointer], address: int) -> Iterator[tuple[int, _Calls]]:
    """The address of an equal object, and the calls that created it; it lives inside ``with``.

    Raises
    ------
    NotReproducible
        If no equal object can be created.
    """
    if kind is raw.cudnnHandle_t:
        yield 0, [(raw.cudnnCreate, {"handle": raw.cudnnHandle_t()})]
        return
    calls: _Calls = []
    try:
        with overhearing(lambda function, arguments: calls.append((function, arguments))):
            copy = _owner(kind, address).__copy__()
    except Exception as reason:
        raise NotReproducible(f"made before the trace began, {reason}") from None
    made = live.address(copy)
    assert made is not None
    wanted = ("cudnnCreate", "cudnnSet")
    with copy:
        yield made, [each for each in calls if each[0].__name__.startswith(wanted)]


def _owner(kind: type[OpaquePointer], address: int) -> Any:
    """A descriptor of layer 2 for a raw descriptor with another owner."""
    import cudnn_ctypes

    cls = getattr(cudnn_ctypes, kind.__name__.removeprefix("cudnn").removesuffix("_t"), None)
    if cls is None:
        raise TypeError("and cuDNN does not tell what it holds")
    handle: Any = kind()
    handle.value = address
    owner = object.__new__(cls)
    owner._as_parameter_ = handle
    return owner
