"""Autotuning on a GPU: memory for a graph's tensors, times of its plans, the fastest plan."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ....errors import (
    BadParamError,
    CudnnError,
    NoDeviceError,
    NotSupportedError,
    OwnReason,
    SymbolNotFoundError,
)
from ....raw import cudnnStatus_t
from ....raw.library import load
from ....resource import Closing
from ....runtime import DeviceBuffer
from ...backend.device_properties import DeviceProperties, is_absent
from ...backend.engine import Engine, EngineChoice, EngineConfig
from ...lower.faults import Faults
from ...lower.lowering import Lowering, lowered
from ...run.execution import Operands
from ...run.plan import ExecutionPlan
from ...run.program import Program
from ..building import check_gpu, knob_settings, proposed
from ..cache.cached_building import keep_tuning, scratch_of, wanted_of
from ..cache.plan_cache import as_cache
from ..judging.probation import checked, checked_proposals
from ..operands import random_memory
from ..refusals import Refusal, refusal
from ..selection import Selection
from .measurements import Autotuning, Measurement, Settings
from .timing import Timer, progress_bar

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.descriptor import BackendDescriptor
    from ...describe.tensor import Tensor
    from ...lower.expand.expansion import Expansion

_logger = logging.getLogger(__name__)

_FEW = 3  # runs after which a plan can be dropped
_CLEARLY = 1.3  # dropped if the fastest of these takes so many times the best median

Noted = Callable[[Measurement, int], object]
Programs = Callable[[], Iterable[tuple[tuple[str, ...], Callable[[], ExecutionPlan]]]]


class Tuner:
    """Measures configs one after another and holds the fastest plan; `close` destroys it.

    - `build`: from a config to its plan; raises as ``ExecutionPlan`` does.
    - `time_plan`: executes a plan, with so many untimed and timed runs; returns the microseconds of
      these.
    - `faults`: of the graph, whose engines are not to be measured.
    """

    def __init__(
        self,
        build: Callable[[EngineConfig], ExecutionPlan],
        time_plan: Callable[[ExecutionPlan, int, int], list[float]],
        settings: Settings,
        selection: Selection,
        *,
        faults: Faults | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._build = build
        self._time = time_plan
        self._settings = settings
        self.selection = selection
        self.faults = faults or Faults()
        self._clock = clock
        self._begun = clock()
        self.measurements: list[Measurement] = []
        self.tried: set[EngineChoice] = set()
        self.best: Measurement | None = None
        self.plan: ExecutionPlan | None = None

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return self._clock() - self._begun

    @property
    def out_of_time(self) -> bool:
        """Whether the budget is used up; one plan is always measured."""
        budget = self._settings.budget
        return self.best is not None and budget is not None and self.seconds >= budget

    def measure(self, config: EngineConfig, source: str) -> Measurement | None:
        """Measure a config and note the result; None if that was done before."""
        choice = config.choice
        if choice in self.tried:
            return None
        self.tried.add(choice)
        noted = Measurement(choice.engine, choice.knobs, source, "not tried")
        if not self.out_of_time:
            notes = (*config.engine.numerical_notes, *config.engine.behavior_notes)
            noted = replace(noted, notes=tuple(sorted(notes)), workspace=config.workspace_size)
            unwanted = self.faults.fault(choice) or self.selection.refusal(config)
            if unwanted:
                noted = replace(noted, state="excluded", reason=unwanted)
            else:
                noted = self._measured(lambda: self._build(config), noted)
        return self._kept(noted)

    def measure_program(
        self, pieces: tuple[str, ...], build: Callable[[], ExecutionPlan]
    ) -> Measurement:
        """Measure a program of several plans, with these operations, and note the result."""
        noted = Measurement(-1, {}, "program", "not tried", pieces=pieces)
        return self._kept(noted if self.out_of_time else self._measured(build, noted))

    def _kept(self, noted: Measurement) -> Measurement:
        self.measurements.append(noted)
        _log(noted)
        return noted

    def _measured(self, build: Callable[[], ExecutionPlan], noted: Measurement) -> Measurement:
        before = self._clock()
        try:
            plan = build()
        except CudnnError as error:
            return _failed(noted, error)
        noted = replace(noted, workspace=plan.workspace_size, build_seconds=self._clock() - before)
        kept = False
        try:
            unwanted = self.selection.refusal_of_workspace(plan.workspace_size)
            if unwanted:
                return replace(noted, state="excluded", reason=unwanted)
            noted = self._timed(plan, noted)
            kept = noted.state == "measured" and (
                self.best is None or noted.median < self.best.median
            )
            return noted
        except (CudnnError, MemoryError) as error:
            return _failed(noted, error)
        finally:
            if kept:
                self.close()
                self.best, self.plan = noted, plan
            else:
                plan.close()

    def _timed(self, plan: ExecutionPlan, noted: Measurement) -> Measurement:
        runs = self._settings.runs
        few = min(_FEW, runs)
        times = self._time(plan, self._settings.warm_up, few)
        if self.best is not None and min(times) > _CLEARLY * self.best.median:
            return replace(noted, state="dropped", times=tuple(times))
        if runs > few:
            times += self._time(plan, 0, runs - few)
        return replace(noted, state="measured", times=tuple(times))

    def close(self) -> None:
        """Destroy the plan."""
        if self.plan is not None:
            self.plan.close()
            self.plan = None


def _log(noted: Measurement) -> None:
    if _logger.isEnabledFor(logging.DEBUG):
        told = f"{noted.median:.1f} us" if noted.times else noted.reason
        _logger.debug("%s (%s) %s: %s", noted.title, noted.source, noted.state, told)


def _failed(noted: Measurement, error: Exception) -> Measurement:
    """`noted` with the reason for which it failed."""
    why = refusal(error) if isinstance(error, CudnnError) else Refusal("", str(error))
    return replace(noted, state="failed", status=why.status, reason=why.reason)


def tune_engines(
    tuner: Tuner, expansion: Expansion, handle: Handle, modes: Sequence[str], **options: Any
) -> None:
    """Measure the configs of a graph, but for those of engines that are known to be wrong."""
    with lowered(expansion, handle) as lowering:
        lowering.faults = tuner.selection.kept.heeded(lowering.faults)
        tuner.faults = lowering.faults
        tune(tuner, lowering, handle, modes, **options)


def tune(
    tuner: Tuner,
    lowering: Lowering,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    *,
    every_engine: bool = False,
    knobs: int = 0,
    noted: Noted = lambda measurement, total: None,
) -> None:
    """Measure what heuristics propose, other engines and settings of knobs when asked.

    `noted` is called after each measurement, with how many there are to be as far as is known.
    """
    graph = lowering.graph
    with ExitStack() as stack:
        waiting = proposed(lowering, device, modes, stack, every_engine=every_engine)
        total = len({config.choice for config, _ in waiting})
        for config, source in waiting:
            measurement = tuner.measure(config, source)
            if measurement is not None:
                noted(measurement, total + knobs)
    if knobs and tuner.best is not None:
        _search_knobs(tuner, graph, device, knobs, noted, total + knobs)


def _search_knobs(
    tuner: Tuner,
    graph: BackendDescriptor,
    device: Handle | DeviceProperties,
    limit: int,
    noted: Noted,
    total: int,
) -> None:
    """Change one knob of the fastest config whose knobs were not changed yet, and so on."""
    left = limit
    changed: set[EngineChoice] = set()
    while (start := _next_start(tuner.measurements, changed)) is not None:
        changed.add(start.choice)
        with Engine(graph, start.engine, device=device) as engine:
            for choice in knob_settings(start.choice, engine.knobs):
                if choice in tuner.tried:
                    continue
                if left == 0 or tuner.out_of_time:
                    return
                try:
                    config = engine.config(choice.knobs)
                except CudnnError:
                    # Most settings of several knobs are no kernel: cuDNN says so at once.
                    tuner.tried.add(choice)
                    continue
                with config:
                    measurement = tuner.measure(config, "knobs")
                if measurement is not None:
                    left -= 1
                    noted(measurement, total)
                if tuner.best is measurement:  # go on from there; the rest of this one later
                    changed.discard(start.choice)
                    break


def _next_start(
    measurements: Sequence[Measurement], changed: Collection[EngineChoice]
) -> Measurement | None:
    """The fastest config of those near the best whose knobs were not changed yet."""
    full = [each for each in measurements if each.state == "measured"]
    limit = _CLEARLY * min((each.median for each in full), default=0.0)
    near = [each for each in measurements if each.median <= limit and each.choice not in changed]
    return min(near, key=lambda each: each.median, default=None)


_REASONS = 8  # that the message has if no plan could be measured


def autotune(
    graph: Any,
    expansion: Expansion,
    handle: Handle,
    memory: Mapping[Any, Any],
    modes: Sequence[str],
    settings: Settings,
    *,
    selection: Selection | None,
    every_engine: bool = False,
    progress: bool | None = None,
    cache: Any = None,
    programs: Programs | None = None,
) -> tuple[Autotuning, ExecutionPlan]:
    """Carry out ``Graph.autotune``: return the measurements and the fastest plan.

    `programs` gives the operations of several plans, and what builds a program of them.

    Raises NotSupportedError if no plan was measured to the end; the message has the reasons.
    """
    plans, wanted = as_cache(cache), wanted_of(expansion, selection)
    check_handle(handle)
    known = checked_proposals(graph, expansion, handle, modes, every_engine=every_engine)
    while True:
        refused: Exception | None = None
        chosen = wanted.passing_over(known)
        with (
            bench(graph, expansion, handle, memory, settings, chosen) as tuner,
            tuning_bar(progress) as noted,
        ):
            options: dict[str, Any] = {"knobs": settings.knobs, "noted": noted}
            try:
                tune_engines(tuner, expansion, handle, modes, every_engine=every_engine, **options)
            except (NotSupportedError, BadParamError, SymbolNotFoundError) as error:
                refused = error
            for pieces, build in programs() if programs is not None else ():
                noted(tuner.measure_program(pieces, build), len(tuner.measurements))
        if tuner.best is None:
            raise refused or _nothing_measured(expansion, modes, tuner.measurements)
        if tuner.best.pieces:
            break
        known = checked(graph, expansion, handle, [tuner.best.choice])
        if not known.fault(tuner.best.choice):
            break
        tuner.close()
    tuned = Autotuning(
        graph=graph.name,
        device=str(handle.device.name),
        cudnn=load().version_text,
        measurements=tuple(tuner.measurements),
        best=tuner.best,
        settings=settings,
        seconds=tuner.seconds,
    )
    if _logger.isEnabledFor(logging.INFO):
        took = f"{len(tuned.ranking)} plans measured in {tuned.seconds:.1f} s"
        fastest = f"{tuned.best.title}, {tuned.best.median:.1f} us"
        _logger.info("graph %r: %s, the fastest is %s", tuned.graph, took, fastest)
    assert tuner.plan is not None
    if plans is not None:
        keep_tuning(plans, expansion, handle, tuned, tuner.plan, selection=wanted)
    return tuned, tuner.plan


@contextmanager
def bench(
    graph: Any,
    expansion: Expansion,
    handle: Handle,
    memory: Mapping[Any, Any],
    settings: Settings,
    selection: Selection,
) -> Iterator[Tuner]:
    """Yield a tuner, which measures configs of a graph on a GPU.

    The tuner's plan is left open, unless an exception comes.
    """
    named = [t for t in graph.tensors if any(_names(key, t) for key in memory)]
    with ExitStack() as stack:
        scratch = stack.enter_context(closing(scratch_of(expansion, handle)))
        others = random_memory(
            [t for t in graph.inputs if t not in named],
            [t for t in graph.outputs if t not in named],
            handle,
            stack.enter_context,
        )
        by_uid = Operands(expansion.tensors).by_uid({**memory, **others})
        workspace = stack.enter_context(_Workspace(handle))
        timer = stack.enter_context(Timer(handle, cold_cache=settings.cold_cache))
        timer.warm_up()
        handle.synchronize()

        def time_plan(plan: ExecutionPlan, untimed: int, runs: int) -> list[float]:
            if not isinstance(plan, Program):
                plan.scratch = scratch.borrowed()
            with plan.bind(handle, by_uid, workspace.of(plan.workspace_size)) as bound:
                for _ in range(untimed):
                    bound()
                return timer(bound, runs)

        selection.kept.heed("Graph.autotune")
        tuner = Tuner(
            lambda config: ExecutionPlan(config, device=handle), time_plan, settings, selection
        )
        try:
            yield tuner
        except BaseException:
            tuner.close()
            raise


class _Workspace(Closing):
    """One block of device memory, as large as the largest that was asked for."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._buffer: DeviceBuffer | None = None

    def of(self, nbytes: int) -> DeviceBuffer | None:
        if nbytes and (self._buffer is None or self._buffer.nbytes < nbytes):
            self.close()
            device, stream = self._handle.device, self._handle.stream
            self._buffer = DeviceBuffer(nbytes, device=device, stream=stream)
        return self._buffer

    def close(self) -> None:
        if self._buffer is not None:
            self._buffer.close()
            self._buffer = None


