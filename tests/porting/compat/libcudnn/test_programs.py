"""Programs in the style of the ctypes wrapper, with the import line changed."""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, Handle, use_reference_device
from cudnn_ctypes.porting.compat import libcudnn
from cudnn_ctypes.reference import (
    activation_backward,
    activation_forward,
    convolution_backward_data,
    convolution_backward_filter,
    convolution_forward,
    pooling_backward,
    pooling_forward,
    softmax_backward,
    softmax_forward,
)

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")

TYPES = {"float32": "CUDNN_DATA_FLOAT", "float64": "CUDNN_DATA_DOUBLE"}


@pytest.fixture(params=["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def context(request: pytest.FixtureRequest) -> Any:
    """A handle as the wrapper gave it, an int."""
    with use_reference_device(request.param == "reference"):
        made = libcudnn.cudnnCreate()
        assert type(made) is int
        yield made
        libcudnn.cudnnDestroy(made)


class Memory:
    """Arrays on the device, as programs with PyCUDA had them."""

    def __init__(self, array: Any) -> None:
        self.tensor = DeviceTensor.from_numpy(np.ascontiguousarray(array))

    @property
    def data(self) -> ctypes.c_void_p:
        return ctypes.c_void_p(int(self.tensor.ptr))

    def get(self) -> Any:
        return self.tensor.numpy()


def tensor_descriptor(shape: Any, dtype: str) -> int:
    descriptor = libcudnn.cudnnCreateTensorDescriptor()
    libcudnn.cudnnSetTensor4dDescriptor(
        descriptor,
        libcudnn.cudnnTensorFormat["CUDNN_TENSOR_NCHW"],
        libcudnn.cudnnDataType[TYPES[dtype]],
        *shape,
    )
    return descriptor


def random(seed: int, *shape: int, dtype: str = "float64") -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


class Convolution:
    """A layer as such programs had it: descriptors, and its output's shape."""

    def __init__(self, x: Any, w: Any) -> None:
        dtype = x.dtype.name
        self.x_desc = tensor_descriptor(x.shape, dtype)
        self.w_desc = libcudnn.cudnnCreateFilterDescriptor()
        data_type = libcudnn.cudnnDataType[TYPES[dtype]]
        libcudnn.cudnnSetFilter4dDescriptor(self.w_desc, data_type, *w.shape)
        self.desc = libcudnn.cudnnCreateConvolutionDescriptor()
        mode = libcudnn.cudnnConvolutionMode["CUDNN_CROSS_CORRELATION"]
        libcudnn.cudnnSetConvolution2dDescriptor(self.desc, 1, 2, 2, 1, 1, 1, mode)
        self.y_shape = libcudnn.cudnnGetConvolution2dForwardOutputDim(
            self.desc, self.x_desc, self.w_desc
        )
        self.y_desc = tensor_descriptor(self.y_shape, dtype)

    def close(self) -> None:
        libcudnn.cudnnDestroyTensorDescriptor(self.x_desc)
        libcudnn.cudnnDestroyTensorDescriptor(self.y_desc)
        libcudnn.cudnnDestroyFilterDescriptor(self.w_desc)
        libcudnn.cudnnDestroyConvolutionDescriptor(self.desc)


GEOMETRY: dict[str, Any] = {"padding": (1, 2), "stride": (2, 1)}


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_a_convolution_with_its_algorithm(context: int, dtype: str) -> None:
    """The example of the wrapper's README, with beta = 1, and with PyCUDA's part replaced."""
    x, w = random(0, 2, 3, 8, 7, dtype=dtype), random(1, 4, 3, 3, 5, dtype=dtype)
    layer = Convolution(x, w)
    before = random(2, *layer.y_shape, dtype=dtype)
    x_memory, w_memory, y_memory = Memory(x), Memory(w), Memory(before)
    preference = libcudnn.cudnnConvolutionFwdPreference["CUDNN_CONVOLUTION_FWD_PREFER_FASTEST"]
    descriptors = layer.x_desc, layer.w_desc, layer.desc, layer.y_desc
    algo = libcudnn.cudnnGetConvolutionForwardAlgorithm(context, *descriptors, preference, 0)
    assert f"{algo.value:d}".isdigit()
    size = libcudnn.cudnnGetConvolutionForwardWorkspaceSize(context, *descriptors, algo)
    workspace = Memory(np.zeros(max(size.value, 1), np.uint8))
    libcudnn.cudnnConvolutionForward(
        context,
        1.0,
        layer.x_desc,
        x_memory.data,
        layer.w_desc,
        w_memory.data,
        layer.desc,
        algo,
        workspace.data,
        size.value,
        1.0,
        layer.y_desc,
        y_memory.data,
    )
    expected = before + convolution_forward(x, w, **GEOMETRY)
    tolerance = 1e-11 if dtype == "float64" else 0.05  # TF32 on the GPU
    np.testing.assert_allclose(y_memory.get(), expected, rtol=0, atol=tolerance)
    layer.close()


@pytest.mark.parametrize("version", [2, 4])
def test_gradients_of_a_convolution(context: int, version: int) -> None:
    """Without an algorithm, as for cuDNN 2, and with the one of a search."""
    x, w = random(0, 2, 3, 8, 7), random(1, 4, 3, 3, 5)
    layer = Convolution(x, w)
    dy = random(2, *layer.y_shape)
    dx, dw = Memory(np.full_like(x, np.nan)), Memory(np.full_like(w, np.nan))
    x_memory, w_memory, dy_memory = Memory(x), Memory(w), Memory(dy)
    of_w = (layer.w_desc, w_memory.data, layer.y_desc, dy_memory.data, layer.desc)
    of_x = (layer.x_desc, x_memory.data, layer.y_desc, dy_memory.data, layer.desc)
    if version == 2:
        libcudnn.cudnnConvolutionBackwardData(context, 1.0, *of_w, 0.0, layer.x_desc, dx.data)
        libcudnn.cudnnConvolutionBackwardFilter(context, 1.0, *of_x, 0.0, layer.w_desc, dw.data)
    else:
        find = libcudnn.cudnnFindConvolutionBackwardDataAlgorithm
        found = find(context, layer.w_desc, layer.y_desc, layer.desc, layer.x_desc, 3)
        assert 1 <= len(found) <= 3
        best = found[0]
        assert best.status == 0
        workspace = Memory(np.zeros(max(best.memory, 1), np.uint8))
        libcudnn.cudnnConvolutionBackwardData(
            context,
            1.0,
            *of_w,
            best.algo,
            workspace.data,
            best.memory,
            0.0,
            layer.x_desc,
            dx.data,
        )
        descriptors = layer.x_desc, layer.y_desc, layer.desc, layer.w_desc
        preferences = libcudnn.cudnnConvolutionBwdFilterPreference
        preference = preferences["CUDNN_CONVOLUTION_BWD_FILTER_NO_WORKSPACE"]
        choose = libcudnn.cudnnGetConvolutionBackwardFilterAlgorithm
        algo = choose(context, *descriptors, preference, 0)
        size = libcudnn.cudnnGetConvolutionBackwardFilterWorkspaceSize
        assert size(context, *descriptors, algo).value == 0
        libcudnn.cudnnConvolutionBackwardFilter(
            context, 1.0, *of_x, algo, None, 0, 0.0, layer.w_desc, dw.data
        )
    dx_expected = convolution_backward_data(dy=dy, w=w, dx_shape=x.shape, **GEOMETRY)
    dw_expected = convolution_backward_filter(x=x, dy=dy, dw_shape=w.shape, **GEOMETRY)
    np.testing.assert_allclose(dx.get(), dx_expected, atol=1e-11)
    np.testing.assert_allclose(dw.get(), dw_expected, atol=1e-11)
    layer.close()


def test_bias(context: int) -> None:
    y, bias = random(0, 2, 3, 4, 5), random(1, 1, 3, 1, 1)
    y_memory, bias_memory = Memory(y), Memory(bias)
    y_desc, bias_desc = (
        tensor_descriptor(y.shape, "float64"),
        tensor_descriptor(bias.shape, "float64"),
    )
    mode = libcudnn.cudnnAddMode["CUDNN_ADD_SAME_C"]
    libcudnn.cudnnAddTensor(
        context, mode, 2.0, bias_desc, bias_memory.data, 1.0, y_desc, y_memory.data
    )
    np.testing.assert_allclose(y_memory.get(), y + 2 * bias, atol=1e-14)
    db = Memory(np.full_like(bias, np.nan))
    libcudnn.cudnnConvolutionBackwardBias(context, 1, y_desc, y_memory.data, 0, bias_desc, db.data)
    expected = (y + 2 * bias).sum(axis=(0, 2, 3), keepdims=True)
    np.testing.assert_allclose(db.get(), expected, atol=1e-12)


def test_activation_pooling_and_softmax(context: int) -> None:
    x, dy = random(0, 2, 3, 6, 6), random(1, 2, 3, 6, 6)
    desc = tensor_descriptor(x.shape, "float64")
    x_memory, dy_memory = Memory(x), Memory(dy)
    y, dx = Memory(np.full_like(x, np.nan)), Memory(np.full_like(x, np.nan))
    tanh = libcudnn.cudnnActivationMode["CUDNN_ACTIVATION_TANH"]
    libcudnn.cudnnActivationForward(context, tanh, 1.0, desc, x_memory.data, 0.0, desc, y.data)
    np.testing.assert_allclose(y.get(), activation_forward(x, "tanh"), atol=1e-14)
    backward = (desc, y.data, desc, dy_memory.data)
    libcudnn.cudnnActivationBackward(
        context, tanh, 1.0, *backward, desc, x_memory.data, 0.0, desc, dx.data
    )
    expected = activation_backward("tanh", y=np.tanh(x), dy=dy, x=x)
    np.testing.assert_allclose(dx.get(), expected, atol=1e-13)

    how = (
        libcudnn.cudnnSoftmaxAlgorithm["CUDNN_SOFTMAX_ACCURATE"],
        libcudnn.cudnnSoftmaxMode["CUDNN_SOFTMAX_MODE_CHANNEL"],
    )
    libcudnn.cudnnSoftmaxForward(context, *how, 1.0, desc, x_memory.data, 0.0, desc, y.data)
    soft = softmax_forward(x)
    np.testing.assert_allclose(y.get(), soft, atol=1e-14)
    libcudnn.cudnnSoftmaxBackward(
        context, *how, 1.0, desc, y.data, desc, dy_memory.data, 0.0, desc, dx.data
    )
    np.testing.assert_allclose(dx.get(), softmax_backward(y=soft, dy=dy), atol=1e-13)


@pytest.mark.parametrize(
    ("name", "mode"),
    [("CUDNN_POOLING_MAX", "max"), ("CUDNN_POOLING_AVERAGE", "average_count_include_padding")],
)
def test_pooling(context: int, name: str, mode: str) -> None:
    x = random(0, 2, 3, 6, 6)
    geometry: Any = {"window": (3, 2), "padding": (1, 0), "stride": (2, 2)}
    expected = pooling_forward(x, mode=mode, **geometry)
    dy = random(1, *expected.shape)
    pooling = libcudnn.cudnnCreatePoolingDescriptor()
    number = libcudnn.cudnnPoolingMode[name]
    libcudnn.cudnnSetPooling2dDescriptor(pooling, number, 3, 2, 1, 0, 2, 2)
    assert libcudnn.cudnnGetPooling2dDescriptor(pooling) == (number, 3, 2, 2, 2)
    x_desc = tensor_descriptor(x.shape, "float64")
    y_desc = tensor_descriptor(expected.shape, "float64")
    x_memory, dy_memory = Memory(x), Memory(dy)
    y, dx = Memory(np.full_like(expected, np.nan)), Memory(np.full_like(x, np.nan))
    libcudnn.cudnnPoolingForward(context, pooling, 1.0, x_desc, x_memory.data, 0.0, y_desc, y.data)
    np.testing.assert_allclose(y.get(), expected, atol=1e-14)
    libcudnn.cudnnPoolingBackward(
        context,
        pooling,
        1.0,
        *(y_desc, y.data, y_desc, dy_memory.data, x_desc, x_memory.data),
        *(0.0, x_desc, dx.data),
    )
    gradient = pooling_backward(mode=mode, x=x, dy=dy, **geometry)
    np.testing.assert_allclose(dx.get(), gradient, atol=1e-13)


def test_tensors_that_are_set_scaled_and_transformed(context: int) -> None:
    x = random(0, 2, 3, 4, 5)
    desc, memory = tensor_descriptor(x.shape, "float64"), Memory(x)
    libcudnn.cudnnScaleTensor(context, desc, memory.data, 3.0)
    np.testing.assert_allclose(memory.get(), 3 * x, atol=1e-15)
    other, last = libcudnn.cudnnCreateTensorDescriptor(), Memory(np.zeros((2, 4, 5, 3)))
    double = libcudnn.cudnnDataType["CUDNN_DATA_DOUBLE"]
    libcudnn.cudnnSetTensor4dDescriptorEx(other, double, 2, 3, 4, 5, 60, 1, 15, 3)
    got = libcudnn.cudnnGetTensor4dDescriptor(other)
    assert got == (double, 2, 3, 4, 5, 60, 1, 15, 3)
    assert all(type(each) is int for each in got)
    libcudnn.cudnnTransformTensor(context, 1.0, desc, memory.data, 0.0, other, last.data)
    np.testing.assert_allclose(last.get(), 3 * x.transpose(0, 2, 3, 1), atol=1e-15)
    libcudnn.cudnnSetTensor(context, desc, memory.data, 0.5)
    assert (memory.get() == 0.5).all()


def test_descriptors_read_back(reference_handle: Handle) -> None:
    w = libcudnn.cudnnCreateFilterDescriptor()
    libcudnn.cudnnSetFilter4dDescriptor(w, 0, 4, 3, 2, 1)
    assert libcudnn.cudnnGetFilter4dDescriptor(w) == (0, 4, 3, 2, 1)
    convolution = libcudnn.cudnnCreateConvolutionDescriptor()
    libcudnn.cudnnSetConvolutionNdDescriptor(convolution, [1, 2], [3, 4], [1, 1], 1, 1)
    assert libcudnn.cudnnGetConvolution2dDescriptor(convolution) == (1, 2, 3, 4, 1, 1, 1)


def test_streams(context: int) -> None:
    assert libcudnn.cudnnGetStream(context) == 0
    assert libcudnn.cudnnSetStream(context, 0) is None
    assert libcudnn.cudnnGetVersion() >= 90000
