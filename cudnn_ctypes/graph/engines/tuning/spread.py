"""Autotuning by the workers of an executor, each with a GPU of the same kind."""

from __future__ import annotations

import copy
import functools
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from ....errors import CudnnError, SymbolNotFoundError
from ....raw.library import load
from ....raw.values import described
from ....runtime import DeviceBuffer
from ...backend.engine import Engine, EngineChoice, EngineConfig
from ...lower.lowering import Lowering, lowered
from ...run.plan import ExecutionPlan
from ..cache.key import important_properties
from ..selection import Selection
from .autotuning import (
    Noted,
    Tuner,
    bench,
    check_handle,
    failed,
    neighbours,
    next_start,
    proposed,
    summary,
    tuning_bar,
)
from .measurements import Measurement, Settings
from .random_memory import host_operands
from .timing import gpu_lock

if TYPE_CHECKING:
    from ....handle import Handle
    from ...backend.descriptor import BackendDescriptor
    from ...backend.device_properties import DeviceProperties
    from ...lower.expand.expansion import Expansion
    from .measurements import Autotuning

__all__ = [
    "Chunk",
    "Executor",
    "SpreadTuner",
    "check_target",
    "checked_executor",
    "measured",
    "spread_autotune",
    "target_of",
]


class Executor(Protocol):
    """An object that runs calls elsewhere: ``concurrent.futures``, Dask, ``mpi4py.futures``."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Start ``fn(*args, **kwargs)``; the future's ``result()`` waits for its value."""


Target = tuple[str, Mapping[str, Any]]
"""The version of cuDNN and the properties of the GPU that engine configs belong to."""


def target_of(handle: Handle) -> Target:
    return load().version_text, important_properties(handle)


def check_target(wanted: Target, here: Target) -> None:
    """Refuse a worker that has another GPU, or another cuDNN."""
    (cudnn, gpu), (own_cudnn, own_gpu) = wanted, here
    if cudnn != own_cudnn:
        raise ValueError(f"the worker has cuDNN {own_cudnn}, and engines are those of {cudnn}")
    other = sorted(name for name in {*gpu, *own_gpu} if gpu.get(name) != own_gpu.get(name))
    if other:
        shown = (f"{name} {own_gpu.get(name)!r} instead of {gpu.get(name)!r}" for name in other)
        raise ValueError(f"the worker has another GPU: {', '.join(shown)}")


@dataclass(frozen=True)
class Chunk:
    """Configs that one worker measures, one after the other; it can be pickled.

    Attributes
    ----------
    graph : Graph
        Its description; workers take a copy.
    choices : tuple of (EngineChoice, str)
        Each with who proposed it.
    operands : mapping
        By unique id, arrays of bytes on the host or numbers; the others are random.
    target : Target
    settings : Settings
    selection : Selection
    sm_count : int, optional
    """

    graph: Any
    choices: tuple[tuple[EngineChoice, str], ...]
    operands: Mapping[int, Any]
    target: Target
    settings: Settings
    selection: Selection
    sm_count: int | None = None


def measured(chunk: Chunk, device: int | None) -> list[Measurement]:
    """The measurements of a chunk's configs, in their order.

    Parameters
    ----------
    chunk : Chunk
    device : int, optional
        Number of the GPU; by default the current one of the worker.

    Raises
    ------
    ValueError
        If the worker has another GPU, or another cuDNN, than the configs are for.
    """
    from ....handle import Handle

    graph = copy.copy(chunk.graph)
    with ExitStack() as stack:
        handle = stack.enter_context(Handle(device=device))
        check_handle(handle)
        check_target(chunk.target, target_of(handle))
        memory = {uid: _on_the_gpu(value, handle, stack) for uid, value in chunk.operands.items()}
        tuner, lowering = stack.enter_context(
            bench(
                graph,
                graph.expansion(handle),
                handle,
                memory,
                chunk.settings,
                chunk.selection,
                alone=functools.partial(gpu_lock, str(handle.device.uuid)),
            )
        )
        stack.callback(tuner.close)
        return [
            _measured(tuner, lowering.graph, handle, choice, source, chunk.sm_count)
            for choice, source in chunk.choices
        ]