def check_handle(handle: Any) -> None:
    """Refuse what is no handle of a GPU.

    Raises TypeError or NoDeviceError.
    """
    check_gpu(handle, "measured")
    if is_absent(handle):
        raise NoDeviceError(
            "autotune measures plans on a GPU, and this handle is the reference device's, which "
            "has one way to compute each operation; build() is enough there"
        )


def _names(key: Any, tensor: Tensor) -> bool:
    return key is tensor or (isinstance(key, (int, str)) and key in (tensor.uid, tensor.name))


def _nothing_measured(
    expansion: Expansion, modes: Sequence[str], measurements: Sequence[Measurement]
) -> Exception:
    reasons = dict.fromkeys(
        f"{each.status}: {each.reason}" if each.status else OwnReason(each.reason)
        for each in measurements
    )
    return NotSupportedError(
        "Graph.autotune",
        cudnnStatus_t.CUDNN_STATUS_NOT_SUPPORTED,
        arguments={"graph": expansion.operations, "heuristics": ", ".join(modes)},
        messages=tuple(reasons)[:_REASONS],
        hint="Graph.explain(device) shows every engine and why it refuses",
    )


@contextmanager
def tuning_bar(wanted: bool | None) -> Iterator[Noted]:
    """Yield a function that draws a bar; call it with each measurement and their number."""
    best = float("inf")
    with progress_bar("autotuning", wanted) as advance:

        def noted(measurement: Measurement, total: int) -> None:
            nonlocal best
            if measurement.state == "measured":
                best = min(best, measurement.median)
            advance(f"fastest {best:.1f} us" if best < float("inf") else "", total)

        yield noted
