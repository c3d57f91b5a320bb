"""Results that show themselves: as plain text, as tables on a terminal, and in a notebook."""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

from ....raw.describe import aligned

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

WIDE = 110
"""From so many characters on there is room for every column."""


class Column(NamedTuple):
    """A column of a table.

    - `cell`: the text of an item's cell.
    - `number`: whether the cells end together and are not broken.
    - `narrow`: whether it is shown where there is little room.
    """

    name: str
    cell: Callable[[Any], str]
    number: bool = False
    narrow: bool = True


@dataclass(frozen=True)
class Table:
    """Rows of text.

    - `rows`: where there is little room, the lines of a cell stay apart: rich would break words.
    - `numbers`: columns that end together and are not broken.
    - `narrow`: columns that are shown where there is little room; all by default.
    - `styles`: rich's style of each row; none by default.
    """

    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    numbers: Collection[str] = ()
    narrow: Collection[str] = ()
    styles: Sequence[str] = ()

    @classmethod
    def of(
        cls, columns: Sequence[Column], items: Iterable[Any], styles: Sequence[str] = ()
    ) -> Table:
        """A table with a row for each item."""
        return cls(
            [each.name for each in columns],
            [[each.cell(item) for each in columns] for item in items],
            [each.name for each in columns if each.number],
            [each.name for each in columns if each.narrow],
            styles,
        )

    @property
    def flat(self) -> list[list[str]]:
        """The rows with each cell on one line."""
        return [[cell.replace("\n", " ") for cell in row] for row in self.rows]

    def html(self) -> str:
        """The table for notebooks and pages."""
        from ....evidence.pictures.html import table_html

        return table_html(self.columns, self.rows, self.numbers, self.styles)


class Report:
    """A result; ``str`` gives text, `show` prints it, and notebooks show it."""

    def _title(self) -> str:
        raise NotImplementedError

    def _tables(self) -> list[Table]:
        """Empty ones are left out."""
        raise NotImplementedError

    def _lines(self) -> list[str]:
        """The lines behind the tables."""
        return []

    def show(self, file: TextIO | None = None) -> None:
        """Print it: as tables with lines on a terminal, else as plain text."""
        from rich.console import Console

        console = Console(file=file, highlight=False)
        if console.is_terminal:
            console.print(self)
        else:
            print(str(self), file=file or sys.stdout)

    def __str__(self) -> str:
        parts = [self._title()]
        tables = (each for each in self._tables() if each.rows)
        parts += [aligned([each.columns, *each.flat], each.numbers) for each in tables]
        if lines := self._lines():
            parts.append("\n".join(lines))
        return "\n\n".join(parts)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.markup import escape

        yield escape(self._title())
        for each in self._tables():
            if not each.rows:
                continue
            every = options.max_width >= WIDE or not each.narrow
            shown = [i for i, name in enumerate(each.columns) if every or name in each.narrow]
            table = rich_table([each.columns[i] for i in shown], each.numbers)
            styles = each.styles or [""] * len(each.rows)
            for row, style in zip(each.flat if every else each.rows, styles, strict=True):
                table.add_row(*(escape(row[i]) for i in shown), style=style or None)
            yield table
        yield from map(escape, self._lines())

    def _repr_html_(self) -> str:
        from ....evidence.pictures.html import page

        tables = [*self._tables(), Table(("",), [[line] for line in self._lines()])]
        parts = [each.html() for each in tables if each.rows]
        return page(self._title(), [*self._pictures(), *parts])

    def _pictures(self) -> list[str]:
        """Elements of HTML before the tables."""
        return []


def rich_table(columns: Sequence[str], right: Iterable[str] = ()) -> Any:
    """An empty table for rich; columns named in `right` end together and are not broken."""
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False)
    for name in columns:
        table.add_column(
            name,
            justify="right" if name in right else "left",
            no_wrap=name in right,
            overflow="fold",
        )
    return table


def bytes_text(count: int | None) -> str:
    """A number of bytes with thousands apart; "-" for None."""
    return "-" if count is None else f"{count:,}"


def knobs_text(knobs: Mapping[str, int]) -> str:
    """Knobs with their values; "-" for none."""
    return " ".join(f"{name}={value}" for name, value in knobs.items()) or "-"


def spans(numbers: Sequence[int]) -> str:
    """Ascending indices of engines, neighbours drawn together: "engines 3, 4, 7-19"."""
    found: list[list[int]] = []
    for number in numbers:
        if found and found[-1][1] == number - 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    parts = [str(a) if a == b else f"{a}{'-' if b - a > 1 else ', '}{b}" for a, b in found]
    return f"engine{'s' if len(numbers) > 1 else ''} {', '.join(parts)}"
