"""The text that layer 1 has for its names."""

from __future__ import annotations

import inspect
import pydoc
import re
import textwrap
from pathlib import Path

import pytest
from programs import printed

import cudnn_ctypes
from cudnn_ctypes import raw
from cudnn_ctypes.raw import constants, enums, functions, types
from cudnn_ctypes.raw.ctypes_support import CudnnEnum
from cudnn_ctypes.raw.describe import docstring, documentation, uses

NAMES = [*functions.__all__, *enums.__all__, *types.__all__, *constants.__all__]


def test_every_name_has_a_text_that_names_it():
    for name in NAMES:
        assert name in documentation(name)
    with pytest.raises(KeyError, match="cudnnGone"):
        documentation("cudnnGone")


@pytest.mark.parametrize(
    ("name", "line"),
    [
        (
            "cudnnConvolutionForward",
            "const void *alpha, // in, one number on the host, as yDesc says",
        ),
        ("cudnnConvolutionForward", "void *y); // in/out, device memory, as yDesc says"),
        ("cudnnCreate", "cudnnHandle_t *handle); // out"),
        ("cudnnGetErrorString", "cudnnStatus_t status); // in"),
        ("cudnnCTCLoss", "const int hostLabels[], // in"),
        ("cudnnDataType_t", "13 CUDNN_DATA_FP8_E5M2 since 8.6.0"),
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


def shown(item: object) -> str:
    return pydoc.render_doc(item, renderer=pydoc.plaintext)


def test_help_of_a_function() -> None:
    for function in (raw.cudnnConvolutionForward, raw.cudnnConvolutionForward.unchecked):
        text = shown(function)
        assert textwrap.indent(documentation("cudnnConvolutionForward"), "    ").rstrip() in (
            re.sub(r"^ +$", "", text, flags=re.M)
        )
        assert "used by ConvolutionForward" in text
        assert "example: examples/02_convolution_raw.py" in text
        names = [p.name for p in raw.cudnnConvolutionForward.parameters]
        assert list(inspect.signature(function).parameters) == names


def test_every_function_documents_itself() -> None:
    for name in raw.FUNCTIONS:
        doc = raw.FUNCTIONS[name].__doc__
        assert doc == raw.FUNCTIONS[name].unchecked.__doc__ == docstring(name)
        assert doc.startswith(documentation(name))


def test_base_classes_keep_their_own_words() -> None:
    assert "IntEnum" in (CudnnEnum.__doc__ or "")
    assert "A C function" in (raw.Function.__doc__ or "")


def test_nothing_is_described_before_somebody_asks() -> None:
    program = """
        import sys
        from cudnn_ctypes import raw
        print("cudnn_ctypes.raw.describe" in sys.modules)
        print(len(raw.cudnnCreate.__doc__) > 0, "cudnn_ctypes.raw.describe" in sys.modules)
    """
    assert printed(program) == ["False", "True True"]


def test_what_stands_on_a_function_exists() -> None:
    """The table of uses names public objects and examples."""
    examples = Path(__file__).parents[2] / "examples"
    for objects, example in uses().values():
        assert not example or (examples / example).exists()
        for name in objects.split():
            assert hasattr(cudnn_ctypes, name.partition(".")[0]), name
