"""Algorithms of convolutions by preference and limit of memory."""

from __future__ import annotations

from ctypes import byref, c_int, c_size_t
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    ConvolutionDescriptor,
    DeviceTensor,
    FilterDescriptor,
    Handle,
    NotSupportedError,
    TensorDescriptor,
    raw,
)
from cudnn_ctypes.porting.compat import v7 as cudnn
from cudnn_ctypes.raw.descriptors import record
from cudnn_ctypes.reference import convolution_forward

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")

TYPES = {"float32": "CUDNN_DATA_FLOAT", "float64": "CUDNN_DATA_DOUBLE"}
DIRECTIONS = {
    "Forward": ("Fwd", "FWD"),
    "BackwardData": ("BwdData", "BWD_DATA"),
    "BackwardFilter": ("BwdFilter", "BWD_FILTER"),
}


class Convolution:
    """Descriptors of a convolution, in the order of each direction's functions."""

    def __init__(self, dtype: str = "float32") -> None:
        self.x = TensorDescriptor((2, 8, 14, 14), dtype)
        self.w = FilterDescriptor((16, 8, 3, 3), dtype)
        self.convolution = ConvolutionDescriptor(padding=1, compute_data_type=dtype)
        self.y = TensorDescriptor((2, 16, 14, 14), dtype)

    def operands(self, direction: str) -> tuple[Any, ...]:
        x, w, convolution, y = self.x, self.w, self.convolution, self.y
        return {
            "Forward": (x, w, convolution, y),
            "BackwardData": (w, y, convolution, x),
            "BackwardFilter": (x, y, convolution, w),
        }[direction]

    def choose(self, handle: Handle, direction: str, preference: str, limit: int = 0) -> Any:
        """The old call."""
        short, enumerators = DIRECTIONS[direction]
        algo = getattr(raw, f"cudnnConvolution{short}Algo_t")()
        chosen = getattr(cudnn, f"CUDNN_CONVOLUTION_{enumerators}_{preference}")
        get = getattr(cudnn, f"cudnnGetConvolution{direction}Algorithm")
        get(handle, *self.operands(direction), chosen, limit, byref(algo))
        return algo.value

    def sizes(self, handle: Handle, direction: str) -> list[tuple[Any, int]]:
        """Every algorithm that can be used, the one expected to be fastest first."""
        short, _ = DIRECTIONS[direction]
        perf = (getattr(raw, f"cudnnConvolution{short}AlgoPerf_t") * 16)()
        count, found = c_int(), []
        find = getattr(raw, f"cudnnGetConvolution{direction}Algorithm_v7")
        find(handle, *self.operands(direction), 16, count, perf)
        for each in perf[: count.value]:
            size = c_size_t()
            get = getattr(raw, f"cudnnGetConvolution{direction}WorkspaceSize")
            status = get.unchecked(handle, *self.operands(direction), each.algo, size)
            if not each.status and not status:
                found.append((each.algo, size.value))
        return found


