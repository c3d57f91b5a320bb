"""Random choices under names: drawn from a seed, given for a replay, or simplified one by one.

The first of the options, or the lowest number, is the plainest: what a case is shrunk towards.
"""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Draw", "Option"]

_DETAILS = ("wrong ", "which ")
_SHARE = 0.4  # of all draws, evenly for all options


@dataclass(frozen=True)
class Option:
    """What was chosen, and from what.

    Attributes
    ----------
    value : Any
        One that JSON can hold.
    plainer : tuple
        Values to try instead when a case is minimized, the plainest first.
    counted : bool
        Whether the table of options counts it: numbers are not counted.
    """

    value: Any
    plainer: tuple[Any, ...]
    counted: bool


def _evened(weights: Sequence[float]) -> list[float]:
    """Weights with a share for each option that may be drawn, so that none is rare; not of two."""
    possible = sum(weight > 0 for weight in weights)
    if possible < 3:
        return list(weights)
    share = _SHARE * sum(weights) / possible
    return [weight and (1 - _SHARE) * weight + share for weight in weights]


class Draw:
    """The choices of one case.

    Parameters
    ----------
    family : str
    seed : int
    fixed : mapping, optional
        Choices to replay; whatever it lacks, or no longer fits, becomes the plainest.
    """

    def __init__(self, family: str, seed: int, fixed: Mapping[str, Any] | None = None) -> None:
        self.family, self.seed = family, seed
        self.options: dict[str, Option] = {}
        self._random = random.Random(f"{family} {seed}")
        self._fixed = fixed

    @property
    def case(self) -> dict[str, Any]:
        """What draws this case again, as JSON has it."""
        choices = {name: option.value for name, option in self.options.items()}
        return {"family": self.family, "seed": self.seed, "choices": choices}

    @property
    def counted(self) -> set[tuple[str, str]]:
        """The options that tables count, without operands and axes: "layout" for "dy.layout"."""
        return {
            (name.rpartition(".")[2].rstrip("0123456789"), str(option.value))
            for name, option in self.options.items()
            if option.counted
        }

    @property
    def wrong(self) -> str:
        """What was drawn wrong about the last call and where, "rank yDesc"; "" if nothing was."""
        names = ("wrong", "wrong operand", "wrong argument")
        found = [str(self.options[name].value) for name in names if name in self.options]
        return "" if found[:1] in ([], ["no"]) else " ".join(found)

    def choice(
        self, name: str, options: Sequence[Any], weights: Sequence[float] | None = None
    ) -> Any:
        """One of `options`."""
        if self._fixed is None:
            value = self._random.choices(options, weights and _evened(weights))[0]
        else:
            value = self._fixed.get(name, options[0])
            value = value if value in options else options[0]
        plainer = tuple(options[: list(options).index(value)])
        counted = not name.startswith(_DETAILS) and "overlapping" not in name
        self._note(name, Option(value, plainer[:3], counted))
        return value

    def integer(self, name: str, low: int, high: int) -> int:
        """A whole number from `low` to `high`."""
        high = max(low, high)
        if self._fixed is None:
            value = self._random.randint(low, high)
        else:
            value = min(max(int(self._fixed.get(name, low)), low), high)
        plainer = dict.fromkeys((low, (low + value) // 2, value - 1))
        self._note(name, Option(value, tuple(n for n in plainer if n < value), counted=False))
        return value

    def _note(self, name: str, option: Option) -> None:
        if name in self.options:
            raise ValueError(f"{name} is drawn twice")
        self.options[name] = option

    def chance(self, name: str, probability: float) -> bool:
        """Whether something unusual is chosen, with 8 % at least."""
        often = max(probability, 0.08)
        return bool(self.choice(name, (False, True), (1 - often, often)))

    def integers(self, name: str, count: int, low: int, high: int) -> list[int]:
        """Several whole numbers."""
        return [self.integer(f"{name}{i}", low, high) for i in range(count)]
