"""The explanation of a graph's engines, and advice on it, as data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ....raw.faults import Fault
from ...backend.engine import EngineChoice, Knob
from ..refusals import Refusal
from .report import Column, Report, Table, bytes_text, knobs_text, spans

if TYPE_CHECKING:
    from ...backend.device_properties import DeviceLike
    from ...describe.rewriting import Change, Step

_RESULTS = {"works": "works", "accepted": "accepted, not compiled"}
_STYLES = {"works": "green", "accepted": "cyan"}


def _notes(row: EngineRow) -> list[str]:
    """Without that which its kind says already."""
    return sorted(set(row.numerical_notes + row.behavior_notes) - {"runtime_compilation"})


_ENGINES = (  # of an engine's best config and the number of its configs
    Column("engine", lambda pair: str(pair[0].engine), number=True),
    Column("kind", lambda pair: pair[0].kind.replace(" ", "\n")),
    Column("configs", lambda pair: str(pair[1]), number=True, narrow=False),
    Column("notes", lambda pair: ",\n".join(_notes(pair[0])) or "-"),
    Column(
        "knobs",
        lambda pair: "\n".join(f"{n}={knob}" for n, knob in pair[0].knob_ranges.items()) or "-",
    ),
)
_CONFIGS = (
    Column("engine", lambda row: str(row.engine), number=True),
    Column("kind", lambda row: row.kind, narrow=False),
    Column("proposed", lambda row: ", ".join(row.proposed_by) or "-"),
    Column("knobs", lambda row: knobs_text(row.knobs)),
    Column("workspace", lambda row: bytes_text(row.workspace), number=True),
    Column("shared memory", lambda row: bytes_text(row.shared_memory), number=True, narrow=False),
    Column("result", lambda row: _RESULTS[row.state]),
)


_FARTHEST = ("plan", "config", "engine", "")


@dataclass(frozen=True)
class EngineRow:
    """One engine config.

    - `engine`: index of the engine.
    - `state` ("works", "accepted", "refused", "excluded", "undecided"): whether a plan was made of
      it; or cuDNN accepts it, but it was not compiled; or cuDNN refuses it; or the selection does
      not want it, or it is known to give wrong numbers; or cuDNN asks the GPU itself, which is not
      here.
    - `proposed_by`: modes of heuristics with the place in their list: "a 1" is the best of mode
      "a".
    - `kind` ("precompiled", "runtime fusion", "cuBLASLt", ""): "" if the engine refuses the graph
      before it tells its notes.
    - `knobs`: values that the config chooses; cuDNN chooses the others, and those that are -1.
    - `knob_ranges`: what the engine's knobs can be.
    - `workspace`, `shared_memory`: bytes that the plan itself needs; None if not told.
    - `refused_at` ("", "engine", "config", "plan"): which descriptor cuDNN did not finalize. A plan
      has come farthest.
    - `status`, `reason`: of a refusal: cuDNN's status and its own words; what the selection says.
    - `messages`: all that cuDNN logged about the refusal, the innermost first.
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

    - `graph`, `operations`, `device`, `cudnn`: the graph's name, its operations, the GPU, and the
      version of cuDNN.
    - `rows`: configs that heuristics propose, the best first; then the engines that they do not
      propose, those that work first. Iterating over the explanation gives these too.
    - `engine_count`: how many engines cuDNN has for graphs of this pattern.
    - `proposed`: how many configs each mode of heuristics proposed.
    - `refused_modes`: why a mode proposed none.
    - `refusal`: why cuDNN, or a known fault of it, refuses the graph before any engine is asked; ""
      if it does not.
    - `faults`: the known faults of cuDNN that concern the graph, by name: what is done about each,
      its remedy and its evidence.
    - `program`: for a graph that no engine takes: the plans of a program of it, with their engines
      and why each ends where it does; see ``Graph.partition``.
    - `beforehand`: the small graphs that run before each execution, with the bytes that they write
      in the workspace, and what an engine would misread without them.
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
    program: tuple[str, ...] = ()
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

    def advice(self, *, limit: float = 30.0) -> Advice:
        """Which changes would make the graph supported or faster, each of them tried.

        Other layouts, sizes, data types, modes of heuristics and programs are asked
        for in the same way as this explanation, on its GPU: `Suggestion` says what to change and
        has the changed graph, to be built. Nothing is compiled unless `Graph.explain` was told so.

        Parameters
        ----------
        limit : float
            Seconds after which nothing else is tried.

        Returns
        -------
        Advice
            What is known to be slow comes first. It is empty if nothing that was tried helps.

        Raises
        ------
        ValueError
            If this explanation is a copy by pickle, which has no graph.

        Examples
        --------
        >>> for each in graph.explain(device).advice():  # doctest: +SKIP
        ...     print(each)
        ...     each.graphs[0].build(device)
        """
        if self.adviser is None:
            raise ValueError("advice: this explanation has no graph; Graph.explain gives one")
        return self.adviser(self, limit=limit)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "adviser": None}

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        told = asdict(replace(self, adviser=None))
        del told["adviser"]
        return told

    def _title(self) -> str:
        title = f"{self.graph!r} ({self.operations}) on {self.device}, cuDNN {self.cudnn}: "
        if self.refusal:
            title += f"refused before any engine is asked: {self.refusal}"
        else:
            usable = {row.engine for row in self.usable}
            others = {row.engine for row in self.undecided} - usable
            title += (
                f"{len(usable)} of {self.engine_count} engines can do it, in {len(self.usable)} "
                "configs" + (f"; {len(others)} more perhaps where the GPU is" if others else "")
            )
        proposed = [f"{count} of mode {mode}" for mode, count in self.proposed.items()]
        lines = [f"proposed by heuristics: {', '.join(proposed)}"] if proposed else []
        refused = self.refused_modes.items()
        lines += [f"heuristics of mode {mode} refuse: {reason}" for mode, reason in refused]
        lines += [f"computed beforehand: {each}" for each in self.beforehand]
        lines += [f"plan {n} of a program: {each}" for n, each in enumerate(self.program, 1)]
        lines += [f"known fault {name!r}: {told}" for name, told in self.faults.items()]
        return "\n".join([title, *lines])

    def _tables(self) -> list[Table]:
        usable = self.usable
        styles = [_STYLES[row.state] for row in usable]
        best = {row.engine: row for row in reversed(usable)}
        counts = Counter(row.engine for row in usable)
        return [
            Table.of(_ENGINES, [(best[engine], count) for engine, count in counts.items()]),
            Table.of(_CONFIGS, usable, styles),
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
    refusals = [(row, Refusal(row.status, row.reason, row.messages)) for row in rows if row.reason]
    refusals.sort(key=lambda each: (each[1].hopeless, _FARTHEST.index(each[0].refused_at)))
    found: dict[str, set[int]] = {}
    for row, why in refusals:
        found.setdefault(why.without_index(row.engine), set()).add(row.engine)
    return {reason: tuple(sorted(engines)) for reason, engines in found.items()}


@dataclass(frozen=True, eq=False)
class Suggestion:
    """One piece of advice: what to change, the changed graph, and what is gained.

    - `steps`: what to do, in words and as data. Empty if only `options` are new.
    - `graphs`: the changed graph, not built.
    - `options`: for each of `graphs`, what ``Graph.build`` must be told beside the device: mostly
      nothing, or ``{"heuristics": "b"}``, or ``{"config": EngineChoice(…)}`` for an engine that no
      mode proposes.
    - `changes`: all that the changed graph says differently.
    - `before`: configs for the graph as it was; empty if there were none.
    - `after`: of each of `graphs`; of a program, of each of its pieces.
    - `reason`: why engines that are gained refused the graph before, in cuDNN's words.
    - `fact`: the known slow case that it is without.
    """

    steps: tuple[Step, ...]
    graphs: tuple[Any, ...]
    options: tuple[Mapping[str, Any], ...]
    changes: tuple[Change, ...] = ()
    before: tuple[EngineRow, ...] = ()
    after: tuple[Explanation, ...] = ()
    reason: str = ""
    fact: Fault | None = None

    @property
    def words(self) -> str:
        """The change, in one line."""
        steps = [each.words for each in self.steps]
        for graph, options in zip(self.graphs, self.options, strict=True):
            which = f" {graph!r}" if len(self.graphs) > 1 else ""
            steps += [f"build{which} with {name}={value!r}" for name, value in options.items()]
        return "; ".join(steps)

    @property
    def caveat(self) -> str:
        """Further work that the change asks for, or a property that it loses; "" if none."""
        return "; ".join(each.caveat for each in self.steps if each.caveat)

    @property
    def engines_before(self) -> tuple[int, ...]:
        """Indices of the engines for the graph as it was."""
        return tuple(dict.fromkeys(row.engine for row in self.before))

    @property
    def engines_after(self) -> tuple[tuple[int, ...], ...]:
        """Indices of the engines for each of `graphs`, the best first."""
        return tuple(tuple(dict.fromkeys(row.engine for row in each.usable)) for each in self.after)

    @property
    def gained(self) -> tuple[EngineRow, ...]:
        """One config of each engine that there was not before, the best first."""
        known = set(self.engines_before)
        found: dict[tuple[int, int], EngineRow] = {}
        for number, each in enumerate(self.after):
            for row in each.usable:
                if row.engine not in known:
                    found.setdefault((number, row.engine), row)
        return tuple(found.values())

    @property
    def effect(self) -> str:
        """The gain, in words."""
        parts = [] if self.before else ["makes the graph supported"]
        if self.fact is not None and self.before:
            parts.append(f"without a slow case: {self.fact.evidence[0]}".rstrip("."))
        return "; ".join([*parts, self._engines()])

    def _engines(self) -> str:
        if not self.gained:
            return "the same engines: only autotuning both tells whether it is faster"
        word = "gains " if self.before else ""
        told = [_gained_text(each, self.before) for each in self.after]
        return word + ", then ".join(part for part in told if part)

    def build(self, device: DeviceLike) -> tuple[Any, ...]:
        """Build `graphs` for a GPU; returns them.

        Raises NotSupportedError if cuDNN accepts an engine and cannot compile it, or this is
        another GPU.
        """
        for graph, options in zip(self.graphs, self.options, strict=True):
            graph.build(device, **options)
        return self.graphs

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "words": self.words,
            "caveat": self.caveat,
            "effect": self.effect,
            "steps": [each.as_dict() for each in self.steps],
            "changes": [each.as_dict() for each in self.changes],
            "options": [
                {name: v if isinstance(v, str) else asdict(v) for name, v in each.items()}
                for each in self.options
            ],
            "graphs": [each.to_json() for each in self.graphs],
            "engines_before": self.engines_before,
            "engines_after": self.engines_after,
            "gained": [row.as_dict() for row in self.gained],
            "reason": self.reason,
            "fact": None if self.fact is None else {"name": self.fact.name, **self.fact.facts},
        }

    def __str__(self) -> str:
        lines = [self.words, f"  {self.effect}"]
        lines += [f"  mind: {self.caveat}"] if self.caveat else []
        lines += [f"  before: {self.reason}"] if self.reason else []
        return "\n".join(lines)


