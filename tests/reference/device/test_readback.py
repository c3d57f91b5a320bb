"""Descriptors that C holds, as plain data; no GPU is needed for any of them."""

from __future__ import annotations

from ctypes import c_double

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.reference.device import readback
from cudnn_ctypes.reference.device.dispatch import Refused

from ..raw_program import CREATE, DESTROY


@pytest.fixture
def new():
    made = []

    def create(kind):
        descriptor = kind()
        CREATE[kind](descriptor)
        made.append(descriptor)
        return descriptor

    yield create
    for descriptor in made:
        DESTROY[type(descriptor)](descriptor)


def test_tensor(new):
    descriptor = new(raw.cudnnTensorDescriptor_t)
    raw.cudnnSetTensorNdDescriptor(
        descriptor, raw.CUDNN_DATA_HALF, 5, [2, 3, 4, 5, 6], [900, 1, 300, 60, 10]
    )
    assert readback.tensor(descriptor, "xDesc") == readback.Tensor(
        raw.CUDNN_DATA_HALF, (2, 3, 4, 5, 6), (900, 1, 300, 60, 10)
    )


def test_vectorised_tensor_counts_channels_in_its_shape_and_vectors_in_its_strides(new):
    descriptor = new(raw.cudnnTensorDescriptor_t)
    raw.cudnnSetTensor4dDescriptor(
        descriptor, raw.CUDNN_TENSOR_NCHW_VECT_C, raw.CUDNN_DATA_INT8x32, 2, 64, 3, 5
    )
    assert readback.tensor(descriptor, "xDesc") == readback.Tensor(
        raw.CUDNN_DATA_INT8x32, (2, 64, 3, 5), (30, 15, 5, 1)
    )


@pytest.mark.parametrize(
    ("layout", "data_type", "strides"),
    [
        ("NCHW", "FLOAT", (144, 9, 3, 1)),
        ("NHWC", "FLOAT", (144, 1, 48, 16)),
        ("NCHW_VECT_C", "INT8x4", (36, 9, 3, 1)),
    ],
)
def test_filter(new, layout: str, data_type: str, strides: tuple[int, ...]):
    descriptor = new(raw.cudnnFilterDescriptor_t)
    code, format_ = getattr(raw, f"CUDNN_DATA_{data_type}"), getattr(raw, f"CUDNN_TENSOR_{layout}")
    raw.cudnnSetFilter4dDescriptor(descriptor, code, format_, 8, 16, 3, 3)
    held = readback.filter_(descriptor, "wDesc")
    assert held == readback.Filter(code, format_, (8, 16, 3, 3))
    assert held.strides == strides


def test_convolution(new):
    descriptor = new(raw.cudnnConvolutionDescriptor_t)
    raw.cudnnSetConvolutionNdDescriptor(
        descriptor,
        3,
        [1, 2, 3],
        [4, 5, 6],
        [7, 8, 9],
        raw.CUDNN_CONVOLUTION,
        raw.CUDNN_DATA_DOUBLE,
    )
    raw.cudnnSetConvolutionGroupCount(descriptor, 4)
    raw.cudnnSetConvolutionMathType(descriptor, raw.CUDNN_FMA_MATH)
    raw.cudnnSetConvolutionReorderType(descriptor, raw.CUDNN_NO_REORDER)
    assert readback.convolution(descriptor, "convDesc") == readback.Convolution(
        padding=(1, 2, 3),
        stride=(4, 5, 6),
        dilation=(7, 8, 9),
        mode=raw.CUDNN_CONVOLUTION,
        compute_type=raw.CUDNN_DATA_DOUBLE,
        groups=4,
        math_type=raw.CUDNN_FMA_MATH,
        reorder_type=raw.CUDNN_NO_REORDER,
    )


def test_activation(new):
    descriptor = new(raw.cudnnActivationDescriptor_t)
    raw.cudnnSetActivationDescriptor(
        descriptor, raw.CUDNN_ACTIVATION_CLIPPED_RELU, raw.CUDNN_PROPAGATE_NAN, c_double(6)
    )
    raw.cudnnSetActivationDescriptorSwishBeta(descriptor, c_double(1.5))
    assert readback.activation(descriptor, "activationDesc") == readback.Activation(
        raw.CUDNN_ACTIVATION_CLIPPED_RELU, raw.CUDNN_PROPAGATE_NAN, 6.0, 1.5
    )


@pytest.mark.parametrize(
    ("kind", "read"),
    [
        (raw.cudnnTensorDescriptor_t, readback.tensor),
        (raw.cudnnFilterDescriptor_t, readback.filter_),
        (raw.cudnnConvolutionDescriptor_t, readback.convolution),
    ],
)
def test_what_was_never_set_or_is_null_is_refused_by_name(new, kind, read):
    for descriptor, why in (
        (new(kind), "wDesc was created, but never set"),
        (kind(), "wDesc is NULL"),
        (None, "wDesc is NULL"),
    ):
        with pytest.raises(Refused, match=why) as refused:
            read(descriptor, "wDesc")
        assert refused.value.status == raw.CUDNN_STATUS_BAD_PARAM


def test_the_others_are_refused_when_null():
    for read in (
        lambda: readback.activation(None, "d"),
        lambda: readback.tensor_transform(raw.cudnnTensorTransformDescriptor_t(), "d", 4),
    ):
        with pytest.raises(Refused, match="d is NULL"):
            read()
