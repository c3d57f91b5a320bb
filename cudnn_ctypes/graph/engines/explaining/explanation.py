"""The explanation of a graph's engines, as data."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TextIO

from ....raw.describe import aligned
from ...backend.engine import EngineChoice, Knob
from ..refusals import Refusal

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions

    from .advice import Advice

__all__ = [
    "WIDE",
    "EngineRow",
    "Explanation",
    "RichText",
    "bytes_text",
    "html",
    "plain_text",
    "rich_table",
    "show",
    "spans",
]

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
        """Whether it works; None if nobody asked, or only compiling it or the GPU can tell."""
        return {"works": True, "refused": False}.get(self.state)

    @property
    def choice(self) -> EngineChoice:
        """The engine and knobs; ``Graph.build(config=...)`` takes them, or the row."""
        return EngineChoice(self.engine, self.knobs)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass(frozen=True)
class Explanation:
    """The result of `Graph.explain`; ``str`` gives a table, `show` prints it.

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
    refusal : str
        Why cuDNN, or a known fault of it, refuses the graph before any engine is asked; "" if it
        does not.
    faults : mapping of str to str
        The known faults of cuDNN that concern the graph, by name: what is done about each, its
        remedy and its evidence.
    beforehand : tuple of str
        The small graphs that run before each execution, with the bytes that they write in the
        workspace, and what an engine would misread without them.
    """

    graph: str
    operations: str
    device: str
    cudnn: str
    rows: tuple[EngineRow, ...] = ()
    engine_count: int = 0
    proposed: Mapping[str, int] = field(default_factory=dict)
    refused_modes: Mapping[str, str] = field(default_factory=dict)
    refusal: str = ""
    faults: Mapping[str, str] = field(default_factory=dict)
    beforehand: tuple[str, ...] = ()
    adviser: Callable[..., Advice] | None = field(default=None, repr=False, compare=False)

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

    def advice(self, *, measure: bool = False, limit: float = 30.0) -> Advice:
        """Which changes would make the graph supported or faster, each of them tried.

        Other layouts, sizes, data types, modes of heuristics and a graph in two parts are asked
        for in the same way as this explanation, on its GPU: `Suggestion` says what to change and
        has the changed graph, to be built. Nothing is compiled unless `Graph.explain` was told so.

        Parameters
        ----------
        measure : bool
            Whether to autotune the graph and the first suggestions on the GPU, which must be
            there: `Graph.explain` was given its Handle.
        limit : float
            Seconds after which nothing else is tried. Measuring is not counted.

        Returns
        -------
        Advice
            What is known to be slow comes first. It is empty if nothing that was tried helps.

        Raises
        ------
        ValueError
            If this explanation is a copy by pickle, which has no graph.
        NoDeviceError
            If `measure` is true and there is no GPU.

        Examples
        --------
        >>> for each in graph.explain(device).advice():  # doctest: +SKIP
        ...     print(each)
        ...     each.graphs[0].build(device)
        """
        if self.adviser is None:
            raise ValueError("advice: this explanation has no graph; Graph.explain gives one")
        return self.adviser(self, measure=measure, limit=limit)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "adviser": None}

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = asdict(replace(self, adviser=None))
        del told["adviser"]
        return told

    def show(self, file: TextIO | None = None) -> None:
        """Print it: as tables with lines on a terminal, else as plain text.

        First the engines that can do it, with their knobs; then their configs; then why the others
        do not.
        """
        show(self, file)

    def _repr_html_(self) -> str:
        return html(self)

    def __rich__(self) -> Any:
        return RichText(self)

    def __str__(self) -> str:
        return plain_text(self)


def reasons(rows: Iterable[EngineRow]) -> dict[str, tuple[int, ...]]:
    """See ``Explanation.reasons``."""
    found: dict[str, set[int]] = {}
    for row in sorted(rows, key=_distance):
        if row.reason:
            reason = Refusal(row.status, row.reason, row.messages).without_index(row.engine)
            found.setdefault(reason, set()).add(row.engine)
    return {reason: tuple(sorted(engines)) for reason, engines in found.items()}


def _distance(row: EngineRow) -> tuple[bool, int]:
    """How far from working."""
    return Refusal(row.status, row.reason, row.messages).hopeless, _FARTHEST.index(row.refused_at)
