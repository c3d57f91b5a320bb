"""What an autotuning measured, as data."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, TextIO

from .engines import EngineChoice

__all__ = ["Autotuning", "Measurement", "Settings"]


@dataclass(frozen=True)
class Measurement:
    """What one engine config took.

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
        """What ``Graph.build(config=...)`` takes; so does it take this measurement."""
        return EngineChoice(self.engine, self.knobs)

    @property
    def runs(self) -> int:
        return len(self.times)

    @property
    def median(self) -> float:
        """Microseconds; infinite if nothing was measured."""
        return statistics.median(self.times) if self.times else float("inf")

    @property
    def spread(self) -> float:
        """Microseconds from the first to the third quartile."""
        if len(self.times) < 2:
            return 0.0
        first, _, third = statistics.quantiles(self.times, n=4, method="inclusive")
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


@dataclass(frozen=True)
class Autotuning:
    """What `Graph.autotune` measured; ``str`` gives a table, `show` prints it.

    Attributes
    ----------
    graph, device, cudnn : str
        The graph's name, the GPU, and the version of cuDNN.
    measurements : tuple of Measurement
        In the order in which they were made. Iterating gives these too.
    best : Measurement
        That with the smallest median among those with all runs; the graph holds its plan.
    settings : Settings
    seconds : float
        What all took.
    """

    graph: str
    device: str
    cudnn: str
    measurements: tuple[Measurement, ...]
    best: Measurement
    settings: Settings = field(default_factory=Settings)
    seconds: float = 0.0

    def __iter__(self) -> Iterator[Measurement]:
        return iter(self.measurements)

    def __len__(self) -> int:
        return len(self.measurements)

    @property
    def ranking(self) -> tuple[Measurement, ...]:
        """Those with times, the fastest first; dropped ones come after those with all runs."""
        timed = [each for each in self.measurements if each.times]
        return tuple(sorted(timed, key=lambda each: (each.state == "dropped", each.median)))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def show(self, file: TextIO | None = None) -> None:
        """Print it: as a table with lines on a terminal, else as plain text."""
        from .autotuning_text import show

        show(self, file)

    def __rich__(self) -> Any:
        from .autotuning_text import RichText

        return RichText(self)

    def __str__(self) -> str:
        from .autotuning_text import plain_text

        return plain_text(self)
