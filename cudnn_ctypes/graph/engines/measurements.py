"""What an autotuning measured: as data, as plain text, and as a table for a terminal."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from ..backend.engine import EngineChoice
from .tables import WIDE, aligned, bytes_text, rich_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

__all__ = ["Autotuning", "Measurement", "Settings"]

_COLUMNS = (
    "median us",
    "spread",
    "fastest",
    "runs",
    "engine",
    "knobs",
    "workspace",
    "built in s",
    "from",
)
_NARROW = ("median us", "spread", "runs", "engine", "knobs", "workspace")  # for 80 characters
_NUMBERS = ("median us", "spread", "fastest", "runs", "engine", "workspace", "built in s")


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
        show(self, file)

    def __rich__(self) -> Any:
        return RichText(self)

    def __str__(self) -> str:
        return plain_text(self)


def plain_text(tuned: Autotuning) -> str:
    """All lines, as long as they need to be."""
    cells = [_cells(each) for each in tuned.ranking]
    return "\n".join([_title(tuned), "", aligned(_COLUMNS, cells, _NUMBERS), *_others(tuned)])


class RichText:
    """The same for rich: a table with lines, and fewer columns where there is little room."""

    def __init__(self, tuned: Autotuning) -> None:
        self._tuned = tuned

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.markup import escape

        tuned = self._tuned
        columns = _COLUMNS if options.max_width >= WIDE else _NARROW
        table = rich_table(columns, _NUMBERS)
        for each in tuned.ranking:
            style = "dim" if each.state == "dropped" else "green" if each is tuned.best else None
            cells = dict(zip(_COLUMNS, _cells(each), strict=True))
            table.add_row(*(escape(cells[name]) for name in columns), style=style)
        yield escape(_title(tuned))
        yield table
        yield from map(escape, _others(tuned))


def show(tuned: Autotuning, file: TextIO | None) -> None:
    """See ``Autotuning.show``."""
    from rich.console import Console

    console = Console(file=file, highlight=False)
    if console.is_terminal:
        console.print(tuned)
    else:
        print(plain_text(tuned), file=file or sys.stdout)


def _title(tuned: Autotuning) -> str:
    settings, ranking, best = tuned.settings, tuned.ranking, tuned.best
    title = (
        f"{tuned.graph!r} on {tuned.device}, cuDNN {tuned.cudnn}: {len(ranking)} plans measured in "
        f"{tuned.seconds:.1f} s, {settings.runs} runs each, "
        f"{'cold' if settings.cold_cache else 'warm'} cache\n"
        f"fastest: {best.choice}, {best.median:.1f} us"
    )
    first = next((each for each in tuned.measurements if each.times), best)
    if first is not best:
        title += f"; {first.source}, which build() tries first, {first.median:.1f} us"
        if first.median - best.median <= max(first.spread, best.spread):
            title += ": no difference beyond the spread"
    return title


def _cells(each: Measurement) -> list[str]:
    return [
        f"{each.median:.1f}",
        f"{each.spread:.1f}",
        f"{each.fastest:.1f}",
        f"{each.runs}{' dropped' if each.state == 'dropped' else ''}",
        str(each.engine),
        " ".join(f"{name}={value}" for name, value in each.knobs.items()) or "-",
        bytes_text(each.workspace),
        f"{each.build_seconds:.3f}",
        each.source,
    ]


def _others(tuned: Autotuning) -> list[str]:
    lines = []
    for each in tuned.measurements:
        if each.state in ("failed", "excluded"):
            reason = f"{each.status}: {each.reason}" if each.status else each.reason
            lines.append(f"{each.choice} {each.state}: {reason}")
    left = sum(each.state == "not tried" for each in tuned.measurements)
    if left:
        lines.append(f"{left} not tried: the budget of {tuned.settings.budget:g} s was used up")
    return lines
