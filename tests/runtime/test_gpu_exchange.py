"""Exchanging memory with PyTorch, CuPy and cuda.core on a GPU, without copying."""

from __future__ import annotations

import gc
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes.dtypes import as_data_type
from cudnn_ctypes.raw.memory import memory_pointer
from cudnn_ctypes.runtime import DeviceBuffer, DeviceTensor, as_tensor, synchronize
from cudnn_ctypes.runtime.foreign import from_cuda_array_interface

pytestmark = [pytest.mark.gpu, pytest.mark.usefixtures("gpu_device")]

SLEEP = 200_000_000  # cycles: some 0.1 s
MANY = 1 << 20

# cuDNN's name, PyTorch's and ml_dtypes' or NumPy's type.
TYPES = [
    ("float64", "float64", np.float64),
    ("float32", "float32", np.float32),
    ("float16", "float16", np.float16),
    ("bfloat16", "bfloat16", ml_dtypes.bfloat16),
    ("fp8_e4m3", "float8_e4m3fn", ml_dtypes.float8_e4m3fn),
    ("fp8_e5m2", "float8_e5m2", ml_dtypes.float8_e5m2),
    ("int8", "int8", np.int8),
    ("int32", "int32", np.int32),
    ("int64", "int64", np.int64),
    ("uint8", "uint8", np.uint8),
    ("bool", "bool", np.bool_),
    ("complex64", "complex64", np.complex64),
]
WITH_TYPESTR = [entry for entry in TYPES if np.dtype(entry[2]).isbuiltin == 1]


@pytest.fixture
def cupy():
    return pytest.importorskip("cupy")


def small_numbers(shape: tuple[int, ...], dtype: Any) -> np.ndarray[Any, Any]:
    return np.random.default_rng(0).integers(0, 2, shape).astype(dtype)


# -- PyTorch ----------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("name", "torch_name", "dtype"), TYPES)
def test_torch_views_our_memory(torch, name, torch_name, dtype, layout):
    array = small_numbers((2, 3, 4, 5), dtype)
    with DeviceTensor.from_numpy(array, layout=layout) as tensor:
        other = torch.from_dlpack(tensor)
        assert other.is_cuda
        assert other.dtype is getattr(torch, torch_name)
        assert other.data_ptr() == tensor.ptr
        assert tuple(other.shape) == tensor.shape
        assert other.stride() == tensor.strides
        host = other.cpu().contiguous().view(torch.uint8).numpy()
        assert host.tobytes() == array.tobytes()
        other.copy_(torch.zeros_like(other))
        torch.cuda.synchronize()
        assert not any(tensor.numpy().tobytes())


@pytest.mark.parametrize(("name", "torch_name", "dtype"), TYPES)
def test_we_view_torchs_memory(torch, name, torch_name, dtype):
    array = small_numbers((2, 3, 4, 5), np.float32)
    other = torch.from_numpy(array).cuda().to(getattr(torch, torch_name))
    other = other.contiguous(memory_format=torch.channels_last)
    tensor = as_tensor(other)
    assert tensor.data_type == as_data_type(name)
    assert tensor.ptr == other.data_ptr() == memory_pointer(other)
    assert tensor.strides == other.stride()
    assert tensor.layout == "NHWC"
    assert not tensor.on_host
    np.testing.assert_array_equal(tensor.numpy(), array.astype(dtype))
    tensor.copy_from(np.zeros(array.shape, dtype))
    assert not other.to(torch.complex64).abs().any()


@pytest.mark.parametrize(("name", "torch_name", "dtype"), WITH_TYPESTR)
def test_torch_through_the_cuda_array_interface(torch, name, torch_name, dtype):
    with DeviceTensor.from_numpy(small_numbers((2, 3, 4, 5), dtype), layout="NHWC") as tensor:
        other = torch.as_tensor(tensor, device="cuda")
        assert other.data_ptr() == tensor.ptr
        assert other.dtype is getattr(torch, torch_name)
        assert other.stride() == tensor.strides


