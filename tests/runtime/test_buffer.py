"""DeviceBuffer: allocation, copies, views, and the end of its life."""

import ctypes
import gc
import threading
import tracemalloc
import weakref
from contextlib import suppress
from types import SimpleNamespace

import numpy as np
import pytest
from fake_cuda import FakeStream

from cudnn_ctypes import use_reference_device
from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.raw.host_blocks import ALIGNMENT
from cudnn_ctypes.raw.memory import memory_pointer
from cudnn_ctypes.runtime import DeviceBuffer, OutOfDeviceMemoryError
from cudnn_ctypes.runtime.allocation import Allocator


@pytest.mark.parametrize("nbytes", [1, 255, 256, 100_003])
def test_memory_is_aligned_and_holds_what_is_written(any_device, nbytes):
    data = np.random.default_rng(nbytes).integers(0, 256, nbytes, np.uint8)
    with DeviceBuffer(nbytes) as buffer:
        assert buffer.ptr % ALIGNMENT == 0
        assert buffer.nbytes == len(buffer) == nbytes
        assert buffer.on_host == (any_device == "reference_device")
        buffer.fill(0xA5)
        assert (buffer.copy_to_host() == 0xA5).all()
        buffer.copy_from_host(data)
        np.testing.assert_array_equal(buffer.copy_to_host(), data)


@pytest.mark.parametrize("data", [1.5, [1, 2], None, np.array([None])])
def test_what_has_no_bytes_is_refused(any_device, data):
    with DeviceBuffer(64) as buffer, pytest.raises(TypeError, match=r"^data: "):
        buffer.copy_from_host(data)


@pytest.mark.parametrize(("offset", "n"), [(0, 17), (9, 8), (17, 0), (-1, 4)])
def test_copies_stay_within_the_buffer(any_device, offset, n):
    with DeviceBuffer(16) as buffer, pytest.raises(ValueError, match="not within the 16 bytes"):
        buffer.copy_from_host(bytes(n), offset=offset)


@pytest.mark.parametrize("byte", [-1, 256, 1.0, True])
def test_fill_takes_a_byte(any_device, byte):
    with DeviceBuffer(4) as buffer, pytest.raises(ValueError, match="from 0 to 255"):
        buffer.fill(byte)


def test_views_share_the_memory(any_device):
    with DeviceBuffer(64) as buffer:
        buffer.fill(0)
        view = buffer.view(16, 32)
        inner = view.view(8)
        assert (view.ptr, view.nbytes) == (buffer.ptr + 16, 32)
        assert (inner.ptr, inner.nbytes) == (buffer.ptr + 24, 24)
        inner.fill(1)
        expected = np.repeat([0, 1, 0], [24, 24, 16])
        np.testing.assert_array_equal(buffer.copy_to_host(), expected)
        for offset, nbytes in ((0, 33), (33, 0), (-1, 2), (0, -1)):
            with pytest.raises(ValueError, match="not within this buffer of 32 bytes"):
                view.view(offset, nbytes)


def test_a_view_keeps_the_buffer_alive(any_device):
    buffer = DeviceBuffer(16)
    gone = weakref.ref(buffer)
    buffer.fill(7)
    view = buffer.view(4, 4)
    del buffer
    gc.collect()
    assert gone() is not None
    assert (view.copy_to_host() == 7).all()
    gone().close()
    assert view.closed
    with pytest.raises(ClosedError):
        view.ptr  # noqa: B018


def test_closing_a_view_leaves_the_buffer(any_device):
    with DeviceBuffer(16) as buffer:
        with buffer.view(0, 4) as view:
            pass
        assert view.closed
        assert not buffer.closed
        with pytest.raises(ClosedError):
            view.fill(0)
        buffer.fill(0)


def test_use_after_close(any_device):
    buffer = DeviceBuffer(16)
    assert not buffer.closed
    buffer.close()
    buffer.close()
    assert buffer.closed
    assert "closed" in repr(buffer)
    for use in (
        lambda: buffer.ptr,
        lambda: buffer._as_parameter_,
        lambda: memory_pointer(buffer, "workspace"),
        lambda: ctypes.c_void_p.from_param(buffer),
        lambda: buffer.fill(0),
        lambda: buffer.copy_from_host(b"1"),
        buffer.copy_to_host,
        lambda: buffer.view(0),
        lambda: buffer.device_id,
    ):
        with pytest.raises(ClosedError, match="this DeviceBuffer of 16 bytes is closed"):
            use()


