"""``case``: keep what went wrong in one file, repeat it elsewhere, make it smaller, report it."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from ..evidence.cases import Case, minimized
from ..evidence.files import CommandError, read_text
from ..evidence.front_end_program import front_end_program
from ..evidence.tracing import trace
from ..graph.graph import Graph
from ..handle import Handle
from ..raw.describe import aligned
from ..reference.device.dispatch import use_reference_device
from .options import (
    EVIDENCE,
    USER_ERRORS,
    Output,
    add_force,
    add_json,
    evidence_in,
    file_name,
    from_zero,
    make_folder,
    needs_gpu,
    refuse_overwriting,
    steps,
    write_text,
)

EPILOG = f"""\
  save      carry out what a file has, and keep it with what came of it; the file is
            {EVIDENCE},
            or what trace --json wrote
  replay    carry a case out on this machine, and say what differs from there
  minimize  make a case smaller while its effect stays: refusal, death, NaN, wrong numbers, slow
  report    write the text of an issue, with programs in Python and C that show it

examples:
  python -m cudnn_ctypes case save cudnn.log.gz -o step.case.json
  python -m cudnn_ctypes case replay step.case.json
  python -m cudnn_ctypes case minimize step.case.json -o small.case.json
  python -m cudnn_ctypes case report small.case.json -o report

Each graph, and all calls together, are carried out in a child process, on the GPU or the reference
device (CUDNN_CTYPES_DEVICE); numbers are random, from a seed, and held against the reference
device. --bench times all configs that heuristics propose: slow is a graph whose engine takes 1.2
times as long as another or more. No path and no name of a host or user is in a case.
"""
_ENDINGS = {"save": "case.json", "minimize": "small.case.json", "report": "report"}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of ``python -m cudnn_ctypes case``."""
    parser.add_argument("action", choices=("save", "replay", "minimize", "report"))
    parser.add_argument("file", type=file_name, metavar="FILE", help="a case, or of save a log")
    parser.add_argument(
        "-o", "--output", type=Output, metavar="OUT", help="file or folder to write"
    )
    parser.add_argument(
        "--seed",
        type=from_zero,
        default=0,
        metavar="N",
        help="of save: of the numbers (0)",
    )
    parser.add_argument(
        "--bench", action="store_true", help="of save: time the engines of graphs on a GPU"
    )
    add_force(parser)
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Do it; 0 if nothing is wrong with the case, 1 if something is, 2 on an error."""
    try:
        return _main(arguments)
    except (*USER_ERRORS, RuntimeError) as error:
        print(f"case: {error}", file=sys.stderr)
        return 2


def _main(arguments: argparse.Namespace) -> int:
    action, output = arguments.action, arguments.output
    if (output is None) != (action == "replay"):
        raise CommandError(f"{action} {'writes nothing' if output else 'needs -o/--output'}")
    target = None if output is None else output.path
    if output is not None and action != "report":
        target = output.file(_ENDINGS[action], ".json")
    refuse_overwriting([target], force=arguments.force)
    lines: list[str] = []
    if arguments.bench:
        if action != "save":
            raise CommandError("--bench goes with save: a case says whether engines are timed")
        needs_gpu("--bench")
    if action == "save":
        evidence = evidence_in(arguments.file)
        if not evidence.graphs and not evidence.launches:
            raise CommandError(f"{arguments.file}: it has no graph and no call that computes")
        case = Case.of(evidence, seed=arguments.seed, bench=arguments.bench)
        lines.append(evidence.heading)
    else:
        case = _read(arguments.file)
    if action == "replay":
        there, case = case, case.again()
        lines += there.differences(case)
    elif action == "minimize":
        with steps("trying") as progress:
            case, said = minimized(case, tried=progress.begin)
        lines.append(f"kept: {said}")
    if action == "report":
        assert target is not None
        _report(case, target)
    elif target is not None:
        write_text(target, case.to_json() + "\n", force=arguments.force)
    wrong = any(case.effects())
    if arguments.json:
        print(case.to_json())
    else:
        rows = [("", "effect", "what")]
        rows += [(str(i), *row) for i, row in enumerate(_rows(case), 1)]
        print("\n".join([*lines, aligned(rows)]))
        if target is not None:
            print(f"-> {target}")
    return int(wrong)


def _read(path: Path) -> Case:
    try:
        return Case.from_json(read_text(path))
    except ValueError as error:
        raise CommandError(f"{path}: {error}") from None


def _rows(case: Case) -> list[tuple[str, str]]:
    """The effect and the name of each result."""
    named = zip(case.effects(), case.results, strict=True)
    return [(said or "none", _short(each.name)) for said, each in named]


def _short(text: str) -> str:
    return text if len(text) <= 120 else f"{text[:119]}…"


def _report(case: Case, folder: Path) -> None:
    """Write an issue's text, the case, the graphs, and programs that show it."""
    make_folder(folder)
    with (
        use_reference_device(),
        Handle() as handle,
        trace(py=folder / "calls.py", c=folder / "c", only="-"),
    ):
        case.evidence.replay(handle, seed=case.seed)
    write_text(folder / "case.json", case.to_json() + "\n", force=True)
    for i, each in enumerate(case.graphs, 1):
        text = json.dumps(each["graph"], indent=1)
        write_text(folder / f"graph{i}.json", text + "\n", force=True)
        if program := front_end_program(Graph.from_json(text)):
            write_text(folder / f"front_end{i}.py", program, force=True)
    write_text(folder / "issue.md", _issue(case), force=True)


def _issue(case: Case) -> str:
    """The text of an issue."""
    rows = _rows(case)
    said, name = next((row for row in rows if row[0] != "none"), rows[0])
    facts = [f"- {key}: {value}" for key, value in case.environment.items()]
    facts += [f"- the log's {key}: {value}" for key, value in case.log.items() if value]
    graphs = [
        f"{i}. {each['name']}\n\n{_tensors(each['graph'])}" for i, each in enumerate(case.graphs, 1)
    ]
    parts = [
        f"# {said.partition(':')[0]}: {name}",
        "\n".join(f"- {name}: {said}" for said, name in rows),
        "## Environment",
        "\n".join(facts),
        *(["## Graphs", *graphs] if graphs else []),
        _PROGRAMS,
    ]
    return "\n\n".join(parts) + "\n"


_PROGRAMS = """\
## Programs that show it

- `c/`: in C, nothing but cuDNN and the CUDA runtime: `make -C c run` compares with the results that
  NumPy gives
- `calls.py`: the same calls in Python: `pip install cudnn-ctypes`, `python calls.py`
- `case.json`: `cudnn-ctypes case replay case.json`
- `front_end1.py` …: each graph, if NVIDIA's front end can describe it, built by it
- `graph1.json` …: each graph, for `cudnn-ctypes explain graph1.json --device here`, and for
  `cudnn-ctypes bench graph1.json`, which times its engines"""


def _tensors(told: dict[str, Any]) -> str:
    """The tensors and operations of a graph, as a block."""
    rows = [
        (name, str(each.get("dims")), str(each.get("strides")), str(each.get("data_type") or ""))
        for name, each in told["tensors"].items()
    ]
    nodes = [
        f"{each['name']}: {each['operation']}({', '.join(map(str, each['inputs'].values()))}) -> "
        f"{', '.join(map(str, each['outputs'].values()))}"
        for each in told["nodes"]
    ]
    block = aligned([("tensor", "dims", "strides", "type"), *rows])
    return "\n".join(["```text", block, "", *nodes, "```"])
