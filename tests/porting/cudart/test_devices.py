"""cudart: devices, versions, pointers, streams and events."""

from __future__ import annotations

import ctypes
from ctypes import byref, c_double, c_float, c_int, c_size_t
from typing import Any

import pytest

from cudnn_ctypes import cudart
from cudnn_ctypes.porting.cudart import CudaError, DevicePointer, cudaEvent_t, cudaStream_t
from cudnn_ctypes.porting.cudart.sides import REFERENCE


def number(function: Any, ctype: Any = c_int) -> int:
    variable = ctype(-1)
    function(byref(variable))
    return int(variable.value)


def test_which_device(any_device):
    assert number(cudart.cudaGetDeviceCount) >= 1
    cudart.cudaSetDevice(0)
    assert number(cudart.cudaGetDevice) == 0
    assert cudart.cudaSetDevice.unchecked(99) == cudart.cudaErrorInvalidDevice
    cudart.cudaGetLastError()


def test_attributes(any_device):
    properties, value = cudart.cudaDeviceProp(), c_int()
    cudart.cudaGetDeviceProperties(byref(properties), 0)
    for number, expected in (
        (16, properties.multiProcessorCount),
        (75, properties.major),
        (4, properties.maxThreadsDim[2]),
    ):
        cudart.cudaDeviceGetAttribute(byref(value), number, 0)
        assert value.value == expected


def test_memory_and_versions(any_device):
    free, total = c_size_t(), c_size_t()
    cudart.cudaMemGetInfo(byref(free), byref(total))
    assert 0 < free.value <= total.value
    assert number(cudart.cudaRuntimeGetVersion) >= 12000
    assert number(cudart.cudaDriverGetVersion) >= 12000


def test_reset_frees_what_is_left(reference_device):
    pointer, stream, event = cudart.DevicePointer(), cudart.cudaStream_t(), cudart.cudaEvent_t()
    cudart.cudaMalloc(byref(pointer), 10)
    cudart.cudaStreamCreate(byref(stream))
    cudart.cudaEventCreate(byref(event))
    cudart.cudaDeviceReset()
    assert not REFERENCE.allocated
    with pytest.raises(cudart.CudaError, match="was freed"):
        cudart.cudaMemset(pointer, 0, 1)
    with pytest.raises(cudart.CudaError, match="InvalidResourceHandle"):
        cudart.cudaStreamSynchronize(stream)
    with pytest.raises(cudart.CudaError, match="InvalidResourceHandle"):
        cudart.cudaEventSynchronize(event)


# --- cudart.DevicePointer: counting as C does -----------------------------------------------------


def test_adding_counts_elements():
    p = DevicePointer(c_double, 0x1000)
    assert (p + 2).value == (2 + p).value == 0x1010
    assert (p - 1).value == 0xFF8
    assert (p + 5) - (p + 2) == 3
    assert (p + 1).ctype is c_double
    p += 1
    assert p == 0x1008


def test_casting():
    p = DevicePointer(c_float, 0x1000).cast(c_double)
    assert (p + 1).value == 0x1008


def test_comparing():
    p = DevicePointer(c_float, 0x1000)
    assert p == DevicePointer(c_int, 0x1000)
    assert p == ctypes.c_void_p(0x1000)
    assert p != p + 1
    assert p < p + 1 <= p + 1
    assert DevicePointer(c_float) == None  # noqa: E711 - C's p == NULL
    assert not DevicePointer(c_float)
    assert p
    assert len({p, DevicePointer(c_float, 0x1000)}) == 1


def test_pointers_to_different_types_have_no_distance():
    with pytest.raises(TypeError, match="different types"):
        DevicePointer(c_float, 8) - DevicePointer(c_double, 0)


@pytest.mark.parametrize("wrong", [1.5, "1", None])
def test_only_integers_are_added(wrong):
    with pytest.raises(TypeError):
        DevicePointer(c_float, 8) + wrong
    with pytest.raises(TypeError, match="index"):
        DevicePointer(c_float, 8)[wrong]


def test_the_type_is_one_of_ctypes():
    with pytest.raises(TypeError, match="expected a ctypes type"):
        DevicePointer(float)


# --- cudart: streams, events and the times between them -------------------------------------------


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


def test_streams(any_device):
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


def test_events_without_a_time(any_device):
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


def test_what_was_destroyed_is_refused(reference_device):
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
def test_what_is_no_event(any_device, wrong):
    with pytest.raises(TypeError, match="expected a cudaEvent_t"):
        cudart.cudaEventRecord(wrong)
