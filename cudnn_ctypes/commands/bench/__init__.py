"""``bench``: time every algorithm and engine for a shape or a graph, against the GPU's limits."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections.abc import Iterable
from dataclasses import fields
from pathlib import Path

from ... import __version__
from ...dtypes import as_data_type, data_type_name
from ...errors import CudnnError, NoDeviceError, NotInitializedError
from ...evidence.files import CommandError
from ...graph.backend.device_properties import DeviceProperties, as_properties
from ...graph.engines.judging.judging import Judgement
from ...graph.engines.tuning.measurements import Settings
from ...graph.lower.lowering import graph_faults
from ...handle import Handle
from ...raw.library import load
from ..options import (
    EVIDENCE,
    Names,
    Output,
    add_device,
    add_force,
    add_json,
    from_zero,
    make_folder,
    positive,
    refuse_overwriting,
    steps,
    write_bytes,
)
from .measuring import (
    KINDS,
    Options,
    Problem,
    algorithm_rows,
    engine_rows,
    engines_of,
    open_timer,
    problem_of,
    torch_row,
    torch_with_gpu,
)
from .results import BenchResult, BenchRow, limits_of, work_of

__all__ = [
    "BenchResult",
    "BenchRow",
    "add_arguments",
    "main",
]


EPILOG = """\
examples:
  python -m cudnn_ctypes bench convolution 32x64x56x56 64x64x3x3 --padding 1
  python -m cudnn_ctypes bench convolution 32x64x56x56 64x64x3x3 --padding 1 --direction filter
  python -m cudnn_ctypes bench matmul 4096x1024 1024x4096 --type bfloat16
  python -m cudnn_ctypes bench attention 4x16x2048x128 --causal --plot times.png
  python -m cudnn_ctypes bench norm 8192x8192 --norm rms
  python -m cudnn_ctypes bench graph.json --device B200

Times are those of the kernels with an emptied level-two cache, by CUDA events. The limit is what
the GPU's peaks allow for the operations and the bytes of the problem. Without a GPU, or with
--device, the engines that compile for a GPU are shown, without times.
"""
_JUDGED = ("ordinary", "rows")  # numbers; the reference takes seconds for each, of a large problem
_DEFAULT_DEVICE = "h200"  # its engines are shown on machines without a GPU


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes bench``."""
    parser.add_argument(
        "what",
        type=Names(*KINDS),
        help=f"{', '.join(KINDS)}, or {EVIDENCE}",
    )
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help="such as 32x64x56x56")
    parser.add_argument(
        "--type",
        dest="data_type",
        type=_data_type,
        default="float16",
        metavar="TYPE",
        help="of the operands (default: %(default)s)",
    )
    group = parser.add_argument_group("convolution")
    group.add_argument("--layout", choices=("NHWC", "NCHW"), type=str.upper, default="NHWC")
    group.add_argument("--direction", choices=("forward", "data", "filter"), default="forward")
    group.add_argument("--padding", type=from_zero, default=0, metavar="N")
    group.add_argument("--stride", type=positive, default=1, metavar="N")
    group.add_argument("--dilation", type=positive, default=1, metavar="N")
    parser.add_argument("--causal", action="store_true", help="attention: to earlier keys only")
    parser.add_argument("--norm", choices=("layer", "rms"), default="layer", help="which norm")
    add_device(parser, required=False)
    parser.add_argument("--runs", type=positive, default=20, metavar="N", help="of each (20)")
    parser.add_argument(
        "--budget", type=positive, default=60, metavar="S", help="seconds for the engines (60)"
    )
    parser.add_argument(
        "--knobs", type=from_zero, default=0, metavar="N", help="more settings of knobs to try"
    )
    parser.add_argument(
        "--judge", action="store_true", help="compare every engine with the reference, too"
    )
    parser.add_argument(
        "--plot", type=Output, metavar="FILE", help="write the times as bars (.png, .svg, .pdf)"
    )
    add_force(parser)
    add_json(parser)


def _data_type(text: str) -> str:
    try:
        return data_type_name(as_data_type(text))
    except TypeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(arguments: argparse.Namespace) -> int:
    """Measure and print; 0 if something can be measured, 1 if nothing, 2 on an error."""
    plot = None
    if arguments.plot is not None:
        plot = arguments.plot.file("bench.png", ".png", ".svg", ".pdf")
        from ...evidence.pictures.plots import import_pyplot

        import_pyplot()
    refuse_overwriting([plot], force=arguments.force)
    options = {field.name: getattr(arguments, field.name) for field in fields(Options)}
    problem = problem_of(arguments.what, arguments.shapes, Options(**options))
    handle = None if arguments.device not in (None, "here") else _handle()
    if handle is None:
        return _without_gpu(problem, arguments)
    with handle:
        return _on_gpu(problem, handle, arguments, plot)


