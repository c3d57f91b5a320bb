"""LRN and divisive normalization through raw calls on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device
from cudnn_ctypes.reference import (
    divisive_normalization_backward,
    divisive_normalization_forward,
    lrn_cross_channel_backward,
    lrn_cross_channel_forward,
)

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
SUCCESS = raw.CUDNN_STATUS_SUCCESS
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
SHAPE = (2, 4, 3, 5)
STRIDED = (200, 48, 15, 2)
TYPES = (FLOAT, DOUBLE, HALF)
OPTIONS = {"n": 3, "lrn_alpha": 0.7, "lrn_beta": 0.6, "k": 1.3}


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


class Case:
    """Operands x, y, dy, means with values, results, and calls with C's arguments by name."""

    def __init__(self, program: Program, data_type: Any = FLOAT, layout: Any = "NCHW") -> None:
        self.program, self.data_type = program, data_type
        self.desc = program.tensor(SHAPE, data_type, layout)
        self.norm = program.new(raw.cudnnLRNDescriptor_t)
        raw.cudnnSetLRNDescriptor(self.norm, *OPTIONS.values())
        rng = np.random.default_rng(0)
        self.memory = {
            name: Memory(SHAPE, data_type, layout, rng.standard_normal(SHAPE))
            for name in ("x", "y", "dy", "dx", "means", "dMeans", "temp", "temp2")
        }

    def __getitem__(self, name: str) -> np.ndarray:
        return self.memory[name].get()

    def call(self, name: str, **changes: Any) -> Any:
        function = getattr(raw, name)
        names = [p.name for p in function.parameters]
        assert not set(changes) - set(names)
        values = {
            "handle": self.program.handle,
            "normDesc": self.norm,
            "lrnMode": raw.CUDNN_LRN_CROSS_CHANNEL_DIM1,
            "mode": raw.CUDNN_DIVNORM_PRECOMPUTED_MEANS,
            "alpha": scalar(1, self.data_type),
            "beta": scalar(0, self.data_type),
            "dXdMeansDesc": self.desc,
        }
        for operand, memory in self.memory.items():
            values |= {operand: memory.address, f"{operand}Desc": self.desc}
        return function.unchecked(*({**values, **changes}[name] for name in names))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", STRIDED], ids=str)
@pytest.mark.parametrize("data_type", TYPES, ids=str)
def test_computes_what_the_reference_does(program: Program, data_type: Any, layout: Any):
    case = Case(program, data_type, layout)
    x, y, dy, means = (case[name] for name in ("x", "y", "dy", "means"))
    assert case.call("cudnnLRNCrossChannelBackward") == SUCCESS
    expected = lrn_cross_channel_backward(x=x, y=y, dy=dy, **OPTIONS)
    np.testing.assert_array_equal(case["dx"], expected)
    assert case.call("cudnnLRNCrossChannelForward") == SUCCESS
    np.testing.assert_array_equal(case["y"], lrn_cross_channel_forward(x, **OPTIONS))
    assert case.call("cudnnDivisiveNormalizationForward") == SUCCESS
    expected = divisive_normalization_forward(x, means, **OPTIONS)
    np.testing.assert_array_equal(case["y"], expected)
    assert np.isnan(case["temp"]).all()
    assert np.isnan(case["temp2"]).all()
    assert case.call("cudnnDivisiveNormalizationBackward") == SUCCESS
    expected = divisive_normalization_backward(x=x, dy=dy, means=means, **OPTIONS)
    np.testing.assert_array_equal(case["dx"], expected[0])
    np.testing.assert_array_equal(case["dMeans"], expected[1])
    if layout == STRIDED:
        assert all(memory.gaps_are_poisoned() for memory in case.memory.values())


