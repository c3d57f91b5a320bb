"""cudart: devices, versions, errors, and its names."""

from __future__ import annotations

import importlib.util
import inspect
import pickle
import re
from ctypes import byref, c_int, c_size_t
from pathlib import Path
from typing import Any

import pytest

import cudnn_ctypes
from cudnn_ctypes import cudart, raw
from cudnn_ctypes.absent_gpu.properties import preset
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.porting.cudart.sides import REFERENCE

FUNCTIONS = [
    name
    for name in cudart.__all__
    if inspect.isfunction(value := getattr(cudart, name)) or hasattr(value, "unchecked")
]


def number(function: Any, ctype: Any = c_int) -> int:
    variable = ctype(-1)
    function(byref(variable))
    return int(variable.value)


def test_which_device(any_device: str) -> None:
    assert number(cudart.cudaGetDeviceCount) >= 1
    cudart.cudaSetDevice(0)
    assert number(cudart.cudaGetDevice) == 0
    assert cudart.cudaSetDevice.unchecked(99) == cudart.cudaErrorInvalidDevice
    cudart.cudaGetLastError()


def test_properties(any_device: str) -> None:
    properties = cudart.cudaDeviceProp()
    cudart.cudaGetDeviceProperties(byref(properties), 0)
    assert properties.name
    assert properties.major >= 5
    assert properties.warpSize == 32
    assert properties.maxThreadsPerBlock == 1024
    assert list(properties.maxThreadsDim) == [1024, 1024, 64]
    assert properties.multiProcessorCount > 0
    assert properties.totalGlobalMem > 1 << 30
    assert properties.clockRate > 0
    assert properties.memoryBusWidth > 0


def test_the_reference_device_has_those_of_the_gpu_that_it_stands_for(
    reference_device: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cudnn_ctypes.raw.mode.reference_gpu", preset("b200"))
    properties = cudart.cudaDeviceProp()
    cudart.cudaGetDeviceProperties(properties, 0)
    assert properties.name == b"NVIDIA B200"
    assert (properties.major, properties.minor) == (10, 0)
    assert properties.multiProcessorCount == 148
    assert properties.memoryBusWidth == 8192


def test_memory_and_versions(any_device: str) -> None:
    free, total = c_size_t(), c_size_t()
    cudart.cudaMemGetInfo(byref(free), byref(total))
    assert 0 < free.value <= total.value
    assert number(cudart.cudaRuntimeGetVersion) >= 12000
    assert number(cudart.cudaDriverGetVersion) >= 12000


def test_reset_frees_what_is_left(reference_device: None) -> None:
    pointer, stream = cudart.DevicePointer(), cudart.cudaStream_t()
    cudart.cudaMalloc(byref(pointer), 10)
    cudart.cudaStreamCreate(byref(stream))
    cudart.cudaDeviceReset()
    assert not REFERENCE.allocated
    with pytest.raises(cudart.CudaError, match="was freed"):
        cudart.cudaMemset(pointer, 0, 1)
    with pytest.raises(cudart.CudaError, match="InvalidResourceHandle"):
        cudart.cudaStreamSynchronize(stream)


def test_without_a_gpu(gpu_device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> Any:
        raise NoDeviceError("no CUDA device or driver found")

    monkeypatch.setattr("cudnn_ctypes.runtime.cuda.runtime", none)
    with pytest.raises(NoDeviceError):
        cudart.cudaDeviceSynchronize()
    assert cudart.cudaDeviceSynchronize.unchecked() == cudart.cudaErrorNoDevice
    assert cudart.cudaGetLastError() == cudart.cudaErrorNoDevice


# -- against CUDA Python, which needs no GPU for what it declares ---------------------------------


@pytest.fixture
def bindings() -> Any:
    return importlib.import_module("cuda.bindings.runtime")


@pytest.mark.parametrize("enum", ["cudaError_t", "cudaMemcpyKind"])
def test_enums_are_cuda_s(bindings: Any, enum: str) -> None:
    for member in getattr(cudart, enum):
        assert int(getattr(getattr(bindings, enum), member.name)) == int(member)
        assert getattr(cudart, member.name) is member


def test_error_texts_are_cuda_s(bindings: Any) -> None:
    for member in cudart.cudaError_t.__members__.values():
        status = bindings.cudaError_t(int(member))
        assert cudart.cudaGetErrorString(member) == bindings.cudaGetErrorString(status)[1].decode()
        assert cudart.cudaGetErrorName(member) == bindings.cudaGetErrorName(status)[1].decode()
    assert cudart.cudaGetErrorName(4242) == "unrecognized error code"


def test_flags_are_cuda_s(bindings: Any) -> None:
    flags = [name for name in cudart.__all__ if type(getattr(cudart, name)) is int]
    assert len(flags) > 8
    for name in flags:
        assert getattr(bindings, name) == getattr(cudart, name), name


def test_members_of_the_properties_are_cuda_s(bindings: Any) -> None:
    """CUDA 13 has two of them as attributes of the device only."""
    names = [field[0] for field in cudart.cudaDeviceProp._fields_]
    missing = {name for name in names if not hasattr(bindings.cudaDeviceProp, name)}
    assert missing <= {"clockRate", "memoryClockRate"}
    assert bindings.cudaDeviceAttr.cudaDevAttrClockRate
    assert bindings.cudaDeviceAttr.cudaDevAttrMemoryClockRate


def test_what_is_called_is_there(bindings: Any) -> None:
    folder = Path(cudart.__file__).parent
    called = set()
    for path in folder.glob("*.py"):
        called |= set(re.findall(r'"(cuda[A-Z]\w+)"', path.read_text()))
    names = called & {*FUNCTIONS, "cudaPointerGetAttributes", "cudaDeviceGetAttribute"}
    assert len(names) > 35
    assert not [name for name in names if not hasattr(bindings, name)]


def test_parameters_are_cuda_s() -> None:
    """By name and in order, as the header of the wheel has them."""
    spec = importlib.util.find_spec("nvidia")
    roots = (spec.submodule_search_locations or ()) if spec else ()
    paths = [Path(root, "cuda_runtime/include/cuda_runtime_api.h") for root in roots]
    text = "".join(path.read_text() for path in paths if path.exists())
    if not text:
        pytest.skip("the header of the CUDA runtime is not installed")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for name in FUNCTIONS:
        found = re.search(rf"CUDARTAPI {name}\s*\(([^;]*)\);", text)
        assert found, name
        declared = [re.split(r"\s*(?:__dv|=)", part)[0].split()[-1] for part in found[1].split(",")]
        declared = [each.lstrip("*") for each in declared if each != "void"]
        assert list(inspect.signature(getattr(cudart, name)).parameters) == declared, name


# -- its names ------------------------------------------------------------------------------------


def test_names(bindings: Any) -> None:
    assert cudnn_ctypes.cudart is cudart
    assert len(set(cudart.__all__)) == len(cudart.__all__)
    for name in cudart.__all__:
        assert getattr(cudart, name) is not None
    assert cudart.cudaStream_t is raw.cudaStream_t


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_documented(name: str) -> None:
    function = getattr(cudart, name)
    assert function.__name__ == name
    assert (function.__doc__ or "").strip().endswith(".")
    assert inspect.signature(function)
    assert pickle.loads(pickle.dumps(function)) is function
