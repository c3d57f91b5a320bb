"""The difference between two arrays in words, and the usual mistake that gives it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

_FACTORS = {-1.0: "has the wrong sign", 0.5: "is halved", 2.0: "is doubled"}


def close(found: np.ndarray, expected: np.ndarray, tolerance: float) -> np.ndarray:
    """A boolean array of the common shape: true for numbers that agree.

    - `found`, `expected`: of one shape.
    - `tolerance`: allowed difference, relative to each number and to the largest finite one.
    """
    if found.dtype.kind not in "fciub" or expected.dtype.kind not in "fciub":
        return np.asarray(found == expected)
    sizes = np.abs(expected[np.isfinite(expected)])
    largest = float(sizes.max()) if sizes.size else 0.0
    with np.errstate(all="ignore"):
        scale = tolerance * (largest or 1)
        return np.asarray(np.isclose(found, expected, tolerance, scale, equal_nan=True))


def equal(found: np.ndarray, expected: np.ndarray, tolerance: float) -> bool:
    """Whether two arrays have one shape and agree in all numbers."""
    return found.shape == expected.shape and bool(close(found, expected, tolerance).all())


def first_difference(found: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    """A sentence on the first number that differs, and on how many do; on shapes if they differ."""
    if found.shape != expected.shape:
        return f"the shape is {found.shape}, not {expected.shape}"
    wrong = ~close(found, expected, tolerance)
    index = tuple(map(int, np.argwhere(wrong)[0]))
    values = f"{_number(found[index])} instead of {_number(expected[index])}"
    if not index:
        return f"it is {values}"
    place = ", ".join(map(str, index))
    return f"number [{place}] is {values}; {wrong.sum()} of {wrong.size} numbers differ"


def _number(value: np.generic) -> str:
    return f"{value:.4g}" if value.dtype.kind in "fc" else str(value)


def usual_mistake(found: np.ndarray, expected: np.ndarray, tolerance: float) -> str:
    """The usual mistake that turns `expected` into `found`; "" if none of the known ones does."""
    if found.dtype.kind not in "fciub" or not found.size or not expected.size:
        return ""
    return next(
        (
            said
            for said, values in _mistakes(found, expected)
            if equal(found, np.asarray(values), tolerance)
        ),
        "",
    )


def _mistakes(found: np.ndarray, expected: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Usual mistakes in words, each with the array that it gives."""
    rank, one_shape = expected.ndim, found.shape == expected.shape
    if one_shape:
        nan = np.isnan(found) & ~np.isnan(expected) if found.dtype.kind in "fc" else found != found
        if nan.any():
            yield f"{nan.sum()} of {nan.size} numbers are NaN", found
        yield "every number is 0, as if nothing had been written", np.zeros_like(expected)
        yield from _scaled(found, expected)
    if found.size == expected.size and not one_shape:
        yield "the numbers are right, but in another shape", expected.reshape(found.shape)
    for order in itertools.permutations(range(rank) if rank < 5 else ()):
        if order != tuple(range(rank)):
            yield (
                f"it is transposed: its axes are the right ones in the order {order}",
                (expected.transpose(order)),
            )
    if not one_shape:
        return
    for count in range(1, min(rank, 4) + 1):
        for axes in itertools.combinations(range(rank), count):
            named = f"axis {axes[0]}" if count == 1 else f"axes {axes}"
            yield f"it is flipped along {named}", np.flip(expected, axes)
    for axis, step in itertools.product(range(rank), (1, -1)):
        # What moves in from the border is unknown: take it from what was found.
        moved = np.roll(expected, step, axis)
        border = (*(slice(None),) * axis, 0 if step > 0 else -1)
        if expected.shape[axis] > 2:
            moved[border] = found[border]
            yield f"it is shifted by one along axis {axis}", moved
    for order in itertools.permutations(range(rank) if rank < 5 else ()):
        moved = expected.transpose(order).reshape(expected.shape)
        yield f"the numbers lie in another layout: the axes in the order {order}", moved
    if found.dtype.kind != "b" and expected.dtype.kind != "b":
        yield "every number is right but for its sign", np.copysign(expected, found)
    ordered = np.sort(expected, axis=None)[np.argsort(np.argsort(found, axis=None))]
    yield "the numbers are right, but in other places", ordered.reshape(expected.shape)


def _scaled(found: np.ndarray, expected: np.ndarray) -> Iterator[tuple[str, np.ndarray]]:
    """Every number times the same factor, or more by the same amount."""
    if found.dtype.kind == "b" or expected.dtype.kind == "b":
        return
    largest = np.unravel_index(np.nanargmax(np.abs(expected)), expected.shape)
    which = "every number" if expected.ndim else "it"
    for factor, said in _FACTORS.items():
        yield f"{which} {said}", expected * factor
    with np.errstate(all="ignore"):
        factor = float(found[largest] / expected[largest]) if expected[largest] else 0.0
        more = float(found[largest]) - float(expected[largest])
    if expected.ndim and np.isfinite(factor) and factor:
        yield f"every number is {factor:.4g} times the right one", expected * factor
    if expected.ndim and np.isfinite(more) and more:
        side = "large" if more > 0 else "small"
        yield f"every number is {abs(more):.4g} too {side}", expected + more
