"""The explanation of a graph's engines: as data, as plain text, and as tables for a terminal."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, TextIO

from ..backend.engine import EngineChoice, Knob
from .refusals import Refusal
from .tables import WIDE, aligned, bytes_text, rich_table

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

__all__ = ["EngineRow", "Explanation"]

_ENGINES = ("engine", "kind", "configs", "notes", "knobs")
_CONFIGS = ("engine", "kind", "proposed", "knobs", "workspace", "shared memory", "result")
_NARROW = ("engine", "proposed", "knobs", "workspace", "result")  # fits in 80 columns
_NUMBERS = ("engine", "configs", "workspace", "shared memory")
_RESULTS = {"works": "works", "accepted": "accepted, not compiled"}
_STYLES = {"works": "green", "accepted": "cyan", "excluded": "yellow", "refused": "red"}
_FARTHEST = ("plan", "config", "engine", "")


@dataclass(frozen=True)
class EngineRow:
    """One engine config.

    Attributes
    ----------
    engine : int
        Index of the engine.
    state : {"works", "accepted", "refused", "excluded", "undecided"}
        Whether a plan was made of it; or cuDNN accepts it, but it was not compiled; or cuDNN
        refuses it; or the selection does not want it, or it is known to give wrong numbers; or
        cuDNN asks the GPU itself, which is not here.
    proposed_by : tuple of str
        Modes of heuristics with the place in their list: "a 1" is the best of mode "a".
    kind : {"precompiled", "runtime fusion", "cuBLASLt", ""}
        "" if the engine refuses the graph before it tells its notes.
    knobs : mapping of str to int
        Values that the config chooses; cuDNN chooses the others, and those that are -1.
    knob_ranges : mapping of str to Knob
        What the engine's knobs can be.
    numerical_notes, behavior_notes : tuple of str
    workspace, shared_memory : int or None
        Bytes that the plan itself needs; None if not told.
    refused_at : {"", "engine", "config", "plan"}
        Which descriptor cuDNN did not finalize. A plan has come farthest.
    status, reason : str
        Of a refusal: cuDNN's status and its own words; what the selection says.
    messages : tuple of str
        All that cuDNN logged about the refusal, the innermost first.
    """

    engine: int
    state: str
    proposed_by: tuple[str, ...] = ()
    kind: str = ""
    knobs: Mapping[str, int] = field(default_factory=dict)
    knob_ranges: Mapping[str, Knob] = field(default_factory=dict)
    numerical_notes: tuple[str, ...] = ()
    behavior_notes: tuple[str, ...] = ()
    workspace: int | None = None
    shared_memory: int | None = None
    refused_at: str = ""
    status: str = ""
    reason: str = ""
    messages: tuple[str, ...] = ()

    @property
    def supported(self) -> bool | None:
        """Whether it works; None if only compiling it, or the GPU, would tell; or not asked."""
        return {"works": True, "refused": False}.get(self.state)

    @property
    def choice(self) -> EngineChoice:
        """What ``Graph.build(config=...)`` takes; so does it take this row."""
        return EngineChoice(self.engine, self.knobs)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Explanation:
    """What `Graph.explain` found; ``str`` gives a table, `show` prints it.

    Attributes
    ----------
    graph, operations, device, cudnn : str
        The graph's name, its operations, the GPU, and the version of cuDNN.
    rows : tuple of EngineRow
        Configs that heuristics propose, the best first; then the engines that they do not
        propose, those that work first. Iterating over the explanation gives these too.
    engine_count : int
        How many engines cuDNN has for graphs of this pattern.
    proposed : mapping of str to int
        How many configs each mode of heuristics proposed.
    refused_modes : mapping of str to str
        Why a mode proposed none.
    """

    graph: str
    operations: str
    device: str
    cudnn: str
    rows: tuple[EngineRow, ...]
    engine_count: int
    proposed: Mapping[str, int]
    refused_modes: Mapping[str, str]

    def __iter__(self) -> Iterator[EngineRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def usable(self) -> tuple[EngineRow, ...]:
        """Rows of configs that work, or that cuDNN accepts."""
        return tuple(row for row in self.rows if row.state in ("works", "accepted"))

    @property
    def undecided(self) -> tuple[EngineRow, ...]:
        """Rows of configs that can be neither compiled nor ruled out where the GPU is not."""
        return tuple(row for row in self.rows if row.state == "undecided")

    def reasons(self) -> dict[str, tuple[int, ...]]:
        """Engines by the reason why they do not do it; those that came farthest first."""
        return reasons(self.rows)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def show(self, file: TextIO | None = None) -> None:
        """Print it: as tables with lines on a terminal, else as plain text.

        First the engines that can do it, with their knobs; then their configs; then why the others
        do not.
        """
        show(self, file)

    def __rich__(self) -> Any:
        return RichText(self)

    def __str__(self) -> str:
        return plain_text(self)


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


def plain_text(explanation: Explanation) -> str:
    """All lines, as long as they need to be."""
    lines = [_title(explanation), *_modes(explanation)]
    if explanation.usable:
        configs = [[*_cells(row).values()] for row in explanation.usable]
        lines += ["", aligned(_ENGINES, _engines(explanation), _NUMBERS)]
        lines += ["", aligned(_CONFIGS, configs, _NUMBERS)]
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
        yield escape("\n".join([_title(explanation), *_modes(explanation)]))
        if explanation.usable:
            engines = rich_table(_ENGINES, _NUMBERS)
            for cells in _engines(explanation):
                engines.add_row(*map(escape, cells))
            yield engines
            columns = _CONFIGS if options.max_width >= WIDE else _NARROW
            configs = rich_table(columns, _NUMBERS)
            for row in explanation.usable:
                cells = [_cells(row)[name] for name in columns]
                configs.add_row(*map(escape, cells), style=_STYLES[row.state])
            yield configs
        left = _left(explanation)
        if left:
            refusals = rich_table(("engines", "do not do it because"))
            for engines_, reason in left:
                refusals.add_row(
                    escape(engines_.removeprefix("engine").strip("s ")), escape(reason)
                )
            yield refusals


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
    others = {row.engine for row in explanation.undecided} - usable
    return (
        f"{explanation.graph!r} ({explanation.operations}) on {explanation.device}, cuDNN "
        f"{explanation.cudnn}: {len(usable)} of {explanation.engine_count} engines can do it, in "
        f"{len(explanation.usable)} configs"
        + (f"; {len(others)} more perhaps where the GPU is" if others else "")
    )


def _modes(explanation: Explanation) -> list[str]:
    found = [f"{count} of mode {mode}" for mode, count in explanation.proposed.items()]
    lines = [f"proposed by heuristics: {', '.join(found)}"] if found else []
    refused = explanation.refused_modes.items()
    return lines + [f"heuristics of mode {mode} refuse: {reason}" for mode, reason in refused]


def _engines(explanation: Explanation) -> list[list[str]]:
    """What belongs to an engine rather than to its configs; the best engine first."""
    rows = {row.engine: row for row in reversed(explanation.usable)}
    counts = Counter(row.engine for row in explanation.usable)
    return [
        [
            str(engine),
            rows[engine].kind,
            str(count),
            ", ".join(_notes(rows[engine])) or "-",
            " ".join(f"{name}={knob}" for name, knob in rows[engine].knob_ranges.items()) or "-",
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
