"""Worker processes over a schedule of cases; counts and differences in files of one folder."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..workers import in_processes
from . import catalogue
from .batches import Judged, judge
from .minimizing import minimized

__all__ = ["Plan", "again", "run", "table"]


@dataclass(frozen=True)
class Plan:
    """What a survey does.

    Attributes
    ----------
    seconds : float
        After which no batch begins.
    minimize : float
        Seconds in which differences are minimized afterwards, one of each kind.
    """

    pair: tuple[str, str]
    families: tuple[str, ...]
    cases: int
    seed: int
    seconds: float
    processes: int
    batch: int
    minimize: float
    out: Path


def run(plan: Plan) -> None:
    """Run all workers; what they find is in files of ``plan.out``."""
    plan.out.mkdir(parents=True, exist_ok=True)
    _workers(plan, _survey, time.monotonic() + plan.seconds)
    if plan.minimize:
        _workers(plan, _minimize, time.monotonic() + plan.minimize)


def again(folder: Path, pair: tuple[str, str]) -> Iterator[str]:
    """Run the cases that differed once more, alone: what still differs, and their counts."""
    cases = {
        (line["case"]["family"], line["case"]["seed"]): line["case"]
        for line in _lines(folder)
        if "key" in line and "case" in line
    }
    keys: Counter[str] = Counter()
    for judged in judge(list(cases.values()), pair):
        for difference in judged.differences:
            keys[judged.key(difference)] += 1
            yield f"{judged.key(difference)}: {difference}"
            yield f"       {json.dumps(judged.draw.case)}"
    yield f"{len(cases)} cases again: {sum(keys.values())} differences of {len(keys)} kinds"


def _workers(plan: Plan, work: Any, deadline: float) -> None:
    counter = multiprocessing.get_context("fork").Value("l", 0)
    seconds = deadline - time.monotonic()
    in_processes(plan.processes, lambda number: work(plan, number, counter, deadline), seconds)


def _taken(counter: Any, count: int) -> int:
    """Where the next `count` pieces of work begin."""
    with counter.get_lock():
        start = int(counter.value)
        counter.value += count
    return start


def _survey(plan: Plan, number: int, counter: Any, deadline: float) -> None:
    seen: Counter[str] = Counter()
    schedule = catalogue.Schedule(plan.families)
    with open(plan.out / f"{number}.jsonl", "a") as file:
        while time.monotonic() < deadline:
            start = _taken(counter, plan.batch)
            count = min(plan.batch, plan.cases - start)
            if count <= 0:
                return
            began = time.monotonic()
            judged = _judged(schedule.cases(plan.seed + start, count), plan.pair)
            counts: Counter[str] = Counter()
            for each in judged:
                _count(counts, each)
                for difference in each.differences:
                    line = {"key": each.key(difference), "difference": str(difference)}
                    seen[line["key"]] += 1
                    if seen[line["key"]] <= _KEPT:
                        line["case"] = each.draw.case
                    if seen[line["key"]] <= _SHOWN:
                        line["numbers"] = each.numbers(difference)
                    print(json.dumps(line), file=file)
            took = round(time.monotonic() - began, 2)
            record = {"counts": counts, "cases": count, "seconds": took}
            print(json.dumps(record), file=file, flush=True)
            if sum(isinstance(each.other, str) for each in judged) > count / 2:
                print(f"worker {number} stops: most cases end their child", flush=True)
                return


def _judged(cases: list[tuple[str, int]], pair: tuple[str, str], tries: int = 4) -> list[Judged]:
    """The judged cases; a child for which a GPU has no room is begun again later."""
    try:
        return judge(cases, pair)
    except RuntimeError:
        if tries == 1:
            raise
    time.sleep(15)
    return _judged(cases, pair, tries - 1)


_KEPT, _SHOWN = 40, 3  # differences of a kind, of which a worker keeps cases, and numbers
_ONE = 20  # seconds for one difference


def _minimize(plan: Plan, number: int, counter: Any, deadline: float) -> None:
    """One difference of each kind, the most frequent kinds first."""
    counts: Counter[str] = Counter()
    first: dict[str, dict[str, Any]] = {}
    for line in _lines(plan.out):
        if "key" in line and line["key"].split("|")[1] not in ("died", "lost"):
            counts[line["key"]] += 1
            first.setdefault(line["key"], line)
    keys = [key for key, _ in counts.most_common()]
    with open(plan.out / f"minimized-{number}.jsonl", "a") as file:
        while time.monotonic() < deadline and (place := _taken(counter, 1)) < len(keys):
            line, room = first[keys[place]], deadline - time.monotonic()
            small = minimized(line["case"], keys[place], plan.pair, seconds=min(room, _ONE))
            print(json.dumps({"minimized": keys[place], "case": small}), file=file, flush=True)


_SEPARATOR = "\t"


def _count(counts: Counter[str], judged: Judged) -> None:
    def add(*words: str) -> None:
        counts[_SEPARATOR.join(words)] += 1

    last = judged.program.steps[-1][0]
    if isinstance(judged.other, str):
        add("call", last, "ended the process")
    else:
        for function, status in judged.other.statuses:
            add("call", function, status if len(status) < 30 else status.partition(":")[0])
    for kind in {difference.kind for difference in judged.differences}:
        add("differs", last, kind)
    for name, value in judged.draw.counted:
        add("option", f"family {judged.draw.family}", name, value)


def _sets(function: str) -> bool:
    """Whether a function only sets a descriptor."""
    return function.startswith(("cudnnSet", "cudnnRNNSet")) and (
        "Descriptor" in function or function.endswith(("Attribute", "_v8", "_v9"))
    )


def _lines(folder: Path) -> Iterator[dict[str, Any]]:
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text().splitlines():
            yield json.loads(line)


def table(folder: Path, *, least: int = 50, options: bool = False) -> str:
    """What was drawn, by function, and what differed."""
    counts: Counter[str] = Counter()
    keys: Counter[str] = Counter()
    first: dict[str, dict[str, Any]] = {}
    small: dict[str, dict[str, Any]] = {}
    cases, seconds = 0, 0.0
    for line in _lines(folder):
        if "counts" in line:
            counts.update(line["counts"])
            cases += line["cases"]
            seconds += line["seconds"]
        elif "minimized" in line:
            small[line["minimized"]] = line["case"]
        else:
            keys[line["key"]] += 1
            first.setdefault(line["key"], line)
    found: dict[str, dict[str, Counter[Any]]] = {}
    for text, number in counts.items():
        what, function, *rest = text.split(_SEPARATOR)
        found.setdefault(function, {}).setdefault(what, Counter())[tuple(rest)] += number
    total = sum(
        sum(each["call"].values())
        for name, each in found.items()
        if "call" in each and not _sets(name)
    )
    lines = [f"{cases} cases, {seconds:.0f} seconds of workers"]
    called = sum("call" in each for each in found.values())
    lines.append(f"{total} calls of {called} functions, without those that only set")
    for function in sorted(found):
        lines += _about(function, found[function], least, options)
    lines.append(f"{sum(keys.values())} differences of {len(keys)} kinds")
    for key, number in keys.most_common():
        lines.append(f"{number:6} {key}: {first[key]['difference'][:300]}")
        lines.append(f"       {json.dumps(small.get(key, first[key]['case']))}")
    return "\n".join(lines)


def _about(
    function: str, found: dict[str, Counter[Any]], least: int, options: bool
) -> Iterator[str]:
    drawn = found.get("option", Counter())
    few = sorted(f"{'='.join(name)} ({n})" for name, n in drawn.items() if n < least)
    outcome = ", ".join(
        f"{n} {status}" for (status,), n in found.get("call", Counter()).most_common()
    )
    about = f"{len(drawn)} options, {len(few)} of them fewer than {least} times"
    yield f"{function}: {'; '.join(filter(None, (outcome, about if drawn else '')))}"
    if "differs" in found:
        yield f"    differs: {', '.join(f'{n} {kind}' for (kind,), n in found['differs'].items())}"
    if few:
        yield f"    fewer than {least}: {', '.join(few)}"
    if options:
        for name, n in sorted(drawn.items()):
            yield f"    {'='.join(name)}: {n}"
