"""All families of cases, and how a case is drawn."""

from __future__ import annotations

import bisect
import itertools
import random
from collections.abc import Mapping, Sequence
from typing import Any

from . import (
    attention,
    convolutions,
    fused,
    images,
    layers,
    losses,
    norms,
    others,
    recurrent,
    tensors,
)
from .draw import Draw

__all__ = ["FAMILIES", "draw", "redraw", "schedule"]

FAMILIES: dict[str, tuple[float, Any]] = {
    **images.FAMILIES,
    **tensors.FAMILIES,
    **convolutions.FAMILIES,
    **norms.FAMILIES,
    **recurrent.FAMILIES,
    **attention.FAMILIES,
    **losses.FAMILIES,
    **others.FAMILIES,
    **fused.FAMILIES,
    **layers.FAMILIES,
}
"""Weights, and what makes a program of a draw."""


def draw(family: str, seed: int) -> tuple[Draw, Any]:
    """The choices of a case, and its program."""
    choices = Draw(family, seed)
    return choices, FAMILIES[family][1](choices)


def redraw(case: Mapping[str, Any]) -> tuple[Draw, Any]:
    """The same for a case as `Draw.case` gives it."""
    choices = Draw(case["family"], case["seed"], case["choices"])
    return choices, FAMILIES[case["family"]][1](choices)


def schedule(first: int, count: int, families: Sequence[str]) -> list[tuple[str, int]]:
    """Families by weight, each with the seed of its case."""
    edges = list(itertools.accumulate(FAMILIES[name][0] for name in families))
    result = []
    for seed in range(first, first + count):
        place = random.Random(seed).random() * edges[-1]
        result.append((families[bisect.bisect(edges, place)], seed))
    return result
