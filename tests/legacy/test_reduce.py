"""Reductions through layer 2: descriptors, known numbers, indices, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudnn_ctypes import (
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
