"""cudart and cublas: their names, against NVIDIA's headers and library and CUDA Python."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
from pathlib import Path
from types import ModuleType

import pytest

import cudnn_ctypes
from cudnn_ctypes import cublas, cudart, raw
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.porting.cublas import handles
from cudnn_ctypes.runtime import cuda

bindings = pytest.importorskip("cuda.bindings.runtime")
each_library = pytest.mark.parametrize("library", [cudart, cublas], ids=["cudart", "cublas"])


def functions(library: ModuleType) -> list[str]:
    return [
        name
        for name in library.__all__
        if inspect.isfunction(value := getattr(library, name)) or hasattr(value, "unchecked")
    ]


def header(package: str, name: str) -> str:
    spec = importlib.util.find_spec("nvidia")
    for root in (spec.submodule_search_locations or ()) if spec else ():
        path = Path(root, package, "include", name)
        if path.exists():
            return re.sub(r"/\*.*?\*/", "", path.read_text(), flags=re.DOTALL)
    pytest.skip(f"{name} is not installed")


def test_names():
    assert cudnn_ctypes.cudart is cudart
    assert cudnn_ctypes.cublas is cublas
    assert cudart.cudaStream_t is raw.cudaStream_t
    assert cublas.cublasSgemm_v2 is cublas.cublasSgemm
    with pytest.raises(AttributeError, match="no attribute 'cublasSgem_v2'"):
        cublas.cublasSgem_v2  # noqa: B018


@each_library
def test_functions_are_documented(library):
    assert len(set(library.__all__)) == len(library.__all__)
    for name in functions(library):
        function = getattr(library, name)
        assert function.__name__ == name
        assert (function.__doc__ or "").strip().endswith("."), name
        assert pickle.loads(pickle.dumps(function)) is function


@each_library
def test_parameters_are_nvidia_s(library):
    """By name and in order, as the headers of the wheels have them."""
    is_cublas = library is cublas
    file = ("cublas", "cublas_api.h") if is_cublas else ("cuda_runtime", "cuda_runtime_api.h")
    text = header(*file)
    for name in functions(library):
        if name.startswith("cudaProfiler"):  # in a header of another wheel
            continue
        begin = rf"\b{name}(?:_v2)?" if is_cublas else f"CUDARTAPI {name}"
        found = re.search(rf"{begin}\s*\(([^;]*)\);", text)
        assert found, name
        declared = [re.split(r"\s*(?:__dv|=)", part)[0].split()[-1] for part in found[1].split(",")]
        declared = [each.lstrip("*").removesuffix("[]") for each in declared if each != "void"]
        assert list(inspect.signature(getattr(library, name)).parameters) == declared, name


def test_enums_of_cublas():
    text = header("cublas", "cublas_api.h") + header("cuda_runtime", "library_types.h")
    values = dict(re.findall(r"\b(CU[A-Z0-9_]+)\s*=\s*(-?\d+)", text))
    members = [name for name in cublas.__all__ if name.startswith("CU")]
    assert len(members) > 25
    for name in members:
        assert int(getattr(cublas, name)) == int(values[name]), name


def test_the_library_has_every_function_of_cublas():
    transfers = {"cublasGetMatrix", "cublasGetVector", "cublasSetMatrix", "cublasSetVector"}
    assert all(map(handles.symbol, {*functions(cublas)} - transfers))


@pytest.mark.parametrize("enum", ["cudaError_t", "cudaMemcpyKind"])
def test_enums_of_cudart(enum):
    for member in getattr(cudart, enum):
        assert int(getattr(getattr(bindings, enum), member.name)) == int(member)
        assert getattr(cudart, member.name) is member


def test_error_texts_of_cudart():
    for member in cudart.cudaError_t.__members__.values():
        status = bindings.cudaError_t(int(member))
        assert cudart.cudaGetErrorString(member) == bindings.cudaGetErrorString(status)[1].decode()
        assert cudart.cudaGetErrorName(member) == bindings.cudaGetErrorName(status)[1].decode()
    assert cudart.cudaGetErrorName(4242) == "unrecognized error code"


def test_flags_of_cudart():
    flags = [name for name in cudart.__all__ if type(getattr(cudart, name)) is int]
    assert len(flags) > 8
    for name in flags:
        assert getattr(bindings, name) == getattr(cudart, name), name


def test_members_of_the_properties():
    """CUDA 13 has two of them as attributes of the device only."""
    names = [field[0] for field in cudart.cudaDeviceProp._fields_]
    missing = {name for name in names if not hasattr(bindings.cudaDeviceProp, name)}
    assert missing <= {"clockRate", "memoryClockRate"}
    assert bindings.cudaDeviceAttr.cudaDevAttrClockRate
    assert bindings.cudaDeviceAttr.cudaDevAttrMemoryClockRate


def test_what_cudart_calls_is_there():
    called = set()
    for path in Path(cudart.__file__ or "").parent.glob("*.py"):
        called |= set(re.findall(r'"(cuda[A-Z]\w+)"', path.read_text()))
    names = called & {*functions(cudart), "cudaPointerGetAttributes", "cudaDeviceGetAttribute"}
    assert len(names) > 35
    assert not [name for name in names if not hasattr(bindings, name)]


def test_without_a_gpu(gpu_device, monkeypatch):
    def none():
        raise NoDeviceError("no CUDA device or driver found")

    monkeypatch.setattr(cuda, "driver", none)
    monkeypatch.setattr(cuda, "runtime", none)
    with pytest.raises(NoDeviceError):
        cublas.cublasCreate(cublas.cublasHandle_t())
    status = cublas.cublasCreate.unchecked(cublas.cublasHandle_t())
    assert status == cublas.CUBLAS_STATUS_NOT_INITIALIZED
    with pytest.raises(NoDeviceError):
        cudart.cudaDeviceSynchronize()
    assert cudart.cudaDeviceSynchronize.unchecked() == cudart.cudaErrorNoDevice
    assert cudart.cudaGetLastError() == cudart.cudaErrorNoDevice
