"""Every engine config for a graph: what it is, what it needs, and whether and why not it works."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any, TextIO

from ..errors import CudnnError, SymbolNotFoundError
from ..raw.library import load
from .building import lowered, proposals
from .device_properties import DeviceProperties
from .engines import (
    Engine,
    EngineChoice,
    EngineConfig,
    Knob,
    default_configs,
    engine_count,
)
from .faults import faulty_engines
from .plan import ExecutionPlan
from .refusals import Refusal, refusal
from .selection import Selection

if TYPE_CHECKING:
    from ..handle import Handle
    from ..raw import cudnnDataType_t
    from .descriptor import BackendDescriptor
    from .node import Node

__all__ = ["EngineRow", "Explanation", "explain"]


@dataclass(frozen=True)
class EngineRow:
    """One engine config.

    Attributes
    ----------
    engine : int
        Index of the engine.
    state : {"works", "accepted", "refused", "excluded"}
        Whether a plan was made of it; or cuDNN accepts it, but it was not compiled; or cuDNN
        refuses it; or the selection does not want it, or it is known to give wrong numbers.
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
        Which descriptor cuDNN refused to finalize. A plan has come farthest.
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
        """Whether it works; None if only compiling it would tell, or it was not asked."""
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

    def reasons(self) -> dict[str, tuple[int, ...]]:
        """Engines by the reason why they do not do it; those that came farthest first."""
        from .explanation_text import reasons

        return reasons(self.rows)

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)

    def show(self, file: TextIO | None = None) -> None:
        """Print it: as tables with lines on a terminal, else as plain text.

        First the engines that can do it, with their knobs; then their configs; then why the others
        do not.
        """
        from .explanation_text import show

        show(self, file)

    def __rich__(self) -> Any:
        from .explanation_text import RichText

        return RichText(self)

    def __str__(self) -> str:
        from .explanation_text import plain_text

        return plain_text(self)


def explain(
    nodes: Sequence[Node],
    compute_data_type: cudnnDataType_t,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    name: str = "graph",
    selection: Selection | None = None,
    compile: bool = False,
    sm_count: int | None = None,
) -> Explanation:
    """What `Graph.explain` does, for validated nodes."""
    selection = selection or Selection()
    with lowered(nodes, compute_data_type, device) as graph:
        examiner = _Examiner(graph, device, selection, compile, sm_count, faulty_engines(nodes))
        refused_modes: dict[str, str] = {}
        counts = dict.fromkeys(modes, 0)
        found: dict[EngineChoice, EngineRow] = {}
        configs = proposals(
            graph,
            device,
            modes,
            sm_count=sm_count,
            on_refusal=lambda mode, error: refused_modes.update({mode: str(refusal(error))}),
        )
        with closing(configs):  # type: ignore[type-var]
            for mode, config in configs:
                counts[mode] += 1
                place = f"{mode} {counts[mode]}"
                choice = config.choice
                if choice in found:
                    row = found[choice]
                    found[choice] = replace(row, proposed_by=(*row.proposed_by, place))
                else:
                    found[choice] = examiner.of_config(config, (place,))
        rows = list(found.values())
        proposed = {row.engine for row in rows}
        count = engine_count(graph)
        others = [row for i in range(count) if i not in proposed for row in examiner.of_engine(i)]
        order = ("works", "accepted", "excluded", "refused")
        rows += sorted(others, key=lambda row: order.index(row.state))
    return Explanation(
        graph=name,
        operations=", ".join(map(str, nodes)),
        device=_device_name(device),
        cudnn=load().version_text,
        rows=tuple(rows),
        engine_count=count,
        proposed={mode: n for mode, n in counts.items() if mode not in refused_modes},
        refused_modes=refused_modes,
    )


def _device_name(device: Any) -> str:
    return str(device.name if isinstance(device, DeviceProperties) else device.device.name)


class _Examiner:
    """Makes the rows of one operation graph."""

    def __init__(
        self,
        graph: BackendDescriptor,
        device: Handle | DeviceProperties,
        selection: Selection,
        compile: bool,
        sm_count: int | None,
        faulty: Mapping[int, str],
    ) -> None:
        self._graph = graph
        self._device = device
        self._selection = selection
        self._compile = compile
        self._sm_count = sm_count
        self._faulty = faulty
        self._facts: dict[int, dict[str, Any]] = {}

    def of_config(self, config: EngineConfig, proposed_by: tuple[str, ...]) -> EngineRow:
        engine = config.engine
        row = EngineRow(
            engine.index,
            "accepted",
            proposed_by,
            knobs=config.knobs,
            workspace=config.workspace_size,
            shared_memory=config.shared_memory,
            **self._of_engine(engine),
        )
        unwanted = self._faulty.get(row.engine) or self._selection.refusal(config)
        if unwanted:
            return replace(row, state="excluded", reason=unwanted)
        if row.kind == "runtime fusion" and not self._compile:
            return row
        try:
            with ExecutionPlan(config, device=self._device) as plan:
                return replace(row, state="works", workspace=plan.workspace_size)
        except CudnnError as error:
            return replace(row, **_refused("plan", refusal(error)))

    def of_engine(self, index: int) -> list[EngineRow]:
        """Of an engine that heuristics do not propose, its knobs left to cuDNN."""
        unwanted = self._selection.refusal_of_engine(index)
        if unwanted:
            return [EngineRow(index, "excluded", reason=unwanted)]
        row, at = EngineRow(index, "refused"), "engine"
        try:
            with Engine(self._graph, index, device=self._device, sm_count=self._sm_count) as engine:
                row, at = replace(row, **self._of_engine(engine)), "config"
                with ExitStack() as stack:
                    configs = [stack.enter_context(each) for each in default_configs(engine)]
                    return [self.of_config(config, ()) for config in configs]
        except CudnnError as error:
            return [replace(row, **_refused(at, refusal(error)))]
        except SymbolNotFoundError as error:
            return [replace(row, **_refused(at, Refusal("", str(error))))]

    def _of_engine(self, engine: Engine) -> dict[str, Any]:
        index = engine.index
        if index not in self._facts:
            notes, behavior = engine.numerical_notes, engine.behavior_notes
            self._facts[index] = {
                "kind": _kind(behavior),
                "knob_ranges": engine.knobs,
                "numerical_notes": tuple(sorted(notes)),
                "behavior_notes": tuple(sorted(behavior)),
            }
        return self._facts[index]


def _kind(notes: frozenset[str]) -> str:
    if "runtime_compilation" in notes:
        return "runtime fusion"
    return "cuBLASLt" if "cublaslt_dependency" in notes else "precompiled"


def _refused(at: str, why: Refusal) -> dict[str, Any]:
    return {
        "state": "refused",
        "refused_at": at,
        "status": why.status,
        "reason": why.reason,
        "messages": why.messages,
    }
