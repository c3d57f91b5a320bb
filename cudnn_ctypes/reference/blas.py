"""Small matrix products on one thread.

OpenBLAS divides products of more than 2^18 multiply-adds among all threads, and waits for them. If
other programs keep the cores busy, waiting costs more than a small product itself.
"""

from __future__ import annotations

import ctypes
import functools
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..raw.locks import in_a_child, new_lock

__all__ = ["product", "products_of"]

Array = NDArray[Any]

SMALL = 1 << 26  # multiply-adds: one or two milliseconds on one core

_lock = new_lock()
_inside: list[int] = []  # the threads of Python in `products_of`, once for each time
_before = 1  # the number of BLAS threads outside of it


def product(a: Array, b: Array) -> Array:
    """a @ b, the product of the last two dimensions."""
    with products_of(a.shape[-2] * a.shape[-1] * b.shape[-1]):
        result: Array = a @ b
    return result


@contextmanager
def products_of(multiply_adds: int) -> Iterator[None]:
    """Restrict NumPy's BLAS to one thread inside ``with``, if products of this size are small.

    Without OpenBLAS it has no effect. Other Python threads have one BLAS thread meanwhile, too.
    Infinities and NaN are results like others, so NumPy does not warn of them. (With OpenBLAS's
    kernels for aarch64 with SME it also warns of finite products.)
    """
    with np.errstate(all="ignore"), _one_thread() if multiply_adds <= SMALL else nullcontext():
        yield


@contextmanager
def _one_thread() -> Iterator[None]:
    global _before
    threads = _threads()
    if threads is None:
        yield
        return
    get, set_ = threads
    with _lock:
        if not _inside:
            _before = get()
            set_(1)
        _inside.append(threading.get_ident())
    try:
        yield
    finally:
        with _lock:
            _inside.remove(threading.get_ident())
            if not _inside:
                set_(_before)


def _leave_others() -> None:
    """In a forked child: the threads that it does not have are in no product."""
    was_inside, own = bool(_inside), threading.get_ident()
    _inside[:] = [each for each in _inside if each == own]
    threads = _threads() if was_inside and not _inside else None
    if threads is not None:
        threads[1](_before)


in_a_child(_leave_others)


@functools.cache
def _threads() -> tuple[Callable[[], int], Callable[[int], None]] | None:
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
