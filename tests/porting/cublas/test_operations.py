"""Arrays on the device, by cudart, and a handle."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref, c_double, c_float, c_int
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from scipy.linalg import blas

import cudnn_ctypes
from cudnn_ctypes import DeviceTensor, cublas, cudart
from cudnn_ctypes.porting.cublas import CUBLAS_OP_C, CUBLAS_OP_N, CUBLAS_OP_T
from cudnn_ctypes.runtime.cuda import CudaError


class Memory:
    """Device memory for arrays, freed at the end."""

    def __init__(self) -> None:
        self.pointers: list[cudart.DevicePointer] = []

    def put(self, array: np.ndarray[Any, Any]) -> cudart.DevicePointer:
        """The bytes of an array as they lie in memory."""
        pointer = cudart.DevicePointer()
        cudart.cudaMalloc(byref(pointer), array.nbytes)
        cudart.cudaMemcpy(pointer, array, array.nbytes, cudart.cudaMemcpyHostToDevice)
        self.pointers.append(pointer)
        return pointer

    @staticmethod
    def get(pointer: Any, like: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        """An array of the shape, layout and type of another."""
        found = np.empty_like(like)
        cudart.cudaMemcpy(found, pointer, found.nbytes, cudart.cudaMemcpyDeviceToHost)
        return found


@contextmanager
def device() -> Iterator[tuple[cublas.cublasHandle_t, Memory]]:
    """A handle, and memory."""
    handle, memory = cublas.cublasHandle_t(), Memory()
    cublas.cublasCreate(byref(handle))
    try:
        yield handle, memory
    finally:
        cublas.cublasDestroy(handle)
        for pointer in memory.pointers:
            cudart.cudaFree(pointer)


# --- cublas: products of matrices, against SciPy's BLAS, which is column-major too ----------------


OPERATIONS = (CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C)
TYPES = {"S": np.float32, "D": np.float64}
SCALARS = {"S": c_float, "D": c_double}

# Sums of up to 7 products of numbers around 1, in another order than BLAS's.
TOLERANCE: dict[Any, float] = {np.float16: 4e-3, np.float32: 4e-6, np.float64: 1e-14}


def test_matrices_of_another_type(any_device):
    half, single, double = (
        DeviceTensor.zeros((2, 2), dtype) for dtype in ("float16", "float32", "float64")
    )
    with device() as (handle, _):
        begin = handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, 1
        cublas.cublasSgemm(*begin, single, 2, single, 2, 0, single, 2)
        with pytest.raises(TypeError, match="cublasSgemm: B: expected float32, got float64"):
            cublas.cublasSgemm(*begin, single, 2, double, 2, 0, single, 2)
        cublas.cublasSgemm(*begin, single, 2, double.ptr, 2, 0, single, 2)
        a = half, cublas.CUDA_R_16F, 2
        end = 2, cublas.CUBLAS_COMPUTE_32F, cublas.CUBLAS_GEMM_DEFAULT
        cublas.cublasGemmEx(*begin, *a, *a, 0, single, cublas.CUDA_R_32F, *end)
        with pytest.raises(TypeError, match="cublasGemmEx: C: expected float16, got float32"):
            cublas.cublasGemmEx(*begin, *a, *a, 0, single, cublas.CUDA_R_16F, *end)


def matrix(rows: int, columns: int, ld: int, dtype: Any, seed: int) -> np.ndarray[Any, Any]:
    """Columns `ld` elements apart; between them NaN, which no product may touch."""
    whole = np.full((ld, columns), np.nan, dtype, order="F")
    whole[:rows] = np.random.default_rng(seed).standard_normal((rows, columns))
    return whole


def stored(rows: int, columns: int, operation: Any) -> tuple[int, int]:
    return (rows, columns) if operation == CUBLAS_OP_N else (columns, rows)


@pytest.mark.thinned(4)
@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("transa", OPERATIONS)
@pytest.mark.parametrize("transb", OPERATIONS)
@pytest.mark.parametrize("beta", [0.0, -0.5])
def test_gemm(any_device, letter, transa, transb, beta):
    dtype, (m, n, k) = TYPES[letter], (3, 5, 7)
    a = matrix(*stored(m, k, transa), 9, dtype, 1)
    b = matrix(*stored(k, n, transb), 8, dtype, 2)
    c = matrix(m, n, 4, dtype, 3)
    rows_a, rows_b = stored(m, k, transa)[0], stored(k, n, transb)[0]
    expected = getattr(blas, f"{letter.lower()}gemm")(
        1.5, a[:rows_a], b[:rows_b], beta, c[:m], trans_a=int(transa), trans_b=int(transb)
    )
    if beta == 0:
        c[:m] = np.nan  # what C holds does not matter
    scalar = SCALARS[letter]
    with device() as (handle, memory):
        x, y, z = memory.put(a), memory.put(b), memory.put(c)
        getattr(cublas, f"cublas{letter}gemm")(
            *(handle, transa, transb, m, n, k, byref(scalar(1.5)), x, 9, y, 8),
            *(byref(scalar(beta)), z, 4),
        )
        found = memory.get(z, c)
    np.testing.assert_allclose(found[:m], expected, rtol=0, atol=10 * TOLERANCE[dtype])
    assert np.isnan(found[m:]).all()


@pytest.mark.thinned(4)
@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("trans", OPERATIONS)
@pytest.mark.parametrize(("incx", "incy"), [(1, 1), (2, 3), (-1, 2), (-2, -1)])
def test_gemv(any_device, letter, trans, incx, incy):
    dtype, (m, n) = TYPES[letter], (4, 6)
    a, rng = matrix(m, n, 5, dtype, 1), np.random.default_rng(2)
    columns, rows = (n, m) if trans == CUBLAS_OP_N else (m, n)
    x = rng.standard_normal(1 + (columns - 1) * abs(incx)).astype(dtype)
    y = rng.standard_normal(1 + (rows - 1) * abs(incy)).astype(dtype)
    expected = getattr(blas, f"{letter.lower()}gemv")(
        2.0, a[:m], x, 0.25, y, incx=incx, incy=incy, trans=int(trans)
    )
    with device() as (handle, memory):
        px, py = memory.put(x), memory.put(y)
        getattr(cublas, f"cublas{letter}gemv")(
            handle, trans, m, n, 2.0, memory.put(a), 5, px, incx, 0.25, py, incy
        )
        found = memory.get(py, y)
    np.testing.assert_allclose(found, expected, rtol=0, atol=10 * TOLERANCE[dtype])


@pytest.mark.parametrize("letter", TYPES)
def test_ger(any_device, letter):
    dtype, (m, n) = TYPES[letter], (4, 3)
    a, rng = matrix(m, n, 6, dtype, 1), np.random.default_rng(2)
    x, y = rng.standard_normal(2 * m).astype(dtype), rng.standard_normal(n).astype(dtype)
    expected = getattr(blas, f"{letter.lower()}ger")(0.5, x[::2], y, a=a[:m])
    with device() as (handle, memory):
        pa, px, py = memory.put(a), memory.put(x), memory.put(y)
        getattr(cublas, f"cublas{letter}ger")(handle, m, n, 0.5, px, 2, py, 1, pa, 6)
        found = memory.get(pa, a)
    np.testing.assert_allclose(found[:m], expected, rtol=0, atol=10 * TOLERANCE[dtype])
    assert np.isnan(found[m:]).all()


@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize("beta", [0.0, 2.0])
def test_geam(any_device, letter, beta):
    dtype, (m, n) = TYPES[letter], (3, 4)
    a, b = matrix(n, m, 5, dtype, 1), matrix(m, n, 3, dtype, 2)
    expected = -1.5 * a[:n].T + beta * b
    if beta == 0:
        b[...] = np.nan
    with device() as (handle, memory):
        pc = memory.put(np.full((m, n), np.nan, dtype, order="F"))
        getattr(cublas, f"cublas{letter}geam")(
            *(handle, CUBLAS_OP_T, CUBLAS_OP_N, m, n, -1.5, memory.put(a), 5),
            *(beta, memory.put(b), 3, pc, m),
        )
        found = memory.get(pc, np.empty((m, n), dtype, order="F"))
    np.testing.assert_allclose(found, expected, rtol=4 * np.finfo(dtype).eps)


@pytest.mark.parametrize("letter", ["H", "S", "D"])
def test_strided_batches(any_device, letter):
    """Three products with one B, which does not move on."""
    dtype = {"H": np.float16, **TYPES}[letter]
    m, n, k, count = 2, 3, 4, 3
    rng = np.random.default_rng(1)
    a = rng.standard_normal((count, k, m)).astype(dtype)  # each transposed: column-major
    b = rng.standard_normal((n, k)).astype(dtype)
    c = np.full((count, n, m), np.nan, dtype)
    expected = b.astype(np.float64) @ a.astype(np.float64)
    with device() as (handle, memory):
        pc = memory.put(c)
        getattr(cublas, f"cublas{letter}gemmStridedBatched")(
            *(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, 1.0, memory.put(a), m, m * k),
            *(memory.put(b), k, 0, 0.0, pc, m, m * n, count),
        )
        found = memory.get(pc, c)
    np.testing.assert_allclose(found, expected, rtol=0, atol=10 * TOLERANCE[dtype])


GEMM_EX = {
    "half": (np.float16, np.float16, "CUBLAS_COMPUTE_32F", 4e-3),
    "half to float": (np.float16, np.float32, "CUBLAS_COMPUTE_32F", 1e-5),
    "bfloat16": (ml_dtypes.bfloat16, ml_dtypes.bfloat16, "CUBLAS_COMPUTE_32F", 4e-2),
    "float": (np.float32, np.float32, "CUBLAS_COMPUTE_32F", 1e-5),
    "as CUDA 10 has it": (np.float32, np.float32, "CUDA_R_32F", 1e-5),
    "double": (np.float64, np.float64, "CUBLAS_COMPUTE_64F", 1e-13),
    "computed in half": (np.float16, np.float16, "CUBLAS_COMPUTE_16F", 3e-2),
}
CUDA_TYPES = {"float16": "16F", "bfloat16": "16BF", "float32": "32F", "float64": "64F"}


@pytest.mark.parametrize("name", GEMM_EX)
def test_gemm_ex(any_device, name):
    dtype, of_c, compute, tolerance = GEMM_EX[name]
    m, n, k = 8, 8, 8
    rng = np.random.default_rng(4)
    a, b = (rng.standard_normal((8, 8)).astype(dtype) for _ in "ab")
    c = rng.standard_normal((8, 8)).astype(of_c)
    wide = [each.astype(np.float64) for each in (a, b, c)]
    expected = 0.5 * wide[1] @ wide[0] + 2 * wide[2]  # of the transposes
    kinds = [getattr(cublas, f"CUDA_R_{CUDA_TYPES[np.dtype(t).name]}") for t in (dtype, of_c)]
    with device() as (handle, memory):
        pa, pb = memory.put(a.view(np.uint8)), memory.put(b.view(np.uint8))
        pc = memory.put(c.view(np.uint8))
        cublas.cublasGemmEx(
            *(handle, CUBLAS_OP_N, CUBLAS_OP_N, m, n, k, 0.5, pa, kinds[0], m),
            *(pb, kinds[0], k, 2.0, pc, kinds[1], m),
            *(getattr(cublas, compute), cublas.CUBLAS_GEMM_DEFAULT),
        )
        found = memory.get(pc, c.view(np.uint8)).view(of_c)
    np.testing.assert_allclose(found.astype(np.float64), expected, rtol=0, atol=10 * tolerance)


def test_without_anything_to_do(any_device):
    with device() as (handle, memory):
        pc = memory.put(np.full(4, np.nan, np.float32))
        nothing = (handle, CUBLAS_OP_N, CUBLAS_OP_N)
        cublas.cublasSgemm(*nothing, 0, 2, 2, 1.0, None, 1, None, 2, 0.0, pc, 1)
        assert np.isnan(memory.get(pc, np.empty(4, np.float32))).all()
        cublas.cublasSgemm(*nothing, 2, 2, 0, 1.0, pc, 2, pc, 1, 0.0, pc, 2)
        assert memory.get(pc, np.empty(4, np.float32)).tolist() == [0, 0, 0, 0]
        bad, pc = memory.put(np.full(4, np.nan, np.float32)), memory.put(np.arange(4, dtype="f4"))
        cublas.cublasSgemm(*nothing, 2, 2, 2, 0.0, bad, 2, bad, 2, 0.5, pc, 2)  # alpha is 0
        assert memory.get(pc, np.empty(4, np.float32)).tolist() == [0, 0.5, 1, 1.5]


def gemm_with(handle: Any, **changes: Any) -> Any:
    """A call of cublasSgemm on 2 x 2 matrices, with some arguments changed."""
    arguments = {"handle": handle, "transa": CUBLAS_OP_N, "transb": CUBLAS_OP_N}
    arguments |= {"m": 2, "n": 2, "k": 2, "alpha": 1.0, "lda": 2, "ldb": 2, "beta": 0.0, "ldc": 2}
    return cublas.cublasSgemm.unchecked(**(arguments | changes))


@pytest.mark.parametrize("changes", [{"m": -1}, {"lda": 1}, {"ldb": 1}, {"ldc": 1}, {"transa": 9}])
def test_values_that_are_refused(any_device, changes):
    with device() as (handle, memory):
        pointers = {name: memory.put(np.zeros(4, np.float32)) for name in "ABC"}
        status = gemm_with(handle, **pointers, **changes)
        assert status == cublas.CUBLAS_STATUS_INVALID_VALUE


FLOAT = (None, cublas.CUDA_R_32F, 1)
NEGATIVE = {
    "SgemmStridedBatched": (0, 0, 1, 1, 1, 1.0, *(None, 1, 0) * 2, 0.0, None, 1, 0, -1),
    "GemmEx": (0, 0, 1, -1, 1, 1.0, *FLOAT * 2, 0.0, *FLOAT, cublas.CUBLAS_COMPUTE_32F, 0),
    "Sgemv": (0, 1, -1, 1.0, None, 1, None, 1, 0.0, None, 1),
    "Sger": (1, -1, 1.0, None, 1, None, 1, None, 1),
    "Sgeam": (0, 0, 1, -1, 1.0, None, 1, 0.0, None, 1, None, 1),
}


@pytest.mark.parametrize("name", NEGATIVE)
def test_negative_sizes_are_refused(any_device, name):
    with device() as (handle, _):
        status = getattr(cublas, f"cublas{name}").unchecked(handle, *NEGATIVE[name])
    # cuBLAS 13 takes a matrix of -1 columns for an empty one in gemv.
    accepted = name == "Sgemv" and any_device == "gpu_device"
    assert status == cublas.CUBLAS_STATUS_INVALID_VALUE or accepted


@pytest.mark.parametrize(
    ("changes", "error", "text"),
    [
        ({"alpha": byref(c_double(1))}, TypeError, "alpha: expected a float32, got a float64"),
        ({"alpha": np.float64(1) * np.ones(1)}, TypeError, "alpha: expected a float32"),
        ({"alpha": "1"}, TypeError, "alpha"),
        ({"alpha": 1e300}, ValueError, "too large for float32"),
        ({"alpha": True}, TypeError, "alpha"),
        ({"m": 2.0}, TypeError, "m: expected an int"),
        ({"m": 1 << 40}, ValueError, "does not fit into 32 bits"),
        ({"transa": "N"}, TypeError, "transa: expected a cublasOperation_t"),
        ({"transa": cublas.CUBLAS_POINTER_MODE_HOST}, TypeError, "transa"),
        ({"A": np.zeros((2, 2), np.float32)}, TypeError, "cublasSgemm: A: host memory"),
        ({"handle": None}, TypeError, "expected a cublasHandle_t"),
    ],
)
def test_arguments_of_wrong_types(any_device, changes, error, text):
    with device() as (handle, memory):
        pointers = {name: memory.put(np.zeros(4, np.float32)) for name in "ABC"}
        with pytest.raises(error, match=text):
            gemm_with(**{"handle": handle, **pointers, **changes})


def test_matrices_that_leave_their_memory(reference_device):
    with device() as (handle, memory):
        a, b, c = (memory.put(np.zeros(4, np.float32)) for _ in "abc")
        with pytest.raises(CudaError, match="C is too small: 4 bytes are missing") as caught:
            cublas.cublasSgemm(
                handle, CUBLAS_OP_N, CUBLAS_OP_N, 2, 2, 2, 1.0, a, 2, b, 2, 0.0, c, 3
            )
        assert caught.value.code == cublas.CUBLAS_STATUS_EXECUTION_FAILED


# --- cublas: operations on vectors; scalars on the host and on the device -------------------------


STEPS = [(1, 1), (2, 1), (1, 3), (-1, 2), (-2, -3)]
N = 5


def vectors(dtype: Any, *steps: int) -> list[np.ndarray[Any, Any]]:
    rng = np.random.default_rng(7)
    return [rng.standard_normal(1 + (N - 1) * abs(step)).astype(dtype) for step in steps]


@pytest.mark.thinned(4)
@pytest.mark.parametrize("letter", TYPES)
@pytest.mark.parametrize(("incx", "incy"), STEPS)
@pytest.mark.parametrize("name", ["axpy", "copy", "swap", "dot"])
def test_two_vectors(any_device, letter, name, incx, incy):
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
def test_one_vector(any_device, letter, incx):
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


def test_norms_do_not_overflow(any_device):
    with device() as (handle, memory):
        px, total = memory.put(np.full(4, 1e30, np.float32)), c_float()
        cublas.cublasSnrm2(handle, 4, px, 1, byref(total))
        assert total.value == pytest.approx(2e30, rel=1e-6)


@pytest.mark.parametrize("n", [0, -3])
def test_nothing_to_add_up(any_device, n):
    with device() as (handle, memory):
        px = memory.put(np.ones(4, np.float32))
        for function in (cublas.cublasSasum, cublas.cublasSnrm2):
            total = c_float(7)
            function(handle, n, px, 1, byref(total))
            assert total.value == 0
        cublas.cublasSscal(handle, n, 5.0, px, 1)
        assert memory.get(px, np.empty(4, np.float32)).tolist() == [1, 1, 1, 1]


def test_scalars_on_the_device(any_device):
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


READ_ONLY = np.zeros(1, np.float32)
READ_ONLY.flags.writeable = False


@pytest.mark.parametrize("wrong", [None, 3.0, c_double(), byref(c_double()), "x", READ_ONLY])
def test_what_no_result_can_be_stored_in(any_device, wrong):
    with device() as (handle, memory):
        px = memory.put(np.ones(4, np.float32))
        with pytest.raises((TypeError, ValueError, cublas.CudaError), match="result"):
            cublas.cublasSasum(handle, 4, px, 1, wrong)


def test_copies_of_matrices_and_vectors(any_device):
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


# --- cublas: handles ------------------------------------------------------------------------------


def test_a_handle_and_its_stream(any_device):
    handle, stream, found = cublas.cublasHandle_t(), cudart.cudaStream_t(), cudart.cudaStream_t()
    cublas.cublasCreate(byref(handle))
    cudart.cudaStreamCreate(byref(stream))
    cublas.cublasSetStream(handle, stream)
    cublas.cublasGetStream(handle, byref(found))
    assert found == stream
    cublas.cublasSetMathMode(handle, cublas.CUBLAS_DEFAULT_MATH)
    version = c_int(-1)
    cublas.cublasGetVersion(handle, byref(version))
    assert version.value == 0 if any_device == "reference_device" else version.value > 110000
    cublas.cublasDestroy(handle)
    cudart.cudaStreamDestroy(stream)


def test_handles_that_are_none(any_device):
    handle = cublas.cublasHandle_t()
    assert cublas.cublasDestroy.unchecked(handle) == cublas.CUBLAS_STATUS_NOT_INITIALIZED
    with pytest.raises(TypeError, match="expected a cublasHandle_t"):
        cublas.cublasDestroy(cudnn_ctypes.raw.cudnnHandle_t())
    with pytest.raises(TypeError, match="cublasCreate: handle"):
        cublas.cublasCreate(c_int())


def test_a_destroyed_handle(reference_device):
    handle = cublas.cublasHandle_t()
    cublas.cublasCreate(handle)
    cublas.cublasDestroy(handle)
    with pytest.raises(cublas.CudaError, match="NOT_INITIALIZED"):
        cublas.cublasSetPointerMode(handle, 0)


@pytest.mark.parametrize("wrong", [True, "host", 1.0])
def test_modes_of_wrong_types(reference_device, wrong):
    handle = cublas.cublasHandle_t()
    cublas.cublasCreate(handle)
    with pytest.raises(TypeError, match="expected a cublasPointerMode_t"):
        cublas.cublasSetPointerMode(handle, wrong)
    assert cublas.cublasSetPointerMode.unchecked(handle, 7) == cublas.CUBLAS_STATUS_INVALID_VALUE
    cublas.cublasDestroy(handle)
