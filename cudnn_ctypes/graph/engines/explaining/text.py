"""The explanation of a graph's engines as plain text, and as tables for terminals and notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ....raw.describe import aligned
from .tables import WIDE, bytes_text, rich_table, spans

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from .explanation import EngineRow, Explanation

__all__ = ["RichText", "html", "plain_text"]

_ENGINES = ("engine", "kind", "configs", "notes", "knobs")
_CONFIGS = ("engine", "kind", "proposed", "knobs", "workspace", "shared memory", "result")
_NARROW = ("engine", "proposed", "knobs", "workspace", "result")  # fits in 80 columns
_NUMBERS = ("engine", "configs", "workspace", "shared memory")
_RESULTS = {"works": "works", "accepted": "accepted, not compiled"}
_COLORS = {"works": "#3fa66a", "accepted": "#4a90d9"}
_STYLES = {"works": "green", "accepted": "cyan", "excluded": "yellow", "refused": "red"}


def plain_text(explanation: Explanation) -> str:
    """All lines, as long as they need to be."""
    lines = [_title(explanation), *_facts(explanation)]
    if explanation.usable:
        configs = [[*_cells(row).values()] for row in explanation.usable]
        lines += ["", aligned([_ENGINES, *_engines(explanation)], _NUMBERS)]
        lines += ["", aligned([_CONFIGS, *configs], _NUMBERS)]
    left = _left(explanation)
    if left:
        lines += ["", *(f"{engines}: {reason}" for engines, reason in left)]
    return "\n".join(lines)


class RichText:
    """The same for rich: tables with lines, and fewer columns where there is little room."""

    def __init__(self, explanation: Explanation) -> None:
        self._explanation = explanation

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Any]:
        from rich.markup import escape

        explanation = self._explanation
        yield escape("\n".join([_title(explanation), *_facts(explanation)]))
        if explanation.usable:
            wide = options.max_width >= WIDE
            columns = tuple(name for name in _ENGINES if wide or name != "configs")
            engines = rich_table(columns, _NUMBERS)
            # In little room each name has a line of its own: rich would break it.
            for row in _engines(explanation, " " if wide else "\n"):
                cells = dict(zip(_ENGINES, row, strict=True))
                engines.add_row(*(escape(cells[name]) for name in columns))
            yield engines
            columns = _CONFIGS if wide else _NARROW
            configs = rich_table(columns, _NUMBERS)
            for each in explanation.usable:
                cells = _cells(each)
                configs.add_row(
                    *(escape(cells[name]) for name in columns), style=_STYLES[each.state]
                )
            yield configs
        left = _left(explanation)
        if left:
            refusals = rich_table(("engines", "do not do it because"))
            for engines_, reason in left:
                refusals.add_row(
                    escape(engines_.removeprefix("engine").strip("s ")), escape(reason)
                )
            yield refusals


def html(explanation: Explanation) -> str:
    """The same tables for a notebook."""
    from ....evidence.pictures.html import Table, page

    tables = [
        Table(_ENGINES, _engines(explanation), _NUMBERS),
        Table(
            _CONFIGS,
            [[*_cells(row).values()] for row in explanation.usable],
            _NUMBERS,
            [_COLORS[row.state] for row in explanation.usable],
        ),
        Table(("engines", "do not do it because"), _left(explanation)),
    ]
    title = "\n".join([_title(explanation), *_facts(explanation)])
    return page(title, (table.html() for table in tables if table.rows))


def _title(explanation: Explanation) -> str:
    usable = {row.engine for row in explanation.usable}
    others = {row.engine for row in explanation.undecided} - usable
    place = (
        f"{explanation.graph!r} ({explanation.operations}) on {explanation.device}, cuDNN "
        f"{explanation.cudnn}"
    )
    if explanation.refusal:
        return f"{place}: refused before any engine is asked: {explanation.refusal}"
    return (
        f"{place}: {len(usable)} of {explanation.engine_count} engines can do it, in "
        f"{len(explanation.usable)} configs"
        + (f"; {len(others)} more perhaps where the GPU is" if others else "")
    )


def _facts(explanation: Explanation) -> list[str]:
    found = [f"{count} of mode {mode}" for mode, count in explanation.proposed.items()]
    lines = [f"proposed by heuristics: {', '.join(found)}"] if found else []
    refused = explanation.refused_modes.items()
    lines += [f"heuristics of mode {mode} refuse: {reason}" for mode, reason in refused]
    lines += [f"computed beforehand: {each}" for each in explanation.beforehand]
    return lines + [f"known fault {name!r}: {told}" for name, told in explanation.faults.items()]


def _engines(explanation: Explanation, space: str = " ") -> list[list[str]]:
    """Cells that describe engines, not their configs; the best engine first."""
    rows = {row.engine: row for row in reversed(explanation.usable)}
    counts = Counter(row.engine for row in explanation.usable)
    return [
        [
            str(engine),
            rows[engine].kind.replace(" ", space),
            str(count),
            f",{space}".join(_notes(rows[engine])) or "-",
            space.join(f"{name}={knob}" for name, knob in rows[engine].knob_ranges.items()) or "-",
        ]
        for engine, count in counts.items()
    ]


def _notes(row: EngineRow) -> list[str]:
    """Without that which its kind says already."""
    return sorted(set(row.numerical_notes + row.behavior_notes) - {"runtime_compilation"})


def _cells(row: EngineRow) -> dict[str, str]:
    return {
        "engine": str(row.engine),
        "kind": row.kind,
        "proposed": ", ".join(row.proposed_by) or "-",
        "knobs": " ".join(f"{name}={value}" for name, value in row.knobs.items()) or "-",
        "workspace": bytes_text(row.workspace),
        "shared memory": bytes_text(row.shared_memory),
        "result": _RESULTS[row.state],
    }


def _left(explanation: Explanation) -> list[tuple[str, str]]:
    """Engines in groups, with why they, or configs of theirs, do not do it."""
    usable = {row.engine for row in explanation.usable}
    found = []
    for reason, engines in explanation.reasons().items():
        partly = usable.issuperset(engines)
        found.append((f"{spans(engines)}{' (some configs)' if partly else ''}", reason))
    return found
