"""Views, copies and conversions of tensors, against NumPy's own on the same numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from fake_cuda import FakeCuda

from cudnn_ctypes.device import DeviceBuffer, DeviceTensor
from cudnn_ctypes.errors import ClosedError


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).integers(-90, 90, shape).astype(dtype)


KEYS: list[Any] = [
    0,
    -1,
    (1, 2),
    slice(1, 3),
    (slice(None), slice(0, 4, 2)),
    (..., slice(2, 5)),
    (slice(None), -1, ...),
    (1, ..., 0),
    (None, 1, slice(1, None), ..., None),
    (slice(2, 2), 1),
    (slice(None, None, 5), slice(3, 1)),
    (),
    ...,
]


@pytest.mark.parametrize("layout", ["nchw", "NHWC"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_part_is_numpys(any_device: str, key: Any, layout: str) -> None:
    array = numbers(3, 4, 5, 6)
    with DeviceTensor.from_numpy(array, layout=layout) as tensor:
        part = tensor[key]
        np.testing.assert_array_equal(part.numpy(), array[key])
        assert part.shape == array[key].shape
        np.testing.assert_array_equal(part.copy().numpy(), array[key])
        if array[key].size:
            part.fill(7)
            array[key] = 7
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_parts_of_parts(any_device: str) -> None:
    array = numbers(3, 4, 5, 6)
    with DeviceTensor.from_numpy(array) as tensor:
        part = tensor[1:, ::2][..., 1:4][0]
        np.testing.assert_array_equal(part.numpy(), array[1:, ::2][..., 1:4][0])
        assert [p.shape for p in tensor] == [(4, 5, 6)] * len(tensor)


def test_writing_a_part_leaves_the_rest(any_device: str) -> None:
    array = numbers(3, 4, 5)
    with DeviceTensor.from_numpy(array) as tensor:
        tensor[1] = numbers(4, 5) * 2
        array[1] = numbers(4, 5) * 2
        tensor[:, 1:3, 2] = tensor[:, 0:2, 0]
        array[:, 1:3, 2] = array[:, 0:2, 0]
        tensor[..., -1] = 3.5
        array[..., -1] = 3.5
        np.testing.assert_array_equal(tensor.numpy(), array)


@pytest.mark.parametrize(
    ("key", "error"),
    [
        (3, IndexError),
        ((0, 0, 0, 0), IndexError),
        ((..., ...), IndexError),
        ([0, 1], TypeError),
        (1.0, TypeError),
        (True, TypeError),
        (np.array([True, False, True]), TypeError),
        (slice(None, None, -1), ValueError),
    ],
)
def test_indices_that_make_no_view(reference_device: None, key: Any, error: type) -> None:
    with DeviceTensor.from_numpy(numbers(3, 4, 5)) as tensor, pytest.raises(error):
        tensor[key]


def test_vectors_are_cut_between_them(reference_device: None) -> None:
    array = numbers(2, 12, 3, 3, dtype="int8")
    with DeviceTensor.from_numpy(array, layout="nchw_vect_c4") as tensor:
        np.testing.assert_array_equal(tensor[1:, 4:12, :, 1:].numpy(), array[1:, 4:12, :, 1:])
        with pytest.raises(ValueError, match="vectors of 4"):
            tensor[:, 2:]
        with pytest.raises(TypeError, match="takes slices"):
            tensor[0]


def test_packed_types_are_cut_at_bytes(reference_device: None) -> None:
    array = numbers(4, 8) > 0
    with DeviceTensor.from_numpy(array, dtype="boolean") as tensor:
        np.testing.assert_array_equal(tensor[2:].numpy(), array[2:])
        with pytest.raises(ValueError, match="begins within a byte"):
            tensor[0, 3:]


@pytest.mark.parametrize(
    ("shape", "wanted"),
    [
        ((2, 3, 4), (6, 4)),
        ((2, 3, 4), (24,)),
        ((2, 3, 4), (2, 1, 12)),
        ((2, 3, 4), -1),
        ((2, 3, 4), (4, -1)),
        ((6, 4), (2, 3, 2, 2)),
        ((1, 1), ()),
        ((0, 3), (3, 0, 7)),
    ],
)
def test_reshaping_is_numpys(any_device: str, shape: Any, wanted: Any) -> None:
    array = numbers(*shape)
    with DeviceTensor.from_numpy(array) as tensor:
        seen = tensor.reshape(wanted)
        np.testing.assert_array_equal(seen.numpy(), array.reshape(wanted))
        if isinstance(wanted, tuple) and wanted:
            assert tensor.reshape(*wanted).shape == seen.shape


def test_reshaping_a_part(reference_device: None) -> None:
    array = numbers(4, 6, 5)
    with DeviceTensor.from_numpy(array) as tensor:
        part = tensor[:, 1:3].reshape(2, 2, 2, 5)
        np.testing.assert_array_equal(part.numpy(), array[:, 1:3].reshape(2, 2, 2, 5))
        with pytest.raises(ValueError, match="without a copy"):
            tensor[:, 1:3].reshape(8, 5)
        with pytest.raises(ValueError, match="120 elements"):
            tensor.reshape(7, -1)
        assert tensor[:, 1:3].copy().reshape(8, 5).shape == (8, 5)


def test_channels_last_is_no_c_order(reference_device: None) -> None:
    with DeviceTensor.from_numpy(numbers(2, 3, 4, 5), layout="NHWC") as tensor:
        with pytest.raises(ValueError, match="without a copy"):
            tensor.reshape(2, -1)
        assert tensor.reshape(2, 3, 20).strides == (60, 1, 3)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "int32", "float64", "fp8_e4m3"])
def test_conversion_keeps_the_layout(any_device: str, dtype: str) -> None:
    array = numbers(2, 3, 4, 5)
    with DeviceTensor.from_numpy(array, layout="nhwc") as tensor:
        converted = tensor.astype(dtype)
        assert converted.layout == "NHWC"
        np.testing.assert_array_equal(converted.numpy(), array.astype(converted.dtype))


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "float64"])
def test_filling(any_device: str, dtype: str) -> None:
    with DeviceTensor.zeros((3, 5), dtype) as tensor:
        tensor.fill(-3)
        np.testing.assert_array_equal(tensor.numpy(), np.full((3, 5), -3, dtype))
        with pytest.raises(TypeError, match="value"):
            tensor.fill([1, 2])


def test_copies_between_layouts_and_memory(any_device: str) -> None:
    array = numbers(2, 3, 4, 5)
    with (
        DeviceTensor.from_numpy(array, layout="NHWC") as source,
        DeviceTensor.zeros(array.shape, "float32") as target,
        DeviceTensor.zeros(array.shape, "float32", layout="NHWC") as same,
        DeviceBuffer(array.nbytes + 8) as buffer,
    ):
        target.copy_from(source)
        same.copy_from(source)
        np.testing.assert_array_equal(target.numpy(), array)
        np.testing.assert_array_equal(same.numpy(), array)
        buffer.fill(1)
        (buffer + 8).copy_from(target)
        assert buffer.copy_to_host().tobytes() == b"\1" * 8 + array.tobytes()
        same_bytes = DeviceTensor(buffer + 8, array.shape, "float32")
        np.testing.assert_array_equal(same_bytes.numpy(), array)
        out = np.zeros((5, 4, 3, 2), "float32").transpose()
        assert source.numpy(out=out) is out
        np.testing.assert_array_equal(out, array)


def test_dense_copies_stay_on_the_device(fake_cuda: FakeCuda) -> None:
    with DeviceTensor.from_numpy(numbers(4, 5)) as source:
        fake_cuda.log.clear()
        with source.copy() as made:
            made[1:3].copy_from(source[0:2])
        assert [entry[0] for entry in fake_cuda.log] == ["allocate", "copy", "copy", "free"]


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (numbers(3, 2), ValueError, "expected shape"),
        (numbers(2, 3, dtype="float64"), TypeError, "expected float32"),
        ([[1, 2, 3]] * 2, TypeError, "expected a tensor"),
    ],
)
def test_what_does_not_fit_is_refused(
    reference_device: None, value: Any, error: type, match: str
) -> None:
    with DeviceTensor.from_numpy(numbers(2, 3)) as tensor, pytest.raises(error, match=match):
        tensor.copy_from(value)


def test_parts_close_with_the_tensor(any_device: str) -> None:
    tensor = DeviceTensor.from_numpy(numbers(4, 5))
    part, other = tensor[1], tensor.reshape(20)
    part.close()
    assert not tensor.closed
    assert tensor.numpy().shape == (4, 5)
    tensor.close()
    assert other.closed
    with pytest.raises(ClosedError):
        other.numpy()


def test_a_part_keeps_the_memory_alive(any_device: str) -> None:
    part = DeviceTensor.from_numpy(numbers(4, 5))[2]
    np.testing.assert_array_equal(part.numpy(), numbers(4, 5)[2])
    del part


def test_numpy_functions_on_the_reference_device(reference_device: None) -> None:
    array = numbers(3, 4)
    with DeviceTensor.from_numpy(array) as tensor:
        assert np.sum(tensor) == array.sum()
        np.testing.assert_array_equal(np.add(tensor, array), 2 * array)
        np.testing.assert_array_equal(np.concatenate([tensor, tensor]), np.concatenate([array] * 2))
        assert np.asarray(tensor, "int64").dtype == np.int64


def test_numpy_functions_raise_on_a_gpu(fake_cuda: FakeCuda) -> None:
    with DeviceTensor.from_numpy(numbers(3, 4)) as tensor:
        for function in (np.sum, np.asarray, np.exp):
            with pytest.raises(TypeError, match=r"copy it to the host with \.numpy\(\)"):
                function(tensor)


def test_memory_of_a_given_resource(fake_cuda: FakeCuda) -> None:
    device = fake_cuda.core.Device(0)
    asked: list[int] = []

    class Resource:
        def allocate(self, size: int, *, stream: Any) -> Any:
            asked.append(size)
            return device.memory_resource.allocate(size, stream=stream)

    with DeviceBuffer(100, memory_resource=Resource()):
        pass
    with DeviceTensor.empty((5, 5), "float16", "nchw", memory_resource=Resource()):
        pass
    assert asked == [100, 50]


def test_the_reference_device_has_no_resources(reference_device: None) -> None:
    with pytest.raises(ValueError, match="memory_resource"):
        DeviceBuffer(10, memory_resource=object())
