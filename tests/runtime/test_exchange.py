"""DLPack and __cuda_array_interface__, as far as they can be tried without a GPU.

PyTorch and NumPy on the host stand in for libraries on the GPU while the reference device is
active; with the fake GPU, capsules are read back field by field.
"""

from __future__ import annotations

import gc
import sys
import tracemalloc
import weakref
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes.dtypes import as_data_type, numpy_dtype
from cudnn_ctypes.raw.dlpack import DLManagedTensorVersioned, managed_tensor
from cudnn_ctypes.runtime import DeviceTensor, as_tensor

torch = pytest.importorskip("torch")
torch.set_num_threads(1)

# cuDNN's name, PyTorch's, DLPack's code and bits.
TYPES = [
    ("float64", "float64", 2, 64),
    ("float32", "float32", 2, 32),
    ("float16", "float16", 2, 16),
    ("bfloat16", "bfloat16", 4, 16),
    ("fp8_e4m3", "float8_e4m3fn", 10, 8),
    ("fp8_e5m2", "float8_e5m2", 12, 8),
    ("fp8_e8m0", "float8_e8m0fnu", 14, 8),
    ("int8", "int8", 0, 8),
    ("int32", "int32", 0, 32),
    ("int64", "int64", 0, 64),
    ("uint8", "uint8", 1, 8),
    ("uint32", "uint32", 1, 32),
    ("bool", "bool", 6, 8),
    ("complex64", "complex64", 5, 64),
    ("complex128", "complex128", 5, 128),
]
PACKED = [("fp4_e2m1", "", 17, 4), ("int4", "", 0, 4), ("uint4", "", 1, 4), ("boolean", "", 6, 1)]
VERSIONS = [None, (0, 8), (1, 0), (1, 3)]
NUMPY_MAKES_VERSIONED = tuple(map(int, np.__version__.split(".")[:2])) >= (2, 1)


def random_bytes(shape: tuple[int, ...], name: str) -> np.ndarray[Any, Any]:
    dtype = numpy_dtype(name)
    rng = np.random.default_rng(len(name))
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    if name in ("int4", "uint4", "fp4_e2m1"):
        return rng.integers(0, 16, shape, np.uint8).view(dtype)
    return rng.integers(0, 256, (*shape, dtype.itemsize), np.uint8).view(dtype).reshape(shape)


def bytes_of(tensor: Any) -> bytes:
    return bytes(tensor.contiguous().view(torch.uint8).numpy().tobytes())


class Capsule:
    """An exporter that passes one capsule on."""

    def __init__(self, capsule: object, device: tuple[int, int] = (1, 0)) -> None:
        self.capsule = capsule
        self.device = device

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **_: object) -> object:
        return self.capsule


# -- export -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("where", "device"), [("reference_device", (1, 0)), ("fake_cuda", (2, 1))])
@pytest.mark.parametrize("version", VERSIONS, ids=str)
@pytest.mark.parametrize(("name", "_", "code", "bits"), TYPES + PACKED)
def test_capsules(request, where, device, name, _, code, bits, version):
    request.getfixturevalue(where)
    array = random_bytes((2, 3, 4, 5), name)
    tensor = DeviceTensor.from_numpy(array, dtype=name, layout="NHWC", device=device[1])
    capsule = tensor.__dlpack__(max_version=version)
    assert tensor.__dlpack_device__() == device
    managed = managed_tensor(capsule)
    versioned = NUMPY_MAKES_VERSIONED and version is not None and version[0] >= 1
    assert isinstance(managed, DLManagedTensorVersioned) == versioned
    assert ("dltensor_versioned" in repr(capsule)) == versioned
    if isinstance(managed, DLManagedTensorVersioned):
        assert managed.major == 1
        assert managed.minor >= (1 if code > 6 else 0)
        assert managed.flags == 0
    content = managed.dl_tensor
    assert content.address == tensor.ptr
    assert (content.device.device_type, content.device.device_id) == device
    assert (content.dtype.code, content.dtype.bits, content.dtype.lanes) == (code, bits, 1)
    assert content.ndim == 4
    assert tuple(content.shape[:4]) == tensor.shape == (2, 3, 4, 5)
    assert tuple(content.strides[:4]) == tensor.strides == (60, 1, 15, 3)


