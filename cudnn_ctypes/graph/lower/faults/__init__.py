"""The known faults of cuDNN that graphs have, each once: one row of `FAULTS`.

A row is a `Fault`: what is known of it stands in a JSON file of this folder, by name; the module of
the same name recognizes it. A predicate looks at a `Graph`, the view of the lowered graph, and says
what of the user's has the fault, "" if nothing has.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, NamedTuple

from ....raw.faults import Fault, Finding, findings
from ..target import Target
from .attention import ATTENTION
from .fatal import FATAL
from .operations import OPERATIONS
from .view import Graph

if TYPE_CHECKING:
    from ...backend.engine import EngineChoice

__all__ = ["FAULTS", "SEARCHED", "Fault", "Faults", "Graph", "faults_of"]

SEARCHED = ("9.14", "9.19", "9.24", "9.27", "9.28")
"""The versions of cuDNN that were searched for wrong numbers with random graphs on a GPU.

Of 9.24 the build without precompiled engines, of that of 9.27 main operations alone.
"""
FAULTS: tuple[Fault, ...] = (*OPERATIONS, *ATTENTION, *FATAL)


class Faults(NamedTuple):
    """The known faults that concern one graph, and what they mean for its build.

    - `engines`, `modes`: engines that it must not be built with, whatever their knobs, and modes of
      heuristics that must not be asked about it, each with the reason.
    - `found`: the rows.
    """

    engines: Mapping[int, str] = {}
    modes: Mapping[str, str] = {}
    found: tuple[Finding, ...] = ()

    def fault(self, choice: EngineChoice) -> str:
        """Why the graph must not be built with an engine and these knobs; "" if it may."""
        kernel = choice.knobs.get("kernel_cfg")
        partly = (each.message for each in _heeded(self.found) if each.has(choice.engine, kernel))
        return self.engines.get(choice.engine) or next(partly, "")


def _heeded(found: Iterable[Finding]) -> list[Finding]:
    return [each for each in found if not each.fault.only_told]


def faults_of(graph: Graph, target: Target) -> Faults:
    """The known faults that concern a graph, with this cuDNN on this GPU."""
    found = findings(FAULTS, graph, target)
    heeded = _heeded(found)
    engines = {
        engine: each.message for each in heeded for engine in each.engines if each.has(engine)
    }
    modes = {mode: each.message for each in heeded for mode in each.modes}
    return Faults(engines, modes, tuple(found))
