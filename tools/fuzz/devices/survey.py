"""Worker processes over a schedule of cases; counts and differences in files of one folder."""

from __future__ import annotations

import json
import multiprocessing
import os
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import catalogue
from .batches import judge
from .minimizing import minimized

__all__ = ["Plan", "run", "table"]


@dataclass(frozen=True)
class Plan:
    """What a survey does.

    Attributes
    ----------
    minimize : int
        How many differences of one kind a worker minimizes.
    """

    pair: tuple[str, str]
    families: tuple[str, ...]
    cases: int
    seed: int
    seconds: float
    processes: int
    batch: int
    minimize: int
    out: Path


def run(plan: Plan) -> None:
    """Run all workers; what they find is in files of ``plan.out``."""
    plan.out.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    context = multiprocessing.get_context("fork")
    counter = context.Value("l", 0)
    workers = [
        context.Process(target=_worker, args=(plan, number, counter, began))
        for number in range(plan.processes)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


def _worker(plan: Plan, number: int, counter: Any, began: float) -> None:
    os.nice(1)
    deadline = began + plan.seconds
    seen: Counter[str] = Counter()
    with open(plan.out / f"{number}.jsonl", "a") as file:
        while time.monotonic() < deadline:
            with counter.get_lock():
                start = counter.value
                counter.value += plan.batch
            count = min(plan.batch, plan.cases - start)
            if count <= 0:
                return
            todo = catalogue.schedule(plan.seed + start, count, plan.families)
            t0 = time.monotonic()
            judged = judge(todo, plan.pair)
            counts: Counter[str] = Counter()
            for draw, program, one, other, found in judged:
                _count(counts, draw, program, other, found)
                for difference in found:
                    key = f"{draw.family}|{difference.kind}|{difference.where}"
                    seen[key] += 1
                    line: dict[str, Any] = {
                        "key": key,
                        "difference": str(difference),
                        "case": draw.case,
                    }
                    room = deadline - time.monotonic()
                    if seen[key] <= plan.minimize and room > 0:
                        small = minimized(draw.case, difference, plan.pair, seconds=min(room, 20))
                        line["minimized"] = small
                    print(json.dumps(line), file=file)
            took = round(time.monotonic() - t0, 2)
            record = {"counts": counts, "cases": count, "seconds": took}
            print(json.dumps(record), file=file, flush=True)


_SEPARATOR = "\t"


def _count(counts: Counter[str], draw: Any, program: Any, other: Any, found: Any) -> None:
    last = program.steps[-1][0]
    counts[_SEPARATOR.join(("case", last))] += 1
    if isinstance(other, str):
        counts[_SEPARATOR.join(("call", last, "ended the process"))] += 1
    else:
        for text in other.statuses:
            function, _, status = text.partition(" ")
            status = status if len(status) < 30 else status.partition(":")[0]
            counts[_SEPARATOR.join(("call", function, status))] += 1
    for kind in {difference.kind for difference in found}:
        counts[_SEPARATOR.join(("differs", last, kind))] += 1
    for name, option in draw.options.items():
        if option.counted:
            counts[_SEPARATOR.join(("option", last, name, str(option.value)))] += 1


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield json.loads(line)


def table(folder: Path, *, least: int = 50, options: bool = False) -> str:
    """What was drawn, by function, and what differed."""
    counts: Counter[str] = Counter()
    keys: Counter[str] = Counter()
    first: dict[str, dict[str, Any]] = {}
    cases, seconds = 0, 0.0
    for line in _lines(folder):
        if "counts" in line:
            counts.update(line["counts"])
            cases += line["cases"]
            seconds += line["seconds"]
            continue
        keys[line["key"]] += 1
        if line["key"] not in first or "minimized" in line:
            first[line["key"]] = line
    lines = [f"{cases} cases, {seconds:.0f} seconds of workers"]
    calls: dict[str, Counter[str]] = {}
    differs: dict[str, Counter[str]] = {}
    drawn: dict[str, Counter[tuple[str, str]]] = {}
    for text, number in counts.items():
        what, function, *rest = text.split(_SEPARATOR)
        if what == "call":
            calls.setdefault(function, Counter())[rest[0]] += number
        elif what == "differs":
            differs.setdefault(function, Counter())[rest[0]] += number
        elif what == "option":
            drawn.setdefault(function, Counter())[rest[0], rest[1]] += number
    total = sum(sum(each.values()) for each in calls.values())
    lines.append(f"{total} calls of {len(calls)} functions")
    for function in sorted(calls):
        outcome = ", ".join(f"{n} {status}" for status, n in calls[function].most_common())
        different = ", ".join(f"{n} {kind}" for kind, n in differs.get(function, {}).items())
        few = sorted(
            f"{name}={value} ({n})" for (name, value), n in drawn.get(function, {}).items() if n < least
        )
        lines.append(f"{function}: {outcome}; {len(drawn.get(function, ()))} options, {len(few)} of them fewer than {least} times")
        if different:
            lines.append(f"    differs: {different}")
        if few and options:
            lines.append(f"    fewer than {least}: {', '.join(few)}")
        if options:
            for (name, value), n in sorted(drawn.get(function, {}).items()):
                lines.append(f"    {name}={value}: {n}")
    lines.append(f"{sum(keys.values())} differences of {len(keys)} kinds")
    for key, number in keys.most_common():
        line = first[key]
        lines.append(f"{number:6} {key}: {line['difference'][:300]}")
        lines.append(f"       {json.dumps(line.get('minimized', line['case']))}")
    return "\n".join(lines)
