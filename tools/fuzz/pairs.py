"""Search graphs of two and three operations for those that end the process, or hang.

``python -m tools.fuzz pairs`` gives the result of every operation to every operand of every other
(`sketch.OPERATIONS` has them), in several shapes, data types and layouts, and asks cuDNN's
heuristics for several GPUs in all modes. No GPU is needed. ``--forms`` has other graphs too, and
``--each N`` takes N variations of each at random. ``--modes build`` builds a plan instead, which
also examines the engines that heuristics do not propose.

``--unguarded`` leaves our refusals of what ends the process out, but not with ``--modes build``: it
shows which of them a cuDNN version needs. What ended a process is printed with the rows of faults
that refuse it, and the case as JSON; ``--replay`` runs that case in this process.
"""

from __future__ import annotations

import argparse
import json
import random
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path

from cudnn_ctypes import raw
from cudnn_ctypes.errors import CudnnError
from cudnn_ctypes.graph import DeviceProperties
from cudnn_ctypes.graph.backend.children import Spent, outcomes
from cudnn_ctypes.graph.engines.building import proposed_configs
from cudnn_ctypes.graph.engines.refusals import refusal
from cudnn_ctypes.graph.lower.lowering import graph_faults, lowered
from cudnn_ctypes.graph.lower.target import NO_GPU

from .graph_cases import FORMS, GPUS, MODES, REFUSED, Case, cases
from .sketch import SHAPES, Unfit

__all__ = ["Asker", "main", "rows_of", "survey"]

_CASES = 2000  # of one child: without a GPU, up to a megabyte of each graph is lost


class Asker:
    """Asks cuDNN about cases, in this process.

    Parameters
    ----------
    guarded : bool
        Whether we refuse what is known to end the process.
    note : callable
        Is told what is about to be done.
    """

    def __init__(
        self, *, guarded: bool = True, note: Callable[[str], object] = lambda text: None
    ) -> None:
        self._note = note
        self._guarded = guarded
        self._devices: dict[str, DeviceProperties] = {}

    def __call__(self, case: Case) -> str:
        """What became of it: "unfit: …", "refused: …", "proposed" or "built"."""
        device = self._devices.setdefault(case.gpu, DeviceProperties.preset(case.gpu))
        try:
            self._note("describing")
            with case.graph() as graph:
                if case.mode == "build":
                    self._note("building")
                    graph.build(device, program=False)
                    return "built"
                self._note("lowering")
                target = None if self._guarded else NO_GPU
                with lowered(graph.expansion(device), device, target) as lowering:
                    self._note("asking heuristics")
                    configs = proposed_configs(lowering, device=device, mode=case.mode)
                    for config in configs:
                        config.close()
                    return "proposed" if configs else "refused: heuristics propose nothing"
        except Unfit as error:
            return f"unfit: {error}"
        except CudnnError as error:
            return f"refused: {type(error).__name__}: {_general(str(refusal(error)))}"
        except REFUSED as error:
            return f"refused by cudnn_ctypes: {_general(str(error))}"


def _general(text: str) -> str:
    """Without names and numbers, to count what is the same."""
    text = re.sub(r"'[^']*'", "…", text.split("\n")[0])
    return re.sub(r"\([\d, ]+\)|\b\d+\b", "#", text)[:110]


def rows_of(case: Case) -> list[str]:
    """The rows of what ends the process that refuse a case."""
    with DeviceProperties.preset(case.gpu) as device, case.graph() as graph:
        found = graph_faults(graph.expansion(device), device).found
    return [
        each.fault.name
        for each in found
        if each.fault.effect == "ends the process"
        and (not each.modes or case.mode in (*each.modes, "build"))
    ]


def survey(
    todo: Sequence[Case], *, guarded: bool = True, seconds: float = 60
) -> Iterator[tuple[Case, str, str]]:
    """Cases with their results; for those that ended a child, also what was being done."""
    # In the parent, so that not every child loads cuDNN's engines and heuristics.
    Asker()(Case("chain", ("conv_fprop",)))

    def prepare(note: Callable[[str], None]) -> Callable[[Case], str]:
        asker, left = Asker(guarded=guarded, note=note), iter(range(_CASES))

        def perform(case: Case) -> str:
            result = asker(case)
            if next(left, None) is None:
                raise Spent(result)
            return result

        return perform

    for each in outcomes(todo, prepare, seconds=seconds):
        yield each.case, f"died: {each.result}" if each.died else each.result, each.note


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz pairs",
        description=__doc__,
        epilog="Forms: " + "; ".join(f"{name}: {text}" for name, text in FORMS.items()),
    )
    parser.add_argument("--forms", nargs="+", choices=list(FORMS), default=["chain"])
    parser.add_argument("--shapes", nargs="+", choices=list(SHAPES), default=list(SHAPES))
    parser.add_argument("--types", nargs="+", default=["float16", "float32"])
    parser.add_argument("--gpus", nargs="+", default=list(GPUS), help="presets of properties")
    parser.add_argument("--modes", nargs="+", choices=[*MODES, "build"], default=list(MODES))
    parser.add_argument("--each", type=int, default=0, help="variations of each path; 0 is all")
    parser.add_argument("--only", default="", help="cases whose JSON matches this expression")
    parser.add_argument("--sample", type=int, default=0, help="so many cases, at random")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--unguarded", action="store_true", help="without our own refusals")
    parser.add_argument("--save", type=Path, help="write each case with its result to this file")
    parser.add_argument("--replay", help="run one case, given as JSON, in this process")
    options = parser.parse_args(arguments)
    if options.replay:
        asker = Asker(guarded=not options.unguarded, note=print)
        print(asker(Case.from_json(options.replay)))
        return 0
    rng = random.Random(options.seed)
    chosen = {name: getattr(options, name) for name in ("shapes", "types", "gpus", "modes")}
    todo = [
        case
        for form in options.forms
        for case in cases(form, each=options.each, rng=rng, **chosen)
        if re.search(options.only, str(case))
    ]
    if 0 < options.sample < len(todo):
        todo = [todo[i] for i in sorted(rng.sample(range(len(todo)), options.sample))]
    return _report(todo, guarded=not options.unguarded, save=options.save)


def _report(todo: Sequence[Case], *, guarded: bool, save: Path | None) -> int:
    counts: Counter[str] = Counter()
    died: dict[tuple[str, ...], list[str]] = {}
    unknown = 0
    with save.open("w") if save else nullcontext() as file:
        for case, result, note in survey(todo, guarded=guarded):
            counts["unfit" if result.startswith("unfit") else result] += 1
            if result.startswith("died"):
                rows = rows_of(case)
                unknown += not rows
                known = f"rows {rows}" if rows else "in no row of faults"
                died.setdefault(case.path, []).append(f"{result} while {note}, {known}: {case}")
                if len(died[case.path]) == 1:
                    print(died[case.path][0], flush=True)
            if file:
                file.write(json.dumps([result, note, *asdict(case).values()]) + "\n")
    for result, count in counts.most_common():
        print(f"{count:8} {result}")
    lost = sum(map(len, died.values()))
    print(
        f"{len(todo)} cases of cuDNN {raw.load().version_text}: {counts['unfit']} of shapes that "
        f"do not fit, {counts['proposed'] + counts['built']} accepted, {lost} ended the process "
        f"({len(died)} combinations of operations), {unknown} of these in no row of faults"
    )
    return int(bool(died))
