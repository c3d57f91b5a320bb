"""One measurement of an autotuning, and how it is made."""

from __future__ import annotations

import statistics
from collections.abc import Mapping
from dataclasses import dataclass

from ...backend.engine import EngineChoice

__all__ = ["Measurement", "Settings"]


@dataclass(frozen=True)
class Measurement:
    """The times of one engine config.

    Attributes
    ----------
    engine : int
    knobs : mapping of str to int
    source : str
        Who proposed it: "a 1" is the best of heuristics "a"; "engine" is an engine that they do
        not propose; "knobs" the search around the fastest.
    state : {"measured", "dropped", "failed", "excluded", "not tried"}
        Dropped are plans that were clearly slower than the fastest so far after a few runs; not
        tried is what the budget had no time for.
    times : tuple of float
        Microseconds of each timed run.
    workspace : int or None
        Bytes that the plan itself needs.
    notes : tuple of str
        Numerical and behaviour notes.
    build_seconds : float
        What making the plan took, compilation included.
    status, reason : str
        Why it failed, or is not wanted.
    """

    engine: int
    knobs: Mapping[str, int]
    source: str
    state: str
    times: tuple[float, ...] = ()
    workspace: int | None = None
    notes: tuple[str, ...] = ()
    build_seconds: float = 0.0
    status: str = ""
    reason: str = ""

    @property
    def choice(self) -> EngineChoice:
        """The engine and knobs; ``Graph.build(config=...)`` takes them, or this object."""
        return EngineChoice(self.engine, self.knobs)

    @property
    def runs(self) -> int:
        return len(self.times)

    @property
    def median(self) -> float:
        """Microseconds; infinite if nothing was measured."""
        return statistics.median(self.times) if self.times else float("inf")

    @property
    def quartiles(self) -> tuple[float, float]:
        """The first and the third, in microseconds; the median twice for fewer than two runs."""
        if len(self.times) < 2:
            return self.median, self.median
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
        return first, third

    @property
    def spread(self) -> float:
        """Microseconds from the first to the third quartile."""
        if len(self.times) < 2:
            return 0.0
        first, third = self.quartiles
        return third - first

    @property
    def fastest(self) -> float:
        """Microseconds; infinite if nothing was measured."""
        return min(self.times, default=float("inf"))


@dataclass(frozen=True)
class Settings:
    """How an autotuning measures.

    Attributes
    ----------
    runs, warm_up : int
        Timed and untimed executions of each plan.
    budget : float or None
        Seconds after which no other plan is begun.
    knobs : int
        How many settings of knobs to measure beyond those that are proposed.
    cold_cache : bool
        Whether operands come from memory in each run.
    """

    runs: int = 20
    warm_up: int = 1
    budget: float | None = 60.0
    knobs: int = 0
    cold_cache: bool = True

    def __post_init__(self) -> None:
        for name, least in (("runs", 1), ("warm_up", 0), ("knobs", 0)):
            value = getattr(self, name)
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(f"{name}: expected a whole number, got {value!r}")
            if value < least:
                raise ValueError(f"{name}: expected at least {least}, got {value}")
        budget = self.budget
        if isinstance(budget, bool) or not isinstance(budget, (int, float, type(None))):
            raise TypeError(f"budget: expected seconds or None, got {budget!r}")
        if budget is not None and not budget > 0:
            raise ValueError(f"budget: expected seconds, more than 0, or None, got {budget!r}")
