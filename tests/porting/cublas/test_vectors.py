"""cublas: operations on vectors, against SciPy's BLAS; scalars on the host and on the device."""

from __future__ import annotations

from ctypes import byref, c_double, c_float, c_int
from typing import Any

import numpy as np
import pytest
from scipy.linalg import blas

from cudnn_ctypes import cublas

from .memory import device

TYPES = {"S": np.float32, "D": np.float64}
SCALARS = {"S": c_float, "D": c_double}
STEPS = [(1, 1), (2, 1), (1, 3), (-1, 2), (-2, -3)]
N = 5


def vectors(dtype: Any, *steps: int) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal(1 + (N - 1) * abs(step)).astype(dtype) for step in steps]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize(("incx", "incy"), STEPS)
@pytest.mark.parametrize("name", ["axpy", "copy", "swap", "dot"])
def test_two_vectors(any_device: str, letter: str, name: str, incx: int, incy: int) -> None:
    x, y = vectors(TYPES[letter], incx, incy)
    oracle = getattr(blas, letter.lower() + name)
    factor = {"a": 0.75} if name == "axpy" else {}
    expected = oracle(x.copy(), y.copy(), n=N, incx=incx, incy=incy, **factor)
    function = getattr(cublas, f"cublas{letter}{name}")
    tolerance = 16 * np.finfo(x.dtype).eps
    with device() as (handle, memory):
        px, py, total = memory.put(x), memory.put(y), SCALARS[letter](np.nan)
        first = (handle, N, 0.75) if name == "axpy" else (handle, N)
        function(*first, px, incx, py, incy, *([byref(total)] if name == "dot" else []))
        found_x, found_y = memory.get(px, x), memory.get(py, y)
    if name == "dot":
        np.testing.assert_allclose(total.value, expected, rtol=0, atol=tolerance)
        expected = y
    expected_x, expected_y = expected if name == "swap" else (x, expected)
    np.testing.assert_allclose(found_x, expected_x, rtol=tolerance)
    np.testing.assert_allclose(found_y, expected_y, rtol=tolerance)


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("incx", [1, 3])
def test_one_vector(any_device: str, letter: str, incx: int) -> None:
    dtype, scalar = TYPES[letter], SCALARS[letter]
    (x,) = vectors(dtype, incx)
    small, prefix = letter.lower(), f"cublas{letter}"
    with device() as (handle, memory):
        px = memory.put(x)
        for name in ("nrm2", "asum"):
            total = scalar(np.nan)
            getattr(cublas, prefix + name)(handle, N, px, incx, byref(total))
            expected = getattr(blas, small + name)(x, n=N, incx=incx)
            assert total.value == pytest.approx(expected, rel=float(8 * np.finfo(dtype).eps))
        place = c_int(-1)
        getattr(cublas, f"cublasI{small}amax")(handle, N, px, incx, place)
        assert place.value == getattr(blas, f"i{small}amax")(x, n=N, incx=incx) + 1
        getattr(cublas, f"{prefix}scal")(handle, N, byref(scalar(-2)), px, incx)
        expected = x.copy()
        expected[: 1 + (N - 1) * incx : incx] *= -2
        assert memory.get(px, x).tolist() == expected.tolist()


def test_norms_do_not_overflow(any_device: str) -> None:
    with device() as (handle, memory):
        px, total = memory.put(np.full(4, 1e30, np.float32)), c_float()
        cublas.cublasSnrm2(handle, 4, px, 1, byref(total))
        assert total.value == pytest.approx(2e30, rel=1e-6)


@pytest.mark.parametrize("n", [0, -3])
def test_nothing_to_add_up(any_device: str, n: int) -> None:
    with device() as (handle, memory):
        px = memory.put(np.ones(4, np.float32))
        for function in (cublas.cublasSasum, cublas.cublasSnrm2):
            total = c_float(7)
            function(handle, n, px, 1, byref(total))
            assert total.value == 0
        cublas.cublasSscal(handle, n, 5.0, px, 1)
        assert memory.get(px, np.empty(4, np.float32)).tolist() == [1, 1, 1, 1]


def test_scalars_on_the_device(any_device: str) -> None:
    mode, x = cublas.cublasPointerMode_t(), np.arange(4, dtype=np.float32)
    with device() as (handle, memory):
        cublas.cublasSetPointerMode(handle, cublas.CUBLAS_POINTER_MODE_DEVICE)
        cublas.cublasGetPointerMode(handle, byref(mode))
        assert mode.value == cublas.CUBLAS_POINTER_MODE_DEVICE
        px, alpha = memory.put(x), memory.put(np.array([3], np.float32))
        total = memory.put(np.array([np.nan], np.float32))
        cublas.cublasSscal(handle, 4, alpha, px, 1)
        cublas.cublasSdot(handle, 4, px, 1, px, 1, total)
        assert memory.get(px, x).tolist() == [0, 3, 6, 9]
        assert memory.get(total, np.empty(1, np.float32)) == 126
        with pytest.raises(TypeError, match="alpha"):
            cublas.cublasSscal(handle, 4, c_float(3), px, 1)


@pytest.mark.parametrize("wrong", [None, 3.0, c_double(), byref(c_double()), "x"])
def test_what_no_result_can_be_stored_in(any_device: str, wrong: Any) -> None:
    with device() as (handle, memory):
        px = memory.put(np.ones(4, np.float32))
        with pytest.raises((TypeError, cublas.CudaError), match="result"):
            cublas.cublasSasum(handle, 4, px, 1, wrong)


def test_copies_of_matrices_and_vectors(any_device: str) -> None:
    """Two of three rows go up into columns of four, and every second element of a vector."""
    a = np.asfortranarray(np.arange(12, dtype=np.float32).reshape(3, 4))
    with device() as (_, memory):
        pa = memory.put(np.zeros((4, 4), np.float32, order="F"))
        cublas.cublasSetMatrix(2, 4, 4, a, 3, pa, 4)
        back = np.full((3, 4), np.nan, np.float32, order="F")
        cublas.cublasGetMatrix(2, 4, 4, pa, 4, back, 3)
        assert back[:2].tolist() == a[:2].tolist()
        assert np.isnan(back[2]).all()
        px, y = memory.put(np.zeros(8, np.float32)), np.full(4, np.nan, np.float32)
        cublas.cublasSetVector(4, 4, np.arange(4, dtype=np.float32), 1, px, 2)
        assert memory.get(px, np.empty(8, np.float32)).tolist() == [0, 0, 1, 0, 2, 0, 3, 0]
        cublas.cublasGetVector(4, 4, px, 2, y, 1)
        assert y.tolist() == [0, 1, 2, 3]
        status = cublas.cublasSetMatrix.unchecked(3, 4, 4, a, 2, pa, 4)
        assert status == cublas.CUBLAS_STATUS_INVALID_VALUE
