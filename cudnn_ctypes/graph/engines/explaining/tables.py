"""Tables as plain text and for rich."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

__all__ = ["WIDE", "bytes_text", "rich_table", "show", "spans"]

WIDE = 110
"""From so many characters on there is room for every column."""


def bytes_text(count: int | None) -> str:
    """A number of bytes with thousands apart; "-" for None."""
    return "-" if count is None else f"{count:,}"


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


def show(told: Any, file: TextIO | None) -> None:
    """Print what rich can draw: as a table with lines on a terminal, else as its plain text."""
    from rich.console import Console

    console = Console(file=file, highlight=False)
    if console.is_terminal:
        console.print(told)
    else:
        print(str(told), file=file or sys.stdout)


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
