"""``bench``: time every algorithm and engine for a shape or a graph, against the GPU's limits."""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import re
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import fields
from pathlib import Path

from ... import __version__
from ...dtypes import as_data_type, data_type_name
from ...errors import CudnnError, NoDeviceError, NotInitializedError
from ...graph.backend.device_properties import DeviceProperties
from ...graph.backend.devices import as_properties
from ...graph.engines.cache.entry_folder import standard_folder
from ...graph.engines.judging.judgement import Judgement
from ...graph.engines.tuning.measurements import Settings
from ...graph.lower.lowering import graph_faults
from ...handle import Handle
from ...raw.describe import aligned
from ...raw.library import load
from ..options import (
    USER_ERRORS,
    CommandError,
    Names,
    Output,
    add_device,
    add_force,
    add_json,
    file_name,
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
    "History",
    "add_arguments",
    "compared",
    "default_folder",
    "main",
]


_EXAMPLES = """\
examples:
  python -m cudnn_ctypes bench convolution 32x64x56x56 64x64x3x3 --padding 1
  python -m cudnn_ctypes bench convolution 32x64x56x56 64x64x3x3 --padding 1 --direction filter
  python -m cudnn_ctypes bench matmul 4096x1024 1024x4096 --type bfloat16
  python -m cudnn_ctypes bench attention 4x16x2048x128 --causal --plot times.png
  python -m cudnn_ctypes bench norm 8192x8192 --norm rms --compare
  python -m cudnn_ctypes bench graph.json --device B200

Times are those of the kernels with an emptied level-two cache, by CUDA events. The limit is what
the GPU's peaks allow for the operations and the bytes of the problem. Without a GPU, or with
--device, the engines that compile for a GPU are shown, without times.
"""
_JUDGED = ("ordinary", "rows")  # numbers; the reference takes seconds for each, of a large problem
_DEFAULT_DEVICE = "h200"  # its engines are shown on machines without a GPU


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes bench``."""
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = _EXAMPLES
    parser.add_argument(
        "what",
        type=Names(*KINDS),
        help=f"{', '.join(KINDS)}, or a file that Graph.to_json wrote",
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
        "--warm-cache", action="store_true", help="leave operands in the level-two cache"
    )
    parser.add_argument(
        "--judge", action="store_true", help="compare every engine with the reference, too"
    )
    parser.add_argument(
        "--plot", type=Output, metavar="FILE", help="write the times as bars (.png, .svg, .pdf)"
    )
    parser.add_argument(
        "--compare", action="store_true", help="show the earlier results on this GPU too"
    )
    parser.add_argument(
        "--folder", type=file_name, help="where results are kept (default: beside the plan cache)"
    )
    parser.add_argument("--no-keep", action="store_true", help="do not keep the result")
    add_force(parser)
    add_json(parser)


def _data_type(text: str) -> str:
    try:
        return data_type_name(as_data_type(text))
    except TypeError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def main(arguments: argparse.Namespace) -> int:
    """Measure and print; 0 if something can be measured, 1 if nothing, 2 on an error."""
    try:
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
    except (*USER_ERRORS, ImportError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2


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
    if arguments.compare or arguments.judge or arguments.plot is not None:
        raise CommandError("--compare, --judge and --plot need the GPU itself")
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
    folder = arguments.folder or default_folder()
    history = History(folder, f"{problem.name} {_settings(arguments)}", result.gpu)
    earlier = history.results() if arguments.compare else []
    judged = problem.graph.judge(handle, data=_JUDGED) if arguments.judge else None
    _tell(result, arguments, earlier, judged)
    if not arguments.no_keep:
        try:
            history.keep(result)
        except OSError as error:
            print(f"bench: {history.path}: not kept: {error.strerror}", file=sys.stderr)
    if plot is not None:
        picture = io.BytesIO()
        result.plot().figure.savefig(picture, format=plot.suffix[1:])
        write_bytes(plot, picture.getvalue(), force=arguments.force)
    return 0 if result.best is not None and not (judged and judged.wrong) else 1


def _settings(arguments: argparse.Namespace) -> str:
    """The settings that must be equal for comparable times, as text."""
    return "warm cache" if arguments.warm_cache else "cold cache"


def _measure(
    problem: Problem, handle: Handle, arguments: argparse.Namespace, rows: list[BenchRow]
) -> None:
    """Append a row for each algorithm, PyTorch and each engine, and print each at once."""
    cold = not arguments.warm_cache
    settings = Settings(arguments.runs, 1, arguments.budget, arguments.knobs, cold)
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

        with open_timer(handle, cold_cache=cold) as timer:
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
        time.time(),
        {each.fault.name: each.told for each in found},
    )


def _tell(
    result: BenchResult,
    arguments: argparse.Namespace,
    earlier: Iterable[BenchResult] = (),
    judged: Judgement | None = None,
) -> None:
    before = list(earlier)
    if arguments.json:
        told = result.as_dict()
        if arguments.compare:
            told["earlier"] = [each.as_dict() for each in before]
        if judged is not None:
            told["judgement"] = judged.as_dict()
        print(json.dumps(told, indent=2))
        return
    print(f"\n{result}")
    if arguments.compare:
        print(f"\n{compared([*before, result])}")
    if judged is not None:
        print(f"\n{judged}")


_RIGHT = ("us", "now")


def default_folder() -> Path:
    """The default folder of results, beside the plan cache's.

    Raises
    ------
    ValueError
        If the user has no home, or an environment variable has an unknown value.
    """
    return standard_folder().parent / "bench"


class History:
    """A file with the results of one problem on one GPU, oldest first, as lines of JSON.

    Parameters
    ----------
    folder : Path
    problem, gpu : str
    """

    def __init__(self, folder: Path, problem: str, gpu: str) -> None:
        code = hashlib.sha256(problem.encode()).hexdigest()[:12]
        self.path: Path = folder / _plain(gpu) / f"{_plain(problem)[:60]}-{code}.jsonl"

    def results(self) -> list[BenchResult]:
        """All readable results; damaged lines are left out."""
        return list(self._read())

    def _read(self) -> Iterator[BenchResult]:
        try:
            lines = self.path.read_text().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                yield BenchResult.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue

    def keep(self, result: BenchResult) -> None:
        """Append a result.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(result.as_dict(), separators=(",", ":")) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())  # one write: other processes may append, too
        finally:
            os.close(file)