def _on_the_gpu(value: Any, handle: Handle, stack: ExitStack) -> Any:
    if not hasattr(value, "nbytes") or not getattr(value, "ndim", 0):
        return value
    buffer = DeviceBuffer(value.nbytes, device=handle.device, stream=handle.stream)
    stack.enter_context(buffer)
    buffer.copy_from_host(value, stream=handle.stream)
    return buffer


def _measured(
    tuner: Tuner,
    graph: BackendDescriptor,
    handle: Handle,
    choice: EngineChoice,
    source: str,
    sm_count: int | None,
) -> Measurement:
    """The measurement of one config, under the name by which it was asked for."""
    noted = _untried(choice, source)
    try:
        with (
            Engine(graph, choice.engine, device=handle, sm_count=sm_count) as engine,
            engine.config(choice.knobs) as config,
        ):
            found = tuner.measure(config, source)
            if found is None:  # another choice means the same
                found = next(m for m in tuner.measurements if m.choice == config.choice)
    except (CudnnError, SymbolNotFoundError, ValueError) as error:
        return failed(noted, error)
    return replace(found, knobs=choice.knobs, source=source)


_WORKERS = 8  # if it is not known how many there are

Choices = Sequence[tuple[EngineChoice, str]]


def spread_autotune(
    graph: Any,
    expansion: Expansion,
    handle: Handle,
    memory: Mapping[Any, Any],
    modes: Sequence[str],
    settings: Settings,
    *,
    executor: Executor,
    devices: Sequence[int] = (),
    selection: Selection | None = None,
    every_engine: bool = False,
    sm_count: int | None = None,
    progress: bool | None = None,
) -> tuple[Autotuning, ExecutionPlan]:
    """Carry out ``Graph.autotune(executor=...)``: the measurements and the fastest plan."""
    check_handle(handle)
    chunk = Chunk(
        graph,
        (),
        host_operands(graph, memory),
        target_of(handle),
        settings,
        selection or Selection(),
        sm_count,
    )
    if not devices and isinstance(executor, ThreadPoolExecutor):
        devices = (handle.device.device_id,)
    with lowered(expansion, handle) as lowering, tuning_bar(progress) as noted:
        tuner = SpreadTuner(executor, chunk, devices=devices, noted=noted)
        tuner.tune(lowering, handle, modes, every_engine=every_engine)
        result = summary(graph, expansion, handle, modes, settings, tuner)
        best = result.best
        with (
            Engine(lowering.graph, best.engine, device=handle, sm_count=sm_count) as engine,
            engine.config(best.knobs) as config,
        ):
            return result, ExecutionPlan(config, device=handle)


def checked_executor(executor: Any, devices: Any) -> tuple[int, ...]:
    """The devices as numbers, if an executor and they can be used together."""
    if isinstance(devices, (str, bytes)) or not isinstance(devices, Iterable):
        raise TypeError(f"devices: expected numbers of GPUs, got {described(devices)}")
    numbers = tuple(devices)
    for each in numbers:
        if isinstance(each, bool) or not isinstance(each, int) or each < 0:
            raise ValueError(f"devices: expected numbers of GPUs from 0, got {each!r}")
    if len(set(numbers)) < len(numbers):
        raise ValueError(f"devices: expected each GPU once, got {list(numbers)}")
    if executor is None:
        if numbers:
            raise ValueError("devices: these are for the workers of an executor, and none is given")
        return ()
    if not callable(getattr(executor, "submit", None)):
        raise TypeError(
            f"executor: expected one with submit(), such as a ProcessPoolExecutor, got "
            f"{described(executor)}"
        )
    context = getattr(executor, "_mp_context", None)
    if context is not None and context.get_start_method() == "fork":
        raise ValueError(
            "executor: a fork of a process that uses CUDA cannot use it; give "
            "ProcessPoolExecutor(n, mp_context=multiprocessing.get_context('spawn'))"
        )
    return numbers