@pytest.mark.parametrize(("name", "torch_name"), [entry[:2] for entry in TYPES])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_torch_reads_and_writes_our_memory(reference_device, name, torch_name, layout):
    array = random_bytes((2, 3, 4, 5), name)
    with DeviceTensor.from_numpy(array, layout=layout) as tensor:
        other = torch.from_dlpack(tensor)
        assert other.dtype is getattr(torch, torch_name)
        assert other.data_ptr() == tensor.ptr
        assert tuple(other.shape) == tensor.shape
        assert other.stride() == tensor.strides
        assert bytes_of(other) == array.tobytes()
        other.copy_(torch.zeros_like(other))
        assert not any(tensor.numpy().tobytes())


@pytest.mark.parametrize("shape", [(), (0,), (2, 0, 3), (1, 1)], ids=str)
def test_unusual_shapes(reference_device, shape):
    with DeviceTensor.zeros(shape, "bfloat16") as tensor:
        other = torch.from_dlpack(tensor)
        assert tuple(other.shape) == shape
        assert as_tensor(other).shape == shape


def test_what_cannot_be_exported_is_refused(reference_device):
    with DeviceTensor.zeros((2,), "float32") as tensor:
        with pytest.raises(BufferError, match="copy=True"):
            tensor.__dlpack__(copy=True)
        with pytest.raises(BufferError, match="dl_device"):
            tensor.__dlpack__(dl_device=(2, 0))
        with pytest.raises(ValueError, match="no streams on the reference device"):
            tensor.__dlpack__(stream=5)
        tensor.__dlpack__(stream=-1, copy=False, dl_device=(1, 0))


@pytest.mark.parametrize(
    ("own", "consumer", "expected"),
    [
        (7, 8, [("record", 7), ("wait", 8)]),
        (7, 7, []),
        (1, None, []),
        (7, None, [("record", 7), ("wait", 1)]),
        (7, 1, [("record", 7), ("wait", 1)]),
        (7, 2, [("record", 7), ("wait", 2)]),
        (7, -1, []),
        (None, 1, []),
        (None, None, []),
        (None, 8, [("record", 0), ("wait", 8)]),
    ],
)
def test_the_consumers_stream_waits_for_ours(fake_cuda, own, consumer, expected):
    with DeviceTensor.empty((2,), "float32", stream=own) as tensor:
        fake_cuda.log.clear()
        tensor.__dlpack__(stream=consumer)
        assert fake_cuda.log == expected
        with pytest.raises(ValueError, match="stream=0 is ambiguous"):
            tensor.__dlpack__(stream=0)


# -- lifetime ---------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_an_unused_capsule_lets_go(fake_cuda, version):
    tensor = DeviceTensor.zeros((4,), "bfloat16")
    capsule = tensor.__dlpack__(max_version=version)
    del tensor
    gc.collect()
    assert fake_cuda.used == 8
    del capsule
    assert fake_cuda.used == 0


@pytest.mark.parametrize("version", VERSIONS, ids=str)
def test_a_consumed_capsule_keeps_the_memory_until_the_consumer_goes(reference_device, version):
    tensor = DeviceTensor.from_numpy(np.arange(4).astype(ml_dtypes.bfloat16))
    gone = weakref.ref(tensor._open())
    capsule = tensor.__dlpack__(max_version=version)
    other = torch.from_dlpack(Capsule(capsule))
    del tensor, capsule
    gc.collect()
    assert gone() is not None
    assert other.float().tolist() == [0, 1, 2, 3]
    del other
    assert gone() is None


def test_closing_waits_for_other_libraries(fake_cuda):
    with DeviceTensor.zeros((4,), "float32", stream=7) as tensor:
        capsule = tensor.__dlpack__()
        tensor.close(stream=9)
        assert fake_cuda.used == 16
        del capsule
        assert fake_cuda.used == 0
        assert fake_cuda.log[-1] == ("free", 9)


