"""Records of the attributes that a program has set in each backend descriptor.

cuDNN does not return all attributes, and none of operations and operation graphs. So attributes are
noted on their way to cuDNN. A descriptor that cuDNN fills (an engine config from heuristics) is
traced to the operation graph of the query.

Numbers are stored in their tensor's data type, and booleans as bool; operations compute in float64.
Each result is rounded to its tensor's data type, also for virtual tensors; to integers it is
rounded to nearest, like engines do.
"""

from __future__ import annotations

import collections
import ctypes
import hashlib
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw import cudnnBackendAttributeName_t as Name
from ...raw import cudnnBackendAttributeType_t as Type
from ...raw.attributes import element_type
from ..arithmetic import round_to
from ..tiles import Array
from .registry import not_supported

_SERIALIZED = 256  # plans whose operation graph is remembered by their JSON

_GRAPHS = (Name.CUDNN_ATTR_ENGINE_OPERATION_GRAPH, Name.CUDNN_ATTR_ENGINEHEUR_OPERATION_GRAPH)
_OVERRIDES = (
    Name.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_SHAPES,
    Name.CUDNN_ATTR_VARIANT_PACK_OVERRIDE_STRIDES,
)
_ON_THE_WAY = (
    Name.CUDNN_ATTR_EXECUTION_PLAN_ENGINE_CONFIG,
    Name.CUDNN_ATTR_ENGINECFG_ENGINE,
    *_GRAPHS,
)


@dataclass(eq=False)
class Record:
    """The record of one descriptor.

    - `kind`: the kind; None if its creation was not seen.
    - `values`: the type and the elements by attribute: numbers, records of descriptors (None for
      unknown ones), addresses; tuples of int for overridden shapes.
    - `handle`: the made-up handle that was set.
    - `source`: for a descriptor that cuDNN filled: its operation graph. For a plan made from JSON:
      the operation graph of the serialized plan.
    - `text`: the JSON from which a plan was made, if any.
    """

    kind: raw.cudnnBackendDescriptorType_t | None = None
    values: dict[Name, tuple[Type, tuple[Any, ...]]] = field(default_factory=dict)
    finalized: bool = False
    handle: int | None = None
    source: Record | None = None
    text: bytes = b""

    def all(self, name: Name) -> tuple[Any, ...]:
        """The elements of an attribute; none if it was not set."""
        return self.values[name][1] if name in self.values else ()

    def one(self, name: Name, default: Any = None) -> Any:
        """The only element of an attribute."""
        found = self.all(name)
        return found[0] if found else default

    @property
    def graph(self) -> Record | None:
        """The operation graph that it is, or that it is about."""
        if Name.CUDNN_ATTR_OPERATIONGRAPH_OPS in self.values:
            return self
        for name in _ON_THE_WAY:
            below = self.one(name)
            if isinstance(below, Record) and below.graph is not None:
                return below.graph
        return self.source


class Notes:
    """The records of the watched descriptors, by address."""

    def __init__(self) -> None:
        self._records: dict[int, Record] = {}
        self._by_json: collections.OrderedDict[bytes, Record] = collections.OrderedDict()

    def renew(self, descriptor: Any, kind: raw.cudnnBackendDescriptorType_t | None) -> None:
        """Start a new record for a descriptor that was created or emptied."""
        self._records[descriptor.value] = Record(kind)

    def record(self, descriptor: Any) -> Record:
        """The record of a descriptor; empty if it is older than the watching."""
        return self._records.setdefault(descriptor.value, Record())

    def any_known(self) -> bool:
        """Whether anything is noted of a descriptor that lives."""
        return bool(self._records)

    def is_known(self, descriptor: Any) -> bool:
        """Whether something is noted of this descriptor."""
        handle = getattr(descriptor, "_as_parameter_", descriptor)
        return getattr(handle, "value", None) in self._records

    def forget(self, address: int | None) -> None:
        """Drop a destroyed descriptor; others that refer to it keep its record, as in cuDNN."""
        self._records.pop(address or 0, None)

    def note(
        self, descriptor: Any, name: Name, type_: Type, count: int, address: int | None
    ) -> None:
        """An attribute was set."""
        values = elements(type_, count, address)
        if type_ == Type.CUDNN_TYPE_BACKEND_DESCRIPTOR:
            values = tuple(self._records.get(each) for each in values)
        elif name in _OVERRIDES and address:
            values = _vectors(address)
        own = self.record(descriptor)
        own.values[name] = (type_, values)
        if name == Name.CUDNN_ATTR_EXECUTION_PLAN_JSON_REPRESENTATION and values:
            own.source, own.text = self._by_json.get(_digest(values[0])), values[0]

    def note_filled(self, descriptor: Any, name: Name, count: int, address: int) -> None:
        """cuDNN filled descriptors from `descriptor`."""
        graph = self.record(descriptor).graph
        for each in elements(Type.CUDNN_TYPE_BACKEND_DESCRIPTOR, count, address):
            if graph is not None and name in _GRAPHS:
                self._records[each] = graph
            elif each:
                self._records[each] = Record(finalized=True, source=graph)

    def note_json(self, descriptor: Any, text: bytes) -> None:
        """Remember the operation graph for the JSON text of a serialized plan."""
        graph = self.record(descriptor).graph
        if graph is not None:
            self._by_json[_digest(text)] = graph
            if len(self._by_json) > _SERIALIZED:
                self._by_json.popitem(last=False)


