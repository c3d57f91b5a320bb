"""Softmax through raw calls on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
SHAPE = (2, 3, 4, 5)
STRIDED = (200, 60, 12, 2)
# Sums of up to 60 terms in float32, then one rounding.
TOLERANCE = {FLOAT: 1e-5, DOUBLE: 1e-13, HALF: 2.0**-10, BFLOAT16: 2.0**-7}
INSTANCE, CHANNEL = raw.CUDNN_SOFTMAX_MODE_INSTANCE, raw.CUDNN_SOFTMAX_MODE_CHANNEL


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


@pytest.mark.thinned(4)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC", STRIDED], ids=str)
@pytest.mark.parametrize("data_type", TOLERANCE, ids=str)
@pytest.mark.parametrize("mode", [INSTANCE, CHANNEL], ids=str)
@pytest.mark.parametrize("algorithm", list(raw.cudnnSoftmaxAlgorithm_t), ids=str)
def test_forward_and_backward(
    program: Program, algorithm: Any, mode: Any, data_type: Any, layout: Any
):
    torch = pytest.importorskip("torch", reason="PyTorch (CPU) is the oracle of this test")
    torch.set_num_threads(1)
    rng = np.random.default_rng(0)
    x = Memory(SHAPE, data_type, layout, rng.standard_normal(SHAPE))
    dy = Memory(SHAPE, data_type, layout, rng.standard_normal(SHAPE))
    y, dx = Memory(SHAPE, data_type, layout), Memory(SHAPE, data_type, layout)
    desc = program.tensor(SHAPE, data_type, layout)
    one, zero = scalar(1, data_type), scalar(0, data_type)
    raw.cudnnSoftmaxForward(
        program.handle, algorithm, mode, one, desc, x.address, zero, desc, y.address
    )
    raw.cudnnSoftmaxBackward(
        program.handle,
        algorithm,
        mode,
        one,
        desc,
        y.address,
        desc,
        dy.address,
        zero,
        desc,
        dx.address,
    )
    tx = torch.tensor(x.get().astype(np.float64), requires_grad=True)
    function = torch.log_softmax if algorithm == raw.CUDNN_SOFTMAX_LOG else torch.softmax
    ty = function(tx if mode == CHANNEL else tx.flatten(1), 1).reshape(SHAPE)
    ty.backward(torch.tensor(dy.get().astype(np.float64)))
    tolerance = TOLERANCE[data_type]
    np.testing.assert_allclose(
        y.get().astype(np.float64), ty.detach().numpy(), rtol=tolerance, atol=tolerance
    )
    # The gradient is computed from the rounded y; instances sum 60 of its errors.
    np.testing.assert_allclose(
        dx.get().astype(np.float64), tx.grad.numpy(), rtol=20 * tolerance, atol=20 * tolerance
    )
    if layout == STRIDED:
        assert y.gaps_are_poisoned()
        assert dx.gaps_are_poisoned()


def test_blending_and_in_place(program: Program):
    rng = np.random.default_rng(1)
    values, prior = rng.standard_normal((2, *SHAPE)).astype(np.float32)
    desc = program.tensor(SHAPE)
    x, y = Memory(SHAPE, values=values), Memory(SHAPE, values=prior)
    options = (raw.CUDNN_SOFTMAX_ACCURATE, CHANNEL)
    powers = np.exp(values)
    expected = powers / powers.sum(axis=1, keepdims=True)
    raw.cudnnSoftmaxForward(
        program.handle, *options, scalar(2), desc, x.address, scalar(-0.5), desc, y.address
    )
    np.testing.assert_allclose(y.get(), 2 * expected - 0.5 * prior, rtol=1e-5, atol=1e-6)
    raw.cudnnSoftmaxForward(
        program.handle, *options, scalar(1), desc, x.address, scalar(0), desc, x.address
    )
    np.testing.assert_allclose(x.get(), expected, rtol=1e-6)


def test_unknown_enumerators(program: Program):
    x, y, desc = Memory(SHAPE), Memory(SHAPE), program.tensor(SHAPE)
    for algorithm, mode in ((7, CHANNEL), (raw.CUDNN_SOFTMAX_FAST, 7)):
        arguments = (scalar(1), desc, x.address, scalar(0), desc, y.address)
        status = raw.cudnnSoftmaxForward.unchecked(program.handle, algorithm, mode, *arguments)
        assert status == raw.CUDNN_STATUS_BAD_PARAM
