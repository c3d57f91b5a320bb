"""What the arguments of a function of layer 1 may be, and how wrong ones are refused."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from ctypes import POINTER, byref, c_int, c_int64, c_size_t, pointer
from typing import Any

import numpy as np
import pytest

import cudnn_ctypes
from cudnn_ctypes import raw
from cudnn_ctypes.raw.function import binding


def set_4d(descriptor: Any, *shape: Any) -> Any:
    return raw.cudnnSetTensor4dDescriptor(
        descriptor, raw.CUDNN_TENSOR_NCHW, raw.CUDNN_DATA_FLOAT, *shape
    )


def dimensions(descriptor: Any) -> list[int]:
    data_type, count, dims, strides = c_int(-1), c_int(-1), (c_int * 8)(), (c_int * 8)()
    raw.cudnnGetTensorNdDescriptor(descriptor, 8, data_type, count, dims, strides)
    return dims[: count.value]


class TestArguments:
    def test_keywords(self, x: Any) -> None:
        raw.cudnnSetTensor4dDescriptor(
            x, dataType=raw.CUDNN_DATA_HALF, format=raw.CUDNN_TENSOR_NHWC, w=4, h=3, c=2, n=1
        )
        assert dimensions(x) == [1, 2, 3, 4]

    @pytest.mark.parametrize("wrong", [raw.CUDNN_CONVOLUTION, 0.0, "CUDNN_DATA_FLOAT", None, True])
    def test_an_enum_refuses_everything_else(self, x: Any, wrong: Any) -> None:
        with pytest.raises(TypeError, match=r"'dataType' \(3 of 7\): expected a cudnnDataType_t"):
            raw.cudnnSetTensor4dDescriptor(x, raw.CUDNN_TENSOR_NCHW, wrong, 1, 1, 1, 1)

    def test_swapped_arguments_are_recognized(self, new: Any, x: Any) -> None:
        w = new(raw.cudnnFilterDescriptor_t)
        convolution = new(raw.cudnnConvolutionDescriptor_t)
        sizes = [c_int() for _ in range(4)]
        with pytest.raises(TypeError, match="are 'inputTensorDesc' and 'filterDesc' swapped"):
            raw.cudnnGetConvolution2dForwardOutputDim(convolution, w, x, *sizes)

    @pytest.mark.parametrize("value", [2**31, -(2**31) - 1, 2**64])
    def test_ints_must_fit(self, x: Any, value: int) -> None:
        with pytest.raises(ValueError, match=rf"'n' .*{value} does not fit in C's c_int"):
            set_4d(x, value, 1, 1, 1)
        with pytest.raises(ValueError, match=rf"'dimA' .*{value} does not fit"):
            raw.cudnnSetTensorNdDescriptor(x, 0, 4, [1, value, 1, 1], [1, 1, 1, 1])

    def test_reals(self, new: Any) -> None:
        activation = new(raw.cudnnActivationDescriptor_t)
        coefficient = ctypes.c_double()
        for value in (6, 6.0, np.float32(6), ctypes.c_double(6)):
            raw.cudnnSetActivationDescriptor(
                activation, raw.CUDNN_ACTIVATION_CLIPPED_RELU, 0, value
            )
            raw.cudnnGetActivationDescriptor(activation, c_int(), c_int(), coefficient)
            assert coefficient.value == 6
        with pytest.raises(TypeError, match=r"'coef' .*expected a number"):
            raw.cudnnSetActivationDescriptor(activation, 0, 0, "6")


class TestOutParameters:
    def test_the_object_itself_byref_or_a_pointer(self, x: Any) -> None:
        set_4d(x, 1, 2, 3, 4)
        size = c_size_t()
        for argument in (size, byref(size), pointer(size)):
            size.value = 0xDEAD
            raw.cudnnGetTensorSizeInBytes(x, argument)
            assert size.value == 96

    def test_enum_variables(self, x: Any) -> None:
        set_4d(x, 1, 2, 3, 4)
        variable, plain = raw.cudnnDataType_t(), c_int(77)
        variable.value = 77
        sizes = [c_int() for _ in range(8)]
        for argument in (variable, plain, byref(variable), byref(plain)):
            raw.cudnnGetTensor4dDescriptor(x, argument, *sizes)
        assert variable.value is raw.CUDNN_DATA_FLOAT
        assert plain.value == 0
        with pytest.raises(TypeError, match="'dataType'"):
            raw.cudnnGetTensor4dDescriptor(x, raw.cudnnConvolutionMode_t(), *sizes)


class TestArrays:
    @pytest.mark.parametrize(
        "dims",
        [
            [5, 4, 3, 2],
            (5, 4, 3, 2),
            range(5, 1, -1),
            (c_int * 4)(5, 4, 3, 2),
            np.array([5, 4, 3, 2], np.int32),
            np.array([5, 4, 3, 2], np.int64),
            np.array([5, 0, 4, 0, 3, 0, 2, 0], np.int32)[::2],
            [np.int64(5), 4, c_int(3), np.uint8(2)],
            ctypes.cast((c_int * 4)(5, 4, 3, 2), POINTER(c_int)),
        ],
        ids=["list", "tuple", "range", "ctypes", "int32", "int64", "strided", "mixed", "ptr"],
    )
    def test_in_arrays_are_any_sequence_of_numbers(self, x: Any, dims: Any) -> None:
        raw.cudnnSetTensorNdDescriptor(x, raw.CUDNN_DATA_FLOAT, 4, dims, [24, 6, 2, 1])
        assert dimensions(x) == [5, 4, 3, 2]

    @pytest.mark.parametrize("wrong", ["5432", b"5432", 5, {5, 4, 3, 2}, [[5, 4, 3, 2]] * 4])
    def test_what_is_no_array(self, x: Any, wrong: Any) -> None:
        with pytest.raises(TypeError, match="'dimA'"):
            raw.cudnnSetTensorNdDescriptor(x, 0, 4, wrong, [24, 6, 2, 1])
        with pytest.raises(TypeError, match="'dimA'"):
            raw.cudnnSetTensorNdDescriptor(x, 0, 4, (ctypes.c_short * 4)(), [24, 6, 2, 1])

    @pytest.mark.parametrize(
        "short", [[1, 2, 3], (c_int * 3)(), np.ones(3, np.int32), c_int(1), []]
    )
    def test_in_arrays_hold_what_the_call_says(self, x: Any, short: Any) -> None:
        with pytest.raises(ValueError, match=r"'strideA': nbDims = 4 elements expected, got [013]"):
            raw.cudnnSetTensorNdDescriptor(x, 0, 4, [1, 1, 1, 1], short)

    @pytest.mark.parametrize(
        "short", [(c_int * 3)(), np.ones(3, np.int32), c_int(), byref(c_int())]
    )
    def test_out_arrays_hold_what_the_call_says(self, x: Any, short: Any) -> None:
        with pytest.raises(ValueError, match="'dimA': nbDimsRequested = 4 elements expected"):
            raw.cudnnGetTensorNdDescriptor(x, 4, c_int(), c_int(), short, (c_int * 4)())

    def test_a_wrong_length_is_the_length_s_fault(self, x: Any) -> None:
        with pytest.raises(TypeError, match=r"'nbDims' \(3 of 5\): expected an int"):
            raw.cudnnSetTensorNdDescriptor(x, 0, "4", [1] * 4, [1] * 4)

    @pytest.mark.parametrize(
        "make",
        [lambda: (c_int * 4)(*[77] * 4), lambda: np.full(4, 77, np.int32), lambda: (c_int * 9)()],
        ids=["ctypes", "numpy", "longer"],
    )
    def test_out_arrays_are_filled(self, x: Any, make: Any) -> None:
        set_4d(x, 2, 3, 4, 5)
        dims, strides = make(), make()
        raw.cudnnGetTensorNdDescriptor(x, 4, c_int(), c_int(), dims, strides)
        assert list(dims)[:4] == [2, 3, 4, 5]
        assert list(strides)[:4] == [60, 20, 5, 1]

    @pytest.mark.parametrize(
        "wrong",
        [
            [0] * 4,
            np.zeros(4, np.int64),
            np.zeros(4, np.float32),
            np.zeros(8, np.int32)[::2],
            np.frombuffer(bytes(16), np.int32),
            (c_int64 * 4)(),
        ],
        ids=["list", "int64", "float32", "strided", "read-only", "c_int64"],
    )
    def test_out_arrays_that_c_cannot_fill(self, x: Any, wrong: Any) -> None:
        with pytest.raises(TypeError, match="'dimA'"):
            raw.cudnnGetTensorNdDescriptor(x, 4, c_int(), c_int(), wrong, (c_int * 4)())

    def test_arrays_of_enums(self, new: Any) -> None:
        sequence = new(raw.cudnnSeqDataDescriptor_t)
        axes = list(raw.cudnnSeqDataAxis_t)[:4]
        for given in (axes, [int(a) for a in axes], (c_int * 4)(*axes)):
            raw.cudnnSetSeqDataDescriptor(sequence, 0, 4, [5, 2, 1, 8], given, 2, [5, 4], None)
        read, rest = (raw.cudnnSeqDataAxis_t * 4)(), (c_size_t(), 2, (c_int * 2)(), None)
        for out in (read, (c_int * 4)()):
            raw.cudnnGetSeqDataDescriptor(sequence, c_int(), c_int(), 4, (c_int * 4)(), out, *rest)
        assert list(read) == axes
        out = (raw.cudnnDataType_t * 4)()
        with pytest.raises(TypeError, match="'axes'"):
            raw.cudnnGetSeqDataDescriptor(sequence, c_int(), c_int(), 4, (c_int * 4)(), out, *rest)
        with pytest.raises(TypeError, match=r"'axes' .*expected a cudnnSeqDataAxis_t"):
            raw.cudnnSetSeqDataDescriptor(
                sequence, 0, 4, [5, 2, 1, 8], [raw.CUDNN_DATA_FLOAT] * 4, 2, [5, 4], None
            )


class TestPerformanceRows:
    """C's ``cudnnConvolutionFwdAlgoPerf_t perf[8]``."""

    def test_what_c_cannot_fill(self, algorithms: Any) -> None:
        row = raw.cudnnConvolutionFwdAlgoPerf_t
        with pytest.raises(TypeError, match=r"such as \(cudnnConvolutionFwdAlgoPerf_t \* 2\)\(\)"):
            algorithms(2, [row(), row()])
        with pytest.raises(TypeError, match="'perfResults'"):
            algorithms(8, (raw.cudnnConvolutionBwdDataAlgoPerf_t * 8)())
        with pytest.raises(ValueError, match="requestedAlgoCount = 8 elements expected, got 4"):
            algorithms(8, (row * 4)())

    @pytest.fixture
    def algorithms(self) -> Iterator[Any]:
        returned = c_int()
        with (
            cudnn_ctypes.use_reference_device(),
            cudnn_ctypes.Handle() as handle,
            cudnn_ctypes.TensorDescriptor((1, 1, 4, 4)) as x,
            cudnn_ctypes.FilterDescriptor((1, 1, 3, 3)) as w,
            cudnn_ctypes.ConvolutionDescriptor(padding=1) as conv,
        ):

            def ask(count: int, perf: Any) -> int:
                raw.cudnnGetConvolutionForwardAlgorithm_v7(
                    handle, x, w, conv, x, count, returned, perf
                )
                return returned.value

            yield ask


