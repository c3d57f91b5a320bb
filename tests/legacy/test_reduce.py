"""Reductions through layer 2: descriptors, known numbers, indices, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from cudnn_ctypes import (
    DeviceBuffer,
    DeviceTensor,
    Handle,
    ReduceTensorDescriptor,
    TensorDescriptor,
    reduce_tensor,
)

A = np.array([[1, -5, 2], [4, 0, -3]], np.float32).reshape(1, 2, 1, 3)


def tensor(array: np.ndarray, **how: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ascontiguousarray(array), **how)


class TestDescriptor:
    def test_sizes(self, reference_handle: Handle) -> None:
        a, c = TensorDescriptor(A.shape), TensorDescriptor((1, 2, 1, 1))
        with a, c, ReduceTensorDescriptor("max", indices=True) as reduction:
            assert reduction.indices_size(reference_handle, a, c) == 8
            assert reduction.workspace_size(reference_handle, a, c) == 8 * A.size


class TestReduce:
    def test_factors_and_types(self, handle: Handle) -> None:
        with tensor(A) as a, tensor(np.full((1, 1, 1, 3), 10, np.float32)) as c:
            result = reduce_tensor(handle, a, "add", c, alpha=2, beta=0.5)
            assert result.c is c
            assert c.numpy().ravel().tolist() == [15, -5, 3]
        with tensor(A.astype(np.float64)) as a:
            c = reduce_tensor(handle, a, "norm2", c_shape=(1, 1, 1, 1)).c
            assert c.dtype == np.float64
            np.testing.assert_allclose(c.numpy().ravel(), [np.sqrt(55)], rtol=1e-14)
        with tensor(A.astype(np.float16)) as a:
            c = reduce_tensor(handle, a, "add", c_shape=(1, 2, 1, 1), data_type="float32").c
            assert c.numpy().ravel().tolist() == [-2, 1]

    def test_int8(self, handle: Handle) -> None:
        with tensor(A.astype(np.int8)) as a:
            c = reduce_tensor(handle, a, "add", c_shape=(1, 2, 1, 1), data_type="float32").c
            assert c.numpy().ravel().tolist() == [-2, 1]

    def test_the_first_of_equal_elements_counts(self, handle: Handle) -> None:
        values = np.array([1, 7, 3, 7, 7, 0], np.float32).reshape(1, 1, 2, 3)
        with ReduceTensorDescriptor("max", indices=True) as reduction, tensor(values) as a:
            result = reduce_tensor(handle, a, reduction, c_shape=(1, 1, 1, 1))
            assert result.indices.numpy().ravel().tolist() == [1]

    def test_indices_of_two_reduced_dimensions(self, handle: Handle) -> None:
        values = np.random.default_rng(0).permutation(120).reshape(2, 3, 4, 5).astype(np.float32)
        for layout in ("NCHW", "NHWC"):
            for shape, axes in (((2, 1, 1, 5), (1, 2)), ((1, 3, 4, 1), (0, 3))):
                kept = [axis for axis in range(4) if axis not in axes]
                flat = values.transpose(*kept, *axes).reshape(*(values.shape[i] for i in kept), -1)
                a = tensor(values, layout=layout)
                with a, ReduceTensorDescriptor("max", indices=True) as reduction:
                    result = reduce_tensor(handle, a, reduction, c_shape=shape)
                    found = result.indices.numpy().reshape(flat.shape[:2])
                np.testing.assert_array_equal(found, flat.argmax(axis=-1), err_msg=layout)

    @pytest.mark.parametrize("nan", ["propagate_nan", "not_propagate_nan"])
    @pytest.mark.parametrize("op", ["min", "max", "amax"])
    def test_nan(self, handle: Handle, op: str, nan: str) -> None:
        values = np.array([[1, np.nan, 1]], np.float32).reshape(1, 1, 1, 3)
        with ReduceTensorDescriptor(op, nan_propagation=nan) as reduction, tensor(values) as a:
            result = reduce_tensor(handle, a, reduction, c_shape=(1, 1, 1, 1)).c.numpy()
        np.testing.assert_array_equal(result.ravel(), [np.nan if nan == "propagate_nan" else 1])

    def test_given_memory(self, handle: Handle) -> None:
        with (
            ReduceTensorDescriptor("max", indices=True) as reduction,
            tensor(A) as a,
            DeviceBuffer(64) as indices,
            DeviceBuffer(1 << 20) as workspace,
        ):
            result = reduce_tensor(
                handle, a, reduction, c_shape=(1, 2, 1, 1), indices=indices, workspace=workspace
            )
            assert result.indices is indices
            assert indices.copy_to_host().view(np.uint32)[:2].tolist() == [2, 0]

    def test_many_dimensions(self, handle: Handle) -> None:
        values = np.arange(2**7, dtype=np.float32).reshape((2,) * 7)
        with tensor(values) as a:
            c = reduce_tensor(handle, a, "add", c_shape=(1, 2, 1, 2, 1, 1, 1)).c
            expected = values.sum(axis=(0, 2, 4, 5, 6), keepdims=True)
            np.testing.assert_array_equal(c.numpy(), expected)
