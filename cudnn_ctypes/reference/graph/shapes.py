"""Operations that move elements: views of the same memory, transposes, slices, concatenation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...raw.enums import cudnnBackendReshapeMode_t

__all__ = ["offsets", "reshape", "slices"]

Array = NDArray[Any]


def offsets(shape: Sequence[int], strides: Sequence[int]) -> Array:
    """Where each element of a tensor lies, counted in elements."""
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

    The result is another view of the memory that x would have with its strides: so exchanged
    strides transpose. Where the two do not cover the same memory, and in the mode LOGICAL, the
    elements keep their order by rows.
    """
    target = offsets(y_shape, y_strides)
    source = offsets(x.shape, x_strides)
    logical = mode == cudnnBackendReshapeMode_t.CUDNN_RESHAPE_LOGICAL
    if logical or not np.array_equal(np.sort(source, None), np.sort(target, None)):
        return x.reshape(tuple(y_shape))
    memory = np.empty(int(source.max()) + 1, x.dtype)
    memory[source] = x
    return np.asarray(memory[target])


def slices(x: Array, start: Sequence[int], limit: Sequence[int], steps: Sequence[int]) -> Array:
    """x[start:limit:step] along each dimension."""
    return x[tuple(slice(*each) for each in zip(start, limit, steps, strict=True))]
