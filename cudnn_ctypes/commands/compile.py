"""``compile``: compile graphs for a GPU that need not be there."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..evidence.files import CommandError, read_text
from ..graph.backend.device_properties import as_properties
from ..graph.compilation import CompiledGraph, compile_graphs
from .options import (
    EVIDENCE,
    Output,
    add_device,
    add_force,
    add_jobs,
    add_json,
    file_name,
    make_folder,
    read_graphs,
    refuse_overwriting,
    steps,
    write_text,
)

_MODES = ("a", "b", "fallback", "instant")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes compile``."""
    parser.epilog = (
        "Exit status: 0 if every graph has its plan, 1 if some have none, 2 if none was tried. "
        "cudnn_ctypes.compile_graphs does the same for graphs in Python, and by any executor: "
        "Dask's, MPI's."
    )
    parser.add_argument("graphs", nargs="+", type=file_name, help=f"each {EVIDENCE}")
    add_device(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Output,
        help="the file to write, or a folder (always, if it ends in /); by default x.plan.json "
        "next to x.json",
    )
    add_force(parser)
    add_json(parser)
    parser.add_argument(
        "--heuristics",
        nargs="+",
        choices=_MODES,
        default=["a", "fallback"],
        help="whom to ask for engines, in this order (default: a fallback)",
    )
    add_jobs(parser)


def main(arguments: argparse.Namespace) -> int:
    """Compile the graphs; 0 if all of them compiled."""
    graphs: list[tuple[Path, str]] = []
    for path in arguments.graphs:
        try:
            graphs += [(name, graph.to_json()) for name, graph in read_graphs(path)]
        except CommandError:  # told among the results, if there is text: the others are compiled
            graphs.append((path, read_text(path)))
    sources, texts = [name for name, _ in graphs], [text for _, text in graphs]
    targets = _targets(sources, arguments.output)
    refuse_overwriting(targets, force=arguments.force)
    for target in targets:
        make_folder(target.parent)
    device = as_properties(arguments.device)
    results: list[CompiledGraph] = []
    start = time.perf_counter()
    with steps("compiling", len(texts)) as progress:
        if not arguments.json:
            progress.tell(f"for {device!r}")

        def write(result: CompiledGraph) -> None:
            source, target = sources[len(results)], targets[len(results)]
            results.append(result)
            if result.plan is not None:
                write_text(target, result.plan, force=arguments.force)
            if not arguments.json:
                progress.tell(_line(source, target, result))
            progress.advance()

        try:
            compile_graphs(
                texts,
                device,
                jobs=arguments.jobs,
                heuristics=arguments.heuristics,
                on_done=write,
            )
        finally:  # after Ctrl-C too
            if arguments.json:
                done = zip(sources, targets, results, strict=False)
                print(json.dumps([_as_dict(*each) for each in done], indent=2))
    if not arguments.json:
        _sum_up(results, time.perf_counter() - start)
    return 0 if all(result.plan is not None for result in results) else 1


def _sum_up(results: Sequence[CompiledGraph], seconds: float) -> None:
    done = [result for result in results if result.plan is not None]
    size = sum(len(result.plan or "") for result in done)
    print(f"{len(done)} of {len(results)} compiled in {seconds:.1f} s, {size} bytes")
    if done:
        print(
            f"These plans belong to cuDNN {done[0].cudnn_version} and that GPU. "
            "There: Graph.from_json(graph).load_plan(plan, handle)"
        )


def _targets(graphs: Sequence[Path], output: Output | None) -> list[Path]:
    """The file of each plan.

    Raises ValueError if two plans would be written to one file.
    """
    names = [f"{path.name.removesuffix('.json')}.plan.json" for path in graphs]
    if output is None:
        targets = [path.with_name(name) for path, name in zip(graphs, names, strict=True)]
    elif len(graphs) > 1:
        if output.path.is_file():
            raise ValueError(f"--output {output}: several plans need a folder, and this is a file")
        targets = [output.path / name for name in names]
    else:
        targets = [output.file(names[0])]
    for target in targets:
        if targets.count(target) > 1:
            raise ValueError(f"two plans would be written to {target}: rename a graph")
    return targets


def _as_dict(source: Path, target: Path, result: CompiledGraph) -> dict[str, Any]:
    """A result as data for JSON, without the plan, which is in a file."""
    told: dict[str, Any] = {"graph": str(source), "seconds": round(result.seconds, 3)}
    if result.plan is None:
        return {**told, "error": str(result.error)}
    return {
        **told,
        "plan": str(target),
        "engine": result.engine,
        "runtime_compiled": result.runtime_compiled,
        "workspace": result.workspace_size,
        "cudnn": result.cudnn_version,
    }


def _line(source: Path, target: Path, result: CompiledGraph) -> str:
    if result.plan is None:
        return f"{source}: {result.error}"
    kind = "compiled" if result.runtime_compiled else "precompiled"
    return (
        f"{source} -> {target}: {result.engine}, {kind}, workspace {result.workspace_size} bytes, "
        f"{len(result.plan)} bytes in {result.seconds:.2f} s"
    )
