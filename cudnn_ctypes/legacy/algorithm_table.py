"""The answer to an algorithm query: a table of algorithms, and the choice of one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from .. import raw
from ..arguments import items
from ..errors import NotSupportedError
from ..raw.ctypes_support import CudnnEnum
from ..raw.describe import aligned
from .enumerators import short_name

if TYPE_CHECKING:
    from rich.table import Table

__all__ = ["AlgorithmRow", "AlgorithmTable"]


@dataclass(frozen=True)
class AlgorithmRow:
    """One algorithm of a query's answer.

    For an example see `AlgorithmTable`.

    Attributes
    ----------
    algorithm : cudnnConvolutionFwdAlgo_t, …BwdDataAlgo_t or …BwdFilterAlgo_t
    status : cudnnStatus_t
        Success if it can be used.
    time : float or None
        Milliseconds, None if it was not timed: by the heuristics (``…_v7``), or as it failed.
        (cuDNN says -1, which as a number would make the first of them "the fastest".)
    memory : int
        Bytes of workspace.
    determinism : cudnnDeterminism_t
        Whether repeated runs give the same bits.
    math_type : cudnnMathType_t
        What the convolution's math type must be for this row to hold.
    """

    algorithm: CudnnEnum
    status: raw.cudnnStatus_t
    time: float | None
    memory: int
    determinism: raw.cudnnDeterminism_t
    math_type: raw.cudnnMathType_t

    @classmethod
    def of(cls, perf: Any) -> AlgorithmRow:
        """From one of C's ``cudnnConvolution…AlgoPerf_t``.

        Parameters
        ----------
        perf : cudnnConvolutionFwdAlgoPerf_t or its backward twins
            An entry that cuDNN wrote.
        """
        return cls(
            algorithm=perf.algo,
            status=perf.status,
            time=perf.time if perf.time >= 0 else None,
            memory=perf.memory,
            determinism=perf.determinism,
            math_type=perf.mathType,
        )

    @property
    def usable(self) -> bool:
        """Whether the status is success."""
        return self.status == raw.CUDNN_STATUS_SUCCESS

    @property
    def deterministic(self) -> bool:
        """Whether repeated runs give the same bits."""
        return self.determinism == raw.CUDNN_DETERMINISTIC

    def cells(self) -> tuple[str, ...]:
        """The row as text, for a table with the columns of `AlgorithmTable.COLUMNS`."""
        return (
            short_name(self.algorithm),
            short_name(self.status),
            ("not timed" if self.time is None else f"{self.time:.4f} ms") if self.usable else "",
            readable_size(self.memory) if self.usable else "",
            ("yes" if self.deterministic else "no") if self.usable else "",
            short_name(self.math_type).removesuffix("_math"),
        )


class AlgorithmTable(Sequence[AlgorithmRow]):
    """The rows that an algorithm query returned, in cuDNN's order: the best ones first.

    A sequence of `AlgorithmRow`. It prints as a table, and as a coloured one with rich.

    Parameters
    ----------
    rows : iterable of AlgorithmRow
    source : str
        C name of the query.
    types : str
        The data types and layouts that were asked about, for messages.
    note : str
        What a reader of the table must know, printed below its title.

    Examples
    --------
    >>> x_desc, w_desc = TensorDescriptor((1, 4, 8, 8)), FilterDescriptor((8, 4, 3, 3))
    >>> with Handle() as handle, ConvolutionDescriptor(1) as conv:
    ...     problem = ConvolutionForward(x_desc, w_desc, conv, TensorDescriptor((1, 8, 8, 8)))
    ...     table = problem.algorithms(handle)
    >>> table[0].status.name
    'CUDNN_STATUS_SUCCESS'
    """

    COLUMNS = ("algorithm", "status", "time", "workspace", "deterministic", "math")

    def __init__(
        self, rows: Iterable[AlgorithmRow], source: str, types: str = "", note: str = ""
    ) -> None:
        self._rows = items("rows", rows, "rows of the table")
        self.source = source
        self.types = types
        self.note = note

    @overload
    def __getitem__(self, index: int) -> AlgorithmRow: ...
    @overload
    def __getitem__(self, index: slice) -> AlgorithmTable: ...
    def __getitem__(self, index: int | slice) -> AlgorithmRow | AlgorithmTable:
        if isinstance(index, slice):
            return AlgorithmTable(self._rows[index], self.source, self.types, self.note)
        return self._rows[index]

    def __len__(self) -> int:
        return len(self._rows)

    def choose(
        self, memory_limit: int | None = None, deterministic: bool | None = None
    ) -> AlgorithmRow:
        """The first row that can be used within the limits.

        cuDNN sorts its answers: a heuristic query by the time it expects, a search by the time it
        measured. The times themselves are not looked at.

        Parameters
        ----------
        memory_limit : int, optional
            Largest workspace, in bytes. 0 asks for an algorithm that needs none.
        deterministic : bool, optional
            True leaves only algorithms whose repeated runs give the same bits.

        Raises
        ------
        NotSupportedError
            If no row fits; the message says for each of them why.
        """
        reasons: list[str] = []
        for row in self._rows:
            reason = _objection(row, memory_limit, deterministic)
            if reason is None:
                return row
            reasons.append(f"{short_name(row.algorithm)} ({short_name(row.math_type)}): {reason}")
        raise NotSupportedError(
            self.source,
            raw.CUDNN_STATUS_NOT_SUPPORTED,
            messages=reasons or ["cuDNN returned no algorithm at all"],
            source="cudnn_ctypes",
            hint=self._advice(deterministic),
        )

    def _advice(self, deterministic: bool | None) -> str:
        needs = [row.memory for row in self._rows if _objection(row, None, deterministic) is None]
        if needs:
            return f"the smallest workspace that would do has {min(needs)} bytes"
        if any(row.usable for row in self._rows):
            return "only algorithms that are not deterministic can do this"
        types = f" ({self.types})" if self.types else ""
        return (
            f"no algorithm takes these operands together{types}: most want x, w and y in one data "
            f"type and one layout"
        )

    def __repr__(self) -> str:
        table = aligned([self.COLUMNS, *(row.cells() for row in self._rows)])
        return f"{self._title}\n{table}"

    @property
    def _title(self) -> str:
        return "\n".join(filter(None, [self.source, self.note]))

    def __rich__(self) -> Table:
        from rich import box
        from rich.table import Table

        table = Table(title=self._title, title_justify="left", box=box.SIMPLE, show_edge=False)
        table.padding = (0, 1, 0, 0)  # 80 columns in all
        table.min_width = max(map(len, self._title.splitlines()))  # or rich breaks its lines
        for name in self.COLUMNS:
            table.add_column(name.replace("deterministic", "same\nbits"), no_wrap=True)
        for row in self._rows:
            table.add_row(*row.cells(), style=None if row.usable else "dim")
        return table


def _objection(
    row: AlgorithmRow, memory_limit: int | None, deterministic: bool | None
) -> str | None:
    if not row.usable:
        return row.status.name
    if memory_limit is not None and row.memory > memory_limit:
        return f"needs a workspace of {row.memory} bytes, more than {memory_limit}"
    if deterministic and not row.deterministic:
        return "not deterministic"
    return None


def readable_size(nbytes: int) -> str:
    """A number of bytes for people: "0", "1.5 KiB"."""
    if nbytes < 1024:
        return str(nbytes)
    power = min((nbytes.bit_length() - 1) // 10, 4)
    return f"{nbytes / 1024**power:.1f} {('KiB', 'MiB', 'GiB', 'TiB')[power - 1]}"
