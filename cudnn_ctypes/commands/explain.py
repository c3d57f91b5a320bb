"""``explain``: every engine for a graph, on a GPU that need not be there, and why not."""

from __future__ import annotations

import argparse
import json
from typing import TYPE_CHECKING, Any

from ..graph.backend.device_properties import as_properties
from ..graph.engines.selection import Selection
from .options import EVIDENCE, add_device, file_name, read_graphs, steps

if TYPE_CHECKING:
    from ..graph.graph import Graph


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of ``python -m cudnn_ctypes explain``."""
    parser.add_argument("graph", type=file_name, help=f"{EVIDENCE}: each of its graphs")
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
    """Print the explanations; 0 if engines support all graphs, 1 if not, 2 on an error."""
    selection = Selection(
        require=arguments.require,
        forbid=arguments.forbid,
        deterministic=arguments.deterministic,
    )
    told = []
    graphs = read_graphs(arguments.graph)
    for place, (name, graph) in enumerate(graphs):
        if len(graphs) > 1 and not arguments.json:
            print(f"{'' if not place else chr(10)}{name}")
        told.append(_explained(graph, selection, arguments))
    if arguments.json:
        data = [each for _, each in told]
        print(json.dumps(data[0] if len(data) == 1 else data, indent=2))
    return 0 if all(usable for usable, _ in told) else 1


def _explained(
    graph: Graph, selection: Selection, arguments: argparse.Namespace
) -> tuple[bool, dict[str, Any]]:
    """Print the explanation of a graph, if not as JSON; whether an engine has it, and the data."""
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
    if not arguments.json:
        told.show()
        if advice is not None:
            print()
            advice.show()
        return bool(told.usable), {}
    data = told.as_dict()
    if advice is not None:
        data["advice"] = advice.as_dict()["suggestions"]
    return bool(told.usable), data
