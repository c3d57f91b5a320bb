"""Hints of errors: those of the reference device speak of this call, never of a GPU's kernels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

import cudnn_ctypes as cudnn
from cudnn_ctypes import raw


class Call:
    """A convolution that works, of which tests change single arguments."""

    def __init__(self, handle: cudnn.Handle) -> None:
        self.arguments: dict[str, Any] = {
            "handle": handle,
            "alpha": 1.0,
            "xDesc": cudnn.TensorDescriptor((1, 3, 8, 8)),
            "x": cudnn.DeviceTensor.zeros((1, 3, 8, 8), "float32"),
            "wDesc": cudnn.FilterDescriptor((4, 3, 3, 3)),
            "w": cudnn.DeviceTensor.zeros((4, 3, 3, 3), "float32"),
            "convDesc": cudnn.ConvolutionDescriptor(1),
            "algo": raw.CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_GEMM,
            "workSpace": None,
            "workSpaceSizeInBytes": 0,
            "beta": 0.0,
            "yDesc": cudnn.TensorDescriptor((1, 4, 8, 8)),
            "y": cudnn.DeviceTensor.zeros((1, 4, 8, 8), "float32"),
        }

    def __call__(self, **changed: Any) -> None:
        raw.cudnnConvolutionForward(*{**self.arguments, **changed}.values())

    def error(self, kind: type[cudnn.CudnnError], **changed: Any) -> cudnn.CudnnError:
        with pytest.raises(kind) as caught:
            self(**changed)
        assert "GPU" not in caught.value.hint
        assert caught.value.source != "cuDNN"
        return caught.value


@pytest.fixture
def call() -> Iterator[Call]:
    with cudnn.use_reference_device(), cudnn.Handle() as handle:
        yield Call(handle)


@pytest.mark.parametrize("name", ["x", "w", "y"])
def test_memory_that_is_null(call: Call, name: str) -> None:
    error = call.error(cudnn.BadParamError, **{name: None})
    assert error.messages == (f"{name} is NULL",)
    assert error.hint.startswith(f"{name} is None: pass device memory")


def test_a_small_buffer_is_not_to_be_passed_as_an_address(call: Call) -> None:
    with pytest.raises(ValueError, match="100 bytes contradicts xDesc") as caught:
        call(x=cudnn.DeviceBuffer(100))
    assert "pass its address" not in str(caught.value)
    with pytest.raises(ValueError, match="pass its address to have the memory read as xDesc says"):
        call(x=cudnn.DeviceTensor.zeros((1, 3, 8, 8), "float32", layout="NHWC"))


def test_an_address_that_is_not_aligned(call: Call) -> None:
    memory = cudnn.DeviceTensor.zeros((1000,), "float32")
    error = call.error(cudnn.ExecutionFailedError, x=memory.ptr + 2)
    assert "which is no multiple of the 4 bytes of an element" in error.messages[0]
    call(x=memory.ptr + 4)


def test_a_table_without_a_usable_row_speaks_for_itself(call: Call) -> None:
    """Its lines are this package's, and its hint names what was asked about."""
    arguments = call.arguments
    w = cudnn.DeviceTensor.zeros((4, 3, 3, 3), "float32", layout="NHWC")
    with pytest.raises(cudnn.NotSupportedError) as caught:
        cudnn.convolution_forward(arguments["handle"], arguments["x"], w, arguments["convDesc"])
    assert caught.value.source == "cudnn_ctypes"
    assert "x float32 NCHW, w float32 NHWC, y float32 NCHW; computed in" in caught.value.hint
    assert "GPU" not in caught.value.hint


# --- what cuDNN itself refuses on a GPU: no hint says what did not happen -------------------------


FITS = "cudnnGetConvolutionForwardWorkspaceSize tells"
FFT = raw.CUDNN_CONVOLUTION_FWD_ALGO_FFT
ON_A_GPU: dict[str, tuple[Any, tuple[str, ...]]] = {
    "a result of another size": (
        lambda: {"yDesc": cudnn.TensorDescriptor((1, 4, 6, 6)), "y": cudnn.DeviceBuffer(1 << 12)},
        ("yDesc",),
    ),
    "channels that do not fit": (
        lambda: {"wDesc": cudnn.FilterDescriptor((4, 5, 3, 3)), "w": cudnn.DeviceBuffer(1 << 12)},
        ("xDesc",),
    ),
    "data types that do not fit": (
        lambda: {
            "xDesc": cudnn.TensorDescriptor((1, 3, 8, 8), "float16"),
            "x": cudnn.DeviceBuffer(1 << 12),
        },
        ("", "wDesc"),
    ),
    "an algorithm without a kernel": (
        lambda: {"algo": raw.CUDNN_CONVOLUTION_FWD_ALGO_DIRECT},
        ("take an algorithm from", "this algorithm may have no kernel"),
    ),
    **{
        f"{name} is NULL": (lambda name=name: {name: None}, ("", f"{name} is None: pass device"))
        for name in "xwy"
    },
    "a workspace that is too small": (
        lambda: {"algo": FFT, "workSpace": cudnn.DeviceBuffer(1), "workSpaceSizeInBytes": 1},
        ("", FITS),
    ),
}


@pytest.mark.gpu
@pytest.mark.parametrize("what", ON_A_GPU)
def test_on_a_gpu(what: str) -> None:
    change, hints = ON_A_GPU[what]
    with cudnn.use_reference_device(False), cudnn.Handle() as handle:
        call = Call(handle)
        call()
        with pytest.raises(cudnn.CudnnError) as caught:
            call(**change())
        handle.synchronize()
    assert caught.value.source in ("cuDNN", "cudnn_ctypes")
    told = caught.value.hint
    assert any(told.startswith(hint) if hint else told == "" for hint in hints), told


@pytest.mark.gpu
def test_a_reduction_without_its_workspace_on_a_gpu() -> None:
    with cudnn.use_reference_device(False), cudnn.Handle() as handle:
        x, y = cudnn.TensorDescriptor((1, 3, 8, 8)), cudnn.TensorDescriptor((1, 3, 1, 1))
        operands = 1.0, x, cudnn.DeviceBuffer(768), 0.0, y, cudnn.DeviceBuffer(64)
        reduction = cudnn.ReduceTensorDescriptor("add")
        with pytest.raises(cudnn.CudnnError) as caught:
            raw.cudnnReduceTensor(handle, reduction, None, 0, None, 0, *operands)
    assert not caught.value.hint or caught.value.hint.startswith("cudnnGetReductionWorkspaceSize")
