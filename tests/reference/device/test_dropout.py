"""What the C functions of dropout refuse on the reference device."""

from __future__ import annotations

from collections.abc import Iterator
from ctypes import c_float, c_ulonglong, c_void_p
from typing import Any

import pytest

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    DropoutDescriptor,
    Handle,
    TensorDescriptor,
    dropout_states_size,
    raw,
)

BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED


@pytest.fixture
def states(handle: Handle) -> Iterator[DeviceBuffer]:
    with DeviceBuffer(dropout_states_size(handle)) as states:
        states.fill(0xFF)
        yield states


def read(handle: Handle, descriptor: Any) -> tuple[float, int | None, int]:
    rate, states, seed = c_float(), c_void_p(), c_ulonglong()
    raw.cudnnGetDropoutDescriptor(descriptor, handle, rate, states, seed)
    return rate.value, states.value, seed.value


@pytest.mark.parametrize(("rate", "less"), [(-0.1, 0), (1.5, 0), (float("nan"), 0), (0.5, 16)])
def test_wrong_settings(handle: Handle, states: DeviceBuffer, rate: float, less: int) -> None:
    with DropoutDescriptor(handle, 0.25, seed=3) as descriptor:
        before = read(handle, descriptor)
        for function in (raw.cudnnSetDropoutDescriptor, raw.cudnnRestoreDropoutDescriptor):
            arguments = (descriptor, handle, rate, states, states.nbytes - less, 1)
            assert function.unchecked(*arguments) == BAD_PARAM
        assert read(handle, descriptor) == before


@pytest.mark.parametrize(
    ("x", "y", "status"),
    [
        (((3, 4, 1, 1), "float32", (4, 1, 1, 1)), None, raw.CUDNN_STATUS_SUCCESS),
        (((3, 4, 1, 1), "int32", None), ((3, 4, 1, 1), "int32", None), NOT_SUPPORTED),
        (((3, 4, 1, 1), "float32", (1, 1, 1, 1)), None, BAD_PARAM),  # its elements overlap
        (((3, 4, 1, 1), "float32", None), ((3, 4, 1, 1), "float32", (1, 3, 1, 1)), BAD_PARAM),
    ],
    ids=["right", "integers", "overlapping", "in place, turned"],
)
def test_wrong_tensors(handle: Handle, x: Any, y: Any, status: Any) -> None:
    memory = DeviceTensor.zeros((3, 4), "float32")
    plain = (3, 4, 1, 1), "float32", (4, 1, 1, 1)
    descs = [
        TensorDescriptor(shape, kind, strides=strides) for shape, kind, strides in (x, y or plain)
    ]
    with DropoutDescriptor(handle, 0.5) as descriptor, DeviceBuffer(4) as reserve:
        for function in (raw.cudnnDropoutForward, raw.cudnnDropoutBackward):
            arguments = (descs[0], memory.ptr, descs[1], memory.ptr, reserve, 4)
            assert function.unchecked(handle, descriptor, *arguments) == status
    for desc in descs:
        desc.close()


def test_without_states_the_message_says_what_to_call(handle: Handle) -> None:
    memory, descriptor = DeviceTensor.zeros((3, 4, 1, 1), "float32"), raw.cudnnDropoutDescriptor_t()
    raw.cudnnCreateDropoutDescriptor(descriptor)
    with TensorDescriptor((3, 4, 1, 1)) as desc, DeviceBuffer(4) as reserve:
        arguments = (desc, memory, desc, memory, reserve, 4)
        with pytest.raises(RuntimeError, match="dropoutDesc has no states"):
            raw.cudnnDropoutForward(handle, descriptor, *arguments)
    raw.cudnnDestroyDropoutDescriptor(descriptor)
