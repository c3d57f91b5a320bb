"""The memory of a graph's tensors: from addresses to arrays of numbers, and back."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from ... import raw
from ...dtypes import element_bits
from ..graph import interleaved_scales, offsets
from ..reorder import restore_filter
from ..tiles import Array, same_place
from . import lent
from .backend_records import TensorInfo
from .memory import Use, at, joined_vectors, require, split_vectors, tell_in_place
from .registry import bad_param, not_supported

_INTERLEAVED = raw.cudnnBackendTensorReordering_t.CUDNN_TENSOR_REORDERING_F8_128x4


class GraphMemory:
    """The memory of one execution.

    - `addresses`: addresses by the tensors' unique ids.
    """

    def __init__(self, addresses: Mapping[int, int | None]) -> None:
        self._addresses = addresses

    def load(self, info: TensorInfo) -> Array:
        """The elements of a tensor in its logical shape; a view of its memory if possible."""
        return _load(info, self._address(info), self._starts(info))

    def load_partly_written(self, info: TensorInfo) -> Array:
        """`load` for a tensor of which unknown parts will be read: unwritten parts are allowed."""
        with lent.any_contents():
            return self.load(info)

    def store(self, info: TensorInfo, values: Array) -> None:
        """Write `rounded` numbers; memory between the elements is not changed."""
        _store(info, self._address(info), values, self._starts(info))

    def place(self, info: TensorInfo) -> Array | None:
        """A view of a tensor's memory for writing; None if its layout allows no view."""
        if info.ragged is not None or info.vector_count != 1 or not _is_plain(info):
            return None
        dims, strides = info.dims, info.strides
        return at(self._address(info), info.data_type, dims, strides, info.name, "write")

    def keep_apart(self, results: Iterable[TensorInfo], operand: TensorInfo) -> None:
        """Tell of a result in the place of an operand that other threads still read."""
        for each in results:
            if self._address(each) == self._address(operand):
                tell_in_place(each.name, operand.name)

    def _address(self, info: TensorInfo) -> int:
        if info.constant is not None:
            return info.constant
        if info.uid not in self._addresses:
            raise bad_param(f"the variant pack has no pointer for {info.name} {info.dims}")
        address = self._addresses[info.uid]
        require(**{info.name: address})
        assert address is not None
        return address

    def _starts(self, info: TensorInfo) -> Array | None:
        """For a ragged tensor the offsets at which its batches begin."""
        return None if info.ragged is None else self.load(info.ragged)


def _load(info: TensorInfo, address: int, starts: Array | None = None) -> Array:
    """The elements of a tensor in its logical shape.

    - `starts`: for a ragged tensor: the offsets of its batches, in elements. Elements beyond a
      batch are 0.
    """
    if starts is not None:
        place, inside = _ragged(info, starts)
        memory = _flat(info, address, place[inside], "read")
        return np.where(inside, memory[np.where(inside, place, 0)], memory.dtype.type(0))
    is_reordered = info.reordering == raw.CUDNN_TENSOR_REORDERING_INT8x32
    if is_reordered or _is_plain(info):
        shape, strides = _vectors(info)
        array = at(address, info.data_type, shape, strides, info.name)
        if is_reordered:
            array = _restored(array, info)
        return array if info.vector_count == 1 else joined_vectors(array, info.vector_dimension)
    place = _places(info)
    if element_bits(info.data_type) >= 8:
        return _flat(info, address, place, "read")[place]
    return _unpacked(info, address, place)


def _store(info: TensorInfo, address: int, values: Array, starts: Array | None = None) -> None:
    """Write `rounded` numbers; memory between the elements is not changed."""
    with np.errstate(all="ignore"):
        stored = values.astype(info.dtype, copy=False)
    if starts is not None:
        place, inside = _ragged(info, starts)
        memory = _flat(info, address, place[inside], "write")
        memory[place[inside]] = stored[inside]
    elif _is_plain(info):
        shape, strides = _vectors(info)
        target = at(address, info.data_type, shape, strides, info.name, "write")
        stored = split_vectors(stored, info.vector_count, info.vector_dimension)
        if not same_place(target, stored):
            target[...] = stored
    elif element_bits(info.data_type) >= 8:
        place = _places(info)
        _flat(info, address, place, "write")[place] = stored
    else:
        _pack(info, address, _places(info), stored)


