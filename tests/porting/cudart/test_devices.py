"""cudart: devices, versions, errors, and its names."""

from __future__ import annotations

import ctypes
import importlib.util
import inspect
import pickle
import re
from ctypes import byref, c_double, c_float, c_int, c_size_t
from pathlib import Path
from typing import Any

import pytest

import cudnn_ctypes
from cudnn_ctypes import cudart, raw
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.porting.cudart import CudaError, DevicePointer, cudaEvent_t, cudaStream_t
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


def test_which_device(any_device):
    assert number(cudart.cudaGetDeviceCount) >= 1
    cudart.cudaSetDevice(0)
    assert number(cudart.cudaGetDevice) == 0
    assert cudart.cudaSetDevice.unchecked(99) == cudart.cudaErrorInvalidDevice
    cudart.cudaGetLastError()


def test_attributes(any_device):
    properties, value = cudart.cudaDeviceProp(), c_int()
    cudart.cudaGetDeviceProperties(byref(properties), 0)
    for number, expected in (
        (16, properties.multiProcessorCount),
        (75, properties.major),
        (4, properties.maxThreadsDim[2]),
    ):
        cudart.cudaDeviceGetAttribute(byref(value), number, 0)
        assert value.value == expected


def test_memory_and_versions(any_device):
    free, total = c_size_t(), c_size_t()
    cudart.cudaMemGetInfo(byref(free), byref(total))
    assert 0 < free.value <= total.value
    assert number(cudart.cudaRuntimeGetVersion) >= 12000
    assert number(cudart.cudaDriverGetVersion) >= 12000


def test_reset_frees_what_is_left(reference_device):
    pointer, stream = cudart.DevicePointer(), cudart.cudaStream_t()
    cudart.cudaMalloc(byref(pointer), 10)
    cudart.cudaStreamCreate(byref(stream))
    cudart.cudaDeviceReset()
    assert not REFERENCE.allocated
    with pytest.raises(cudart.CudaError, match="was freed"):
        cudart.cudaMemset(pointer, 0, 1)
    with pytest.raises(cudart.CudaError, match="InvalidResourceHandle"):
        cudart.cudaStreamSynchronize(stream)


def test_without_a_gpu(gpu_device, monkeypatch):
    def none():
        raise NoDeviceError("no CUDA device or driver found")

    monkeypatch.setattr("cudnn_ctypes.runtime.cuda.runtime", none)
    with pytest.raises(NoDeviceError):
        cudart.cudaDeviceSynchronize()
    assert cudart.cudaDeviceSynchronize.unchecked() == cudart.cudaErrorNoDevice
    assert cudart.cudaGetLastError() == cudart.cudaErrorNoDevice


# -- against CUDA Python, which needs no GPU for what it declares ---------------------------------


@pytest.fixture
def bindings():
    return importlib.import_module("cuda.bindings.runtime")


@pytest.mark.parametrize("enum", ["cudaError_t", "cudaMemcpyKind"])
def test_enums_are_cuda_s(bindings, enum):
    for member in getattr(cudart, enum):
        assert int(getattr(getattr(bindings, enum), member.name)) == int(member)
        assert getattr(cudart, member.name) is member


def test_error_texts_are_cuda_s(bindings):
    for member in cudart.cudaError_t.__members__.values():
        status = bindings.cudaError_t(int(member))
        assert cudart.cudaGetErrorString(member) == bindings.cudaGetErrorString(status)[1].decode()
        assert cudart.cudaGetErrorName(member) == bindings.cudaGetErrorName(status)[1].decode()
    assert cudart.cudaGetErrorName(4242) == "unrecognized error code"


def test_flags_are_cuda_s(bindings):
    flags = [name for name in cudart.__all__ if type(getattr(cudart, name)) is int]
    assert len(flags) > 8
    for name in flags:
        assert getattr(bindings, name) == getattr(cudart, name), name


def test_members_of_the_properties_are_cuda_s(bindings):
    """CUDA 13 has two of them as attributes of the device only."""
    names = [field[0] for field in cudart.cudaDeviceProp._fields_]
    missing = {name for name in names if not hasattr(bindings.cudaDeviceProp, name)}
    assert missing <= {"clockRate", "memoryClockRate"}
    assert bindings.cudaDeviceAttr.cudaDevAttrClockRate
    assert bindings.cudaDeviceAttr.cudaDevAttrMemoryClockRate


def test_what_is_called_is_there(bindings):
    folder = Path(cudart.__file__).parent
    called = set()
    for path in folder.glob("*.py"):
        called |= set(re.findall(r'"(cuda[A-Z]\w+)"', path.read_text()))
    names = called & {*FUNCTIONS, "cudaPointerGetAttributes", "cudaDeviceGetAttribute"}
    assert len(names) > 35
    assert not [name for name in names if not hasattr(bindings, name)]


def test_parameters_are_cuda_s():
    """By name and in order, as the header of the wheel has them."""
    spec = importlib.util.find_spec("nvidia")
    roots = (spec.submodule_search_locations or ()) if spec else ()
    paths = [Path(root, "cuda_runtime/include/cuda_runtime_api.h") for root in roots]
    text = "".join(path.read_text() for path in paths if path.exists())
    if not text:
        pytest.skip("the header of the CUDA runtime is not installed")
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    for name in FUNCTIONS:
        if name.startswith("cudaProfiler"):  # in a header of another wheel
            continue
        found = re.search(rf"CUDARTAPI {name}\s*\(([^;]*)\);", text)
        assert found, name
        declared = [re.split(r"\s*(?:__dv|=)", part)[0].split()[-1] for part in found[1].split(",")]
        declared = [each.lstrip("*") for each in declared if each != "void"]
        assert list(inspect.signature(getattr(cudart, name)).parameters) == declared, name


