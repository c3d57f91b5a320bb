"""cudart: streams, events and the times between them."""

from __future__ import annotations

import time
from ctypes import byref, c_float, c_int
from typing import Any

import pytest

from cudnn_ctypes import cudart, raw
from cudnn_ctypes.porting.cudart import CudaError, cudaEvent_t, cudaStream_t


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


def test_streams(any_device: str) -> None:
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


def test_cudnn_takes_the_streams(any_device: str) -> None:
    stream, handle, found = cudaStream_t(), raw.cudnnHandle_t(), cudaStream_t()
    cudart.cudaStreamCreate(byref(stream))
    raw.cudnnCreate(byref(handle))
    raw.cudnnSetStream(handle, stream)
    raw.cudnnGetStream(handle, byref(found))
    assert found == stream
    raw.cudnnDestroy(handle)
    cudart.cudaStreamDestroy(stream)


def test_times(any_device: str) -> None:
    start, end = event(), event()
    cudart.cudaEventRecord(start)
    cudart.cudaEventRecord(end, None)
    cudart.cudaEventSynchronize(end)
    assert cudart.cudaEventQuery(end) == cudart.cudaSuccess
    assert elapsed(start, end) >= 0
    for each in (start, end):
        cudart.cudaEventDestroy(each)


def test_the_reference_device_tells_the_host_s_time(
    reference_device: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By a clock that the test sets: nothing is added, nothing invented."""
    start, end = event(), event()
    for point, seconds in ((start, 10.0), (end, 10.125)):
        monkeypatch.setattr(time, "perf_counter", lambda seconds=seconds: seconds)
        cudart.cudaEventRecord(point)
    assert elapsed(start, end) == 125
    assert elapsed(end, start) == -125


def test_events_without_a_time(any_device: str) -> None:
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


def test_what_was_destroyed_is_refused(reference_device: None) -> None:
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
def test_what_is_no_event(any_device: str, wrong: Any) -> None:
    with pytest.raises(TypeError, match="expected a cudaEvent_t"):
        cudart.cudaEventRecord(wrong)


@pytest.mark.parametrize("wrong", [None, c_int(), cudaStream_t(), 1.0])
def test_what_no_time_can_be_stored_in(any_device: str, wrong: Any) -> None:
    start = event()
    cudart.cudaEventRecord(start)
    with pytest.raises(TypeError, match="ms: expected a c_float variable"):
        cudart.cudaEventElapsedTime(wrong, start, start)
    cudart.cudaEventDestroy(start)