def _restored(array: Array, info: TensorInfo) -> Array:
    """An int8 filter before `cudnnReorderFilterAndBias` reordered it."""
    try:
        return restore_filter(array)
    except ValueError as error:
        raise not_supported(f"{info.name}: {error}") from None


def _is_plain(info: TensorInfo) -> bool:
    if info.reordering not in (raw.CUDNN_TENSOR_REORDERING_NONE, _INTERLEAVED):
        order = info.reordering.name
        raise not_supported(f"{info.name}: the reference device does not know the order {order}")
    return info.reordering != _INTERLEAVED and element_bits(info.data_type) >= 8


# --- vectors -------------------------------------------------------------------------------------


def _vectors(info: TensorInfo) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Dims and strides in elements; vectors are a last dimension."""
    count = info.vector_count
    if count == 1:
        return info.dims, info.strides
    return (*info.dims, count), (*(stride * count for stride in info.strides), 1)


# --- other orders of the elements ----------------------------------------------------------------


def _places(info: TensorInfo) -> Array:
    """The offset of each element, in elements."""
    if info.reordering != _INTERLEAVED:
        return offsets(info.dims, info.strides)
    rows, columns = info.dims[-2:]
    if info.strides[-2] < info.strides[-1]:  # tiles follow the strides: 4 along the smallest
        rows, columns = columns, rows
        matrix = interleaved_scales(rows, columns).T
    else:
        matrix = interleaved_scales(rows, columns)
    batches = np.arange(math.prod(info.dims[:-2])).reshape(*info.dims[:-2], 1, 1)
    return batches * (-(-rows // 128) * -(-columns // 4) * 512) + matrix


def _ragged(info: TensorInfo, starts: Array) -> tuple[Array, Array]:
    """The offset of each element, and whether it is within its batch."""
    starts = starts.astype(np.int64).ravel() * info.ragged_multiplier
    within = offsets(info.dims[1:], info.strides[1:])
    along = (-1, *(1,) * within.ndim)
    batches = starts[: info.dims[0]].reshape(along)
    lengths = np.diff(starts)[: info.dims[0]]
    if len(lengths) < info.dims[0]:
        raise bad_param(f"{info.name}: its ragged offset needs {info.dims[0] + 1} elements")
    return batches + within, within < lengths.reshape(along)


def _flat(info: TensorInfo, address: int, place: Array, use: Use) -> Array:
    """The memory as one row of elements; only the elements at `place` are used."""
    where = _flags(place)
    return at(address, info.data_type, where.shape, (1,), info.name, use, where=where)


def _flags(place: Array) -> NDArray[np.bool_]:
    flags = np.zeros(int(place.max(initial=0)) + 1, np.bool_)
    flags[place] = True
    return flags


# --- elements of less than a byte ----------------------------------------------------------------


def _bytes(info: TensorInfo, address: int, place: Array, use: Use) -> tuple[Array, Array]:
    """The memory as bytes, and each element's shift in bits within its byte."""
    bits = element_bits(info.data_type)
    where = _flags(place * bits // 8)
    memory = at(address, raw.CUDNN_DATA_UINT8, where.shape, (1,), info.name, use, where=where)
    return memory, (place * bits % 8).astype(np.uint8)


def _unpacked(info: TensorInfo, address: int, place: Array) -> Array:
    bits = element_bits(info.data_type)
    memory, shift = _bytes(info, address, place, "read")
    codes: Array = (memory[place * bits // 8] >> shift) & np.uint8((1 << bits) - 1)
    if bits == 1:
        return codes.astype(bool)
    if info.dtype.name == "int4":  # ml_dtypes keeps its sign in the upper half
        codes = np.where(codes > 7, codes | 0xF0, codes).astype(np.uint8)
    return codes.view(info.dtype)


def _pack(info: TensorInfo, address: int, place: Array, stored: Array) -> None:
    bits = element_bits(info.data_type)
    memory, shift = _bytes(info, address, place, "write")
    mask = np.uint8((1 << bits) - 1)
    codes = stored.view(np.uint8) & mask
    np.bitwise_and.at(memory, place * bits // 8, ~(mask << shift))
    np.bitwise_or.at(memory, place * bits // 8, codes << shift)
