"""Streams, threads, memory limits and the end of life on a GPU."""

from __future__ import annotations

import gc
import threading

import numpy as np
import pytest
from programs import run_program

from cudnn_ctypes.runtime import (
    DeviceBuffer,
    DeviceTensor,
    Event,
    OutOfDeviceMemoryError,
    cuda,
    current_device,
    elapsed_ms,
    synchronize,
)

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu_device")]

MIB = 1 << 20
SLEEP = 200_000_000  # cycles: some 0.1 s


def used() -> int:
    """Bytes of the device's memory pool that are in use."""
    synchronize()
    return int(current_device().memory_resource.attributes.used_mem_current)


def test_closed_and_forgotten_memory_is_free_again():
    gc.collect()
    before = used()
    for _ in range(300):
        DeviceBuffer(512 * MIB).close()  # 150 GiB in all
        DeviceTensor.empty((128, MIB), "float32")
    gc.collect()
    assert used() == before


def test_too_large():
    _, total = cuda.call("cuMemGetInfo")
    with pytest.raises(
        OutOfDeviceMemoryError, match=r"asked for .* on device \d+ \(.*\); .* are free"
    ):
        DeviceBuffer(2 * total)
    with DeviceBuffer(MIB) as buffer:
        buffer.fill(1)
        assert (buffer.copy_to_host() == 1).all()


@pytest.mark.soak
def test_what_was_too_large_is_left_to_others():
    """The pool takes all free memory before it gives up; cuDNN allocates outside of the pool."""
    _, total = cuda.call("cuMemGetInfo")
    with pytest.raises(OutOfDeviceMemoryError):
        DeviceBuffer(total)
    assert current_device().memory_resource.attributes.reserved_mem_current < total // 100


def test_freeing_is_ordered_on_the_stream(torch):
    stream, other = torch.cuda.Stream(), torch.cuda.Stream()
    nbytes = 64 * MIB
    with DeviceBuffer(nbytes, stream=stream) as result:
        source = DeviceBuffer(nbytes, stream=stream)
        source.fill(1, stream=stream)
        with torch.cuda.stream(stream):
            torch.cuda._sleep(SLEEP)
        cuda.call("cuMemcpyDtoDAsync", result.ptr, source.ptr, nbytes, stream.cuda_stream)
        source.close()
        buffers = [DeviceBuffer(nbytes, stream=other) for _ in range(4)]
        for buffer in buffers:
            buffer.fill(2, stream=other)
        assert (result.copy_to_host(stream=stream) == 1).all()
        for buffer in buffers:
            buffer.close()


def test_memory_can_be_freed_on_the_stream_that_used_it_last(torch):
    stream = torch.cuda.Stream()
    nbytes = 64 * MIB
    with DeviceBuffer(nbytes) as result:
        source = DeviceBuffer(nbytes)
        source.fill(1)
        synchronize()
        with torch.cuda.stream(stream):
            torch.cuda._sleep(SLEEP)
        cuda.call("cuMemcpyDtoDAsync", result.ptr, source.ptr, nbytes, stream.cuda_stream)
        source.close(stream=stream)
        with DeviceBuffer(nbytes) as buffer:
            buffer.fill(2)
            assert (result.copy_to_host(stream=stream) == 1).all()


def test_the_stream_may_be_closed_before_the_memory():
    device = current_device()
    device.set_current()
    stream = device.create_stream()
    buffer = DeviceBuffer(MIB, stream=stream)
    buffer.fill(1, stream=stream)
    stream.sync()
    stream.close()
    buffer.close()
    synchronize()


def test_copies_wait_for_the_stream(torch):
    stream = torch.cuda.Stream()
    tensor = DeviceTensor.zeros((MIB,), "float32", stream=stream)
    inside = torch.from_dlpack(tensor)
    torch.cuda.synchronize()
    with torch.cuda.stream(stream):
        torch.cuda._sleep(SLEEP)
        inside.fill_(7)
    assert (tensor.numpy() == 7).all()


def test_events_measure_time_on_the_device(torch):
    stream = torch.cuda.Stream()
    start = Event(stream)
    with torch.cuda.stream(stream):
        torch.cuda._sleep(SLEEP)
    end = Event(stream)
    assert not end.done
    end.synchronize()
    assert end.done
    assert 10 < elapsed_ms(start, end) < 5000
    assert elapsed_ms(end, start) == pytest.approx(-elapsed_ms(start, end))
    start.record(stream)
    assert elapsed_ms(end, start) >= 0
    start.close()
    end.close()


def test_events_on_the_default_stream():
    with DeviceBuffer(64 * MIB) as buffer, Event() as start:
        buffer.fill(0)
        with Event() as end:
            assert 0 < elapsed_ms(start, end) < 1000


def test_threads_with_streams_of_their_own():
    failures = []

    def work(seed):
        try:
            rng = np.random.default_rng(seed)
            device = current_device()
            device.set_current()
            stream = device.create_stream()
            for _ in range(50):
                shape = tuple(rng.integers(1, 40, 4))
                array = rng.standard_normal(shape).astype(np.float16)
                layout = str(rng.choice(["NCHW", "NHWC"]))
                tensor = DeviceTensor.from_numpy(array, layout=layout, stream=stream)
                np.testing.assert_array_equal(tensor.numpy(), array)
                if rng.random() < 0.5:
                    tensor.close()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []


def test_a_thread_without_a_context_allocates_and_frees():
    gc.collect()
    before = used()
    kept = [DeviceTensor.zeros((MIB,), "float32")]
    results = []

    def work():
        kept.clear()  # the last reference to the other thread's tensor
        kept.append(DeviceTensor.full((MIB,), 2, "int8"))
        results.append(int(kept[0].numpy().astype(int).sum()))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert results == [2 * MIB]
    kept.clear()
    assert used() == before


def test_the_current_device_stays(torch):
    last = torch.cuda.device_count() - 1
    torch.cuda.set_device(0)
    with DeviceBuffer(MIB, device=last) as buffer:
        assert buffer.device_id == last
        buffer.fill(3)
        assert (buffer.copy_to_host() == 3).all()
    assert torch.cuda.current_device() == 0
    assert current_device().device_id == 0
    assert not DeviceTensor.zeros((4,), "float32", device=last).numpy().any()


def test_the_end_of_the_process_is_silent():
    code = (
        "import numpy as np\n"
        "from cudnn_ctypes.runtime import *\n"
        "forgotten = DeviceBuffer(1 << 20); view = forgotten.view(16)\n"
        "cycle = [DeviceTensor.zeros((5,), 'bfloat16'), Event()]; cycle.append(cycle)\n"
        "tensor = DeviceTensor.zeros((4, 4), 'float16')\n"
        "capsule = tensor.__dlpack__()\n"
        "try:\n"
        "    import torch\n"
        "except ImportError:\n"
        "    torch = None\n"
        "if torch and torch.cuda.is_available():\n"
        "    theirs = torch.from_dlpack(tensor)\n"
        "    ours = as_tensor(torch.ones(3, device='cuda'))\n"
        "del tensor\n"
        "print('done')\n"
    )
    run = run_program(code)
    assert run.stdout == "done\n", run.stderr
    assert "Exception ignored" not in run.stderr
    assert "Traceback" not in run.stderr
