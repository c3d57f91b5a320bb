"""Forms of functions that releases 2 to 6 had: each does what its call in cuDNN 9 does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from ctypes import byref
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    BadParamError,
    ConvolutionDescriptor,
    DeviceTensor,
    FilterDescriptor,
    TensorDescriptor,
)
from cudnn_ctypes import reference as ref
from cudnn_ctypes.porting.compat import v7 as cudnn
from cudnn_ctypes.porting.compat.v7 import renamed
from cudnn_ctypes.raw.descriptors import Convolution, Filter, Pooling, record
from cudnn_ctypes.raw.gone import alternatives, find

pytestmark = pytest.mark.filterwarnings("ignore::cudnn_ctypes.compat.OldNameWarning")

FLOAT, NAN = cudnn.CUDNN_DATA_FLOAT, cudnn.CUDNN_PROPAGATE_NAN
NO_NAN, NHWC = cudnn.CUDNN_NOT_PROPAGATE_NAN, cudnn.CUDNN_TENSOR_NHWC
CROSS = cudnn.CUDNN_CROSS_CORRELATION


def test_each_row_tells_what_the_table_of_gone_names_tells():
    """The call of a row is the last one that the message names."""
    patterns = [word for word in renamed._ROWS.split() if "cudnn" in word]
    names = [name for pattern in patterns for name, _ in alternatives(pattern)]
    told = [(name, gone) for name in names if (gone := find(name))]
    assert len(told) > 20
    for name, gone in told:
        assert gone.now[-1].startswith(f"{renamed.modern_name(name)}(")


# -- descriptors: set by an old form, read by an old form ------------------------------------------


@contextmanager
def made(kind: str) -> Iterator[Any]:
    """A descriptor of layer 1."""
    descriptor = getattr(cudnn, f"cudnn{kind}Descriptor_t")()
    getattr(cudnn, f"cudnnCreate{kind}Descriptor")(descriptor)
    yield descriptor
    getattr(cudnn, f"cudnnDestroy{kind}Descriptor")(descriptor)


DOUBLE, MAX = cudnn.CUDNN_DATA_DOUBLE, cudnn.CUDNN_POOLING_MAX
FLAT, CUBE = (1, 2, 3, 4, 1, 2, CROSS), (3, [1, 2, 3], [1, 1, 2], [1, 1, 1], CROSS)
WINDOW, CUBES = (2, 3, 0, 1, 4, 5), (3, [2, 3, 4], [0, 1, 1], [1, 2, 3])
PLAIN = {"format": cudnn.CUDNN_TENSOR_NCHW}
OF_CUBE = {"padding": (1, 2, 3), "stride": (1, 1, 2), "compute_data_type": FLOAT}
OF_CUBES = {"window": (2, 3, 4), "stride": (1, 2, 3), "nan_propagation": NO_NAN}

ND: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "ConvolutionNdDescriptor": (CUBE, OF_CUBE),
    "ConvolutionNdDescriptor_v2": (CUBE, OF_CUBE),
    "ConvolutionNdDescriptor_v3": ((*CUBE, DOUBLE), {**OF_CUBE, "compute_data_type": DOUBLE}),
    "FilterNdDescriptor": ((FLOAT, 5, [5, 4, 3, 2, 1]), {"shape": (5, 4, 3, 2, 1), **PLAIN}),
    "FilterNdDescriptor_v3": ((FLOAT, 5, [5, 4, 3, 2, 1]), {"shape": (5, 4, 3, 2, 1)}),
    "FilterNdDescriptor_v4": (
        (FLOAT, NHWC, 4, [5, 4, 3, 2]),
        {"shape": (5, 4, 3, 2), "format": NHWC},
    ),
    "PoolingNdDescriptor": ((MAX, *CUBES), OF_CUBES),
    "PoolingNdDescriptor_v3": ((MAX, *CUBES), OF_CUBES),
    "PoolingNdDescriptor_v4": ((MAX, NAN, *CUBES), {**OF_CUBES, "nan_propagation": NAN}),
}
RECORDS = {"Convolution": Convolution, "Filter": Filter, "Pooling": Pooling}


def kind_of_name(name: str) -> str:
    return next(kind for kind in RECORDS if name.startswith(kind))


@pytest.mark.parametrize("name", ND)
def test_settings_of_descriptors_of_any_dimensions(name):
    values, held = ND[name]
    set_, get = (getattr(cudnn, f"cudnn{verb}{name}") for verb in ("Set", "Get"))
    with made(kind_of_name(name)) as descriptor:
        set_(descriptor, *values)
        got = record(descriptor)
        assert isinstance(got, RECORDS[kind_of_name(name)])
        assert {field: getattr(got, field) for field in held} == held
        (dims,) = {len(each) for each in values if isinstance(each, list)}
        given = []
        for parameter in get.declared[-1].parameters[1:]:
            base, kind_of = parameter.type.base, parameter.type.kind
            given.append({"value": dims, "array": base * dims}.get(kind_of, base))
            given[-1] = given[-1] if kind_of == "value" else given[-1]()
        get(descriptor, *given)
    # The number of dimensions, which is asked for, stands before the others.
    read = [
        list(each) if hasattr(each, "_length_") else each.value for each in given if each != dims
    ]
    assert sorted(map(repr, read)) == sorted(map(repr, values))


# -- computations ----------------------------------------------------------------------------------


def device(array: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ascontiguousarray(array))


def random(seed: int, *shape: int) -> Any:
    return np.random.default_rng(seed).standard_normal(shape)


def nan(*shape: int) -> DeviceTensor:
    return DeviceTensor.full(shape, float("nan"), "float64")


@pytest.mark.parametrize("version", ["", "_v3", "_v4"])
def test_activation(handle, version):
    x, dy = random(0, 2, 3, 4, 5), random(1, 2, 3, 4, 5)
    desc, y, dx = TensorDescriptor(x.shape, "float64"), nan(*x.shape), nan(*x.shape)
    device_x, device_dy = device(x), device(dy)
    how = cudnn.CUDNN_ACTIVATION_SIGMOID
    if version == "_v4":
        how = cudnn.cudnnActivationDescriptor_t()
        cudnn.cudnnCreateActivationDescriptor(how)
        cudnn.cudnnSetActivationDescriptor(how, cudnn.CUDNN_ACTIVATION_SIGMOID, NO_NAN, 0.0)
    forward = getattr(cudnn, f"cudnnActivationForward{version}")
    backward = getattr(cudnn, f"cudnnActivationBackward{version}")
    forward(handle, how, 1.0, desc, device_x, 0.0, desc, y)
    backward(handle, how, 1.0, desc, y, desc, device_dy, desc, device_x, 0.0, desc, dx)
    expected = ref.activation_forward(x, "sigmoid")
    np.testing.assert_allclose(y.numpy(), expected, atol=1e-14)
    gradient = ref.activation_backward("sigmoid", y=expected, dy=dy, x=x)
    np.testing.assert_allclose(dx.numpy(), gradient, atol=1e-14)


@pytest.mark.parametrize("version", ["", "_v2", "_v3"])
def test_add_tensor(handle, version):
    bias, y = random(0, 1, 3, 1, 1), random(1, 2, 3, 4, 5)
    mode = () if version == "_v3" else (cudnn.CUDNN_ADD_SAME_C,)
    target = device(y)
    getattr(cudnn, f"cudnnAddTensor{version}")(
        *(handle, *mode, 2.0, TensorDescriptor(bias.shape, "float64"), device(bias)),
        *(0.5, TensorDescriptor(y.shape, "float64"), target),
    )
    np.testing.assert_allclose(target.numpy(), 2 * bias + y / 2, atol=1e-14)


@pytest.mark.parametrize("version", ["", "_v2", "_v3"])
def test_gradients_of_a_convolution(handle, version):
    """Without algorithm and workspace, or with those that are given."""
    x, w, dy = random(0, 2, 3, 6, 7), random(1, 4, 3, 3, 3), random(2, 2, 4, 6, 7)
    x_desc, dy_desc = TensorDescriptor(x.shape, "float64"), TensorDescriptor(dy.shape, "float64")
    w_desc = FilterDescriptor(w.shape, "float64")
    convolution = ConvolutionDescriptor(padding=1, compute_data_type="float64")
    dx, dw = nan(*x.shape), nan(*w.shape)
    with_algorithm = version == "_v3"
    algorithms = cudnn.CUDNN_CONVOLUTION_BWD_DATA_ALGO_0, cudnn.CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0
    extra = [(each, None, 0) if with_algorithm else () for each in algorithms]
    getattr(cudnn, f"cudnnConvolutionBackwardData{version}")(
        *(handle, 1.0, w_desc, device(w), dy_desc, device(dy), convolution, *extra[0]),
        *(0.0, x_desc, dx),
    )
    getattr(cudnn, f"cudnnConvolutionBackwardFilter{version}")(
        *(handle, 1.0, x_desc, device(x), dy_desc, device(dy), convolution, *extra[1]),
        *(0.0, w_desc, dw),
    )
    geometry = {"padding": (1, 1)}
    expected = ref.convolution_backward_data(w=w, dy=dy, dx_shape=x.shape, **geometry)
    np.testing.assert_allclose(dx.numpy(), expected, atol=1e-12)
    expected = ref.convolution_backward_filter(x=x, dy=dy, dw_shape=w.shape, **geometry)
    np.testing.assert_allclose(dw.numpy(), expected, atol=1e-11)


def test_versions_of_the_libraries():
    for part in ("Ops", "Cnn", "Adv"):
        for use in ("Infer", "Train"):
            assert getattr(cudnn, f"cudnn{part}{use}VersionCheck")() == cudnn.CUDNN_STATUS_SUCCESS


# -- algorithms as objects -------------------------------------------------------------------------


def test_descriptors_of_algorithms_hold_what_they_are_given():
    first, second = cudnn.cudnnAlgorithmDescriptor_t(), cudnn.cudnnAlgorithmDescriptor_t()
    algorithm, got = cudnn.cudnnAlgorithm_t(), cudnn.cudnnAlgorithm_t()
    algorithm.algo.convFwdAlgo = 5
    for each in (first, second):
        cudnn.cudnnCreateAlgorithmDescriptor(byref(each))
    assert first != second
    cudnn.cudnnSetAlgorithmDescriptor(first, algorithm)
    cudnn.cudnnCopyAlgorithmDescriptor(first, second)
    algorithm.algo.convFwdAlgo = 1  # the descriptor has a copy
    cudnn.cudnnGetAlgorithmDescriptor(second, byref(got))
    assert got.algo.convFwdAlgo == got.algo.RNNAlgo == 5
    for each in (first, second):
        cudnn.cudnnDestroyAlgorithmDescriptor(each)
        with pytest.raises(BadParamError, match="algoDesc is NULL, destroyed or never created"):
            cudnn.cudnnDestroyAlgorithmDescriptor(each)


def test_old_functions_have_signatures():
    for function in cudnn.functions.values():
        assert len(inspect.signature(function).parameters) == len(function.parameters)