@pytest.mark.parametrize("dims", ["2d", "Nd"])
def test_a_program_that_gives_no_type_to_compute_in(handle: Handle, dims: str) -> None:
    """As for cuDNN 4: the tensors' type is it, also when the descriptor is used for another."""
    convolution = cudnn.cudnnConvolutionDescriptor_t()
    cudnn.cudnnCreateConvolutionDescriptor(convolution)
    mode = cudnn.CUDNN_CROSS_CORRELATION
    if dims == "2d":
        cudnn.cudnnSetConvolution2dDescriptor_v4(convolution, 1, 1, 1, 1, 1, 1, mode)
    else:
        cudnn.cudnnSetConvolutionNdDescriptor(convolution, 2, [1, 1], [1, 1], [1, 1], mode)
    for dtype, bound in (("float64", 1e-12), ("float32", 0.05), ("float64", 1e-12)):
        rng = np.random.default_rng(1)
        x = rng.standard_normal((2, 3, 6, 7)).astype(dtype)
        w = rng.standard_normal((4, 3, 3, 3)).astype(dtype)
        expected = convolution_forward(x, w, padding=(1, 1))
        x_desc, y_desc = TensorDescriptor(x.shape, dtype), TensorDescriptor(expected.shape, dtype)
        w_desc, algo = FilterDescriptor(w.shape, dtype), raw.cudnnConvolutionFwdAlgo_t()
        descriptors = x_desc, w_desc, convolution, y_desc
        preference = cudnn.CUDNN_CONVOLUTION_FWD_NO_WORKSPACE
        cudnn.cudnnGetConvolutionForwardAlgorithm(handle, *descriptors, preference, 0, algo)
        assert record(convolution).compute_data_type.name == TYPES[dtype]
        y = DeviceTensor.full(expected.shape, float("nan"), dtype)
        operands = x_desc, DeviceTensor.from_numpy(x), w_desc, DeviceTensor.from_numpy(w)
        result = 0.0, y_desc, y
        status = cudnn.cudnnConvolutionForward.unchecked(
            handle, 1.0, *operands, convolution, algo.value, None, 0, *result
        )
        assert status == cudnn.CUDNN_STATUS_SUCCESS
        np.testing.assert_allclose(y.numpy(), expected, rtol=0, atol=bound)
    # What is set with a type keeps it.
    float32 = cudnn.CUDNN_DATA_FLOAT
    cudnn.cudnnSetConvolution2dDescriptor(convolution, 1, 1, 1, 1, 1, 1, mode, float32)
    size = c_size_t()
    ask = cudnn.cudnnGetConvolutionForwardWorkspaceSize.unchecked
    ask(handle, *descriptors, algo=algo.value, sizeInBytes=size)
    assert record(convolution).compute_data_type == float32
    cudnn.cudnnDestroyConvolutionDescriptor(convolution)


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_preferences(handle: Handle, direction: str) -> None:
    convolution = Convolution()
    sizes = convolution.sizes(handle, direction)
    assert convolution.choose(handle, direction, "PREFER_FASTEST") == sizes[0][0]
    without = [algorithm for algorithm, size in sizes if size == 0]
    assert convolution.choose(handle, direction, "NO_WORKSPACE") == without[0]
    assert len({size for _, size in sizes}) > 1
    for limit in sorted({size for _, size in sizes}):
        for bytes_given in {limit, max(limit - 1, 0)}:
            within = [algorithm for algorithm, size in sizes if size <= bytes_given]
            got = convolution.choose(handle, direction, "SPECIFY_WORKSPACE_LIMIT", bytes_given)
            assert got == within[0]


def test_a_limit_counts_for_its_preference_only(reference_handle: Handle) -> None:
    convolution = Convolution()
    fastest = convolution.sizes(reference_handle, "Forward")[0]
    assert fastest[1] > 1
    assert convolution.choose(reference_handle, "Forward", "PREFER_FASTEST", 1) == fastest[0]


def test_no_algorithm(reference_handle: Handle) -> None:
    convolution = Convolution()
    convolution.y = TensorDescriptor((2, 16, 14, 14), "float64")
    with pytest.raises(NotSupportedError, match="no algorithm supports this convolution"):
        convolution.choose(reference_handle, "Forward", "PREFER_FASTEST")


def test_null_and_status(reference_handle: Handle) -> None:
    operands = Convolution().operands("Forward")
    preference = cudnn.CUDNN_CONVOLUTION_FWD_PREFER_FASTEST
    choose = cudnn.cudnnGetConvolutionForwardAlgorithm
    with pytest.raises(BadParamError, match="algo is NULL"):
        choose(reference_handle, *operands, preference, 0, None)
    status = choose.unchecked(reference_handle, *operands, preference, 0, None)
    assert status == raw.CUDNN_STATUS_BAD_PARAM
    other = cudnn.CUDNN_CONVOLUTION_BWD_DATA_NO_WORKSPACE
    with pytest.raises(TypeError, match=r"'preference' .* a cudnnConvolutionFwdPreference_t"):
        choose(reference_handle, *operands, other, 0, raw.cudnnConvolutionFwdAlgo_t())


def test_a_program_of_cudnn_5(handle: Handle) -> None:
    """Choose within a limit, ask for the workspace, run: y, and against NumPy."""
    convolution, limit = Convolution("float64"), 1 << 20
    algo = convolution.choose(handle, "Forward", "SPECIFY_WORKSPACE_LIMIT", limit)
    operands, size = convolution.operands("Forward"), c_size_t()
    cudnn.cudnnGetConvolutionForwardWorkspaceSize(handle, *operands, algo, size)
    assert size.value <= limit
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 8, 14, 14)), rng.standard_normal((16, 8, 3, 3))
    y = DeviceTensor.full((2, 16, 14, 14), float("nan"), "float64")
    workspace = DeviceTensor.empty((max(size.value, 1),), "uint8")
    device_x, device_w = DeviceTensor.from_numpy(x), DeviceTensor.from_numpy(w)
    cudnn.cudnnConvolutionForward(
        handle,
        1.0,
        *(convolution.x, device_x, convolution.w, device_w, convolution.convolution),
        *(algo, workspace, size.value, 0.0, convolution.y, y),
    )
    np.testing.assert_allclose(y.numpy(), convolution_forward(x, w, padding=(1, 1)), atol=1e-11)