def compared(results: Sequence[BenchResult]) -> str:
    """A table of each run's fastest row, and of the changes between the last two runs.

    Parameters
    ----------
    results : sequence of BenchResult
        The results of one problem on one GPU, the oldest first.
    """
    rows = []
    for result in results:
        best = result.best
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(result.made))
        fastest = "-" if best is None or best.median is None else f"{best.median:,.1f}"
        what = "nothing was timed" if best is None else f"{best.api}: {best.what}"
        rows.append((when, result.cudnn, result.package, fastest, what))
    parts = [aligned([("when", "cuDNN", "package", "us", "fastest"), *rows], _RIGHT)]
    if len(results) > 1 and (changes := list(_changes(results[-2], results[-1]))):
        head = f"changes beyond the spread, cuDNN {results[-2].cudnn} to {results[-1].cudnn}"
        table = aligned([("us", "now", "change", "what"), *changes], (*_RIGHT, "change"))
        parts.append(f"{head}\n{table}")
    elif len(results) > 1:
        parts.append("no change beyond the spread since the run before")
    return "\n\n".join(parts)


def _changes(before: BenchResult, after: BenchResult) -> Iterator[tuple[str, str, str, str]]:
    """The rows in both results whose quartiles do not overlap; the largest change first."""
    old = {(row.api, row.what): row for row in before.rows}
    found = []
    for row in after.rows:
        other = old.get((row.api, row.what))
        if other is None or not (row.median and other.median):
            continue
        apart = (row.low or row.median) > (other.high or other.median) or (
            other.low or other.median
        ) > (row.high or row.median)
        if apart:
            found.append((row.median / other.median, other.median, row.median, row))
    for ratio, then, now, row in sorted(found, key=lambda each: -abs(each[0] - 1)):
        yield f"{then:,.1f}", f"{now:,.1f}", f"{ratio - 1:+.0%}", f"{row.api}: {row.what}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "unnamed"
