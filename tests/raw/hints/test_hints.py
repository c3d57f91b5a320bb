"""Each usual error is provoked; its hint must speak of what happened, and of nothing else."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from cudnn_ctypes import (
    BackendDescriptor,
    ConvolutionDescriptor,
    CudnnError,
    FilterDescriptor,
    TensorDescriptor,
    raw,
)
from cudnn_ctypes.raw import log
from cudnn_ctypes.raw.hints import Failure, creating_function, hint, usual_cause


def hint_of(call: Callable[..., Any], *arguments: Any) -> str:
    with pytest.raises(CudnnError) as caught:
        call(*arguments)
    return caught.value.hint


@pytest.fixture
def x() -> Iterator[Any]:
    descriptor = raw.cudnnTensorDescriptor_t()
    raw.cudnnCreateTensorDescriptor(descriptor)
    yield descriptor
    raw.cudnnDestroyTensorDescriptor(descriptor)


@pytest.fixture
def conv() -> Iterator[Any]:
    with ConvolutionDescriptor() as descriptor:
        yield descriptor


class TestSetting:
    def test_dimensions(self, x: Any) -> None:
        wanted = "every dimension must be at least 1"
        assert hint_of(raw.cudnnSetTensor4dDescriptor, x, 0, 0, 1, -3, 1, 1) == wanted
        with FilterDescriptor((1, 1, 1, 1)) as w:
            assert hint_of(raw.cudnnSetFilter4dDescriptor, w, 0, 0, 0, 1, 1, 1) == wanted
        sizes, strides = (ctypes.c_int * 4)(2, 2, 0, 2), [4, 4, 2, 1]
        pointer = ctypes.cast(sizes, ctypes.POINTER(ctypes.c_int))  # it has no end of its own
        assert hint_of(raw.cudnnSetTensorNdDescriptor, x, 0, 4, pointer, strides) == wanted

    def test_vectors(self, x: Any) -> None:
        layout = raw.CUDNN_TENSOR_NCHW_VECT_C
        told = hint_of(raw.cudnnSetTensor4dDescriptor, x, layout, raw.CUDNN_DATA_HALF, 1, 4, 1, 1)
        assert told.startswith("CUDNN_TENSOR_NCHW_VECT_C is for vectors of channels")
        assert told.endswith("not for CUDNN_DATA_HALF")
        told = hint_of(raw.cudnnSetTensor4dDescriptor, x, layout, raw.CUDNN_DATA_INT8x4, 1, 3, 1, 1)
        assert "multiple of the channels in a vector" in told

    def test_convolutions(self, conv: Any) -> None:
        set_ = raw.cudnnSetConvolution2dDescriptor
        wanted = "strides, dilations and group counts must be at least 1, padding at least 0"
        assert hint_of(set_, conv, 0, 0, 0, 1, 1, 1, 1, 0) == wanted
        assert hint_of(set_, conv, 0, 0, 1, 1, 1, 0, 1, 0) == wanted
        assert hint_of(set_, conv, -1, 0, 1, 1, 1, 1, 1, 0) == wanted
        assert hint_of(raw.cudnnSetConvolutionGroupCount, conv, 0) == wanted
        # The compute type is wrong, and cuDNN says so.
        assert hint_of(set_, conv, 0, 0, 1, 1, 1, 1, 1, raw.CUDNN_DATA_INT8) == ""


class TestNull:
    def test_none(self) -> None:
        told = hint_of(raw.cudnnSetTensor4dDescriptor, None, 0, 0, 1, 1, 1, 1)
        assert told == (
            "tensorDesc is None, and C needs a cudnnTensorDescriptor_t: "
            "raw.cudnnCreateTensorDescriptor creates one"
        )

    def test_a_variable_that_nobody_filled(self) -> None:
        told = hint_of(raw.cudnnSetStream, raw.cudnnHandle_t(), None)
        assert told == "handle is still NULL: raw.cudnnCreate has to create it first"

    def test_what_was_destroyed(self) -> None:
        descriptor = raw.cudnnTensorDescriptor_t()
        raw.cudnnCreateTensorDescriptor(descriptor)
        raw.cudnnDestroyTensorDescriptor(descriptor)
        told = hint_of(raw.cudnnSetTensor4dDescriptor, descriptor, 0, 0, 1, 1, 1, 1)
        assert told == (
            "tensorDesc was destroyed earlier; create another with raw.cudnnCreateTensorDescriptor"
        )

    def test_what_may_be_null_is_not_blamed(self) -> None:
        """No heads, and two dropouts that nobody needs."""
        attention = raw.cudnnAttnDescriptor_t()
        raw.cudnnCreateAttnDescriptor(attention)
        about = (0, 0, 1.0, 0, 0, 0, None, None, 4, 4, 4, 0, 0, 0, 0, 2, 2, 1, 1)
        assert hint_of(raw.cudnnSetAttnDescriptor, attention, *about) == ""
        raw.cudnnDestroyAttnDescriptor(attention)
        nullable = [p.name for p in raw.cudnnSetAttnDescriptor.parameters if p.type.null]
        assert nullable == ["attnDropoutDesc", "postDropoutDesc"]

    def test_backend_descriptors(self) -> None:
        assert "raw.cudnnBackendCreateDescriptor creates one" in hint_of(
            raw.cudnnBackendFinalize, None
        )

    def test_every_kind_has_its_creating_function(self) -> None:
        kinds = {
            p.type.base.__name__
            for function in raw.FUNCTIONS.values()
            for p in function.parameters
            if p.type.kind == "value" and issubclass(p.type.base, raw.cudnnHandle_t.__bases__[0])
            if p.type.base.__name__.startswith("cudnn")
        }
        assert len(kinds) > 20
        assert {creating_function(kind) for kind in kinds} <= raw.FUNCTIONS.keys()


class TestConvolutionsThatDoNotFit:
    @pytest.mark.parametrize(
        ("x_shape", "w_shape", "wanted"),
        [
            (
                (1, 3, 8, 8),
                (4, 5, 3, 3),
                "inputTensorDesc: it has 3 channels",
            ),
            ((1, 3, 8, 8), (4, 3, 9, 9), "the filter reaches over 9 elements along spatial dim"),
            (
                (1, 3, 8, 8, 8),
                (4, 3, 3, 3),
                "inputTensorDesc: a convolution over 2",
            ),
        ],
    )
    def test_what_does_not_fit_is_named(self, conv, x_shape, w_shape, wanted):
        sizes = [ctypes.c_int() for _ in range(4)]
        with TensorDescriptor(x_shape) as x, FilterDescriptor(w_shape) as w:
            told = hint_of(raw.cudnnGetConvolution2dForwardOutputDim, conv, x, w, *sizes)
        assert wanted in told
        assert "yDesc" not in told  # which this function has not


class TestBackend:
    def test_attributes_of_other_descriptors(self) -> None:
        told = hint_of(
            raw.cudnnBackendSetAttribute,
            BackendDescriptor("tensor"),
            raw.CUDNN_ATTR_CONVOLUTION_DILATIONS,
            raw.CUDNN_TYPE_INT64,
            1,
            ctypes.c_int64(1),
        )
        assert told == (
            "CUDNN_ATTR_CONVOLUTION_DILATIONS is an attribute of convolution descriptors, and this "
            "is a descriptor of kind tensor"
        )

    def test_types_of_attributes(self) -> None:
        told = hint_of(
            raw.cudnnBackendSetAttribute,
            BackendDescriptor("tensor"),
            raw.CUDNN_ATTR_TENSOR_DIMENSIONS,
            raw.CUDNN_TYPE_INT32,
            1,
            ctypes.c_int32(1),
        )
        assert told == (
            "CUDNN_ATTR_TENSOR_DIMENSIONS takes CUDNN_TYPE_INT64, and attributeType says "
            "CUDNN_TYPE_INT32"
        )

    def test_what_is_missing(self) -> None:
        operation = BackendDescriptor("operation_convolution_forward", alpha=1.0, beta=0.0)
        assert hint_of(operation.finalize).startswith("a descriptor that this one needs is not set")


class TestWhoSpeaks:
    """What is only probable is said where cuDNN gave the status, and nowhere else."""

    @pytest.mark.parametrize(
        ("function", "status"),
        [
            ("cudnnConvolutionForward", "CUDNN_STATUS_NOT_SUPPORTED"),
            ("cudnnBackendExecute", "CUDNN_STATUS_EXECUTION_FAILED"),
        ],
    )
    def test_guesses_are_for_cudnn(self, function: str, status: str) -> None:
        failure = Failure(function, status)
        assert hint(failure)
        for source in (log.REFERENCE_DEVICE, log.GUARD):
            assert hint(dataclasses.replace(failure, source=source)) == ""

    def test_statuses_alone(self) -> None:
        assert "compute-sanitizer" in usual_cause("CUDNN_STATUS_EXECUTION_FAILED")
        assert usual_cause("CUDNN_STATUS_BAD_PARAM") == ""


def test_functions_that_tell_sizes_exist() -> None:
    for function in raw.FUNCTIONS.values():
        for parameter in function.parameters:
            if parameter.type.told_by:
                assert parameter.type.told_by in raw.FUNCTIONS


def test_too_small_buffers_of_every_function_have_advice() -> None:
    """Whatever takes memory beside a number of bytes, which a function of cuDNN tells."""
    for name, function in raw.FUNCTIONS.items():
        for parameter in function.parameters:
            sized = parameter.type.kind == "device" and any(
                "size" in by.lower() for by in parameter.described_by
            )
            if not sized or name.startswith("cudnnFind"):  # which takes any size
                continue
            said = f"{parameter.described_by[0]} = 0 is less than the 16 bytes needed"
            failure = Failure(name, "CUDNN_STATUS_BAD_PARAM", (said,), log.REFERENCE_DEVICE)
            assert "tells how many bytes are needed" in hint(failure), (name, parameter.name)
