"""Small matrix products on one thread.

OpenBLAS divides products of more than 2^18 multiply-adds among all threads, and waits for them. If
other programs keep the cores busy, waiting costs more than a small product itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext

import numpy as np

from ..raw.process import one_blas_thread
from .tiles import Array

SMALL = 1 << 26  # multiply-adds: one or two milliseconds on one core


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
    with np.errstate(all="ignore"), one_blas_thread() if multiply_adds <= SMALL else nullcontext():
        yield