_notes = Notes()  # of the reference device

renew, record, forget = _notes.renew, _notes.record, _notes.forget
any_known, is_known = _notes.any_known, _notes.is_known
note, note_filled, note_json = _notes.note, _notes.note_filled, _notes.note_json


def elements(type_: Type, count: int, address: int | None) -> tuple[Any, ...]:
    """The elements of an attribute at an address, as Python values; CHAR as one text."""
    if not address or count < 1:
        return ()
    found = (element_type(type_) * count).from_address(address)
    if type_ == Type.CUDNN_TYPE_CHAR:
        return (bytes(found).rstrip(b"\0"),)
    if type_ == Type.CUDNN_TYPE_FRACTION:
        return tuple(Fraction(each.numerator, each.denominator) for each in found)
    return tuple(found)


def _vectors(address: int) -> tuple[tuple[int, ...], ...]:
    """The numbers in a std::vector of std::vector<int64_t>, read by its begin and end pointers."""
    begin, end = (ctypes.c_void_p * 2).from_address(address)
    found = []
    for inner in range(begin or 0, end or 0, 3 * ctypes.sizeof(ctypes.c_void_p)):
        first, last = (ctypes.c_void_p * 2).from_address(inner)
        count = ((last or 0) - (first or 0)) // 8
        found.append(tuple((ctypes.c_int64 * count).from_address(first or inner)))
    return tuple(found)


def _digest(text: bytes) -> bytes:
    return hashlib.sha256(text.rstrip(b"\0")).digest()


BOOLEANS = frozenset((raw.CUDNN_DATA_BOOLEAN, raw.CUDNN_DATA_BYTE_BOOLEAN))


@dataclass(frozen=True)
class TensorInfo:
    """The values of a TENSOR descriptor.

    - `dims`, `strides`: in elements, or in vectors of `vector_count` elements.
    - `constant`: the address of a constant value in the descriptor.
    - `ragged`: the tensor of the offsets at which the batches begin.
    """

    uid: int
    data_type: raw.cudnnDataType_t
    dims: tuple[int, ...]
    strides: tuple[int, ...]
    virtual: bool
    by_value: bool
    vector_count: int
    vector_dimension: int
    reordering: raw.cudnnBackendTensorReordering_t
    constant: int | None
    ragged: TensorInfo | None
    ragged_multiplier: int

    @property
    def name(self) -> str:
        return f"tensor {self.uid}"

    @property
    def shape(self) -> tuple[int, ...]:
        """In elements."""
        if self.vector_count == 1:
            return self.dims
        shape = list(self.dims)
        shape[self.vector_dimension] *= self.vector_count
        return tuple(shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        try:
            return numpy_dtype(self.data_type)
        except TypeError as error:
            raise not_supported(f"{self.name}: {error}") from error


def tensor_info(record: Record) -> TensorInfo:
    """The values set in a TENSOR descriptor."""
    one, ragged = record.one, record.one(Name.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_DESC)
    return TensorInfo(
        uid=one(Name.CUDNN_ATTR_TENSOR_UNIQUE_ID, 0),
        data_type=raw.cudnnDataType_t(one(Name.CUDNN_ATTR_TENSOR_DATA_TYPE, 0)),
        dims=record.all(Name.CUDNN_ATTR_TENSOR_DIMENSIONS),
        strides=record.all(Name.CUDNN_ATTR_TENSOR_STRIDES),
        virtual=one(Name.CUDNN_ATTR_TENSOR_IS_VIRTUAL, False),
        by_value=one(Name.CUDNN_ATTR_TENSOR_IS_BY_VALUE, False),
        vector_count=one(Name.CUDNN_ATTR_TENSOR_VECTOR_COUNT, 1),
        vector_dimension=one(Name.CUDNN_ATTR_TENSOR_VECTORIZED_DIMENSION, 1),
        reordering=raw.cudnnBackendTensorReordering_t(
            one(Name.CUDNN_ATTR_TENSOR_REORDERING_MODE, 0)
        ),
        constant=one(Name.CUDNN_ATTR_TENSOR_CONSTANT_VALUE),
        ragged=None if ragged is None else tensor_info(ragged),
        ragged_multiplier=one(Name.CUDNN_ATTR_TENSOR_RAGGED_OFFSET_MULTIPLIER, 1),
    )


def rounded(values: Array, info: TensorInfo, shape: tuple[int, ...] | None) -> Array:
    """`values`, broadcast to `shape`, as a tensor of its data type holds them."""
    if info.data_type in BOOLEANS:
        values = values.astype(bool, copy=False)
    elif info.dtype.itemsize == 1 and info.dtype.kind in "iu":
        # Engines compute in float32: there may be halves there.
        values = round_to(values.astype(np.float32), info.dtype)
    else:
        values = round_to(values, info.dtype)
    return values if shape in (None, values.shape) else np.broadcast_to(values, shape)


def assign(y: Array, values: Array, info: TensorInfo) -> None:
    """Write `values` to `y`, `rounded` to its tensor's data type."""
    plain = y.dtype in (np.float32, np.float64)  # which NumPy rounds as it assigns
    y[...] = values if plain else rounded(values, info, None)


def widened(values: Array) -> Array:
    """`values` in float64; booleans and complex numbers stay so."""
    if values.dtype.kind in "bc":
        return values
    with np.errstate(invalid="ignore"):  # unwritten memory may contain any NaN
        return values.astype(np.float64)