class SpreadTuner:
    """Has configs measured by workers.

    Parameters
    ----------
    executor : Executor
    chunk : Chunk
        What is common to all; its choices are not looked at.
    devices : sequence of int, optional
        Numbers of the GPUs, taken in turn.
    function : callable
        What workers carry out: as `measured`.
    noted : callable
        Called with each measurement, and how many there are to be as far as is known.
    clock : callable
        Seconds.

    Attributes
    ----------
    measurements : list of Measurement
        In the order of the configs.
    """

    def __init__(
        self,
        executor: Executor,
        chunk: Chunk,
        *,
        devices: Sequence[int] = (),
        function: Callable[[Chunk, Any], Sequence[Measurement]] = measured,
        noted: Noted = lambda measurement, total: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._executor = executor
        self._chunk = chunk
        self._devices: Sequence[int | None] = devices or (None,)
        self._function = function
        self._noted = noted
        self._clock = clock
        self._begun = clock()
        self.measurements: list[Measurement] = []

    @property
    def seconds(self) -> float:
        """Since it was made."""
        return self._clock() - self._begun

    @property
    def best(self) -> Measurement | None:
        """The fastest of those that were measured to the end."""
        full = [each for each in self.measurements if each.state == "measured"]
        return min(full, key=lambda each: each.median, default=None)

    def tune(
        self,
        lowering: Lowering,
        device: Handle | DeviceProperties,
        modes: Sequence[str],
        *,
        every_engine: bool = False,
    ) -> None:
        """Measure what heuristics propose, other engines and settings of knobs when asked."""
        sm_count, knobs = self._chunk.sm_count, self._chunk.settings.knobs
        with ExitStack() as stack:
            found: dict[EngineChoice, str] = {}
            for config, source in proposed(
                lowering, device, modes, stack, every_engine=every_engine, sm_count=sm_count
            ):
                found.setdefault(config.choice, source)
        self.measure(list(found.items()), len(found) + knobs)
        if knobs:
            search = functools.partial(neighbours, lowering.graph, device, sm_count)
            self._search(search, knobs)

    def _search(self, search: Callable[..., Iterable[EngineConfig]], limit: int) -> None:
        """Neighbours of the fastest config, all at once, then of the next, up to a number."""
        changed: set[EngineChoice] = set()
        tried = {each.choice for each in self.measurements}
        total = len(self.measurements) + limit
        budget = self._chunk.settings.budget
        while limit > 0 and (budget is None or self.seconds < budget):
            start = next_start(self.measurements, changed)
            if start is None:
                return
            changed.add(start.choice)
            choices = []
            for config in islice(search(start.choice, tried), limit):
                choices.append((config.choice, "knobs"))
                config.close()
            tried.update(choice for choice, _ in choices)
            limit -= len(choices)
            self.measure(choices, total)

    def measure(self, choices: Choices, total: int) -> None:
        """Have configs measured, a part of them by each worker, and add what came of each.

        What a worker raises, or the executor for one that died, is why its part failed.
        """
        workers = getattr(self._executor, "_max_workers", None)
        count = workers if isinstance(workers, int) else _WORKERS
        count = min(max(count, len(self._devices)), len(choices))
        settings = self._chunk.settings
        if settings.budget is not None:
            settings = replace(settings, budget=max(settings.budget - self.seconds, 1e-3))
        sent: list[tuple[tuple[tuple[EngineChoice, str], ...], Any]] = []
        for number in range(count):
            part = tuple(choices[number::count])
            chunk = replace(self._chunk, choices=part, settings=settings)
            device = self._devices[number % len(self._devices)]
            try:
                sent.append((part, self._executor.submit(self._function, chunk, device)))
            except RuntimeError as error:  # a worker's death has broken the executor
                sent.append((part, error))
        found: dict[EngineChoice, Measurement] = {}
        for part, future in sent:
            try:
                if isinstance(future, Exception):
                    raise future
                measurements = future.result()
            except Exception as error:
                measurements = [failed(_untried(*each), error) for each in part]
            for measurement in measurements:
                found[measurement.choice] = measurement
                self._noted(measurement, total)
        self.measurements += [found[choice] for choice, _ in choices]


def _untried(choice: EngineChoice, source: str) -> Measurement:
    return Measurement(choice.engine, choice.knobs, source, "not tried")
