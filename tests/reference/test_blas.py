"""Small products run on one thread of BLAS, and leave its number of threads as it was."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from cudnn_ctypes.raw import process
from cudnn_ctypes.reference import blas
from cudnn_ctypes.reference.blas import product, products_of


@pytest.fixture
def threads(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of threads of a BLAS that stands in for NumPy's, as it was set over time."""
    numbers = [3]
    monkeypatch.setattr(process, "_blas_threads", lambda: (lambda: numbers[-1], numbers.append))
    return numbers


def test_large_products_have_all_threads(threads: list[int]) -> None:
    with products_of(blas.SMALL + 1):
        pass
    assert threads == [3]


def test_an_error_gives_the_threads_back(threads: list[int]) -> None:
    with pytest.raises(ZeroDivisionError), products_of(1):
        raise ZeroDivisionError
    assert threads[-1] == 3


def test_the_last_thread_of_python_gives_them_back(threads: list[int]) -> None:
    entered, leave = threading.Event(), threading.Event()

    def other() -> None:
        with products_of(1):
            entered.set()
            leave.wait(10)

    thread = threading.Thread(target=other)
    thread.start()
    assert entered.wait(10)
    with products_of(1):
        pass
    assert threads[-1] == 1
    leave.set()
    thread.join()
    assert threads == [3, 1, 3]


def test_the_blas_of_numpy_is_found_and_obeys() -> None:
    found = process._blas_threads()
    if found is None:
        pytest.skip("NumPy has no OpenBLAS here")
    before = found[0]()
    with products_of(1):
        assert found[0]() == 1
    assert found[0]() == before


def test_product_is_that_of_the_last_two_dimensions() -> None:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 1, 3, 4)), rng.standard_normal((5, 4, 6))
    np.testing.assert_array_equal(product(a, b), a @ b)


@pytest.mark.parametrize("size", [2, 600])
@pytest.mark.filterwarnings("error")
def test_infinities_and_nan_are_results_without_a_warning(size: int) -> None:
    a = np.full((size, size), 3e38, np.float32)
    assert (product(a, a) == np.inf).all()
    a[0] = np.inf
    assert np.isnan(product(a, np.zeros_like(a))[0]).all()
