"""The results of a graph in float64, by the reference formulas, and the effect of rounding.

The graph's operations are evaluated from the bytes of its operands: once in float64, once in the
data types that the graph states, and some times in float64 with every operand of a product and
every result changed at random by what its data type can hold. No descriptor is made and no GPU
asked, so that cuDNN has no part in it.
"""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

from ....dtypes import element_bits, numpy_dtype
from ....raw import cudnnBackendAttributeName_t as Name
from ....raw import cudnnBackendAttributeType_t as Type
from ....raw import cudnnDataType_t, cudnnPointwiseMode_t, cudnnReduceTensorOp_t
from ....reference.device.backend_execution import carry_out
from ....reference.device.backend_memory import GraphMemory
from ....reference.device.backend_records import Record, TensorInfo, elements, tensor_info
from ....reference.device.backend_steps import Results, Step
from ...backend.descriptor import as_kind, attribute
from ...backend.values import encode, values_of
from ...lower.lowering import Lowering
from ...lower.target import NO_GPU

if TYPE_CHECKING:
    from ...lower.expand.expansion import Expansion

Array = NDArray[Any]

_REAL = tuple(
    cudnnDataType_t[f"CUDNN_DATA_{name}"] for name in ("FLOAT", "DOUBLE", "HALF", "BFLOAT16")
)
_TF32 = 2.0**-11  # half a unit of the operands of float32 products
_FLOAT32 = 2.0**-24
_SUMMED = 2.0**-22  # tensor cores truncate: two bits less than float32
_SUMMED_FP8 = 2.0**-13  # products of 8 bits are summed with 14 bits of mantissa (Hopper)
_FUNCTION = 2.0**-18  # exp, tanh and erf of cuDNN 9.19 on an H200 are right to 1e-5 in float32
_LOGARITHM = 2.0**-22  # absolute: near 1 a logarithm is near 0
_SUMS = ("matmul", "convolution", "moe", "reduction", "genstats", "norm", "bn")
_PRODUCTS = ("matmul", "convolution", "moe", "sdpa")
_JUMP = 1 / 16  # of the largest element: rounding decides where it changes more
_SAMPLE = 4096  # elements, of which the largest change is known by few evaluations
_SMALL = 1 << 16  # elements: results of fewer are perturbed several times


def unit(data_type: Any) -> float:
    """Half a unit in the last place, relative; 0 for integers."""
    found = _finfo(data_type)
    return 0.0 if found is None else float(found.eps) / 2


def least(data_type: Any) -> float:
    """The largest change of tiny numbers by rounding; float32 and bfloat16 may lose them."""
    found = _finfo(data_type)
    if found is None:  # integers are rounded
        return 0.0 if numpy_dtype(data_type).kind == "b" else 1.0
    wide = float(found.smallest_normal) < 1e-20
    return float(found.smallest_normal if wide else found.smallest_subnormal)


def _finfo(data_type: Any) -> Any:
    """The limits of a floating type; None for integers."""
    try:
        return ml_dtypes.finfo(numpy_dtype(data_type))  # type: ignore[no-untyped-call]
    except (ValueError, TypeError):
        return None


