"""Who watches is told of memory; nobody else's allocations are touched."""

from __future__ import annotations

import gc
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


@pytest.mark.usefixtures("reference_device")
def test_allocations_and_frees():
    before = Allocator.allocated, Allocation.__del__
    seen = Seen()
    watch(seen)
    try:
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
    finally:
        unwatch(seen)
    assert (Allocator.allocated, Allocation.__del__) == before
    unwatch(seen)
    seen.events.clear()
    DeviceBuffer(8).close()
    assert seen.events == []


@pytest.mark.usefixtures("reference_device")
def test_results_of_launches_that_are_known():
    seen, x = Seen(), DeviceTensor.zeros((1, 1, 2, 2), "float32")
    watch(seen)
    try:
        with Handle() as handle:
            for _ in range(3):
                y = activation_forward(handle, x, "relu")
                assert seen.events == [(address := y.ptr, 16)]
                del y
                gc.collect()
                assert seen.events.pop() == (address,)
                seen.events.clear()
    finally:
        unwatch(seen)


@pytest.mark.usefixtures("reference_device")
def test_several_watch():
    one, other = Seen(), Seen()
    watch(one)
    watch(other)
    unwatch(one)
    try:
        DeviceBuffer(8).close()
    finally:
        unwatch(other)
    assert (len(one.events), len(other.events)) == (0, 2)


def check_runtime() -> None:
    seen, pointer, pitch = Seen(), c_void_p(), c_size_t()
    watch(seen)
    try:
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
    finally:
        unwatch(seen)


@pytest.mark.usefixtures("reference_device")
def test_memory_by_the_names_of_the_runtime():
    check_runtime()


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
def test_memory_by_the_names_of_the_runtime_on_a_gpu():
    check_runtime()


@pytest.mark.gpu
@pytest.mark.usefixtures("gpu_device")
def test_blocks_that_are_kept_are_freed_for_their_owner():
    seen = Seen()
    allocator = Allocator(keeps=True)
    watch(seen)
    try:
        first = allocator.allocate(64)
        address = first.ptr
        del first
        second = allocator.allocate(32)
        assert second.ptr == address
        assert seen.events == [(address, 64), (address,), (address, 32)]
    finally:
        unwatch(seen)
        allocator.close()
