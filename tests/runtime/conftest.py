"""Tests of memory run on the reference device, on a fake GPU and on a GPU where there is one."""

import pytest
from fake_cuda import FakeCuda

from cudnn_ctypes.runtime import cuda


@pytest.fixture
def fake_cuda(gpu_device, monkeypatch):
    """A GPU made of host memory; its ``log`` tells what was asked of it."""
    fake = FakeCuda()
    monkeypatch.setattr(cuda, "driver", lambda: fake)
    monkeypatch.setattr(cuda, "core", lambda: fake.core)
    monkeypatch.setattr(cuda, "_pools", {})
    yield fake
    assert fake.used == 0, "device memory was not freed"


@pytest.fixture(
    params=["reference_device", "fake_cuda", pytest.param("gpu_device", marks=pytest.mark.gpu)]
)
def any_device(request):
    """Name of the device that the test runs on."""
    request.getfixturevalue(request.param)
    return str(request.param)


@pytest.fixture
def torch():
    """PyTorch that can use the GPU."""
    module = pytest.importorskip("torch")
    if not module.cuda.is_available():
        pytest.skip("this PyTorch cannot use the GPU")
    return module