def test_a_part_of_a_torch_tensor(torch):
    other = torch.arange(24.0, device="cuda").reshape(4, 6)[1:3, 1::2]
    tensor = as_tensor(other)
    assert tensor.strides == (6, 2)
    np.testing.assert_array_equal(tensor.numpy(), other.cpu().numpy())


def test_a_torch_tensor_on_another_device(torch):
    last = torch.cuda.device_count() - 1
    other = torch.arange(4.0, device=f"cuda:{last}")
    tensor = as_tensor(other)
    assert tensor.device_id == last
    assert tensor.numpy().tolist() == [0, 1, 2, 3]


def test_empty_tensors(torch):
    with DeviceTensor.zeros((2, 0, 3), "bfloat16") as tensor:
        assert torch.from_dlpack(tensor).shape == (2, 0, 3)
    assert as_tensor(torch.empty((0, 3), device="cuda")).shape == (0, 3)


def test_torch_keeps_our_memory(torch):
    tensor = DeviceTensor.full((MANY,), 3, "bfloat16")
    other = torch.from_dlpack(tensor)
    tensor.close()
    del tensor
    gc.collect()
    with DeviceBuffer(2 * MANY) as buffer:
        buffer.fill(0xFF)
        synchronize()
        assert (other == 3).all().item()


def test_we_keep_torchs_memory(torch):
    before = torch.cuda.memory_allocated()
    other = torch.full((MANY,), 3.0, device="cuda")
    tensor = as_tensor(other)
    del other
    gc.collect()
    assert torch.cuda.memory_allocated() == before + 4 * MANY
    assert (tensor.numpy() == 3).all()
    tensor.close()
    assert torch.cuda.memory_allocated() == before


def test_torchs_stream_waits_for_ours(torch):
    ours, theirs = torch.cuda.Stream(), torch.cuda.Stream()
    tensor = DeviceTensor.zeros((MANY,), "float32", stream=ours)
    inside = torch.from_dlpack(tensor)
    torch.cuda.synchronize()
    with torch.cuda.stream(ours):
        torch.cuda._sleep(SLEEP)
        inside.fill_(7)
    with torch.cuda.stream(theirs):
        copied = torch.from_dlpack(tensor).clone()
    theirs.synchronize()
    assert (copied == 7).all().item()


def test_our_stream_waits_for_torchs(torch):
    ours, theirs = torch.cuda.Stream(), torch.cuda.Stream()
    other = torch.zeros(MANY, device="cuda")
    torch.cuda.synchronize()
    with torch.cuda.stream(theirs):
        torch.cuda._sleep(SLEEP)
        other.fill_(7)
        tensor = as_tensor(other, stream=ours)
    assert tensor.stream == ours.cuda_stream
    assert (tensor.numpy() == 7).all()


def test_raw_pointers_of_torch_tensors(torch):
    leaf = torch.zeros(4, 6, device="cuda", requires_grad=True)
    assert memory_pointer(leaf) == leaf.data_ptr()
    assert memory_pointer(torch.nn.Parameter(leaf)) == leaf.data_ptr()
    part = leaf.detach()[1:, 2:]
    assert memory_pointer(part) == leaf.data_ptr() + 4 * 8
    with pytest.raises(TypeError, match="x: host memory"):
        memory_pointer(torch.zeros(3), "x")
    with pytest.raises(BufferError, match="detach"):
        as_tensor(leaf)


# -- CuPy -------------------------------------------------------------------------------------


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(("name", "_", "dtype"), WITH_TYPESTR)
def test_cupy_views_our_memory(cupy, name, _, dtype, layout):
    array = small_numbers((2, 3, 4, 5), dtype)
    with DeviceTensor.from_numpy(array, layout=layout) as tensor:
        for other in (cupy.asarray(tensor), cupy.from_dlpack(tensor)):
            assert other.data.ptr == tensor.ptr
            assert other.shape == tensor.shape
            assert other.strides == tuple(array.itemsize * step for step in tensor.strides)
            np.testing.assert_array_equal(cupy.asnumpy(other), array)
        other[...] = 1
        cupy.cuda.Device().synchronize()
        assert (tensor.numpy() == 1).all()