def test_raw_functions_take_it(any_device):
    with DeviceBuffer(16) as buffer:
        assert memory_pointer(buffer) == buffer.ptr
        assert buffer._as_parameter_.value == buffer.ptr
        assert f"{buffer.ptr:#x}" in repr(buffer)


def test_memory_of_the_other_device_is_refused(fake_cuda, request):
    on_gpu = DeviceBuffer(16)
    request.getfixturevalue("reference_device")
    on_host = DeviceBuffer(16)
    with pytest.raises(ValueError, match="one of them is memory of a GPU"):
        on_host.copy_from(on_gpu)
    with pytest.raises(ValueError, match="the reference device is active now"):
        memory_pointer(on_gpu)
    use_reference_device(False)
    with pytest.raises(ValueError, match="which is not active any more"):
        memory_pointer(on_host)
    on_gpu.close()
    on_host.close()


def test_too_large_on_the_reference_device(reference_device):
    for nbytes in (1 << 55, 1 << 70):
        with pytest.raises(OutOfDeviceMemoryError, match=r"asked for .* on the reference device"):
            DeviceBuffer(nbytes)


def test_too_large_on_a_gpu(fake_cuda):
    fake_cuda.capacity = 1 << 20
    with DeviceBuffer((1 << 20) - 1000), pytest.raises(MemoryError) as caught:
        DeviceBuffer(3 << 18)
    assert str(caught.value) == (
        "asked for 768.0 KiB (786432 bytes) on device 0 (Fake GPU 0); "
        "1000 bytes of 1.0 MiB (1048576 bytes) are free"
    )
    assert ("trim", 1, 0) in fake_cuda.log  # what the pool took before it gave up
    fake_cuda.message = "an illegal memory access"
    with DeviceBuffer(1 << 19), pytest.raises(RuntimeError, match="an illegal memory access"):
        DeviceBuffer(3 << 18)


def test_more_than_a_gpu_has_is_not_asked_for(fake_cuda):
    """Its pool takes all that is free before it gives up, and others find none."""
    with pytest.raises(OutOfDeviceMemoryError, match=r"asked for 2\.0 GiB .* of 1\.0 GiB"):
        DeviceBuffer(2 << 30)
    assert ("refuse", 2 << 30) not in fake_cuda.log
    asked = []
    resource = SimpleNamespace(allocate=lambda size, stream: asked.append(size))
    with suppress(Exception):
        DeviceBuffer(2 << 30, memory_resource=resource)
    assert asked  # it may have memory elsewhere


def test_everything_is_ordered_on_the_stream_that_is_given(fake_cuda):
    stream = FakeStream(7)
    buffer = DeviceBuffer(16, stream=stream)
    buffer.fill(1, stream=stream)
    buffer.copy_from_host(bytes(16), stream=stream)
    buffer.copy_to_host(stream=9)
    buffer.close()
    assert buffer.nbytes == 16
    assert fake_cuda.log == [
        *(("allocate", 0, 7), ("fill", 7), ("to device", 7), ("synchronize", 7)),
        *(("to host", 9), ("synchronize", 9), ("free", 7)),
    ]


def test_the_stream_object_lives_until_the_memory_is_freed(fake_cuda):
    stream = FakeStream(7)
    gone = weakref.ref(stream)
    buffer = DeviceBuffer(16, stream=stream)
    del stream
    gc.collect()
    assert gone() is not None
    buffer.close()
    gc.collect()
    assert gone() is None


def test_the_report_says_where_the_buffer_was_made(reference_device):
    tracemalloc.start()
    try:
        kept = [DeviceBuffer(16)]
    finally:
        tracemalloc.stop()
    with pytest.warns(ResourceWarning, match=r"created at:\n.*test_buffer.py"):
        kept.clear()