def test_three_spatial_dimensions(program: Program):
    shape = (1, 3, 2, 3, 4)
    case = Case(program)
    x = Memory(shape, values=np.random.default_rng(1).standard_normal(shape))
    y = Memory(shape)
    temp, temp2, desc = Memory(shape), Memory(shape), program.tensor(shape)
    operands = {"xDesc": desc, "x": x.address, "yDesc": desc, "y": y.address}
    assert case.call("cudnnLRNCrossChannelForward", **operands) == SUCCESS
    np.testing.assert_array_equal(y.get(), lrn_cross_channel_forward(x.get(), **OPTIONS))
    space = {"means": None, "temp": temp.address, "temp2": temp2.address}
    assert case.call("cudnnDivisiveNormalizationForward", **operands, **space) == SUCCESS
    np.testing.assert_array_equal(y.get(), divisive_normalization_forward(x.get(), **OPTIONS))
    unpacked = program.tensor(shape, layout="NHWC")
    for name in ("xDesc", "yDesc"):
        changed = {**operands, name: unpacked}
        assert case.call("cudnnLRNCrossChannelForward", **changed) == BAD_PARAM


def test_without_means_and_their_gradient(program: Program):
    case = Case(program)
    x, dy, untouched = case["x"], case["dy"], case["dMeans"]
    status = case.call("cudnnDivisiveNormalizationBackward", means=None, dMeans=None)
    assert status == SUCCESS
    expected = divisive_normalization_backward(x=x, dy=dy, **OPTIONS)
    np.testing.assert_array_equal(case["dx"], expected[0])
    np.testing.assert_array_equal(case["dMeans"], untouched)


def test_blending_and_in_place(program: Program):
    case = Case(program)
    x, y, dy, dx, means, dmeans = (case[n] for n in ("x", "y", "dy", "dx", "means", "dMeans"))
    factors = {"alpha": scalar(2), "beta": scalar(-0.5)}
    numbers = {"alpha": 2, "beta": -0.5}
    assert case.call("cudnnLRNCrossChannelBackward", **factors) == SUCCESS
    expected = lrn_cross_channel_backward(x=x, y=y, dy=dy, dx=dx, **numbers, **OPTIONS)
    np.testing.assert_array_equal(case["dx"], expected)
    case.memory["dx"].set(dx)
    assert case.call("cudnnDivisiveNormalizationBackward", **factors) == SUCCESS
    expected = divisive_normalization_backward(
        x=x, dy=dy, means=means, dx=dx, dmeans=dmeans, **numbers, **OPTIONS
    )
    np.testing.assert_array_equal(case["dx"], expected[0])
    np.testing.assert_array_equal(case["dMeans"], expected[1])
    assert case.call("cudnnDivisiveNormalizationForward", **factors) == SUCCESS
    expected = divisive_normalization_forward(x, means, alpha=2, **OPTIONS)  # beta < 0 is ignored
    np.testing.assert_array_equal(case["y"], expected)
    case.memory["y"].set(y)
    factors["beta"] = scalar(0.5)
    assert case.call("cudnnDivisiveNormalizationForward", **factors) == SUCCESS
    expected = divisive_normalization_forward(x, means, y=y, alpha=2, beta=0.5, **OPTIONS)
    np.testing.assert_array_equal(case["y"], expected)
    in_place = {"y": case.memory["x"].address}
    assert case.call("cudnnLRNCrossChannelForward", **in_place) == SUCCESS
    np.testing.assert_array_equal(case["x"], lrn_cross_channel_forward(x, **OPTIONS))


def test_a_descriptor_that_was_never_set_holds_the_defaults(program: Program):
    case = Case(program)
    default = program.new(raw.cudnnLRNDescriptor_t)
    assert case.call("cudnnLRNCrossChannelForward", normDesc=default) == SUCCESS
    np.testing.assert_array_equal(case["y"], lrn_cross_channel_forward(case["x"]))


def test_modes_are_ignored(program: Program):
    case = Case(program)
    for name in ("cudnnLRNCrossChannelForward", "cudnnLRNCrossChannelBackward"):
        assert case.call(name, lrnMode=7) == SUCCESS
    for name in ("cudnnDivisiveNormalizationForward", "cudnnDivisiveNormalizationBackward"):
        assert case.call(name, mode=7) == SUCCESS
