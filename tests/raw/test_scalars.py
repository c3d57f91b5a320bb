"""Host scalars: a number that carries a type must have the one that the call asks for."""

from __future__ import annotations

import ctypes
import struct
from ctypes import byref, c_char, c_double, c_float, c_int, c_ushort, c_void_p, pointer
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import TensorDescriptor, raw
from cudnn_ctypes.raw import function
from cudnn_ctypes.raw.records import record, scalar_type
from cudnn_ctypes.raw.scalars import as_host_scalar

DOUBLE, FLOAT, HALF = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_HALF
HANDLE = raw.cudnnHandle_t()
HANDLE.value = 4096


@pytest.fixture
def calls(monkeypatch):
    """Make a C function a stand-in that notes the numbers which its scalars point to."""
    noted: list[dict[str, float]] = []

    def stand_in(name: str, data_type: str) -> raw.Function:
        bound = function.binding(name)
        ctype = c_double if data_type == "float64" else c_float

        def call(*arguments: Any) -> int:
            numbers = {}
            for p, argtype, value in zip(bound.parameters, bound.argtypes, arguments, strict=True):
                converted = argtype.from_param(value)
                if p.type.kind == "scalar" and converted is not None:
                    if isinstance(getattr(converted, "_obj", None), bytes):
                        converted = converted._obj  # which ctypes does not cast
                    address = ctypes.cast(converted, c_void_p).value
                    numbers[p.name] = ctype.from_address(address).value
            noted.append(numbers)
            return 0

        restored.append((bound, bound._interceptor))
        bound.intercept(call)
        return raw.FUNCTIONS[name]

    restored: list[Any] = []
    stand_in.noted = noted
    yield stand_in
    for bound, before in reversed(restored):
        bound.intercept(before)


def scale(calls, desc: Any, alpha: Any, data_type: str = "float32") -> float:
    calls("cudnnScaleTensor", data_type)(HANDLE, desc, 1 << 20, alpha)
    return calls.noted[-1]["alpha"]


@pytest.mark.parametrize(
    ("data_type", "ctype"), [("float32", c_float), ("float16", c_float), ("float64", c_double)]
)
def test_the_type_that_the_tensor_asks_for_is_taken_in_every_form(calls, data_type, ctype):
    dtype = np.dtype(ctype)
    held = "float64" if ctype is c_double else "float32"
    with TensorDescriptor((1, 2, 3, 4), data_type) as desc:
        variable = ctype(1.5)
        array = np.array([1.5, 7], dtype)
        for alpha in (
            *(variable, byref(variable), pointer(variable), (ctype * 2)(1.5, 7)),
            *(array, array[0], np.array(1.5, dtype), c_void_p(ctypes.addressof(variable))),
            bytes(variable),
        ):
            assert scale(calls, desc, alpha, held) == 1.5


@pytest.mark.parametrize(
    ("data_type", "alpha", "message"),
    [
        ("float64", c_float(1), "expected a float64, since yDesc is CUDNN_DATA_DOUBLE, got c_"),
        ("float32", c_double(1), "expected a float32, since yDesc is CUDNN_DATA_FLOAT, got c_"),
        ("float16", c_double(1), "since yDesc is CUDNN_DATA_HALF"),
        ("float32", byref(c_double(1)), "a float64; a plain Python number becomes it"),
        ("float32", pointer(c_double(1)), "a float64"),
        ("float32", (c_double * 1)(1), "a float64"),
        ("float32", np.float64(1), r"got np.float64\(1.0\)|got 1.0"),
        ("float32", np.ones(1), "a float64"),
        ("float64", np.float32(1), "a float32"),
        ("float64", np.ones((), np.float16), "a float16"),
        ("float32", c_int(1), "a c_int"),
        ("float32", np.int32(1), "a int32"),
    ],
)
def test_another_type_is_refused_by_name(calls, data_type: str, alpha: Any, message: str):
    with TensorDescriptor((1, 2, 3, 4), data_type) as desc:
        with pytest.raises(TypeError, match=message) as refused:
            scale(calls, desc, alpha)
        assert "cudnnScaleTensor() argument 'alpha': " in str(refused.value)
    assert not calls.noted


