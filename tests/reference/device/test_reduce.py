"""Reductions through raw calls on the reference device."""

from __future__ import annotations

import math
from ctypes import c_size_t
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import DeviceBuffer, DeviceTensor, raw, use_reference_device

from ..raw_program import FLOAT, Memory, Program, scalar

DOUBLE, HALF, BFLOAT16 = raw.CUDNN_DATA_DOUBLE, raw.CUDNN_DATA_HALF, raw.CUDNN_DATA_BFLOAT16
INT8 = raw.CUDNN_DATA_INT8
BAD_PARAM, NOT_SUPPORTED = raw.CUDNN_STATUS_BAD_PARAM, raw.CUDNN_STATUS_NOT_SUPPORTED
SUCCESS = raw.CUDNN_STATUS_SUCCESS
SHAPE, REDUCED = (2, 3, 4, 5), (1, 3, 1, 1)
AXES = (0, 2, 3)
FLATTENED = raw.CUDNN_REDUCE_TENSOR_FLATTENED_INDICES
NO_INDICES = raw.CUDNN_REDUCE_TENSOR_NO_INDICES


@pytest.fixture
def program():
    with use_reference_device():
        program = Program()
        yield program
        program.close()


def over(function: Any, values: np.ndarray) -> np.ndarray:
    return function(values, axis=AXES, keepdims=True)


FUNCTIONS = {
    raw.CUDNN_REDUCE_TENSOR_ADD: lambda a: over(np.sum, a),
    raw.CUDNN_REDUCE_TENSOR_MUL: lambda a: over(np.prod, a),
    raw.CUDNN_REDUCE_TENSOR_MIN: lambda a: over(np.min, a),
    raw.CUDNN_REDUCE_TENSOR_MAX: lambda a: over(np.max, a),
    raw.CUDNN_REDUCE_TENSOR_AMAX: lambda a: over(np.max, abs(a)),
    raw.CUDNN_REDUCE_TENSOR_AVG: lambda a: over(np.mean, a),
    raw.CUDNN_REDUCE_TENSOR_NORM1: lambda a: over(np.sum, abs(a)),
    raw.CUDNN_REDUCE_TENSOR_NORM2: lambda a: np.sqrt(over(np.sum, a * a)),
    raw.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS: lambda a: over(np.prod, np.where(a == 0, 1, a)),
}


def descriptor(
    program: Program,
    operator: Any = raw.CUDNN_REDUCE_TENSOR_MAX,
    compute: Any = FLOAT,
    *,
    nan: Any = raw.CUDNN_NOT_PROPAGATE_NAN,
    indices: Any = NO_INDICES,
    indices_type: Any = raw.CUDNN_32BIT_INDICES,
) -> Any:
    made = program.new(raw.cudnnReduceTensorDescriptor_t)
    raw.cudnnSetReduceTensorDescriptor(made, operator, compute, nan, indices, indices_type)
    return made


def size(function: Any, program: Program, reduction: Any, a_desc: Any, c_desc: Any) -> int:
    nbytes = c_size_t()
    function(program.handle, reduction, a_desc, c_desc, nbytes)
    return nbytes.value


