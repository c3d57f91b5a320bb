"""The explanation of a graph's engines as text: a table with lines on a terminal, else plain."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TextIO

from .refusals import Refusal

if TYPE_CHECKING:
    from .explain import EngineRow, Explanation

__all__ = ["aligned", "bytes_text", "plain_text", "reasons", "rich_text", "show"]

_COLUMNS = (
    "engine",
    "kind",
    "proposed",
    "knobs",
    "notes",
    "workspace",
    "shared memory",
    "result",
)
_NUMBERS = ("engine", "workspace", "shared memory")
_RESULTS = {"works": "works", "accepted": "accepted, not compiled"}
_STYLES = {"works": "green", "accepted": "cyan", "excluded": "yellow", "refused": "red"}
_FARTHEST = ("plan", "config", "engine", "")


def reasons(rows: Iterable[EngineRow]) -> dict[str, tuple[int, ...]]:
    """See ``Explanation.reasons``."""
    found: dict[str, set[int]] = {}
    for row in sorted(rows, key=_distance):
        if row.reason:
            reason = Refusal(row.status, row.reason).without_index(row.engine)
            found.setdefault(reason, set()).add(row.engine)
    return {reason: tuple(sorted(engines)) for reason, engines in found.items()}


def _distance(row: EngineRow) -> tuple[bool, int]:
    """How far from working."""
    return Refusal(row.status, row.reason).hopeless, _FARTHEST.index(row.refused_at)


def bytes_text(count: int | None) -> str:
    """A number of bytes with thousands apart; "-" for None."""
    return "-" if count is None else f"{count:,}"


def aligned(header: Sequence[str], rows: Sequence[Sequence[str]], right: Iterable[str]) -> str:
    """Columns with two spaces between them; those named in `right` end together."""
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    lines = []
    for cells in (header, *rows):
        parts = [
            cell.rjust(width) if name in right else cell.ljust(width)
            for name, cell, width in zip(header, cells, widths, strict=True)
        ]
        lines.append("  ".join(parts).rstrip())
    return "\n".join(lines)


def plain_text(explanation: Explanation) -> str:
    """All lines, as long as they need to be."""
    lines = [_title(explanation), *_modes(explanation)]
    if explanation.usable:
        cells = [_cells(row) for row in explanation.usable]
        lines += ["", aligned(_COLUMNS, cells, _NUMBERS)]
    left = _left(explanation)
    if left:
        lines += ["", *(f"{engines}: {reason}" for engines, reason in left)]
    return "\n".join(lines)


def rich_text(explanation: Explanation) -> Any:
    """The same for rich."""
    from rich.console import Group
    from rich.markup import escape
    from rich.table import Table

    parts: list[Any] = [escape("\n".join([_title(explanation), *_modes(explanation)]))]
    if explanation.usable:
        table = Table()
        for name in _COLUMNS:
            table.add_column(name, justify="right" if name in _NUMBERS else "left")
        for row in explanation.usable:
            table.add_row(*map(escape, _cells(row)), style=_STYLES[row.state])
        parts.append(table)
    left = _left(explanation)
    if left:
        table = Table("engines", "do not do it because")
        for engines, reason in left:
            table.add_row(escape(engines), escape(reason))
        parts.append(table)
    return Group(*parts)


def show(explanation: Explanation, file: TextIO | None) -> None:
    """See ``Explanation.show``."""
    from rich.console import Console

    console = Console(file=file, highlight=False)
    if console.is_terminal:
        console.print(explanation)
    else:
        print(plain_text(explanation), file=file or sys.stdout)


def _title(explanation: Explanation) -> str:
    usable = {row.engine for row in explanation.usable}
    return (
        f"{explanation.graph!r} ({explanation.operations}) on {explanation.device}, cuDNN "
        f"{explanation.cudnn}: {len(usable)} of {explanation.engine_count} engines can do it, in "
        f"{len(explanation.usable)} configs"
    )


def _modes(explanation: Explanation) -> list[str]:
    found = [f"{count} of mode {mode}" for mode, count in explanation.proposed.items()]
    lines = [f"proposed by heuristics: {', '.join(found)}"] if found else []
    refused = explanation.refused_modes.items()
    return lines + [f"heuristics of mode {mode} refuse: {reason}" for mode, reason in refused]


def _cells(row: EngineRow) -> list[str]:
    notes = set(row.numerical_notes + row.behavior_notes) - {"runtime_compilation"}
    knobs = " ".join(f"{name}={value}" for name, value in row.knobs.items())
    return [
        str(row.engine),
        row.kind,
        ", ".join(row.proposed_by) or "-",
        knobs or "-",
        ", ".join(sorted(notes)) or "-",
        bytes_text(row.workspace),
        bytes_text(row.shared_memory),
        _RESULTS[row.state],
    ]


def _left(explanation: Explanation) -> list[tuple[str, str]]:
    """Engines in groups, with why they, or configs of theirs, do not do it."""
    usable = {row.engine for row in explanation.usable}
    found = []
    for reason, engines in explanation.reasons().items():
        partly = usable.issuperset(engines)
        found.append((f"{_spans(engines)}{' (some configs)' if partly else ''}", reason))
    return found


def _spans(numbers: Sequence[int]) -> str:
    """Ascending numbers, neighbours drawn together: "3, 4, 7-19"."""
    spans: list[list[int]] = []
    for number in numbers:
        if spans and spans[-1][1] == number - 1:
            spans[-1][1] = number
        else:
            spans.append([number, number])
    parts = [str(a) if a == b else f"{a}{'-' if b - a > 1 else ', '}{b}" for a, b in spans]
    return f"engine{'s' if len(numbers) > 1 else ''} {', '.join(parts)}"
