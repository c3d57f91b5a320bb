"""Reductions through layer 2: descriptors, known numbers, indices, and wrong input."""

from __future__ import annotations

from typing import Any

import numpy as np

from cudnn_ctypes import DeviceTensor, Handle, ReduceTensorDescriptor, reduce_tensor

A = np.array([[1, -5, 2], [4, 0, -3]], np.float32).reshape(1, 2, 1, 3)


def tensor(array: np.ndarray, **how: Any) -> DeviceTensor:
    return DeviceTensor.from_numpy(np.ascontiguousarray(array), **how)


class TestReduce:
    def test_the_first_of_equal_elements_counts(self, handle: Handle) -> None:
        values = np.array([1, 7, 3, 7, 7, 0], np.float32).reshape(1, 1, 2, 3)
        with ReduceTensorDescriptor("max", indices=True) as reduction, tensor(values) as a:
            result = reduce_tensor(handle, a, reduction, c_shape=(1, 1, 1, 1))
            assert result.indices.numpy().ravel().tolist() == [1]
