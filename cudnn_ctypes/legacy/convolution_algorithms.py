"""A convolution in one direction: its algorithms, what they need, and tables of them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from ctypes import c_int
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

from .. import raw
from ..arguments import enumerator, expect, items
from ..dtypes import data_type_name
from ..errors import NotSupportedError
from ..handle import Handle
from ..raw import operand_rules
from ..raw.ctypes_support import CudnnEnum, short_name
from ..raw.describe import aligned
from ..raw.function import Function
from ..raw.records import NOTHING, Entry
from ..runtime import DeviceBuffer, OutOfDeviceMemoryError
from ..runtime.allocation import readable
from ..runtime.launching.likeness import Look, look_at_descriptors
from .convolution import ConvolutionDescriptor
from .descriptor import number
from .operands import AnyDescriptor, Operands, room
from .tensor import FilterDescriptor, TensorDescriptor

if TYPE_CHECKING:
    from rich.table import Table


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
            readable(self.memory).partition(" (")[0].removesuffix(" bytes") if self.usable else "",
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
        wanted = "most want x, w and y in one data type and one layout"
        if re.search(r"\bint8\b", types):
            wanted = "int8 wants compute_data_type int32, NHWC, and channels in multiples of 4"
        return f"no algorithm takes these operands together{types}: {wanted}"

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


_ONE_WAY = (
    "reference device: NumPy computes all of these in one way and time; their order\n"
    "and statuses are cuDNN 9.19's on an H200, the workspaces are nominal"
)


class ConvolutionAlgorithms:
    """Base of the directions. A subclass is a dataclass of four descriptors in C's order.

    Operands have the names of their descriptors: x for ``x_desc``; the last one is the result.
    """

    direction: ClassVar[str]
    """In the names of C's functions, all of which take the descriptors in the same order."""

    _looked: tuple[list[Entry], Look] = [NOTHING], (None, None)
    """The last result of `_look`, and the places of the records that it depends on."""

    def __post_init__(self) -> None:
        """Refuse descriptors that are not of their kind, or do not fit together."""
        named = {name.removeprefix("d"): name for name in self._names}
        x, w, y = (named[role] for role in "xwy")
        expect(f"{x}_desc", self._desc(x), TensorDescriptor)
        expect(f"{w}_desc", self._desc(w), FilterDescriptor)
        expect("conv", self.descriptors[2], ConvolutionDescriptor)
        expect(f"{y}_desc", self._desc(y), TensorDescriptor)
        launch = self._function("{}")
        in_c = [each.name for each in launch.parameters if each.name.endswith("Desc")]
        first, second, result = self._names
        called = dict(zip(in_c, (first, second, "conv", result), strict=True))
        operand_rules.check(launch, dict(zip(in_c, self.descriptors, strict=True)), called)

    def _function(self, name: str) -> Function:
        """The C function of this direction that has such a name."""
        return raw.FUNCTIONS["cudnn" + name.format(self.direction)]

    @property
    def descriptors(self) -> tuple[AnyDescriptor, AnyDescriptor, ConvolutionDescriptor, Any]:
        """The four descriptors in C's order."""
        first, second, conv, result = self.__getstate__().values()
        return first, second, conv, result

    @property
    def _names(self) -> list[str]:
        """The operands in C's order, the result last."""
        return [name.removesuffix("_desc") for name in self.__getstate__() if name != "conv"]

    def __getstate__(self) -> dict[str, Any]:
        """The fields: also what is copied and pickled."""
        return {name: value for name, value in vars(self).items() if name != "_looked"}

    def _look(self, launcher: Any) -> Look:
        """For the keys of launches (see `likeness`): remembered until a descriptor changes."""
        places, look = self._looked
        for place in places:
            if place.token is None:
                look = look_at_descriptors(self, launcher)
                places = [each._place for each in self.descriptors]
                if look[0] == (type(self), *[each.token for each in places]):
                    vars(self)["_looked"] = places, look
                break
        return look

    def _desc(self, name: str) -> AnyDescriptor:
        desc: AnyDescriptor = getattr(self, f"{name}_desc")
        return desc

    def _operands(self, handle: Handle, operands: dict[str, Any]) -> Operands:
        names = self._names
        if sorted(operands) != sorted(names):
            raise TypeError(
                f"operands: expected {', '.join(names)} by name, got "
                f"{', '.join(operands) or 'none'}"
            )
        return Operands(handle, **{name: (operands[name], self._desc(name)) for name in names})

    # -- asking --------------------------------------------------------------------------------

    def max_algorithm_count(self, handle: Handle) -> int:
        """How many rows a query can have; follows ``cudnnGet…AlgorithmMaxCount``."""
        return number(self._function("Get{}AlgorithmMaxCount"), handle)

    def algorithms(self, handle: Handle) -> AlgorithmTable:
        """All algorithms in the order of the time that a heuristic expects of them.

        Nothing is run, nothing timed. Follows ``cudnnGet…Algorithm_v7``.
        """
        return self._query(self._function("Get{}Algorithm_v7"), handle, self.descriptors)

    def find(self, handle: Handle) -> AlgorithmTable:
        """All algorithms, timed one after another on memory that cuDNN allocates; slow.

        Follows ``cudnnFind…Algorithm``.
        """
        return self._query(self._function("Find{}Algorithm"), handle, self.descriptors)

    def find_ex(self, handle: Handle, *, workspace: Any = None, **operands: Any) -> AlgorithmTable:
        """All algorithms, timed on memory of yours; follows ``cudnnFind…AlgorithmEx``.

        Parameters
        ----------
        workspace : DeviceBuffer or tensor, optional
            Algorithms that need more are not timed. Default: the largest that `algorithms` names
            and that can be allocated.
        **operands
            By their names, as for `run`. The result is overwritten.
        """
        with self._operands(handle, operands) as imported:
            return self._timed(
                handle, imported, workspace, imported.memory(self._names[2], written=True)
            )

    def _timed(
        self, handle: Handle, operands: Operands, workspace: Any, result: Any
    ) -> AlgorithmTable:
        first, second, _ = map(operands.memory, self._names)
        first_desc, second_desc, conv, result_desc = self.descriptors
        arguments = (first_desc, first, second_desc, second, conv, result_desc, result)
        with self._room(handle, workspace) as space:
            return self._query(self._function("Find{}AlgorithmEx"), handle, arguments, space)

    @contextmanager
    def _room(self, handle: Handle, workspace: Any) -> Iterator[tuple[Any, int]]:
        """The workspace of a search, and its size; it is allocated if it is None."""
        if workspace is not None:
            yield room("workspace", workspace, 0, handle)
            return
        sizes = {row.memory for row in self.algorithms(handle) if row.usable} | {0}
        for size in sorted(sizes, reverse=True):
            with suppress(OutOfDeviceMemoryError):
                own = DeviceBuffer(size, device=handle.device, stream=handle.stream)
                break
        with own:
            yield room("workspace", own, 0, handle)

    def _query(
        self,
        function: Function,
        handle: Handle,
        operands: tuple[Any, ...],
        workspace: tuple[Any, ...] = (),
    ) -> AlgorithmTable:
        returned = c_int()
        (kind,) = (each.type.base for each in function.parameters if each.name == "perfResults")
        rows = (kind * self.max_algorithm_count(handle))()
        function(handle, *operands, len(rows), returned, rows, *workspace)
        found = map(AlgorithmRow.of, rows[: returned.value])
        note = _ONE_WAY if handle.on_reference_device else ""
        return AlgorithmTable(found, function.__name__, self._types(), note)

    def _types(self) -> str:
        """Data types and layouts by the operands' names: x float32 NCHW, w float16 NHWC, ..."""
        descriptors = {name: self._desc(name) for name in self._names}
        named = [
            f"{name} {data_type_name(each.data_type)} {each.layout or 'with strides'}"
            for name, each in descriptors.items()
        ]
        computed = data_type_name(self.descriptors[2].compute_data_type)
        return f"{', '.join(named)}; computed in {computed}"

    def workspace_size(self, handle: Handle, algorithm: Any) -> int:
        """Bytes of workspace that an algorithm needs; follows ``cudnnGet…WorkspaceSize``.

        Parameters
        ----------
        algorithm : AlgorithmRow, enumerator or str
            A row also stands for its math type.
        """
        with Operands(handle) as operands:
            return self._workspace_size(handle, *self._parts(operands, algorithm))

    def _workspace_size(
        self, handle: Handle, conv: ConvolutionDescriptor, algorithm: CudnnEnum
    ) -> int:
        first, second, _, result = self.descriptors
        given = (first, second, conv, result, algorithm)
        return number(self._function("Get{}WorkspaceSize"), handle, *given)

    def _parts(self, operands: Operands, algorithm: Any) -> tuple[ConvolutionDescriptor, CudnnEnum]:
        """The convolution, with the math type of a row, and the enumerator of an algorithm."""
        conv, parameters = self.descriptors[2], self._function("{}").parameters
        (cls,) = (each.type.base for each in parameters if each.name == "algo")
        if not isinstance(algorithm, AlgorithmRow):
            return conv, enumerator(cls, algorithm, "algorithm")
        if algorithm.math_type != conv.math_type:
            like = {**conv._arguments(), "math_type": algorithm.math_type}
            conv = operands.enter_context(ConvolutionDescriptor(**like))
        return conv, enumerator(cls, algorithm.algorithm, "algorithm")
