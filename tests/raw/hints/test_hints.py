"""Each usual error is provoked; its hint must speak of what happened, and of nothing else."""

from __future__ import annotations

import ctypes

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw
from cudnn_ctypes.raw import log
from cudnn_ctypes.raw.hints import Failure, hint


def test_types_of_attributes() -> None:
    tensor, name = cudnn.BackendDescriptor("tensor"), raw.CUDNN_ATTR_TENSOR_DIMENSIONS
    with pytest.raises(cudnn.CudnnError) as caught:
        raw.cudnnBackendSetAttribute(tensor, name, raw.CUDNN_TYPE_INT32, 1, ctypes.c_int32(1))
    wanted = f"{name.name} takes CUDNN_TYPE_INT64, and attributeType says CUDNN_TYPE_INT32"
    assert caught.value.hint == wanted


def test_dimensions_of_convolutions() -> None:
    graph = cudnn.Graph(io_data_type="float32")
    x, w = (graph.tensor((n, 4, 3, 3, 3, 3), name=name) for n, name in ((2, "x"), (8, "w")))
    graph.conv_fprop(x, w).set_output()
    with pytest.raises(cudnn.CudnnError) as caught:
        graph.explain("H200")
    assert caught.value.hint == "a convolution has at most three spatial dimensions"


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
