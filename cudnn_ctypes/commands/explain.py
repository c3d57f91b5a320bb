"""``explain``: every engine for a graph, on a GPU that need not be there, and why not."""

from __future__ import annotations

import argparse
import json
import sys

from ..graph.backend.devices import as_properties
from ..graph.engines.selection import Selection
from .options import USER_ERRORS, add_device, file_name, read_graph, steps

__all__ = ["add_arguments", "main"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes explain``."""
    parser.add_argument("graph", type=file_name, help="a file that Graph.to_json wrote")
    add_device(parser)
    parser.add_argument(
        "--heuristics",
        nargs="+",
        default=["a", "b", "fallback"],
        metavar="MODE",
        help="whom to ask for configs (default: a b fallback)",
    )
    parser.add_argument(
        "--compile",
        action="store_true",
        help="compile engines of runtime fusion too: up to a second for each config",
    )
    parser.add_argument("--require", nargs="+", default=[], metavar="NOTE", help="notes to have")
    parser.add_argument("--forbid", nargs="+", default=[], metavar="NOTE", help="notes not to have")
    parser.add_argument("--deterministic", action="store_true", help="the same bits each time")
    parser.add_argument(
        "--advice", action="store_true", help="say too what to change, each change tried"
    )
    parser.add_argument("--json", action="store_true", help="print JSON instead of tables")


def main(arguments: argparse.Namespace) -> int:
    """Print the explanation; 0 if an engine supports the graph, 1 if none does, 2 on an error."""
    try:
        return _run(arguments)
    except USER_ERRORS as error:
        print(f"explain: {error}", file=sys.stderr)
        return 2


def _run(arguments: argparse.Namespace) -> int:
    selection = Selection(
        require=arguments.require,
        forbid=arguments.forbid,
        deterministic=arguments.deterministic,
    )
    graph = read_graph(arguments.graph)
    told = graph.explain(
        as_properties(arguments.device),
        arguments.heuristics,
        selection=selection,
        compile=arguments.compile,
    )
    advice = None
    if arguments.advice:
        with steps("trying changes, for half a minute at most"):
            advice = told.advice()
    if arguments.json:
        data = told.as_dict()
        if advice is not None:
            data["advice"] = advice.as_dict()["suggestions"]
        print(json.dumps(data, indent=2))
    else:
        told.show()
        if advice is not None:
            print()
            advice.show()
    return 0 if told.usable else 1