def reduce(
    program: Program,
    reduction: Any,
    a: Memory,
    c: Memory,
    types: tuple[Any, Any] = (FLOAT, FLOAT),
    factors: tuple[float, float] = (1, 0),
) -> np.ndarray | None:
    """Run it with exactly the memory that it asks for; the indices, if it has any."""
    a_desc = program.tensor(a.shape, types[0], a.layout)
    c_desc = program.tensor(c.shape, types[1], c.layout)
    wanted = size(raw.cudnnGetReductionIndicesSize, program, reduction, a_desc, c_desc)
    room = size(raw.cudnnGetReductionWorkspaceSize, program, reduction, a_desc, c_desc)
    indices = DeviceTensor.full((wanted // 4,), -1, "int32")
    with indices, DeviceBuffer(room) as workspace:
        raw.cudnnReduceTensor(
            program.handle,
            reduction,
            indices if wanted else None,
            wanted,
            workspace,
            room,
            scalar(factors[0], types[1]),
            a_desc,
            a.address,
            scalar(factors[1], types[1]),
            c_desc,
            c.address,
        )
        return indices.numpy() if wanted else None


@pytest.mark.parametrize(
    "types",
    [
        (FLOAT, FLOAT, FLOAT),
        (DOUBLE, DOUBLE, DOUBLE),
        (HALF, HALF, FLOAT),
        (HALF, FLOAT, FLOAT),
        (INT8, FLOAT, FLOAT),
    ],
    ids=str,
)
@pytest.mark.parametrize("operator", FUNCTIONS, ids=str)
def test_operators(program: Program, operator: Any, types: tuple[Any, Any, Any]):
    given, result, compute = types
    rng = np.random.default_rng(0)
    values = rng.integers(-2, 3, SHAPE)  # with zeros
    if operator == raw.CUDNN_REDUCE_TENSOR_MUL:
        values = rng.choice([-1, 1, 1, 1], SHAPE)
        values[:, :, 0, :2] *= 2  # 2 ** 4, which every type holds
    if operator == raw.CUDNN_REDUCE_TENSOR_MUL_NO_ZEROS:
        values = np.sign(values)
        values[0, :, 0, 0] = 3
    a, c = Memory(SHAPE, given, "NHWC", values), Memory(REDUCED, result)
    reduce(program, descriptor(program, operator, compute), a, c, (given, result))
    expected = FUNCTIONS[operator](values.astype(np.float64))
    tolerance = {HALF: 2.0**-11, BFLOAT16: 2.0**-8}.get(result, 1e-6)
    np.testing.assert_allclose(c.get().astype(np.float64), expected, rtol=tolerance)


@pytest.mark.parametrize("c_shape", [(1, 1, 1, 1), (2, 1, 4, 1), (2, 3, 1, 5)], ids=str)
def test_which_dimensions(program: Program, c_shape: tuple[int, ...]):
    values = np.random.default_rng(1).integers(-9, 10, SHAPE)
    a, c = Memory(SHAPE, values=values), Memory(c_shape)
    reduce(program, descriptor(program, raw.CUDNN_REDUCE_TENSOR_ADD), a, c)
    axes = tuple(i for i in range(4) if c_shape[i] != SHAPE[i])
    np.testing.assert_array_equal(c.get(), values.sum(axis=axes, keepdims=True))


def test_blending(program: Program):
    values, prior = np.ones(SHAPE), np.arange(3.0).reshape(REDUCED)
    a, c = Memory(SHAPE, values=values), Memory(REDUCED, values=prior)
    add = descriptor(program, raw.CUDNN_REDUCE_TENSOR_ADD)
    reduce(program, add, a, c, factors=(0.5, 10))
    assert c.get().ravel().tolist() == [20, 30, 40]


@pytest.mark.parametrize("operator", ["MIN", "MAX", "AMAX"])
def test_indices(program: Program, operator: str):
    values = np.random.default_rng(2).permutation(120).reshape(SHAPE) - 60
    values = values * 2 + 1  # no two of the same absolute value, nearly
    a, c = Memory(SHAPE, values=values, layout="NHWC"), Memory(REDUCED)
    code = getattr(raw, f"CUDNN_REDUCE_TENSOR_{operator}")
    indices = reduce(program, descriptor(program, code, indices=FLATTENED), a, c)
    flat = values.transpose(1, 0, 2, 3).reshape(3, -1)
    expected = {"MIN": flat, "MAX": -flat, "AMAX": -abs(flat)}[operator].argmin(axis=1)
    assert indices is not None
    assert indices.tolist() == expected.tolist()
    np.testing.assert_array_equal(c.get().ravel(), FUNCTIONS[code](values).ravel())


@pytest.mark.parametrize("propagate", [False, True])
def test_nan_propagation(program: Program, propagate: bool):
    a = Memory((1, 1, 1, 3), values=np.array([[[[1, np.nan, 3]]]]))
    c = Memory((1, 1, 1, 1))
    nan = raw.CUDNN_PROPAGATE_NAN if propagate else raw.CUDNN_NOT_PROPAGATE_NAN
    indices = reduce(program, descriptor(program, nan=nan, indices=FLATTENED), a, c)
    assert indices is not None
    assert indices.tolist() == [1 if propagate else 2]
    np.testing.assert_array_equal(c.get().ravel(), [np.nan if propagate else 3])


def test_sizes(program: Program):
    a, c = program.tensor(SHAPE), program.tensor(REDUCED)
    indices, workspace = raw.cudnnGetReductionIndicesSize, raw.cudnnGetReductionWorkspaceSize
    assert size(indices, program, descriptor(program), a, c) == 0
    assert size(indices, program, descriptor(program, indices=FLATTENED), a, c) == 3 * 4
    elements = math.prod(SHAPE)
    assert size(workspace, program, descriptor(program), a, c) == elements * 4
    assert size(workspace, program, descriptor(program, indices=FLATTENED), a, c) == elements * 8
    double = descriptor(program, compute=DOUBLE)
    assert size(workspace, program, double, a, c) == elements * 8


def test_indices_and_workspaces(program: Program):
    a, c = Memory(SHAPE, values=np.ones(SHAPE)), Memory(REDUCED)
    usual = descriptor(program)
    indices, workspace = Memory((64,)), Memory((256,))
    needed = 4 * math.prod(SHAPE)

    def call(reduction: Any = usual, **changes: Any) -> Any:
        arguments = {
            "indices": indices.address,
            "indicesSizeInBytes": 256,
            "workspace": workspace.address,
            "workspaceSizeInBytes": 1024,
            "alpha": scalar(1),
            "aDesc": program.tensor(SHAPE),
            "A": a.address,
            "beta": scalar(0),
            "cDesc": program.tensor(REDUCED),
            "C": c.address,
            **changes,
        }
        return raw.cudnnReduceTensor.unchecked(program.handle, reduction, **arguments)

    assert call() == SUCCESS
    add = raw.CUDNN_REDUCE_TENSOR_ADD
    assert call(descriptor(program, add, indices=FLATTENED)) == SUCCESS  # and leaves them alone
    wide = descriptor(program, indices=FLATTENED, indices_type=raw.CUDNN_64BIT_INDICES)
    assert call(wide) == SUCCESS  # with 32-bit ones
    with_indices = descriptor(program, indices=FLATTENED)
    assert call(with_indices) == SUCCESS
    assert call(with_indices, indicesSizeInBytes=11) == BAD_PARAM
    assert call(with_indices, indices=None) == raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER
    assert call(workspaceSizeInBytes=needed - 1) == BAD_PARAM
    assert call(workspace=None) == raw.CUDNN_STATUS_BAD_PARAM_NULL_POINTER
    assert call(workspace=None, workspaceSizeInBytes=0) == BAD_PARAM
