"""Activations through raw calls on the reference device, as a C program would make them."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
SHAPE = (2, 3, 4, 5)
STRIDED = (200, 60, 12, 2)

# Roundings of the stored result, and of float32 in between: 4 ulp cover the formulas below.
TOLERANCE = {FLOAT: 4 * 2.0**-23, DOUBLE: 4 * 2.0**-52, HALF: 2.0**-10, BFLOAT16: 2.0**-7}


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


FORWARD = {
    raw.CUDNN_ACTIVATION_SIGMOID: sigmoid,
    raw.CUDNN_ACTIVATION_RELU: lambda x: np.maximum(x, 0),
    raw.CUDNN_ACTIVATION_TANH: np.tanh,
    raw.CUDNN_ACTIVATION_CLIPPED_RELU: lambda x: np.clip(x, 0, 0.75),
    raw.CUDNN_ACTIVATION_ELU: lambda x: np.where(x > 0, x, 0.75 * np.expm1(x)),
    raw.CUDNN_ACTIVATION_SWISH: lambda x: x * sigmoid(1.5 * x),
}
BACKWARD = {
    raw.CUDNN_ACTIVATION_SIGMOID: lambda x: sigmoid(x) * sigmoid(-x),
    raw.CUDNN_ACTIVATION_RELU: lambda x: (x > 0) * 1.0,
    raw.CUDNN_ACTIVATION_TANH: lambda x: 1 / np.cosh(x) ** 2,
    raw.CUDNN_ACTIVATION_CLIPPED_RELU: lambda x: ((x > 0) & (x < 0.75)) * 1.0,
    raw.CUDNN_ACTIVATION_ELU: lambda x: np.where(x > 0, 1, 0.75 * np.exp(x)),
    raw.CUDNN_ACTIVATION_SWISH: lambda x: (
        sigmoid(1.5 * x) + 1.5 * x * sigmoid(1.5 * x) * sigmoid(-1.5 * x)
    ),
}


def activation(program: Program, mode: Any) -> Any:
    descriptor = program.activation(mode, 0.75)
    raw.cudnnSetActivationDescriptorSwishBeta(descriptor, 1.5)
    return descriptor


@pytest.mark.thinned(4)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", STRIDED], ids=str)
@pytest.mark.parametrize("data_type", TOLERANCE, ids=str)
@pytest.mark.parametrize("mode", FORWARD, ids=str)
def test_forward_and_backward(program: Program, mode: Any, data_type: Any, layout: Any):
    rng = np.random.default_rng(0)
    tolerance = TOLERANCE[data_type]
    descriptor = activation(program, mode)
    x = Memory(SHAPE, data_type, layout, rng.standard_normal(SHAPE))
    dy = Memory(SHAPE, data_type, layout, rng.standard_normal(SHAPE))
    y, dx = Memory(SHAPE, data_type, layout), Memory(SHAPE, data_type, layout)
    desc = program.tensor(SHAPE, data_type, layout)
    one, zero = scalar(1, data_type), scalar(0, data_type)
    raw.cudnnActivationForward(
        program.handle, descriptor, one, desc, x.address, zero, desc, y.address
    )
    raw.cudnnActivationBackward(
        program.handle,
        descriptor,
        one,
        desc,
        y.address,
        desc,
        dy.address,
        desc,
        x.address,
        zero,
        desc,
        dx.address,
    )
    wide_x, wide_dy = x.get().astype(np.float64), dy.get().astype(np.float64)
    np.testing.assert_allclose(
        y.get().astype(np.float64), FORWARD[mode](wide_x), rtol=tolerance, atol=tolerance
    )
    # The gradient is computed from the rounded y.
    np.testing.assert_allclose(
        dx.get().astype(np.float64),
        wide_dy * BACKWARD[mode](wide_x),
        rtol=8 * tolerance,
        atol=8 * tolerance,
    )
    if layout == STRIDED:
        assert y.gaps_are_poisoned()
        assert dx.gaps_are_poisoned()


def test_blending_and_in_place(program: Program):
    rng = np.random.default_rng(1)
    values, prior = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    descriptor, desc = activation(program, raw.CUDNN_ACTIVATION_RELU), program.tensor(SHAPE)
    x, y = Memory(SHAPE, values=values), Memory(SHAPE, values=prior)
    raw.cudnnActivationForward(
        program.handle, descriptor, scalar(2), desc, x.address, scalar(-0.5), desc, y.address
    )
    np.testing.assert_allclose(y.get(), 2 * np.maximum(values, 0) - 0.5 * prior, rtol=1e-6)
    raw.cudnnActivationForward(
        program.handle, descriptor, scalar(1), desc, x.address, scalar(0), desc, x.address
    )
    np.testing.assert_array_equal(x.get(), np.maximum(values, 0))


@pytest.mark.parametrize("propagate", [False, True])
def test_nan_propagation(program: Program, propagate: bool):
    shape = (1, 1, 1, 2)
    x, y = Memory(shape, values=np.array([[[[np.nan, 1.0]]]])), Memory(shape)
    descriptor, desc = program.new(raw.cudnnActivationDescriptor_t), program.tensor(shape)
    option = raw.CUDNN_PROPAGATE_NAN if propagate else raw.CUDNN_NOT_PROPAGATE_NAN
    raw.cudnnSetActivationDescriptor(descriptor, raw.CUDNN_ACTIVATION_RELU, option, 0)
    raw.cudnnActivationForward(
        program.handle, descriptor, scalar(1), desc, x.address, scalar(0), desc, y.address
    )
    np.testing.assert_array_equal(y.get().ravel(), [np.nan if propagate else 0, 1])


def test_bfloat16_is_ml_dtypes_own():
    assert Memory((1, 1, 1, 1), BFLOAT16).buffer.dtype == ml_dtypes.bfloat16
