"""Advice in the message of a failed build: looked for when the message is read.

Programs that build many graphs and go on where one is refused pay nothing for it but a copy of the
description (0.1 ms) and, of a Handle, of its GPU's properties (0.4 ms).
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....raw import nvrtc
from ...backend.device_properties import DeviceProperties
from ...backend.devices import properties_text
from ...backend.warden import asking
from ..refusals import failed_to_compile
from .probing import Conditions, asked_at_once
from .remedy_search import Search, Tried
from .tables import spans

if TYPE_CHECKING:
    from ....errors import CudnnError
    from ....handle import Handle
    from ...graph import Graph
    from ..selection import Selection

__all__ = ["BuildAdvice", "add_advice"]

_TRIES = 30  # changed graphs, each of which takes 2 to 60 ms
_SECONDS = 0.5
_SECONDS_TO_COMPILE = 3.0
_LINES = 3


def add_advice(
    error: CudnnError,
    graph: Graph,
    device: Handle | DeviceProperties,
    modes: Sequence[str],
    selection: Selection,
    sm_count: int | None = None,
) -> None:
    """Have the error of a failed build find advice when it is read."""
    with asking(None, default=True) as warded:
        conditions = Conditions(device, tuple(modes), selection, sm_count=sm_count, warden=warded)
    error.advised_by(BuildAdvice(graph, conditions, error.messages))


class BuildAdvice:
    """Changes with which a graph has an engine; called once, it looks for them.

    Nothing is compiled unless it was compiling that failed: then cuDNN's acceptance means little.
    A broken compiler is the only advice. Else the search ends after the first kind of change that
    does: one change, several, a graph in two, or what loses something. Whatever goes wrong on the
    way, the error that is told of is the one of the build.

    Parameters
    ----------
    graph : Graph
        Validated.
    conditions : Conditions
        Under which it was to be built.
    messages : sequence of str
        cuDNN's reasons.
    """

    def __init__(self, graph: Graph, conditions: Conditions, messages: Sequence[str] = ()) -> None:
        self._graph = graph.replaced()
        self._messages = tuple(messages)
        self._properties = properties_text(conditions.device)
        self._conditions = conditions
        self._process = os.getpid()

    def __call__(self) -> tuple[str, ...]:
        if os.getpid() != self._process:  # in a fork cuDNN's threads are gone
            return ()
        uncompiled = failed_to_compile(self._messages)
        if uncompiled and (broken := nvrtc.defect()):
            return (broken,)
        try:
            with DeviceProperties(self._properties) as device:
                here = replace(self._conditions, device=device, compile=uncompiled)
                seconds = _SECONDS_TO_COMPILE if uncompiled else _SECONDS
                search = Search(self._graph, asked_at_once(here), tries=_TRIES, seconds=seconds)
                found = list(search.cures(first_only=True))
        except Exception:
            return ()
        return tuple(_line(each) for each in found[:_LINES])


def _line(tried: Tried) -> str:
    steps = tried.variant.steps
    engines = ", then ".join(spans(sorted(each.engines)) for each in tried.outcomes)
    caveats = [step.caveat for step in steps if step.caveat]
    line = f"{'; '.join(step.words for step in steps)}: {engines}"
    return f"{line} ({'; '.join(caveats)})" if caveats else line
