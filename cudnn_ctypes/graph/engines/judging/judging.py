"""Every engine of a graph against the reference: what is judged, and in which order."""

from __future__ import annotations

import math
import random
import tempfile
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ....absent_gpu.properties import reference_gpu
from ....errors import CudnnError, SymbolNotFoundError
from ....raw.library import load
from ....raw.values import described
from ....reference.device.registry import Refused
from ...backend.device_properties import is_absent
from ...backend.engine import Engine, EngineChoice
from ...lower.lowering import lowered
from ...lower.target import NO_GPU
from ..building import as_modes, check_gpu, knob_settings, proposed
from ..cache.cached_building import wanted_of
from ..explaining.report import Column, Report, Table, knobs_text, spans
from ..operands import KINDS, Images, host_operands, images, results
from ..selection import Selection
from ..tuning.timing import progress_bar
from .exact import Evaluation, least, unit
from .trial import Task, expanded, trials
from .verdict import FACTOR, WRONG, Bound, Verdict, keep_verdicts

if TYPE_CHECKING:
    from ....handle import Handle
    from ...lower.expand.expansion import Expansion
    from ...lower.lowering import Lowering


def _of_tensor(text: Callable[[Verdict], str]) -> Callable[[Verdict], str]:
    """A cell about the worst element of a result; "-" where there is none."""
    return lambda each: text(each) if each.tensor and each.state != "ended" else "-"


_COLUMNS = (
    Column("engine", lambda each: str(each.engine), number=True),
    Column("knobs", lambda each: knobs_text(each.knobs)),
    Column("verdict", lambda each: each.state),
    Column("error", _of_tensor(lambda each: f"{each.error:.1e}"), number=True),
    Column("allowed", _of_tensor(lambda each: f"{each.allowed:.1e}"), number=True, narrow=False),
    Column("where", _of_tensor(lambda e: f"{e.tensor}{list(e.index)}, {e.data}"), narrow=False),
    Column("same bits", lambda each: {None: "-", True: "yes", False: "no"}[each.same_bits]),
    Column("us", lambda each: "-" if each.median is None else f"{each.median:.1f}", number=True),
    Column("from", lambda each: each.source, narrow=False),
)
_STYLES = {"right": "green", "inexact": "yellow", "refused": "dim"}


