"""The result of a judge: as data, as plain text, and as a table for a terminal."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..explaining.report import Report, Table, spans
from .verdict import WRONG, Verdict

_COLUMNS = ("engine", "knobs", "verdict", "error", "allowed", "where", "same bits", "us", "from")
_NARROW = ("engine", "knobs", "verdict", "error", "same bits", "us")
_NUMBERS = ("engine", "error", "allowed", "us")
_STYLES = {"right": "green", "inexact": "yellow", "refused": "dim"}


@dataclass(frozen=True)
class Judgement(Report):
    """The result of `Graph.judge`; ``str`` gives a table, `show` prints it.

    - `graph`, `operations`, `device`, `cudnn`: the graph's name, its operations, the GPU, and the
      version of cuDNN.
    - `form`: the graph's form, by which verdicts are kept.
    - `verdicts`: one for each engine config. Iterating gives these too.
    - `data`: the kinds of numbers that the configs were executed with.
    - `seconds`: what all took.
    """

    graph: str
    operations: str
    device: str
    cudnn: str
    form: str
    verdicts: tuple[Verdict, ...]
    data: tuple[str, ...] = ()
    seconds: float = 0.0

    def __iter__(self) -> Iterator[Verdict]:
        return iter(self.verdicts)

    def __len__(self) -> int:
        return len(self.verdicts)

    @property
    def right(self) -> tuple[Verdict, ...]:
        """Verdicts on configs that are right, or inexact with numbers that are hard."""
        return tuple(each for each in self.verdicts if each.state in ("right", "inexact"))

    @property
    def wrong(self) -> tuple[Verdict, ...]:
        """Verdicts on configs that must not be taken."""
        return tuple(each for each in self.verdicts if each.state in WRONG)

    def as_dict(self) -> dict[str, Any]:
        """For JSON; numbers that are not finite are text."""
        told: dict[str, Any] = {**self.__dict__, "data": list(self.data)}
        told["verdicts"] = [_plain(each.as_dict()) for each in self.verdicts]
        return told

    def _title(self) -> str:
        configs = len(self._executed)
        return (
            f"{self.graph!r} on {self.device}, cuDNN {self.cudnn}: {self.operations}\n"
            f"{configs} engine config{'' if configs == 1 else 's'} executed with "
            f"{', '.join(self.data)} numbers in {self.seconds:.1f} s: {len(self.right)} right, "
            f"{len(self.wrong)} wrong"
        )

    def _tables(self) -> list[Table]:
        rows = [_cells(each) for each in self._executed]
        styles = [_STYLES.get(each.state, "red") for each in self._executed]
        return [Table(_COLUMNS, rows, _NUMBERS, _NARROW, styles)]

    def _lines(self) -> list[str]:
        return _reasons(self.verdicts)

    @property
    def _executed(self) -> list[Verdict]:
        return [each for each in self.verdicts if each.state != "refused"]


def _cells(each: Verdict) -> list[str]:
    where = f"{each.tensor}{list(each.index)}" if each.tensor else "-"
    tensor = bool(each.tensor) and each.state != "ended"
    return [
        str(each.engine),
        " ".join(f"{name}={value}" for name, value in each.knobs.items()) or "-",
        each.state,
        f"{each.error:.1e}" if tensor else "-",
        f"{each.allowed:.1e}" if tensor else "-",
        f"{where}, {each.data}" if tensor else "-",
        "-" if each.same_bits is None else "yes" if each.same_bits else "no",
        "-" if each.median is None else f"{each.median:.1f}",
        each.source,
    ]


def _reasons(verdicts: Sequence[Verdict]) -> list[str]:
    """Lines: why configs are not right, and which known faults say that they are not."""
    lines = []
    left: dict[str, set[int]] = {}
    for each in verdicts:
        if each.state == "refused":
            left.setdefault(f"refused: {each.told}", set()).add(each.engine)
        elif each.told:
            lines.append(f"{each.choice} {each.state}: {each.told}")
    for each in verdicts:
        if each.known:
            left.setdefault(f"passed over by builds: {each.known}", set()).add(each.engine)
    lines += [f"{spans(sorted(engines))} {told}" for told, engines in left.items()]
    return lines


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value
