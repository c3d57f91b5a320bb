"""Rows of the tables: facts from JSON files, predicates from the code beside these."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import Evidence, Fault, Range, measured, reported, row

Where = Callable[[Any], str]


def rows(
    file: Path,
    where: Mapping[str, Where],
    of_a_graph: Callable[[Any, str], Where] = lambda where, calls: where,
    ranges: Mapping[str, Range] = {},
) -> tuple[Fault, ...]:
    """The rows of a file, each with the predicate of its name.

    Parameters
    ----------
    file : Path
        Facts of `Fault` by the row's name; those under "*" hold where a row says nothing else.
    where : mapping
    of_a_graph : callable
        From a predicate and the row's calls to a predicate of graphs.
    ranges : mapping
        Ranges that stand elsewhere.
    """
    table = json.loads(file.read_text("utf-8"))
    every = table.pop("*", {})
    if unlike := table.keys() ^ where.keys():
        raise ValueError(f"{file.name}: rows without a predicate, or the other way round: {unlike}")
    found = []
    for name, facts in table.items():
        facts = {**every, **facts}
        shared = every.get("evidence", {})
        evidence = [_evidence({**shared, **each}) for each in facts.pop("evidence")]
        at = [_range(**each) for each in facts.pop("ranges", ())] or [ranges[name]]
        calls = facts.pop("calls" if "calls" in facts else "operations")
        effect, fault = facts.pop("effect"), facts.pop("fault")
        facts["engines"] = tuple(facts.get("engines", ()))
        predicate = of_a_graph(where[name], calls)
        found.append(row(name, calls, effect, fault, predicate, *at, *evidence, **facts))
    return tuple(found)


def _range(since: int, capabilities: Any = (90,), modes: Any = (), **more: Any) -> Range:
    return Range(since, tuple(capabilities), modes=tuple(modes), **more)


def _evidence(facts: dict[str, Any]) -> Evidence:
    return reported(**{"seen": "", **facts}) if "tracker" in facts else measured(**facts)
