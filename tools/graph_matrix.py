"""Describe the tests' graphs under several cuDNN libraries: their JSON must be the same.

``python -m tools.graph_matrix LIBRARY LIBRARY ...``: files or folders, each in a process of its
own. A graph is described, validated and written as JSON, byte for byte the same whichever cuDNN is
loaded. ``--build GPU`` then builds each for the properties of a GPU, and counts what each version
takes; the graph must stay as it was described. ``--only TEXT`` takes graphs whose names have it.

The exit status is 1 if a text differs, or a process ends.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

from cudnn_ctypes import raw
from cudnn_ctypes.errors import CudnnError, SymbolNotFoundError
from cudnn_ctypes.graph import DeviceProperties, Graph
from cudnn_ctypes.graph.engines.refusals import refusal
from cudnn_ctypes.raw.library import ENVIRONMENT_VARIABLE

__all__ = ["differing", "main", "report", "report_of"]

Report = dict[str, Any]
"""The version, and of each graph by name its digest, and what became of building it."""


def _described(describe: Callable[[Graph], object]) -> Callable[[], Graph]:
    def make() -> Graph:
        graph = Graph(io_data_type="float16")
        describe(graph)
        return graph

    return make


def graphs() -> Iterator[tuple[str, Callable[[], Graph]]]:
    """Every graph of the tests by name."""
    from tests.graph.attention_problems import BACKWARD, BOTH, FORWARD, MODIFIED
    from tests.graph.families import CASES
    from tests.graph.fp8_attentions import FP8_BACKWARD, FP8_FORWARD

    for name, case in CASES.items():
        yield name, case.graph
    for name, attention in {**BOTH, **FORWARD, **MODIFIED}.items():
        yield f"sdpa: {name}", _described(attention.forward)
    for name, attention in {**BOTH, **BACKWARD, **MODIFIED}.items():
        yield f"sdpa_backward: {name}", _described(attention.backward)
    for name, problem in FP8_FORWARD.items():
        yield f"sdpa_fp8: {name}", _described(problem.forward)
    for name, problem in FP8_BACKWARD.items():
        yield f"sdpa_fp8_backward: {name}", _described(problem.backward)


def report(only: str = "", gpu: str = "") -> Report:
    """What the library that this process loads makes of the graphs."""
    found: Report = {"version": raw.load().version_text, "graphs": {}}
    for name, make in graphs():
        if only in name:
            with make() as graph:
                graph.validate()
                text = graph.to_json()
                built = _built(graph, gpu) if gpu else ""
                if graph.to_json() != text:
                    built = "changed by building"
            found["graphs"][name] = (hashlib.sha256(text.encode()).hexdigest(), built)
    return found


def _built(graph: Graph, gpu: str) -> str:
    with DeviceProperties.preset(gpu) as device:
        try:
            graph.build(device, program=False)
        except CudnnError as error:
            return f"refused: {str(refusal(error))[:60]}"
        except SymbolNotFoundError:
            return "refused: the version lacks an operation"
    return "built"


def report_of(library: str, only: str = "", gpu: str = "") -> Report:
    """The same in a process of its own that loads a library.

    Raises
    ------
    SystemExit
        If the process ends.
    """
    done = subprocess.run(
        [sys.executable, "-m", "tools.graph_matrix", "--json", "--only", only, "--build", gpu],
        env={**os.environ, ENVIRONMENT_VARIABLE: os.path.abspath(library)},
        capture_output=True,
        text=True,
    )
    if done.returncode:
        raise SystemExit(f"{library}: status {done.returncode}: {done.stderr.strip()[-500:]}")
    found: Report = json.loads(done.stdout)
    return found


def differing(reports: list[Report]) -> list[str]:
    """The names of graphs whose text is not the same in all reports, or that building changed."""
    names = dict.fromkeys(name for each in reports for name in each["graphs"])
    return [
        name
        for name in names
        if len({each["graphs"].get(name, [""])[0] for each in reports}) > 1
        or any(each["graphs"].get(name, ("", ""))[1].startswith("changed") for each in reports)
    ]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.graph_matrix", description=__doc__)
    parser.add_argument("libraries", nargs="*", metavar="LIBRARY", help="a libcudnn or its folder")
    parser.add_argument("--only", default="", help="graphs whose names have this text")
    parser.add_argument("--build", default="", metavar="GPU", help="a preset of DeviceProperties")
    parser.add_argument("--json", action="store_true", help="the report of the loaded library")
    options = parser.parse_args(arguments)
    if options.json:
        print(json.dumps(report(options.only, options.build)))
        return 0
    reports = [report_of(each, options.only, options.build) for each in options.libraries]
    different = differing(reports)
    for name in different:
        print(f"different: {name}")
    for each in reports:
        counts = Counter(built.split(":")[0] for _, built in each["graphs"].values())
        told = ", ".join(f"{count} {built}" for built, count in counts.items() if built)
        print(f"{each['version']}: {len(each['graphs'])} graphs{told and ', ' + told}")
    print(f"{len(different)} graphs differ")
    return int(bool(different))


if __name__ == "__main__":
    sys.exit(main())
