"""Count what searches recorded, by the table of known faults as it is now.

``python -m tools.fuzz campaign FOLDER ...`` reads the records of `broadcasts`, describes each graph
again, and asks the table which of its plans a build would take. The first table counts by cuDNN's
version, main operation and pattern, which is the worst of the graph's operands, seen as engines see
the result: all whole, some single numbers, some whole along a dimension, some along a part of one.
The second one counts by row of the known faults. Records without a version are of ``--cudnn``.
Of a case that was recorded again the last record counts, and records of graphs that are described
to cuDNN otherwise now are left out. ``--save`` writes the first table for the page of known faults,
in place of what it told of these versions. ``--keep N`` adds graphs to `MEASURED`: of each version,
row or family, and outcome at least N. The exit status is 1 if a plan that the table accepts was not
right; these are printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from cudnn_ctypes.graph.lower.broadcasts import sides
from cudnn_ctypes.graph.lower.expand.expansion import Expansion
from cudnn_ctypes.graph.lower.faults import Graph, faults_of
from cudnn_ctypes.graph.lower.flattening import flattened
from cudnn_ctypes.graph.lower.target import NO_GPU, Target
from cudnn_ctypes.raw.library import version_text

from .broadcast_graphs import Case, described

__all__ = ["COLUMNS", "MEASURED", "SAVED", "digest", "main", "records"]

COLUMNS = (
    "graphs",
    "right",
    "wrong",
    "lost",
    "ruled out, wrong",
    "ruled out, lost",
    "ruled out, right",
)
"""Graphs of which a plan ran; plans that the table accepts; plans that it rules out."""
SAVED = Path(__file__).with_name("campaign.json")
MEASURED = Path(__file__).with_name("measured") / "graphs.jsonl"
"""Graphs that ran on an H200, some for each row and family, which a test has judged again."""
_RIGHT = ("right", "undecided")
_KINDS = {"right": "right", "undecided": "right", "lost": "lost", "writes beyond": "lost"}
_PATTERNS = ("whole operands", "single numbers", "along a dimension", "along a part of one")


def records(folders: Iterable[Path]) -> Iterator[dict[str, Any]]:
    """The lines of a campaign's files."""
    for folder in folders:
        for path in sorted(folder.glob("*.jsonl")):
            yield from map(json.loads, path.read_text().splitlines())


def digest(expansion: Expansion) -> str:
    """What decides how engines compute a graph but for its sizes, with what runs before, hashed."""
    parts = [*(each.expansion for each in expansion.preludes), expansion]
    return hashlib.sha256("\n".join(each.form for each in parts).encode()).hexdigest()[:16]


def _family(case: Case) -> str:
    return f"{case['main']} {case['parameters'].get('kind', '')}".strip()


def _pattern(case: Case) -> str:
    """The worst of a graph's operands, as engines see the dimensions of the result."""
    _, expansion = described(case, NO_GPU, prepared=False)
    found = {0}
    known = sides(expansion.nodes)
    for side in known:
        for spread in {side.spread(each).replace(".", "") for each in side.tensors}:
            found.add(3 if "x" in spread else 0 if "1" not in spread else 2 if "F" in spread else 1)
    for each in () if known else (*case["before"], *case["after"]):
        found.add(1 if set(each["dims"]) == {1} else 2 if 1 in each["dims"] else 0)
    return _PATTERNS[max(found)]


def _engine_and_kernel(choice: str) -> tuple[int, int | None]:
    """The engine of a recorded choice, and its value of ``kernel_cfg``."""
    engine, _, knobs = choice.partition(":")
    kernel = re.search(r"kernel_cfg=(\d+)", knobs)
    return int(engine.split()[1]), int(kernel[1]) if kernel else None


