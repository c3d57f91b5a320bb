"""The page of known faults of cuDNN: their table, and what random graphs and calls showed."""

from __future__ import annotations

import inspect
import json
import typing
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cudnn_ctypes.dtypes import data_type_name
from cudnn_ctypes.evidence.known_faults import known_faults
from cudnn_ctypes.graph import Tensor
from cudnn_ctypes.raw.faults import Effect, Fault

from .fault_programs import CALLS, PROGRAMS, described
from .fuzz.campaign import COLUMNS, SAVED
from .page_parts import code, grid, write

__all__ = ["CAMPAIGN", "write_faults"]


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
    write("known_faults.md", *parts, *_graphs(), *_campaign())


def _graphs() -> list[str]:
    """What random graphs showed, by version, main operation and operands."""
    return [
        "## Random graphs",
        "`python -m tools.fuzz broadcasts` draws graphs with operands before and behind a main "
        "operation, each dimension whole or 1, in several layouts and types, in later "
        "runs also two products, results that broadcast and several outputs, and executes every "
        "engine that heuristics propose, and some of the other configs, on poisoned memory between "
        "guards, against float64. `tools.fuzz campaign` counted the records by the table as it was "
        "after each run was looked at: "
        "graphs of which a plan ran, by the worst of their operands as engines see the "
        "dimensions of the result; plans that a build may take; and those that rows rule out. "
        "GPUs are H100 and H200. Of the plans of 9.28 that count as wrong that of a norm is off by "
        "2e-5 in the inverse deviation, which the bounds allow since; the ten others read images "
        "with gaps, which are described in three dimensions since and were not executed so. "
        "The product of 9.19 that counts as lost did not end. Of its three that count as wrong two "
        "are 2 % beyond their bound; one, by engine 7 behind a chain of four small operands, and "
        "an index of 9.28, are not explained.",
        grid(
            ("cuDNN", "main operation", "operands", *COLUMNS),
            ([str(cell or "") for cell in row] for row in json.loads(SAVED.read_text())),
        ),
    ]


CAMPAIGN = Path(__file__).parent / "fuzz" / "devices" / "campaign.json"
"""The figures of runs by name, which ``tools.fuzz devices --keep`` writes."""


def _campaign() -> list[str]:
    """What random calls on two devices showed, by function."""
    runs: dict[str, dict[str, Any]] = json.loads(CAMPAIGN.read_text())
    names = sorted({name for run in runs.values() for name in run["functions"]})
    return [
        "## Random calls on two devices",
        "`python -m tools.fuzz devices` draws calls with descriptors, layouts, types, factors and "
        "mistakes, and runs them on a GPU and on the reference device, which must agree about "
        "statuses, numbers and what is not written. Calls of the rows above are not held against "
        "each other. Each run drew programs of its own. What differed became a row, was mended, or "
        "is left open by cuDNN, as `tools/fuzz/devices/freedoms.py` tells.",
        "\n".join(_told(name, run) for name, run in runs.items()),
        grid(
            ("function", *runs),
            (
                [f"`{name}`", *(_counts(run["functions"].get(name)) for run in runs.values())]
                for name in names
            ),
        ),
    ]


def _told(name: str, run: dict[str, Any]) -> str:
    rare, again = run["rare"], run["again"]
    drawn = f"{rare:,} of them fewer than 50 times" if rare else "each at least 50 times"
    left = "" if again is None else f", {again} when these were run again after that"
    return (
        f"- {name}: {run['calls']:,} calls of {len(run['functions'])} functions in "
        f"{run['programs']:,} programs, with {run['options']:,} options, {drawn}; "
        f"{run['differences']} differences{left}."
    )


def _counts(counts: Sequence[int] | None) -> str:
    if counts is None:
        return ""
    calls, succeeded, differed = counts
    return f"{calls:,}, {succeeded:,} succeeded" + (f", {differed} differed" if differed else "")


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
