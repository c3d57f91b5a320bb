"""Times all implementations of a problem on a GPU, or lists them for an absent GPU."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

from ... import raw
from ...errors import CudnnError
from ...graph.backend.device_properties import DeviceProperties
from ...graph.engines.explaining.explanation import EngineRow
from ...graph.engines.judging.probation import checked_proposals
from ...graph.engines.selection import Selection
from ...graph.engines.tuning.autotuning import bench, check_handle
from ...graph.engines.tuning.measurement import Measurement, Settings
from ...graph.engines.tuning.random_memory import random_memory
from ...graph.engines.tuning.timing import Timer
from ...graph.engines.tuning.tuning import tune
from ...handle import Handle
from ...legacy import (
    AlgorithmRow,
    ConvolutionBackwardData,
    ConvolutionBackwardFilter,
    ConvolutionDescriptor,
    ConvolutionForward,
    FilterDescriptor,
    TensorDescriptor,
)
from ...legacy.enumerators import short_name
from ...runtime import DeviceBuffer, OutOfDeviceMemoryError
from .problems import LegacyConvolution, Problem
from .results import BenchRow

__all__ = [
    "Time",
    "algorithm_rows",
    "engine_rows",
    "engines_of",
    "open_timer",
    "timed",
    "torch_row",
]

Time = Callable[[Callable[[], object], int], Sequence[float]]
"""A function like `Timer`: the microseconds of a number of executions of a callable."""

Told = Callable[[BenchRow, int], object]
"""Called with each row and the expected number of rows."""

_WARM_UP = 2  # executions: the first loads the kernel
_TENSOR_OPS = (
    raw.CUDNN_TENSOR_OP_MATH,
    raw.CUDNN_TENSOR_OP_MATH_ALLOW_CONVERSION,
)


def engine_rows(problem: Problem, handle: Handle, settings: Settings, told: Told) -> None:
    """Measure every engine of the problem's graph; `told` gets each row.

    Raises
    ------
    NoDeviceError
        On the reference device, which measures no times.
    ValueError
        If the graph is not valid, or has inputs whose values change the computation.
    """
    check_handle(handle)
    graph, modes = problem.graph, ["a", "b", "fallback"]
    expansion = graph.expansion(handle)
    known = checked_proposals(graph, expansion, handle, modes, every_engine=True)
    wanted = Selection().passing_over(known)
    with bench(graph, expansion, handle, {}, settings, wanted) as (tuner, lowering):
        try:
            tune(
                tuner,
                lowering,
                handle,
                modes,
                every_engine=True,
                knobs=settings.knobs,
                noted=lambda each, total: told(measured_row(each), total),
            )
        finally:
            tuner.close()


def measured_row(each: Measurement) -> BenchRow:
    """The row of an engine's measurement."""
    known = each.state in ("measured", "dropped")
    low, high = each.quartiles
    note = f"after {each.runs} runs clearly slower" if each.state == "dropped" else ""
    if not known:
        reason = f"{each.status}: {each.reason}" if each.status else each.reason
        note = f"{each.state}: {reason}" if reason else each.state
    return BenchRow(
        str(each.choice),
        "graph",
        each.median if known else None,
        low if known else None,
        high if known else None,
        each.workspace,
        deterministic="nondeterministic" not in each.notes if known else None,
        tensor_cores="tensor_core" in each.notes if known else None,
        note=note,
    )


def timed(row: BenchRow, times: Sequence[float]) -> BenchRow:
    """The row with the median and the quartiles of its times."""
    several = times if len(times) > 1 else [*times, *times]
    low, median, high = statistics.quantiles(several, n=4, method="inclusive")
    return replace(row, median=median, low=low, high=high)


