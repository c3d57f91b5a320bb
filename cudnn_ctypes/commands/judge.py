"""``judge``: execute every engine of a graph, and compare each with the reference in float64."""

from __future__ import annotations

import argparse
import json

from ..evidence.files import CommandError
from ..graph.engines.operands import KINDS
from ..graph.engines.selection import Selection
from ..handle import Handle
from .options import (
    EVIDENCE,
    Output,
    add_force,
    add_json,
    file_name,
    from_zero,
    positive,
    read_graph,
    refuse_overwriting,
    write_text,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes judge``."""
    parser.add_argument("graph", type=file_name, help=EVIDENCE)
    parser.add_argument(
        "--engines", nargs="+", type=from_zero, metavar="N", help="only these (default: all)"
    )
    parser.add_argument(
        "--knobs", type=from_zero, default=2, metavar="N", help="other settings of each engine (2)"
    )
    parser.add_argument(
        "--data", nargs="+", choices=tuple(KINDS), metavar="KIND", help=f"{', '.join(KINDS)} (all)"
    )
    parser.add_argument("--runs", type=positive, default=5, metavar="N", help="timed, of each (5)")
    parser.add_argument(
        "--no-keep", action="store_true", help="do not have later builds pass over what is wrong"
    )
    parser.add_argument("-o", "--output", type=Output, metavar="FILE", help="write JSON to a file")
    add_force(parser)
    add_json(parser)


def main(arguments: argparse.Namespace) -> int:
    """Print the verdicts; 0 if all are right, 1 if one is wrong or none, 2 on an error."""
    try:
        return _run(arguments)
    except RuntimeError as error:  # such as an engine that ended its process
        raise CommandError(str(error)) from None


def _run(arguments: argparse.Namespace) -> int:
    output = None if arguments.output is None else arguments.output.file("judge.json", ".json")
    refuse_overwriting([output], force=arguments.force)
    graph = read_graph(arguments.graph)
    with Handle() as handle:
        judged = graph.judge(
            handle,
            selection=Selection(engines=arguments.engines),
            knobs=arguments.knobs,
            data=arguments.data,
            runs=arguments.runs,
            keep=not arguments.no_keep,
        )
    text = json.dumps(judged.as_dict(), indent=2)
    if output is not None:
        write_text(output, text + "\n", force=arguments.force)
    if arguments.json:
        print(text)
    else:
        judged.show()
    return 0 if judged.right and not judged.wrong else 1