@pytest.mark.parametrize("alpha", [True, "1", 1j, [1.0], raw.CUDNN_DATA_HALF, np.ones(0, "f")])
def test_what_is_no_number_is_refused(calls, alpha: Any):
    with TensorDescriptor((1, 2, 3, 4)) as desc, pytest.raises(TypeError, match="expected a float"):
        scale(calls, desc, alpha)


def test_an_int_that_may_be_an_address_is_refused(calls):
    variable = c_float(2)
    address = ctypes.addressof(variable)
    with TensorDescriptor((1, 2, 3, 4)) as desc:
        with pytest.raises(TypeError, match=rf"c_void_p\({address:#x}\)"):
            scale(calls, desc, address)
        assert scale(calls, desc, 65535) == 65535
        assert scale(calls, desc, 65536.0) == 65536


def test_a_number_too_large_for_a_float_is_refused(calls):
    with TensorDescriptor((1, 2, 3, 4)) as desc, pytest.raises(ValueError, match="too large"):
        scale(calls, desc, 1e39)
    with TensorDescriptor((1, 2, 3, 4), "float64") as desc:
        assert scale(calls, desc, 1e39, "float64") == 1e39


def test_the_type_that_op_tensor_computes_in_decides(new, calls):
    op = new(raw.cudnnOpTensorDescriptor_t)
    nan = raw.CUDNN_NOT_PROPAGATE_NAN
    raw.cudnnSetOpTensorDescriptor(op, raw.CUDNN_OP_TENSOR_ADD, DOUBLE, nan)
    with TensorDescriptor((1, 2, 3, 4), "float32") as d:
        call = calls("cudnnOpTensor", "float64")
        call(HANDLE, op, 1, d, 1 << 20, c_double(2), d, 1 << 20, 3.0, d, 1 << 20)
        assert calls.noted == [{"alpha1": 1, "alpha2": 2, "beta": 3}]
        with pytest.raises(TypeError, match="argument 'beta': expected a float64, since opTensorD"):
            call(HANDLE, op, 1, d, 1 << 20, 2, d, 1 << 20, c_float(3), d, 1 << 20)


@pytest.mark.parametrize(("x", "y"), [("float64", "float32"), ("float32", "float64")])
def test_a_double_on_either_side_of_a_transform_decides(calls, x: str, y: str):
    shape = (1, 2, 3, 4)
    with TensorDescriptor(shape, x) as x_desc, TensorDescriptor(shape, y, layout="NHWC") as y_desc:
        call = calls("cudnnTransformTensor", "float64")
        call(HANDLE, c_double(1), x_desc, 1 << 20, 2, y_desc, 1 << 20)
        assert calls.noted == [{"alpha": 1, "beta": 2}]
        with pytest.raises(TypeError, match="since xDesc or yDesc is CUDNN_DATA_DOUBLE"):
            call(HANDLE, c_float(1), x_desc, 1 << 20, 2, y_desc, 1 << 20)


def test_every_host_scalar_says_what_decides_its_type():
    for f in raw.FUNCTIONS.values():
        names = {p.name for p in f.parameters}
        for p in f.parameters:
            if p.type.kind == "scalar":
                assert set(p.described_by) & names == set(p.described_by) != set(), f.prototype


PADDING = {
    FLOAT: (c_float(2.5), c_double(2.5), struct.pack("<f", 2.5)),
    DOUBLE: (c_double(2.5), c_float(2.5), struct.pack("<d", 2.5)),
    HALF: (c_ushort(0x4100), c_float(2.5), struct.pack("<e", 2.5)),
    raw.CUDNN_DATA_BFLOAT16: (c_ushort(0x4020), c_float(2.5), b"\x20\x40"),
}


@pytest.mark.parametrize("data_type", PADDING, ids=lambda t: t.name)
def test_padding_has_the_type_of_the_sequences(new, data_type: int):
    descriptor = new(raw.cudnnRNNDataDescriptor_t)
    right, wrong, stored = PADDING[data_type]

    def set_(fill: Any) -> float:
        layout = raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
        raw.cudnnSetRNNDataDescriptor(descriptor, data_type, layout, 2, 2, 3, [2, 1], fill)
        return raw.descriptors.record(descriptor).padding_fill

    assert set_(right) == set_(2.5) == set_(stored) == 2.5
    assert set_(-3) == -3
    with pytest.raises(TypeError, match="argument 'paddingFill': expected a "):
        set_(wrong)
    with pytest.raises(ValueError, match="bytes"):
        set_((c_char * 1)())


