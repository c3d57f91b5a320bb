"""Element-wise tensor functions and reductions, against PyTorch and plain NumPy expressions."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import reference as ref

RNG = np.random.default_rng(0)
A = RNG.standard_normal((2, 3, 4, 5))
B = RNG.standard_normal((1, 3, 1, 5))
C = RNG.standard_normal((2, 3, 4, 5))
NAN = np.nan


def test_add_broadcasts_and_blends():
    bias = np.array([1.0, 2.0, 3.0]).reshape(1, 3, 1, 1)
    np.testing.assert_array_equal(ref.add_tensor(bias, C), C + bias)
    np.testing.assert_allclose(ref.add_tensor(B, C, alpha=2.0, beta=-0.5), 2 * B - 0.5 * C)
    unread = np.full(C.shape, NAN)
    np.testing.assert_array_equal(
        ref.add_tensor(bias, unread, beta=0.0), np.broadcast_to(bias, C.shape)
    )
    np.testing.assert_array_equal(ref.add_tensor(unread, C, alpha=0.0), C)


def test_set_and_scale():
    assert ref.set_tensor((2, 1), 3, np.float16).tolist() == [[3], [3]]
    np.testing.assert_array_equal(ref.scale_tensor(C, 0.5), C / 2)
    assert ref.scale_tensor(np.array([3, 100, -5], np.int8), 2.5).tolist() == [8, 127, -12]


@pytest.mark.parametrize("operation", ["add", "mul", "min", "max"])
def test_binary_operations_against_pytorch(torch, operation: str):
    function = {
        "add": torch.add,
        "mul": torch.mul,
        "min": torch.minimum,
        "max": torch.maximum,
    }[operation]
    expected = function(1.5 * torch.tensor(A), -2.0 * torch.tensor(B)).numpy() + 0.25 * C
    result = ref.op_tensor(operation, A, B, alpha1=1.5, alpha2=-2.0, beta=0.25, c=C)
    np.testing.assert_allclose(result, expected, rtol=1e-14)


def test_nan_in_minimum_and_maximum():
    a, b = np.array([NAN, 1.0, NAN]), np.array([2.0, NAN, NAN])
    for operation in ("min", "max"):
        numbers = ref.op_tensor(operation, a, b, propagate_nan=False)
        np.testing.assert_array_equal(numbers, [2, 1, NAN])
        assert np.isnan(ref.op_tensor(operation, a, b)).all()


SHAPES = [
    tuple(1 if reduced else size for reduced, size in zip(which, A.shape, strict=True))
    for which in itertools.product([False, True], repeat=4)
]


@pytest.mark.parametrize("c_shape", SHAPES, ids=str)
def test_reductions_against_pytorch(torch, c_shape: tuple[int, ...]):
    axes = tuple(axis for axis in range(4) if c_shape[axis] != A.shape[axis])
    with_zeros = np.where(RNG.random(A.shape) < 0.2, 0.0, A)
    t = torch.tensor(with_zeros)
    without_zeros = torch.where(t == 0, 1.0, t)

    def over(function, operand):
        for axis in axes:
            operand = function(operand, dim=axis, keepdim=True)
        return operand

    count = A.size / np.prod(c_shape)
    expected = {
        "add": over(torch.sum, t),
        "mul": over(torch.prod, t),
        "min": over(torch.amin, t),
        "max": over(torch.amax, t),
        "amax": over(torch.amax, t.abs()),
        "avg": over(torch.sum, t) / count,
        "norm1": over(torch.sum, t.abs()),
        "norm2": over(torch.sum, t * t).sqrt(),
        "mul_no_zeros": over(torch.prod, without_zeros),
    }
    for operator, values in expected.items():
        result = ref.reduce_tensor(with_zeros, c_shape, operator)
        assert result.shape == c_shape
        # Sums and products of up to 120 terms in float64, in another order.
        np.testing.assert_allclose(result, values.numpy(), rtol=1e-12, atol=1e-13, err_msg=operator)


def test_indices_count_the_reduced_elements_only():
    flat = A.transpose(1, 0, 2, 3).reshape(3, -1)
    indices = ref.reduce_indices(A, (1, 3, 1, 1), "max")
    assert indices.dtype == np.uint32
    assert indices.ravel().tolist() == flat.argmax(axis=1).tolist()
    indices = ref.reduce_indices(A, (1, 3, 1, 1), "min")
    assert indices.ravel().tolist() == flat.argmin(axis=1).tolist()
    indices = ref.reduce_indices(A, (1, 3, 1, 1), "amax")
    assert indices.ravel().tolist() == abs(flat).argmax(axis=1).tolist()
    middle = ref.reduce_indices(A, (2, 1, 4, 1), "max")
    flat = A.transpose(0, 2, 1, 3).reshape(2, 4, -1)
    assert middle[:, 0, :, 0].tolist() == flat.argmax(axis=-1).tolist()


def test_nan_in_reductions():
    a = np.array([[2.0, NAN, -5.0]])
    values = {"min": -5.0, "max": 2.0, "amax": 5.0}
    for operator, value in values.items():
        assert ref.reduce_tensor(a, (1, 1), operator, propagate_nan=False).tolist() == [[value]]
        assert np.isnan(ref.reduce_tensor(a, (1, 1), operator)).all()
        assert ref.reduce_indices(a, (1, 1), operator).tolist() == [[1]]
    assert ref.reduce_indices(a, (1, 1), "max", propagate_nan=False).tolist() == [[0]]
    assert ref.reduce_indices(a, (1, 1), "min", propagate_nan=False).tolist() == [[2]]
    for operator in ("add", "mul", "avg", "norm1", "norm2", "mul_no_zeros"):
        assert np.isnan(ref.reduce_tensor(a, (1, 1), operator)).all()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_extremes_of_nothing_but_nan_or_infinity(dtype: Any) -> None:
    """As with cuDNN 9.14 and 9.19, where NaN is not propagated."""
    a, limits = np.full((1, 2), np.nan, dtype), np.finfo(dtype)
    of_nothing = {"min": limits.max, "max": limits.min, "amax": 0}
    for operator, expected in of_nothing.items():
        options: dict[str, Any] = {"compute_dtype": dtype}
        numbers = ref.reduce_tensor(a, (1, 1), operator, propagate_nan=False, **options)
        assert numbers[0, 0] == expected
        assert np.isnan(ref.reduce_tensor(a, (1, 1), operator, **options))
    for operator, infinity in (("min", np.inf), ("max", -np.inf)):
        numbers = ref.reduce_tensor(
            np.full((1, 2), infinity), (1, 1), operator, compute_dtype=dtype
        )
        assert numbers[0, 0] == of_nothing[operator]
