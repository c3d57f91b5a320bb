"""Parts and other shapes of a tensor without copying: indices and shapes to strides and offsets."""

from __future__ import annotations

import math
import operator
from types import EllipsisType
from typing import Any

from .layout import Shape, to_shape

__all__ = ["indexed", "reshaped"]


def indexed(shape: Shape, strides: Shape, key: Any) -> tuple[Shape, Shape, int]:
    """Shape, strides and first element of ``tensor[key]``.

    Parameters
    ----------
    shape, strides
        Of the tensor, in elements.
    key : int, slice, None, Ellipsis, or a tuple of these
        As in NumPy's basic indexing; steps of slices are positive.

    Raises
    ------
    IndexError
        If an index is out of bounds, or there are more of them than dimensions.
    TypeError
        For an index that would need a copy, such as an array.
    ValueError
        For a slice with a negative step.
    """
    keys = key if isinstance(key, tuple) else (key,)
    indices = sum(each is not None and not isinstance(each, EllipsisType) for each in keys)
    if indices > len(shape):
        raise IndexError(f"{indices} indices for a tensor of {len(shape)} dimensions")
    if sum(isinstance(each, EllipsisType) for each in keys) > 1:
        raise IndexError("more than one Ellipsis (...)")
    if not any(isinstance(each, EllipsisType) for each in keys):
        keys = (*keys, ...)
    new_shape: list[int] = []
    new_strides: list[int] = []
    offset = axis = 0
    for each in keys:
        if each is None:
            new_shape.append(1)
            new_strides.append(1)
        elif isinstance(each, EllipsisType):
            skipped = len(shape) - indices
            new_shape += shape[axis : axis + skipped]
            new_strides += strides[axis : axis + skipped]
            axis += skipped
        elif isinstance(each, slice):
            start, stop, step = each.indices(shape[axis])
            if step < 0:
                raise ValueError(f"{each}: cuDNN has no negative strides; copy the tensor instead")
            count = max(0, -(-(stop - start) // step))
            new_shape.append(count)
            new_strides.append(strides[axis] * (step if count > 1 else 1))
            offset += start * strides[axis] if count else 0
            axis += 1
        else:
            offset += _position(each, axis, shape[axis]) * strides[axis]
            axis += 1
    return tuple(new_shape), tuple(new_strides), 0 if 0 in new_shape else offset


def _position(index: Any, axis: int, size: int) -> int:
    try:
        if isinstance(index, bool):
            raise TypeError
        position = operator.index(index)
    except TypeError:
        raise TypeError(
            f"index {index!r}: expected ints, slices, None and ..., which make views; for other "
            f"indices copy to the host with .numpy()"
        ) from None
    if not -size <= position < size:
        raise IndexError(f"index {position} is out of bounds for dimension {axis} of size {size}")
    return position % size


def reshaped(shape: Shape, strides: Shape, wanted: Any) -> tuple[Shape, Shape]:
    """Shape and strides of the same elements in the same order under another shape.

    Parameters
    ----------
    wanted : int or sequence of int
        The new shape; one entry may be -1 and is worked out.

    Raises
    ------
    ValueError
        If the number of elements differs, or no strides give that order without a copy.
    """
    new_shape = _resolved(wanted, math.prod(shape))
    if 0 in shape:
        return new_shape, (1,) * len(new_shape)
    # Runs of dimensions that lie in C order, as (elements, stride of the last); each is split on
    # its own.
    runs: list[tuple[int, int]] = []
    for size, stride in zip(shape, strides, strict=True):
        if size == 1:
            continue
        if runs and runs[-1][1] == size * stride:
            runs[-1] = (runs[-1][0] * size, stride)
        else:
            runs.append((size, stride))
    new_strides: list[int] = []
    left, step = 1, 1
    waiting = runs[::-1]
    for size in reversed(new_shape):
        if left == 1 and size > 1 and waiting:
            left, step = waiting.pop(0)
        if left % size:
            raise ValueError(
                f"a tensor of shape {shape} with strides {strides} cannot be seen as {new_shape} "
                f'without a copy: use .copy(layout="NCHW").reshape(...)'
            )
        new_strides.append(step)
        left //= size
        step *= size
    return new_shape, tuple(reversed(new_strides))


def _resolved(wanted: Any, count: int) -> Shape:
    entries = list(wanted) if hasattr(wanted, "__iter__") else [wanted]
    if entries.count(-1) == 1:
        known = math.prod(to_shape([each for each in entries if each != -1]))
        entries[entries.index(-1)] = count // known if known and not count % known else 0
    shape = to_shape(entries)
    if math.prod(shape) != count:
        raise ValueError(f"{count} elements cannot have the shape {wanted!r}")
    return shape
