"""The text that layer 1 has for its names."""

from __future__ import annotations

import pytest

from cudnn_ctypes import raw
from cudnn_ctypes.raw import constants, enums, functions, types
from cudnn_ctypes.raw.describe import documentation

NAMES = [*functions.__all__, *enums.__all__, *types.__all__, *constants.__all__]


def test_every_name_has_a_text_that_names_it():
    for name in NAMES:
        assert name in documentation(name)
    with pytest.raises(KeyError, match="cudnnGone"):
        documentation("cudnnGone")


def test_a_function_is_its_prototype_its_origin_and_its_parameters():
    assert (
        documentation("cudnnSetTensorNdDescriptor")
        == """\
cudnnStatus_t cudnnSetTensorNdDescriptor(
    cudnnTensorDescriptor_t tensorDesc,
    cudnnDataType_t dataType,
    int nbDims,
    const int dimA[],
    const int strideA[]);

cudnn_ops.h, since 9.0.0

in/out  tensorDesc  cudnnTensorDescriptor_t
in      dataType    cudnnDataType_t
in      nbDims      int
in      dimA        array of nbDims int
in      strideA     array of nbDims int"""
    )


@pytest.mark.parametrize("name", ["cudnnGetVersion", "cudnnConvolutionForward", "cudnnSetCallback"])
def test_the_prototype_is_that_of_the_binding(name):
    text = documentation(name).partition(";")[0]
    assert " ".join(text.split()).replace("( ", "(") == raw.FUNCTIONS[name].prototype


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("cudnnConvolutionForward", "in alpha one number on the host, as yDesc says"),
        ("cudnnConvolutionForward", "in/out y device memory, as yDesc says"),
        ("cudnnCreate", "out handle pointer to cudnnHandle_t"),
        ("cudnnGetErrorString", "const char *cudnnGetErrorString(cudnnStatus_t status);"),
        ("cudnnCTCLoss", "in hostLabels array of int"),
        ("cudnnDataType_t", "13 CUDNN_DATA_FP8_E5M2"),
        ("cudnnPointwiseMode_t", "23 CUDNN_POINTWISE_ATAN2 since 9.1.0"),
        ("CUDNN_POINTWISE_ATAN2", "cudnn_graph.h, since 9.1.0"),
        ("CUDNN_DATA_HALF", "cudnnDataType_t.CUDNN_DATA_HALF = 2"),
        (
            "CUDNN_STATUS_ARCH_MISMATCH",
            "cudnnStatus_t.CUDNN_STATUS_ARCH_MISMATCH = 3007, another name of "
            "CUDNN_STATUS_NOT_SUPPORTED_ARCH_MISMATCH",
        ),
        ("cudnnFraction_t", "int64_t numerator;"),
        ("cudnnDebug_t", "int reserved[15];"),
        ("cudnnTensorDescriptor_t", "typedef struct cudnnTensorStruct *cudnnTensorDescriptor_t;"),
        ("cudnnBackendDescriptor_t", "typedef void *cudnnBackendDescriptor_t;"),
        ("CUDNN_DIM_MAX", "#define CUDNN_DIM_MAX 8"),
        ("CUDNN_STATUS_CATEGORY", "CUDNN_STATUS_CATEGORY(full_error_code), a macro"),
        ("cudaStream_t", "of CUDA"),
    ],
)
def test_lines(name, line):
    assert line in [" ".join(each.split()) for each in documentation(name).splitlines()]
