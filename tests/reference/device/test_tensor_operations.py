"""Add, op, set, scale and plain transforms through raw calls on the reference device."""

from __future__ import annotations

from ctypes import byref, c_double, c_float
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from cudnn_ctypes import raw, use_reference_device

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
INT8, INT32 = raw.CUDNN_DATA_INT8, raw.CUDNN_DATA_INT32
INT8x4, INT8x32 = raw.CUDNN_DATA_INT8x4, raw.CUDNN_DATA_INT8x32
SUCCESS = raw.CUDNN_STATUS_SUCCESS
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
SHAPE = (2, 8, 3, 4)
STRIDED = (300, 30, 9, 2)
ADD, MUL, MIN, MAX, SQRT, NOT = raw.cudnnOpTensorOp_t


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


def whole_numbers(seed: int, shape: tuple[int, ...] = SHAPE) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 10, shape)


# --- transform --------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF, BFLOAT16, INT8], ids=str)
def test_transform_changes_the_layout(program: Program, data_type: Any):
    x = Memory(SHAPE, data_type, "NCHW", whole_numbers(0))
    for layout in ("NHWC", STRIDED):
        y = Memory(SHAPE, data_type, layout)
        raw.cudnnTransformTensor(
            program.handle,
            scalar(1, data_type),
            program.tensor(SHAPE, data_type),
            x.address,
            scalar(0, data_type),
            program.tensor(SHAPE, data_type, layout),
            y.address,
        )
        np.testing.assert_array_equal(y.get(), x.get())
    assert y.gaps_are_poisoned()


def test_transform_to_vectors_and_back(program: Program):
    x = Memory(SHAPE, INT8, "NHWC", whole_numbers(1))
    y, back = Memory(SHAPE, INT8x4, "NCHW_VECT_C"), Memory(SHAPE, INT8)
    steps = [(x, INT8, y, INT8x4), (y, INT8x4, back, INT8)]
    for source, source_type, target, target_type in steps:
        raw.cudnnTransformTensor(
            program.handle,
            scalar(1),
            program.tensor(SHAPE, source_type, source.layout),
            source.address,
            scalar(0),
            program.tensor(SHAPE, target_type, target.layout),
            target.address,
        )
    np.testing.assert_array_equal(y.get(), x.get())
    np.testing.assert_array_equal(back.get(), x.get())


def test_transform_blends(program: Program):
    x, y = Memory(SHAPE, values=whole_numbers(2)), Memory(SHAPE, values=whole_numbers(3))
    desc = program.tensor(SHAPE)
    raw.cudnnTransformTensor(
        program.handle, scalar(0.5), desc, x.address, scalar(-2), desc, y.address
    )
    np.testing.assert_array_equal(y.get(), 0.5 * whole_numbers(2) - 2.0 * whole_numbers(3))


# --- add --------------------------------------------------------------------------------------


@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF, BFLOAT16], ids=str)
@pytest.mark.parametrize("a_shape", [(1, 8, 1, 1), (1, 1, 1, 1), SHAPE, (1, 8, 3, 4)], ids=str)
def test_add(program: Program, a_shape: tuple[int, ...], data_type: Any):
    a = Memory(a_shape, data_type, values=whole_numbers(4, a_shape))
    c = Memory(SHAPE, data_type, "NHWC", whole_numbers(5))
    raw.cudnnAddTensor(
        program.handle,
        scalar(2, data_type),
        program.tensor(a_shape, data_type),
        a.address,
        scalar(0.5, data_type),
        program.tensor(SHAPE, data_type, "NHWC"),
        c.address,
    )
    expected = 2 * whole_numbers(4, a_shape) + 0.5 * whole_numbers(5)
    np.testing.assert_array_equal(c.get().astype(np.float64), expected)


def test_add_with_beta_0_does_not_read_c(program: Program):
    a, c = Memory((1, 8, 1, 1), values=whole_numbers(6, (1, 8, 1, 1))), Memory(SHAPE)
    raw.cudnnAddTensor(
        program.handle,
        scalar(1),
        program.tensor(a.shape),
        a.address,
        scalar(0),
        program.tensor(SHAPE),
        c.address,
    )
    np.testing.assert_array_equal(c.get(), np.broadcast_to(a.get(), SHAPE))


# --- op ---------------------------------------------------------------------------------------

FUNCTIONS = {
    ADD: np.add,
    MUL: np.multiply,
    MIN: np.minimum,
    MAX: np.maximum,
    SQRT: lambda a, b: np.sqrt(a),
    NOT: lambda a, b: 1 - a,
}
DTYPES = {FLOAT: np.float32, DOUBLE: np.float64, HALF: np.float16, BFLOAT16: ml_dtypes.bfloat16}
COMBINATIONS = [
    (FLOAT, FLOAT, FLOAT),
    (FLOAT, INT8, FLOAT),
    (FLOAT, HALF, FLOAT),
    (FLOAT, BFLOAT16, FLOAT),
    (DOUBLE, DOUBLE, DOUBLE),
    (FLOAT, FLOAT, HALF),
    (FLOAT, HALF, HALF),
    (FLOAT, INT8, INT8),
    (FLOAT, FLOAT, INT8),
    (FLOAT, FLOAT, BFLOAT16),
    (FLOAT, BFLOAT16, BFLOAT16),
]


