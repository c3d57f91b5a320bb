"""The command that compiles graphs for a GPU that need not be there."""

from __future__ import annotations

import argparse
import multiprocessing
import os
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from pathlib import Path

from rich.console import Console

from .command_line import USER_ERRORS, add_device, chosen_device, read_text, write_text
from .graph.compilation import CompiledGraph, compile_graphs

__all__ = ["add_arguments", "main"]

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_MODES = ("a", "b", "fallback", "instant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes compile``."""
    parser.epilog = (
        "Exit status: 0 if every graph has its plan, 1 if some have none, 2 if none was tried. "
        "cudnn_ctypes.compile_graphs does the same for graphs in Python, and by any executor: "
        "Dask's, MPI's."
    )
    parser.add_argument("graphs", nargs="+", type=Path, help="files that Graph.to_json wrote")
    add_device(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        help="the file to write, or a folder; by default x.plan.json next to x.json",
    )
    parser.add_argument(
        "--heuristics",
        nargs="+",
        choices=_MODES,
        default=["a", "fallback"],
        help="whom to ask for engines, in this order (default: a fallback)",
    )
    parser.add_argument(
        "--workspace-limit",
        type=_bytes,
        metavar="BYTES",
        help="what a plan may need at most; K, M and G are understood",
    )
    parser.add_argument(
        "--sm-count", type=_positive, metavar="N", help="how many multiprocessors to use"
    )
    parser.add_argument(
        "-j",
        "--jobs",
        type=_positive,
        metavar="N",
        default=1,
        help="processes that compile (default: %(default)s)",
    )


def main(arguments: argparse.Namespace) -> int:
    """Compile; 0 if every graph has its plan."""
    console = Console(highlight=False, markup=False, soft_wrap=True)
    try:
        return _run(arguments, console)
    except USER_ERRORS as error:
        print(f"compile: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace, console: Console) -> int:
    targets = _targets(arguments.graphs, arguments.output)
    texts = [read_text(path) for path in arguments.graphs]
    waiting = iter(zip(arguments.graphs, targets, strict=True))
    start = time.perf_counter()

    def write(result: CompiledGraph) -> None:
        source, target = next(waiting)
        if result.plan is not None:
            write_text(target, result.plan)
        console.print(_line(source, target, result))

    jobs = min(arguments.jobs, len(texts))
    # Processes that begin anew: a fork of one that uses CUDA cannot use it.
    fresh = multiprocessing.get_context("spawn")
    device = chosen_device(arguments.device)
    console.print(f"for {device!r}")
    with ProcessPoolExecutor(jobs, fresh) if jobs > 1 else nullcontext() as executor:
        results = compile_graphs(
            texts,
            device,
            executor=executor,
            heuristics=arguments.heuristics,
            workspace_limit=arguments.workspace_limit,
            sm_count=arguments.sm_count,
            on_done=write,
        )
    done = [result for result in results if result.plan is not None]
    size = sum(len(result.plan or "") for result in done)
    console.print(
        f"{len(done)} of {len(results)} compiled in {time.perf_counter() - start:.1f} s, {size} "
        "bytes"
    )
    if done:
        console.print(
            f"These plans belong to cuDNN {done[0].cudnn_version} and that GPU. "
            "There: Graph.from_json(graph).load_plan(plan, handle)"
        )
    return 0 if len(done) == len(results) else 1


def _targets(graphs: Sequence[Path], output: Path | None) -> list[Path]:
    """Where each plan goes.

    Raises
    ------
    ValueError
        If two would go to one file.
    """
    names = [f"{path.name.removesuffix('.json')}.plan.json" for path in graphs]
    if output is None:
        targets = [path.with_name(name) for path, name in zip(graphs, names, strict=True)]
    elif output.is_dir() or len(graphs) > 1 or str(output).endswith(os.sep):
        if output.is_file():
            raise ValueError(f"--output {output}: several plans need a folder, and this is a file")
        targets = [output / name for name in names]
    else:
        targets = [output]
    for target in targets:
        if targets.count(target) > 1:
            raise ValueError(f"two plans would be written to {target}: rename a graph")
    return targets


def _line(source: Path, target: Path, result: CompiledGraph) -> str:
    if result.plan is None:
        return f"{source}: {result.error}"
    kind = "compiled" if result.runtime_compiled else "precompiled"
    return (
        f"{source} -> {target}: {result.engine}, {kind}, workspace {result.workspace_size} bytes, "
        f"{len(result.plan)} bytes in {result.seconds:.2f} s"
    )


def _bytes(text: str) -> int:
    unit = text[-1:].upper() if text[-1:].upper() in _UNITS else ""
    number = text[: len(text) - len(unit)]
    if not number.isdecimal():
        raise argparse.ArgumentTypeError(f"expected a number of bytes such as 64M, got {text!r}")
    return int(number) * _UNITS[unit]


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"expected a number from 1, got {text!r}")
    return int(text)
