"""Operations that move elements: views of the same memory, transposes, slices, concatenation."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from ...raw.enums import cudnnBackendReshapeMode_t
from ..tiles import Array


def offsets(shape: Sequence[int], strides: Sequence[int]) -> Array:
    """The offset of each element of a tensor, in elements."""
    found = np.zeros(tuple(shape), np.int64)
    for axis, (size, stride) in enumerate(zip(shape, strides, strict=True)):
        along = [1] * len(shape)
        along[axis] = size
        found += (np.arange(size) * stride).reshape(along)
    return found


def reshape(
    x: Array,
    x_strides: Sequence[int],
    y_shape: Sequence[int],
    y_strides: Sequence[int],
    mode: cudnnBackendReshapeMode_t | None = None,
) -> Array:
    """The elements of `x` with other dims.

    The result is another view of the memory that x would have with its strides: exchanged strides
    transpose. If the two cover different memory, and in the mode LOGICAL, the elements keep their
    row-major order.
    """
    logical = mode == cudnnBackendReshapeMode_t.CUDNN_RESHAPE_LOGICAL
    x_order, y_order = _packed_order(x.shape, x_strides), _packed_order(y_shape, y_strides)
    if not logical and x_order and y_order and x.size == math.prod(y_shape):
        packed = x.transpose(x_order).reshape([y_shape[axis] for axis in y_order])
        return packed.transpose(np.argsort(y_order))
    target = offsets(y_shape, y_strides)
    source = offsets(x.shape, x_strides)
    if logical or not np.array_equal(np.sort(source, None), np.sort(target, None)):
        return x.reshape(tuple(y_shape))
    memory = np.empty(int(source.max()) + 1, x.dtype)
    memory[source] = x
    return np.asarray(memory[target])


def _packed_order(shape: Sequence[int], strides: Sequence[int]) -> list[int] | None:
    """The axes in memory order; None for a tensor with gaps or overlaps."""
    order = sorted(range(len(shape)), key=lambda axis: (shape[axis] > 1, strides[axis]))
    expected = 1
    for axis in order:
        if shape[axis] > 1 and strides[axis] != expected:
            return None
        expected *= shape[axis]
    return order[::-1]


def slices(x: Array, start: Sequence[int], limit: Sequence[int], steps: Sequence[int]) -> Array:
    """x[start:limit:step] along each dimension."""
    return x[tuple(slice(*each) for each in zip(start, limit, steps, strict=True))]
