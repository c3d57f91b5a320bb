"""Results of autotuning: as data, as plain text, and as a table for a terminal."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from ....raw.describe import aligned
from ..explaining.tables import WIDE, bytes_text, rich_table, show
from .measurement import Measurement, Settings

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from ....evidence.pictures.plots import Bar

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
class Autotuning:
    """The result of `Graph.autotune`; ``str`` gives a table, `show` prints it.

    Attributes
    ----------
    graph, device, cudnn : str
        The graph's name, the GPU, and the version of cuDNN.
    measurements : tuple of Measurement
        In the order in which they were made. Iterating gives these too.
    best : Measurement
        The one with the smallest median among those with all runs; the graph holds its plan.
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
        """Measurements with times, the fastest first; dropped ones after those with all runs."""
        timed = [each for each in self.measurements if each.times]
        return tuple(sorted(timed, key=lambda each: (each.state == "dropped", each.median)))

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def to_json(self) -> str:
        """All of it as JSON text, for `from_json` on this or another machine."""
        from .records import to_json

        return to_json(self)

    @classmethod
    def from_json(cls, text: str | bytes) -> Autotuning:
        """The result that `to_json` wrote.

        Raises
        ------
        ValueError
            If the text is damaged; the message names the place.
        """
        from .records import from_json

        return from_json(cls, text)

    def merge(self, *others: Autotuning) -> Autotuning:
        """One result of several for the same graph, measured on GPUs of one kind.

        Of two measurements of one engine config the one with more runs stays, of equal ones the
        later in the order of the arguments.

        Raises
        ------
        ValueError
            If the GPU, the version of cuDNN, or whether the cache was cold, are not the same.
        """
        from .records import merged

        return merged((self, *others))

    def show(self, file: TextIO | None = None) -> None:
        """Print it: as a table with lines on a terminal, else as plain text."""
        show(self, file)

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

    def _repr_html_(self) -> str:
        from ....evidence.pictures.html import Table, page, wide
        from ....evidence.pictures.plots import bars

        table = Table(_COLUMNS, [_cells(each) for each in self.ranking], _NUMBERS)
        others = Table(("not measured, and why",), [[line] for line in _others(self)])
        parts = [wide(bars(_bars(self), "us")), table.html(), others.html() if others.rows else ""]
        return page(_title(self), parts)

    def __rich__(self) -> Any:
        return RichText(self)

    def __str__(self) -> str:
        return plain_text(self)


def _bars(tuned: Autotuning) -> list[Bar]:
    from ....evidence.pictures.plots import Bar

    found = []
    for each in tuned.ranking:
        low, high = each.quartiles
        kind = "best" if each is tuned.best else "pale" if each.state == "dropped" else ""
        found.append(Bar(str(each.choice), low, each.median, high, kind))
    return found


def plain_text(tuned: Autotuning) -> str:
    """All lines, as long as they need to be."""
    cells = [_cells(each) for each in tuned.ranking]
    return "\n".join([_title(tuned), "", aligned([_COLUMNS, *cells], _NUMBERS), *_others(tuned)])


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
        budget = tuned.settings.budget
        why = "" if budget is None else f": the budget of {budget:g} s was used up"
        lines.append(f"{left} not tried{why}")
    return lines
