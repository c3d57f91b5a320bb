"""Changes that make a graph supported or faster: as data, as plain text, and as a table."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from ....raw.faults import Fault
from .explanation import EngineRow, Explanation
from .report import Report, Table, spans

if TYPE_CHECKING:
    from ...backend.devices import DeviceLike
    from ...describe.rewriting import Change
    from ...describe.variants.remedy import Step

__all__ = ["Advice", "Suggestion"]


@dataclass(frozen=True, eq=False)
class Suggestion:
    """One piece of advice: what to change, the changed graph, and what is gained.

    Attributes
    ----------
    steps : tuple of Step
        What to do, in words and as data. Empty if only `options` are new.
    graphs : tuple of Graph
        The changed graph, not built. Two if the graph is split: the first to be executed first,
        the tensors between them in memory.
    options : tuple of mapping
        For each of `graphs`, what ``Graph.build`` must be told beside the device: mostly nothing,
        or ``{"heuristics": "b"}``, or ``{"config": EngineChoice(…)}`` for an engine that no mode
        proposes.
    changes : tuple of Change
        All that the changed graph says differently.
    before : tuple of EngineRow
        Configs for the graph as it was; empty if there were none.
    after : tuple of Explanation
        Of each of `graphs`.
    reason : str
        Why engines that are gained refused the graph before, in cuDNN's words.
    fact : Fault or None
        The known slow case that it is without.
    times : tuple of float, or None
        Microseconds before and after, measured here; infinite before if there was no engine.
    """

    steps: tuple[Step, ...]
    graphs: tuple[Any, ...]
    options: tuple[Mapping[str, Any], ...]
    changes: tuple[Change, ...] = ()
    before: tuple[EngineRow, ...] = ()
    after: tuple[Explanation, ...] = ()
    reason: str = ""
    fact: Fault | None = None
    times: tuple[float, float] | None = None

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
    def speedup(self) -> float | None:
        """How many times faster it was measured to be; None if it was not measured."""
        return None if self.times is None else self.times[0] / self.times[1]

    @property
    def effect(self) -> str:
        """The gain, in words."""
        parts = [] if self.before else ["makes the graph supported"]
        if self.times is not None:
            was, now = self.times
            if self.before:
                parts.append(f"{was / now:.2f} times as fast ({was:.1f} us -> {now:.1f} us)")
            else:
                parts.append(f"{now:.1f} us")
        elif self.fact is not None and self.before:
            parts.append(f"without a slow case: {self.fact.evidence[0]}".rstrip("."))
        return "; ".join([*parts, self._engines()])

    def _engines(self) -> str:
        if not self.gained:
            same = "the same engines"
            return same if self.times else f"{same}: only measure=True tells whether it is faster"
        word = "gains " if self.before else ""
        told = [_gained_text(each, self.before) for each in self.after]
        return word + ", then ".join(part for part in told if part)

    def build(self, device: DeviceLike) -> tuple[Any, ...]:
        """Build `graphs` for a GPU; returns them.

        Raises
        ------
        NotSupportedError
            If cuDNN accepts an engine and cannot compile it, or this is another GPU.
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
                {name: _plain(value) for name, value in each.items()} for each in self.options
            ],
            "graphs": [each.to_json() for each in self.graphs],
            "engines_before": self.engines_before,
            "engines_after": self.engines_after,
            "gained": [row.as_dict() for row in self.gained],
            "reason": self.reason,
            "fact": None if self.fact is None else {"name": self.fact.name, **self.fact.facts},
            "times": self.times,
        }

    def __str__(self) -> str:
        lines = [self.words, f"  {self.effect}"]
        lines += [f"  mind: {self.caveat}"] if self.caveat else []
        lines += [f"  before: {self.reason}"] if self.reason else []
        return "\n".join(lines)


def _plain(value: Any) -> Any:
    return value if isinstance(value, str) else asdict(value)


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

    Attributes
    ----------
    explanation : Explanation
        The explanation of the unchanged graph.
    suggestions : tuple of Suggestion
    tried : int
        Number of changed graphs that were tried.
    seconds : float
        Time that the trials took.
    complete : bool
        Whether all was tried before the limit of time or number.
    broken : str
        Why no graph can be compiled, and the command that mends it; then no change was tried.
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
