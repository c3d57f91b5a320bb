"""Options with one entry for each spatial dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..arguments import integer
from ..runtime.layout import to_shape

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
    entries = {
        name: to_shape(value, name) if _is_sequence(value) else integer(name, value)
        for name, value in options.items()
    }
    lengths = {name: len(each) for name, each in entries.items() if isinstance(each, tuple)}
    if len(set(lengths.values())) > 1 or 0 in lengths.values():
        counts = ", ".join(f"{name} has {length}" for name, length in lengths.items())
        raise ValueError(f"one entry is needed for each spatial dimension, but {counts}")
    ndim = next(iter(lengths.values()), 2)
    if ndim == 1:
        return [(height[name], *_each(entry, 1)) for name, entry in entries.items()]
    return [_each(entry, ndim) for entry in entries.values()]


def _is_sequence(value: Any) -> bool:
    return hasattr(value, "__iter__") and getattr(value, "ndim", 1) != 0


def _each(entry: int | tuple[int, ...], ndim: int) -> tuple[int, ...]:
    return entry if isinstance(entry, tuple) else (entry,) * ndim
