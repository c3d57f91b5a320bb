"""Rows about graphs on which cuDNN ends the process: what they have in common.

The set of such graphs is open, and these rows do not close it: each saves the death of a process
on a graph that is known. ``python -m tools.fuzz pairs`` found them without a GPU. Unless a range
has modes, the heuristics modes a and b end the process, or compiling what they propose does, and
the mode fallback has no engine that compiles: a refusal takes nothing away.

Ranges are what ``python -m tools.fuzz rows`` told of every minor release from 9.8 to 9.28 (of most,
where it shows in some processes only), and of the patch releases where one differs from the next.
Before 9.8 no GPU can be meant that is absent. Up to 9.12 the mode fallback has no engine for
attention.
"""

from __future__ import annotations

from collections.abc import Callable

from ....raw.faults import Fault, Range, measured, row
from .view import Graph

__all__ = ["ALL_BUT_FALLBACK", "AMPERE_ON", "TURING_ON", "TWO", "fatal"]

TURING_ON = (75, 80, 89, 90, 100, 120)
AMPERE_ON = TURING_ON[1:]
ALL_BUT_FALLBACK = ("a", "b", "instant")
TWO = "build two graphs"


def fatal(
    name: str,
    operations: str,
    where: Callable[[Graph], str],
    seen: str,
    *ranges: Range,
    remedy: str = TWO,
    gpu: str = "GPUs known by their properties",
    versions: str = "9.8 to 9.28",
    beside_another: bool = False,
) -> Fault:
    """A row; its ranges are by default all versions and all GPUs from an A100 on."""
    return row(
        name,
        operations,
        "ends the process",
        "cuDNN ends the process on such a graph",
        where,
        *(ranges or (Range(90800, AMPERE_ON),)),
        measured(versions, seen, gpu=gpu),
        remedy=remedy,
        beside_another=beside_another,
    )
