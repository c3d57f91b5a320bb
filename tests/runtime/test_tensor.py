"""DeviceTensor: to the device and back, whatever the type and layout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeStream

from cudnn_ctypes.dtypes import as_data_type, data_type_name, numpy_dtype
from cudnn_ctypes.errors import ClosedError
from cudnn_ctypes.raw.memory import memory_pointer
from cudnn_ctypes.runtime import DeviceBuffer, DeviceTensor


def random_array(shape: tuple[int, ...], data_type: Any, seed: int = 0) -> np.ndarray[Any, Any]:
    """Small integers, exact in every type; e8m0, which has only powers of two, gets those."""
    rng = np.random.default_rng(seed)
    dtype = numpy_dtype(data_type)
    if data_type_name(data_type) == "fp8_e8m0":
        return np.exp2(rng.integers(-20, 20, shape)).astype(dtype)
    if dtype == np.bool_:
        return rng.integers(0, 2, shape).astype(bool)
    return rng.integers(0, 4, shape).astype(dtype)


def assert_same(actual: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> None:
    assert actual.dtype == expected.dtype
    assert actual.shape == expected.shape
    assert actual.flags.c_contiguous
    assert actual.tobytes() == expected.tobytes()


@pytest.mark.parametrize(
    ("layout", "name"), [("NCHW_VECT_C4", "int8x4"), ("NCHW_VECT_C32", "int8x32")]
)
def test_vectorised_layouts(any_device, layout, name):
    array = random_array((2, 64, 3, 5), "int8")
    with DeviceTensor.from_numpy(array, layout=layout) as tensor:
        assert tensor.data_type == as_data_type(name)
        assert tensor.layout == layout
        assert tensor.strides == (64 // (4 if name == "int8x4" else 32) * 15, 15, 5, 1)
        assert tensor.nbytes == array.nbytes
        assert_same(tensor.numpy(), array)


def test_memory_order_is_that_of_the_layout(any_device):
    array = random_array((2, 3, 4, 5), "float32")
    with DeviceBuffer(array.nbytes) as buffer:
        tensor = DeviceTensor(buffer, array.shape, "float32", layout="NHWC")
        tensor.copy_from(array)
        assert buffer.copy_to_host().tobytes() == array.transpose(0, 2, 3, 1).tobytes()


def test_given_strides_with_gaps(any_device):
    array = random_array((2, 3, 4), "float32")
    with DeviceTensor.from_numpy(array, strides=(100, 30, 7)) as tensor:
        assert tensor.layout is None
        assert tensor.nbytes == 4 * (100 + 60 + 21 + 1)
        assert "strides (100, 30, 7)" in repr(tensor)
        assert_same(tensor.numpy(), array)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dtype": "int16"}, TypeError, "no data type 'int16'"),
        ({"dtype": "fast_float_for_fp8"}, TypeError, "neither NumPy nor ml_dtypes"),
        ({"shape": (2, -1)}, ValueError, "shape: expected no negative"),
        ({"shape": 1.5}, TypeError, "shape: expected ints"),
        ({"shape": (2, True)}, TypeError, r"shape: expected ints, got \(2, True\)"),
        ({"layout": "HWC"}, ValueError, "layout: expected one of NCHW, NHWC"),
        ({"layout": "NHWC", "strides": (3, 1)}, ValueError, "not both"),
        ({"strides": (1, 1)}, ValueError, "overlap"),
        ({"strides": (1,)}, ValueError, "differ in length"),
        ({"strides": (-3, 1)}, ValueError, "strides: expected no negative"),
        ({"dtype": "int8x4"}, ValueError, "multiple of 4"),
    ],
)
def test_bad_descriptions(any_device, arguments, error, message):
    with pytest.raises(error, match=message):
        DeviceTensor.empty(**{"shape": (2, 3), "dtype": "float32", **arguments})


def test_bad_arrays(any_device):
    with pytest.raises(TypeError, match=r"array: expected a numpy\.ndarray, got a list"):
        DeviceTensor.from_numpy([1.0, 2.0])
    with pytest.raises(TypeError, match="cuDNN has no data type 'int16'"):
        DeviceTensor.from_numpy(np.zeros(3, np.int16))
    with pytest.raises(TypeError, match="array is float32, which is not how float16 is stored"):
        DeviceTensor.from_numpy(np.zeros(3, np.float32), dtype="float16")


@pytest.mark.parametrize("offset", [-4, 4])
def test_the_memory_must_hold_the_tensor(any_device, offset):
    with DeviceBuffer(24) as buffer, pytest.raises(ValueError, match="the memory has 24"):
        DeviceTensor(buffer, (2, 3), "float32", offset=offset)


def test_use_after_close(any_device):
    tensor = DeviceTensor.zeros((2, 3), "float32")
    tensor.close()
    tensor.close()
    assert tensor.closed
    assert "closed" in repr(tensor)
    for use in (
        tensor.numpy,
        lambda: tensor.ptr,
        lambda: tensor._as_parameter_,
        lambda: memory_pointer(tensor, "x"),
        lambda: tensor.copy_from(np.zeros((2, 3), np.float32)),
        tensor.__dlpack__,
        tensor.__dlpack_device__,
        lambda: tensor.stream,
    ):
        with pytest.raises(ClosedError, match=r"DeviceTensor of shape \(2, 3\) is closed"):
            use()
    assert tensor.shape == (2, 3)


@pytest.mark.filterwarnings("error::ResourceWarning")
def test_memory_goes_with_the_last_reference(fake_cuda):
    tensor = DeviceTensor.zeros((4, 4), "float32")
    assert fake_cuda.used == 64
    del tensor
    assert fake_cuda.used == 0


def test_streams(fake_cuda):
    stream = FakeStream(7)
    tensor = DeviceTensor.from_numpy(np.zeros(3, np.float32), stream=stream)
    assert tensor.stream == 7
    tensor.numpy()
    tensor.numpy(stream=8)
    tensor.fill(1.5)
    tensor.fill(-2, stream=8)
    assert_same(tensor.numpy(), np.full(3, -2, np.float32))
    tensor.close(stream=9)
    assert fake_cuda.log == [
        *(("allocate", 0, 7), ("to device", 7), ("synchronize", 7)),
        *(("to host", 7), ("synchronize", 7), ("to host", 8), ("synchronize", 8)),
        *(("fill", 7), ("fill", 8), ("to host", 7), ("synchronize", 7), ("free", 9)),
    ]
