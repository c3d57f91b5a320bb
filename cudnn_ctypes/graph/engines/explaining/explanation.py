"""The explanation of a graph's engines, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ...backend.engine import EngineChoice, Knob
from ..refusals import Refusal
from .report import Report, Table, bytes_text, spans

if TYPE_CHECKING:
    from .advice import Advice

__all__ = ["EngineRow", "Explanation"]

_ENGINES = ("engine", "kind", "configs", "notes", "knobs")
_CONFIGS = ("engine", "kind", "proposed", "knobs", "workspace", "shared memory", "result")
_NARROW = ("engine", "proposed", "knobs", "workspace", "result")  # fits in 80 columns
_NUMBERS = ("engine", "configs", "workspace", "shared memory")
_RESULTS = {"works": "works", "accepted": "accepted, not compiled"}
_STYLES = {"works": "green", "accepted": "cyan"}


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


def _engines(explanation: Explanation) -> list[list[str]]:
    """Cells that describe engines, not their configs; the best engine first."""
    rows = {row.engine: row for row in reversed(explanation.usable)}
    counts = Counter(row.engine for row in explanation.usable)
    return [
        [
            str(engine),
            rows[engine].kind.replace(" ", "\n"),
            str(count),
            ",\n".join(_notes(rows[engine])) or "-",
            "\n".join(f"{name}={knob}" for name, knob in rows[engine].knob_ranges.items()) or "-",
        ]
        for engine, count in counts.items()
    ]


def _notes(row: EngineRow) -> list[str]:
    """Without that which its kind says already."""
    return sorted(set(row.numerical_notes + row.behavior_notes) - {"runtime_compilation"})


def _cells(row: EngineRow) -> list[str]:
    return [
        str(row.engine),
        row.kind,
        ", ".join(row.proposed_by) or "-",
        " ".join(f"{name}={value}" for name, value in row.knobs.items()) or "-",
        bytes_text(row.workspace),
        bytes_text(row.shared_memory),
        _RESULTS[row.state],
    ]


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
class Explanation(Report):
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

    def _title(self) -> str:
        return "\n".join([_title(self), *_facts(self)])

    def _tables(self) -> list[Table]:
        usable = self.usable
        styles = [_STYLES[row.state] for row in usable]
        return [
            Table(_ENGINES, _engines(self), _NUMBERS, set(_ENGINES) - {"configs"}),
            Table(_CONFIGS, [_cells(row) for row in usable], _NUMBERS, _NARROW, styles),
        ]

    def _lines(self) -> list[str]:
        """Engines in groups, with why they, or configs of theirs, do not do it."""
        engines = {row.engine for row in self.usable}
        return [
            f"{spans(some)}{' (some configs)' if engines.issuperset(some) else ''}: {reason}"
            for reason, some in self.reasons().items()
        ]


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