@pytest.mark.soak
def test_nothing_leaks(reference_device):
    with DeviceTensor.zeros((2, 3), "bfloat16") as tensor:
        allocation = tensor._open()

        def exchange():
            tensor.__dlpack__(max_version=(1, 0))
            other = torch.from_dlpack(tensor)
            as_tensor(other).numpy()
            as_tensor(tensor)

        def traced_after(times):
            for _ in range(times):
                exchange()
            gc.collect()
            return tracemalloc.get_traced_memory()[0]

        exchange()
        references = sys.getrefcount(allocation)
        tracemalloc.start()
        before = traced_after(2000)  # NumPy's cache of small blocks fills up
        after = traced_after(2000)
        tracemalloc.stop()
        assert sys.getrefcount(allocation) == references
        assert len(allocation.exports) == 0
        assert after - before < 2000 * 16  # less than the smallest object each time


# -- import -----------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "torch_name"), [entry[:2] for entry in TYPES])
def test_torch_tensors_are_viewed(reference_device, name, torch_name):
    array = random_bytes((2, 3, 4, 5), name)
    raw_bytes = torch.from_numpy(array.view(np.uint8).reshape(2, 3, 4, -1).copy())
    other = raw_bytes.view(getattr(torch, torch_name)).contiguous(memory_format=torch.channels_last)
    tensor = as_tensor(other)
    assert tensor.data_type == as_data_type(name)
    assert tensor.ptr == other.data_ptr()
    assert tensor.shape == (2, 3, 4, 5)
    assert tensor.strides == other.stride() == (60, 1, 15, 3)
    assert tensor.layout == "NHWC"
    assert tensor.on_host
    assert tensor.numpy().tobytes() == array.tobytes()


@pytest.mark.skipif(not NUMPY_MAKES_VERSIONED, reason="NumPy before 2.1 cannot say read-only")
def test_read_only_memory_stays_read_only(reference_device):
    array = np.arange(4, dtype=np.float32)
    array.flags.writeable = False
    tensor = as_tensor(Capsule(array.__dlpack__(max_version=(1, 0))))
    assert tensor.readonly
    with pytest.raises(ValueError, match="read-only"):
        tensor.copy_from(np.zeros(4, np.float32))
    assert managed_tensor(tensor.__dlpack__(max_version=(1, 0))).flags == 1
    with pytest.raises(BufferError, match="readonly"):
        tensor.__dlpack__()


def test_types_that_cudnn_lacks(reference_device):
    with pytest.raises(TypeError, match="no data type for DLPack's code 0 with 16 bits"):
        as_tensor(torch.zeros(3, dtype=torch.int16))


def test_masks_are_not_dropped(reference_device):
    masked = np.ma.masked_array(np.ones(3, np.float32), mask=[0, 1, 0])
    with pytest.raises(TypeError, match="MaskedArray"):
        DeviceTensor.from_numpy(masked)
    with pytest.raises(TypeError, match="masked_array"):
        DeviceTensor.from_dlpack(masked)


def test_negative_strides_are_refused(reference_device):
    with pytest.raises(BufferError, match="negative strides"):
        as_tensor(Capsule(np.arange(4, dtype=np.float32)[::-1].__dlpack__()))


def test_host_tensors_are_refused_on_a_gpu(fake_cuda):
    with pytest.raises(TypeError, match="from_numpy"):
        as_tensor(torch.zeros(3))
    with pytest.raises(TypeError, match="from_numpy"):
        as_tensor(np.zeros(3))


def test_device_tensors_are_refused_on_the_reference_device(reference_device):
    with pytest.raises(TypeError, match="the reference device is active"):
        as_tensor(Capsule(None, (2, 0)))


class Producer:
    """Exports a tensor of the fake GPU, and notes what it is asked for."""

    def __init__(self, tensor: DeviceTensor) -> None:
        self.tensor = tensor
        self.asked: dict[str, Any] = {}

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.tensor.__dlpack_device__()

    def __dlpack__(self, **options: Any) -> object:
        self.asked = options
        return self.tensor.__dlpack__(**options)


