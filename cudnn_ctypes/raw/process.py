"""State that belongs to the process: locks, the end of objects, NumPy's BLAS threads.

Fork
    A child has one thread only: a lock that another thread of the parent held would never be
    released. So each lock of this package is made here, and is free in a child unless the thread
    that forks holds it. What a lock protects changes in steps that each leave it usable.
Exit
    What is forgotten ends in one order, whenever it was made: owners of C objects, the newest
    first, then memory and cuDNN's log callback. Functions that a program registered with ``atexit``
    see an object that is open, or one that is closed and says so.
KeyboardInterrupt
    It may come between any two steps. Nothing here has to be undone by a later step of the same
    thread: what an interrupted thread leaves behind ends with its last reference.
"""

from __future__ import annotations

import atexit
import ctypes
import functools
import os
import sys
import threading
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

# --- tables --------------------------------------------------------------------------------------

_K = TypeVar("_K")
_V = TypeVar("_V")


class Bounded(dict[_K, _V]):
    """A table that is emptied when it has `most` entries and gets another one.

    - `make`: makes the entry of a key that is missing, and may be None for `keep` alone.
    """

    def __init__(self, make: Callable[[Any], _V] | None = None, most: int = 1024) -> None:
        self._make = make
        self._most = most

    def __missing__(self, key: _K) -> _V:
        if self._make is None:
            raise KeyError(key)
        return self.keep(key, self._make(key))

    def keep(self, key: _K, value: _V) -> _V:
        """Enter a value, and return it."""
        if len(self) >= self._most:
            self.clear()
        self[key] = value
        return value


# --- fork ----------------------------------------------------------------------------------------

_locks: weakref.WeakSet[Any] = weakref.WeakSet()
_child_rules: list[Callable[[], object]] = []


def new_lock() -> threading.Lock:
    """A lock."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def new_reentrant_lock() -> threading.RLock:
    """A lock that its owner may take again; the thread that forks keeps it in the child."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def in_child(rule: Callable[[], object]) -> None:
    """Have `rule` called in each forked child, after the locks are free."""
    _child_rules.append(rule)


def _begin_child() -> None:
    for lock in list(_locks):
        if not (hasattr(lock, "_is_owned") and lock._is_owned()):
            lock._at_fork_reinit()
    if sys.version_info < (3, 12):  # its cached properties have locks, too
        for name, module in list(sys.modules.items()):
            if name.startswith("cudnn_ctypes."):
                _free_properties(module)
    for rule in _child_rules:
        rule()


def _free_properties(module: Any) -> None:
    for each in list(vars(module).values()):
        if isinstance(each, type) and each.__module__ == module.__name__:
            for value in vars(each).values():
                if isinstance(value, functools.cached_property):
                    vars(value)["lock"] = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_child)


# --- exit ----------------------------------------------------------------------------------------

_exiting = False
_end_rules: list[Callable[[], object]] = []


def exiting() -> bool:
    """Whether the interpreter is at its end: what it destroys now was not forgotten."""
    return _exiting


def at_end(rule: Callable[[], object]) -> None:
    """Have `rule` called at exit after the owners of C objects were closed, the newest first."""
    _end_rules.append(rule)


def _begin_exit() -> None:
    global _exiting
    _exiting = True


def _end() -> None:
    while _end_rules:
        with suppress(Exception):  # the driver may be gone
            _end_rules.pop()()


class _First:
    """The first object with a finalizer: at exit finalizers are called the newest first."""


_first = _First()
weakref.finalize(_first, _end)
atexit.register(_begin_exit)  # after weakref's own function, and so called before it


# --- NumPy's BLAS threads ------------------------------------------------------------------------


class _Product:
    """A product that runs on one BLAS thread."""

    def __init__(self) -> None:
        self.thread: int = threading.get_ident()


_products: weakref.WeakSet[_Product] = weakref.WeakSet()
_limiting = new_lock()
_threads_before = 0  # BLAS threads to return to; 0 while there is no limit


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Restrict NumPy's BLAS to one thread inside ``with``, if it is OpenBLAS.

    Other Python threads have one BLAS thread meanwhile, too.
    """
    threads = _blas_threads()
    if threads is None:
        yield
        return
    product = _Product()
    _products.add(product)
    try:
        _limit(*threads)
        yield
    finally:
        _products.discard(product)
        _limit(*threads)


def _limit(get: Callable[[], int], set_: Callable[[int], None]) -> None:
    """Limit BLAS while there are products, and return to the number before when there are none."""
    global _threads_before
    with _limiting:
        if _products and not _threads_before:
            _threads_before = get()
            set_(1)
        elif not _products and _threads_before:
            set_(_threads_before)
            _threads_before = 0


def _forget_products_of_others() -> None:
    """In a forked child: the threads that it does not have are in no product."""
    own = threading.get_ident()
    for product in [each for each in _products if each.thread != own]:
        _products.discard(product)
    threads = _blas_threads() if _threads_before else None
    if threads is not None:
        _limit(*threads)


in_child(_forget_products_of_others)


@functools.cache
def _blas_threads() -> tuple[Callable[[], int], Callable[[int], None]] | None:
    """OpenBLAS's functions that get and set its number of threads, as NumPy's wheels name them."""
    for core in ("numpy._core._multiarray_umath", "numpy.core._multiarray_umath"):
        file = getattr(sys.modules.get(core), "__file__", None)
        if file is None:
            continue
        library = ctypes.CDLL(file)  # loaded already; its symbols include those of its BLAS
        for prefix in ("scipy_openblas", "openblas"):
            for suffix in ("64_", ""):
                try:
                    get = library[f"{prefix}_get_num_threads{suffix}"]
                    set_ = library[f"{prefix}_set_num_threads{suffix}"]
                except AttributeError:
                    continue
                set_.restype = None
                return get, set_
    return None
