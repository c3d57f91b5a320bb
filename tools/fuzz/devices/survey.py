"""Worker processes over a schedule of cases; counts and differences in files of one folder."""

from __future__ import annotations

import json
import multiprocessing
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tools.fault_pages import CAMPAIGN

from ..workers import in_processes
from . import catalogue
from .batches import Judged, judge
from .comparison import Difference
from .minimizing import minimized

__all__ = ["Plan", "again", "keep", "run", "table"]


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


def again(folder: Path, pair: tuple[str, str]) -> tuple[int, list[tuple[Judged, Difference]]]:
    """Run the cases that differed once more, alone: how many they are, and what still differs."""
    cases = {
        (line["case"]["family"], line["case"]["seed"]): line["case"]
        for line in _lines(folder)
        if "key" in line and "case" in line
    }
    found = [(each, d) for each in judge(list(cases.values()), pair) for d in each.differences]
    return len(cases), found


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


@dataclass
class Tally:
    """What stands in a folder of results.

    Attributes
    ----------
    found : dict
        By function or family, and by "call", "differs" and "option": how often what was counted.
    keys : Counter
        Differences by kind.
    first, small : dict
        By kind: the first difference, and the minimized case.
    """

    cases: int = 0
    seconds: float = 0.0
    found: dict[str, dict[str, Counter[Any]]] = field(default_factory=dict)
    keys: Counter[str] = field(default_factory=Counter)
    first: dict[str, dict[str, Any]] = field(default_factory=dict)
    small: dict[str, dict[str, Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, folder: Path) -> Tally:
        tally, counts = cls(), Counter[str]()
        for line in _lines(folder):
            if "counts" in line:
                counts.update(line["counts"])
                tally.cases += line["cases"]
                tally.seconds += line["seconds"]
            elif "minimized" in line:
                tally.small[line["minimized"]] = line["case"]
            else:
                tally.keys[line["key"]] += 1
                tally.first.setdefault(line["key"], line)
        for text, number in counts.items():
            what, function, *rest = text.split(_SEPARATOR)
            kinds = tally.found.setdefault(function, {})
            kinds.setdefault(what, Counter())[tuple(rest)] += number
        return tally

    @property
    def calls(self) -> dict[str, Counter[Any]]:
        """The statuses of each function that this cuDNN has, but of those that only set."""
        calls = {}
        for name, each in sorted(self.found.items()):
            statuses = {s: n for s, n in each.get("call", {}).items() if s != (_MISSING,)}
            if statuses and not _sets(name):
                calls[name] = Counter(statuses)
        return calls

    def summary(self, again: int | None = None) -> dict[str, Any]:
        """The figures that the site's page tells; `again` differed when they were run again."""
        options = [n for each in self.found.values() for n in each.get("option", {}).values()]
        return {
            "programs": self.cases,
            "calls": sum(sum(each.values()) for each in self.calls.values()),
            "options": len(options),
            "rare": sum(n < LEAST for n in options),
            "differences": sum(self.keys.values()),
            "again": again,
            "functions": {
                name: [
                    sum(statuses.values()),
                    statuses[("SUCCESS",)],
                    sum(self.found[name].get("differs", Counter()).values()),
                ]
                for name, statuses in self.calls.items()
            },
        }


_MISSING = "SymbolNotFoundError"
LEAST = 50  # times that each option is to be drawn


def table(folder: Path, *, options: bool = False) -> str:
    """What was drawn, by function, and what differed."""
    tally = Tally.of(folder)
    total = sum(sum(each.values()) for each in tally.calls.values())
    lines = [
        f"{tally.cases} cases, {tally.seconds:.0f} seconds of workers",
        f"{total} calls of {len(tally.calls)} functions, without those that only set",
    ]
    for function in sorted(tally.found):
        lines += _about(function, tally.found[function], LEAST, options)
    lines.append(f"{sum(tally.keys.values())} differences of {len(tally.keys)} kinds")
    for key, number in tally.keys.most_common():
        lines.append(f"{number:6} {key}: {tally.first[key]['difference'][:300]}")
        lines.append(f"       {json.dumps(tally.small.get(key, tally.first[key]['case']))}")
    return "\n".join(lines)


def keep(folder: Path, name: str, again: int | None = None) -> None:
    """Keep the figures of a folder of results for the site's page, under a name."""
    kept = json.loads(CAMPAIGN.read_text()) if CAMPAIGN.exists() else {}
    kept[name] = Tally.of(folder).summary(again)
    CAMPAIGN.write_text(json.dumps(kept).replace("], ", "],\n") + "\n")


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
