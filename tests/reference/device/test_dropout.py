"""Dropout on the reference device, through C's own calls."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_float, c_size_t, c_ulonglong, c_void_p

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, Handle, raw

FLOAT, HALF, BFLOAT16 = raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16


@pytest.fixture
def states(handle: Handle) -> Iterator[DeviceBuffer]:
    size = c_size_t()
    raw.cudnnDropoutGetStatesSize(handle, size)
    with DeviceBuffer(size.value) as states:
        states.fill(0xFF)
        yield states


@pytest.fixture
def descriptor(handle: Handle) -> Iterator[raw.cudnnDropoutDescriptor_t]:
    descriptor = raw.cudnnDropoutDescriptor_t()
    raw.cudnnCreateDropoutDescriptor(descriptor)
    yield descriptor
    raw.cudnnDestroyDropoutDescriptor(descriptor)


def tensor_descriptor(shape, data_type=FLOAT, strides=None) -> raw.cudnnTensorDescriptor_t:
    """Of 4 dimensions: cuDNN 9.0 has none of 2."""
    descriptor = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(descriptor)
    strides = strides or [int(np.prod(shape[i + 1 :])) for i in range(len(shape))]
    more = [1] * (4 - len(shape))
    raw.cudnnSetTensorNdDescriptor(descriptor, data_type, 4, [*shape, *more], [*strides, *more])
    return descriptor


def read(handle: Handle, descriptor) -> tuple[float, int | None, int]:
    rate, states, seed = c_float(), c_void_p(), c_ulonglong()
    raw.cudnnGetDropoutDescriptor(descriptor, handle, rate, states, seed)
    return rate.value, states.value, seed.value


def reserve_size(descriptor) -> int:
    size = c_size_t()
    raw.cudnnDropoutGetReserveSpaceSize(descriptor, size)
    return size.value


def forward(handle: Handle, descriptor, x: np.ndarray, reserve: DeviceBuffer) -> np.ndarray:
    desc = tensor_descriptor(x.shape)
    source = DeviceTensor.from_numpy(x)
    target = DeviceTensor.full(x.shape, np.nan, "float32")
    raw.cudnnDropoutForward(handle, descriptor, desc, source, desc, target, reserve, reserve.nbytes)
    return target.numpy()


def test_the_mask_repeats_for_a_seed_and_differs_for_the_next_call(handle, descriptor, states):
    x = np.ones((3, 7, 5), np.float32)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.4, states, states.nbytes, 42)
    with DeviceBuffer(reserve_size(tensor_descriptor(x.shape))) as reserve:
        first = forward(handle, descriptor, x, reserve)
        second = forward(handle, descriptor, x, reserve)
        raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.4, states, states.nbytes, 42)
        again = forward(handle, descriptor, x, reserve)
        raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.4, states, states.nbytes, 43)
        other = forward(handle, descriptor, x, reserve)
    scale = np.float32(1 / (1 - np.float32(0.4)))
    np.testing.assert_allclose(np.unique(first), [0, scale], rtol=1e-6)
    np.testing.assert_array_equal(first, again)
    assert (first != second).any()
    assert (first != other).any()


def test_states_that_were_saved_and_restored_repeat_what_followed(handle, descriptor, states):
    x = np.ones((4, 33), np.float32)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 42)
    with DeviceBuffer(reserve_size(tensor_descriptor(x.shape))) as reserve:
        forward(handle, descriptor, x, reserve)
        saved = states.copy_to_host()
        expected = [forward(handle, descriptor, x, reserve) for _ in range(2)]
        states.copy_from_host(saved)
        raw.cudnnRestoreDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 42)
        got = [forward(handle, descriptor, x, reserve) for _ in range(2)]
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("data_type", ["float32", "float64", "float16"])
def test_backward_applies_the_mask_of_forward(handle, descriptor, states, data_type):
    rng = np.random.default_rng(0)
    x, dy = (DeviceTensor.from_numpy(a.astype(data_type)) for a in rng.standard_normal((2, 5, 9)))
    y, dx = (DeviceTensor.full((5, 9), np.nan, data_type) for _ in range(2))
    desc = tensor_descriptor((5, 9), x.data_type)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.25, states, states.nbytes, 1)
    with DeviceBuffer(reserve_size(desc)) as reserve:
        reserve.fill(0xFF)
        arguments = (reserve, reserve.nbytes)
        raw.cudnnDropoutForward(handle, descriptor, desc, x, desc, y, *arguments)
        raw.cudnnDropoutBackward(handle, descriptor, desc, dy, desc, dx, *arguments)
    kept = y.numpy().astype(float) != 0
    assert 0 < kept.sum() < kept.size
    expected = dy.numpy().astype(float) * kept / 0.75
    tolerance = {"float64": 1e-15, "float32": 1e-7, "float16": 1e-3}[data_type]
    np.testing.assert_allclose(dx.numpy().astype(float), expected, rtol=tolerance)


def test_strides_and_in_place(handle, descriptor, states):
    x = np.arange(1.0, 13.0, dtype=np.float32).reshape(3, 4)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 5)
    dense = tensor_descriptor((3, 4))
    with DeviceBuffer(reserve_size(dense)) as reserve:
        expected = forward(handle, descriptor, x, reserve)
        # The same mask in other strides: columns first, with gaps.
        raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 5)
        turned = DeviceTensor.from_numpy(x, strides=(2, 8))
        desc = tensor_descriptor((3, 4), strides=(2, 8))
        raw.cudnnDropoutForward(
            handle, descriptor, desc, turned, desc, turned, reserve, reserve.nbytes
        )
    np.testing.assert_array_equal(turned.numpy(), expected)


def test_the_descriptor_reads_back_and_null_states_keep_theirs(handle, descriptor, states):
    assert read(handle, descriptor) == (0.0, None, 0)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 2**63 + 1)
    before = states.copy_to_host()
    assert read(handle, descriptor) == (0.5, states.ptr, 2**63 + 1)
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.25, None, 0, 7)
    assert read(handle, descriptor) == (0.25, states.ptr, 7)
    np.testing.assert_array_equal(states.copy_to_host(), before)


def test_a_new_descriptor_holds_nothing_of_one_destroyed_before(handle, states):
    for _ in range(50):  # the address comes back soon
        descriptor = raw.cudnnDropoutDescriptor_t()
        raw.cudnnCreateDropoutDescriptor(descriptor)
        assert read(handle, descriptor) == (0.0, None, 0)
        raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 7)
        raw.cudnnDestroyDropoutDescriptor(descriptor)


def test_rate_zero_copies_and_rate_one_drops_everything(handle, descriptor, states):
    x = np.array([[1.0, -2.0, np.inf]], np.float32)
    with DeviceBuffer(4) as reserve:
        raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.0, states, states.nbytes, 7)
        np.testing.assert_array_equal(forward(handle, descriptor, x, reserve), x)
        raw.cudnnSetDropoutDescriptor(descriptor, handle, 1.0, states, states.nbytes, 7)
        assert not forward(handle, descriptor, x, reserve).any()


# -- wrong input -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("rate", "size"), [(-0.1, 16), (1.5, 16), (float("nan"), 16), (0.5, 15), (0.5, 0)]
)
def test_wrong_settings(handle, descriptor, states, rate, size):
    for function in (raw.cudnnSetDropoutDescriptor, raw.cudnnRestoreDropoutDescriptor):
        status = function.unchecked(descriptor, handle, rate, states, size, 1)
        assert status == raw.CUDNN_STATUS_BAD_PARAM
    assert read(handle, descriptor) == (0.0, None, 0)


def test_restoring_needs_states(handle, descriptor):
    status = raw.cudnnRestoreDropoutDescriptor.unchecked(descriptor, handle, 0.5, None, 0, 1)
    assert status == raw.CUDNN_STATUS_BAD_PARAM


@pytest.mark.parametrize(
    ("change", "status"),
    [
        ({"ydesc": ((2, 5), FLOAT)}, raw.CUDNN_STATUS_BAD_PARAM),
        ({"ydesc": ((3, 4), HALF)}, raw.CUDNN_STATUS_BAD_PARAM),
        (
            {"xdesc": ((3, 4), raw.CUDNN_DATA_INT32), "ydesc": ((3, 4), raw.CUDNN_DATA_INT32)},
            raw.CUDNN_STATUS_NOT_SUPPORTED,
        ),
        (
            {"xdesc": ((3, 4), BFLOAT16), "ydesc": ((3, 4), BFLOAT16)},
            raw.CUDNN_STATUS_NOT_SUPPORTED,
        ),
        ({"xdesc": ((3, 4), FLOAT, (1, 1))}, raw.CUDNN_STATUS_BAD_PARAM),  # they overlap
        ({"ydesc": ((3, 4), FLOAT, (1, 3))}, raw.CUDNN_STATUS_BAD_PARAM),  # in place, turned
        ({"x": None}, raw.CUDNN_STATUS_BAD_PARAM),
        ({"y": None}, raw.CUDNN_STATUS_BAD_PARAM),
        ({"reserveSpace": None}, raw.CUDNN_STATUS_BAD_PARAM),
        ({"reserveSpaceSizeInBytes": 3}, raw.CUDNN_STATUS_BAD_PARAM),
        ({"dropoutDesc": raw.cudnnDropoutDescriptor_t()}, raw.CUDNN_STATUS_BAD_PARAM),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_wrong_operands(handle, descriptor, states, change, status):
    raw.cudnnSetDropoutDescriptor(descriptor, handle, 0.5, states, states.nbytes, 7)
    memory = DeviceTensor.zeros((3, 4), "float32")
    with DeviceBuffer(4) as reserve:
        arguments = {
            "handle": handle,
            "dropoutDesc": descriptor,
            "xdesc": ((3, 4), FLOAT),
            "x": memory.ptr,  # an address: typed memory that contradicts never gets so far
            "ydesc": ((3, 4), FLOAT),
            "y": memory.ptr,
            "reserveSpace": reserve,
            "reserveSpaceSizeInBytes": 4,
        } | change
        for name in ("xdesc", "ydesc"):
            arguments[name] = tensor_descriptor(*arguments[name])
        assert raw.cudnnDropoutForward.unchecked(**arguments) == status
        backward = dict(
            zip(("x", "xdesc", "y", "ydesc"), ("dy", "dydesc", "dx", "dxdesc"), strict=True)
        )
        arguments = {backward.get(name, name): value for name, value in arguments.items()}
        assert raw.cudnnDropoutBackward.unchecked(**arguments) == status


def test_without_states_the_message_says_what_to_call(handle, descriptor):
    memory = DeviceTensor.zeros((3, 4), "float32")
    desc = tensor_descriptor((3, 4))
    with DeviceBuffer(4) as reserve, pytest.raises(RuntimeError, match="dropoutDesc has no states"):
        raw.cudnnDropoutForward(handle, descriptor, desc, memory, desc, memory, reserve, 4)
