"""The smallest programs that show the known faults of cuDNN, by the name of their row.

Tests hold the rows against them, ``python -m tools.fuzz rows`` measures them on the loaded cuDNN,
and the page of known faults shows them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from cudnn_ctypes.graph import Graph

from .calls import CALLS
from .fatal import FATAL
from .wrong import WRONG

__all__ = ["CALLS", "PROGRAMS", "Program", "described"]

Program = Callable[[Graph], object]

PROGRAMS: Mapping[str, tuple[Program, ...]] = {
    **{name: (program,) for name, program in WRONG.items()},
    **FATAL,
}
"""The programs of rows about graphs, which describe one."""


def described(program: Program) -> Graph:
    """The graph that a program describes, in float16 unless it says otherwise."""
    graph = Graph(io_data_type="float16")
    program(graph)
    return graph
