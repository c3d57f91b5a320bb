"""The spatial transformer through raw calls on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device
from cudnn_ctypes.reference import (
    spatial_tf_grid_generator_backward,
    spatial_tf_grid_generator_forward,
    spatial_tf_sampler_backward,
    spatial_tf_sampler_forward,
)

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF
SUCCESS = raw.CUDNN_STATUS_SUCCESS
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
NULL = (BAD_PARAM, raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER)
X_SHAPE, Y_SHAPE = (2, 3, 5, 6), (2, 3, 4, 7)
GRID_SHAPE = (2, 4, 7, 2)
STRIDED = {X_SHAPE: (300, 80, 14, 2), Y_SHAPE: (400, 100, 20, 2)}


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


class Case:
    """All operands with values, and calls with C's arguments by name."""

    def __init__(self, program: Program, data_type: Any = FLOAT, layout: Any = "NCHW") -> None:
        self.program, self.data_type = program, data_type
        self.transformer = program.new(raw.cudnnSpatialTransformerDescriptor_t)
        self.set(Y_SHAPE)
        rng = np.random.default_rng(0)
        self.memory: dict[str, Memory] = {}
        self.descs = {}
        for name, shape in {"x": X_SHAPE, "dx": X_SHAPE, "y": Y_SHAPE, "dy": Y_SHAPE}.items():
            how = STRIDED[shape] if layout == "strided" else layout
            self.memory[name] = Memory(shape, data_type, how, rng.standard_normal(shape))
            self.descs[f"{name}Desc"] = program.tensor(shape, data_type, how)
        for name, shape in {"theta": (2, 2, 3), "dtheta": (2, 2, 3)}.items():
            self.memory[name] = Memory(shape, data_type, values=rng.standard_normal(shape))
        for name in ("grid", "dgrid"):
            values = 0.7 * rng.standard_normal(GRID_SHAPE)
            self.memory[name] = Memory(GRID_SHAPE, data_type, values=values)

    def set(self, shape: tuple[int, ...]) -> None:
        raw.cudnnSetSpatialTransformerNdDescriptor(
            self.transformer, raw.CUDNN_SAMPLER_BILINEAR, self.data_type, len(shape), shape
        )

    def __getitem__(self, name: str) -> np.ndarray:
        return self.memory[name].get()

    def call(self, name: str, **changes: Any) -> Any:
        function = getattr(raw, name)
        names = [p.name for p in function.parameters]
        assert not set(changes) - set(names)
        one, zero = scalar(1, self.data_type), scalar(0, self.data_type)
        values = {
            "handle": self.program.handle,
            "stDesc": self.transformer,
            "alpha": one,
            "beta": zero,
            "alphaDgrid": one,
            "betaDgrid": zero,
            **self.descs,
            **{operand: memory.address for operand, memory in self.memory.items()},
            **changes,
        }
        return function.unchecked(*(values[name] for name in names))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC", "strided"])
@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF], ids=str)
def test_computes_what_the_reference_does(program: Program, data_type: Any, layout: str):
    case = Case(program, data_type, layout)
    x, dy, grid, dgrid = (case[name] for name in ("x", "dy", "grid", "dgrid"))
    assert case.call("cudnnSpatialTfGridGeneratorBackward") == SUCCESS
    np.testing.assert_array_equal(case["dtheta"], spatial_tf_grid_generator_backward(dgrid=dgrid))
    assert case.call("cudnnSpatialTfSamplerForward") == SUCCESS
    np.testing.assert_array_equal(case["y"], spatial_tf_sampler_forward(x, grid))
    assert case.call("cudnnSpatialTfSamplerBackward") == SUCCESS
    by_x, by_grid = spatial_tf_sampler_backward(x=x, dy=dy, grid=grid)
    np.testing.assert_array_equal(case["dx"], by_x)
    np.testing.assert_array_equal(case["dgrid"], by_grid)
    assert case.call("cudnnSpatialTfGridGeneratorForward") == SUCCESS
    expected = spatial_tf_grid_generator_forward(case["theta"], (4, 7))
    np.testing.assert_array_equal(case["grid"], expected)
    if layout == "strided":
        assert all(case.memory[name].gaps_are_poisoned() for name in ("x", "dx", "y", "dy"))