def algorithm_rows(problem: Problem, handle: Handle, time: Time, runs: int) -> Iterator[BenchRow]:
    """Time every algorithm of the legacy API; no rows if the problem has none."""
    if problem.legacy is None:
        return
    with ExitStack() as stack:
        operation = _operation(problem.legacy, stack)
        problem.graph.validate()
        tensors = problem.graph.inputs, problem.graph.outputs
        memory = random_memory(*tensors, handle, stack.enter_context)
        operands = {tensor.name: buffer for tensor, buffer in memory.items()}
        named = {name: operands[name.removeprefix("d")] for name in operation._names}
        for algorithm in operation.algorithms(handle):
            row = BenchRow(
                f"{short_name(algorithm.algorithm)} ({short_name(algorithm.math_type)})",
                "legacy",
                workspace=algorithm.memory if algorithm.usable else None,
                deterministic=algorithm.deterministic if algorithm.usable else None,
                tensor_cores=_tensor_cores(algorithm),
                note="" if algorithm.usable else short_name(algorithm.status),
            )
            if not algorithm.usable:
                yield row
                continue
            try:
                with DeviceBuffer(
                    algorithm.memory, device=handle.device, stream=handle.stream
                ) as workspace:

                    def execute(
                        algorithm: AlgorithmRow = algorithm, workspace: DeviceBuffer = workspace
                    ) -> None:
                        operation.run(handle, algorithm=algorithm, workspace=workspace, **named)

                    for _ in range(_WARM_UP):
                        execute()
                    yield timed(row, time(execute, runs))
            except (CudnnError, OutOfDeviceMemoryError) as error:
                note = f"failed: {str(error).splitlines()[0]}"
                yield BenchRow(row.what, "legacy", workspace=row.workspace, note=note)


def _operation(legacy: LegacyConvolution, stack: ExitStack) -> Any:
    options, shapes = legacy.options, legacy.shapes
    kind, layout = options.data_type, options.layout
    x, y = (
        stack.enter_context(TensorDescriptor(shapes[name], kind, layout=layout)) for name in "xy"
    )
    w = stack.enter_context(FilterDescriptor(shapes["w"], kind, layout=layout))
    spatial = len(shapes["x"]) - 2
    windows = {
        name: (getattr(options, name),) * spatial for name in ("padding", "stride", "dilation")
    }
    computed = "float64" if options.data_type == "float64" else "float32"
    conv = stack.enter_context(
        ConvolutionDescriptor(
            **windows,
            groups=shapes["x"][1] // shapes["w"][1],
            compute_data_type=computed,
        )
    )
    if options.direction == "data":
        return ConvolutionBackwardData(w, y, conv, x)
    if options.direction == "filter":
        return ConvolutionBackwardFilter(x, y, conv, w)
    return ConvolutionForward(x, w, conv, y)


def _tensor_cores(algorithm: AlgorithmRow) -> bool | None:
    """Whether an algorithm uses tensor cores; None if the default math type leaves it open."""
    if algorithm.math_type in _TENSOR_OPS:
        return True
    return False if algorithm.math_type == raw.CUDNN_FMA_MATH else None


def torch_row(problem: Problem, torch: Any, time: Time, runs: int) -> BenchRow | None:
    """PyTorch's time in benchmark mode; None if it has no such operation or data type."""
    call = None if problem.torch is None else problem.torch.bound(torch)
    if call is None:
        return None
    before = torch.backends.cudnn.benchmark
    torch.backends.cudnn.benchmark = True
    try:
        for _ in range(_WARM_UP + 1):  # PyTorch searches an algorithm in the first calls
            call()
        return timed(BenchRow(f"PyTorch {torch.__version__}", "PyTorch"), time(call, runs))
    finally:
        torch.backends.cudnn.benchmark = before


def engines_of(problem: Problem, device: DeviceProperties) -> list[BenchRow]:
    """Rows without times of the engines for a GPU: those that compile, and the refused ones."""
    told = problem.graph.explain(device, compile=True)
    rows = [_unmeasured(each) for each in told]
    return rows or [BenchRow("the graph", "graph", note=told.refusal)]


def _unmeasured(each: EngineRow) -> BenchRow:
    known = each.state != "refused" or bool(each.kind)
    notes = (*each.numerical_notes, *each.behavior_notes)
    note = each.kind if each.state == "works" else f"{each.state}: {each.reason or each.kind}"
    return BenchRow(
        str(each.choice),
        "graph",
        workspace=each.workspace,
        deterministic="nondeterministic" not in notes if known else None,
        tensor_cores="tensor_core" in notes if known else None,
        note=note,
    )


def open_timer(handle: Handle, *, cold_cache: bool) -> Timer:
    """A timer for algorithms and PyTorch, with the GPU's clocks raised."""
    timer = Timer(handle, cold_cache=cold_cache)
    timer.warm_up()
    return timer