def test_two_threads_may_close_it(any_device):
    for _ in range(20):
        buffer = DeviceBuffer(16)
        threads = [threading.Thread(target=buffer.close) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert buffer.closed


def test_an_error_while_freeing_comes_out_of_close(fake_cuda, monkeypatch):
    buffer = DeviceBuffer(16)
    allocation = buffer.allocation

    def fail(*arguments):
        raise RuntimeError("an illegal memory access was encountered")

    monkeypatch.setattr("fake_cuda.FakeBuffer.close", fail)
    with pytest.raises(RuntimeError, match="illegal memory access"):
        buffer.close()
    buffer.close()
    assert buffer.closed
    assert not allocation.exports
    fake_cuda.used = 0


class TestAllocator:
    def test_its_blocks_are_freed_with_the_last_reference_in_the_stream_s_order(self, fake_cuda):
        allocator = Allocator(0, FakeStream(7))
        blocks = [allocator.allocate(n) for n in (16, 0, 300)]
        assert [block.nbytes for block in blocks] == [16, 0, 300]
        assert blocks[1].ptr == 0
        assert fake_cuda.used == 316
        fake_cuda.log.clear()
        fake_cuda.context = None  # as in a thread that never used the GPU
        del blocks
        assert fake_cuda.used == 0
        assert fake_cuda.log == [("free", 7), ("free", 7)]

    def test_its_stream_outlives_its_blocks_in_a_collected_cycle(self, fake_cuda):
        alive = []

        class Stream(FakeStream):
            def __del__(self):
                alive.append(fake_cuda.used > 0)

        block = Allocator(0, Stream(7)).allocate(16)
        cycle = [block]
        cycle.append(cycle)
        del block, cycle
        gc.collect()
        assert alive == [False]

    def test_it_keeps_small_blocks_for_the_next_work_on_its_stream(self, fake_cuda):
        allocator = Allocator(0, FakeStream(7), keeps=True)
        first, second = allocator.allocate_each([16, 300])
        addresses = {first.ptr, second.ptr}
        assert len(addresses) == 2
        fake_cuda.log.clear()
        del first, second
        again = allocator.allocate_each([512, 1])
        assert {each.ptr for each in again} == addresses
        assert [each.nbytes for each in again] == [512, 1]
        assert fake_cuda.log == []
        again[0].release(FakeStream(9))  # work on another stream used it
        assert fake_cuda.log == [("free", 9)]
        again[1].release()
        large = allocator.allocate((1 << 20) + 1)
        large.release()
        assert fake_cuda.log[1:] == [("allocate", 0, 7), ("free", 7)]
        allocator.close()
        assert fake_cuda.used == 0
        allocator.allocate(16).release()
        assert fake_cuda.used == 0

    def test_what_it_keeps_is_bounded_and_goes_when_memory_runs_out(self, fake_cuda):
        allocator = Allocator(0, keeps=True)
        for _ in range(3):
            allocator.allocate_each([1 << 20] * 20)
            assert fake_cuda.used <= 32 << 20
            assert allocator.kept_bytes <= 32 << 20
        kept = fake_cuda.used
        assert kept
        fake_cuda.capacity = kept + 100
        other = Allocator(0).allocate(200)
        assert fake_cuda.used == 200
        del other

    def test_captured_work_has_memory_of_its_own(self, fake_cuda):
        allocator = Allocator(0, FakeStream(7), keeps=True)
        before = allocator.allocate(64).ptr
        fake_cuda.captured.add(7)
        fake_cuda.log.clear()
        captured = allocator.allocate(64)
        assert captured.ptr != before
        fake_cuda.captured.clear()
        del captured
        assert fake_cuda.log == [("allocate", 0, 7), ("free", 7)]
        assert allocator.allocate(64).ptr == before

    def test_what_it_keeps_is_freed_with_it(self, fake_cuda):
        allocator = Allocator(0, FakeStream(7), keeps=True)
        block, _ = allocator.allocate_each([16, 32])
        del allocator, _
        assert fake_cuda.used == 1024
        del block
        assert fake_cuda.used == 0

    def test_on_the_reference_device(self):
        use_reference_device()
        try:
            allocator = Allocator()
            first, second = allocator.allocate(64), allocator.allocate(64)
            assert first.on_host
            assert first.ptr % ALIGNMENT == second.ptr % ALIGNMENT == 0
            assert abs(first.ptr - second.ptr) >= 64
            with pytest.raises(ValueError, match=r"^memory_resource: the reference device"):
                Allocator(memory_resource=SimpleNamespace(allocate=None))
        finally:
            use_reference_device(False)
