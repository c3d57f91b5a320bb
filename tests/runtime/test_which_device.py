"""runtime.device and the gate to CUDA: laziness, contexts, and no GPU."""

from __future__ import annotations

import importlib
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from fake_cuda import FakeCuda, Status

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.errors import NoDeviceError
from cudnn_ctypes.runtime import (
    CudaError,
    DeviceBuffer,
    ReferenceDevice,
    cuda,
    current_device,
    device_count,
    make_current,
)
from cudnn_ctypes.runtime.device import device_id


def test_importing_loads_no_cuda() -> None:
    code = (
        "import sys; from cudnn_ctypes.runtime import *;"
        "from cudnn_ctypes import use_reference_device;"
        "use_reference_device(); DeviceBuffer(3).close(); Event();"
        "print([name for name in sys.modules if name.startswith('cuda.')])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_device_and_stream_are_those_of_cuda_core() -> None:
    core = pytest.importorskip("cuda.core")
    device = importlib.import_module("cudnn_ctypes.runtime")
    assert device.Device is core.Device
    assert device.Stream is core.Stream
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        device.Nothing  # noqa: B018


def failing(monkeypatch: pytest.MonkeyPatch, importer: Any) -> str:
    """The message of NoDeviceError when the driver module is what `importer` gives."""
    monkeypatch.setattr(cuda.importlib, "import_module", importer)
    cuda.driver.cache_clear()
    try:
        with pytest.raises(NoDeviceError) as caught:
            DeviceBuffer(4)
    finally:
        monkeypatch.undo()
        cuda.driver.cache_clear()
    return str(caught.value)


def test_without_a_gpu_the_message_says_what_to_do(
    gpu_device: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_library(name: str) -> Any:
        raise RuntimeError("libcuda.so.1 not found")

    message = failing(monkeypatch, no_library)
    assert "no CUDA device or driver found (libcuda.so.1 not found)" in message
    assert "cudnn_ctypes.use_reference_device()" in message
    assert "CUDNN_CTYPES_DEVICE=reference" in message


def test_other_ways_of_having_no_gpu(gpu_device: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def not_installed(name: str) -> Any:
        raise ImportError("No module named 'cuda'")

    refusing = SimpleNamespace(cuInit=lambda flags: (Status.CUDA_ERROR_INVALID_CONTEXT,))
    empty = SimpleNamespace(cuInit=lambda flags: (Status.CUDA_SUCCESS,))
    empty.cuDeviceGetCount = lambda: (Status.CUDA_SUCCESS, 0)
    assert "No module named 'cuda'" in failing(monkeypatch, not_installed)
    assert "CUDA_ERROR_INVALID_CONTEXT" in failing(monkeypatch, lambda name: refusing)
    assert "cuDeviceGetCount found none" in failing(monkeypatch, lambda name: empty)


def test_the_reference_device(reference_device: None) -> None:
    device = current_device()
    assert isinstance(device, ReferenceDevice)
    assert "reference device" in device.name
    assert device_id() == device_id(0) == device_id(device) == int(device) == 0
    assert make_current(0) == device
    device.sync()
    with pytest.raises(ValueError, match="the reference device is one device"):
        device_id(1)
    for unknown in ("reference", 0.0, (0,)):
        with pytest.raises(TypeError, match=r"^device: expected the number of a GPU"):
            device_id(unknown)


def test_the_first_use_makes_a_context(fake_cuda: FakeCuda) -> None:
    assert fake_cuda.context is None
    assert current_device().name == "Fake GPU 0"
    assert fake_cuda.context == 0


def test_the_current_device_is_used_and_stays(fake_cuda: FakeCuda) -> None:
    make_current(1)
    with DeviceBuffer(16) as here, DeviceBuffer(16, device=0) as there:
        assert (here.device_id, there.device_id) == (1, 0)
        assert [entry[1] for entry in fake_cuda.log if entry[0] == "allocate"] == [1, 0]
        there.copy_from_host(b"0" * 16)
    assert fake_cuda.context == 1


def test_an_unknown_device(fake_cuda: FakeCuda) -> None:
    with pytest.raises(ValueError, match="device_id"):
        DeviceBuffer(16, device=2)


def test_driver_errors_name_function_and_code(fake_cuda: FakeCuda) -> None:
    with pytest.raises(CudaError, match=r"cuCtxGetDevice: CUDA_ERROR_INVALID_CONTEXT \(a desc"):
        cuda.call("cuCtxGetDevice")


def test_the_reference_device_is_one() -> None:
    with use_reference_device():
        assert device_count() == 1


@pytest.mark.gpu
def test_devices_are_counted(gpu_device: None) -> None:
    assert device_count() == int(cuda.driver().cuDeviceGetCount()[1]) >= 1
