"""Results of autotuning: as data, as plain text, and as a table for a terminal."""

from __future__ import annotations

import json
import math
import statistics
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ....arguments import Place
from ....raw.values import described
from ...backend.engine import EngineChoice
from ..explaining.report import Column, Report, Table, bytes_text, knobs_text

if TYPE_CHECKING:
    from ....evidence.pictures.plots import Bar


@dataclass(frozen=True)
class Measurement:
    """The times of one engine config, or of a program of several plans.

    - `engine`: -1 for a program, of whose plans `pieces` are the operations.
    - `source`: who proposed it: "a 1" is the best of heuristics "a"; "engine" is an engine that
      they do not propose; "knobs" the search around the fastest.
    - `state` ("measured", "dropped", "failed", "excluded", "not tried"): dropped are plans that
      were clearly slower than the fastest so far after a few runs; not tried is what the budget had
      no time for.
    - `times`: microseconds of each timed run.
    - `workspace`: bytes that the plan itself needs.
    - `notes`: numerical and behaviour notes.
    - `build_seconds`: what making the plan took, compilation included.
    - `status`, `reason`: why it failed, or is not wanted.
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
    pieces: tuple[str, ...] = ()

    @property
    def title(self) -> str:
        """The engine and knobs, or how many plans there are."""
        return f"program of {len(self.pieces)} plans" if self.pieces else str(self.choice)

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

    - `runs`, `warm_up`: timed and untimed executions of each plan.
    - `budget`: seconds after which no other plan is begun.
    - `knobs`: how many settings of knobs to measure beyond those that are proposed.
    - `cold_cache`: whether operands come from memory in each run.
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


_COLUMNS = (
    Column("median us", lambda each: f"{each.median:.1f}", number=True),
    Column("spread", lambda each: f"{each.spread:.1f}", number=True),
    Column("fastest", lambda each: f"{each.fastest:.1f}", number=True, narrow=False),
    Column(
        "runs", lambda each: f"{each.runs}{' dropped' * (each.state == 'dropped')}", number=True
    ),
    Column("engine", lambda each: each.title if each.pieces else str(each.engine), number=True),
    Column("knobs", lambda each: knobs_text(each.knobs)),
    Column("workspace", lambda each: bytes_text(each.workspace), number=True),
    Column("built in s", lambda each: f"{each.build_seconds:.3f}", number=True, narrow=False),
    Column("from", lambda each: each.source, narrow=False),
)


@dataclass(frozen=True)
class Autotuning(Report):
    """The result of `Graph.autotune`; ``str`` gives a table, `show` prints it.

    - `graph`, `device`, `cudnn`: the graph's name, the GPU, and the version of cuDNN.
    - `measurements`: in the order in which they were made. Iterating gives these too.
    - `best`: the one with the smallest median among those with all runs; the graph holds its plan,
      or program.
    - `seconds`: what all took.
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
        """Measurements with times, the fastest first; dropped ones after those with all runs."""
        timed = [each for each in self.measurements if each.times]
        return tuple(sorted(timed, key=lambda each: (each.state == "dropped", each.median)))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def to_json(self) -> str:
        """All of it as JSON text, for `from_json` on this or another machine."""
        return json.dumps({"format": FORMAT, "version": VERSION, **content(self)}, indent=1)

    @classmethod
    def from_json(cls, text: str | bytes) -> Autotuning:
        """The result that `to_json` wrote.

        Raises ValueError if the text is damaged; the message names the place.
        """
        top = Place.of_text(text, "autotuning")
        if (top["format"].value, top["version"].value) != (FORMAT, VERSION):
            top.refuse(f"expected {FORMAT!r}, version {VERSION}")
        return from_content(top)

    def merge(self, *others: Autotuning) -> Autotuning:
        """One result of several for the same graph, measured on GPUs of one kind.

        Of two measurements of one engine config the one with more runs stays, of equal ones the
        later in the order of the arguments.

        Raises ValueError if the GPU, the version of cuDNN, or whether the cache was cold, are not
        the same.
        """
        found: dict[Any, Measurement] = {}
        for tuned in (self, *others):
            if not isinstance(tuned, Autotuning):
                raise TypeError(f"others: expected results of autotuning, got {described(tuned)}")
            for what, here, there in (
                ("device", self.device, tuned.device),
                ("cudnn", self.cudnn, tuned.cudnn),
                ("cold_cache", self.settings.cold_cache, tuned.settings.cold_cache),
            ):
                if here != there:
                    raise ValueError(f"others: {what} is {there!r} in one and {here!r} in another")
            for each in tuned.measurements:
                place = each.pieces or each.choice
                before = found.get(place)
                if before is None or _weight(each) >= _weight(before):
                    found[place] = each
        measurements = tuple(found.values())
        best = min((m for m in measurements if m.state == "measured"), key=lambda m: m.median)
        seconds = sum(tuned.seconds for tuned in (self, *others))
        return replace(self, measurements=measurements, best=best, seconds=seconds)

    def plot(self, ax: Any = None) -> Any:
        """The times as bars: medians, with whiskers from the first to the third quartile.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on axes of a new figure.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        ImportError
            Without matplotlib.

        Examples
        --------
        >>> graph.autotune(handle).plot().figure.savefig("times.png")  # doctest: +SKIP
        """
        from ....evidence.pictures.plots import axes

        title = f"{self.graph!r} on {self.device}\ncuDNN {self.cudnn}"
        return axes(_bars(self), title, "us", ax)

    def _title(self) -> str:
        settings, best = self.settings, self.best
        title = (
            f"{self.graph!r} on {self.device}, cuDNN {self.cudnn}: {len(self.ranking)} plans "
            f"measured in {self.seconds:.1f} s, {settings.runs} runs each, "
            f"{'cold' if settings.cold_cache else 'warm'} cache\n"
            f"fastest: {best.title}, {best.median:.1f} us"
        )
        first = next((each for each in self.measurements if each.times), best)
        if first is not best:
            title += f"; {first.source}, which build() tries first, {first.median:.1f} us"
            if first.median - best.median <= max(first.spread, best.spread):
                title += ": no difference beyond the spread"
        return title

    def _tables(self) -> list[Table]:
        styles = [
            "dim" if each.state == "dropped" else "green" if each is self.best else ""
            for each in self.ranking
        ]
        return [Table.of(_COLUMNS, self.ranking, styles)]

    def _lines(self) -> list[str]:
        lines = []
        for each in self.measurements:
            if each.state in ("failed", "excluded"):
                reason = f"{each.status}: {each.reason}" if each.status else each.reason
                lines.append(f"{each.title} {each.state}: {reason}")
        left = sum(each.state == "not tried" for each in self.measurements)
        if left:
            budget = self.settings.budget
            why = "" if budget is None else f": the budget of {budget:g} s was used up"
            lines.append(f"{left} not tried{why}")
        return lines

    def _pictures(self) -> list[str]:
        from ....evidence.pictures.html import wide
        from ....evidence.pictures.plots import bars

        return [wide(bars(_bars(self), "us"))]


