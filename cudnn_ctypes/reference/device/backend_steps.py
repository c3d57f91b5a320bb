"""One operation of a graph, as its implementation sees it; and the table of implementations."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar, cast

import numpy as np

from ... import raw
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from ..graph import reshape
from ..tiles import Array, overlap, tiled
from .backend_memory import GraphMemory
from .backend_records import BOOLEANS, Record, TensorInfo, assign, rounded, tensor_info, widened
from .registry import Refused, bad_param, execution_failed, not_supported

Results = Mapping[str, Any]
Options = TypeVar("Options")
Values = dict[int, tuple[TensorInfo, Array]]
_FLOATS, _INTS = {raw.CUDNN_DATA_FLOAT}, {raw.CUDNN_DATA_INT32}
Overrides = Mapping[int, tuple[tuple[int, ...], tuple[int, ...]]]


@dataclass(frozen=True)
class Operation:
    """The implementation of operations of one descriptor type.

    - `prefix`: the prefix of its attributes' names: "OPERATION_MATMUL".
    - `outputs`: a function of a step; its result is the ports that it writes.
    - `compute`: a function of a step; its result is the arrays by port.
    """

    prefix: str
    outputs: Callable[[Step], tuple[str, ...]]
    compute: Callable[[Step], Results]


_OPERATIONS: list[Operation] = []


def operation(
    prefix: str, outputs: str | Callable[[Step], tuple[str, ...]]
) -> Callable[[Callable[[Step], Results]], Callable[[Step], Results]]:
    """Register the implementation of operations with this prefix, and the ports they write."""

    def register(compute: Callable[[Step], Results]) -> Callable[[Step], Results]:
        names = (lambda step: tuple(outputs.split())) if isinstance(outputs, str) else outputs
        _OPERATIONS.append(Operation(prefix, names, compute))
        # The longest first: OPERATION_MOE_GROUPED_MATMUL_BWD before OPERATION_MOE_GROUPED_MATMUL.
        _OPERATIONS.sort(key=lambda each: -len(each.prefix))
        return compute

    return register


def refuse(reason: str) -> Refused:
    """The refusal of an operation that the reference device does not implement."""
    return not_supported(f"the reference device: {reason}")


def operation_of(record: Record) -> Operation:
    """How the operation of a descriptor is carried out.

    Raises Refused NOT_SUPPORTED, if the reference device does not carry it out.
    """
    names = [name.name.removeprefix("CUDNN_ATTR_") for name in record.values]
    for each in _OPERATIONS:
        if any(name.startswith(each.prefix + "_") for name in names):
            return each
    raise refuse(f"{record.kind.name if record.kind else 'an operation'} is not carried out")


class Step:
    """An operation descriptor with the values of its operands.

    Ports are attributes with tensors, without the operation's prefix: "XDESC".

    - `record`: the operation's descriptor.
    - `values`: the tensors read or computed so far and their numbers, by unique id.
    - `overrides`: dims and strides that replace the descriptors', by unique id.
    """

    def __init__(
        self, record: Record, memory: GraphMemory, values: Values, overrides: Overrides
    ) -> None:
        self.record = record
        self.operation: Operation = operation_of(record)
        self.memory = memory
        self.values = values
        self.overrides = overrides
        self.last = False  # True for the graph's last step: no later step reads memory
        self.attends = False  # it is part of attention
        self.summands: Container[int] = ()  # unique ids of results that are added to others
        self.within: list[tuple[TensorInfo, Array]] = []  # results of operations that it holds
        self.starts: tuple[int, ...] = (0, 0, 0, 0)  # of a part, along each axis
        self._tensors: dict[Record, TensorInfo] = {}
        self._ports: dict[str, TensorInfo | None] = {}
        self._options: dict[Callable[[Step], Any], Any] = {}

    @property
    def name(self) -> str:
        return self.operation.prefix.removeprefix("OPERATION_").lower()

    def beside(self, record: Record) -> Step:
        """A step for an operation in this operation's subgraph."""
        return Step(record, self.memory, self.values, self.overrides)

    def part(self, values: Values, overrides: Overrides, summands: Container[int]) -> Step:
        """The step for a part of its tensors; results with `summands` ids are not rounded yet."""
        step = Step(self.record, self.memory, values, overrides)
        step.attends, step.summands = self.attends, summands
        return step

    # --- operands --------------------------------------------------------------------------------

    def __getitem__(self, port: str) -> Array:
        """The numbers of an operand."""
        return widened(self.elements(self.tensor(port)))

    def get(self, port: str) -> Array | None:
        """The numbers of an operand; None without the operand."""
        info = self.find(port)
        return None if info is None else widened(self.elements(info))

    def number(self, port: str, default: float = 0.0) -> float:
        """The only number of an operand."""
        found = self.get(port)
        return default if found is None else float(found.ravel()[0])

    def lengths(self, side: str, limit: int) -> Array | None:
        """How many tokens each sequence has, (b, 1, 1, 1), of "Q" or "KV"; None if all `limit`."""
        sums = self.get(f"CU_SEQ_LEN_{side}DESC")
        if sums is None:
            return self.sizes(f"SEQ_LEN_{side}DESC", limit)
        return self._within(f"CU_SEQ_LEN_{side}DESC", np.diff(sums, axis=0), limit)

    def sizes(self, port: str, limit: int) -> Array | None:
        """An operand that says how many of `limit` elements each batch has, if it is set."""
        found = self.get(port)
        return None if found is None else self._within(port, found, limit)

    def _within(self, port: str, sizes: Array, limit: int) -> Array:
        """`sizes`, if none is beyond the operand."""
        if np.any((sizes < 0) | (sizes > limit)):
            raise execution_failed(
                f"{self.name}: {self.tensor(port).name} gives the lengths "
                f"{sizes.ravel().astype(int).tolist()}; expected 0 to {limit}, its size"
            )
        return sizes

    def listed(self, port: str) -> list[Array]:
        """The operands of a list."""
        return [widened(self.elements(self._info(each))) for each in self._descriptors(port)]

    def stored(self, port: str) -> Array:
        """An operand in its data type."""
        return self.elements(self.tensor(port))

    def moved(self, port: str) -> Array:
        """An operand whose elements only move: in its data type if the result has that too."""
        same = self.tensor(port).data_type == self.tensor("YDESC").data_type
        return self.stored(port) if same else self[port]

    def by_elements(
        self,
        formula: Callable[..., Array],
        ports: Iterable[str],
        port: str,
        *,
        narrow: bool = False,
    ) -> Array:
        """The result at `port` of an element-wise formula.

        The formula receives the operands at `ports` in float64; a `narrow` formula receives float32
        if all operands are, or int32 to compare. As `out` it receives memory for the result, which
        it may use, or None. The result of the last operation is computed in its memory.
        """
        found = [info for each in ports if (info := self.find(each)) is not None]
        operands = [self.elements(info) for info in found]
        shape = np.broadcast_shapes(*(x.shape for x in operands))
        target = self.tensor(port)
        types = {info.data_type for info in (*found, target)}
        numbers = types - BOOLEANS
        narrow = narrow and (numbers == _FLOATS or (numbers == _INTS and numbers != types))
        number = np.asarray if narrow else widened
        direct = narrow or target.dtype in (np.float32, np.float64)
        y = self.memory_for(port, shape, *operands)

        def tile(y: Array, *parts: Array) -> None:
            result = formula(*map(number, parts), out=y if direct else None)
            if result is not y:
                assign(y, result, target)

        with np.errstate(all="ignore"):
            tiled(
                tile,
                y,
                *(x.reshape((1,) * (y.ndim - x.ndim) + x.shape) for x in operands),
                growth=1 / 2 if narrow else 1,
            )
        return y

    def memory_for(self, port: str, shape: tuple[int, ...], *operands: Array) -> Array:
        """An array for a result: its own memory, if no later step or element reads that."""
        target = self.tensor(port)
        if self.last and not target.virtual:
            y = self.memory.place(target)
            if y is not None and y.shape == shape and not any(overlap(y, x) for x in operands):
                return y
        return np.empty(shape, target.dtype)

    def elements(self, info: TensorInfo) -> Array:
        """The numbers of a tensor, in its data type."""
        made, values = self.values[info.uid]
        if (made.dims, made.strides) == (info.dims, info.strides):
            return values
        # Another view of the same memory: transposed, say.
        return reshape(values, made.strides, info.dims, info.strides)

    def scaled(self, port: str, result: Array, alpha: float = 1.0, beta: float = 0.0) -> Array:
        """alpha * result + beta * (the output's previous contents); not read if beta is 0."""
        result = result if alpha == 1 else alpha * result
        return result + beta * widened(self.memory.load(self.tensor(port))) if beta else result

    def tensor(self, port: str) -> TensorInfo:
        info = self.find(port)
        if info is None:
            raise bad_param(f"{self.name}: {port} is not set")
        return info

    def find(self, port: str) -> TensorInfo | None:
        if port not in self._ports:
            found = self._descriptors(port)
            self._ports[port] = self._info(found[0]) if found else None
        return self._ports[port]

    def shape(self, port: str) -> tuple[int, ...]:
        """The shape of a result that the operands do not determine."""
        info = self.tensor(port)
        if not self.knows_shape(info):
            raise self.refused("its result is virtual, and with other shapes its own is not known")
        return info.shape

    def knows_shape(self, info: TensorInfo) -> bool:
        """Whether a result has its own dims: with overridden operands virtual results have not."""
        return not (info.virtual and self.overrides) or info.uid in self.overrides

    def _info(self, record: Record) -> TensorInfo:
        info = self._tensors.get(record)
        if info is None:
            info = tensor_info(record)
            if info.uid in self.overrides:
                dims, strides = self.overrides[info.uid]
                info = dataclasses.replace(info, dims=dims, strides=strides)
            if info.uid in self.summands:
                info = dataclasses.replace(info, data_type=raw.CUDNN_DATA_DOUBLE)
            self._tensors[record] = info
        return info

    def _descriptors(self, port: str) -> tuple[Record, ...]:
        found = self.record.all(self._attribute(port))
        if any(each is None for each in found):
            raise refuse(f"{self.name}: {port} was made before it was used")
        return found

    @functools.cached_property
    def reads(self) -> list[TensorInfo]:
        """The tensors that it reads."""
        written = {self._attribute(port) for port in self.operation.outputs(self)}
        tensors = []
        for name, (type_, found) in self.record.values.items():
            if type_ == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR and name not in written:
                for each in found:
                    if each is None:
                        raise refuse(f"{self.name}: {name.name} was made before it was used")
                    if Name.CUDNN_ATTR_TENSOR_DIMENSIONS in each.values:
                        tensors.append(self._info(each))
        return tensors

    @functools.cached_property
    def writes(self) -> list[tuple[str, TensorInfo]]:
        """The ports that it writes, with their tensors."""
        found = ((port, self.find(port)) for port in self.operation.outputs(self))
        return [(port, info) for port, info in found if info is not None]

    # --- options ---------------------------------------------------------------------------------

    def option(self, name: str, default: Any = None) -> Any:
        """An attribute of the operation that holds one value."""
        return self.record.one(self._attribute(name), default)

    def options(self, name: str) -> tuple[Any, ...]:
        """An attribute of the operation that holds several."""
        return self.record.all(self._attribute(name))

    def refused(self, reason: str) -> Refused:
        """The refusal of this operation, with a reason."""
        return refuse(f"{self.name}: {reason}")

    def refuse_if_set(self, *names: str) -> None:
        """Refuse attributes whose meaning is not known here."""
        for name in names:
            if self.record.all(self._attribute(name)):
                raise refuse(f"{self.name} with {name} is not carried out")

    def options_by(self, read: Callable[[Step], Options]) -> Options:
        """The operation's attributes as a function reads them, read once."""
        if read not in self._options:
            self._options[read] = read(self)
        return cast("Options", self._options[read])

    def inner(self, name: str) -> Inner:
        """The descriptor of parameters that an attribute holds."""
        found = self.option(name)
        if not isinstance(found, Record):
            raise bad_param(f"{self.name}: {name} is not set")
        return Inner(found)

    def _attribute(self, name: str) -> Name:
        return Name[f"CUDNN_ATTR_{self.operation.prefix}_{name}"]


