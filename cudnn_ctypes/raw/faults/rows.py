"""Rows of the tables: facts from JSON files, predicates from the code beside these."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from . import Evidence, Fault, Range, Status

Where = Callable[[Any], str]


def rows(
    file: Path,
    where: Mapping[str, Where],
    of_a_graph: Callable[[Any, str], Where] = lambda where, calls: where,
    ranges: Mapping[str, Range] = {},
) -> tuple[Fault, ...]:
    """The rows of a file, each with the predicate of its name.

    - `file`: facts of `Fault` by the row's name; those under "*" hold where a row says nothing
      else, and a row's engines where a range does.
    - `of_a_graph`: from a predicate and the row's calls to a predicate of graphs.
    - `ranges`: ranges that stand elsewhere.
    """
    table = json.loads(file.read_text("utf-8"))
    every = table.pop("*", {})
    if unlike := table.keys() ^ where.keys():
        raise ValueError(f"{file.name}: rows without a predicate, or the other way round: {unlike}")
    found = []
    for name, facts in table.items():
        facts = {**every, **facts}
        told = every.get("evidence", {})
        evidence = tuple(_evidence(**{**told, **each}) for each in facts.pop("evidence"))
        engines = tuple(facts.pop("engines", ()))
        given = [{"engines": engines, **each} for each in facts.pop("ranges", ())]
        at = tuple(_range(**each) for each in given) or (ranges[name]._replace(engines=engines),)
        calls = facts.pop("calls" if "calls" in facts else "operations")
        effect, fault = facts.pop("effect"), facts.pop("fault")
        predicate, functions = of_a_graph(where[name], calls), tuple(calls.split())
        found.append(Fault(name, functions, effect, fault, predicate, at, evidence, **facts))
    return tuple(found)


def _range(
    since: int, capabilities: Any = (90,), repaired: int | None = None, **more: Any
) -> Range:
    facts: dict[str, Any] = {
        name: tuple(fact) if isinstance(fact, list) else fact for name, fact in more.items()
    }
    return Range(since, tuple(capabilities), repaired, **facts)


def _evidence(
    versions: str = "", tracker: str = "", tried: str = "", gpu: str = "H200", **more: str
) -> Evidence:
    """Evidence of ours; or of others, with versions that we tried, in which we did not see it."""
    if tracker and not tried:
        return Evidence("reported", tracker=tracker, **more)
    status: Status = "not reproduced" if tracker else "measured"
    return Evidence(status, gpu, tried or versions, tracker=tracker, **more)
