"""The page of the site about known faults of cuDNN, from their table."""

from __future__ import annotations

import inspect
import typing

from cudnn_ctypes.dtypes import data_type_name
from cudnn_ctypes.evidence.known_faults import known_faults
from cudnn_ctypes.graph import Tensor
from cudnn_ctypes.raw.faults import Effect, Fault

from .fault_programs import CALLS, PROGRAMS, described
from .page_parts import code, grid, write

__all__ = ["write_faults"]


def write_faults() -> None:
    """All rows by their effect, each with its smallest program."""
    parts = [
        "# Known faults of cuDNN",
        "What cuDNN computes wrong or ends the process on, as far as it is known, and what this "
        "package does about it. A row holds for the versions and GPUs that it names. "
        "`python -m cudnn_ctypes doctor --faults` lists those of the loaded cuDNN on this "
        "machine's GPU, `Graph.explain` those that concern a graph, `python -m cudnn_ctypes "
        "lookup` finds them by name, function, operation, issue and words, and "
        "[`known_faults`](api/known_faults.rst) gives them as data. The faults that end the "
        "process are an open set, which rows do not close.",
    ]
    rows = known_faults()
    for effect in typing.get_args(Effect):
        found = [row for row in rows if row.effect == effect]
        if found:
            parts.append(f"## {effect[0].upper()}{effect[1:]}")
        for row in found:
            parts += [
                f"### {row.name[0].upper()}{row.name[1:]}",
                grid(("", ""), ((name, text) for name, text in row.facts.items())),
                *([code(text)] if (text := _program(row)) else []),
            ]
    write("known_faults.md", *parts)


def _program(row: Fault) -> str:
    """The smallest program: the operations of the graph, or the source of the calls, if any."""
    if row.name in CALLS:
        program = CALLS[row.name]
        return "" if program is None else inspect.getsource(program)
    with described(PROGRAMS[row.name][0]) as graph:
        nodes = graph.validate()
        return "\n".join(
            f"{', '.join(map(_text, node.results))}\n    = {node.operation}("
            f"{', '.join(map(_text, node.operands))})"
            for node in nodes
        )


def _text(tensor: Tensor) -> str:
    strides = "" if tensor.virtual else f" strides {tensor.strides}"
    return f"{tensor.name} {data_type_name(tensor.data_type)} {tensor.dims}{strides}"