class Evaluation:
    """The operations of a graph, evaluated on memory of the host.

    `infos` are the graph's tensors by unique id, with their own data types.
    """

    def __init__(self, expansion: Expansion) -> None:
        self._stated = _Recorder(expansion.compute_data_type, wide=False)
        self._wide = _Recorder(expansion.compute_data_type, wide=True)
        for each in (self._stated, self._wide):
            each.record(expansion)
        self.infos: dict[int, TensorInfo] = {info.uid: info for info in self._stated.infos()}

    def load(self, images: Mapping[int, Array], uid: int) -> Array:
        """The elements of a tensor in its logical shape."""
        return _Memory(images, self.infos).load(self.infos[uid])

    def inside(self, images: Mapping[int, Array], uid: int) -> Array:
        """Which elements of a tensor exist: those of packed sequences end with their batch."""
        whole = element_bits(self.infos[uid].data_type) < 8
        ones = {**images, uid: np.full_like(images[uid], 0xFF if whole else 0x3C)}
        return np.asarray(self.load(ones, uid) != 0)

    def exact(self, images: Mapping[int, Array]) -> dict[int, Array]:
        """All results in float64, by unique id."""
        return self._carried_out(self._wide, images)

    def stated(self, images: Mapping[int, Array]) -> dict[int, Array]:
        """All results, each rounded to the data type that the graph states, also virtual ones."""
        return self._carried_out(self._stated, images)

    def rounded(self, images: Mapping[int, Array], rng: np.random.Generator) -> dict[int, Array]:
        """All results, with operands and results changed at random as rounding would."""
        return self._carried_out(self._wide, images, lambda step: self._shake(step, rng))

    def tolerated(
        self, images: Mapping[int, Array], exact: Mapping[int, Array], seed: int
    ) -> tuple[dict[int, Array], dict[int, Array]]:
        """By how much rounding changes each element of each result, and where that is known.

        An element has the largest change that was seen in its part of every dimension, in the one
        dimension where that is least: chance makes a single change small, not that of thousands,
        and an extreme row does not excuse the others. It is not known where the data types that
        the graph states overflow, nor where rounding changes an element by a jump.
        """
        rng = np.random.default_rng(seed)
        largest = max((each.size for each in exact.values()), default=0)
        runs = [self.stated(images)]
        for _ in range(8 if largest <= _SMALL else 2):
            runs.append(self.rounded(images, rng))
        allowed, known = {}, {}
        for uid, array in exact.items():
            with np.errstate(all="ignore"):
                changes = [np.abs(run[uid].astype(np.float64) - array) for run in runs]
                change = np.max(changes, axis=0)
                scale = np.abs(array[np.isfinite(array)]).max(initial=0)
            data_type = self.infos[uid].data_type
            step = scale * max(_JUMP, 4 * unit(data_type)) + least(data_type)
            fine = np.isfinite(change) & (change <= step)
            allowed[uid] = _smoothed(np.where(fine, change, 0))
            known[uid] = fine
        return allowed, known

    def _carried_out(
        self,
        recorder: _Recorder,
        images: Mapping[int, Array],
        change: Callable[[Step], object] | None = None,
    ) -> dict[int, Array]:
        memory = _Memory(images, self.infos)
        with np.errstate(all="ignore"):
            carry_out(recorder.graph_record, memory, change=change)
        return memory.results

    def _shake(self, step: Step, rng: np.random.Generator) -> None:
        """Have a step round its operands and results at random."""
        compute = step.operation.compute

        def rounded(array: Array, by: float) -> Array:
            if not by or array.dtype.kind not in "f":
                return array
            return array * (1 + by * rng.uniform(-1, 1, array.shape))

        def shaken(step: Step) -> Results:
            own = step.values
            reads = {info.uid: info for info in step.reads if info.uid in own}
            added = self._summed(step, compute, reads, rng)
            if step.name.startswith(_PRODUCTS):
                units = [unit(self.infos[uid].data_type) for uid in reads]
                by = max([_TF32 if _FLOAT32 in units else 0.0, *(u for u in units if u < 0.05)])
                step.values = {
                    **own,
                    **{
                        uid: (own[uid][0], rounded(_wide(own[uid][1]), by))
                        for uid, info in reads.items()
                        if not info.by_value and unit(self.infos[uid].data_type)
                    },
                }
            try:
                results = dict(compute(step))
            finally:
                step.values = own
            for port, info in step.writes:
                by = unit(self.infos[info.uid].data_type)
                array = np.asarray(results[port])
                if step.name == "pointwise":
                    function = any(part in _mode(step) for part in _FUNCTIONS)
                    by = max(by, _FUNCTION if function else 0.0)
                    if _mode(step).endswith("_LOG"):
                        array = array + _LOGARITHM * rng.uniform(-1, 1, array.shape)
                results[port] = rounded(array, by) + added.get(port, 0.0) if by else array
            return results

        step.operation = dataclasses.replace(step.operation, compute=shaken)

    def _summed(
        self,
        step: Step,
        compute: Callable[[Step], Results],
        reads: Mapping[int, TensorInfo],
        rng: np.random.Generator,
    ) -> dict[str, Array]:
        """The change by summing in float32: by the sum of the absolute values of what is summed."""
        if not step.name.startswith(_SUMS) or _takes_largest(step):
            return {}
        own = step.values
        eight_bits = any(self.infos[uid].dtype.itemsize == 1 for uid in reads)
        by = _SUMMED_FP8 if eight_bits else _SUMMED
        if step.name.startswith(("norm", "bn")):  # means of numbers that are much larger
            largest = max(
                (float(np.abs(_wide(own[uid][1])).max(initial=0)) for uid in reads), default=0.0
            )
            ports = [port for port, _ in step.writes if "MEAN" in port]
            return {port: np.asarray(2 * _FLOAT32 * largest * rng.uniform(-1, 1)) for port in ports}
        step.values = {**own, **{uid: (own[uid][0], np.abs(_wide(own[uid][1]))) for uid in reads}}
        try:
            sums = compute(step)
        finally:
            step.values = own
        found = {}
        for port, _ in step.writes:
            array = np.asarray(sums[port])
            found[port] = (
                by * np.where(np.isfinite(array), array, 0) * rng.uniform(-1, 1, array.shape)
            )
        return found


