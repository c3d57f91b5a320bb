"""Addresses and descriptors to arrays: layouts, data types, and memory that is not there."""

from __future__ import annotations

from ctypes import addressof, c_double, c_float

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, raw
from cudnn_ctypes.raw.descriptors import Filter, Tensor
from cudnn_ctypes.reference import pack
from cudnn_ctypes.reference.device import memory
from cudnn_ctypes.reference.device.dispatch import Refused
from cudnn_ctypes.reference.device.memory import Operand

FLOAT = raw.CUDNN_DATA_FLOAT


def address(array: np.ndarray) -> int:
    return array.ctypes.data


@pytest.mark.parametrize(
    ("data_type", "dtype"),
    [
        ("FLOAT", np.float32),
        ("DOUBLE", np.float64),
        ("HALF", np.float16),
        ("BFLOAT16", ml_dtypes.bfloat16),
        ("INT8", np.int8),
        ("UINT8", np.uint8),
        ("INT32", np.int32),
        ("INT64", np.int64),
        ("FP8_E4M3", ml_dtypes.float8_e4m3fn),
        ("FP8_E5M2", ml_dtypes.float8_e5m2),
        ("BYTE_BOOLEAN", np.bool_),
    ],
)
def test_every_type_of_whole_bytes(data_type: str, dtype: type):
    buffer = np.arange(24).astype(dtype)
    described = Tensor(getattr(raw, f"CUDNN_DATA_{data_type}"), (2, 3, 4), (12, 4, 1))
    operand = Operand("x", described, address(buffer))
    assert operand.load().dtype == dtype
    np.testing.assert_array_equal(operand.load(), buffer.reshape(2, 3, 4))
    operand.store(np.ones((2, 3, 4), dtype))
    np.testing.assert_array_equal(buffer, np.ones(24, dtype))


def test_strides_leave_the_gaps_alone():
    buffer = np.full(40, -1, np.float32)
    operand = Operand("y", Tensor(FLOAT, (2, 3, 2), (20, 1, 6)), address(buffer))
    operand.store(np.arange(12, dtype=np.float32).reshape(2, 3, 2))
    assert buffer[:10].tolist() == [0, 2, 4, -1, -1, -1, 1, 3, 5, -1]
    assert buffer[20:30].tolist() == [6, 8, 10, -1, -1, -1, 7, 9, 11, -1]
    assert np.count_nonzero(buffer == -1) == 40 - 12


def test_negative_strides_reach_before_the_address():
    buffer = np.arange(6, dtype=np.float32)
    last = address(buffer) + 5 * 4
    array = memory.at(last, FLOAT, (2, 3), (-3, -1), "x")
    assert array.tolist() == [[5, 4, 3], [2, 1, 0]]


@pytest.mark.parametrize(("data_type", "length"), [("INT8x4", 4), ("UINT8x4", 4), ("INT8x32", 32)])
@pytest.mark.parametrize("kind", ["tensor", "filter"])
def test_vectors_of_channels(data_type: str, length: int, kind: str):
    code = getattr(raw, f"CUDNN_DATA_{data_type}")
    shape = (2, 2 * length, 3, 2)
    values = np.random.default_rng(0).integers(0, 100, shape).astype(np.int8)
    buffer = pack(values, "NCHW_VECT_C", vector=length)
    described = {
        "tensor": Tensor(code, shape, (12, 6, 2, 1)),
        "filter": Filter(code, raw.CUDNN_TENSOR_NCHW_VECT_C, shape),
    }[kind]
    operand = Operand("x", described, address(buffer))
    np.testing.assert_array_equal(operand.load(), values)
    operand.store(values[::-1])
    np.testing.assert_array_equal(buffer, pack(values[::-1], "NCHW_VECT_C", vector=length))


def test_vectors_that_channels_do_not_fill():
    described = Tensor(raw.CUDNN_DATA_INT8x4, (1, 6, 1, 1), (2, 1, 1, 1))
    with pytest.raises(Refused, match="6 channels do not fill vectors of 4") as refused:
        Operand("x", described, address(np.zeros(8, np.int8))).load()
    assert refused.value.status == raw.CUDNN_STATUS_NOT_SUPPORTED


def test_types_smaller_than_a_byte_have_no_descriptors():
    with pytest.raises(Refused, match="CUDNN_DATA_INT4") as refused:
        memory.at(address(np.zeros(8)), raw.CUDNN_DATA_INT4, (2,), (1,), "x")
    assert refused.value.status == raw.CUDNN_STATUS_NOT_SUPPORTED


def test_scalars_are_double_only_for_double():
    single, double = c_float(0.1), c_double(0.1)
    assert memory.scalar(addressof(single), raw.CUDNN_DATA_HALF, "alpha") == np.float32(0.1)
    assert memory.scalar(addressof(single), raw.CUDNN_DATA_INT32, "alpha") == np.float32(0.1)
    assert memory.scalar(addressof(double), raw.CUDNN_DATA_DOUBLE, "alpha") == 0.1


@pytest.mark.parametrize("where", [None, 0])
def test_null(where: int | None):
    for call in (
        lambda: memory.require(x=where),
        lambda: memory.at(where, FLOAT, (1,), (1,), "x"),
        lambda: memory.scalar(where, FLOAT, "x"),
    ):
        with pytest.raises(Refused, match="x is NULL") as refused:
            call()
        assert refused.value.status == raw.CUDNN_STATUS_BAD_PARAM


@pytest.mark.parametrize("where", [1, 4095, 1 << 62, (1 << 63) + 8, (1 << 64) - 4])
def test_addresses_that_are_not_mapped(where: int):
    with pytest.raises(Refused, match="not memory of this process") as refused:
        memory.at(where, FLOAT, (2, 2), (2, 1), "dy")
    assert refused.value.status == raw.CUDNN_STATUS_EXECUTION_FAILED


def test_a_range_that_runs_out_of_mapped_memory():
    array = np.zeros(16, np.uint8)
    with pytest.raises(Refused, match="not memory of this process"):
        memory.at(address(array), FLOAT, (1 << 46,), (1,), "x")


@pytest.mark.usefixtures("reference_device")
def test_buffers_know_their_end():
    with DeviceBuffer(100) as buffer:
        assert memory.at(buffer.ptr, FLOAT, (5, 5), (5, 1), "y").shape == (5, 5)
        for start, shape in ((buffer.ptr, (5, 6)), (buffer.ptr + 4, (5, 5))):
            with pytest.raises(Refused, match="y is too small") as refused:
                memory.at(start, FLOAT, shape, (5, 1), "y")
            assert refused.value.status == raw.CUDNN_STATUS_EXECUTION_FAILED
        where = buffer.ptr
    memory.check_range(where, 1, "y")  # a closed buffer is nobody's: only the mapping counts


@pytest.mark.usefixtures("reference_device")
def test_scribble_overwrites_what_was_asked_for():
    with DeviceBuffer(64) as buffer:
        buffer.fill(0)
        memory.scribble(buffer.ptr, 48, "workSpace")
        contents = buffer.copy_to_host()
        assert (contents[:48] == 0xA5).all()
        assert (contents[48:] == 0).all()
        memory.scribble(None, 0, "workSpace")
        with pytest.raises(Refused, match="workSpace is too small"):
            memory.scribble(buffer.ptr, 65, "workSpace")