def test_blending(program: Program):
    case = Case(program)
    x, dx, y, dy, grid, dgrid = (case[n] for n in ("x", "dx", "y", "dy", "grid", "dgrid"))
    factors = {"alpha": scalar(2), "beta": scalar(-0.5)}
    assert case.call("cudnnSpatialTfSamplerForward", **factors) == SUCCESS
    expected = spatial_tf_sampler_forward(x, grid, alpha=2, beta=-0.5, y=y)
    np.testing.assert_array_equal(case["y"], expected)
    grid_factors = {"alphaDgrid": scalar(3), "betaDgrid": scalar(0.25)}
    assert case.call("cudnnSpatialTfSamplerBackward", **factors, **grid_factors) == SUCCESS
    by_x, by_grid = spatial_tf_sampler_backward(
        x=x,
        dy=dy,
        grid=grid,
        alpha=2,
        beta=-0.5,
        dx=dx,
        alpha_dgrid=3,
        beta_dgrid=0.25,
        dgrid=dgrid,
    )
    np.testing.assert_array_equal(case["dx"], by_x)
    np.testing.assert_array_equal(case["dgrid"], by_grid)


def test_refusals(program: Program):
    case = Case(program)
    operands = {
        "cudnnSpatialTfGridGeneratorForward": ("theta", "grid", "stDesc"),
        "cudnnSpatialTfGridGeneratorBackward": ("dgrid", "dtheta", "stDesc"),
        "cudnnSpatialTfSamplerForward": ("x", "y", "grid", "alpha", "beta", "stDesc", "xDesc"),
        "cudnnSpatialTfSamplerBackward": (
            *("x", "dx", "dy", "grid", "dgrid", "alpha", "beta", "alphaDgrid", "betaDgrid"),
            *("stDesc", "xDesc", "dxDesc", "dyDesc"),
        ),
    }
    unset = program.new(raw.cudnnSpatialTransformerDescriptor_t)
    for name, arguments in operands.items():
        assert case.call(name) == SUCCESS
        for argument in arguments:
            assert case.call(name, **{argument: None}) in NULL, (name, argument)
        assert case.call(name, stDesc=unset) == BAD_PARAM
        for shape in ((2, 3, 4), (2, 3, 4, 7, 1)):
            case.set(shape)
            assert case.call(name) == NOT_SUPPORTED
        case.set(Y_SHAPE)
    other, half = program.tensor((2, 3, 4, 8)), program.tensor(X_SHAPE, HALF)
    assert case.call("cudnnSpatialTfSamplerForward", yDesc=other) == BAD_PARAM
    assert case.call("cudnnSpatialTfSamplerBackward", dyDesc=other) == BAD_PARAM
    for name in ("cudnnSpatialTfSamplerForward", "cudnnSpatialTfSamplerBackward"):
        assert case.call(name, xDesc=half) == BAD_PARAM
        assert case.call(name, xDesc=program.tensor((2, 4, 5, 6))) == BAD_PARAM
        assert case.call(name, xDesc=program.tensor((2, 3, 30))) == NOT_SUPPORTED
    assert case.call("cudnnSpatialTfSamplerBackward", dxDesc=other) == BAD_PARAM
    assert case.call("cudnnSpatialTfSamplerBackward", dxDesc=half) == BAD_PARAM


def test_a_descriptor_at_an_old_address_is_not_set(program: Program):
    # malloc gives the same address again and again.
    for _ in range(5):
        descriptor = raw.cudnnSpatialTransformerDescriptor_t()
        raw.cudnnCreateSpatialTransformerDescriptor(descriptor)
        case = Case(program)
        status = case.call("cudnnSpatialTfGridGeneratorForward", stDesc=descriptor)
        assert status == BAD_PARAM
        raw.cudnnSetSpatialTransformerNdDescriptor(descriptor, 0, FLOAT, 4, Y_SHAPE)
        assert case.call("cudnnSpatialTfGridGeneratorForward", stDesc=descriptor) == SUCCESS
        raw.cudnnDestroySpatialTransformerDescriptor(descriptor)
