"""Views, copies and conversions of tensors, against NumPy's own on the same numbers."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.runtime import DeviceBuffer, DeviceTensor


def numbers(*shape: int, dtype: str = "float32") -> np.ndarray[Any, Any]:
    return np.random.default_rng(5).integers(-90, 90, shape).astype(dtype)


KEYS: list[Any] = [0, -1, (1, 2), (), ..., (1, ..., 0), (slice(None), -1, ...), (..., slice(2, 5))]
KEYS += [slice(1, 3), (slice(None), slice(0, 4, 2)), (None, 1, slice(1, None), ..., None)]
KEYS += [(slice(2, 2), 1), (slice(None, None, 5), slice(3, 1))]


@pytest.mark.parametrize("layout", ["nchw", "NHWC"])
@pytest.mark.parametrize("key", KEYS, ids=repr)
def test_a_part_is_numpys(any_device, key, layout):
    array = numbers(3, 4, 5, 6)
    with DeviceTensor.from_numpy(array, layout=layout) as tensor:
        part = tensor[key]
        np.testing.assert_array_equal(part.numpy(), array[key])
        assert part.shape == array[key].shape
        copy = part.copy()
        np.testing.assert_array_equal(copy.numpy(), array[key])
        assert copy.layout == (part.layout or "NCHW")
        if array[key].size:
            part.fill(7)
            array[key] = 7
            np.testing.assert_array_equal(tensor.numpy(), array)


def test_parts_of_parts(any_device):
    array = numbers(3, 4, 5, 6)
    with DeviceTensor.from_numpy(array) as tensor:
        part = tensor[1:, ::2][..., 1:4][0]
        np.testing.assert_array_equal(part.numpy(), array[1:, ::2][..., 1:4][0])
        assert [p.shape for p in tensor] == [(4, 5, 6)] * 3
        with pytest.raises(TypeError, match="without dimensions"):
            len(tensor[0, 0, 0, 0])


def test_writing_a_part_leaves_the_rest(any_device):
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
    ],
)
def test_indices_that_make_no_view(reference_device, key, error):
    with DeviceTensor.from_numpy(numbers(3, 4, 5)) as tensor:
        with pytest.raises(error):
            tensor[key]
        with pytest.raises(ValueError, match="cuDNN has no negative strides"):
            tensor[::-1]


def test_vectors_are_cut_between_them(reference_device):
    array = numbers(2, 12, 3, 3, dtype="int8")
    with DeviceTensor.from_numpy(array, layout="nchw_vect_c4") as tensor:
        np.testing.assert_array_equal(tensor[1:, 4:12, :, 1:].numpy(), array[1:, 4:12, :, 1:])
        np.testing.assert_array_equal(tensor[..., 1:].numpy(), array[..., 1:])
        np.testing.assert_array_equal(tensor[:, :8, ..., 2:].numpy(), array[:, :8, ..., 2:])
        for channels in (slice(2, None), slice(0, 6), slice(0, 8, 2)):
            with pytest.raises(ValueError, match="vectors of 4"):
                tensor[:, channels]
        for key in (0, (slice(None),) * 5):
            with pytest.raises(TypeError, match="takes slices"):
                tensor[key]
        with pytest.raises(ValueError, match="keeps its shape"):
            tensor.reshape(-1)


def test_packed_types_are_cut_at_bytes(reference_device):
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
        ((2, 3), (1, 2, 3, 1, 1)),
        ((2, 3, 4), -1),
        ((2, 3, 4), (4, -1)),
        ((6, 4), (2, 3, 2, 2)),
        ((1, 1), ()),
        ((0, 3), (3, 0, 7)),
        ((0, 3), (-1, 3)),
    ],
)
def test_reshaping_is_numpys(any_device, shape, wanted):
    array = numbers(*shape)
    with DeviceTensor.from_numpy(array) as tensor:
        seen = tensor.reshape(wanted)
        np.testing.assert_array_equal(seen.numpy(), array.reshape(wanted))
        if array.size:
            assert [4 * step for step in seen.strides] == [*array.reshape(wanted).strides]
        if isinstance(wanted, tuple) and wanted:
            assert tensor.reshape(*wanted).shape == seen.shape


def test_reshaping_a_part(reference_device):
    array = numbers(4, 6, 5)
    with DeviceTensor.from_numpy(array) as tensor:
        part = tensor[:, 1:3].reshape(2, 2, 2, 5)
        np.testing.assert_array_equal(part.numpy(), array[:, 1:3].reshape(2, 2, 2, 5))
        with pytest.raises(ValueError, match="without a copy"):
            tensor[:, 1:3].reshape(8, 5)
        with pytest.raises(ValueError, match="120 elements"):
            tensor.reshape(7, -1)
        assert tensor[:, 1:3].copy().reshape(8, 5).shape == (8, 5)


def test_channels_last_is_no_c_order(reference_device):
    with DeviceTensor.from_numpy(numbers(2, 3, 4, 5), layout="NHWC") as tensor:
        with pytest.raises(ValueError, match="without a copy"):
            tensor.reshape(2, -1)
        assert tensor.reshape(2, 3, 20).strides == (60, 1, 3)


def test_conversion_to_vectors_and_back(reference_device):
    array = numbers(2, 8, 3, 2)
    vectors = DeviceTensor.from_numpy(array, layout="NHWC").astype("int8x4")
    assert vectors.layout == "NCHW_VECT_C4"
    assert vectors.astype("float32").layout == "NCHW"
    np.testing.assert_array_equal(vectors.numpy(), array)


def test_copies_between_layouts_and_memory(any_device):
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
        (buffer + 8).copy_from(source)
        last = array.transpose(0, 2, 3, 1).tobytes()
        assert buffer.copy_to_host().tobytes() == b"\1" * 8 + last
        same.fill(0)
        same.copy_from(8 + buffer)
        np.testing.assert_array_equal(same.numpy(), array)
        out = np.zeros((5, 4, 3, 2), "float32").transpose()
        assert source.numpy(out=out) is out
        np.testing.assert_array_equal(out, array)


@pytest.mark.parametrize(
    ("value", "error", "match"),
    [
        (numbers(3, 2), ValueError, "expected shape"),
        (numbers(2, 3, dtype="float64"), TypeError, "expected float32"),
        ([[1, 2, 3]] * 2, TypeError, "source: expected a tensor"),
    ],
)
def test_what_does_not_fit_is_refused(reference_device, value, error, match):
    with DeviceTensor.from_numpy(numbers(2, 3)) as tensor, pytest.raises(error, match=match):
        tensor.copy_from(value)


def test_numpy_functions_on_the_reference_device(reference_device):
    array = numbers(3, 4)
    with DeviceTensor.from_numpy(array) as tensor:
        assert np.sum(tensor) == array.sum()
        np.testing.assert_array_equal(np.add(tensor, array), 2 * array)
        np.testing.assert_array_equal(np.concatenate([tensor, tensor]), np.concatenate([array] * 2))
        assert np.asarray(tensor, "int64").dtype == np.int64
        with pytest.raises(ValueError, match="can only be copied"):
            tensor.__array__(copy=False)
        assert np.array_equal(tensor, array)
        assert np.mean(a=tensor) == array.mean()
        assert np.shape(tensor) == (3, 4)
        assert np.zeros_like(tensor).dtype == array.dtype


def test_numpy_functions_raise_on_a_gpu(fake_cuda):
    with DeviceTensor.from_numpy(numbers(3, 4)) as tensor:
        array = tensor.numpy()
        functions = [
            lambda: np.sum(tensor),
            lambda: np.asarray(tensor),
            lambda: np.exp(tensor),
            lambda: np.array_equal(tensor, array),
            lambda: np.concatenate([array, tensor]),
            lambda: np.mean(a=tensor),
            lambda: array * tensor,
            lambda: array == tensor,
        ]
        for function in functions:
            with pytest.raises(TypeError, match=r"copy it to the host with \.numpy\(\)"):
                function()
        assert (np.shape(tensor), np.ndim(tensor), np.size(tensor, 1)) == ((3, 4), 2, 4)


def test_the_reference_device_has_no_resources(reference_device):
    resource = SimpleNamespace(allocate=None)
    with pytest.raises(ValueError, match="memory_resource: the reference device's memory is host"):
        DeviceBuffer(10, memory_resource=resource)
    with pytest.raises(TypeError, match=r"memory_resource: expected a cuda.core.MemoryResource"):
        DeviceBuffer(10, memory_resource=4096)


# -- numbers, comparisons ------------------------------------------------------------------------


class Unreadable:
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise RuntimeError("the tensor is on a GPU")


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (300, "int8", ValueError),
        (-1, "uint8", ValueError),
        (1.5, "int32", ValueError),
        (np.nan, "int64", ValueError),
        (2**63, "int64", ValueError),
        (2**70, "int64", ValueError),
        (8, "int4", ValueError),
        (2, "boolean", ValueError),
        (1e39, "float32", ValueError),
        (70000, "float16", ValueError),
        (500, "fp8_e4m3", ValueError),
        (np.inf, "fp8_e4m3", ValueError),
        (1j, "float32", TypeError),
        ("1", "float32", TypeError),
        (None, "float32", TypeError),
        (np.ones(2), "float32", TypeError),
        (Unreadable(), "float32", TypeError),
    ],
)
def test_numbers_that_a_type_has_not(reference_device, value, dtype, error):
    tensor = DeviceTensor.zeros((2, 4), dtype)
    with pytest.raises(error, match=r"^value: "):
        tensor.fill(value)
    with pytest.raises(error, match=r"^value: "):
        DeviceTensor.full((2, 4), value, dtype)
    assert not tensor.numpy().astype("float64").any()


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (-128, "int8"),
        (np.float64(3), "int32"),
        (True, "boolean"),
        (7, "int4"),
        (0.1, "float16"),
        (-np.inf, "bfloat16"),
        (np.nan, "fp8_e4m3"),
        (2**62, "int64"),
        (1 + 2j, "complex64"),
    ],
)
def test_numbers_that_a_type_has(reference_device, value, dtype):
    tensor = DeviceTensor.full((2, 4), value, dtype)
    expected = np.full((2, 4), value).astype(tensor.dtype)
    assert tensor.numpy().tobytes() == expected.tobytes()


def test_tensors_are_not_compared_in_silence(reference_device):
    tensor, other = DeviceTensor.zeros((1,), "float32"), DeviceTensor.zeros((1,), "float32")
    for compare in (
        lambda: tensor == other,
        lambda: tensor != 0,
        lambda: tensor == tensor.numpy(),
        lambda: 1 in tensor,
    ):
        with pytest.raises(TypeError, match=r"compare the elements on the host with \.numpy"):
            compare()
    assert tensor == tensor
    assert tensor not in (None, "x", DeviceBuffer)
    assert len({tensor, other}) == 2
    with pytest.raises(TypeError, match="neither true nor false"):
        bool(tensor)


# -- tensors and buffers -------------------------------------------------------------------------


def test_parts_of_buffers(any_device):
    with DeviceTensor.empty((2, 60), "float32") as tensor, DeviceBuffer(488) as buffer:
        with pytest.raises(ValueError, match="bytes 0 to 480 are not within the 472 bytes"):
            tensor.copy_from(buffer + 16)
        for offset in (-1, 489):
            with pytest.raises(ValueError, match=f"offset {offset} is not within this buffer"):
                buffer + offset
        with pytest.raises(TypeError, match="has no data type for NumPy"):
            np.sum(buffer)


def test_a_tensor_in_the_memory_of_another(any_device):
    array = numbers(4, 6)
    with DeviceTensor.from_numpy(array) as tensor:
        other = DeviceTensor(tensor[1:], (2, 4), "float16", strides=(12, 1), offset=4)
        expected = array.view(np.float16)[1:3, 2:6]
        assert other.numpy().tobytes() == expected.tobytes()
        with pytest.raises(ValueError, match="the memory has 72"):
            DeviceTensor(tensor[1:], (37,), "float16")
    assert other.closed


def test_layouts_by_all_their_names(reference_device):
    shape = (2, 3, 4, 5)
    for layout in ("nhwc", "NHWC", "cudnn_tensor_nhwc", raw.CUDNN_TENSOR_NHWC):
        for tensor in (
            DeviceTensor.empty(shape, "float32", layout),
            DeviceTensor.zeros(shape, "float32", layout),
            DeviceTensor.full(shape, 1, "float32", layout),
        ):
            assert tensor.layout == "NHWC"
            assert tensor.copy(layout=raw.CUDNN_TENSOR_NCHW).layout == "NCHW"  # it is 0


def test_offsets_are_ints(reference_device):
    with DeviceBuffer(8) as buffer:
        for wrong in ("1", 1.5, None, True):
            for use in (
                lambda wrong=wrong: buffer.view(wrong),
                lambda wrong=wrong: buffer.copy_from_host(b"1", offset=wrong),
                lambda wrong=wrong: buffer.copy_from(buffer, offset=wrong),
                lambda wrong=wrong: DeviceTensor(buffer, (1,), "int8", offset=wrong),
            ):
                with pytest.raises(TypeError, match=r"^offset: expected an int"):
                    use()
        with pytest.raises(TypeError, match=r"^nbytes: expected an int"):
            buffer.view(0, 1.5)


def test_what_is_no_memory(reference_device):
    for memory in (4096, np.zeros(4), None):
        with pytest.raises(TypeError, match="memory: expected a DeviceBuffer"):
            DeviceTensor(memory, (4,), "float32")
    with pytest.raises(TypeError, match=r"out: expected a numpy\.ndarray"):
        DeviceTensor.zeros((2,), "float32").numpy(out=[0, 0])
