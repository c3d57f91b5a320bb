"""Autotuning on a GPU: memory for a graph's tensors, times of its plans, the fastest plan."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from typing import TYPE_CHECKING, Any

from .... import raw
from ....errors import NoDeviceError, NotSupportedError, OwnReason
from ....raw import cudnnStatus_t
from ....raw.library import load
from ....raw.values import described
from ....resource import Closing
from ....runtime import DeviceBuffer
from ...backend.device_properties import DeviceProperties
from ...backend.devices import is_absent
from ...lower.lowering import Lowering, lowered
from ...run.operands import Operands
from ...run.plan import ExecutionPlan
from ..cache.cached_building import scratch_of
from ..selection import Selection
from .measurements import Autotuning, Measurement, Settings
from .random_memory import random_memory
from .timing import Timer, progress_bar
from .tuning import Noted, Tuner, tune

if TYPE_CHECKING:
    from ....handle import Handle
    from ...describe.tensor import Tensor
    from ...lower.expand.expansion import Expansion
    from .spread import SpreadTuner

__all__ = [
    "autotune",
    "bench",
    "check_gpu",
    "check_handle",
    "summary",
    "tuning_bar",
]

_logger = logging.getLogger(__name__)

_REASONS = 8  # that the message has if no plan could be measured


def autotune(
    graph: Any,
    expansion: Expansion,
    handle: Handle,
    memory: Mapping[Any, Any],
    modes: Sequence[str],
    settings: Settings,
    *,
    selection: Selection | None = None,
    every_engine: bool = False,
    sm_count: int | None = None,
    progress: bool | None = None,
) -> tuple[Autotuning, ExecutionPlan]:
    """Carry out ``Graph.autotune``: return the measurements and the fastest plan."""
    check_handle(handle)
    with (
        bench(graph, expansion, handle, memory, settings, selection) as (tuner, lowering),
        tuning_bar(progress) as noted,
    ):
        tune(
            tuner,
            lowering,
            handle,
            modes,
            every_engine=every_engine,
            knobs=settings.knobs,
            sm_count=sm_count,
            noted=noted,
        )
    tuned = summary(graph, expansion, handle, modes, settings, tuner)
    assert tuner.plan is not None
    return tuned, tuner.plan


@contextmanager
def bench(
    graph: Any,
    expansion: Expansion,
    handle: Handle,
    memory: Mapping[Any, Any],
    settings: Settings,
    selection: Selection | None,
    *,
    alone: Callable[[], AbstractContextManager[object]] = nullcontext,
) -> Iterator[tuple[Tuner, Lowering]]:
    """Yield a tuner, which measures configs of a graph on a GPU, and the lowered graph.

    The tuner's plan is left open, unless an exception comes. What uses the GPU is done in the
    context that `alone` gives.
    """
    tensors = expansion.tensors
    named = [t for t in graph.tensors if any(_names(key, t) for key in memory)]
    with ExitStack() as stack:
        scratch = stack.enter_context(closing(scratch_of(expansion, handle)))
        with alone():
            others: Mapping[Any, DeviceBuffer] = random_memory(
                [t for t in graph.inputs if t not in named],
                [t for t in graph.outputs if t not in named],
                handle,
                stack.enter_context,
            )
            by_uid = Operands(tensors).by_uid({**memory, **others})
            workspace = stack.enter_context(_Workspace(handle))
            timer = stack.enter_context(Timer(handle, cold_cache=settings.cold_cache))
            timer.warm_up()
            handle.synchronize()

        def time_plan(plan: ExecutionPlan, untimed: int, runs: int) -> list[float]:
            plan.scratch = scratch.borrowed()
            with (
                alone(),
                plan.bind(handle, by_uid, workspace.of(plan.workspace_size)) as bound,
            ):
                for _ in range(untimed):
                    bound()
                return timer(bound, runs)

        if selection is not None:
            selection.heed("Graph.autotune")
        lowering = stack.enter_context(lowered(expansion, handle))
        if selection is not None:
            lowering.faults = selection.heeded(lowering.faults)
        tuner = Tuner(
            lambda config: ExecutionPlan(config, device=handle),
            time_plan,
            settings,
            selection or Selection(),
            faulty=lowering.faults.engines,
        )
        try:
            yield tuner, lowering
        except BaseException:
            tuner.close()
            raise


def summary(
    graph: Any,
    expansion: Expansion,
    handle: Handle,
    modes: Sequence[str],
    settings: Settings,
    tuner: Tuner | SpreadTuner,
) -> Autotuning:
    """The result of a tuner.

    Raises
    ------
    NotSupportedError
        If no plan was measured to the end; the message has the reasons.
    """
    if tuner.best is None:
        raise _nothing_measured(expansion, modes, tuner.measurements)
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
        fastest = f"{tuned.best.choice}, {tuned.best.median:.1f} us"
        _logger.info("graph %r: %s, the fastest is %s", tuned.graph, took, fastest)
    return tuned


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

    Raises
    ------
    TypeError, NoDeviceError
    """
    check_gpu(handle, "measured")
    if is_absent(handle):
        raise NoDeviceError(
            "autotune measures plans on a GPU, and this handle is the reference device's, which "
            "has one way to compute each operation; build() is enough there"
        )


def check_gpu(handle: Any, done: str) -> None:
    """Refuse what is no handle: plans are `done` on a GPU that is there.

    Raises
    ------
    TypeError
    """
    if isinstance(handle, DeviceProperties) or not isinstance(
        getattr(handle, "_as_parameter_", None), raw.cudnnHandle_t
    ):
        raise TypeError(
            f"handle: plans are {done} on a GPU that is there, expected its Handle, got "
            f"{described(handle)}"
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
