"""The result of an autotuning as text: a table with lines on a terminal, else plain."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, TextIO

from .tables import WIDE, aligned, bytes_text, rich_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from .measurements import Autotuning, Measurement
    from .tuning import Noted

__all__ = ["RichText", "plain_text", "progress_bar", "show"]

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


@contextmanager
def progress_bar(wanted: bool | None) -> Iterator[Noted]:
    """What is to be called with each measurement and how many there are to be.

    It draws a bar on the standard error output, by default only if that is a terminal.
    """
    from rich.console import Console
    from rich.progress import Progress

    console = Console(stderr=True)
    if not (console.is_terminal if wanted is None else wanted):
        yield lambda measurement, total: None
        return
    with Progress(console=console, transient=True) as progress:
        task = progress.add_task("autotuning", total=None)
        best = float("inf")

        def noted(measurement: Measurement, total: int) -> None:
            nonlocal best
            if measurement.state == "measured":
                best = min(best, measurement.median)
            text = f"fastest {best:.1f} us" if best < float("inf") else "autotuning"
            progress.update(task, advance=1, total=total, description=text)

        yield noted