def test_padding_is_read_into_memory_of_its_type(new):
    descriptor = new(raw.cudnnRNNDataDescriptor_t)
    layout = raw.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
    raw.cudnnSetRNNDataDescriptor(descriptor, FLOAT, layout, 2, 2, 3, [2, 1], 2.5)

    def get(fill: Any) -> None:
        about = raw.cudnnDataType_t(), raw.cudnnRNNDataLayout_t(), c_int(), c_int(), c_int()
        raw.cudnnGetRNNDataDescriptor(descriptor, *about, 2, (c_int * 2)(), fill)

    fill = c_float()
    get(fill)
    assert fill.value == 2.5
    get(byref(fill))
    get((c_char * 8)())
    for wrong in (c_double(), 1.0, c_int(), np.float32(1)):
        with pytest.raises(TypeError, match="argument 'paddingFill': expected a float32"):
            get(wrong)


@pytest.mark.parametrize("value", [1.0, 1.00390625, 1.01171875, 3e38, -7.25, float("nan")])
def test_bfloat16_is_rounded_to_nearest_even(value: float):
    import ml_dtypes

    stored = as_host_scalar(value, "bfloat16").raw
    wanted = np.array(value, ml_dtypes.bfloat16)
    found = np.frombuffer(stored, ml_dtypes.bfloat16)[0]
    np.testing.assert_array_equal(float(found), float(wanted))


@pytest.mark.parametrize(("kind", "value"), [("bfloat16", 3.4e38), ("float16", 65520.0)])
def test_padding_too_large_for_its_type_is_refused(kind: str, value: float):
    with pytest.raises(ValueError, match="too large"):
        as_host_scalar(value, kind)


@pytest.mark.gpu
@pytest.mark.parametrize("data_type", ["float32", "float64", "float16"])
def test_python_numbers_scale_on_the_gpu(data_type: str):
    from cudnn_ctypes import DeviceTensor, Handle

    values = np.arange(1, 25).reshape(1, 2, 3, 4).astype(data_type)
    with Handle() as handle, TensorDescriptor(values.shape, data_type) as desc:
        y = DeviceTensor.from_numpy(values)
        raw.cudnnScaleTensor(handle, desc, y, 0.5)
        np.testing.assert_array_equal(y.numpy(), values / 2)
        raw.cudnnSetTensor(handle, desc, y, 3)
        np.testing.assert_array_equal(y.numpy(), np.full_like(values, 3))


def test_a_descriptor_of_another_kind_is_refused_where_scalars_take_its_type():
    filters, loss = raw.cudnnFilterDescriptor_t(), raw.cudnnCTCLossDescriptor_t()
    raw.cudnnCreateFilterDescriptor(filters)
    raw.cudnnSetFilter4dDescriptor(filters, FLOAT, raw.CUDNN_TENSOR_NCHW, 1, 3, 3, 1)
    raw.cudnnCreateCTCLossDescriptor(loss)
    raw.cudnnSetCTCLossDescriptor(loss, DOUBLE)
    transform = raw.cudnnTensorTransformDescriptor_t()
    half = c_double(0.5)
    with pytest.raises(TypeError, match=r"destDesc.*expected a cudnnFilterDescriptor_t"):
        raw.cudnnTransformFilter(HANDLE, transform, half, filters, None, half, loss, None)
    raw.cudnnDestroyCTCLossDescriptor(loss)
    raw.cudnnDestroyFilterDescriptor(filters)


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((4, 1, 1, 2, 3), DOUBLE), ((4, 2, 1, 2, 3), HALF), ((4, 1, 2, 3), HALF)],
)
def test_factors_between_a_type_and_double(shape, expected):
    """Measured with cuDNN 9.14 and 9.19 on an H100."""
    with TensorDescriptor(shape, "float16") as x, TensorDescriptor(shape, "float64") as y:
        assert scalar_type([record(x), record(y)]) == expected
