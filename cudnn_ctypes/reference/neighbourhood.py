"""Windows around every element, clipped at the borders, for sums in LRN and its spatial form."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

Index = tuple[slice, ...]


def reach(window: int) -> tuple[int, int]:
    """How far a window of this width looks back and ahead; an even one looks further ahead.

    Examples
    --------
    >>> reach(5), reach(4)
    ((2, 2), (1, 2))
    """
    back = (window - 1) // 2
    return back, window - 1 - back


def neighbours(
    shape: Sequence[int], axes: Sequence[int], window: int
) -> Iterator[tuple[Index, Index]]:
    """For every offset in a window along `axes`: all elements with a neighbour there, and these
    neighbours.

    For two arrays of this shape,

        for here, there in neighbours(shape, axes, window):
            total[here] += a[here] * b[there]

    sums over the window around every element, without the positions outside of the array.
    """
    back, ahead = reach(window)
    for steps in itertools.product(range(-back, ahead + 1), repeat=len(axes)):
        here, there = [slice(None)] * len(shape), [slice(None)] * len(shape)
        for axis, step in zip(axes, steps, strict=True):
            here[axis] = slice(max(0, -step), max(0, shape[axis] - max(0, step)))
            there[axis] = slice(max(0, step), max(0, shape[axis] - max(0, -step)))
        if all(abs(step) < shape[axis] for axis, step in zip(axes, steps, strict=True)):
            yield tuple(here), tuple(there)