def _bars(tuned: Autotuning) -> list[Bar]:
    from ....evidence.pictures.plots import Bar

    found = []
    for each in tuned.ranking:
        low, high = each.quartiles
        kind = "best" if each is tuned.best else "pale" if each.state == "dropped" else ""
        found.append(Bar(each.title, low, each.median, high, kind))
    return found


FORMAT = "cudnn_ctypes autotuning"
VERSION = 1

_STATES = ("measured", "dropped", "failed", "excluded", "not tried")


def content(tuned: Autotuning) -> dict[str, Any]:
    """For JSON, the best one by its place."""
    return {**asdict(tuned), "best": tuned.measurements.index(tuned.best)}


def from_content(place: Place) -> Autotuning:
    """An `Autotuning` from the data that `content` returned.

    Raises ValueError if it is damaged; the message names the place.
    """
    measurements = tuple(map(_measurement, place["measurements"].items()))
    best = place["best"].integer(0)
    if best >= len(measurements) or measurements[best].state != "measured":
        place["best"].refuse(f"expected the place of a plan that was measured, got {best}")
    return Autotuning(
        graph=place["graph"].text(),
        device=place["device"].text(),
        cudnn=place["cudnn"].text(),
        measurements=measurements,
        best=measurements[best],
        settings=_settings(place["settings"]),
        seconds=_number(place["seconds"]),
    )


def _weight(each: Measurement) -> tuple[int, int]:
    """Full measurements count more than others, then those with more runs."""
    return -_STATES.index(each.state), each.runs


def _measurement(place: Place) -> Measurement:
    state = place["state"].text()
    if state not in _STATES:
        place["state"].refuse(f"expected one of {', '.join(_STATES)}, got {state!r}")
    times = tuple(map(_number, place["times"].items()))
    if state == "measured" and not times:
        place["times"].refuse("expected the times of a plan that was measured")
    knobs = place["knobs"]
    workspace = place["workspace"]
    has_pieces = "pieces" in place.keys()  # noqa: SIM118
    pieces = place["pieces"].items() if has_pieces else []
    return Measurement(
        engine=place["engine"].integer(-1),
        knobs={name: knobs[name].integer() for name in knobs.keys()},  # noqa: SIM118
        source=place["source"].text(),
        state=state,
        times=times,
        workspace=None if workspace.value is None else workspace.integer(0),
        notes=tuple(note.text() for note in place["notes"].items()),
        build_seconds=_number(place["build_seconds"]),
        status=place["status"].text(),
        reason=place["reason"].text(),
        pieces=tuple(each.text() for each in pieces),
    )


def _settings(place: Place) -> Settings:
    try:
        return Settings(
            runs=place["runs"].integer(),
            warm_up=place["warm_up"].integer(),
            budget=place["budget"].value,
            knobs=place["knobs"].integer(),
            cold_cache=place["cold_cache"].boolean(),
        )
    except TypeError as error:
        place.refuse(str(error))


def _number(place: Place) -> float:
    value = place.value
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        place.refuse(f"expected a number, got {value!r}")
    if not 0 <= value < math.inf or value > 1e300:
        place.refuse(f"expected a number from 0, got {value!r}")
    return float(value)
