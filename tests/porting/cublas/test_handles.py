"""cublas: handles, names, and what is compared with NVIDIA's headers and library."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
from ctypes import byref, c_int
from pathlib import Path
from typing import Any

import pytest

import cudnn_ctypes
from cudnn_ctypes import cublas, cudart
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.porting.cublas import handles as function
from cudnn_ctypes.runtime import cuda

FUNCTIONS = [name for name in cublas.__all__ if hasattr(getattr(cublas, name), "unchecked")]


def test_a_handle_and_its_stream(any_device: str) -> None:
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


def test_handles_that_are_none(any_device: str) -> None:
    handle = cublas.cublasHandle_t()
    assert cublas.cublasDestroy.unchecked(handle) == cublas.CUBLAS_STATUS_NOT_INITIALIZED
    with pytest.raises(TypeError, match="expected a cublasHandle_t"):
        cublas.cublasDestroy(cudnn_ctypes.raw.cudnnHandle_t())
    with pytest.raises(TypeError, match="cublasCreate: handle"):
        cublas.cublasCreate(c_int())


def test_a_destroyed_handle(reference_device: None) -> None:
    handle = cublas.cublasHandle_t()
    cublas.cublasCreate(handle)
    cublas.cublasDestroy(handle)
    with pytest.raises(cublas.CudaError, match="NOT_INITIALIZED"):
        cublas.cublasSetPointerMode(handle, 0)


@pytest.mark.parametrize("wrong", [True, "host", 1.0])
def test_modes_of_wrong_types(reference_device: None, wrong: Any) -> None:
    handle = cublas.cublasHandle_t()
    cublas.cublasCreate(handle)
    with pytest.raises(TypeError, match="expected a cublasPointerMode_t"):
        cublas.cublasSetPointerMode(handle, wrong)
    assert cublas.cublasSetPointerMode.unchecked(handle, 7) == cublas.CUBLAS_STATUS_INVALID_VALUE
    cublas.cublasDestroy(handle)


def test_without_a_gpu(gpu_device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Any:
        raise NoDeviceError("no CUDA device or driver found")

    monkeypatch.setattr(cuda, "driver", none)
    with pytest.raises(NoDeviceError):
        cublas.cublasCreate(cublas.cublasHandle_t())
    status = cublas.cublasCreate.unchecked(cublas.cublasHandle_t())
    assert status == cublas.CUBLAS_STATUS_NOT_INITIALIZED


# -- against NVIDIA's files -----------------------------------------------------------------------


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_library_has_every_function(name: str) -> None:
    transfers = {"cublasGetMatrix", "cublasGetVector", "cublasSetMatrix", "cublasSetVector"}
    if name not in transfers:
        assert function.symbol(name)


def header(package: str, name: str) -> str:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(root, package, "include", name)
        if path.exists():
            return path.read_text()
    pytest.skip(f"{name} is not installed")


def test_parameters_are_cublas_s() -> None:
    """By name and in order, for all functions of the header."""
    text = re.sub(r"/\*.*?\*/", "", header("cublas", "cublas_api.h"), flags=re.DOTALL)
    assert "cublasSgemm_v2" in text
    for name in FUNCTIONS:
        found = re.search(rf"\b{name}(?:_v2)?\s*\(([^;]*)\);", text)
        assert found, name
        declared = [part.split()[-1].lstrip("*") for part in found[1].split(",")]
        declared = [re.sub(r"\[\]$", "", each) for each in declared]
        assert list(inspect.signature(getattr(cublas, name)).parameters) == declared, name


def test_enums_are_cublas_s() -> None:
    text = header("cublas", "cublas_api.h") + header("cuda_runtime", "library_types.h")
    values = dict(re.findall(r"\b(CU[A-Z0-9_]+)\s*=\s*(-?\d+)", text))
    members = [name for name in cublas.__all__ if name.startswith("CU")]
    assert len(members) > 25
    for name in members:
        assert int(getattr(cublas, name)) == int(values[name]), name


# -- its names ------------------------------------------------------------------------------------


def test_names() -> None:
    assert cudnn_ctypes.cublas is cublas
    assert len(set(cublas.__all__)) == len(cublas.__all__)
    assert cublas.cublasSgemm_v2 is cublas.cublasSgemm
    with pytest.raises(AttributeError, match="no attribute 'cublasSgem_v2'"):
        cublas.cublasSgem_v2  # noqa: B018


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_documented(name: str) -> None:
    each = getattr(cublas, name)
    assert each.__name__ == name
    assert (each.__doc__ or "").strip().endswith(".")
    assert pickle.loads(pickle.dumps(each)) is each