@dataclass(frozen=True)
class Inner:
    """A descriptor of parameters: CONVOLUTION, MATMUL, POINTWISE …"""

    record: Record

    def one(self, name: str, default: Any = None) -> Any:
        return self.record.one(Name[f"CUDNN_ATTR_{name}"], default)

    def all(self, name: str) -> tuple[Any, ...]:
        return self.record.all(Name[f"CUDNN_ATTR_{name}"])


# -- one after the other --------------------------------------------------------------------------


_READING_PARTS = ("paged_cache_load", "slice")
"""Operations that skip elements of their operands, which may be unwritten."""


def evaluate(steps: Sequence[Step], negated: frozenset[int] = frozenset()) -> list[int]:
    """Compute the results of `steps`, which are in order; returns the uids of those in memory.

    Unknown operands are loaded. Each result is rounded to its data type, also a virtual one;
    results with `negated` unique ids are negated before.
    """
    outputs: list[int] = []
    for step in steps:
        values = step.values
        load_operands(step)
        try:
            results = step.operation.compute(step)
        except (IndexError, ValueError) as error:  # an index beyond the end, sizes that do not fit
            raise execution_failed(f"{step.name}: {error}") from error
        found = [(info, results[port]) for port, info in step.writes]
        for info, array in (*found, *step.within):
            result = -array if info.uid in negated else array
            shape = info.shape if step.knows_shape(info) else None
            values[info.uid] = (info, rounded(result, info, shape))
            if not info.virtual:
                outputs.append(info.uid)
    return outputs


def load_operands(step: Step, results: Container[int] = ()) -> None:
    """Load the operands of a step that are not known, and are no results of others."""
    whole = step.name not in _READING_PARTS
    load = step.memory.load if whole else step.memory.load_partly_written
    for info in step.reads:
        if info.uid not in step.values and info.uid not in results:
            step.values[info.uid] = (info, load(info))


def in_order(steps: list[Step]) -> list[Step]:
    """The steps, each after the steps whose results it reads; programs list them in any order."""
    made_by = {info.uid: step for step in steps for _, info in step.writes}
    ordered: list[Step] = []

    def visit(step: Step, above: tuple[Step, ...]) -> None:
        if step in ordered:
            return
        if step in above:
            raise bad_param("the operations of the graph go in a circle")
        for info in step.reads:
            maker = made_by.get(info.uid, step)
            if maker is not step:
                visit(maker, (*above, step))
        ordered.append(step)

    for step in steps:
        visit(step, ())
    return ordered
