"""Names of memory: by allocation and offset, as the driver or the reference device knows them."""

from __future__ import annotations

from typing import Any

import pytest

from cudnn_ctypes import DeviceBuffer, raw, use_reference_device
from cudnn_ctypes.evidence.memory import Objects, Places, find
from cudnn_ctypes.runtime import CudaError, cuda

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
        region = find(BASE + 8, None, ())
        assert (region.address, region.nbytes) == (BASE, SIZE)

    def test_what_it_does_not_know_is_a_place_of_its_own(self) -> None:
        places = Places()
        assert places.place(64, None, "x") == ("x", 0)
        assert places.place(128, None, "x") == ("x2", 0)
        assert (find(64, None, ()).address, find(64, None, ()).nbytes) == (64, None)


def test_memory_that_is_allocated_again_has_another_name() -> None:
    places = Places()
    with use_reference_device():
        for name in ("x", "x2", "x3"):
            with DeviceBuffer(64) as memory:
                assert places.place(memory.ptr + 8, memory, "x") == (name, 8)
                region = find(memory.ptr + 8, memory, ())
                assert (region.address, region.nbytes) == (memory.ptr, 64)


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


@pytest.mark.usefixtures("driver", "gpu_device")
def test_an_address_that_was_freed_is_other_memory_when_it_comes_back() -> None:
    places = Places()
    places.allocated(BASE, 64)
    assert places.settle() == []
    first = places.region(BASE, None, "x")
    assert (first.name, first.nbytes, first.owner) == ("x", 64, "cudnn_ctypes")
    assert first.place[0] == __file__
    assert places.fresh() == [first]
    places.freed(BASE)
    places.allocated(BASE, 32)
    assert places.settle() == [first]
    second = places.region(BASE + 8, None, "x")
    assert (second.name, second.nbytes) == ("x2", 32)
    assert places.fresh() == [second]


def test_storages_of_torch_are_allocations() -> None:
    torch = pytest.importorskip("torch")
    places = Places()
    with use_reference_device():
        tensor = torch.zeros(8)
        assert places.place(tensor[2:].data_ptr(), tensor[2:], "x") == ("x", 8)
        # An address in it is known, too.
        assert places.place(tensor.data_ptr() + 4, None, "memory") == ("x", 4)
        view = tensor.view(2, 4)
        del tensor
        assert places.settle() == []
        del view
        (gone,) = places.settle()
        assert (gone.name, gone.nbytes, gone.owner) == ("x", 32, "PyTorch")
