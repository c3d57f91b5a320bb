"""Options with one entry for each spatial dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..device.layout import to_shape

__all__ = ["spatial_entries"]


def spatial_entries(
    options: Mapping[str, int | Sequence[int]], height: Mapping[str, int]
) -> list[tuple[int, ...]]:
    """Each option with one entry for every spatial dimension, of which there are at least 2.

    Parameters
    ----------
    options
        By name; an int stands for all spatial dimensions, which are 2 if only ints are given.
    height
        By name, the entry for the height of 1 that is added to 1 spatial dimension.

    Raises
    ------
    ValueError
        If the numbers of entries differ.
    """
    lengths = {
        name: len(to_shape(value, name))
        for name, value in options.items()
        if not hasattr(value, "__index__")
    }
    if len(set(lengths.values())) > 1:
        given = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"one entry is needed for each spatial dimension, but {given}")
    ndim = next(iter(lengths.values()), 2)
    if ndim == 1:
        return [(height[name], *_entries(value, 1)) for name, value in options.items()]
    return [_entries(value, ndim) for value in options.values()]


def _entries(value: Any, ndim: int) -> tuple[int, ...]:
    return (int(value),) * ndim if hasattr(value, "__index__") else tuple(value)
