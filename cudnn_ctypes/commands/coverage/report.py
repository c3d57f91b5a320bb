"""The coverage table on a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from ...graph.engines.explaining.tables import WIDE
from ...raw.describe import aligned
from .gpu_runs import gpu_runs
from .table import Row

__all__ = ["print_table", "summary"]

_COLUMNS = ("function", "used by", "reference device", "tests on a GPU")


def print_table(rows: Sequence[Row], console: Console) -> None:
    """Print one table per header, and a summary; lines of text in a pipe or a narrow terminal."""
    if not console.is_terminal or console.width < WIDE:
        _print_lines(rows)
        return
    for header in dict.fromkeys(row.header for row in rows):
        table = Table(title=header, title_justify="left")
        for title in _COLUMNS:
            table.add_column(title, overflow="fold")
        for row in rows:
            if row.header == header:
                user = ", ".join(row.used_by) or f"[yellow]{escape(row.reason)}[/]"
                table.add_row(row.function, user, row.reference_device, escape(row.gpu))
        console.print(table)
    for line in summary(rows):
        console.print(line)


def _print_lines(rows: Sequence[Row]) -> None:
    for header in dict.fromkeys(row.header for row in rows):
        cells = [
            (row.function, ", ".join(row.used_by) or row.reason, row.reference_device, row.gpu)
            for row in rows
            if row.header == header
        ]
        print(f"{header}\n{aligned([_COLUMNS, *cells])}\n")
    print("\n".join(summary(rows)))


def summary(rows: Sequence[Row]) -> list[str]:
    """The numbers of covered functions, in a few lines."""
    total = len(rows)
    lines = [
        f"{sum(bool(row.used_by) for row in rows)} of {total} functions have a class or function",
        f"reference device: {sum(row.reference_device == 'NumPy' for row in rows)} in NumPy, "
        f"{sum(row.reference_device == 'cuDNN itself' for row in rows)} by cuDNN itself, "
        f"{sum(row.reference_device == 'no' for row in rows)} not",
    ]
    for run in gpu_runs():
        lines.append(
            f"{run.gpu}, driver {run.driver}, cuDNN {run.cudnn}: tests ran {len(run.succeeded)} "
            f"with success; {len(run.refused)} were always refused, {len(run.missing)} are not in "
            f"this library"
        )
    if len(lines) == 2:
        lines.append("no tests on a GPU are recorded")
    return lines
