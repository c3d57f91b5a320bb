"""Statistics of calls by C function."""

from __future__ import annotations

from collections.abc import Iterable

from ..raw.describe import aligned
from .call_records import CallRecord

__all__ = ["Sums", "statistics"]


class Sums:
    """Calls, failures and times by C function; `add` adds one call."""

    def __init__(self) -> None:
        self._sums: dict[str, list[float]] = {}

    def add(self, call: CallRecord) -> None:
        sums = self._sums.setdefault(call.function, [0, 0, 0.0, 0.0])
        sums[0] += 1
        sums[1] += call.failed
        sums[2] += call.seconds
        sums[3] = max(sums[3], call.seconds)

    def __str__(self) -> str:
        """A table, the slowest function first; times are the host's."""
        rows = sorted(self._sums.items(), key=lambda item: -item[1][2])
        whole = sum(sums[2] for _, sums in rows)
        cells: list[tuple[str, ...]] = [
            ("function", "calls", "failed", "total ms", "mean ms", "max ms", "share")
        ]
        for name, (calls, failed, total, longest) in rows:
            times = [f"{1e3 * each:.3f}" for each in (total, total / calls, longest)]
            share = f"{total / whole:.0%}" if whole else ""
            cells.append((name, f"{calls:.0f}", f"{failed:.0f}", *times, share))
        count = sum(sums[0] for _, sums in rows)
        failures = sum(sums[1] for _, sums in rows)
        cells.append(("all", f"{count:.0f}", f"{failures:.0f}", f"{1e3 * whole:.3f}", "", "", ""))
        return aligned(cells, right=cells[0][1:])


def statistics(calls: Iterable[CallRecord]) -> str:
    """The table of the statistics of `calls`."""
    sums = Sums()
    for call in calls:
        sums.add(call)
    return str(sums)