def op_descriptor(program: Program, operation: Any, compute: Any = FLOAT, nan: Any = 0) -> Any:
    descriptor = program.new(raw.cudnnOpTensorDescriptor_t)
    raw.cudnnSetOpTensorDescriptor(descriptor, operation, compute, nan)
    return descriptor


@pytest.mark.thinned(4)
@pytest.mark.parametrize("types", COMBINATIONS, ids=str)
@pytest.mark.parametrize("operation", FUNCTIONS, ids=str)
def test_op(program: Program, operation: Any, types: tuple[Any, Any, Any]):
    compute, given, result = types
    a_values = abs(whole_numbers(7)) if operation == SQRT else whole_numbers(7)
    b_shape = (1, 8, 1, 4)
    a = Memory(SHAPE, given, "NHWC", a_values)
    b = Memory(b_shape, given, values=whole_numbers(8, b_shape))
    c = Memory(SHAPE, result, values=whole_numbers(9))
    raw.cudnnOpTensor(
        program.handle,
        op_descriptor(program, operation, compute),
        scalar(2, compute),
        program.tensor(SHAPE, given, "NHWC"),
        a.address,
        scalar(-1, compute),
        program.tensor(b_shape, given),
        b.address,
        scalar(0.5, compute),
        program.tensor(SHAPE, result),
        c.address,
    )
    exact = FUNCTIONS[operation](2.0 * a_values, -1.0 * whole_numbers(8, b_shape))
    exact = exact + 0.5 * whole_numbers(9)
    if result == INT8:
        exact = np.clip(np.rint(exact), -128, 127)
    # The square root is rounded in float32, and every result once.
    expected = exact if result == INT8 else exact.astype(DTYPES[result]).astype(np.float64)
    np.testing.assert_allclose(
        c.get().astype(np.float64), expected, rtol=2e-7, atol=1e-6 if operation == SQRT else 0
    )


@pytest.mark.parametrize("operation", [SQRT, NOT], ids=str)
def test_op_of_one_operand_wants_a_b_and_does_not_read_it(program: Program, operation: Any):
    a, c = Memory(SHAPE, values=abs(whole_numbers(10))), Memory(SHAPE)
    b, desc = Memory(SHAPE), program.tensor(SHAPE)

    def call(b: int | None) -> Any:
        return raw.cudnnOpTensor.unchecked(
            program.handle,
            op_descriptor(program, operation),
            scalar(1),
            desc,
            a.address,
            scalar(1),
            desc,
            b,
            scalar(0),
            desc,
            c.address,
        )

    assert call(None) == BAD_PARAM
    assert call(b.address) == SUCCESS
    np.testing.assert_allclose(c.get(), FUNCTIONS[operation](a.get(), None), rtol=1e-6)


@pytest.mark.parametrize("propagate", [False, True])
def test_op_nan_propagation(program: Program, propagate: bool):
    shape = (1, 1, 1, 2)
    a = Memory(shape, values=np.array([[[[np.nan, 1]]]]))
    b = Memory(shape, values=np.array([[[[2, np.nan]]]]))
    c, desc = Memory(shape), program.tensor(shape)
    for operation in (MIN, MAX):
        raw.cudnnOpTensor(
            program.handle,
            op_descriptor(program, operation, nan=int(propagate)),
            scalar(1),
            desc,
            a.address,
            scalar(1),
            desc,
            b.address,
            scalar(0),
            desc,
            c.address,
        )
        expected = [np.nan, np.nan] if propagate else [2, 1]
        np.testing.assert_array_equal(c.get().ravel(), expected)


# --- set and scale ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data_type", "value"),
    [
        (FLOAT, c_float(2.5)),
        (DOUBLE, c_double(2.5)),
        (INT8, c_float(3)),
        (HALF, c_float(2.5)),
        (BFLOAT16, c_float(2.5)),
    ],
    ids=str,
)
def test_set(program: Program, data_type: Any, value: Any):
    y = Memory(SHAPE, data_type, STRIDED)
    desc = program.tensor(SHAPE, data_type, STRIDED)
    raw.cudnnSetTensor(program.handle, desc, y.address, byref(value))
    assert (y.get() == (3 if data_type == INT8 else 2.5)).all()
    assert y.gaps_are_poisoned()


@pytest.mark.parametrize("data_type", [FLOAT, DOUBLE, HALF, BFLOAT16, INT8], ids=str)
def test_scale(program: Program, data_type: Any):
    y = Memory(SHAPE, data_type, STRIDED, whole_numbers(11))
    desc = program.tensor(SHAPE, data_type, STRIDED)
    raw.cudnnScaleTensor(program.handle, desc, y.address, scalar(-2, data_type))
    np.testing.assert_array_equal(y.get().astype(np.float64), -2 * whole_numbers(11))
    assert y.gaps_are_poisoned()