# -- its names ------------------------------------------------------------------------------------


def test_names(bindings):
    assert cudnn_ctypes.cudart is cudart
    assert len(set(cudart.__all__)) == len(cudart.__all__)
    for name in cudart.__all__:
        assert getattr(cudart, name) is not None
    assert cudart.cudaStream_t is raw.cudaStream_t


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_documented(name):
    function = getattr(cudart, name)
    assert function.__name__ == name
    assert (function.__doc__ or "").strip().endswith(".")
    assert inspect.signature(function)
    assert pickle.loads(pickle.dumps(function)) is function


# --- cudart.DevicePointer: counting as C does -----------------------------------------------------


def test_adding_counts_elements():
    p = DevicePointer(c_double, 0x1000)
    assert (p + 2).value == (2 + p).value == 0x1010
    assert (p - 1).value == 0xFF8
    assert (p + 5) - (p + 2) == 3
    assert (p + 1).ctype is c_double
    p += 1
    assert p == 0x1008


def test_casting():
    p = DevicePointer(c_float, 0x1000).cast(c_double)
    assert (p + 1).value == 0x1008


def test_comparing():
    p = DevicePointer(c_float, 0x1000)
    assert p == DevicePointer(c_int, 0x1000)
    assert p == ctypes.c_void_p(0x1000)
    assert p != p + 1
    assert p < p + 1 <= p + 1
    assert DevicePointer(c_float) == None  # noqa: E711 - C's p == NULL
    assert not DevicePointer(c_float)
    assert p
    assert len({p, DevicePointer(c_float, 0x1000)}) == 1


def test_pointers_to_different_types_have_no_distance():
    with pytest.raises(TypeError, match="different types"):
        DevicePointer(c_float, 8) - DevicePointer(c_double, 0)


@pytest.mark.parametrize("wrong", [1.5, "1", None])
def test_only_integers_are_added(wrong):
    with pytest.raises(TypeError):
        DevicePointer(c_float, 8) + wrong
    with pytest.raises(TypeError, match="index"):
        DevicePointer(c_float, 8)[wrong]


def test_the_type_is_one_of_ctypes():
    with pytest.raises(TypeError, match="expected a ctypes type"):
        DevicePointer(float)


# --- cudart: streams, events and the times between them -------------------------------------------


def event(*flags: int) -> cudaEvent_t:
    made = cudaEvent_t()
    if flags:
        cudart.cudaEventCreateWithFlags(byref(made), *flags)
    else:
        cudart.cudaEventCreate(byref(made))
    return made


def elapsed(start: cudaEvent_t, end: cudaEvent_t) -> float:
    ms = c_float(-1)
    cudart.cudaEventElapsedTime(byref(ms), start, end)
    return ms.value


def test_streams(any_device):
    first, second = cudaStream_t(), cudaStream_t()
    cudart.cudaStreamCreate(byref(first))
    cudart.cudaStreamCreateWithFlags(second, cudart.cudaStreamNonBlocking)
    assert first.value
    assert first != second
    point = event()
    cudart.cudaEventRecord(point, first)
    cudart.cudaStreamWaitEvent(second, point)
    cudart.cudaStreamSynchronize(second)
    assert cudart.cudaStreamQuery(second) == cudart.cudaSuccess
    cudart.cudaStreamSynchronize(None)
    cudart.cudaEventDestroy(point)
    cudart.cudaStreamDestroy(first)
    cudart.cudaStreamDestroy(second)


def test_events_without_a_time(any_device):
    timed, untimed, never = event(), event(cudart.cudaEventDisableTiming), event()
    cudart.cudaEventRecord(timed)
    cudart.cudaEventRecord(untimed)
    cudart.cudaDeviceSynchronize()
    for start, end in ((timed, untimed), (untimed, timed), (never, timed), (timed, never)):
        with pytest.raises(CudaError) as caught:
            elapsed(start, end)
        assert caught.value.code == cudart.cudaErrorInvalidResourceHandle
        cudart.cudaGetLastError()
    for each in (timed, untimed, never):
        cudart.cudaEventDestroy(each)


def test_what_was_destroyed_is_refused(reference_device):
    stream, point = cudaStream_t(), event()
    cudart.cudaStreamCreate(byref(stream))
    cudart.cudaStreamDestroy(stream)
    cudart.cudaEventDestroy(point)
    for call in (
        lambda: cudart.cudaStreamSynchronize(stream),
        lambda: cudart.cudaStreamDestroy(stream),
        lambda: cudart.cudaEventRecord(point),
        lambda: cudart.cudaEventDestroy(point),
        lambda: cudart.cudaEventRecord(cudaEvent_t()),
    ):
        with pytest.raises(CudaError, match="cudaErrorInvalidResourceHandle"):
            call()


@pytest.mark.parametrize("wrong", [None, 3, cudaStream_t(), c_int()])
def test_what_is_no_event(any_device, wrong):
    with pytest.raises(TypeError, match="expected a cudaEvent_t"):
        cudart.cudaEventRecord(wrong)