@dataclass(frozen=True)
class Judgement(Report):
    """The result of `Graph.judge`; ``str`` gives a table, `show` prints it.

    - `graph`, `operations`, `device`, `cudnn`: the graph's name, its operations, the GPU, and the
      version of cuDNN.
    - `form`: the graph's form, by which verdicts are kept.
    - `verdicts`: one for each engine config. Iterating gives these too.
    - `data`: the kinds of numbers that the configs were executed with.
    - `seconds`: what all took.
    """

    graph: str
    operations: str
    device: str
    cudnn: str
    form: str
    verdicts: tuple[Verdict, ...]
    data: tuple[str, ...] = ()
    seconds: float = 0.0

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def right(self) -> tuple[Verdict, ...]:
        """Verdicts on configs that are right, or inexact with numbers that are hard."""
        return tuple(each for each in self.verdicts if each.state in ("right", "inexact"))

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """Verdicts on configs that must not be taken."""
        return tuple(each for each in self.verdicts if each.state in WRONG)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; numbers that are not finite are text."""
        told: dict[str, Any] = {**self.__dict__, "data": list(self.data)}
        told["verdicts"] = [_plain(each.as_dict()) for each in self.verdicts]
        return told

    def _title(self) -> str:
        configs = len(self._executed)
        return (
            f"{self.graph!r} on {self.device}, cuDNN {self.cudnn}: {self.operations}\n"
            f"{configs} engine config{'' if configs == 1 else 's'} executed with "
            f"{', '.join(self.data)} numbers in {self.seconds:.1f} s: {len(self.right)} right, "
            f"{len(self.wrong)} wrong"
        )

    def _tables(self) -> list[Table]:
        styles = [_STYLES.get(each.state, "red") for each in self._executed]
        return [Table.of(_COLUMNS, self._executed, styles)]

    def _lines(self) -> list[str]:
        return _reasons(self.verdicts)

    @property
    def _executed(self) -> list[Verdict]:
        return [each for each in self.verdicts if each.state != "refused"]


def _reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """Lines: why configs are not right, and which known faults say that they are not."""
    lines = []
    left: dict[str, set[int]] = {}
    for each in verdicts:
        if each.state == "refused":
            left.setdefault(f"refused: {each.told}", set()).add(each.engine)
        elif each.told:
            lines.append(f"{each.choice} {each.state}: {each.told}")
    for each in verdicts:
        if each.known:
            left.setdefault(f"passed over by builds: {each.known}", set()).add(each.engine)
    lines += [f"{spans(sorted(engines))} {told}" for told, engines in left.items()]
    return lines


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


_TRIES = 24  # settings of knobs of which most are no kernel
_TURNED = 8  # times as many elements may turn over as did by rounding
_JUMPS = ("CMP", "RELU_BWD", "SELECT", "MOD", "FLOOR", "CEIL", "NOT", "GEN_INDEX", "MAXPOOL")


def checked_kinds(data: Any) -> tuple[str, ...]:
    """The kinds of numbers that an argument `data` names."""
    if data is None:
        return tuple(KINDS)
    names = [data] if isinstance(data, str) else data
    if not isinstance(names, Collection) or not names:
        raise TypeError(f"data: expected names of kinds of numbers, got {described(data)}")
    for name in names:
        if name not in KINDS:
            raise ValueError(f"data: expected some of {', '.join(KINDS)}, got {name!r}")
    return tuple(name for name in KINDS if name in names)


def judge(
    graph: Any,
    handle: Handle,
    memory: Mapping[Any, Any],
    heuristics: Any,
    *,
    selection: Selection | None,
    knobs: int,
    data: Any,
    runs: int,
    despite_faults: bool,
    progress: bool | None,
    keep: bool,
) -> Judgement:
    """Carry out ``Graph.judge``."""
    check_gpu(handle, "judged")
    modes, kinds = as_modes(heuristics), checked_kinds(data)
    expansion = expanded(graph, handle) if despite_faults else graph.expansion(handle)
    wanted = wanted_of(expansion, selection)
    begun = time.monotonic()
    refuse_chance(expansion)
    with lowered(expansion, handle, NO_GPU if despite_faults else None) as lowering:
        todo = list(_chosen(lowering, handle, modes, knobs, wanted))
    verdicts = []
    with progress_bar("judging", progress) as advance, ExitStack() as stack:
        found = tried(
            graph,
            handle,
            todo,
            given=host_operands(graph, memory),
            kinds=kinds,
            runs=0 if is_absent(handle) else runs,
            described=despite_faults,
            stack=stack,
        )
        for verdict in found:
            verdicts.append(verdict)
            advance(str(verdict.choice), len(todo))
    if keep:
        keep_verdicts(expansion, handle, verdicts)
    return Judgement(
        graph=graph.name,
        operations=expansion.operations,
        device=str(handle.device.name),
        cudnn=load().version_text,
        form=expansion.form,
        verdicts=tuple(verdicts),
        data=tuple(kinds),
        seconds=time.monotonic() - begun,
    )


def tried(
    graph: Any,
    handle: Handle,
    named: list[Verdict],
    *,
    given: Mapping[int, Any],
    kinds: Sequence[str],
    runs: int = 0,
    described: bool = False,
    loose: bool = False,
    stack: ExitStack,
) -> Iterator[Verdict]:
    """The verdicts on some configs of a graph, each executed in a child process.

    Raises ValueError for operands that need numbers with a meaning, and have none; for operations
    that the reference does not carry out.
    """
    folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="cudnn_ctypes-judge-"))
    task = Task(
        graph,
        folder,
        tuple(kinds),
        runs,
        str(load().path),
        reference_gpu() if is_absent(handle) else handle.device.device_id,
        described,
        loose,
    )
    expansion = expanded(graph, handle)
    evaluation = Evaluation(expansion)
    nodes = graph.validate()
    for kind in kinds:
        operands = images(expansion, nodes, kind, given)
        try:
            task.keep(kind, operands, bounds(expansion, evaluation, operands))
        except Refused as error:
            raise ValueError(f"judge: {error}") from error
    return trials(task, named)


def bounds(expansion: Expansion, evaluation: Evaluation, operands: Images) -> dict[int, Bound]:
    """The exact results with these operands, and how far from them an engine's may be."""
    exact = evaluation.exact(operands)
    allowed, known = evaluation.tolerated(operands, exact, 0)
    modes = [str(getattr(node.options.get("mode"), "name", "")) for node in expansion.nodes]
    jumps = any(part in mode for mode in modes for part in _JUMPS)
    found = {}
    for tensor in results(expansion):
        uid = tensor.uid or 0
        array = np.asarray(exact[uid]).astype(np.float64)
        with np.errstate(all="ignore"):
            rounding = np.maximum(allowed[uid], unit(tensor.data_type) * np.abs(array))
        absolute = least(tensor.data_type) * (FACTOR if unit(tensor.data_type) else 1)
        bound = FACTOR * rounding + absolute
        bound = np.where(known[uid] & evaluation.inside(operands, uid), bound, np.inf)
        turned = int((~known[uid]).sum()) if jumps else 0
        found[uid] = Bound(array, bound, min(_TURNED * turned + 2, array.size // 50) * jumps)
    return found


def refuse_chance(expansion: Expansion) -> None:
    """Refuse graphs with random numbers, which each engine makes in its own way."""
    for node in expansion.nodes:
        random_numbers = node.kind.descriptor == "operation_rng"
        if random_numbers or node.options.get("dropout_probability"):
            raise ValueError(
                f"judge: {node} makes random numbers, in which engines differ from each other; "
                "give a mask instead"
            )


def _chosen(
    lowering: Lowering, handle: Handle, modes: Sequence[str], knobs: int, selection: Selection
) -> Iterator[Verdict]:
    """The configs to be judged: the first config of each engine, and some others."""
    with ExitStack() as stack:
        by_engine: dict[int, dict[EngineChoice, str]] = {}
        for config, source in proposed(lowering, handle, modes, stack, every_engine=True):
            if not selection.refusal(config):
                choice = config.choice
                by_engine.setdefault(choice.engine, {}).setdefault(choice, source)
        for engine, choices in by_engine.items():
            (first, source), *rest = choices.items()
            rng = random.Random(engine)
            sample = rng.sample(rest, min(knobs, len(rest)))
            if len(sample) < knobs:
                tried_before = set(choices)
                for choice in _settings(lowering, handle, first, rng):
                    if len(sample) == knobs:
                        break
                    if choice not in tried_before:
                        sample.append((choice, "knobs"))
                        tried_before.add(choice)
            for choice, by in ((first, source), *sample):
                known = lowering.faults.fault(choice)
                yield Verdict(choice.engine, dict(choice.knobs), by, known=known)


def _settings(
    lowering: Lowering, handle: Handle, start: EngineChoice, rng: random.Random
) -> Iterator[EngineChoice]:
    """Settings of an engine's knobs that cuDNN takes, by chance."""
    try:
        with Engine(lowering.graph, start.engine, device=handle) as engine:
            settings = list(knob_settings(start, engine.knobs))
            rng.shuffle(settings)
            for choice in settings[:_TRIES]:
                try:
                    with engine.config(choice.knobs) as config:
                        yield config.choice
                except (CudnnError, ValueError):
                    continue
    except (CudnnError, SymbolNotFoundError):
        return
