"""Who watches is told of memory; nobody else's allocations are touched."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from ctypes import c_size_t, c_void_p

import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, activation_forward, cudart
from cudnn_ctypes.runtime.allocation import Allocation, Allocator
from cudnn_ctypes.runtime.watching import unwatch, watch


class Seen:
    def __init__(self) -> None:
        self.events: list[tuple[int, ...]] = []

    def allocated(self, address: int, nbytes: int) -> None:
        self.events.append((address, nbytes))

    def freed(self, address: int) -> None:
        self.events.append((address,))


@pytest.fixture
def seen() -> Iterator[Seen]:
    watch(seen := Seen())
    yield seen
    unwatch(seen)


@pytest.mark.usefixtures("reference_device")
def test_allocations_and_frees(seen: Seen) -> None:
    buffer = DeviceBuffer(64)
    address = buffer.ptr
    part = buffer.view(8)
    part.close()
    buffer.close()
    buffer.close()
    with DeviceBuffer(0):
        pass  # no memory
    assert seen.events == [(address, 64), (address,)]
    seen.events.clear()
    tensor = DeviceTensor.zeros((2, 3), "float32")
    address = tensor.ptr
    del tensor
    gc.collect()
    assert seen.events == [(address, 24), (address,)]


@pytest.mark.usefixtures("reference_device")
def test_who_watches_no_more_is_told_nothing() -> None:
    before = Allocator.allocated, Allocation.__del__
    watch(seen := Seen())
    for _ in range(2):
        unwatch(seen)
        assert (Allocator.allocated, Allocation.__del__) == before
    DeviceBuffer(8).close()
    assert seen.events == []


@pytest.mark.usefixtures("reference_device")
def test_results_of_launches_that_are_known(seen: Seen) -> None:
    x = DeviceTensor.zeros((1, 1, 2, 2), "float32")
    seen.events.clear()
    with Handle() as handle:
        for _ in range(3):
            y = activation_forward(handle, x, "relu")
            assert seen.events == [(address := y.ptr, 16)]
            del y
            gc.collect()
            assert seen.events.pop() == (address,)
            seen.events.clear()


@pytest.mark.usefixtures("reference_device")
def test_several_watch(seen: Seen) -> None:
    watch(other := Seen())
    unwatch(seen)
    DeviceBuffer(8).close()
    unwatch(other)
    assert (len(seen.events), len(other.events)) == (0, 2)


@pytest.mark.parametrize(
    "device", ["reference_device", pytest.param("gpu_device", marks=pytest.mark.gpu)]
)
def test_memory_by_the_names_of_the_runtime(device, request, seen):
    request.getfixturevalue(device)
    pointer, pitch = c_void_p(), c_size_t()
    cudart.cudaMalloc(pointer, 64)
    address = pointer.value
    cudart.cudaFree(pointer)
    assert seen.events == [(address, 64), (address,)]
    seen.events.clear()
    cudart.cudaMallocPitch(pointer, pitch, 100, 3)
    address = pointer.value
    cudart.cudaFree(pointer)
    cudart.cudaFree(None)
    assert seen.events == [(address, 3 * pitch.value), (address,)]


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
def test_blocks_that_are_kept_are_freed_for_their_owner(seen):
    allocator = Allocator(keeps=True)
    first = allocator.allocate(64)
    address = first.ptr
    del first
    second = allocator.allocate(32)
    assert second.ptr == address
    assert seen.events == [(address, 64), (address,), (address, 32)]
    allocator.close()
