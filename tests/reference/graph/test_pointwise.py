"""Element-wise operations: complete, and gradients that are the formulas' derivatives."""

from __future__ import annotations

import numpy as np
import pytest

from cudnn_ctypes.raw import cudnnPointwiseMode_t as Mode
from cudnn_ctypes.reference.graph import Parameters, keeps_float32, pointwise, pointwise_backward

X = np.linspace(-3, 3, 60).reshape(3, 20)  # not 0, where some have a corner
THREE = (Mode.CUDNN_POINTWISE_BINARY_SELECT,)
TWO = (
    Mode.CUDNN_POINTWISE_ADD,
    Mode.CUDNN_POINTWISE_ADD_SQUARE,
    Mode.CUDNN_POINTWISE_DIV,
    Mode.CUDNN_POINTWISE_MAX,
    Mode.CUDNN_POINTWISE_MIN,
    Mode.CUDNN_POINTWISE_MOD,
    Mode.CUDNN_POINTWISE_MUL,
    Mode.CUDNN_POINTWISE_POW,
    Mode.CUDNN_POINTWISE_SUB,
    Mode.CUDNN_POINTWISE_ATAN2,
    Mode.CUDNN_POINTWISE_FLOOR_MOD,
    Mode.CUDNN_POINTWISE_CMP_EQ,
    Mode.CUDNN_POINTWISE_CMP_NEQ,
    Mode.CUDNN_POINTWISE_CMP_GT,
    Mode.CUDNN_POINTWISE_CMP_GE,
    Mode.CUDNN_POINTWISE_CMP_LT,
    Mode.CUDNN_POINTWISE_CMP_LE,
    Mode.CUDNN_POINTWISE_LOGICAL_AND,
    Mode.CUDNN_POINTWISE_LOGICAL_OR,
)
BACKWARD = [mode for mode in Mode if mode.name.endswith("_BWD")]


@pytest.mark.parametrize("mode", [mode for mode in Mode if mode not in BACKWARD])
def test_every_mode_broadcasts(mode: Mode) -> None:
    operands = [X]
    if mode in TWO or mode in THREE:
        operands.append(X[:1] + 1)
    if mode in THREE:
        operands.append(X > 0)
    found = pointwise(mode, *operands, parameters=Parameters(axis=1))
    assert found.shape == X.shape
    logical = mode.name.startswith(("CUDNN_POINTWISE_CMP", "CUDNN_POINTWISE_LOGICAL"))
    assert (found.dtype == np.bool_) == logical


@pytest.mark.parametrize("mode", BACKWARD)
@pytest.mark.parametrize(
    "parameters",
    [
        Parameters(),
        Parameters(
            relu_lower_clip=-0.4,
            relu_upper_clip=1.7,
            relu_lower_clip_slope=0.3,
            elu_alpha=0.6,
            softplus_beta=1.8,
            swish_beta=0.7,
        ),
    ],
)
def test_gradients_are_derivatives(mode: Mode, parameters: Parameters) -> None:
    forward = Mode[mode.name.replace("_BWD", "_FWD")]
    step = 1e-5
    up, down = (pointwise(forward, X + each, parameters=parameters) for each in (step, -step))
    dy = np.cos(X)
    found = pointwise_backward(mode, dy, X, parameters=parameters)
    np.testing.assert_allclose(found, dy * (up - down) / (2 * step), atol=1e-8)


def test_infinity_and_nan_are_results() -> None:
    x = np.array([0.0, -1.0])
    np.testing.assert_array_equal(pointwise(Mode.CUDNN_POINTWISE_LOG, x), [-np.inf, np.nan])
    np.testing.assert_array_equal(
        pointwise(Mode.CUDNN_POINTWISE_DIV, x, np.zeros(2)), [np.nan, -np.inf]
    )
    y = pointwise(Mode.CUDNN_POINTWISE_RELU_FWD, np.array([-0.0, np.nan]))
    assert np.signbit(y[0])
    assert np.isnan(y[1])


def test_selected_nan_does_not_spread() -> None:
    x, b = np.array([1.0, np.nan]), np.array([np.nan, 2.0])
    found = pointwise(Mode.CUDNN_POINTWISE_BINARY_SELECT, x, b, np.array([True, False]))
    np.testing.assert_array_equal(found, [1, 2])


@pytest.mark.parametrize(("mode", "wanted"), [("MAX", [1, 2, 3]), ("MIN", [1, 2, -4])])
def test_of_nan_and_a_number_the_number_is_taken(mode: str, wanted: list[float]) -> None:
    x, b = np.array([np.nan, 2, 3, np.nan]), np.array([1, np.nan, -4, np.nan])
    found = pointwise(Mode[f"CUDNN_POINTWISE_{mode}"], x, b)
    np.testing.assert_array_equal(found, [*wanted, np.nan])


def test_relu_passes_no_gradient_where_it_is_flat_and_all_of_it_where_x_is_nan() -> None:
    """As on an H200, with 9.19."""
    dy, x = np.meshgrid([np.inf, -np.inf, np.nan, 2.0], [-np.inf, -1.0, 0.0, np.nan, np.inf])
    dx = pointwise_backward(Mode.CUDNN_POINTWISE_RELU_BWD, dy, x)
    np.testing.assert_array_equal(dx, np.where(x <= 0, 0, dy))


@pytest.mark.parametrize("mode", [mode for mode in Mode if keeps_float32(mode, Parameters())])
def test_float32_gives_what_float64_gives_rounded(mode: Mode) -> None:
    wide = np.linspace(-1, 1, 20001) * np.geomspace(1e-6, 120, 20001)
    x = np.concatenate([wide, [0.0, -0.0, np.inf, -np.inf, np.nan]]).astype(np.float32)
    count = 3 if mode in THREE else 2 if mode in (*TWO, *BACKWARD) else 1
    operands = [np.roll(x, 1000 * i) for i in range(count)]
    exact = [each.astype(np.float64) for each in operands]
    compute = pointwise_backward if mode in BACKWARD else pointwise
    with np.errstate(all="ignore"):
        y, wanted = compute(mode, *operands), compute(mode, *exact).astype(np.float32)
    assert y.dtype in (np.float32, np.bool_)
    np.testing.assert_allclose(y, wanted, 1e-6, 1e-36)
    if mode not in BACKWARD:
        out = operands[0] if y.dtype == np.float32 else np.empty_like(y)
        assert pointwise(mode, *operands, out=out) is out
        np.testing.assert_array_equal(out, y)


def test_gelu_of_a_large_negative_number_vanishes_in_float32() -> None:
    x = np.array([-1e4, -1e30, np.finfo(np.float32).min], np.float32)
    np.testing.assert_array_equal(pointwise(Mode.CUDNN_POINTWISE_GELU_FWD, x), [0, 0, 0])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_powers_of_infinity_and_zero_are_those_of_c(dtype: type) -> None:
    x = np.array([-np.inf, -0.0, np.inf, 4, -4], dtype)
    for b in (np.full((1,), 0.5, dtype), np.full((5,), 0.5, dtype)):
        y = pointwise(Mode.CUDNN_POINTWISE_POW, x, b)
        np.testing.assert_array_equal(y, [np.inf, 0, np.inf, 2, np.nan])
        assert not np.signbit(y[:4]).any()
