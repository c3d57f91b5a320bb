"""All families of cases, and how a case is drawn."""

from __future__ import annotations

import bisect
import itertools
import random
from collections import Counter
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

__all__ = ["FAMILIES", "Schedule", "draw", "redraw"]

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


class Schedule:
    """The cases of one worker: families by weight, and in each of them no option rarely.

    Of several seeds for a case that one is taken whose choices hold the rarest option, if it was
    drawn in fewer than one of a thousand cases until now.
    """

    _RATE, _TRIES, _APART = 1e-3, 12, 10**9

    def __init__(self, families: Sequence[str]) -> None:
        self._families = families
        self._edges = list(itertools.accumulate(FAMILIES[name][0] for name in families))
        self._counts: Counter[tuple[str, str, str]] = Counter()
        self._cases = 0

    def cases(self, first: int, count: int) -> list[tuple[str, int]]:
        """Families, each with the seed of its case."""
        return [self._case(seed) for seed in range(first, first + count)]

    def _case(self, seed: int) -> tuple[str, int]:
        place = random.Random(seed).random() * self._edges[-1]
        family = self._families[bisect.bisect(self._edges, place)]
        drawn = [draw(family, seed + n * self._APART)[0] for n in range(self._TRIES)]
        chosen, least = drawn[0], self._RATE * self._cases
        for each in drawn:
            counts = [self._counts[(family, *option)] for option in each.counted]
            rarest = min(counts, default=least)
            if rarest < least:
                chosen, least = each, rarest
        self._counts.update((family, *option) for option in chosen.counted)
        self._cases += 1
        return family, chosen.seed
