"""Which known faults the loaded cuDNN has: each row is measured by its smallest program.

``python -m tools.fuzz rows`` measures rows with wrong numbers on the GPU (`wrong_rows`); without
one they are not asked. A row ended where the program is right: it wants its `repaired`. What reads
or writes beyond memory shows under compute-sanitizer only, and is not asked.

About rows that end the process it asks cuDNN's heuristics, for all presets of GPUs, in child
processes and without our refusals, and compiles what they propose until a plan is built. No GPU is
needed; rows of machines with one are left out.

A line tells what became of a graph in each mode: a signal, "built", "proposed" where no
proposed engine compiles, "none" where there is none, or "refused" where cudnn_ctypes refuses it for
another reason. Lines where the table of faults says otherwise are marked:

- "not refused": it ended the process, and no row says so: a row wants another range, or a GPU.
- "not seen": it is refused, and nothing ended: the row wants its `repaired`, or fewer GPUs.
- "built": a mode that builds a plan is refused: the row wants `modes`, or to be said to end some
  processes only.

Some faults depend on the addresses of descriptors, so graphs are asked about several times on GPUs
for which some version has the fault.

The exit status is 1 if a line is marked.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from pathlib import Path
from typing import NamedTuple

from cudnn_ctypes import raw
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.evidence.known_faults import known_faults
from cudnn_ctypes.graph import DeviceProperties, ExecutionPlan, Graph
from cudnn_ctypes.graph.backend.children import outcomes
from cudnn_ctypes.graph.backend.engine import heuristics
from cudnn_ctypes.graph.engines.building import PLAN_ERRORS
from cudnn_ctypes.graph.lower.faults import FAULTS
from cudnn_ctypes.graph.lower.lowering import graph_faults, lowered
from cudnn_ctypes.graph.lower.target import NO_GPU
from cudnn_ctypes.raw.faults import Finding
from tools.fault_programs import PROGRAMS, Program, described

from .graph_cases import MODES, REFUSED, Case
from .pairs import Asker
from .wrong_rows import UNSEEN, measured_rows

__all__ = ["GPUS", "Program", "Question", "answers", "main", "marks"]

GPUS = {75: "t4", 80: "a100", 89: "rtx4090", 90: "h200", 100: "b200", 120: "rtx5090"}
"""Presets of properties by compute capability."""


class Question(NamedTuple):
    """One example of a row, by the name of its function, and what cuDNN is asked about it."""

    program: str
    gpu: str
    mode: str


def _programs() -> dict[str, tuple[Program, set[int]]]:
    """The examples by name, with the compute capabilities of their rows in all versions."""
    found: dict[str, tuple[Program, set[int]]] = {}
    for row in FAULTS:
        if row.effect == "ends the process" and not row.beside_another:
            for program in PROGRAMS[row.name]:
                _, capabilities = found.setdefault(program.__name__, (program, set()))
                capabilities.update(*(each.capabilities for each in row.ranges))
    return found


def _graph(program: str) -> Graph:
    return described(_programs()[program][0])


def _suspected(question: Question) -> bool:
    """Whether some version ends the process on this example for this GPU."""
    _, capabilities = _programs()[question.program]
    return any(GPUS[each] == question.gpu for each in capabilities if each in GPUS)


def _answer(question: Question, note: Callable[[str], None]) -> str:
    """What cuDNN says: "built", "proposed" if no plan can be built, "none" or "refused"."""
    try:
        with DeviceProperties.preset(question.gpu) as device, _graph(question.program) as graph:
            note("lowering")
            with lowered(graph.expansion(device), device, NO_GPU) as lowering:
                note("asking heuristics")
                configs = heuristics(lowering.graph, device=device, mode=question.mode)
                note("compiling")
                for config in configs:
                    try:
                        ExecutionPlan(config, device=device).close()
                    except PLAN_ERRORS:
                        continue
                    return "built"
                return "proposed" if configs else "none"
    except CudnnError:
        return "none"
    except REFUSED:
        return "refused"


def answers(todo: Sequence[Question]) -> Iterator[tuple[Question, str, bool]]:
    """Questions with what became of them, and whether they ended a process."""
    # In the parent, so that not every child loads cuDNN's engines and heuristics.
    Asker()(Case("chain", ("conv_fprop",), mode="build"))

    def prepare(note: Callable[[str], None]) -> Callable[[Question], str]:
        return lambda question: _answer(question, note)

    for each in outcomes(todo, prepare):
        compiling = ", compiling" if each.died and each.note == "compiling" else ""
        yield each.case, f"{each.result}{compiling}", each.died


def _rows(program: str, gpu: str) -> list[Finding]:
    """The rows that refuse an example."""
    with DeviceProperties.preset(gpu) as device, _graph(program) as graph:
        try:
            found = graph_faults(graph.expansion(device), device).found
        except (*REFUSED, CudnnError):
            return []
    return [each for each in found if each.fault.effect == "ends the process"]


def marks(
    results: Mapping[str, str],
    died: Set[str],
    refused: Set[str],
    *,
    seen: bool,
    sometimes: bool = False,
) -> str:
    """What the table of faults has otherwise.

    Parameters
    ----------
    results : mapping
        What became of an example, by mode.
    died, refused : set of str
        The modes that ended the process, and those that rows refuse.
    seen : bool
        Whether an example of these rows ended the process on this GPU.
    sometimes : bool
        Whether one of the rows ends some processes only, so that no answer contradicts it.
    """
    found = [f"not refused: {mode}" for mode in results if mode in died - refused]
    if sometimes:
        return "; ".join(found)
    built = [mode for mode in results if mode in refused and results[mode] == "built"]
    if refused and not died and (built or not seen):
        found.append("not seen")
    elif built:
        found.append(f"built: {', '.join(built)}")
    return "; ".join(found)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz rows",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--only", default="", help="programs, or rows, whose names have this text")
    parser.add_argument("--gpus", nargs="+", choices=GPUS.values(), default=list(GPUS.values()))
    parser.add_argument("--times", type=int, default=3, help="how often to ask where nothing ends")
    parser.add_argument("--save", type=Path, help="write what became of each to this file")
    options = parser.parse_args(arguments)
    ended = _measure_on_the_gpu(options.only)
    names = [name for name in _programs() if options.only in name]
    every = [Question(*each) for each in itertools.product(names, options.gpus, MODES)]
    found: dict[Question, str] = {}
    died: set[Question] = set()
    todo, rng = every, random.Random(0)
    for _ in range(options.times):
        for question, result, ended in answers(todo):
            found[question] = result
            if ended:
                died.add(question)
        todo = [each for each in every if each not in died and _suspected(each)]
        rng.shuffle(todo)
    if options.save:
        options.save.write_text(json.dumps([[*each, found[each]] for each in every]))
    return max(ended, _report(names, options.gpus, found, died))


def _measure_on_the_gpu(only: str) -> int:
    """Measure the rows with wrong numbers; 1 if one of them ended."""
    rows = [row for row in known_faults(raw.load().version) if row.effect not in UNSEEN]
    names = [row.name for row in rows if only in row.name]
    if not names:
        return 0
    # In another process: children of one that has initialized CUDA cannot use it.
    ask = "from cudnn_ctypes.runtime.cuda import first_capability; print(first_capability())"
    if subprocess.check_output([sys.executable, "-c", ask], text=True).strip() == "0":
        print(f"{len(names)} rows with wrong numbers are not asked: they need a GPU")
        return 0
    ended = 0
    for row, verdict in measured_rows(names):
        mark = verdict == "right" and not row.reported
        ended += mark
        told = "not reproduced" if verdict == "right" and row.reported else verdict
        print(f"{row.name}: {told}{'  <- ended' if mark else ''}")
    print(f"of {len(names)} rows with wrong numbers, {ended} ended")
    return int(bool(ended))


def _report(
    names: Sequence[str], gpus: Sequence[str], found: Mapping[Question, str], died: Set[Question]
) -> int:
    rows = {each: _rows(*each) for each in itertools.product(names, gpus)}
    ended = {(row.fault.name, gpu) for name, gpu, _ in died for row in rows[name, gpu]}
    marked = 0
    unseen: list[tuple[str, str]] = []
    for name in names:
        print(name)
        lines: dict[str, list[str]] = {}
        for gpu in gpus:
            told = marks(
                {mode: found[Question(name, gpu, mode)] for mode in MODES},
                {mode for mode in MODES if Question(name, gpu, mode) in died},
                {mode for row in rows[name, gpu] for mode in row.modes or MODES},
                seen=any((row.fault.name, gpu) in ended for row in rows[name, gpu]),
                sometimes=any(row.sometimes for row in rows[name, gpu]),
            )
            marked += bool(told)
            if "not seen" in told:
                unseen.append((name, gpu))
            text = ", ".join(f"{mode} {found[Question(name, gpu, mode)]}" for mode in MODES)
            lines.setdefault(f"{text}  <- {told}" if told else text, []).append(gpu)
        for text, some in lines.items():
            print(f"    {' '.join(some)}: {text}")
    gone = {row.fault.name for each in unseen for row in rows[each]} - {name for name, _ in ended}
    if gone:
        print(f"rows that ended: {'; '.join(sorted(gone))}")
    version = raw.load().version_text
    print(f"cuDNN {version}: of {len(rows)} examples on GPUs, {marked} are not as the rows say")
    return int(bool(marked))
