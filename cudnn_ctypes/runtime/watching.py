"""Being told of the memory that this package allocates and frees; it costs nothing while nobody is.

The methods that allocate and free are exchanged for as long as somebody watches.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any, Protocol

from ..raw.process import new_lock
from .allocation import Allocation, Allocator

_methods: Any = (Allocator.allocated, Allocation.__del__)
_lock = new_lock()
_watchers: tuple[Watcher, ...] = ()


class Watcher(Protocol):
    """Who is told; in any thread, and by finalizers at any time."""

    def allocated(self, address: int, nbytes: int) -> None:
        """Memory was allocated."""

    def freed(self, address: int) -> None:
        """Memory is going to be freed, or kept by its allocator for the next one who wants some."""


def watch(watcher: Watcher) -> None:
    """Tell `watcher` of all memory from now on."""
    global _watchers
    with _lock:
        _watchers = (*_watchers, watcher)
        _exchange((_allocated, _del))


def unwatch(watcher: Watcher) -> None:
    """Tell it no more; a second call does nothing."""
    global _watchers
    with _lock:
        _watchers = tuple(each for each in _watchers if each is not watcher)
        if not _watchers:
            _exchange(_methods)


def tell_allocated(address: int, nbytes: int) -> None:
    """Memory was allocated; nothing happens for NULL."""
    for watcher in _watchers if address else ():
        watcher.allocated(address, nbytes)


def tell_freed(address: int) -> None:
    """Memory is going to be freed; nothing happens for NULL."""
    for watcher in _watchers if address else ():
        watcher.freed(address)


def _exchange(methods: Any) -> None:
    Allocator.allocated, Allocation.__del__ = methods  # type: ignore[method-assign]


def _allocated(allocator: Allocator, nbytes: int, kept: Any) -> Allocation:
    made: Allocation = _methods[0](allocator, nbytes, kept)
    tell_allocated(made.ptr, made.nbytes)
    return made


def _del(allocation: Allocation) -> None:
    with suppress(Exception):  # at exit the watcher's globals may be gone
        if allocation._block is not None:
            tell_freed(allocation.ptr)
    _methods[1](allocation)
