"""The tensors of an operation graph: their descriptors' values, and rounding to their data types.

Numbers are stored in their tensor's data type, and booleans as bool; operations compute in float64.
Each result is rounded to its tensor's data type, also for virtual tensors; to integers it is
rounded to nearest, like engines do.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ... import raw
from ...dtypes import numpy_dtype
from ...raw import cudnnBackendAttributeName_t as Name
from ..arithmetic import round_to
from ..tiles import Array
from .backend_records import Record
from .registry import Refused

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
            raise Refused(raw.CUDNN_STATUS_NOT_SUPPORTED, f"{self.name}: {error}") from error


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
