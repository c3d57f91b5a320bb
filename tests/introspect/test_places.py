"""Names of memory: by allocation and offset, as the driver or the reference device knows them."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import DeviceBuffer, raw, use_reference_device
from cudnn_ctypes.device import CudaError, cuda
from cudnn_ctypes.introspect.places import Objects, Places, extent

BASE, SIZE = 0x7F0000000000, 4096


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that knows a single allocation."""

    def call(function: str, address: int) -> Any:
        assert function == "cuMemGetAddressRange"
        if not BASE <= address < BASE + SIZE:
            raise CudaError(function, 1, "CUDA_ERROR_INVALID_VALUE")
        return BASE, SIZE

    monkeypatch.setattr(cuda, "call", call)


@pytest.mark.usefixtures("driver", "gpu_device")
class TestOnAGpu:
    def test_the_driver_knows_allocations(self) -> None:
        places = Places()
        assert places.place(BASE + 256, None, "x") == ("x", 256)
        assert places.place(BASE, None, "y") == ("x", 0)
        assert extent(BASE + 8, None) == (BASE, SIZE)

    def test_what_it_does_not_know_is_a_place_of_its_own(self) -> None:
        places = Places()
        assert places.place(64, None, "x") == ("x", 0)
        assert places.place(128, None, "x") == ("x2", 0)
        assert extent(64, None) == (64, None)


def test_memory_that_is_allocated_again_has_another_name() -> None:
    places = Places()
    with use_reference_device():
        for name in ("x", "x2", "x3"):
            with DeviceBuffer(64) as memory:
                assert places.place(memory.ptr + 8, memory, "x") == (name, 8)
                assert extent(memory.ptr + 8, memory) == (memory.ptr, 64)


def test_objects_are_numbered_by_kind() -> None:
    objects = Objects()
    tensor, handle = raw.cudnnTensorDescriptor_t, raw.cudnnHandle_t
    assert objects.name(handle, 16) == "handle"
    assert objects.name(handle, 32) == "handle2"
    assert objects.name(tensor, 16) == "tensor1"
    assert objects.name(tensor, 16) == "tensor1"
    assert objects.name(tensor, 16, new=True) == "tensor2"
    objects.forget(tensor, 16)
    assert objects.name(tensor, 16) == "tensor3"
    assert objects.name(tensor, None) is None
