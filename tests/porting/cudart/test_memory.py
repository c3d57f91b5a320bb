"""cudart: allocating, copying, filling."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from ctypes import byref, c_float, c_size_t, c_void_p, sizeof
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import cudart, raw
from cudnn_ctypes.errors import ExecutionFailedError
from cudnn_ctypes.porting.cudart import (
    CudaError,
    DevicePointer,
    cudaFree,
    cudaMalloc,
    cudaMemcpy,
    cudaMemcpyAsync,
    cudaMemcpyDefault,
    cudaMemcpyDeviceToDevice,
    cudaMemcpyDeviceToHost,
    cudaMemcpyHostToDevice,
)
from cudnn_ctypes.runtime import DeviceTensor

VALUES = np.arange(12, dtype=np.float32)


def allocated(nbytes: int) -> DevicePointer:
    pointer = DevicePointer(c_float)
    cudaMalloc(byref(pointer), nbytes)
    return pointer


def filled(values: np.ndarray[Any, Any]) -> DevicePointer:
    pointer = allocated(values.nbytes)
    cudaMemcpy(pointer, values, values.nbytes, cudaMemcpyHostToDevice)
    return pointer


def read(pointer: Any, count: int) -> list[float]:
    host = np.full(count, np.nan, np.float32)
    cudaMemcpy(host, pointer, host.nbytes, cudaMemcpyDeviceToHost)
    return host.tolist()


@contextmanager
def scaling(count: int) -> Iterator[Callable[[Any, Any], None]]:
    """Multiplies so many floats by a number with cuDNN."""
    handle, descriptor = raw.cudnnHandle_t(), raw.cudnnTensorDescriptor_t()
    raw.cudnnCreate(byref(handle))
    raw.cudnnCreateTensorDescriptor(byref(descriptor))
    raw.cudnnSetTensor4dDescriptor(
        descriptor, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, 1, 1, 1, count
    )
    try:
        yield lambda memory, factor: raw.cudnnScaleTensor(handle, descriptor, memory, factor)
    finally:
        raw.cudnnDestroyTensorDescriptor(descriptor)
        raw.cudnnDestroy(handle)


def host_forms() -> dict[str, Any]:
    """Memory of twelve floats in all forms that hosts have it in, and what keeps it."""
    array = np.zeros(12, np.float32)
    other = (c_float * 12)()
    third = (c_float * 12)()
    return {
        "array": (np.zeros(12, np.float32), None),
        "fortran": (np.zeros((4, 3), np.float32, order="F"), None),
        "address": (array.ctypes.data, array),
        "c_void_p": (c_void_p(array.ctypes.data), array),
        "ctypes array": ((c_float * 12)(), None),
        "byref": (byref(other), other),
        "pointer": (ctypes.cast(third, ctypes.POINTER(c_float)), third),
        "bytearray": (bytearray(48), None),
        "memoryview": (memoryview(bytearray(48)), None),
    }


@pytest.mark.parametrize("form", host_forms())
def test_every_form_of_host_memory(any_device, form):
    target, keeper = host_forms()[form]
    x = filled(VALUES)
    cudaMemcpy(target, x, 48, cudaMemcpyDeviceToHost)
    y = allocated(48)
    cudaMemcpy(y, target, 48, cudaMemcpyHostToDevice)
    assert read(y, 12) == VALUES.tolist()
    assert keeper is None or bytes(keeper) == VALUES.tobytes()
    cudaFree(x)
    cudaFree(y)


def test_default_finds_the_direction(any_device):
    x, host = filled(VALUES), np.zeros(12, np.float32)
    cudaMemcpy(host, x, 48, cudaMemcpyDefault)
    assert host.tolist() == VALUES.tolist()
    cudaMemcpy(x + 6, x, 24, cudaMemcpyDefault)
    assert read(x, 12) == [*range(6), *range(6)]
    cudaMemcpy(x, VALUES, 48, cudaMemcpyDefault)
    assert read(x, 12) == VALUES.tolist()
    cudaFree(x)


def test_asynchronous_copies(any_device):
    stream = cudart.cudaStream_t()
    cudart.cudaStreamCreate(byref(stream))
    x, host = DevicePointer(c_float), np.zeros(12, np.float32)
    cudart.cudaMallocAsync(byref(x), 48, stream)
    cudaMemcpyAsync(x, VALUES, 48, cudaMemcpyHostToDevice, stream)
    cudart.cudaMemsetAsync(x + 2, 0, 8, stream)
    cudaMemcpyAsync(host, x, 48, cudaMemcpyDeviceToHost, stream)
    cudart.cudaStreamSynchronize(stream)
    assert host.tolist() == [0, 1, 0, 0, *range(4, 12)]
    cudart.cudaStreamDestroy(stream)
    cudaFree(x)


def test_rows(any_device):
    """Two columns of a matrix on the host go to the middle of a wider one on the device."""
    matrix = VALUES.reshape(3, 4)
    pitch, x = c_size_t(), DevicePointer(c_float)
    cudart.cudaMallocPitch(byref(x), byref(pitch), 16, 3)
    assert pitch.value >= 16
    cudart.cudaMemset2D(x, pitch.value, 0, 16, 3)
    to_device = cudaMemcpyHostToDevice
    cudart.cudaMemcpy2D(x + 1, pitch.value, matrix[:, 2:], 16, 8, 3, to_device)
    back = np.full((3, 4), np.nan, np.float32)
    cudart.cudaMemcpy2D(back, 16, x, pitch.value, 16, 3, cudaMemcpyDeviceToHost)
    assert back.tolist() == [[0, 2, 3, 0], [0, 6, 7, 0], [0, 10, 11, 0]]
    cudaFree(x)


def test_memset_sets_bytes(any_device):
    x = filled(VALUES)
    cudart.cudaMemset(x + 1, 0x141, 8)  # only the lowest byte counts
    whole = np.array([0, 0, 0, *VALUES[3:]], np.float32)
    whole[1:3].view(np.uint8)[...] = 0x41
    assert read(x, 12) == whole.tolist()
    cudaFree(x)


@pytest.mark.parametrize("function", ["cudaMallocHost", "cudaHostAlloc", "cudaMallocManaged"])
def test_memory_that_the_host_uses(any_device, function):
    p = DevicePointer(c_float)
    getattr(cudart, function)(byref(p), 48)
    p.array(12)[...] = VALUES
    p[3] = 33
    assert (p + 3)[0] == 33
    x = allocated(48)
    cudaMemcpy(x, p, 48, cudaMemcpyDefault)
    assert read(x, 4) == [0, 1, 2, 33]
    cudaMemcpy(p + 4, x, 16, cudaMemcpyDefault)
    cudart.cudaDeviceSynchronize()
    assert p.array(2, 4).tolist() == [[0, 1, 2, 33], [0, 1, 2, 33]]
    cudaFree(x)
    (cudart.cudaFree if function == "cudaMallocManaged" else cudart.cudaFreeHost)(p)


def test_device_memory_is_not_for_the_host(any_device):
    p = allocated(48)
    with pytest.raises(CudaError, match="device memory, which the host cannot use"):
        p[0]
    with pytest.raises(CudaError, match="device memory"):
        p.array(12)
    cudaFree(p)


def test_nothing_is_allocated_and_freed(any_device):
    p = DevicePointer(c_float, 0x10)
    cudaMalloc(byref(p), 0)
    assert not p.value
    cudaFree(p)
    cudaFree(None)
    status = cudart.cudaMallocManaged.unchecked(byref(p), 0)
    assert status == cudart.cudaErrorInvalidValue


def test_nothing_is_copied(reference_device):
    cudaMemcpy(None, VALUES, 0, cudaMemcpyHostToDevice)
    cudart.cudaMemset(None, 0, 0)
    cudart.cudaMemcpy2D(None, 8, VALUES, 8, 8, 0, cudaMemcpyHostToDevice)


def test_variables_that_a_pointer_is_stored_in(any_device):
    class Layer(ctypes.Structure):
        _fields_ = (("n", ctypes.c_int), ("w", c_void_p), ("b", ctypes.POINTER(c_float)))

    three, layer = (c_void_p * 3)(), Layer()
    plain, typed = c_void_p(), ctypes.POINTER(c_float)()
    cudaMalloc(byref(three, 2 * sizeof(c_void_p)), 48)
    cudaMalloc(byref(layer, Layer.w.offset), 48)
    cudaMalloc(byref(layer, Layer.b.offset), 48)
    cudaMalloc(byref(plain), 48)
    cudaMalloc(ctypes.pointer(plain) if not plain else typed, 48)
    assert list(three)[:2] == [None, None]
    assert not layer.n
    for each in (three[2], layer.w, layer.b, plain, typed):
        cudaMemcpy(each, VALUES, 48, cudaMemcpyHostToDevice)
        assert read(each, 12) == VALUES.tolist()
        cudaFree(each)


@pytest.mark.parametrize("wrong", [None, 3, ctypes.c_int(), "x", np.zeros(1), raw.cudnnHandle_t()])
def test_what_no_pointer_can_be_stored_in(any_device, wrong):
    with pytest.raises(TypeError, match="cudaMalloc: devPtr: expected a c_void_p variable"):
        cudaMalloc(wrong, 48)


def test_host_memory_that_is_too_small(any_device):
    x, array = allocated(64), (c_float * 4)()
    with pytest.raises(ValueError, match="src has 48 bytes, and 64 are to be read"):
        cudaMemcpy(x, VALUES, 64, cudaMemcpyHostToDevice)
    with pytest.raises(ValueError, match="dst has 8 bytes, and 16 are to be written"):
        cudaMemcpy(byref(array, 8), x, 16, cudaMemcpyDeviceToHost)
    cudaFree(x)


DEVICE = object()  # stands for device memory


def wrong_calls() -> dict[str, tuple[type[Exception], str, Any]]:
    read_only = np.zeros(12, np.float32)
    read_only.flags.writeable = False
    down, up = cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice
    return {
        "host for device": (TypeError, "cudaMemcpy: dst: host memory", (VALUES, VALUES, 4, up)),
        "strides": (ValueError, "one behind the other", (VALUES[::2], DEVICE, 4, down)),
        "read-only": (ValueError, "read-only", (read_only, DEVICE, 4, down)),
        "read-only bytes": (ValueError, "read-only", (b"abcd", DEVICE, 4, down)),
        "objects": (TypeError, "no bytes", (DEVICE, np.array([None]), 8, up)),
        "list": (TypeError, "expected host memory", (DEVICE, [1.0], 4, up)),
        "string": (TypeError, "expected host memory", (DEVICE, "abcd", 4, up)),
        "truth": (TypeError, "expected host memory", (DEVICE, True, 1, up)),
        "count": (TypeError, "count: expected an int", (DEVICE, VALUES, 4.0, up)),
        "negative": (ValueError, "count: expected a number", (DEVICE, VALUES, -4, up)),
        "kind": (TypeError, "kind: expected a cudaMemcpyKind", (DEVICE, VALUES, 4, "up")),
    }


@pytest.mark.parametrize("name", wrong_calls())
def test_arguments_that_are_refused(any_device, name):
    x = filled(VALUES)
    error, text, arguments = wrong_calls()[name]
    with pytest.raises(error, match=text):
        cudaMemcpy(*(x if each is DEVICE else each for each in arguments))
    cudaFree(x)


def test_unknown_kind(reference_device):
    with pytest.raises(CudaError, match="InvalidMemcpyDirection"):
        cudaMemcpy(0x1000, VALUES, 4, 7)


def test_rows_that_are_wider_than_the_pitch(reference_device):
    x = allocated(48)
    status = cudart.cudaMemcpy2D.unchecked(x, 8, VALUES, 16, 16, 3, cudaMemcpyHostToDevice)
    assert status == cudart.cudaErrorInvalidPitchValue
    cudaFree(x)


# -- the reference device watches -----------------------------------------------------------------


def test_freeing_what_is_not_there(reference_device):
    x, pinned = allocated(48), DevicePointer(c_float)
    with pytest.raises(CudaError, match="lies 4 bytes behind the start"):
        cudaFree(x + 1)
    cudaFree(x)
    with pytest.raises(CudaError, match="was freed before"):
        cudaFree(x)
    with pytest.raises(CudaError, match="nobody's memory"):
        cudaFree(0x1000)
    with pytest.raises(CudaError, match="is not what was allocated"):
        cudaFree(DeviceTensor.from_numpy(VALUES))
    cudart.cudaMallocHost(byref(pinned), 8)
    with pytest.raises(CudaError, match="memory of cudaMallocHost"):
        cudaFree(pinned)
    cudart.cudaFreeHost(pinned)


def test_copies_carry_what_was_never_written(reference_device):
    """A call that reads a copy of unwritten memory is told so, as one that reads the memory."""
    x, y = allocated(48), allocated(48)
    cudaMemcpy(x, VALUES, 24, cudaMemcpyHostToDevice)
    cudaMemcpy(y, x, 48, cudaMemcpyDeviceToDevice)
    with scaling(12) as scale:
        with pytest.raises(ExecutionFailedError, match="6 of 12"):
            scale(y, 2.0)
        cudart.cudaMemset(y + 6, 0, 24)
        scale(y, 2.0)
    assert read(y, 12) == [0, 2, 4, 6, 8, 10, 0, 0, 0, 0, 0, 0]
    cudaFree(x)
    cudaFree(y)


def test_too_much_memory(any_device):
    p = DevicePointer(c_float)
    assert cudaMalloc.unchecked(byref(p), 1 << 50) == cudart.cudaErrorMemoryAllocation
    assert cudart.cudaPeekAtLastError() == cudart.cudaErrorMemoryAllocation
    assert cudart.cudaGetLastError() == cudart.cudaErrorMemoryAllocation
    assert cudart.cudaGetLastError() == cudart.cudaSuccess
    with pytest.raises(CudaError) as caught:
        cudaMalloc(byref(p), 1 << 50)
    assert caught.value.code is cudart.cudaErrorMemoryAllocation
    assert caught.value.function == "cudaMalloc"
    cudart.cudaGetLastError()


def test_pointers_to_the_host_s_memory_are_scalars(any_device):
    """C programs pass ``alpha`` by an address; it is read there, not at the pointer's place."""
    x, alpha = filled(VALUES), DevicePointer(c_float)
    cudart.cudaMallocHost(byref(alpha), 8)
    alpha[1] = 5
    with scaling(12) as scale:
        scale(x, alpha + 1)
    assert read(x, 12) == (5 * VALUES).tolist()
    cudaFree(x)
    cudart.cudaFreeHost(alpha)


def test_tensors_of_pytorch_that_are_too_small(reference_device):
    """Their memory is PyTorch's, which no list of allocations has."""
    torch = pytest.importorskip("torch")
    small, source = torch.zeros(3), np.zeros(64, np.uint8)
    for call in (
        lambda: cudart.cudaMemset(small, 1, 13),
        lambda: cudart.cudaMemset2D(small, 5, 1, 5, 5),
        lambda: cudaMemcpy(small, source, 64, cudaMemcpyHostToDevice),
        lambda: cudaMemcpy(source, small, 64, cudaMemcpyDeviceToHost),
    ):
        with pytest.raises(ValueError, match=r"has 12 bytes, and .* are to be"):
            call()
    cudart.cudaMemset(small, 0, 12)
