"""The base classes of enums, handles and structures; short names of enumerators."""

from __future__ import annotations

import ctypes
import itertools

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.arguments import enumerator
from cudnn_ctypes.raw.ctypes_support import CudnnEnum, short_name


def test_what_is_no_code() -> None:
    for wrong in ("CUDNN_DATA_HALF", 2.5, None, raw.CUDNN_ATTR_TENSOR_DIMENSIONS):
        with pytest.raises(ValueError, match="is not a valid cudnnDataType_t"):
            raw.cudnnDataType_t(wrong)


class TestVariable:
    def test_a_member_of_another_enum_is_refused(self) -> None:
        variable = raw.cudnnDataType_t()
        array = (raw.cudnnDataType_t * 2)()
        with pytest.raises(TypeError, match="expected a cudnnDataType_t, got cudnnTensorFormat_t"):
            variable.value = raw.CUDNN_TENSOR_NHWC
        with pytest.raises(TypeError, match="expected a cudnnDataType_t, got cudnnTensorFormat_t"):
            array[1] = raw.CUDNN_TENSOR_NHWC
        assert [variable.value, *array] == [raw.CUDNN_DATA_FLOAT] * 3

    def test_arrays(self) -> None:
        for array in ((raw.cudnnDataType_t * 4)(), (4 * raw.cudnnDataType_t)()):
            array[1] = raw.CUDNN_DATA_HALF
            array[2:] = [raw.CUDNN_DATA_INT8, 6]
            assert array[1] is raw.CUDNN_DATA_HALF
            assert array[:2] == [raw.CUDNN_DATA_FLOAT, raw.CUDNN_DATA_HALF]
            assert list(array) == [raw.cudnnDataType_t(code) for code in (0, 2, 3, 6)]
            assert ctypes.sizeof(array) == 16
        (four,) = (raw.cudnnDataType_t * 1)(raw.CUDNN_DATA_INT32)
        assert four is raw.CUDNN_DATA_INT32
        assert "CUDNN_DATA_HALF" in repr(array)
        with pytest.raises(IndexError):
            array[4]


class TestHandle:
    def test_equality_is_of_kind_and_address(self) -> None:
        one, other = raw.cudnnTensorDescriptor_t(), raw.cudnnTensorDescriptor_t()
        filter_ = raw.cudnnFilterDescriptor_t()
        one.value = other.value = filter_.value = 0x1000
        assert one == other
        assert hash(one) == hash(other)
        assert one != filter_
        other.value = 0x2000
        assert one != other

    def test_every_kind_is_its_own(self) -> None:
        kinds = (raw.cudnnHandle_t, raw.cudnnTensorDescriptor_t, raw.cudnnFilterDescriptor_t)
        for kind, other in itertools.permutations(kinds, 2):
            with pytest.raises(TypeError):
                kind.from_param(other())


def test_numbers_fill_fields_of_a_structure() -> None:
    assert raw.cudnnFraction_t(1, 2).denominator == 2


ENUMS = [
    value
    for value in vars(raw).values()
    if isinstance(value, type) and issubclass(value, CudnnEnum)
]


def test_short_names_are_identifiers_and_lead_back() -> None:
    for cls in ENUMS:
        for member in cls:
            short = short_name(member)
            assert short.isidentifier()
            assert enumerator(cls, short, "argument") is member
            assert enumerator(cls, member.name, "argument") is member


def test_short_names() -> None:
    assert short_name(raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM) == "implicit_gemm"
    assert short_name(raw.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0) == "algo_0"
    assert short_name(raw.CUDNN_CROSS_CORRELATION) == "cross_correlation"
    assert short_name(raw.CUDNN_LRN_CROSS_CHANNEL_DIM1) == "cross_channel_dim1"
    assert enumerator(raw.cudnnNormMode_t, "per-channel", "mode") == raw.CUDNN_NORM_PER_CHANNEL
    assert short_name(raw.cudnnMathType_t(77)) == "<unknown cudnnMathType_t 77>"