def _plans(found: dict[str, Any], version: int) -> Iterator[tuple[str, str, list[str]]]:
    """The plans that ran: the choice, what became of it, and the rows that rule it out."""
    target = Target(version, found.get("capability", 90), small=found.get("small", False))
    try:
        _, expansion = described(found["case"], target)
    except ValueError:  # no such graph is drawn any more
        return
    if found.get("form", digest(expansion)) != digest(expansion):
        return
    if len(expansion.preludes) != found["beforehand"]:
        return
    before, faults = (
        [faults_of(Graph(each.nodes, flattened(each.nodes)), target) for each in graphs]
        for graphs in ((each.expansion for each in expansion.preludes), (expansion,))
    )
    beforehand = [found.fault.name for each in before for found in each.found if found.refuses]
    for choice, verdict in found["engines"].items():
        kind = "lost" if "EXECUTION_FAILED" in verdict else verdict.partition(":")[0]
        if kind not in ("refused", "built"):
            rows = beforehand + [
                each.fault.name
                for each in faults[0].found
                if each.refuses
                or (each.has(*_engine_and_kernel(choice)) and not each.fault.only_told)
            ]
            yield choice, _KINDS.get(kind, "wrong"), rows
        if "EXECUTION_FAILED" in verdict:  # of all that comes after, too
            break


def _keep(found: dict[str, Any], engines: dict[str, str]) -> None:
    """Add what decides how a graph is judged again to `MEASURED`."""
    names = ("case", "cudnn", "capability", "small", "beforehand", "form")
    kept = {name: found[name] for name in names if name in found} | {"engines": engines}
    with MEASURED.open("a") as file:
        print(json.dumps(kept, separators=(",", ":")), file=file)


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tools.fuzz campaign",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--cudnn", type=int, default=91900)
    parser.add_argument("--save", action="store_true")
    parser.add_argument(
        "--keep", type=int, default=0, metavar="N", help="add graphs to those that are judged again"
    )
    options = parser.parse_args(arguments)
    counts: dict[tuple[str, str, str], Counter[str]] = {}
    by_row: dict[str, Counter[str]] = {}
    kept: Counter[tuple[str, str, str]] = Counter()
    bad = 0
    last = {
        (found.get("cudnn", options.cudnn), json.dumps(found["case"])): found
        for found in records(options.folders)
        if "beforehand" in found  # else no graph, or an error of the tool
    }
    for (version, _), found in last.items():
        plans = list(_plans(found, version))
        if not plans:
            continue
        case, release = found["case"], version_text(version)
        shown = {
            (release, row, kind) for _, kind, rows in plans for row in (rows or [_family(case)])
        }
        if any(kept[each] < options.keep for each in shown):
            kept.update(shown)
            _keep(found, {choice: kind for choice, kind, _ in plans})
        key = release, _family(case), _pattern(case)
        count = counts.setdefault(key, Counter())
        count["graphs"] += 1
        for choice, kind, rows in plans:
            count[f"ruled out, {kind}" if rows else kind] += 1
            for row in rows:
                by_row.setdefault(row, Counter())[kind] += 1
            if kind != "right" and not rows:
                bad += 1
                print(f"{kind}: {release}, {choice}: {json.dumps(found)}")
    total: Counter[str] = sum(counts.values(), Counter())
    for key, count in (*sorted(counts.items()), (("all", "", ""), total)):
        print(*key, sep=", ", end=": ")
        print(", ".join(f"{count[name]} {name}" for name in COLUMNS if count[name]))
    for row, count in sorted(by_row.items()):
        print(f"{row!r} rules out {count.total()} plans, of which {count['right']} are right")
    if options.save:
        rows = [[*key, *(count[name] for name in COLUMNS)] for key, count in counts.items()]
        counted = {each[0] for each in rows}
        rows += [each for each in json.loads(SAVED.read_text()) if each[0] not in counted]
        SAVED.write_text("[\n" + ",\n".join(map(json.dumps, sorted(rows))) + "\n]\n")
    return int(bad > 0)
