"""Strides of packed tensors, in the order of a named layout or of another tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

# The letters of tensors' axes in the order of their dims: images, filters, attention.
_LOGICAL_ORDERS = ("ncw", "nchw", "ncdhw", "kcs", "kcrs", "kctrs", "bhsd")


def axis_order(dims: Sequence[int], strides: Sequence[int]) -> tuple[int, ...]:
    """The axes from the outermost to the innermost: (0, 2, 3, 1) for NHWC in (n, c, h, w) dims.

    Between two axes of equal stride, the axis with a single element is the inner one.
    """
    return tuple(sorted(range(len(dims)), key=lambda axis: (-strides[axis], dims[axis] == 1, axis)))


def lies_in(order: Sequence[int], dims: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the dimensions of more than one element lie in memory in the order of these axes."""
    found = [strides[axis] for axis in order if dims[axis] != 1]
    return found == sorted(found, reverse=True)


def layout_order(layout: str, rank: int) -> tuple[int, ...]:
    """The axes from the outermost to the innermost in the layout of this name.

    - `layout`: "nchw" or "nhwc" for any number of spatial dimensions; or the letters of ncw, ncdhw
      (images), kcs, kcrs, kctrs (filters) or bhsd (attention) in memory order, the outermost first:
      "ndhwc", "krsc", "bshd". Case and C's prefix ``CUDNN_TENSOR_`` are ignored.

    Raises ValueError if no tensor of this rank has a layout of this name.
    """
    name = layout.lower().removeprefix("cudnn_tensor_")
    if name == "nchw" or (name == "nhwc" and rank < 3):
        return tuple(range(rank))
    if name == "nhwc":
        return (0, *range(2, rank), 1)
    for logical in _LOGICAL_ORDERS:
        if len(logical) == rank and sorted(logical) == sorted(name):
            return tuple(map(logical.index, name))
    known = ", ".join(each for each in _LOGICAL_ORDERS if len(each) == rank) or "none"
    raise ValueError(
        f'expected "nchw", "nhwc", or the letters of a tensor of {rank} dimensions ({known}) in '
        f"the order of memory, got {layout!r}"
    )


def packed(dims: Sequence[int], order: Sequence[int] | None = None) -> tuple[int, ...]:
    """Strides of a packed tensor, in elements; `order` lists the axes from the outermost, by
    default in C order."""
    strides = [1] * len(dims)
    size = 1
    for axis in reversed(range(len(dims)) if order is None else order):
        strides[axis] = size
        size *= dims[axis]
    return tuple(strides)


def packed_like(
    dims: Sequence[int], like_dims: Sequence[int], like_strides: Sequence[int]
) -> tuple[int, ...]:
    """Strides of a packed tensor of `dims`, in the axis order of another tensor of equal rank."""
    if len(like_dims) != len(dims) or math.prod(like_dims) == 1:
        return packed(dims)
    return packed(dims, axis_order(like_dims, like_strides))


def extent(dims: Sequence[int], strides: Sequence[int]) -> int:
    """Elements from the first to the last one in memory, gaps included; 0 if there are none."""
    if 0 in dims:
        return 0
    return 1 + sum((size - 1) * abs(step) for size, step in zip(dims, strides, strict=True))


def in_elements(
    dims: tuple[int, ...], strides: tuple[int, ...], length: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dims and strides in single elements of a tensor whose strides count vectors of channels.

    Vectors, of `length` channels each, become a last dimension of stride 1.
    """
    if length == 1 or len(dims) < 2:
        return dims, strides
    dims = (dims[0], dims[1] // length, *dims[2:], length)
    return dims, (*(length * step for step in strides), 1)


def has_gaps(dims: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether there is memory between elements."""
    return extent(dims, strides) > math.prod(dims)


def steps(dims: Sequence[int], strides: Sequence[int]) -> list[int]:
    """The strides of dimensions of more than one element."""
    return [step for size, step in zip(dims, strides, strict=True) if size > 1]


def is_spaced(dims: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether no two elements lie beside each other, of a tensor of several."""
    found = steps(dims, strides)
    return bool(found) and min(found) != 1


def same_steps(dims: Sequence[int], strides: Sequence[int], others: Sequence[int]) -> bool:
    """Whether strides of tensors of these dims are equal but in dimensions of size 1."""
    triples = zip(dims, strides, others, strict=True)
    return all(size == 1 or one == other for size, one, other in triples)


def has_strides(tensor: Any, strides: Sequence[int], start: int = 0) -> bool:
    """Whether a tensor has these strides, from dimension `start` on, but in those of size 1."""
    return same_steps(tensor.shape[start:], tensor.strides[start:], strides[start:])


def is_packed(tensor: Any, layout: str = "nchw", start: int = 0) -> bool:
    """Whether a tensor has the strides of a packed one in a layout, as `has_strides` says."""
    order = layout_order(layout, len(tensor.shape))
    return has_strides(tensor, packed(tensor.shape, order), start)


def same_layout(one: Any, other: Any) -> bool:
    """Whether two tensors of one shape have equal strides; dimensions of size 1 do not count."""
    return has_strides(one, other.strides)


def overlapping(dims: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements share memory: a stride is shorter than the extent of the inner axes."""
    if 0 in dims:
        return False
    reach = 1
    for stride, size in sorted(zip(strides, dims, strict=True)):
        if size > 1:
            if stride < reach:
                return True
            reach += (size - 1) * stride
    return False


def is_dense(dims: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether elements fill the memory from the first to the last of them, each its own place."""
    return extent(dims, strides) == math.prod(dims) and not overlapping(dims, strides)


def broadcast(*shapes: Sequence[int]) -> tuple[int, ...] | None:
    """The dims to which all `shapes`, of equal rank, broadcast; None if they do not fit."""
    if len({len(shape) for shape in shapes}) != 1:
        return None
    result = []
    for sizes in zip(*shapes, strict=True):
        wide = {size for size in sizes if size != 1}
        if len(wide) > 1:
            return None
        result.append(wide.pop() if wide else 1)
    return tuple(result)
