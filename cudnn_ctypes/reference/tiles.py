"""Computing in tiles: parts of the operands that fit in the processor's cache.

NumPy computes one operation after the other on whole arrays. Where a formula has several, and an
array is larger than the cache, each of them waits for memory. `tiled` applies the whole formula to
one part of the operands after the other instead.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]
"""An array of numbers of any type."""

Tile = tuple[slice, ...]
Results = TypeVar("Results")

ELEMENTS = 1 << 15  # elements of a tile: a few arrays of this size fit in the cache of a core
_LINE = 16  # adjacent elements that are read together


def tiles(x: Array, axes: Iterable[int], growth: float = 1) -> Iterator[Tile]:
    """Indices that cut `x` along `axes`, along the first of them first."""
    steps, most = list(x.shape), round(ELEMENTS / growth)
    for axis in axes:
        rest = math.prod(steps) // max(steps[axis], 1)
        least = _LINE if x.strides[axis] == x.itemsize else 1
        steps[axis] = min(steps[axis], max(least, most // max(rest, 1)))
    places = (
        [slice(start, start + step) for start in range(0, size, step)] if size else [slice(0)]
        for size, step in zip(x.shape, steps, strict=True)
    )
    return itertools.product(*places)


def tiled(
    formula: Callable[..., Results],
    x: Array,
    *others: Array | None,
    axes: Iterable[int] | None = None,
    growth: float = 1,
    out: Array | None = None,
) -> Results:
    """`formula` of the operands, tile by tile.

    Parameters
    ----------
    formula
        A function of operands that returns an array, or a tuple of arrays and None. Results have
        the sizes of x along `axes`, and their elements depend only on operands at the same place.
    x
        The operand that is cut into tiles.
    others
        Arrays with the dimensions of x, and its sizes or 1 along `axes`; or None.
    axes
        Default: all.
    growth
        The number of elements in intermediate results per element of x.
    out
        An array for the result, or the first of several. It may be one of the operands; if it
        overlaps an operand in another way, a new array is created.

    Returns
    -------
    ndarray or tuple
        The result of ``formula(x, *others)``.
    """
    axes = tuple(range(x.ndim) if axes is None else axes)
    operands, single = (x, *others), x.size * growth <= ELEMENTS
    wholes: list[Array | None] = []
    for place in [(slice(None),) * x.ndim] if single else tiles(x, axes, growth):
        parts = formula(*[_at(operand, place, axes) for operand in operands])
        several: tuple[Any, ...] = parts if isinstance(parts, tuple) else (parts,)
        if not wholes:
            fits = out is not None and not any(
                operand is not None and overlap(out, operand) for operand in operands
            )
            wholes = [out] if fits else []
            for part in several[len(wholes) :]:
                wholes.append(part if single else _whole(part, x.shape, axes))
        for whole, part in zip(wholes, several, strict=True):
            if whole is not None and whole is not part:
                _at(whole, place, axes)[...] = part
    return cast(Results, tuple(wholes) if isinstance(parts, tuple) else wholes[0])


def overlap(one: Array, other: Array) -> bool:
    """Whether two arrays may share memory otherwise than element by element."""
    return np.may_share_memory(one, other) and not same_place(one, other)


def same_place(one: Array, other: Array) -> bool:
    """Whether two arrays have the same elements in the same memory."""
    if one.shape != other.shape or one.ctypes.data != other.ctypes.data:
        return False
    strides = zip(one.shape, one.strides, other.strides, strict=True)
    return one.dtype == other.dtype and all(a == b for size, a, b in strides if size > 1)


def _at(operand: Array | None, place: Tile, axes: tuple[int, ...]) -> Any:
    """The part of an operand in a tile; along other axes, and of a single element, all of it."""
    if operand is None:
        return None
    index = [slice(None)] * operand.ndim
    for axis in axes:
        if operand.shape[axis] > 1:
            index[axis] = place[axis]
    return operand[tuple(index)]


def _whole(part: Array | None, shape: tuple[int, ...], axes: tuple[int, ...]) -> Array | None:
    """New memory for a result, in the order of a part of it."""
    if part is None:
        return None
    sizes = [shape[axis] if axis in axes else size for axis, size in enumerate(part.shape)]
    return np.empty_like(part, shape=sizes)


def other_axes(x: Array, axes: tuple[int, ...]) -> list[int]:
    """The axes of `x` that are not in `axes`."""
    return [axis for axis in range(x.ndim) if axis not in axes]
