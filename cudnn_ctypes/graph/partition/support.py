"""Which engines cuDNN has for a graph, asked without compiling and remembered by the graph."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ...absent_gpu.properties import memory_bandwidth
from ...errors import CudnnError, SymbolNotFoundError
from ...raw.library import load
from ..backend.device_properties import properties_text
from ..engines.explaining.examination import Conditions, proposed_engines


class Answer(NamedTuple):
    """The answer of cuDNN about one graph.

    - `engines`: that heuristics propose, the best first; empty if it is refused.
    - `reason`: why it is refused.
    - `launches`: of its plan, with the small graphs that run before it.
    """

    engines: tuple[int, ...]
    reason: str = ""
    launches: int = 1


_LAUNCH = 7.0
"""Microseconds from one launch of a bound program to the next, the least that one takes.

Measured on an H200: 48.9 for 5 plans of small tensors with 2 before them, 215 for 30 launches.
"""
_START = 2.0  # microseconds in which a kernel moves nothing
_FLOPS = 25e6
"""Multiplications and additions a microsecond of two products that one kernel joins.

Inferred: a Llama layer of 2,048 tokens, with 481e9 of them, took 21.2 ms on an H200 with cuDNN
9.19, of which products alone, attention and norms of these sizes take about 2.5.
"""
_MOST = 20_000  # answers that are remembered
_remembered: dict[tuple[str, ...], Answer] = {}


@dataclass
class Support:
    """Asks about graphs under the conditions of one build.

    - `every_one`: whether NumPy carries out the operations, each for itself, and no engine is
      needed.

    - `asked`: how many graphs cuDNN was asked about.
    """

    conditions: Conditions
    every_one: bool = False
    asked: int = 0
    _where: tuple[str, ...] = field(init=False)
    _bytes_in_a_microsecond: float = field(init=False)

    def __post_init__(self) -> None:
        here = self.conditions
        gpu = properties_text(here.device)
        told = "every one" if self.every_one else repr(here.selection)
        self._bytes_in_a_microsecond = memory_bandwidth(json.loads(gpu)) / 1e6
        self._where = (load().version_text, gpu, *here.modes, told)

    def of(self, graph: Any, key: str) -> Answer:
        """The answer for a graph; `key` is equal for graphs that mean the same to cuDNN."""
        place = (*self._where, key)
        found = _remembered.get(place)
        if found is None:
            self.asked += 1
            found = self._ask(graph)
            if len(_remembered) >= _MOST:
                _remembered.clear()
            _remembered[place] = found
        return found

    def microseconds(self, answer: Answer, nbytes: int, flops: int) -> float:
        """How long a graph takes by its launches, its bytes and the work of two joined products."""
        work = max(nbytes / self._bytes_in_a_microsecond, flops / _FLOPS)
        on_gpu = answer.launches * _START + work
        return max(answer.launches * _LAUNCH, on_gpu)

    def refuse(self, key: str, reason: str) -> None:
        """Remember that a graph could not be built after all."""
        _remembered[(*self._where, key)] = Answer((), reason)

    def _ask(self, graph: Any) -> Answer:
        try:
            if self.every_one:
                return self._taken(graph)
            expansion = graph.expansion(self.conditions.device)
            engines, reason = proposed_engines(expansion, self.conditions)
        except (CudnnError, SymbolNotFoundError, ValueError, TypeError) as error:
            return Answer((), str(error).splitlines()[0])
        return Answer(tuple(dict.fromkeys(engines)), reason, 1 + len(expansion.preludes))

    def _taken(self, graph: Any) -> Answer:
        """Whether cuDNN makes the descriptors of one operation."""
        if len(graph.nodes) > 1:
            return Answer((), "each operation is carried out for itself")
        with graph.replaced() as own:
            own.build(self.conditions.device, without_engine=True, program=False)
        return Answer((0,))