@pytest.mark.parametrize(("stream", "passed"), [(None, 1), (0, 1), (1, 1), (2, 2), (99, 99)])
def test_the_producer_is_told_our_stream(fake_cuda, stream, passed):
    with DeviceTensor.zeros((2, 3), "float16", device=1) as tensor:
        producer = Producer(tensor)
        imported = as_tensor(producer, stream=stream)
        assert producer.asked == {"stream": passed, "max_version": (1, 1)}
        assert imported.device_id == 1
        assert imported.stream == (stream or 0)
        assert imported.ptr == tensor.ptr
        imported.close()


# -- __cuda_array_interface__ -----------------------------------------------------------------


class OnlyInterface:
    def __init__(self, **fields: Any) -> None:
        self.__cuda_array_interface__ = {"version": 3, "strides": None, **fields}


def test_our_interface(fake_cuda):
    with DeviceTensor.zeros((2, 3, 4, 5), "float16", layout="NHWC", stream=7) as tensor:
        assert tensor.__cuda_array_interface__ == {
            "version": 3,
            "shape": (2, 3, 4, 5),
            "typestr": "<f2",
            "data": (tensor.ptr, False),
            "strides": (120, 2, 30, 6),
            "stream": 7,
        }
    with DeviceTensor.zeros((2,), "bool") as tensor:
        assert tensor.__cuda_array_interface__["typestr"] == "|b1"
        assert tensor.__cuda_array_interface__["stream"] == 1


@pytest.mark.parametrize(
    "name", ["bfloat16", "fp8_e4m3", "fp8_e5m2", "fp4_e2m1", "int4", "boolean"]
)
def test_types_without_a_type_string(fake_cuda, name):
    with DeviceTensor.zeros((2,), name) as tensor:
        assert not hasattr(tensor, "__cuda_array_interface__")
        with pytest.raises(AttributeError, match=f"{name} has no type string.*use __dlpack__"):
            tensor.__cuda_array_interface__  # noqa: B018


def test_there_is_none_on_the_reference_device(reference_device):
    with DeviceTensor.zeros((2,), "float32") as tensor:
        assert not hasattr(tensor, "__cuda_array_interface__")


@pytest.mark.parametrize(
    ("fields", "error"),
    [
        ({"typestr": "<i2"}, TypeError),
        ({"strides": (6,)}, BufferError),
        ({"strides": (-4,)}, BufferError),
        ({"mask": object()}, BufferError),
    ],
)
def test_interfaces_that_cannot_be_imported(fake_cuda, fields, error):
    with pytest.raises(error):
        as_tensor(
            OnlyInterface(**{"shape": (2,), "typestr": "<f4", "data": (4096, False), **fields})
        )


def test_interfaces_of_others(fake_cuda):
    with DeviceTensor.zeros((2, 3), "float32", device=1) as ours:
        there = OnlyInterface(
            shape=(2, 2), typestr="<f4", data=(ours.ptr, True), strides=(12, 4), stream=7
        )
        fake_cuda.log.clear()
        tensor = as_tensor(there, stream=8)
        assert fake_cuda.log == [("record", 7), ("wait", 8)]
        assert (tensor.shape, tensor.strides, tensor.dtype) == ((2, 2), (3, 1), np.float32)
        assert (tensor.ptr, tensor.nbytes, tensor.stream) == (ours.ptr, 20, 8)
        assert tensor.readonly
        packed = as_tensor(OnlyInterface(shape=(2, 1, 3), typestr="<f4", data=(ours.ptr, False)))
        assert (packed.strides, packed.nbytes, packed.readonly) == ((3, 3, 1), 24, False)


def test_an_empty_interface(fake_cuda):
    tensor = as_tensor(OnlyInterface(shape=(0, 3), typestr="<f4", data=(0, False)))
    assert (tensor.shape, tensor.ptr, tensor.nbytes) == ((0, 3), 0, 0)