def _gained_text(explanation: Explanation, before: Sequence[EngineRow]) -> str:
    """The engines that there were not before, with their kinds and notes, those alike together."""
    known = {row.engine for row in before}
    rows = {row.engine: row for row in reversed(explanation.usable) if row.engine not in known}
    groups: dict[str, list[int]] = {}
    for engine, row in rows.items():
        if row.proposed_by:
            notes = [row.kind, *(["tensor core"] if "tensor_core" in row.numerical_notes else [])]
            groups.setdefault(", ".join(notes), []).append(engine)
    told = [f"{spans(sorted(engines))} ({notes})" for notes, engines in groups.items()]
    others = [engine for engine, row in rows.items() if not row.proposed_by]
    if others:
        told.append(f"{spans(sorted(others))} (not proposed by heuristics)")
    return ", ".join(told)


@dataclass(frozen=True, eq=False)
class Advice(Report, Sequence[Suggestion]):
    """The result of ``Explanation.advice``: a sequence of `Suggestion`, the best first.

    ``str`` gives text, `show` prints it.

    - `explanation`: the explanation of the unchanged graph.
    - `tried`: number of changed graphs that were tried.
    - `seconds`: time that the trials took.
    - `complete`: whether all was tried before the limit of time or number.
    - `broken`: why no graph can be compiled, and the command that mends it; then no change was
      tried.
    """

    explanation: Explanation
    suggestions: tuple[Suggestion, ...] = ()
    tried: int = 0
    seconds: float = 0.0
    complete: bool = True
    broken: str = ""

    def __iter__(self) -> Iterator[Suggestion]:
        return iter(self.suggestions)

    def __len__(self) -> int:
        return len(self.suggestions)

    def __getitem__(self, index: Any) -> Any:
        return self.suggestions[index]

    @property
    def supported(self) -> bool:
        """Whether the graph has an engine as it is."""
        return bool(self.explanation.usable)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {
            "explanation": self.explanation.as_dict(),
            "suggestions": [each.as_dict() for each in self.suggestions],
            "tried": self.tried,
            "seconds": self.seconds,
            "complete": self.complete,
            "broken": self.broken,
        }

    def _tables(self) -> list[Table]:
        rows = [
            (str(number), each.words, each.effect, each.caveat or "-")
            for number, each in enumerate(self.suggestions, 1)
        ]
        return [Table(("", "change", "effect", "mind"), rows, ("",))]

    def __str__(self) -> str:
        parts = [self._title()]
        for number, each in enumerate(self.suggestions, 1):
            first, *others = str(each).splitlines()
            parts.append("\n".join([f"{number}. {first}", *(f" {line}" for line in others)]))
        return "\n\n".join(parts)

    def _title(self) -> str:
        told = self.explanation
        engines = dict.fromkeys(row.engine for row in told.usable)
        state = spans(sorted(engines)) if engines else "no engine"
        if told.refusal:
            state = f"refused before any engine is asked: {told.refusal}"
        graphs = "graph" if self.tried == 1 else "graphs"
        asked = f"{self.tried} changed {graphs} asked about in {self.seconds:.1f} s"
        asked += "" if self.complete else ", not all that could be"
        found = "" if self.suggestions else "; none of them helps"
        if self.broken:
            asked, found = self.broken, ""
        return (
            f"{told.graph!r} ({told.operations}) on {told.device}, cuDNN {told.cudnn}: {state}; "
            f"{asked}{found}"
        )