@pytest.mark.parametrize("number", [0, 1, 1 << 20, 1 << 40, np.int64(1 << 20)])
def test_a_bare_integer_is_no_host_pointer(number: Any) -> None:
    """Whichever function: C would read or write at that address."""
    for name, function in raw.FUNCTIONS.items():
        for parameter, argtype in zip(function.parameters, binding(name).argtypes, strict=True):
            if parameter.type.kind in ("host", "pointer", "array", "scalar"):
                with pytest.raises(TypeError):
                    argtype.from_param(number)


class TestBackendAttributes:
    """``void *`` with a count: nothing may be read or written beyond the memory given."""

    @pytest.fixture
    def tensor(self) -> Iterator[Any]:
        descriptor = raw.cudnnBackendDescriptor_t()
        raw.cudnnBackendCreateDescriptor(raw.CUDNN_BACKEND_TENSOR_DESCRIPTOR, descriptor)
        yield descriptor
        raw.cudnnBackendDestroyDescriptor(descriptor)

    @pytest.mark.parametrize(
        "dims", [(c_int64 * 3)(), np.ones(3, np.int64), (c_int * 4)(), c_int64(), byref(c_int64())]
    )
    def test_too_little_memory(self, tensor: Any, dims: Any) -> None:
        with pytest.raises(
            ValueError, match="'arrayOfElements': 4 elements of CUDNN_TYPE_INT64 are 32 bytes, got"
        ):
            raw.cudnnBackendSetAttribute(
                tensor, raw.CUDNN_ATTR_TENSOR_DIMENSIONS, raw.CUDNN_TYPE_INT64, 4, dims
            )
        with pytest.raises(ValueError, match="4 elements of CUDNN_TYPE_INT64"):
            raw.cudnnBackendGetAttribute(
                tensor, raw.CUDNN_ATTR_TENSOR_DIMENSIONS, 3, 4, c_int64(), dims
            )