def _wide(array: Array) -> Array:
    return array if array.dtype.kind in "bc" else array.astype(np.float64)


def _mode(step: Step) -> str:
    return cudnnPointwiseMode_t(step.inner("PW_DESCRIPTOR").one("POINTWISE_MODE", 0)).name


_FUNCTIONS = ("TANH", "SIGMOID", "GELU", "EXP", "ERF", "SOFTPLUS", "SWISH", "ELU", "POW", "LOG")


def _takes_largest(step: Step) -> bool:
    """Whether a reduction adds nothing."""
    if step.name != "reduction":
        return False
    mode = cudnnReduceTensorOp_t(step.inner("DESC").one("REDUCTION_OPERATOR", 0))
    return any(part in mode.name for part in ("MAX", "MIN", "MUL"))


def _smoothed(change: Array) -> Array:
    """The least, for each element, of the largest changes in its parts of all dimensions.

    A part is one index of a dimension, or as many neighbours as have some thousand elements.
    """
    found = np.full((1,) * change.ndim, change.max(initial=0))
    for axis, size in enumerate(change.shape):
        rest = change.size // max(size, 1)
        length = -(-_SAMPLE // max(rest, 1))
        if size > length:
            others = tuple(each for each in range(change.ndim) if each != axis)
            along = change.max(axis=others)
            starts = np.arange(0, size - length + 1, length)  # the last part is longer
            parts = np.maximum.reduceat(along, starts)
            index = np.minimum(np.arange(size) // length, len(parts) - 1)
            shape = [1] * change.ndim
            shape[axis] = size
            found = np.minimum(found, parts[index].reshape(shape))
    return np.broadcast_to(found, change.shape)


class _Memory(GraphMemory):
    """Operands on the host, read in their own data types; results are kept as they come."""

    def __init__(self, images: Mapping[int, Array], infos: Mapping[int, TensorInfo]) -> None:
        self._images = images  # which must live as long as their addresses are used
        self._infos = infos
        super().__init__({uid: each.ctypes.data for uid, each in images.items()})
        self.results: dict[int, Array] = {}

    def load(self, info: TensorInfo) -> Array:
        return super().load(self._infos.get(info.uid, info))

    def store(self, info: TensorInfo, values: Array) -> None:
        self.results[info.uid] = np.array(values)

    def place(self, info: TensorInfo) -> None:
        return None

    def keep_apart(self, results: Any, operand: Any) -> None:
        pass


class _Recorder(Lowering):
    """Lowers to records of descriptors, none of which cuDNN has seen.

    With `wide` each tensor of a floating type of 16 bits or more is one of float64.
    """

    def __init__(self, compute_data_type: cudnnDataType_t, *, wide: bool) -> None:
        super().__init__(compute_data_type, NO_GPU)
        self._to_wide = wide
        self._records: list[Record] = []

    def record(self, expansion: Expansion) -> None:
        # With the flag the tensors keep their own dims, as the user states them.
        self.operation_graph(expansion.nodes, is_override_shape_enabled=True)

    @property
    def graph_record(self) -> Record:
        return self._records[-1]

    def infos(self) -> list[TensorInfo]:
        wanted = as_kind("tensor")
        return [tensor_info(each) for each in self._records if each.kind == wanted]

    def _make(self, kind: str, what: str, **attributes: Any) -> Any:
        record = Record(as_kind(kind), finalized=True)
        assert record.kind is not None
        for name, value in attributes.items():
            if value is None:
                continue
            known = attribute(record.kind, name)
            items = values_of(known, value)
            if any(isinstance(each, Record) for each in items):
                record.values[known.name] = (Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, tuple(items))
                continue
            encoded = encode(known, value)
            address = ctypes.addressof(encoded.array)
            found = elements(encoded.type, len(encoded.array), address)
            if self._to_wide and known.name == Name.CUDNN_ATTR_TENSOR_DATA_TYPE:
                found = tuple(
                    int(cudnnDataType_t.CUDNN_DATA_DOUBLE) if each in _REAL else each
                    for each in found
                )
            record.values[known.name] = (encoded.type, found)
        self._records.append(record)
        return record
