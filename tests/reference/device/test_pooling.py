"""Pooling through raw calls on the reference device."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
INT8, INT8x4 = raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT8x4
TOLERANCE = {FLOAT: 1e-6, DOUBLE: 1e-14, HALF: 2.0**-11, BFLOAT16: 2.0**-8}
MODES = list(raw.cudnnPoolingMode_t)
MAXIMA = (raw.CUDNN_POOLING_MAX, raw.CUDNN_POOLING_MAX_DETERMINISTIC)
INCLUDING = raw.CUDNN_POOLING_AVERAGE_COUNT_INCLUDE_PADDING


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


def pooling(
    program: Program,
    mode: Any,
    window: tuple[int, ...],
    padding: tuple[int, ...],
    stride: tuple[int, ...],
    nan: Any = raw.CUDNN_NOT_PROPAGATE_NAN,
) -> Any:
    descriptor = program.new(raw.cudnnPoolingDescriptor_t)
    raw.cudnnSetPoolingNdDescriptor(descriptor, mode, nan, len(window), window, padding, stride)
    return descriptor


def forward(program: Program, descriptor: Any, x: Memory, y: Memory, data_type: Any = FLOAT) -> Any:
    return raw.cudnnPoolingForward.unchecked(
        program.handle,
        descriptor,
        scalar(1, data_type),
        program.tensor(x.shape, data_type, x.layout),
        x.address,
        scalar(0, data_type),
        program.tensor(y.shape, data_type, y.layout),
        y.address,
    )


def by_torch(
    mode: Any, x: np.ndarray, dy: np.ndarray, window: Any, padding: Any, stride: Any
) -> tuple:
    torch = pytest.importorskip("torch", reason="PyTorch (CPU) is the oracle of this test")
    torch.set_num_threads(1)
    tx = torch.tensor(x.astype(np.float64), requires_grad=True)
    ndim, functional = len(window), torch.nn.functional
    options = {"kernel_size": window, "padding": padding, "stride": stride}
    if mode in MAXIMA:
        ty = getattr(functional, f"max_pool{ndim}d")(tx, **options)
    else:
        options["count_include_pad"] = mode == INCLUDING
        ty = getattr(functional, f"avg_pool{ndim}d")(tx, **options)
    ty.backward(torch.tensor(dy.astype(np.float64)))
    return ty.detach().numpy(), tx.grad.numpy()


@pytest.mark.thinned(4)
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize("data_type", TOLERANCE, ids=str)
@pytest.mark.parametrize("mode", MODES, ids=str)
@pytest.mark.parametrize("spatial", [2, 3])
def test_forward_and_backward(
    program: Program, spatial: int, mode: Any, data_type: Any, layout: str
):
    window, padding, stride = (3, 2, 2)[:spatial], (1, 0, 1)[:spatial], (2, 1, 3)[:spatial]
    x_shape = (2, 3, 5, 6, 4)[: 2 + spatial]
    sizes = zip(x_shape[2:], window, padding, stride, strict=True)
    y_shape = (*x_shape[:2], *((n + 2 * p - w) // s + 1 for n, w, p, s in sizes))
    rng = np.random.default_rng(0)
    # Whole numbers below 256 are exact in every type; few are equal within a window.
    x = Memory(x_shape, data_type, layout, rng.permutation(np.prod(x_shape)).reshape(x_shape) % 251)
    dy = Memory(y_shape, data_type, layout, rng.integers(-4, 5, y_shape))
    y, dx = Memory(y_shape, data_type, layout), Memory(x_shape, data_type, layout)
    descriptor = pooling(program, mode, window, padding, stride)
    assert forward(program, descriptor, x, y, data_type) == raw.CUDNN_STATUS_SUCCESS
    x_desc = program.tensor(x_shape, data_type, layout)
    y_desc = program.tensor(y_shape, data_type, layout)
    raw.cudnnPoolingBackward(
        program.handle,
        descriptor,
        scalar(1, data_type),
        y_desc,
        y.address,
        y_desc,
        dy.address,
        x_desc,
        x.address,
        scalar(0, data_type),
        x_desc,
        dx.address,
    )
    expected_y, expected_dx = by_torch(mode, x.get(), dy.get(), window, padding, stride)
    tolerance = TOLERANCE[data_type]
    np.testing.assert_allclose(y.get().astype(np.float64), expected_y, rtol=tolerance)
    np.testing.assert_allclose(
        dx.get().astype(np.float64), expected_dx, rtol=tolerance, atol=8 * tolerance
    )


@pytest.mark.parametrize(("data_type", "layout"), [(INT8, "NHWC"), (INT8x4, "NCHW_VECT_C")])
def test_integers(program: Program, data_type: Any, layout: str):
    shape = (1, 8, 4, 4)
    values = np.random.default_rng(1).integers(-128, 128, shape).astype(np.int8)
    x, y = Memory(shape, data_type, layout, values), Memory((1, 8, 2, 2), data_type, layout)
    for mode in MODES:
        descriptor = pooling(program, mode, (2, 2), (0, 0), (2, 2))
        assert forward(program, descriptor, x, y, data_type) == raw.CUDNN_STATUS_SUCCESS
        blocks = values.reshape(1, 8, 2, 2, 2, 2).astype(float)
        expected = blocks.max(axis=(3, 5)) if mode in MAXIMA else blocks.mean(axis=(3, 5))
        np.testing.assert_array_equal(y.get(), np.rint(expected))


def test_blending(program: Program):
    values = np.arange(16.0).reshape(1, 1, 4, 4)
    x = Memory((1, 1, 4, 4), values=values)
    y = Memory((1, 1, 2, 2), values=np.ones((1, 1, 2, 2)))
    descriptor = pooling(program, raw.CUDNN_POOLING_MAX, (2, 2), (0, 0), (2, 2))
    raw.cudnnPoolingForward(
        program.handle,
        descriptor,
        scalar(2),
        program.tensor(x.shape),
        x.address,
        scalar(-3),
        program.tensor(y.shape),
        y.address,
    )
    assert y.get().ravel().tolist() == [7, 11, 23, 27]


@pytest.mark.parametrize("propagate", [False, True])
def test_nan_propagation(program: Program, propagate: bool):
    nan = raw.CUDNN_PROPAGATE_NAN if propagate else raw.CUDNN_NOT_PROPAGATE_NAN
    descriptor = pooling(program, raw.CUDNN_POOLING_MAX, (1, 2), (0, 0), (1, 2), nan)
    x = Memory((1, 1, 1, 4), values=np.array([[[[np.nan, 1, 3, 2]]]]))
    y = Memory((1, 1, 1, 2))
    assert forward(program, descriptor, x, y) == raw.CUDNN_STATUS_SUCCESS
    np.testing.assert_array_equal(y.get().ravel(), [np.nan if propagate else 1, 3])


def test_the_sizes_of_y_are_free(program: Program):
    descriptor = pooling(program, raw.CUDNN_POOLING_MAX, (1, 2), (0, 0), (1, 2))
    x = Memory((1, 1, 1, 5), values=np.arange(5.0).reshape(1, 1, 1, 5))
    smaller, larger = Memory((1, 1, 1, 1)), Memory((1, 1, 1, 3))
    assert forward(program, descriptor, x, smaller) == raw.CUDNN_STATUS_SUCCESS
    assert forward(program, descriptor, x, larger) == raw.CUDNN_STATUS_SUCCESS
    assert smaller.get().ravel().tolist() == [1]
    assert larger.get().ravel().tolist() == [1, 3, 4]


def test_one_spatial_dimension_is_not_supported(program: Program):
    one = pooling(program, raw.CUDNN_POOLING_MAX, (2,), (0,), (2,))
    x, y = Memory((1, 1, 4)), Memory((1, 1, 2))
    assert forward(program, one, x, y) == raw.CUDNN_STATUS_NOT_SUPPORTED
