"""The results of a benchmark: as data, JSON, a table and a plot."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from ...graph.engines.explaining.tables import bytes_text
from ...raw.describe import aligned

if TYPE_CHECKING:
    from ...evidence.pictures.plots import Bar

__all__ = ["BenchResult", "BenchRow"]

COLUMNS = (
    "us",
    "spread",
    "TFLOP/s",
    "GB/s",
    "of limit",
    "workspace",
    "same bits",
    "tensor cores",
    "what",
)
_RIGHT = COLUMNS[:6]


@dataclass(frozen=True)
class BenchRow:
    """The measurement of one implementation.

    Attributes
    ----------
    what : str
        An engine of the graph API with its knobs, an algorithm of the legacy API, or PyTorch.
    api : {"graph", "legacy", "PyTorch"}
    median : float or None
        Microseconds; None if not timed.
    low, high : float or None
        The first and the third quartile.
    workspace : int or None
        Size in bytes.
    deterministic, tensor_cores : bool or None
        None if unknown.
    note : str
        The reason for not timing it, or not to the end.
    """

    what: str
    api: str
    median: float | None = None
    low: float | None = None
    high: float | None = None
    workspace: int | None = None
    deterministic: bool | None = None
    tensor_cores: bool | None = None
    note: str = ""


@dataclass(frozen=True)
class BenchResult:
    """The measurements of all implementations of a problem on one GPU; ``str`` gives a table.

    Attributes
    ----------
    problem : str
    gpu, cudnn, package : str
        The GPU, and the versions of cuDNN and of this package.
    rows : tuple of BenchRow
    flops, nbytes : int
        See `Work`.
    limit : float or None
        Microseconds that the GPU's peaks allow; see `Limits`.
    limit_source : str
    made : float
        Seconds since 1970.
    faults : mapping of str to str
        The known faults of cuDNN that concern the graph, as in `Explanation`.
    """

    problem: str
    gpu: str
    cudnn: str
    package: str
    rows: tuple[BenchRow, ...]
    flops: int
    nbytes: int
    limit: float | None
    limit_source: str
    made: float = field(default=0.0, compare=False)
    faults: Mapping[str, str] = field(default_factory=dict)

    @property
    def ranking(self) -> tuple[BenchRow, ...]:
        """The rows, the fastest first, rows without a time last."""
        return tuple(sorted(self.rows, key=lambda row: (row.median is None, row.median or 0)))

    @property
    def best(self) -> BenchRow | None:
        """cuDNN's fastest row; None without one."""
        timed = (row for row in self.ranking if row.median is not None and row.api != "PyTorch")
        return next(timed, None)

    def as_dict(self) -> dict[str, Any]:
        """The result as data for JSON, with the rates computed from the times."""
        rows = [{**asdict(row), **self._speeds(row)} for row in self.ranking]
        return {**asdict(self), "rows": rows}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> BenchResult:
        """The result from the output of `as_dict`.

        Raises
        ------
        KeyError, TypeError
            If a field is missing or unknown.
        """
        fields = BenchRow.__dataclass_fields__
        rows = tuple(
            BenchRow(**{name: row[name] for name in fields if name in row}) for row in data["rows"]
        )
        return cls(**{**data, "rows": rows})

    def _speeds(self, row: BenchRow) -> dict[str, float | None]:
        if not row.median:
            return {"tflops": None, "gbytes": None, "share": None}
        return {
            "tflops": self.flops / row.median / 1e6 if self.flops else None,
            "gbytes": self.nbytes / row.median / 1e3,
            "share": None if self.limit is None else self.limit / row.median,
        }

    def __str__(self) -> str:
        timed = [row for row in self.ranking if row.median is not None]
        others = [row for row in self.ranking if row.median is None]
        parts = ["\n".join(self._title())]
        if timed:
            parts.append(aligned([COLUMNS, *map(self._cells, timed)], _RIGHT))
        if others:
            columns = (*COLUMNS[5:], "note")
            cells = [(*self._cells(row)[5:], row.note) for row in others]
            parts.append(aligned([columns, *cells], ("workspace",)))
        return "\n\n".join(parts)

    def _title(self) -> Iterator[str]:
        yield f"{self.problem} on {self.gpu}, cuDNN {self.cudnn}"
        yield f"{self.flops / 1e9:,.3g} GFLOP, {self.nbytes / 1e6:,.3g} MB at least"
        if self.limit is None:
            yield f"no limit is known for this GPU and data type ({self.limit_source})"
        else:
            yield f"limit {self.limit:.3g} us: {self.limit_source}"
        yield from (f"known fault {name!r}: {told}" for name, told in self.faults.items())

    def _cells(self, row: BenchRow) -> tuple[str, ...]:
        speeds = self._speeds(row)
        tflops, gbytes, share = (speeds[name] for name in ("tflops", "gbytes", "share"))
        spread = None if row.high is None or row.low is None else row.high - row.low
        what = row.what if row.api == "PyTorch" else f"{row.api}: {row.what}"
        return (
            _number(row.median),
            _number(spread),
            _number(tflops),
            _number(gbytes),
            "-" if share is None else f"{share:.0%}",
            bytes_text(row.workspace),
            _yes_no(row.deterministic),
            _yes_no(row.tensor_cores),
            f"{what} ({row.note})" if row.median is not None and row.note else what,
        )

    def plot(self, ax: Any = None) -> Any:
        """The times as bars on axes of matplotlib.

        Raises
        ------
        ImportError
            If matplotlib is missing.
        """
        from ...evidence.pictures.plots import axes

        return axes(self._bars(), f"{self.problem}\n{self.gpu}, cuDNN {self.cudnn}", "us", ax)

    def _bars(self) -> Sequence[Bar]:
        from ...evidence.pictures.plots import Bar

        return [
            Bar(
                f"{row.api}: {row.what}" if row.api != "PyTorch" else row.what,
                row.median if row.low is None else row.low,
                row.median,
                row.median if row.high is None else row.high,
                "best" if row is self.best else "pale" if row.api == "PyTorch" else "",
            )
            for row in self.ranking
            if row.median is not None
        ]


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:,.1f}"


def _yes_no(value: bool | None) -> str:
    return "?" if value is None else "yes" if value else "no"
