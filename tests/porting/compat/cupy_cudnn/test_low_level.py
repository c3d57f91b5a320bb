"""Low-level functions: programs in which everything is a number."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceTensor, raw, use_reference_device
from cudnn_ctypes.porting.compat import cupy_cudnn as libcudnn
from cudnn_ctypes.porting.compat.cupy_cudnn.low_level import FUNCTIONS
from cudnn_ctypes.reference import convolution_forward

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")


@pytest.fixture(params=["reference", pytest.param("gpu", marks=pytest.mark.gpu)])
def handle(request: pytest.FixtureRequest) -> Iterator[int]:
    with use_reference_device(request.param == "reference"):
        made = libcudnn.create()
        yield made
        libcudnn.destroy(made)


@pytest.fixture
def tensors() -> Iterator[Any]:
    """Makes descriptors of tensors from arrays."""
    made: list[int] = []

    def make(array: Any) -> int:
        made.append(libcudnn.createTensorDescriptor())
        shape = np.array(array.shape, np.int32)
        strides = np.array([each // array.itemsize for each in array.strides], np.int32)
        addresses = shape.ctypes.data, strides.ctypes.data
        double = libcudnn.CUDNN_DATA_DOUBLE
        libcudnn.setTensorNdDescriptor(made[-1], double, array.ndim, *addresses)
        return made[-1]

    yield make
    for each in made:
        libcudnn.destroyTensorDescriptor(each)


ONE, ZERO = np.array(1.0), np.array(0.0)


def test_a_convolution_with_the_algorithm_for_a_limit(handle: int, tensors: Any) -> None:
    rng = np.random.default_rng(0)
    x, w = rng.standard_normal((2, 3, 6, 7)), rng.standard_normal((4, 3, 3, 3))
    expected = convolution_forward(x, w, padding=(1, 1))
    x_desc, y_desc = tensors(x), tensors(expected)
    w_desc, conv_desc = libcudnn.createFilterDescriptor(), libcudnn.createConvolutionDescriptor()
    nchw, double = libcudnn.CUDNN_TENSOR_NCHW, libcudnn.CUDNN_DATA_DOUBLE
    libcudnn.setFilter4dDescriptor_v4(w_desc, double, nchw, *w.shape)
    assert libcudnn.getFilterNdDescriptor(w_desc, 4) == (double, nchw, 4, w.shape)
    cross = libcudnn.CUDNN_CROSS_CORRELATION
    libcudnn.setConvolution2dDescriptor_v5(conv_desc, 1, 1, 1, 1, 1, 1, cross, double)
    libcudnn.setConvolutionMathType(conv_desc, libcudnn.CUDNN_DEFAULT_MATH)
    assert libcudnn.getConvolutionGroupCount(conv_desc) == 1
    descriptors = x_desc, w_desc, conv_desc, y_desc
    limit = libcudnn.CUDNN_CONVOLUTION_FWD_SPECIFY_WORKSPACE_LIMIT
    algo = libcudnn.getConvolutionForwardAlgorithm_v6(handle, *descriptors, limit, 1 << 20)
    size = libcudnn.getConvolutionForwardWorkspaceSize(handle, *descriptors, algo)
    assert size <= 1 << 20
    found = libcudnn.getConvolutionForwardAlgorithm_v7(handle, *descriptors, 5)
    assert isinstance(found[0], libcudnn.CuDNNAlgoPerf)
    assert algo in [each.algo for each in found if each.status == 0]
    device_x, device_w = DeviceTensor.from_numpy(x), DeviceTensor.from_numpy(w)
    y = DeviceTensor.full(expected.shape, float("nan"), "float64")
    workspace = DeviceTensor.empty((max(size, 1),), "uint8")
    libcudnn.convolutionForward(
        *(handle, ONE.ctypes.data, x_desc, device_x.ptr, w_desc, device_w.ptr, conv_desc, algo),
        *(workspace.ptr, size, ZERO.ctypes.data, y_desc, y.ptr),
    )
    np.testing.assert_allclose(y.numpy(), expected, atol=1e-12)
    (best,) = libcudnn.findConvolutionForwardAlgorithmEx_v7(
        *(handle, x_desc, device_x.ptr, w_desc, device_w.ptr, conv_desc, y_desc, y.ptr, 1),
        *(workspace.ptr, size),
    )
    assert best.status == 0
    libcudnn.destroyFilterDescriptor(w_desc)
    libcudnn.destroyConvolutionDescriptor(conv_desc)


def test_operations_on_tensors(handle: int, tensors: Any) -> None:
    a, b = np.random.default_rng(1).standard_normal((2, 2, 3, 4, 5))
    desc = tensors(a)
    multiply = libcudnn.createOpTensorDescriptor()
    numbers = (
        libcudnn.CUDNN_OP_TENSOR_MUL,
        libcudnn.CUDNN_DATA_DOUBLE,
        libcudnn.CUDNN_NOT_PROPAGATE_NAN,
    )
    libcudnn.setOpTensorDescriptor(multiply, *numbers)
    assert libcudnn.getOpTensorDescriptor(multiply) == numbers
    device_a, device_b = DeviceTensor.from_numpy(a), DeviceTensor.from_numpy(b)
    c = DeviceTensor.full(a.shape, float("nan"), "float64")
    libcudnn.opTensor(
        *(handle, multiply, ONE.ctypes.data, desc, device_a.ptr),
        *(ONE.ctypes.data, desc, device_b.ptr, ZERO.ctypes.data, desc, c.ptr),
    )
    np.testing.assert_allclose(c.numpy(), a * b, atol=1e-15)
    three = np.array(3.0)
    libcudnn.scaleTensor(handle, desc, c.ptr, three.ctypes.data)
    np.testing.assert_allclose(c.numpy(), 3 * a * b, atol=1e-14)
    libcudnn.addTensor_v3(
        handle, three.ctypes.data, desc, device_a.ptr, ONE.ctypes.data, desc, c.ptr
    )
    np.testing.assert_allclose(c.numpy(), 3 * a * b + 3 * a, atol=1e-14)
    libcudnn.destroyOpTensorDescriptor(multiply)


def test_a_reduction(handle: int, tensors: Any) -> None:
    a = np.random.default_rng(2).standard_normal((2, 3, 4, 5))
    a_desc, c_desc = tensors(a), tensors(np.zeros((1, 3, 1, 1)))
    reduce = libcudnn.createReduceTensorDescriptor()
    numbers = (
        *(libcudnn.CUDNN_REDUCE_TENSOR_ADD, libcudnn.CUDNN_DATA_DOUBLE),
        *(libcudnn.CUDNN_NOT_PROPAGATE_NAN, libcudnn.CUDNN_REDUCE_TENSOR_NO_INDICES),
        libcudnn.CUDNN_32BIT_INDICES,
    )
    libcudnn.setReduceTensorDescriptor(reduce, *numbers)
    assert libcudnn.getReduceTensorDescriptor(reduce) == numbers
    size = libcudnn.getReductionWorkspaceSize(handle, reduce, a_desc, c_desc)
    workspace = DeviceTensor.empty((max(size, 1),), "uint8")
    device_a, c = DeviceTensor.from_numpy(a), DeviceTensor.zeros((1, 3, 1, 1), "float64")
    libcudnn.reduceTensor(
        *(handle, reduce, 0, 0, workspace.ptr, size, ONE.ctypes.data, a_desc, device_a.ptr),
        *(ZERO.ctypes.data, c_desc, c.ptr),
    )
    np.testing.assert_allclose(c.numpy().ravel(), a.sum(axis=(0, 2, 3)), atol=1e-12)
    libcudnn.destroyReduceTensorDescriptor(reduce)


def test_sequences_are_read_back_through_addresses() -> None:
    desc, lengths = libcudnn.createRNNDataDescriptor(), np.array([3, 1], np.int32)
    layout = libcudnn.CUDNN_RNN_DATA_LAYOUT_SEQ_MAJOR_UNPACKED
    libcudnn.setRNNDataDescriptor(desc, 0, layout, 3, 2, 4, lengths.ctypes.data, 0)
    read = [ctypes.c_int(-1) for _ in range(5)]
    got, fill = np.full(2, -1, np.int32), ctypes.c_float(7)
    addresses = [ctypes.addressof(each) for each in read]
    libcudnn.getRNNDataDescriptor(desc, *addresses, 2, got.ctypes.data, ctypes.addressof(fill))
    assert [each.value for each in read] == [0, layout, 3, 2, 4]
    assert list(got) == [3, 1]
    libcudnn.destroyRNNDataDescriptor(desc)


def test_fused_operations_keep_numbers_and_descriptors() -> None:
    ops = libcudnn.CUDNN_FUSED_SCALE_BIAS_ACTIVATION_CONV_BNSTATS
    convolution = libcudnn.create_convolution_descriptor((1, 1), (1, 1), np.dtype("float32"))
    label = libcudnn.CUDNN_PARAM_XDATA_PLACEHOLDER
    aligned = libcudnn.CUDNN_PTR_16B_ALIGNED
    pack = libcudnn.create_fused_ops_const_param_pack(
        ops, [(libcudnn.CUDNN_PARAM_CONV_DESC, convolution), (label, aligned)]
    )
    assert libcudnn.get_fused_ops_const_param_pack_attribute(pack, label) == (aligned, 0)
    variant = libcudnn.create_fused_ops_variant_param_pack(ops, [])
    size = libcudnn.CUDNN_SCALAR_SIZE_T_WORKSPACE_SIZE_IN_BYTES
    libcudnn.set_fused_ops_variant_param_pack_attribute(variant, size, 4096)
    get = libcudnn.get_fused_ops_variant_param_pack_attribute
    assert get(variant.value, size) == 4096
    assert libcudnn.create_fused_ops_plan(ops).value


def test_errors_at_run_time(handle: int) -> None:
    assert libcudnn.queryRuntimeError(handle, libcudnn.CUDNN_ERRQUERY_RAWCODE) == 0
    assert libcudnn.getStream(handle) == 0
    assert libcudnn.getVersion() == raw.cudnnGetVersion()
    assert libcudnn.get_build_version() == raw.CUDNN_VERSION


def test_every_function_tells_its_c_call() -> None:
    for name, function in FUNCTIONS.items():
        assert function.modern, name
        assert repr(function) == f"<function cupy_cudnn.{name}: {function.calls}>"
