"""Files of benchmark results by GPU and problem, and the comparison of runs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from ...graph.engines.cache.location import standard_folder
from ...raw.describe import aligned
from .results import BenchResult

__all__ = ["History", "compared", "default_folder"]

_RIGHT = ("us", "now")


def default_folder() -> Path:
    """The default folder of results, beside the plan cache's.

    Raises
    ------
    ValueError
        If the user has no home, or an environment variable has an unknown value.
    """
    return standard_folder().parent / "bench"


class History:
    """A file with the results of one problem on one GPU, oldest first, as lines of JSON.

    Parameters
    ----------
    folder : Path
    problem, gpu : str
    """

    def __init__(self, folder: Path, problem: str, gpu: str) -> None:
        code = hashlib.sha256(problem.encode()).hexdigest()[:12]
        self.path: Path = folder / _plain(gpu) / f"{_plain(problem)[:60]}-{code}.jsonl"

    def results(self) -> list[BenchResult]:
        """All readable results; damaged lines are left out."""
        return list(self._read())

    def _read(self) -> Iterator[BenchResult]:
        try:
            lines = self.path.read_text().splitlines()
        except OSError:
            return
        for line in lines:
            try:
                yield BenchResult.from_dict(json.loads(line))
            except (ValueError, KeyError, TypeError, AttributeError):
                continue

    def keep(self, result: BenchResult) -> None:
        """Append a result.

        Raises
        ------
        OSError
            If the file cannot be written.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        line = json.dumps(result.as_dict(), separators=(",", ":")) + "\n"
        file = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(file, line.encode())  # one write: other processes may append, too
        finally:
            os.close(file)


def compared(results: Sequence[BenchResult]) -> str:
    """A table of each run's fastest row, and of the changes between the last two runs.

    Parameters
    ----------
    results : sequence of BenchResult
        The results of one problem on one GPU, the oldest first.
    """
    rows = []
    for result in results:
        best = result.best
        when = time.strftime("%Y-%m-%d %H:%M", time.localtime(result.made))
        fastest = "-" if best is None or best.median is None else f"{best.median:,.1f}"
        what = "nothing was timed" if best is None else f"{best.api}: {best.what}"
        rows.append((when, result.cudnn, result.package, fastest, what))
    parts = [aligned([("when", "cuDNN", "package", "us", "fastest"), *rows], _RIGHT)]
    if len(results) > 1 and (changes := list(_changes(results[-2], results[-1]))):
        head = f"changes beyond the spread, cuDNN {results[-2].cudnn} to {results[-1].cudnn}"
        table = aligned([("us", "now", "change", "what"), *changes], (*_RIGHT, "change"))
        parts.append(f"{head}\n{table}")
    elif len(results) > 1:
        parts.append("no change beyond the spread since the run before")
    return "\n\n".join(parts)


def _changes(before: BenchResult, after: BenchResult) -> Iterator[tuple[str, str, str, str]]:
    """The rows in both results whose quartiles do not overlap; the largest change first."""
    old = {(row.api, row.what): row for row in before.rows}
    found = []
    for row in after.rows:
        other = old.get((row.api, row.what))
        if other is None or not (row.median and other.median):
            continue
        apart = (row.low or row.median) > (other.high or other.median) or (
            other.low or other.median
        ) > (row.high or row.median)
        if apart:
            found.append((row.median / other.median, other.median, row.median, row))
    for ratio, then, now, row in sorted(found, key=lambda each: -abs(each[0] - 1)):
        yield f"{then:,.1f}", f"{now:,.1f}", f"{ratio - 1:+.0%}", f"{row.api}: {row.what}"


def _plain(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9.]+", "-", text).strip("-.") or "unnamed"
