"""How a tensor with logical shape (N, C, spatial...) lies in memory, in plain NumPy.

Strides count elements; the vectorised types count vectors over (N, C / length, spatial...), as
``cudnnGetTensorNdDescriptor`` reports them. Types of less than a byte are packed, the
first element in the lowest bits.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cudnn_ctypes.arguments import integers
from cudnn_ctypes.dtypes import element_bits, numpy_dtype, storage_bytes, vector_length, vectorized
from cudnn_ctypes.raw.enums import cudnnDataType_t
from cudnn_ctypes.raw.layouts import VECTOR_LENGTHS, checked_layout, shape_of_vectors
from cudnn_ctypes.raw.layouts import Shape as Shape
from cudnn_ctypes.raw.strides import extent, in_elements, overlapping


def to_shape(shape: Any, name: str = "shape") -> Shape:
    """`shape`, an int or a sequence of ints, as a tuple.

    Raises TypeError or ValueError if an entry is no int, or negative.
    """
    result = integers(name, shape if hasattr(shape, "__iter__") else (shape,))
    if min(result, default=0) < 0:
        raise ValueError(f"{name}: expected no negative number, got {result}")
    return result


def data_type_in_layout(data_type: cudnnDataType_t, layout: Any) -> cudnnDataType_t:
    """`data_type`, or the vectorised one where `layout` asks for vectors: int8 to INT8x4.

    - `layout`: names in any case. The first two stand for channels second and channels last with
      any number of spatial dimensions. ``CUDNN_TENSOR_NCHW_VECT_C`` needs a vectorised `data_type`
      already.
    """
    wanted = VECTOR_LENGTHS[checked_layout(layout, data_type)]
    present = vector_length(data_type)
    if layout is None or wanted == present:
        return data_type
    if present != 1:
        raise ValueError(f"layout={layout!r} does not go with {data_type.name}")
    return vectorized(data_type, wanted)


def memory_form(shape: Shape, strides: Shape, data_type: cudnnDataType_t) -> tuple[Shape, Shape]:
    """Shape and strides in single elements: vectors become a last dimension of stride 1."""
    length = vector_length(data_type)
    shape_of_vectors(shape, length)
    return in_elements(shape, strides, length)


def check_strides(shape: Shape, strides: Shape) -> None:
    """Refuse strides that do not belong to `shape`, or let elements share memory.

    Raises ValueError.
    """
    if len(strides) != len(shape):
        raise ValueError(f"strides {strides} and shape {shape} differ in length")
    if overlapping(shape, strides):
        raise ValueError(f"strides {strides} let elements of shape {shape} overlap")


def to_storage(
    array: NDArray[Any],
    strides: Shape,
    data_type: cudnnDataType_t,
    *,
    into: NDArray[np.uint8] | None = None,
) -> NDArray[np.uint8]:
    """The bytes of `array` (logical shape) in memory order.

    Gaps between elements are zero, or keep what they are in the bytes `into`.
    """
    length = vector_length(data_type)
    shape, steps = memory_form(array.shape, strides, data_type)
    if length > 1:
        split = array.reshape(shape[0], shape[1], length, *shape[2:-1])
        array = np.moveaxis(split, 2, -1)
    count = extent(shape, steps)
    if into is None:
        elements = np.zeros(count, array.dtype)
    else:
        elements = _unpack(into, count, data_type)
    _strided(elements, shape, steps)[...] = array
    return _pack(elements, data_type)


def from_storage(
    data: NDArray[np.uint8], shape: Shape, strides: Shape, data_type: cudnnDataType_t
) -> NDArray[Any]:
    """The array of logical `shape`, in C order, whose bytes in memory are `data`."""
    form, steps = memory_form(shape, strides, data_type)
    array = _strided(_unpack(data, extent(form, steps), data_type), form, steps)
    if vector_length(data_type) > 1:
        array = np.moveaxis(array, -1, 2)
    return np.ascontiguousarray(array).reshape(shape)


def _strided(elements: NDArray[Any], shape: Shape, strides: Shape) -> NDArray[Any]:
    if math.prod(shape) == 0:
        return elements.reshape(shape)
    # as_strided goes through a type string, which not every ml_dtypes type has.
    steps = [elements.itemsize * stride for stride in strides]
    return np.ndarray(shape, elements.dtype, elements.view(np.uint8), 0, steps)


def _pack(elements: NDArray[Any], data_type: cudnnDataType_t) -> NDArray[np.uint8]:
    raw = elements.view(np.uint8)
    bits = element_bits(data_type)
    if bits == 1:
        return np.packbits(raw, bitorder="little")
    if bits == 4:
        pairs = np.zeros((len(raw) + 1) // 2 * 2, np.uint8)
        pairs[: len(raw)] = raw & 15
        pairs[1::2] <<= 4
        return pairs[0::2] | pairs[1::2]
    return raw


def _unpack(data: NDArray[np.uint8], count: int, data_type: cudnnDataType_t) -> NDArray[Any]:
    bits = element_bits(data_type)
    data = data[: storage_bytes(data_type, count)]
    if bits == 1:
        data = np.unpackbits(data, count=count, bitorder="little")
    elif bits == 4:
        data = np.stack([data & 15, data >> 4], axis=1).reshape(-1)[:count]
    return data.view(numpy_dtype(data_type))
