"""Hints of what cuDNN itself refuses on a GPU: none says what did not happen."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from cudnn_ctypes import (
    ConvolutionDescriptor,
    CudnnError,
    DeviceBuffer,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    ReduceTensorDescriptor,
    TensorDescriptor,
    raw,
)

pytestmark = pytest.mark.gpu


@pytest.fixture
def arguments() -> Iterator[dict[str, Any]]:
    with Handle() as handle:
        yield {
            "handle": handle,
            "alpha": 1.0,
            "xDesc": TensorDescriptor((1, 3, 8, 8)),
            "x": DeviceTensor.zeros((1, 3, 8, 8), "float32"),
            "wDesc": FilterDescriptor((4, 3, 3, 3)),
            "w": DeviceTensor.zeros((4, 3, 3, 3), "float32"),
            "convDesc": ConvolutionDescriptor(1),
            "algo": raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
            "workSpace": None,
            "workSpaceSizeInBytes": 0,
            "beta": 0.0,
            "yDesc": TensorDescriptor((1, 4, 8, 8)),
            "y": DeviceTensor.zeros((1, 4, 8, 8), "float32"),
        }
        handle.synchronize()


def hint(arguments: dict[str, Any], **changed: Any) -> str:
    with pytest.raises(CudnnError) as caught:
        raw.cudnnConvolutionForward(*{**arguments, **changed}.values())
    assert caught.value.source in ("cuDNN", "cudnn_ctypes")
    print(caught.value)  # what a newcomer would read
    return caught.value.hint


def test_the_call_itself_works(arguments: dict[str, Any]) -> None:
    raw.cudnnConvolutionForward(*arguments.values())


def test_a_result_of_another_size(arguments: dict[str, Any]) -> None:
    y = {"yDesc": TensorDescriptor((1, 4, 6, 6)), "y": DeviceBuffer(1 << 12)}
    assert hint(arguments, **y).startswith("yDesc")


def test_channels_that_do_not_fit(arguments: dict[str, Any]) -> None:
    w = {"wDesc": FilterDescriptor((4, 5, 3, 3)), "w": DeviceBuffer(1 << 12)}
    assert hint(arguments, **w).startswith("xDesc")


def test_data_types_that_do_not_fit(arguments: dict[str, Any]) -> None:
    x = {"xDesc": TensorDescriptor((1, 3, 8, 8), "float16"), "x": DeviceBuffer(1 << 12)}
    told = hint(arguments, **x)
    assert told == "" or told.startswith("wDesc")


def test_an_algorithm_without_a_kernel(arguments: dict[str, Any]) -> None:
    told = hint(arguments, algo=raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT)
    assert "Algorithm_v7 or cudnnFindConvolution" in told


def test_memory_that_is_null(arguments: dict[str, Any]) -> None:
    for name in ("x", "w", "y"):
        told = hint(arguments, **{name: None})
        assert told == "" or told.startswith(f"{name} is None: pass device memory")


def test_a_workspace_that_is_too_small(arguments: dict[str, Any]) -> None:
    """One byte, of an algorithm that needs more."""
    told = hint(
        arguments,
        algo=raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT,
        workSpace=DeviceBuffer(1),
        workSpaceSizeInBytes=1,
    )
    assert "do not fit" not in told
    assert told == "" or "cudnnGetConvolutionForwardWorkspaceSize tells" in told


def test_a_reduction_without_its_workspace(arguments: dict[str, Any]) -> None:
    with ReduceTensorDescriptor("add") as reduce, TensorDescriptor((1, 3, 1, 1)) as y:
        with pytest.raises(CudnnError) as caught:
            raw.cudnnReduceTensor(
                arguments["handle"],
                *(reduce, None, 0, None, 0, 1.0, arguments["xDesc"], arguments["x"]),
                *(0.0, y, DeviceBuffer(64)),
            )
        print(caught.value)
        told = caught.value.hint
        assert told == "" or told.startswith("cudnnGetReductionWorkspaceSize tells")
