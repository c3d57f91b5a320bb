"""The base classes of enums, handles and structures."""

from __future__ import annotations

import copy
import ctypes
import pickle
from ctypes import c_int

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw.ctypes_support import is_null


class TestEnum:
    def test_members_are_module_names_as_in_c(self) -> None:
        assert raw.CUDNN_DATA_HALF is raw.cudnnDataType_t.CUDNN_DATA_HALF
        assert raw.CUDNN_DATA_HALF == 2

    def test_text(self) -> None:
        assert repr(raw.CUDNN_DATA_HALF) == "cudnnDataType_t.CUDNN_DATA_HALF"
        assert str(raw.CUDNN_DATA_HALF) == "CUDNN_DATA_HALF"
        assert f"{raw.CUDNN_DATA_HALF:>20}".strip() in ("2", "CUDNN_DATA_HALF")

    def test_unknown_codes_survive(self) -> None:
        code = raw.cudnnDataType_t(4242)
        assert code == 4242
        assert isinstance(code, raw.cudnnDataType_t)
        assert not code.known
        assert raw.CUDNN_DATA_HALF.known
        assert repr(code) == "<unknown cudnnDataType_t 4242>"
        assert code is raw.cudnnDataType_t(4242)
        assert code not in list(raw.cudnnDataType_t)

    def test_what_is_no_code(self) -> None:
        for wrong in ("CUDNN_DATA_HALF", 2.5, None, raw.CUDNN_ATTR_TENSOR_DIMENSIONS):
            with pytest.raises(ValueError, match="is not a valid cudnnDataType_t"):
                raw.cudnnDataType_t(wrong)

    def test_pickling_and_copying(self) -> None:
        for member in (raw.CUDNN_DATA_HALF, raw.cudnnDataType_t(4242)):
            assert pickle.loads(pickle.dumps(member)) is member
            assert copy.deepcopy(member) is member


class TestVariable:
    def test_it_holds_a_member(self) -> None:
        variable = raw.cudnnDataType_t()
        assert variable.value is raw.CUDNN_DATA_FLOAT
        variable.value = raw.CUDNN_DATA_INT8
        assert variable.value is raw.CUDNN_DATA_INT8
        assert repr(variable) == "<cudnnDataType_t variable: CUDNN_DATA_INT8>"
        assert variable == raw.CUDNN_DATA_INT8
        assert variable != raw.CUDNN_DATA_HALF
        assert isinstance(variable, c_int)
        variable.value = 2
        assert variable.value is raw.CUDNN_DATA_HALF

    def test_a_member_of_another_enum_is_refused(self) -> None:
        variable = raw.cudnnDataType_t()
        array = (raw.cudnnDataType_t * 2)()
        with pytest.raises(TypeError, match="expected a cudnnDataType_t, got cudnnTensorFormat_t"):
            variable.value = raw.CUDNN_TENSOR_NHWC
        with pytest.raises(TypeError, match="expected a cudnnDataType_t, got cudnnTensorFormat_t"):
            array[1] = raw.CUDNN_TENSOR_NHWC
        assert [variable.value, *array] == [raw.CUDNN_DATA_FLOAT] * 3

    def test_what_c_writes(self) -> None:
        variable = raw.cudnnDataType_t()
        ctypes.memmove(ctypes.byref(variable), ctypes.byref(c_int(2)), 4)
        assert variable.value is raw.CUDNN_DATA_HALF
        ctypes.memmove(ctypes.byref(variable), ctypes.byref(c_int(-7)), 4)
        assert variable.value == -7

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
    def test_a_new_one_is_null(self) -> None:
        handle = raw.cudnnTensorDescriptor_t()
        assert not handle
        assert handle.value is None
        assert repr(handle) == "cudnnTensorDescriptor_t(NULL)"

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
        kinds = [raw.cudnnHandle_t, raw.cudnnTensorDescriptor_t, raw.cudnnFilterDescriptor_t]
        for kind in kinds:
            for other in kinds:
                if other is not kind:
                    with pytest.raises(TypeError):
                        kind.from_param(other())


class TestStructure:
    def test_enum_fields(self) -> None:
        perf = raw.cudnnConvolutionFwdAlgoPerf_t()
        perf.algo = raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD
        perf.status = 3000
        perf.memory = 1 << 40
        assert perf.algo is raw.CUDNN_CONVOLUTION_FWD_ALGO_WINOGRAD
        assert perf.status is raw.CUDNN_STATUS_NOT_SUPPORTED
        assert perf.memory == 1 << 40
        perf.status = 4242
        assert not perf.status.known

    def test_text(self) -> None:
        perf = raw.cudnnConvolutionFwdAlgoPerf_t()
        perf.algo, perf.time = raw.CUDNN_CONVOLUTION_FWD_ALGO_GEMM, 0.5
        text = repr(perf)
        assert text.startswith("cudnnConvolutionFwdAlgoPerf_t(algo=cudnnConvolutionFwdAlgo_t.")
        assert "time=0.5" in text
        assert "reserved=[0, 0, 0]" in text

    def test_keywords_fill_plain_fields(self) -> None:
        assert raw.cudnnFraction_t(1, 2).denominator == 2

    def test_arrays_of_structures(self) -> None:
        results = (raw.cudnnConvolutionFwdAlgoPerf_t * 3)()
        results[1].algo = raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT
        assert [r.algo for r in results][1] is raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT


class TestHelpers:
    def test_is_null(self) -> None:
        handle = raw.cudnnHandle_t()
        assert is_null(None)
        assert is_null(handle)
        assert is_null(ctypes.POINTER(c_int)())
        handle.value = 8
        assert not is_null(handle)
        assert not is_null(0)
        assert not is_null(c_int())