@pytest.mark.parametrize(("name", "_", "dtype"), WITH_TYPESTR)
@pytest.mark.parametrize("protocol", ["dlpack", "cuda_array_interface"])
def test_we_view_cupys_memory(cupy, name, _, dtype, protocol):
    array = small_numbers((4, 5, 6), dtype)
    other = cupy.asarray(array)[1:, ::2]
    if protocol == "dlpack":
        tensor = as_tensor(other)
    else:
        tensor = DeviceTensor._imported(from_cuda_array_interface(other))
    assert tensor.data_type == as_data_type(name)
    assert tensor.ptr == other.data.ptr == memory_pointer(other) == memory_pointer(other.data)
    np.testing.assert_array_equal(tensor.numpy(), array[1:, ::2])


def test_bfloat16_in_cupy(cupy):
    array = small_numbers((2, 3), ml_dtypes.bfloat16)
    with DeviceTensor.from_numpy(array) as tensor:
        try:
            other = cupy.from_dlpack(tensor)
        except Exception as error:
            pytest.skip(f"this CuPy has no bfloat16: {error}")
        assert other.data.ptr == tensor.ptr
        assert cupy.asnumpy(other).tobytes() == array.tobytes()
        assert as_tensor(other).data_type == tensor.data_type


def cupy_stream(cupy: Any, stream: Any) -> Any:
    """PyTorch's stream as CuPy's."""
    if hasattr(cupy.cuda.Stream, "from_external"):
        protocol = SimpleNamespace(__cuda_stream__=lambda: (0, stream.cuda_stream))
        return cupy.cuda.Stream.from_external(protocol)
    return cupy.cuda.ExternalStream(stream.cuda_stream)


@pytest.mark.parametrize("protocol", ["dlpack", "cuda_array_interface"])
def test_our_stream_waits_for_cupys(cupy, torch, protocol):
    ours, theirs = torch.cuda.Stream(), torch.cuda.Stream()
    other = cupy.zeros(MANY, cupy.float32)
    cupy.cuda.Device().synchronize()
    with torch.cuda.stream(theirs):
        torch.cuda._sleep(SLEEP)
    with cupy_stream(cupy, theirs):
        other.fill(7)
        if protocol == "dlpack":
            tensor = as_tensor(other, stream=ours)
        else:
            tensor = DeviceTensor._imported(from_cuda_array_interface(other, stream=ours))
    assert (tensor.numpy() == 7).all()


# -- cuda.core --------------------------------------------------------------------------------


# cuda.core reads no fp8 types from a capsule.
@pytest.mark.parametrize(
    ("name", "_", "dtype"), [entry for entry in TYPES if "fp8" not in entry[0]]
)
def test_cuda_cores_view_of_our_memory(name, _, dtype):
    utils = pytest.importorskip("cuda.core.utils")
    with DeviceTensor.from_numpy(small_numbers((2, 3, 4, 5), dtype), layout="NHWC") as tensor:
        try:
            view = utils.StridedMemoryView.from_dlpack(tensor, stream_ptr=-1)
            view_dtype = view.dtype
        except (NotImplementedError, AttributeError) as error:
            pytest.skip(f"this cuda.core cannot: {error}")
        assert view.ptr == tensor.ptr
        assert view.shape == tensor.shape
        assert tuple(view.strides) == tensor.strides
        assert view_dtype == tensor.dtype
        assert view.device_id == tensor.device_id


def test_cuda_cores_buffers_are_device_memory():
    from cudnn_ctypes.runtime import current_device

    device = current_device()
    device.set_current()
    buffer = device.allocate(1024, stream=device.default_stream)
    assert memory_pointer(buffer) == int(buffer.handle)
    tensor = as_tensor(buffer)
    assert (tensor.ptr, tensor.nbytes) == (int(buffer.handle), 1024)
    tensor.close()
    buffer.close()


def test_pointers_of_the_driver_api():
    driver = pytest.importorskip("cuda.bindings.driver")
    with DeviceBuffer(16) as buffer:
        assert memory_pointer(driver.CUdeviceptr(buffer.ptr)) == buffer.ptr
