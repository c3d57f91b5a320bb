"""runtime.stream and runtime.event."""

from __future__ import annotations

import ctypes
import time
from typing import Any

import pytest
from fake_cuda import FakeCuda

from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.runtime import Event, as_stream_pointer, elapsed_ms, synchronize
from cudnn_ctypes.runtime.cuda import as_core_stream, order


class Protocol:
    def __init__(self, answer: Any) -> None:
        self.answer = answer

    def __cuda_stream__(self) -> Any:
        return self.answer


class OldProtocol:
    __cuda_stream__ = (0, 77)


class TorchStream:
    cuda_stream = 78


class CupyStream:
    ptr = 79


@pytest.mark.parametrize(
    ("stream", "pointer"),
    [
        (None, 0),
        (0, 0),
        (2, 2),
        (Protocol((0, 76)), 76),
        (OldProtocol(), 77),
        (TorchStream(), 78),
        (CupyStream(), 79),
        (ctypes.c_void_p(80), 80),
        (ctypes.c_void_p(), 0),
    ],
)
def test_addresses_of_streams(stream: object, pointer: int) -> None:
    assert as_stream_pointer(stream) == pointer


@pytest.mark.parametrize("stream", ["0", 1.0, True, object(), [1], Protocol((1, 5))])
def test_what_is_no_stream_is_refused(stream: object) -> None:
    with pytest.raises(TypeError, match=r"^stream: "):
        as_stream_pointer(stream)


@pytest.mark.parametrize("stream", [-1, 1 << 64])
def test_impossible_addresses(stream: int) -> None:
    with pytest.raises(ValueError, match="no 64-bit address"):
        as_stream_pointer(stream)


def test_core_streams(fake_cuda: FakeCuda) -> None:
    device = fake_cuda.core.Device(0)
    own = fake_cuda.core.Stream.from_handle(5)
    assert as_core_stream(own, device) is own
    assert as_core_stream(None, device) is fake_cuda.core.LEGACY_DEFAULT_STREAM
    assert as_core_stream(TorchStream(), device).__cuda_stream__() == (0, 78)


def test_order_records_on_one_stream_and_waits_on_the_other(fake_cuda: FakeCuda) -> None:
    order(before=7, after=8)
    assert fake_cuda.log == [("record", 7), ("wait", 8)]
    assert fake_cuda._events == 0


@pytest.mark.parametrize(("before", "after"), [(7, 7), (0, 1), (1, 0), (0, 0)])
def test_a_stream_does_not_wait_for_itself(fake_cuda: FakeCuda, before: int, after: int) -> None:
    order(before=before, after=after)
    assert fake_cuda.log == []


def test_synchronize(fake_cuda: FakeCuda) -> None:
    synchronize()
    synchronize(TorchStream())
    assert fake_cuda.log == [("synchronize context", 0), ("synchronize", 78)]


def test_synchronize_on_the_reference_device(reference_device: None) -> None:
    synchronize()
    synchronize(3)


def test_events_on_the_reference_device_measure_host_time(reference_device: None) -> None:
    start = Event()
    time.sleep(0.02)
    end = Event(stream=0)
    assert end.done
    end.synchronize()
    assert 20 <= elapsed_ms(start, end) < 2000
    start.record()
    assert elapsed_ms(start, end) < 0


def test_a_closed_event_is_refused(reference_device: None) -> None:
    with Event() as start:
        end = Event()
    assert start.closed
    start.close()
    for use in (
        start.record,
        start.synchronize,
        lambda: start.done,
        lambda: elapsed_ms(start, end),
    ):
        with pytest.raises(ClosedError):
            use()


def test_events_on_a_gpu(fake_cuda: FakeCuda) -> None:
    start, end = Event(TorchStream()), Event()
    assert (start._event.stream, end._event.stream) == (78, 1)
    assert elapsed_ms(start, end) == 1.5
    start.record(CupyStream())
    assert start._event.stream == 79
    assert start.done
    start.close()
    end.close()


def test_events_of_two_devices_do_not_mix(
    fake_cuda: FakeCuda, request: pytest.FixtureRequest
) -> None:
    start = Event()
    request.getfixturevalue("reference_device")
    with pytest.raises(ValueError, match="different devices"):
        elapsed_ms(start, Event())


def test_events_refuse_what_is_no_stream(reference_device: None) -> None:
    with pytest.raises(TypeError, match=r"^stream: "):
        Event("stream")