def _handle() -> Handle | None:
    """A handle of the GPU, on PyTorch's stream if PyTorch is installed; None without a GPU."""
    try:
        torch = torch_with_gpu()
        stream = None if torch is None else torch.cuda.current_stream().cuda_stream
        handle = Handle(stream=stream)
    except (NoDeviceError, NotInitializedError):
        return None
    if handle.on_reference_device:  # it has no meaningful times
        handle.close()
        return None
    return handle


def _without_gpu(problem: Problem, arguments: argparse.Namespace) -> int:
    name = _DEFAULT_DEVICE if arguments.device is None else arguments.device
    if arguments.judge or arguments.plot is not None:
        raise CommandError("--judge and --plot need the GPU itself")
    if arguments.device is None:
        print(
            f"bench: there is no GPU here, so nothing is timed; these engines compile for {name} "
            "(--device names another one)",
            file=sys.stderr,
        )
    device = as_properties(name)
    result = _result(problem, device, engines_of(problem, device))
    _tell(result, arguments)
    return 0 if any(row.workspace is not None for row in result.rows) else 1


def _on_gpu(
    problem: Problem, handle: Handle, arguments: argparse.Namespace, plot: Path | None
) -> int:
    if plot is not None:
        make_folder(plot.parent)
    rows: list[BenchRow] = []
    with DeviceProperties.from_device(handle=handle) as device:
        try:
            _measure(problem, handle, arguments, rows)
        except KeyboardInterrupt:
            _tell(_result(problem, device, rows, handle), arguments)
            raise
        result = _result(problem, device, rows, handle)
    judged = problem.graph.judge(handle, data=_JUDGED) if arguments.judge else None
    _tell(result, arguments, judged)
    if plot is not None:
        picture = io.BytesIO()
        result.plot().figure.savefig(picture, format=plot.suffix[1:])
        write_bytes(plot, picture.getvalue(), force=arguments.force)
    return 0 if result.best is not None and not (judged and judged.wrong) else 1


def _measure(
    problem: Problem, handle: Handle, arguments: argparse.Namespace, rows: list[BenchRow]
) -> None:
    """Append a row for each algorithm, PyTorch and each engine, and print each at once."""
    settings = Settings(arguments.runs, 1, arguments.budget, arguments.knobs)
    with steps("measuring") as progress:

        def add(row: BenchRow, total: int | None = None) -> None:
            rows.append(row)
            if total is not None:
                progress.expect(total)
                progress.advance()
            progress.begin(row.what)
            if not arguments.json and row.median is not None:
                progress.tell(f"{row.median:10,.1f} us  {row.api}: {row.what}")

        def refused(api: str, error: Exception) -> None:
            add(BenchRow("all", api, note=str(error).splitlines()[0]))

        with open_timer(handle) as timer:
            try:
                for row in algorithm_rows(problem, handle, timer, arguments.runs):
                    add(row)
            except (CudnnError, TypeError, ValueError) as error:  # a type that only graphs support
                refused("legacy", error)
            torch = torch_with_gpu()
            try:
                theirs = None if torch is None else torch_row(problem, torch, timer, arguments.runs)
                if theirs is not None:
                    add(theirs)
            except RuntimeError as error:  # unsupported operations, lack of memory
                refused("PyTorch", error)
        try:
            engine_rows(problem, handle, settings, add)
        except CudnnError as error:  # before cuDNN lists engines
            refused("graph", error)


def _result(
    problem: Problem,
    device: DeviceProperties,
    rows: Iterable[BenchRow],
    handle: Handle | None = None,
) -> BenchResult:
    work = work_of(problem.graph)
    driver = None if handle is None else getattr(handle.device, "properties", None)
    bus_width = getattr(driver, "global_memory_bus_width", None)
    limits = limits_of(device, work.data_type, bus_width=bus_width)
    found = graph_faults(problem.graph.expansion(device), device).found
    return BenchResult(
        problem.name,
        device.name,
        load().version_text,
        __version__,
        tuple(rows),
        work.flops,
        work.nbytes,
        limits.microseconds(work.flops, work.nbytes),
        limits.source,
        {each.fault.name: each.told for each in found},
    )


def _tell(
    result: BenchResult, arguments: argparse.Namespace, judged: Judgement | None = None
) -> None:
    if arguments.json:
        told = result.as_dict()
        if judged is not None:
            told["judgement"] = judged.as_dict()
        print(json.dumps(told, indent=2))
        return
    print(f"\n{result}")
    if judged is not None:
        print(f"\n{judged}")
